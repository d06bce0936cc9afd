"""What is asked of the weights beside their smallness: bounds, a prior, and that many be zero.

All of it is of the features as they are: where they are scaled for training, it goes with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records import record
from .feature_names import FeatureNames
from .occurring import Columns, FeatureWeights
from .penalties import SQUARED_NORM, ElasticNet, Penalty

Vector = NDArray[np.float64]


@record
class Conditions:
    """Bounds, a prior, and how the distance from it is charged.

    ::

        R(w) = sum over k of  a_k (r |v_k| + (1 - r) v_k^2 / 2),    v = w - prior,
        lower <= w <= upper

    Attributes
    ----------
    lower, upper : float or ndarray of shape (n_features,)
    prior : float or ndarray of shape (n_features,)
    l1_ratio : float
        r, from 0 to 1.
    penalty_weights : float or ndarray of shape (n_features,)
        a, never negative; 0 only between finite bounds
        (`ranksvm.linear.condition_arguments.ConditionArguments` sees to it).
    """

    lower: float | Vector = -np.inf
    upper: float | Vector = np.inf
    prior: float | Vector = 0.0
    l1_ratio: float = 0.0
    penalty_weights: float | Vector = 1.0

    @property
    def are_none(self) -> bool:
        """Whether all that is left is ``0.5 |w|^2``."""
        return (
            not self.have_bounds
            and not np.any(self.prior)
            and self.l1_ratio == 0
            and bool(np.all(self.penalty_weights == 1))
        )

    def scaled(self, factors: Vector, columns: Columns) -> Conditions:
        """Return what is asked of the weights of features that are multiplied by factors.

        Parameters
        ----------
        factors : ndarray of shape (n_columns,)
            Positive.
        columns : Columns
            Which features they are of.
        """
        if self.are_none:
            return self

        def divided(values: float | Vector) -> float | Vector:
            if np.ndim(values) == 0 and (values == 0 or np.isinf(values)):
                return values
            found: Vector = np.broadcast_to(values, columns.n_features).copy()
            known = slice(None) if columns.features is None else columns.features
            with np.errstate(over="ignore"):
                found[known] /= factors
            too_large = np.flatnonzero(np.isinf(found) & np.isfinite(values))
            if len(too_large):
                raise InputError(
                    f"a bound or the prior of feature {too_large[0]} is too large for its scale: "
                    "divided by that, it is beyond float64"
                )
            return found

        return replace(
            self, lower=divided(self.lower), upper=divided(self.upper), prior=divided(self.prior)
        )

    def unscaled(self, weights: Vector, factors: Vector, columns: Columns) -> FeatureWeights:
        """Return the weights of features as they are, for those of features times factors.

        What is at a bound or at the prior there is so here, exactly.
        """
        scaled = self.scaled(factors, columns)
        found = factors * weights
        for here, there in (
            (self.prior, scaled.prior),
            (self.lower, scaled.lower),
            (self.upper, scaled.upper),
        ):
            found = np.where(weights == _at(there, columns), _at(here, columns), found)
        found = np.clip(found, _at(self.lower, columns), _at(self.upper, columns))
        return self.weights(columns, found)

    def nonnegative(self, features: FeatureNames | None = None) -> Conditions:
        """Return the same with weights that are not negative.

        Raises
        ------
        ValueError
            If an upper bound is.
        """
        bad = np.flatnonzero(np.asarray(self.upper) < 0)
        if len(bad):
            k, of = int(bad[0]), ""
            if np.ndim(self.upper):
                of = f" of {features.title(k) if features is not None else f'feature {k}'}"
            raise InputError(
                f"positive contradicts upper_bounds: that{of} is {np.ravel(self.upper)[k]:g}, and "
                "the weight may not be negative"
            )
        return replace(self, lower=simplest(np.maximum(self.lower, 0.0)))

    @property
    def have_bounds(self) -> bool:
        """Whether there are weights that may not be."""
        return not bool(np.all(self.lower == -np.inf) and np.all(self.upper == np.inf))

    @property
    def are_signs(self) -> bool:
        """Whether what they say of the weights holds behind maps of single features, too."""
        signs = np.isin(self.lower, (-np.inf, 0)).all() and np.isin(self.upper, (0, np.inf)).all()
        return bool(signs) and not np.any(self.prior)

    @property
    def are_alike(self) -> bool:
        """Whether they single out no weights."""
        special = self.have_bounds or np.any(self.prior) or np.ndim(self.penalty_weights)
        return not special

    def n_at_bounds(self, weights: FeatureWeights) -> int:
        """Count the weights that are at a bound."""
        columns = weights.columns
        lower, upper = _at(self.lower, columns), _at(self.upper, columns)
        n = int(np.sum((weights.values <= lower) | (weights.values >= upper)))
        if columns.features is None or not (np.any(self.lower == 0) or np.any(self.upper == 0)):
            return n
        elsewhere = (np.asarray(self.lower) == 0) | (np.asarray(self.upper) == 0)
        if elsewhere.ndim == 0:
            return n + columns.n_features - len(columns)
        elsewhere[columns.features] = False
        return n + int(elsewhere.sum())

    def described(self, features: FeatureNames) -> dict[str, Any]:
        """Return what there is to say of them in a model file: numbers, or those of some features.

        The names are those of the parameters of `RankSVM`; features without names count from one.
        """
        found: dict[str, Any] = {}
        least = -np.inf
        if np.all(np.asarray(self.lower) >= 0):
            found["positive"], least = True, 0.0
        for name, values, default in (
            ("lower_bounds", self.lower, least),
            ("upper_bounds", self.upper, np.inf),
            ("prior", self.prior, 0.0),
            ("penalty_weights", self.penalty_weights, 1.0),
        ):
            if np.ndim(values):
                some = np.flatnonzero(values != default).tolist()
                found[name] = {features.key(k): float(np.asarray(values)[k]) for k in some}
            elif values != default:
                found[name] = float(values)
        if self.l1_ratio:
            found["l1_ratio"] = self.l1_ratio
        return found

    def penalty(self, columns: Columns) -> Penalty:
        """Return what is added to the loss, as a function of the weights of columns."""
        if self.are_none:
            return SQUARED_NORM
        charged = _at(self.penalty_weights, columns)
        return ElasticNet(
            lasso=self.l1_ratio * charged,
            ridge=(1 - self.l1_ratio) * charged,
            prior=_at(self.prior, columns),
            lower=_at(self.lower, columns),
            upper=_at(self.upper, columns),
            constant=self._elsewhere(columns),
        )

    def weights(self, columns: Columns, values: Vector) -> FeatureWeights:
        """Return weights of columns as those of all features, the others as near to the prior."""
        at_rest = np.clip(self.prior, self.lower, self.upper)
        if columns.features is None or not np.any(at_rest):
            return FeatureWeights(columns, values)
        everywhere = np.broadcast_to(at_rest, columns.n_features).copy()
        everywhere[columns.features] = values
        return FeatureWeights.of(everywhere)

    def _elsewhere(self, columns: Columns) -> float:
        """Return what the features add that have no column, whose weights nothing else moves."""
        if columns.features is None:
            return 0.0
        r, v = self.l1_ratio, np.clip(self.prior, self.lower, self.upper) - self.prior
        added = self.penalty_weights * (r * np.abs(v) + (1 - r) * v**2 / 2)
        if np.ndim(added) == 0:
            return float(added) * (columns.n_features - len(columns))
        without = np.ones(columns.n_features, dtype=bool)
        without[columns.features] = False
        return float(added[without].sum())


NO_CONDITIONS = Conditions()


def _at(values: float | Vector, columns: Columns) -> Vector:
    """Return values of features as those of columns."""
    if np.ndim(values) == 0 or columns.features is None:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), len(columns)).copy()
    chosen: Vector = np.asarray(values)[columns.features]
    return chosen


def simplest(values: float | Vector) -> float | Vector:
    """Return one number for many that are alike."""
    found = np.ravel(values)
    return float(found[0]) if (found == found[0]).all() else values


def require_truth(name: str, value: Any) -> None:
    """Refuse what is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r}")


def require_ratio(value: Any) -> None:
    """Refuse what is no share of the absolute values."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):
        raise InputError(f"l1_ratio must be a number from 0 to 1, not {value!r}")
