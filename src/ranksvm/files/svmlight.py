"""SVMlight files, also known as the LETOR format: one row per line.

::

    <label> [qid:<id>] [sid:<n>] [cost:<weight>] <index>:<value> ... [# comment]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from ..errors import InputError
from ..threads import resolve_threads
from .rows import CsrArrays, FileRows
from .source import DataError, StrPath, open_blocks
from .svmlight_writer import dump_svmlight

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["DataError", "dump_svmlight", "load_svmlight", "read_svmlight"]

IndexBase = bool | Literal["auto"]

_CHUNK_BYTES = 1 << 17
_CHUNKS_PER_THREAD = 8
_BLOCK_BYTES = 1 << 25  # of text, whose rows are given at a time
_READERS = {
    np.dtype(np.float32): _core.SvmlightReader32,
    np.dtype(np.float64): _core.SvmlightReader64,
}


class SvmlightBlock(NamedTuple):
    """Some rows of a file, of the columns from index 0 on.

    Attributes
    ----------
    labels, features, n_features, cost
        As in `FileRows`.
    queries : (ids, n_rows) or None
        The ids of runs of rows, int64 or a list of str, and the lengths of these.
    comments : list of str, or None
        What follows ``#`` in each row, if it was asked for.
    """

    labels: NDArray[np.float64]
    features: NDArray[Any] | CsrArrays
    n_features: int
    queries: tuple[NDArray[np.int64] | list[str], NDArray[np.int64]] | None
    cost: NDArray[np.float64] | None
    comments: list[str] | None


def read_svmlight(
    path_or_file: StrPath | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: IndexBase = "auto",
    dtype: DTypeLike = np.float64,
    comments: bool = False,
    n_threads: int | None = None,
) -> FileRows:
    """Read an SVMlight file.

    Indices may come in any order. Either every row has a qid or none has. Blank lines and lines
    with nothing but a comment are skipped.

    Parameters
    ----------
    path_or_file : str, path-like or binary file object
        ``-`` is the standard input. A path that ends in .gz, .bz2, .xz or .zst is decompressed;
        a file object is read to its end, as it is.
    n_features : int, default=None
        Number of columns, at least that of the file. None takes the largest index of the file.
    zero_based : bool or "auto", default="auto"
        Whether indices count from zero. "auto" takes them to count from one unless some value at
        index 0 is not zero; ``0:0`` marks an empty row in some files.
    dtype : {float64, float32}, default=float64
        Type of the features.
    comments : bool, default=False
        Whether to keep the comments of the rows.
    n_threads : int, default=None
        None means all CPUs of this process. It does not change the result.

    Returns
    -------
    FileRows

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format.
    """
    rows = read_rows(
        path_or_file,
        _core.LineFormat.svmlight,
        n_features=n_features or 0,
        zero_based=zero_based,
        dtype=dtype,
        comments=comments,
        n_threads=n_threads,
    )
    if n_features is not None and rows.n_features > n_features:
        raise DataError(
            f"{rows.name} has {rows.n_features} features but n_features={n_features}: raise it or "
            "leave it out"
        )
    return rows


def read_rows(
    path_or_file: StrPath | BinaryIO,
    line_format: _core.LineFormat,
    *,
    n_features: int = 0,
    zero_based: IndexBase = True,
    dtype: DTypeLike = np.float64,
    comments: bool = False,
    n_threads: int | None = None,
) -> FileRows:
    """Read a file whose lines hold what an SVMlight line does, or a part of it.

    Parameters are those of `read_svmlight`, and `line_format` says what a line holds; where it has
    no label, labels are 0.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format.
    """
    if zero_based not in (True, False, "auto"):
        raise InputError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    base = None if zero_based == "auto" else bool(zero_based)
    threads = resolve_threads(n_threads)
    reader = _reader(line_format, base, comments, n_features, dtype, threads)
    name, blocks = open_blocks(path_or_file, threads * _CHUNKS_PER_THREAD * _CHUNK_BYTES)
    n_bytes = 0
    try:
        for block in blocks:
            n_bytes += len(block)
            reader.feed(block)
        labels, features, d, from_zero, cost, queries, remarks = reader.finish()
    except _core.SvmlightSyntaxError as error:
        raise DataError(f"{name}, {error}") from None
    if len(labels) == 0:
        raise DataError(f"{name} holds no rows" if n_bytes else f"{name} is empty")
    if isinstance(features, tuple):
        indptr, indices, values = features
        features = CsrArrays(indptr, indices, values, d)
    return FileRows(
        labels=labels,
        qid=None if queries is None else np.repeat(np.asarray(queries[0]), queries[1]),
        cost=cost,
        features=features,
        n_features=d,
        zero_based=from_zero,
        name=name,
        comments=remarks if comments else None,
    )


def read_svmlight_blocks(
    path_or_file: StrPath | BinaryIO,
    *,
    n_features: int = 0,
    dtype: DTypeLike = np.float64,
    comments: bool = False,
    n_threads: int | None = None,
) -> Iterator[SvmlightBlock]:
    """Read an SVMlight file some rows at a time, of all columns from index 0 on.

    Parameters
    ----------
    path_or_file, dtype, comments, n_threads
        As for `read_svmlight`.
    n_features : int, default=0
        The least number of columns; each block has at least as many as the one before.

    Raises
    ------
    DataError
        As `read_svmlight`.
    """
    threads = resolve_threads(n_threads)
    reader = _reader(_core.LineFormat.svmlight, True, comments, n_features, dtype, threads)
    name, texts = open_blocks(path_or_file, threads * _CHUNKS_PER_THREAD * _CHUNK_BYTES)
    n_rows = n_bytes = 0
    try:
        for text in texts:
            reader.feed(text)
            n_bytes += len(text)
            if n_bytes >= _BLOCK_BYTES:
                n_bytes = 0
                block = _block(reader.take(), comments)
                n_rows += len(block.labels)
                yield block
        block = _block(reader.finish(), comments)
    except _core.SvmlightSyntaxError as error:
        raise DataError(f"{name}, {error}") from None
    if n_rows + len(block.labels) == 0:
        raise DataError(f"{name} holds no rows")
    yield block


def _reader(
    line_format: _core.LineFormat,
    zero_based: bool | None,
    comments: bool,
    n_features: int,
    dtype: DTypeLike,
    n_threads: int,
) -> Any:
    """Return a reader of the core."""
    if np.dtype(dtype) not in _READERS:
        raise InputError(f"dtype must be float64 or float32, not {np.dtype(dtype)}")
    reader = _READERS[np.dtype(dtype)]
    return reader(line_format, zero_based, comments, n_features, n_threads, _CHUNK_BYTES)


def _block(parsed: tuple[Any, ...], comments: bool) -> SvmlightBlock:
    labels, features, d, _, cost, queries, remarks = parsed
    if isinstance(features, tuple):
        features = CsrArrays(features[0], features[1], features[2], d)
    return SvmlightBlock(labels, features, d, queries, cost, remarks if comments else None)


def load_svmlight(
    path_or_file: StrPath | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: IndexBase = "auto",
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
) -> tuple[NDArray[Any] | csr_matrix, NDArray[np.float64], NDArray[Any] | None]:
    """Load features, labels and query ids from an SVMlight file.

    Parameters
    ----------
    path_or_file, n_features, zero_based, dtype, n_threads
        As in :func:`ranksvm.files.svmlight.read_svmlight`.

    Returns
    -------
    X : ndarray or csr_matrix of shape (n_rows, n_features)
        An array in C order if more than half of its entries are not zero.
    y : ndarray of shape (n_rows,)
    qid : ndarray of shape (n_rows,) or None
        Integers, or strings if some qid is no integer; None if the file has none.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format.
    """
    rows = read_svmlight(
        path_or_file,
        n_features=n_features,
        zero_based=zero_based,
        dtype=dtype,
        n_threads=n_threads,
    )
    return rows.X, rows.labels, rows.qid
