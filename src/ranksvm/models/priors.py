"""The weights of a model as a prior for others: those of the features that both have."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.feature_names import FeatureNames
from .from_estimators import require_weights
from .linear import LinearModel

Vector = NDArray[np.float64]

_LISTED = 8
_USER = 6  # frames up, where an estimator is fitted


def prior_of(
    model: LinearModel, features: FeatureNames, shown: str, first: int | None = None
) -> Vector:
    """Return the weights of a model for other data, by name, or by number where one has no names.

    Parameters
    ----------
    model : LinearModel
    features : FeatureNames
        Of the data.
    shown : str
        What messages call the model.
    first : int, optional
        The number of its first feature, by default that of the data.

    Returns
    -------
    ndarray of shape (n_features,)
        Zero for features that the model does not have.

    Raises
    ------
    ValueError
        If the model maps features first, has weights that are not finite, or has no feature of the
        data.

    Warns
    -----
    UserWarning
        Of features with a weight that the data lack.
    """
    require_weights(model, shown)
    found, without = np.zeros(features.n_features), []
    both_named = model.feature_names is not None and features.names is not None
    names = model.feature_names if both_named else None
    first, n_found = features.first if first is None else first, 0
    for k, weight in zip(*model.weights.nonzero(), strict=True):
        place = features.find(names[k]) if names else k + first - features.first
        if place is None or not 0 <= place < features.n_features:
            without.append(repr(names[k]) if names else str(k + first))
        else:
            found[place] = weight
            n_found += 1
    if not np.isfinite(found).all():
        raise InputError(f"{shown} has weights that are not finite")
    if without and not n_found:
        raise InputError(f"{shown} has no weight of a feature that {features.data} has")
    if without:
        more = f" and {len(without) - _LISTED} more" if len(without) > _LISTED else ""
        warnings.warn(
            f"{features.data} lacks features that {shown} has weights of, which are left out: "
            f"{', '.join(without[:_LISTED])}{more}",
            UserWarning,
            stacklevel=_USER,
        )
    return found
