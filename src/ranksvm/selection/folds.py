"""Folds of a cross-validation: whole queries, or rows of one global ranking."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]


def make_folds(cv: Any, y: NDArray[np.float64], query: Rows | None) -> list[Fold]:
    """Return the training rows and the validation rows of each fold.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, validation)
        A number of folds, a splitter of scikit-learn, which is given the queries as groups, or
        the folds themselves as row numbers or masks. A number of folds shares out whole queries,
        evenly by rows; or, of one ranking, rows in the order of their labels, so that the labels of
        each fold are spread alike.
    y : ndarray of shape (n_samples,)
    query : ndarray of shape (n_samples,), or None
        Number of the query of each row; None if all rows form one ranking.

    Raises
    ------
    ValueError
        If there are fewer queries or rows than folds, or `cv` is none of these.
    """
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        number = _dealt_rows(int(cv), y) if query is None else _dealt_queries(int(cv), query)
        return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(cv)]
    from sklearn.model_selection import check_cv

    splits = check_cv(cv).split(np.zeros(len(y)), y, groups=query)
    return [(_row_numbers(train), _row_numbers(validation)) for train, validation in splits]


def _dealt_rows(n_folds: int, y: NDArray[np.float64]) -> Rows:
    """Deal rows in the order of their labels; return the number of each row's fold."""
    _require_folds(n_folds, len(y), f"rows, found n_samples={len(y)}")
    number = np.empty(len(y), dtype=np.int64)
    number[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    return number


def _dealt_queries(n_folds: int, query: Rows) -> Rows:
    """Deal queries, the longest first, each to the fold that has the fewest rows."""
    sizes = np.bincount(query)
    _require_folds(n_folds, len(sizes), f"queries, found {len(sizes)}")
    folds = [(0, k) for k in range(n_folds)]
    number = np.empty(len(sizes), dtype=np.int64)
    for q in np.argsort(-sizes, kind="stable"):
        n_rows, number[q] = folds[0]
        heapq.heapreplace(folds, (n_rows + int(sizes[q]), int(number[q])))
    return number[query]


def _require_folds(n_folds: int, most: int, found: str) -> None:
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, not {n_folds}")
    if n_folds > most:
        raise ValueError(f"cv={n_folds} folds need at least {n_folds} {found}")


def _row_numbers(rows: Any) -> Rows:
    numbers = np.asarray(rows)
    if numbers.dtype == np.bool_:
        numbers = np.flatnonzero(numbers)
    return np.ascontiguousarray(numbers, dtype=np.int64)
