"""Features brought to one scale for training, and weights for the features as they are.

Training on ``(x - m) / s`` gives weights w of scores ``w'(x - m) / s``. The scores ``(w / s)'x``
differ from these by a constant, which changes no order. So the centre m is of no concern, sparse
data stay sparse, and the scale goes into the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.occurring import Columns

Vector = NDArray[np.float64]

BLOCK_VALUES = 1 << 24  # that are looked at at a time


def scale_factors(
    X: Any, scale: str, columns: Columns | None = None, *, name: str = "X", first: int = 0
) -> Vector:
    """Return what to multiply each feature by.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    scale : {"standard", "minmax", "maxabs"}
        One by the standard deviation, the range from the least to the greatest value, or the
        greatest absolute value, as of scikit-learn's StandardScaler, MinMaxScaler and MaxAbsScaler.
        Features that are constant, or zero, keep the factor 1. The last two of scikit-learn also
        take spreads below 2e-15 for constant; here no unit is too small.
    columns : Columns, optional
        Those of X that occur, if others are left out.
    name : str
        What messages call the data.
    first : int
        The number of the first feature there.

    Returns
    -------
    ndarray of shape (n_columns,)

    Raises
    ------
    ValueError
        If the scale of a feature, or one by it, is not a float64.
    """
    columns = Columns(X.shape[1]) if columns is None else columns
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _spread(columns.only(X), scale)
        factors: Vector = np.divide(1.0, spread, out=np.ones_like(spread), where=spread != 0)
    bad = np.flatnonzero(~(np.isfinite(factors) & (factors > 0)))
    if len(bad):
        raise InputError(
            f"feature {columns.feature(bad[0]) + first} of {name} cannot be scaled: its values "
            "are too large or too small for float64"
        )
    return factors


def _spread(X: Any, scale: str) -> Vector:
    if scale == "standard":
        return _deviations(X)
    if isinstance(X, np.ndarray):
        low, high = X.min(axis=0), X.max(axis=0)
    else:
        from sklearn.utils.sparsefuncs import min_max_axis

        low, high = min_max_axis(X, axis=0)
    spread: Vector = high - low if scale == "minmax" else np.maximum(-low, high)
    return spread


def _deviations(X: Any) -> Vector:
    """Return the standard deviations of columns; the copies that this takes are of blocks."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=False)
    n_rows = max(BLOCK_VALUES * X.shape[0] // max(X.size, 1), 1)
    for first in range(0, X.shape[0], n_rows):
        scaler.partial_fit(X[first : first + n_rows])
    # Those of variances that overflow are taken for constant there.
    deviation: Vector = np.where(np.isfinite(scaler.var_), scaler.scale_, np.nan)
    return deviation


def multiplied(X: Any, factors: Vector | None) -> Any:
    """Return rows, an array or CSR matrix, with each feature times its factor, if there are any."""
    if factors is None:
        return X
    if isinstance(X, np.ndarray):
        return X * factors
    X = X.copy()
    X.data *= factors[X.indices]
    return X
