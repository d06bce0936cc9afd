"""Features brought to one scale for training, and weights for the features as they are.

Training on ``(x - m) / s`` gives weights w of scores ``w'(x - m) / s``. The scores ``(w / s)'x``
differ from these by a constant, which changes no order. So the centre m is of no concern, sparse
data stay sparse, and the scale goes into the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.model import LinearModel
from ..files.svmlight import SvmlightFile

Vector = NDArray[np.float64]


def scale_factors(rows: SvmlightFile, scale: str) -> Vector:
    """Return what to multiply each feature by.

    Parameters
    ----------
    rows : SvmlightFile
    scale : {"standard", "minmax", "maxabs"}
        One by the standard deviation, the range from the least to the greatest value, or the
        greatest absolute value, as of scikit-learn's StandardScaler, MinMaxScaler and MaxAbsScaler.
        Features that are constant, or zero, keep the factor 1. The last two of scikit-learn also
        take spreads below 2e-15 for constant; here no unit is too small.

    Returns
    -------
    ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        If the scale of a feature, or one by it, is not a float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _spread(rows.X, scale)
        factors: Vector = np.divide(1.0, spread, out=np.ones_like(spread), where=spread > 0)
    bad = np.flatnonzero(~(np.isfinite(factors) & (factors > 0)))
    if len(bad):
        raise ValueError(
            f"feature {bad[0] + (not rows.zero_based)} of {rows.name} cannot be scaled: its values "
            "are too large or too small for float64"
        )
    return factors


def _spread(X: Any, scale: str) -> Vector:
    if scale == "standard":
        from sklearn.preprocessing import StandardScaler

        deviation: Vector = StandardScaler(with_mean=False).fit(X).scale_
        return deviation
    if isinstance(X, np.ndarray):
        low, high = X.min(axis=0), X.max(axis=0)
    else:
        from sklearn.utils.sparsefuncs import min_max_axis

        low, high = min_max_axis(X, axis=0)
    spread: Vector = high - low if scale == "minmax" else np.maximum(-low, high)
    return spread


def rescaled_model(model: LinearModel, factors: Vector, scale: str) -> LinearModel:
    """Return a model for features as they are, from one for features multiplied by the factors."""
    return LinearModel(
        factors * model.coef,
        model.feature_names,
        {**model.parameters, "scale": scale},
        model.training,
    )


def pipeline_factors(scalers: list[Any], n_features: int) -> Vector:
    """Return what fitted scalers of scikit-learn multiply each feature by, one after the other.

    Raises
    ------
    ValueError
        If one does something else than to shift and multiply each feature.
    """
    factors = np.ones(n_features)
    for scaler in scalers:
        factors *= _factors_of(scaler)
    return factors


def _factors_of(scaler: Any) -> Vector | float:
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    if scaler is None or scaler == "passthrough":
        return 1.0
    clips = getattr(scaler, "clip", False)
    if isinstance(scaler, MinMaxScaler) and not clips:
        multiplied: Vector = scaler.scale_
        return multiplied
    if isinstance(scaler, (StandardScaler, MaxAbsScaler, RobustScaler)) and not clips:
        divided: Vector | None = scaler.scale_
        return 1.0 if divided is None else 1.0 / divided
    raise ValueError(
        f"a model file holds weights for features as they are, but {scaler!r} does more than to "
        "shift and multiply them; what goes into the weights are StandardScaler, MinMaxScaler, "
        "MaxAbsScaler and RobustScaler, without clip"
    )
