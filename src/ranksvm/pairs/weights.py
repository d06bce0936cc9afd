"""Weights as users give them: checked, and as vectors of float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .columns import finite_numbers
from .queries import QueryGroups

Vector = NDArray[np.float64]


def per_query_weight(query_weight: ArrayLike | None, groups: QueryGroups) -> Vector | None:
    """Check one weight per query, or reduce one per row to that.

    Parameters
    ----------
    query_weight : array-like of shape (n_queries,) or (n_samples,), or None
        For queries in the order in which they first appear, or for each row that of its query.
        Where there are as many of both, they are the same.
    groups : QueryGroups

    Returns
    -------
    ndarray of shape (n_queries,), or None

    Raises
    ------
    ValueError
        If the length is wrong, a weight is negative or not finite, or the rows of a query differ.
    """
    if query_weight is None:
        return None
    shape = finite_numbers(query_weight, "query_weight").shape
    if shape not in ((groups.n_queries,), (groups.n_samples,), ()):
        raise InputError(
            f"query_weight has shape {shape}, but there are {groups.n_queries} queries, of "
            f"{groups.n_samples} rows: give a weight for each query, or for each row"
        )
    if shape == (groups.n_queries,):
        weights = np.empty(groups.n_queries)
        weights[np.argsort(groups.first_rows)] = _checked("query_weight", query_weight, "query")
        return _some(weights, "query_weight", "query")
    by_row = row_weights("query_weight", query_weight, groups.n_samples)
    assert by_row is not None
    weights = np.ascontiguousarray(by_row[groups.first_rows])
    differs = np.flatnonzero(groups.per_row(weights) != by_row)
    if len(differs):
        raise InputError(
            f"query_weight must be the same for all rows of a query; row {differs[0]} has "
            f"{by_row[differs[0]]:g} where its query begins with another value"
        )
    return weights


def row_weights(name: str, weights: ArrayLike | None, n_samples: int) -> Vector | None:
    """Check one non-negative finite weight per row; return float64.

    Raises
    ------
    ValueError
        Naming the array, the row and what was found there.
    """
    values = nonnegative_weights(name, weights, n_samples)
    return None if values is None else _some(values, name, "row")


def nonnegative_weights(name: str, weights: ArrayLike | None, n_samples: int) -> Vector | None:
    """Check the same, but that some weight is not zero, of rows that are a part of all."""
    if weights is None:
        return None
    values = _checked(name, weights, "row")
    if values.ndim == 0:
        values = np.full(n_samples, float(values))
    if values.shape != (n_samples,):
        raise InputError(
            f"{name} has shape {values.shape} but there are {n_samples} rows; weights of queries "
            "are query_weight"
        )
    return values


def _checked(name: str, weights: ArrayLike, of: str) -> Vector:
    values = finite_numbers(weights, name)
    bad = np.flatnonzero(values < 0)
    if len(bad):
        raise InputError(
            f"{name} must be finite and not negative; {of} {bad[0]} holds {values.flat[bad[0]]:g}"
        )
    return values


def _some(values: Vector, name: str, of: str) -> Vector:
    if not values.any():
        raise InputError(f"every {name} is zero: no {of} is left to learn from")
    return values
