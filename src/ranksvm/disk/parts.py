"""Rows of any files as packed data: they come some at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..files.rows import CsrArrays, FileRows
from ..files.source import DataError
from ..threads import resolve_threads
from .data import PackedData, open_data
from .features import SparseBlock
from .folder import whole_folder
from .packing import Packer
from .queries import runs_of
from .sources import Source


def pack_parts(
    parts: Iterable[FileRows],
    files: Sequence[str],
    path: str | os.PathLike[str],
    *,
    dtype: DTypeLike | None = None,
    n_threads: int | None = None,
    note: Callable[[str], object] | None = None,
) -> PackedData:
    """Write rows of files, some at a time, to a folder; see `ranksvm.pack`.

    Parameters
    ----------
    parts : iterable of FileRows
        At least one; all with the same names of features, or none.
    files : sequence of str
        Which they come from.
    path : str or path-like
        The folder.
    dtype : {float64, float32}, optional
        That of the first part by default.
    n_threads : int, optional
    note : callable, optional
        Called with how far the reading is.

    Raises
    ------
    DataError
        If values are too large for the dtype or of a wider one; or a file changes meanwhile.
    OutputError
        If the folder cannot be written.
    """
    sources = [Source.of(name) for name in files]
    packer: Packer | None = None
    with whole_folder(path) as folder:
        for part in parts:
            if packer is None:
                first, kind = part, np.dtype(dtype or _values(part).dtype)
                packer = Packer(folder, kind, zero_based=True)
            _append(packer, part, first, is_given=dtype is not None)
            if note is not None:
                note(f"{packer.n_rows} rows")
        for source in sources:
            source.require_unchanged()
        if packer is not None:
            threads = resolve_threads(n_threads)
            packer.finish(first.feature_names, sources, threads, zero_based=part.zero_based)
    return open_data(path)


def _append(packer: Packer, part: FileRows, first: FileRows, *, is_given: bool) -> None:
    values = _values(part)
    if not is_given and values.dtype.itemsize > packer.dtype.itemsize:
        raise DataError(
            f"{part.name} holds numbers in double precision, {first.name} in single: say --float32"
        )
    if (part.feature_names is None) != (first.feature_names is None):
        nameless = part if part.feature_names is None else first
        raise DataError(f"{nameless.name} has no names of features, but another file has")
    ids = None if part.qid is None else runs_of(part.qid, len(part.labels), part.name)
    features = _converted(part, values, packer)
    docids = part.docids
    if part.comments is not None and (docids is None or not packer.may_have_docids):
        packer.drop_docids()
        docids = None
    packer.append(features, part.n_features, part.labels, ids, part.cost, docids)


def _values(part: FileRows) -> NDArray[Any]:
    return part.features.values if isinstance(part.features, CsrArrays) else part.features


def _converted(part: FileRows, values: NDArray[Any], packer: Packer) -> NDArray[Any] | SparseBlock:
    """Return features in the precision that they will have; those of files are finite."""
    with np.errstate(over="ignore"):
        found: NDArray[Any] = values.astype(packer.dtype, copy=False)
    if found is not values and not np.isfinite(found).all():
        row = packer.n_rows + _first_row(part, ~np.isfinite(found))
        raise DataError(
            f"{part.name}: row {row + 1} of the data holds a number that is too large for float32"
        )
    if isinstance(part.features, CsrArrays):
        return SparseBlock(np.diff(part.features.indptr), part.features.indices, found)
    return found


def _first_row(part: FileRows, bad: NDArray[np.bool_]) -> int:
    if isinstance(part.features, CsrArrays):
        return int(np.searchsorted(part.features.indptr, np.argmax(bad), side="right")) - 1
    return int(np.argmax(bad.any(axis=1)))
