"""What linear rankers share as scikit-learn estimators: weights, and what they predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays.libraries import library_of, to_host
from ..linear.condition_arguments import ConditionArguments, OfFeatures
from ..linear.conditions import Conditions
from ..linear.feature_names import FeatureNames
from ..linear.occurring import IN_SCORING, FeatureWeights
from ..linear.parameters import Parameters
from ..linear.training import Fit
from .certified_ranker import CertifiedRanker
from .packed_data import check_packed, is_packed, matrix_of, unchanged
from .priors import prior_values, the_one_prior

if TYPE_CHECKING:
    from ..models.linear import LinearModel

Vector = NDArray[np.float64]


class LinearRanker(CertifiedRanker):
    """Base of the estimators that learn a weight for each feature."""

    weights_: FeatureWeights

    positive: bool
    lower_bounds: OfFeatures
    upper_bounds: OfFeatures
    prior: Any
    l1_ratio: Any
    penalty_weights: OfFeatures

    @property
    def coef_(self) -> Vector:
        """The weights of all features."""
        return self.weights_.dense

    @coef_.setter
    def coef_(self, coef: Vector) -> None:
        self.weights_ = FeatureWeights.of(coef)

    def predict(self, X: Any) -> Any:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or PackedData
            A data frame may have the column of query ids, or not. Arrays of Torch and CuPy are
            scored where they are.

        Returns
        -------
        array of shape (n_samples,), float64
            Of Torch or CuPy, on the device of X, if X is; else of NumPy.
        """
        with unchanged(X):
            rows = matrix_of(self._features(X), spare=IN_SCORING)
            return rows.dot(self.weights_.at(rows.columns))

    def to_model(self) -> LinearModel:
        """Return the weights and how they came about, as `save_model` writes them.

        Returns
        -------
        LinearModel
        """
        from ..models.linear import LinearModel

        facts = self._facts()
        return LinearModel(self.weights_, **facts)

    def _conditions(self, n_features: int, prior: Any, l1_ratio: Any) -> Conditions:
        """Return what is asked of the weights, with the prior that `fit` was given, if any."""
        features = FeatureNames(n_features, self._feature_names())
        given = ConditionArguments(
            self.positive,
            to_host(self.lower_bounds),
            to_host(self.upper_bounds),
            prior_values(the_one_prior(self.prior, prior), features),
            l1_ratio,
            to_host(self.penalty_weights),
        )
        return given.conditions(features)

    def _features(self, X: Any) -> Any:
        if is_packed(X):
            self._require_fitted()
            return check_packed(self, X, reset=False)
        if library_of(X) is None:
            return super()._features(X)
        from .device_rows import check_rows

        self._require_fitted()
        return check_rows(self, X, reset=False)

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        conditions = self._trained_with.conditions
        if conditions.have_bounds:
            facts["training"]["n_at_bounds"] = conditions.n_at_bounds(self.weights_)
        return facts

    def _keep(self, fit: Fit, parameters: Parameters) -> None:
        super()._keep(fit, parameters)
        self.weights_ = fit.weights
