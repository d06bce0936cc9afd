"""Weights as users give them: checked, and as vectors of float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .columns import finite_numbers
from .queries import QueryGroups

Vector = NDArray[np.float64]


def per_query_weight(query_weight: ArrayLike | None, groups: QueryGroups) -> Vector | None:
    """Reduce one weight per row to one per query.

    Raises
    ------
    ValueError
        If the length is wrong, a weight is negative or not finite, or the rows of a query differ.
    """
    if query_weight is None:
        return None
    by_row = row_weights("query_weight", query_weight, groups.n_samples)
    assert by_row is not None
    weights: Vector = by_row[groups.first_rows]
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
    if values is not None and not values.any():
        raise InputError(f"every {name} is zero: no row is left to learn from")
    return values


def nonnegative_weights(name: str, weights: ArrayLike | None, n_samples: int) -> Vector | None:
    """Check the same, but that some weight is not zero, of rows that are a part of all."""
    if weights is None:
        return None
    values = finite_numbers(weights, name)
    if values.ndim == 0:
        values = np.full(n_samples, float(values))
    if values.shape != (n_samples,):
        raise InputError(f"{name} has shape {values.shape} but there are {n_samples} rows")
    bad = np.flatnonzero(values < 0)
    if len(bad):
        raise InputError(
            f"{name} must be finite and not negative; row {bad[0]} holds {values[bad[0]]:g}"
        )
    return values
