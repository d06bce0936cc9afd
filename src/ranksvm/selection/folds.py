"""Folds of a cross-validation: whole queries, or rows of one global ranking."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..pairs.given import GivenPreferences

Rows = NDArray[np.int64]
Fold = tuple[Rows, Rows]

SEED = 20141


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
    if is_number(cv):
        return _by_number(_dealt_rows(cv, y) if query is None else _dealt_queries(cv, query), cv)
    return _split(cv, y, query)


def make_folds_of_pairs(
    cv: Any, pairs: GivenPreferences, group: Rows | None, what: str
) -> list[Fold]:
    """Return the training rows and the validation rows of each fold, among which pairs are given.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, validation)
        As for `make_folds`; a number of folds shares out whole groups, evenly by pairs.
    pairs : GivenPreferences
    group : ndarray of shape (n_samples,), or None
        Number of the group of each row; None for connected components.
    what : str
        What messages call the groups.

    Raises
    ------
    ValueError
        If there are fewer groups that have pairs than folds, or `cv` is none of these.
    """
    group = pairs.components() if group is None else group
    if not is_number(cv):
        return _split(cv, np.zeros(len(group)), group)
    sizes = np.bincount(group[pairs.winner], minlength=int(group.max()) + 1)
    with_pairs = np.flatnonzero(sizes)
    _require_folds(
        cv,
        len(with_pairs),
        f"{what}, found {len(with_pairs)}: give groups of rows to fit, or cv='pairs', on the "
        "command line --folds pairs, to deal out single pairs",
    )
    number = np.arange(len(sizes)) % cv
    number[with_pairs] = _dealt(cv, sizes[with_pairs])
    return _by_number(number[group], cv)


def deal_pairs(n_folds: int, n_pairs: int) -> list[Fold]:
    """Deal single pairs to folds at random, by a fixed seed; the parts of folds are their numbers.

    Raises
    ------
    ValueError
        If there are fewer pairs than folds.
    """
    _require_folds(n_folds, n_pairs, f"pairs, found {n_pairs}")
    # The raw numbers of the generator stay what they are in every version of NumPy.
    order = np.argsort(np.random.PCG64(SEED).random_raw(n_pairs), kind="stable")
    number = np.empty(n_pairs, dtype=np.int64)
    number[order] = np.arange(n_pairs) % n_folds
    return _by_number(number, n_folds)


def is_number(cv: Any) -> bool:
    """Say whether it is a number of folds."""
    return isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)


def _by_number(number: Rows, n_folds: int) -> list[Fold]:
    """Return both parts of each fold, given the fold that validates with each row."""
    return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(n_folds)]


def _split(cv: Any, y: NDArray[np.float64], group: Rows | None) -> list[Fold]:
    from sklearn.model_selection import check_cv

    splits = check_cv(cv).split(np.zeros(len(y)), y, groups=group)
    return [(_row_numbers(train), _row_numbers(validation)) for train, validation in splits]


def _dealt_rows(n_folds: int, y: NDArray[np.float64]) -> Rows:
    """Deal rows in the order of their labels; return the number of each row's fold."""
    _require_folds(n_folds, len(y), f"rows, found n_samples={len(y)}")
    number = np.empty(len(y), dtype=np.int64)
    number[np.argsort(y, kind="stable")] = np.arange(len(y)) % n_folds
    return number


def _dealt_queries(n_folds: int, query: Rows) -> Rows:
    """Deal queries evenly by rows; return the number of each row's fold."""
    sizes = np.bincount(query)
    _require_folds(n_folds, len(sizes), f"queries, found {len(sizes)}")
    return _dealt(n_folds, sizes)[query]


def _dealt(n_folds: int, sizes: Rows) -> Rows:
    """Deal things of some sizes, the largest first, each to the fold that has least."""
    folds = [(0, k) for k in range(n_folds)]
    number = np.empty(len(sizes), dtype=np.int64)
    for q in np.argsort(-sizes, kind="stable"):
        size, number[q] = folds[0]
        heapq.heapreplace(folds, (size + int(sizes[q]), int(number[q])))
    return number


def _require_folds(n_folds: int, most: int, found: str) -> None:
    if n_folds < 2:
        raise InputError(f"cv must be at least 2 folds, not {n_folds}")
    if n_folds > most:
        raise InputError(f"cv={n_folds} folds need at least {n_folds} {found}")


def _row_numbers(rows: Any) -> Rows:
    numbers = np.asarray(rows)
    if numbers.dtype == np.bool_:
        numbers = np.flatnonzero(numbers)
    return np.ascontiguousarray(numbers, dtype=np.int64)
