"""SVMlight files, also known as the LETOR format: one row per line.

::

    <label> [qid:<id>] [sid:<n>] [cost:<weight>] <index>:<value> ... [# comment]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ranksvm import _core
from ranksvm.files.atomic import open_output
from ranksvm.files.source import DataError, StrPath, read_bytes
from ranksvm.threads import resolve_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["DataError", "SvmlightFile", "dump_svmlight", "load_svmlight", "read_svmlight"]

_CHUNK_BYTES = 1 << 20
_ENTRIES_PER_BLOCK = 1 << 20
_DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")
_UNFIT_FOR_QID = re.compile(rb"[\x00-\x20\x7f#]|^$")


@dataclass(frozen=True, eq=False)
class SvmlightFile:
    """The rows of an SVMlight file.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), float64
    qid : ndarray of shape (n_rows,) or None
        int64 if every qid is an integer, strings otherwise; None if no row has one.
    cost : ndarray of shape (n_rows,), float64, or None
        Weight of each row, 1 where a row has none; None if no row has one.
    indptr : ndarray of shape (n_rows + 1,), int64
    indices : ndarray of shape (n_entries,), int32
        Features from zero, ascending in each row.
    values : ndarray of shape (n_entries,), float64
        Entries with value zero are left out.
    comments : list of n_rows str, or None
        What follows ``#`` in each row, without the blanks around it; None unless asked for.
    n_features : int
    zero_based : bool
        Whether the file counts features from zero, as it was told or found.
    name : str
        What messages call the file.
    """

    labels: NDArray[np.float64]
    qid: NDArray[Any] | None
    cost: NDArray[np.float64] | None
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    n_features: int
    zero_based: bool
    name: str
    comments: list[str] | None = None

    @property
    def docids(self) -> list[str] | None:
        """The document of each row, where comments name it: ``#docid = GX000-00-0000000 ...``.

        None if comments were not asked for, or some row names no document.
        """
        found = [_DOCID.search(comment) for comment in self.comments or ()]
        return [match[1] for match in found if match] if found and all(found) else None

    @property
    def density(self) -> float:
        """Share of the entries of the matrix that are not zero."""
        return len(self.values) / max(1, len(self.labels) * self.n_features)

    def matrix(self, dtype: DTypeLike = np.float64) -> csr_matrix:
        """Return the features as a SciPy CSR matrix.

        Parameters
        ----------
        dtype : data type, default=float64

        Returns
        -------
        csr_matrix of shape (n_rows, n_features)
        """
        from scipy.sparse import csr_matrix

        X = csr_matrix(
            (self.values.astype(dtype, copy=False), self.indices, self.indptr),
            shape=(len(self.labels), self.n_features),
        )
        X.has_canonical_format = True
        return X

    def dense(self, dtype: DTypeLike = np.float64, *, n_threads: int | None = None) -> NDArray[Any]:
        """Return the features as an array in C order.

        Parameters
        ----------
        dtype : {float64, float32}, default=float64
        n_threads : int, default=None
            None means all CPUs of this process.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
        """
        X = np.empty((len(self.labels), self.n_features), dtype)
        if X.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, not {X.dtype}")
        _core.csr_to_dense(self.indptr, self.indices, self.values, X, resolve_threads(n_threads))
        return X


def read_svmlight(
    path_or_file: StrPath | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    comments: bool = False,
    n_threads: int | None = None,
) -> SvmlightFile:
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
    comments : bool, default=False
        Whether to keep the comments of the rows.
    n_threads : int, default=None
        None means all CPUs of this process. It does not change the result.

    Returns
    -------
    SvmlightFile

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format.
    """
    base = _index_base(zero_based)
    threads = resolve_threads(n_threads)
    name, text = read_bytes(path_or_file)
    try:
        rows = parse_rows(name, text, base, threads, comments=comments)
    except SyntaxFailure as error:
        raise DataError(f"{name}, {error}") from None
    if n_features is None:
        return rows
    if rows.n_features > n_features:
        raise DataError(
            f"{name} has {rows.n_features} features but n_features={n_features}: raise it or "
            "leave it out"
        )
    return replace(rows, n_features=n_features)


class SyntaxFailure(ValueError):
    """Text that is not SVMlight: "line 7, column 12: expected index:value, found 'abc'"."""


def parse_rows(
    name: str,
    text: NDArray[np.uint8],
    zero_based: bool | None,
    n_threads: int,
    *,
    comments: bool = False,
) -> SvmlightFile:
    """Parse the bytes of an SVMlight file; without `zero_based`, see how it counts.

    Raises
    ------
    SyntaxFailure
        If the text is not SVMlight.
    DataError
        If it holds no rows.
    """
    try:
        labels, indptr, indices, values, d, from_zero, cost, integers, strings, remarks = (
            _core.parse_svmlight(text, zero_based, comments, n_threads, _CHUNK_BYTES)
        )
    except ValueError as error:
        raise SyntaxFailure(str(error)) from None
    if len(labels) == 0:
        raise DataError(f"{name} holds no rows" if len(text) else f"{name} is empty")
    return SvmlightFile(
        labels=labels,
        qid=integers if strings is None else np.array(strings),
        cost=cost,
        indptr=indptr,
        indices=indices,
        values=values,
        n_features=d,
        zero_based=from_zero,
        name=name,
        comments=remarks,
    )


def load_svmlight(
    path_or_file: StrPath | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
) -> tuple[NDArray[Any] | csr_matrix, NDArray[np.float64], NDArray[Any] | None]:
    """Load features, labels and query ids from an SVMlight file.

    Parameters
    ----------
    path_or_file, n_features, zero_based, n_threads
        As in :func:`ranksvm.files.svmlight.read_svmlight`.
    dtype : {float64, float32}, default=float64
        Type of the features.

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
        path_or_file, n_features=n_features, zero_based=zero_based, n_threads=n_threads
    )
    if rows.density > 0.5:
        return rows.dense(dtype, n_threads=n_threads), rows.labels, rows.qid
    return rows.matrix(dtype), rows.labels, rows.qid


def dump_svmlight(
    path: StrPath,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    cost: ArrayLike | None = None,
    comments: Sequence[str] | None = None,
    zero_based: bool = False,
) -> None:
    """Write an SVMlight file, whole or not at all.

    Numbers are as short as they can be and still read back the same; float32 features do so when
    they are read as float32. Zeros are not written, so a file may seem to have fewer columns.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard output. A name that ends in .gz, .bz2, .xz or .zst is compressed.
    X : array-like or sparse matrix of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    qid : array-like of shape (n_rows,), default=None
        Integers or strings without white space and ``#``.
    cost : array-like of shape (n_rows,), default=None
        Weights of the rows.
    comments : sequence of n_rows str, default=None
    zero_based : bool, default=False
        Whether indices count from zero.

    Raises
    ------
    ValueError
        If the format cannot express the data.
    OutputError
        If the file cannot be written.
    """
    X = two_dimensional(X)
    columns = Columns(
        labels=finite_column(y, "y", X.shape[0]),
        qid=None if qid is None else encode_qid(qid, X.shape[0]),
        cost=None if cost is None else finite_column(cost, "cost", X.shape[0]),
        comments=None if comments is None else _encoded_comments(comments, X.shape[0]),
    )
    if columns.cost is not None and columns.cost.min(initial=0.0) < 0:
        raise ValueError(f"cost must not be negative, found {columns.cost.min()}")
    with open_output(path) as file:
        for text in format_rows(X, columns, zero_based):
            file.write(text)


@dataclass(frozen=True)
class Columns:
    """What stands beside the features."""

    labels: NDArray[np.float64]
    qid: list[bytes] | None
    cost: NDArray[np.float64] | None
    comments: list[bytes] | None


def format_rows(X: Any, columns: Columns, zero_based: bool) -> Iterator[bytes]:
    """Yield the text of some rows at a time."""
    from scipy.sparse import csr_matrix, issparse

    n_entries = X.nnz if issparse(X) else X.size
    step = max(1, X.shape[0] * _ENTRIES_PER_BLOCK // max(1, n_entries))
    for begin in range(0, X.shape[0], step):
        rows = slice(begin, begin + step)
        block = csr_matrix(X[rows], copy=True)
        block.sum_duplicates()
        if not np.isfinite(block.data).all():
            raise ValueError("X holds values that are not finite; the format has no word for them")
        yield _core.format_svmlight(
            columns.labels[rows],
            block.indptr.astype(np.int64),
            block.indices.astype(np.int32),
            block.data,
            zero_based,
            columns.qid and columns.qid[rows],
            None if columns.cost is None else columns.cost[rows],
            columns.comments and columns.comments[rows],
        )


def two_dimensional(X: Any) -> Any:
    """Return X as an array or CSR, in float32 if it is, else in float64."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix, found shape {X.shape}")
    return X if X.dtype == np.float32 else X.astype(np.float64, copy=False)


def finite_column(values: ArrayLike, name: str, n_rows: int) -> NDArray[np.float64]:
    column = np.ascontiguousarray(values, dtype=np.float64)
    if column.shape != (n_rows,):
        raise ValueError(f"{name} has shape {column.shape} but X has {n_rows} rows")
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise ValueError(f"{name} must be finite, found {column[row]} in row {row}")
    return column


def _encoded(values: Sequence[Any], name: str, n_rows: int) -> list[bytes]:
    if len(values) != n_rows:
        raise ValueError(f"{name} has length {len(values)} but X has {n_rows} rows")
    return [str(value).encode("utf-8", "surrogateescape") for value in values]


def encode_qid(qid: ArrayLike, n_rows: int) -> list[bytes]:
    encoded = _encoded(np.asarray(qid).tolist(), "qid", n_rows)
    for row, token in enumerate(encoded):
        if _UNFIT_FOR_QID.search(token):
            raise ValueError(
                f"qid of row {row} must be a word without white space and '#', "
                f"found {token.decode(errors='replace')!r}"
            )
    return encoded


def _encoded_comments(comments: Sequence[str], n_rows: int) -> list[bytes]:
    encoded = _encoded(comments, "comments", n_rows)
    for row, comment in enumerate(encoded):
        if b"\n" in comment:
            raise ValueError(f"the comment of row {row} must be one line, found {comment!r}")
    return encoded


def _index_base(zero_based: bool | Literal["auto"]) -> bool | None:
    if zero_based not in (True, False, "auto"):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    return None if zero_based == "auto" else bool(zero_based)
