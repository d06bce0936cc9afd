"""The best rows of each query."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.columns import finite_column
from ..pairs.queries import QueryGroups, present_ids
from ..pairs.query_columns import query_column, without_column
from .linear import LinearModel


class RankedRows(NamedTuple):
    """Rows in the order of their scores, query by query, as `rank` returns them.

    Attributes
    ----------
    rows : ndarray of int64
        Their numbers, counted from zero.
    ranks : ndarray of int64
        Counted from one in each query.
    scores : ndarray of float64
    qid : ndarray or None
        The query of each; None if all rows are one ranking.
    """

    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    qid: NDArray[Any] | None


def rank(
    model: Any, X: Any, qid: ArrayLike | str | None = None, *, top: int | None = None
) -> RankedRows:
    """Rank rows: those of each query, best first.

    Parameters
    ----------
    model : LinearModel, KernelModel or fitted ranker
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or PackedData
    qid : array-like of shape (n_samples,) or str, optional
        Query ids, in any order, or the name of their column in X; None: all rows are one ranking,
        but for packed data, which have ids of their own.
    top : int, optional
        How many rows of each query to return; all by default.

    Returns
    -------
    RankedRows
        Queries come as they first appear if the rows of each are adjacent, else in ascending order.
        Rows of equal scores come in the order of X.

    Raises
    ------
    ValueError
        If `top` is no whole number of at least 1, or X and the queries do not fit the model or one
        another.

    Examples
    --------
    >>> from ranksvm import RankSVM, rank
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> model = RankSVM().fit(X, y=[0, 1, 2, 0, 1], qid=[1, 1, 1, 2, 2])
    >>> best = rank(model, X, qid=[1, 1, 1, 2, 2], top=2)
    >>> best.qid.tolist(), best.rows.tolist(), best.ranks.tolist()
    ([1, 1, 2, 2], [2, 1, 4, 3], [1, 2, 1, 2])
    """
    if isinstance(qid, str):
        X, qid = without_column(X, qid), query_column(X, qid)
    elif qid is None and hasattr(X, "query_indptr"):  # packed data
        qid = X.ids
    if isinstance(model, LinearModel) and model.needs_queries:
        scores = model.predict(X, qid=qid)
    else:
        scores = model.predict(X)
    return ranked(finite_column(scores, "scores"), qid, top)


def ranked(
    scores: NDArray[np.float64], qid: ArrayLike | None, top: int | None = None
) -> RankedRows:
    """Rank rows by their scores, as `rank` does."""
    if top is not None and (not isinstance(top, int | np.integer) or top < 1):
        raise InputError(f"top must be a whole number of at least 1, not {top!r}")
    groups = QueryGroups.from_qid(qid, len(scores))
    numbers = groups.numbers
    rows = np.lexsort((-scores, numbers))
    ranks = 1 + np.arange(len(rows)) - groups.indptr[numbers[rows]]
    if top is not None:
        rows, ranks = rows[ranks <= top], ranks[ranks <= top]
    ids = None if qid is None else present_ids(qid)[rows]
    return RankedRows(rows.astype(np.int64), ranks, scores[rows], ids)
