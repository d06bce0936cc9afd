"""From files of rows, whatever they are, to packed data."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from numpy.typing import DTypeLike

from ..disk.data import PackedData
from ..disk.folder import check_folder, packed_among
from ..disk.parts import pack_parts
from ..disk.text import pack_svmlight
from ..files.data_source import DataSource
from ..files.group_sizes import beside
from ..files.rows import names_document
from ..files.source import DataError, found_beside
from .data import AnyPath, Reading, files_of, stream_data


def pack_files(
    paths: Sequence[AnyPath],
    out: str | os.PathLike[str],
    reading: Reading,
    *,
    dtype: DTypeLike | None = None,
    note: Callable[[str], object] | None = None,
) -> PackedData:
    """Write the rows of files, one after the other, to a folder; see `ranksvm.pack`.

    They are read once, some at a time. A query id is that of one query in all files.

    Parameters
    ----------
    paths : sequence of str, path-like or binary file object
        SVMlight files or tables, compressed ones included; ``-`` is the standard input.
    out : str or path-like
        The folder.
    reading : Reading
        How they are read.
    dtype : {float64, float32}, optional
        By default float64, or that of tables all of whose features are float32.
    note : callable, optional
        Called with how far the reading is.

    Raises
    ------
    ImportError
        If a table is to be read, but pyarrow is not installed.
    DataError
        If a file cannot be read, and where; if files do not go together; or if one changes.
    OutputError
        If the folder cannot be written.
    """
    packed = packed_among(paths)
    if packed is not None:
        raise DataError(f"{packed} is packed already")
    check_folder(out)
    sources = [DataSource(path) for path in files_of(paths)]
    are_texts = [source.kind == "svmlight" for source in sources]
    if any(are_texts) and not all(are_texts):
        table, text = are_texts.index(False), are_texts.index(True)
        raise DataError(
            f"{sources[table].name} is a table, {sources[text].name} is not: pack the two apart"
        )
    readable = [source.readable for source in sources]
    names = [source.path for source in sources if source.path is not None]
    sides = [found_beside(name, (".weight",)) for name in names]
    sides += [beside(name) for name in names] if reading.group is None else [reading.group]
    documented = all(are_texts) and all(names_document(source.start) for source in sources)
    if all(are_texts) and not any(sides):
        reading.columns.require_none(sources[0].name)
        return pack_svmlight(
            readable,
            out,
            dtype=dtype or "float64",
            zero_based=reading.zero_based is True,
            documented=documented,
            n_threads=reading.n_threads,
            note=note,
        )
    files = [*names, *(name for name in sides if name is not None)]
    parts = stream_data(readable, replace(reading, comments=documented))
    return pack_parts(parts, files, out, dtype=dtype, n_threads=reading.n_threads, note=note)
