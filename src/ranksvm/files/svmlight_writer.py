"""Writing SVMlight files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError
from ..linear.features import two_dimensional
from ..pairs.columns import finite_column
from ..pairs.queries import present_ids
from ..records import record
from .atomic import open_output
from .source import StrPath

_ENTRIES_PER_BLOCK = 1 << 20
_UNFIT_FOR_QID = re.compile(rb"[\x00-\x20\x7f#]|^$")


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
        labels=_column(y, "y", X.shape[0]),
        qid=None if qid is None else encode_qid(qid, X.shape[0]),
        cost=None if cost is None else _column(cost, "cost", X.shape[0]),
        comments=None if comments is None else _encoded_comments(comments, X.shape[0]),
    )
    if columns.cost is not None and columns.cost.min(initial=0.0) < 0:
        raise InputError(f"cost must not be negative, found {columns.cost.min()}")
    with open_output(path) as file:
        for text in format_rows(X, columns, zero_based):
            file.write(text)


@record
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
            raise InputError("X holds values that are not finite; the format has no word for them")
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


def _column(values: ArrayLike, name: str, n_rows: int) -> NDArray[np.float64]:
    """Return numbers as a column of n_rows finite ones."""
    column = finite_column(values, name)
    if len(column) != n_rows:
        raise InputError(f"{name} has length {len(column)} but X has {n_rows} rows")
    return column


def _encoded(values: Sequence[Any], name: str, n_rows: int) -> list[bytes]:
    if len(values) != n_rows:
        raise InputError(f"{name} has length {len(values)} but X has {n_rows} rows")
    return [str(value).encode("utf-8", "surrogateescape") for value in values]


def encode_qid(qid: ArrayLike, n_rows: int) -> list[bytes]:
    """Return the words of n_rows query ids."""
    encoded = _encoded(present_ids(qid).tolist(), "qid", n_rows)
    for row, token in enumerate(encoded):
        if _UNFIT_FOR_QID.search(token):
            raise InputError(
                f"qid of row {row} must be a word without white space and '#', "
                f"found {token.decode(errors='replace')!r}"
            )
    return encoded


def _encoded_comments(comments: Sequence[str], n_rows: int) -> list[bytes]:
    encoded = _encoded(comments, "comments", n_rows)
    for row, comment in enumerate(encoded):
        if b"\n" in comment:
            raise InputError(f"the comment of row {row} must be one line, found {comment!r}")
    return encoded
