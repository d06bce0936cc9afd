"""What is asked of the weights beside their smallness: bounds, a prior, and that many be zero.

All of it is of the features as they are: where they are scaled for training, it goes with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .occurring import Columns, FeatureWeights
from .penalties import SQUARED_NORM, ElasticNet, Penalty

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        a, never negative; 0 only between finite bounds.

    Raises
    ------
    ValueError
        If there are no such weights, or they could grow without end.
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
            bool(np.all(self.lower == -np.inf) and np.all(self.upper == np.inf))
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
        everywhere = np.ones(columns.n_features) if columns.features is not None else factors
        if columns.features is not None:
            everywhere[columns.features] = factors
        return replace(
            self,
            lower=self.lower / everywhere,
            upper=self.upper / everywhere,
            prior=self.prior / everywhere,
        )

    def penalty(self, columns: Columns) -> Penalty:
        """Return what is added to the loss, as a function of the weights of columns."""
        if self.are_none:
            return SQUARED_NORM
        size, features = len(columns), columns.features

        def of_columns(values: float | Vector) -> Vector:
            if np.ndim(values) == 0 or features is None:
                return np.broadcast_to(np.asarray(values, dtype=np.float64), size).copy()
            chosen: Vector = np.asarray(values)[features]
            return chosen

        charged = of_columns(self.penalty_weights)
        return ElasticNet(
            lasso=self.l1_ratio * charged,
            ridge=(1 - self.l1_ratio) * charged,
            prior=of_columns(self.prior),
            lower=of_columns(self.lower),
            upper=of_columns(self.upper),
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
