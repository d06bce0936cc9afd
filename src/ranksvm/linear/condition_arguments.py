"""What users ask of the weights, as they say it, and what it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.columns import real_numbers
from ..records import record
from .conditions import Conditions, require_ratio, require_truth, simplest
from .feature_names import FeatureNames

Vector = NDArray[np.float64]
OfFeatures: TypeAlias = float | ArrayLike | Mapping[Any, float] | None


@record
class ConditionArguments:
    """Signs, bounds, a prior and penalties, as for `RankSVM`.

    Attributes
    ----------
    positive : bool
    lower_bounds, upper_bounds, prior, penalty_weights : float, array-like, dict or None
        Of all features, of each, or of some, by name or number.
    l1_ratio : float
    """

    positive: Any = False
    lower_bounds: OfFeatures = None
    upper_bounds: OfFeatures = None
    prior: OfFeatures = None
    l1_ratio: Any = 0.0
    penalty_weights: OfFeatures = None

    def conditions(self, features: FeatureNames) -> Conditions:
        """Return what it comes to for these features.

        Raises
        ------
        ValueError
            If it is malformed, of no feature of these, contradictory, or lets weights grow without
            end.
        """
        require_truth("positive", self.positive)
        require_ratio(self.l1_ratio)
        lower = _of_features("lower_bounds", self.lower_bounds, -np.inf, features)
        upper = _of_features("upper_bounds", self.upper_bounds, np.inf, features)
        prior = _of_features("prior", self.prior, 0.0, features)
        charged = _of_features("penalty_weights", self.penalty_weights, 1.0, features)
        _require("prior", prior, np.isfinite(prior), "finite", features)
        good = np.isfinite(charged) & (np.asarray(charged) >= 0)
        _require("penalty_weights", charged, good, "finite and not negative", features)
        _require_bounds(lower, upper, features)
        found = Conditions(lower, upper, prior, float(self.l1_ratio), charged)
        if self.positive:
            found = found.nonnegative(features)
        _require_penalty(found, features)
        return found


CONDITIONS = tuple(field.name for field in fields(ConditionArguments))


def _of_features(
    name: str, values: OfFeatures, default: float, features: FeatureNames
) -> float | Vector:
    """Return numbers of features, as one where all are alike."""
    if values is None:
        return default
    if isinstance(values, Mapping):
        found = np.full(features.n_features, default)
        for feature, value in values.items():
            k = _column(name, feature, features)
            found[k] = _number(f"{name} of {features.title(k)}", value)
    elif _is_single(values):
        return _number(name, values)
    else:
        found = real_numbers(values, name)
        if found.shape != (features.n_features,):
            raise InputError(
                f"{name} must have a number for each of the {features.n_features} features, not "
                f"the shape {found.shape}"
            )
    return simplest(found)


def _column(name: str, feature: Any, features: FeatureNames) -> int:
    try:
        return features.column(feature)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def _is_single(value: Any) -> bool:
    return not isinstance(value, list | tuple) and np.ndim(value) == 0


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not _is_single(value):
        raise InputError(f"{name} must be a number, not {value!r}")
    return float(real_numbers(value, name))


def _require(
    name: str, values: float | Vector, good: Any, what: str, features: FeatureNames
) -> None:
    """Refuse numbers that are not good, naming the first feature of which one is."""
    bad = np.flatnonzero(~np.asarray(good))
    if len(bad):
        of = f" of {features.title(int(bad[0]))}" if np.ndim(values) else ""
        raise InputError(f"{name}{of} must be {what}, not {np.ravel(values)[bad[0]]:g}")


def _require_bounds(lower: float | Vector, upper: float | Vector, features: FeatureNames) -> None:
    """Refuse bounds between which there is no weight."""
    for name, bound, most in (("lower_bounds", lower, np.inf), ("upper_bounds", upper, -np.inf)):
        _require(name, bound, ~np.isnan(bound), "a number", features)
        _require(name, bound, bound != most, f"finite or {-most}", features)
    apart = np.atleast_1d(lower > np.asarray(upper))
    if apart.any():
        k = int(np.argmax(apart))
        low, high = (np.broadcast_to(bound, apart.shape)[k] for bound in (lower, upper))
        what = f"the weight of {features.title(k)}" if len(apart) > 1 else "weights"
        raise InputError(
            f"lower_bounds and upper_bounds contradict each other: {what} cannot be at least "
            f"{low:g} and at most {high:g}"
        )


def _require_penalty(conditions: Conditions, features: FeatureNames) -> None:
    """Refuse weights that cost nothing and have no bounds."""
    bounded = np.isfinite(conditions.lower) & np.isfinite(conditions.upper)
    grows = np.atleast_1d((np.asarray(conditions.penalty_weights) == 0) & ~bounded)
    if grows.any():
        of = f" of {features.title(int(np.argmax(grows)))}" if len(grows) > 1 else ""
        raise InputError(
            f"penalty_weights{of} may be 0 only between finite bounds, without which nothing keeps "
            "the weight from growing: give lower_bounds and upper_bounds, or a penalty"
        )
