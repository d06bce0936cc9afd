"""SVMlight files as packed data, read piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..files.rows import documents_of
from ..files.source import StrPath
from ..files.svmlight import SvmlightBlock, read_svmlight_blocks
from ..threads import resolve_threads
from .data import PackedData, open_data
from .features import SparseBlock
from .folder import whole_folder
from .packing import Packer
from .sources import Source


def pack_svmlight(
    paths: Sequence[StrPath | BinaryIO],
    path: str | os.PathLike[str],
    *,
    dtype: DTypeLike = np.float64,
    zero_based: bool = False,
    documented: bool = False,
    n_threads: int | None = None,
    note: Callable[[str], object] | None = None,
) -> PackedData:
    """Write the rows of SVMlight files, one file after the other, to a folder; see `ranksvm.pack`.

    They are read once, piece by piece. A query id is that of one query in all files.

    Parameters
    ----------
    paths : sequence of str, path-like or binary file object
        SVMlight files, compressed ones included; ``-`` is the standard input.
    path : str or path-like
        The folder.
    dtype : {float64, float32}, default=float64
    zero_based : bool, default=False
        Whether indices count from zero in all files. Otherwise they do if some value at index 0 is
        not zero.
    documented : bool, default=False
        Whether to keep the documents that comments name, if all rows have one.
    n_threads : int, optional
    note : callable, optional
        Called with how far the reading is.

    Returns
    -------
    PackedData

    Raises
    ------
    DataError
        If a file cannot be read, and where; or if it changes while it is read.
    OutputError
        If the folder cannot be written.
    """
    files = [name for name in paths if isinstance(name, str | os.PathLike)]
    sources = [Source.of(name) for name in files if os.path.isfile(name)]
    with whole_folder(path) as folder:
        packer = Packer(folder, np.dtype(dtype), zero_based or None)
        threads = resolve_threads(n_threads)
        for block in _blocks(paths, packer.dtype, documented, threads):
            _append(packer, block)
            if note is not None:
                note(f"{packer.n_rows} rows")
        for source in sources:
            source.require_unchanged()
        packer.finish(sources=sources, n_threads=threads)
    return open_data(path)


def _blocks(
    paths: Sequence[StrPath | BinaryIO], dtype: Any, documented: bool, n_threads: int
) -> Iterator[SvmlightBlock]:
    """Yield the rows of all files, each at least as wide as the one before."""
    width = 0
    for name in paths:
        for block in read_svmlight_blocks(
            name, n_features=width, dtype=dtype, comments=documented, n_threads=n_threads
        ):
            width = block.n_features
            yield block


def _append(packer: Packer, block: SvmlightBlock) -> None:
    """Write some rows; what they call their documents is kept while all rows do so."""
    docids = None
    if block.comments:
        docids = documents_of(block.comments) if packer.may_have_docids else None
        if docids is None:
            packer.drop_docids()
    runs, features = block.queries, _features(block)
    packer.append(features, block.n_features, block.labels, runs, block.cost, docids)


def _features(block: SvmlightBlock) -> NDArray[Any] | SparseBlock:
    if isinstance(block.features, np.ndarray):
        return block.features
    indptr, indices, values, _ = block.features
    return SparseBlock(np.diff(indptr), indices, values)
