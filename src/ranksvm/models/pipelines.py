"""What fitted scalers of scikit-learn, in front of a ranker, come to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


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
