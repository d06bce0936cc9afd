"""Linear models: a weight for each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix, two_dimensional
from ..linear.occurring import IN_SCORING, FeatureWeights
from .columns import columns_of


@dataclass(frozen=True, eq=False, init=False)
class LinearModel:
    """A linear ranker: weights, and how they came about.

    Parameters
    ----------
    weights : ndarray of shape (n_features,), or FeatureWeights
    feature_names, parameters, training
        As below.

    Attributes
    ----------
    weights : FeatureWeights
        Without the features that occurred nowhere, where these are most.
    feature_names : list of str or None
    parameters : dict
        What the model was trained with.
    training : dict
        What training reported: objective, dual_gap, status and the like; and, as "fingerprint",
        which data it saw (`ranksvm.jobs.fingerprint.fingerprint`).
    """

    weights: FeatureWeights
    feature_names: list[str] | None
    parameters: dict[str, Any]
    training: dict[str, Any]

    def __init__(
        self,
        weights: FeatureWeights | NDArray[np.float64],
        feature_names: list[str] | None = None,
        parameters: dict[str, Any] | None = None,
        training: dict[str, Any] | None = None,
    ) -> None:
        vars(self).update(
            weights=FeatureWeights.of(weights),
            feature_names=feature_names,
            parameters={} if parameters is None else parameters,
            training={} if training is None else training,
        )

    @property
    def coef(self) -> NDArray[np.float64]:
        """The weights of all features, of shape (n_features,)."""
        return self.weights.dense

    def to_model(self) -> LinearModel:
        """Return the model itself, as estimators return what they have learned."""
        return self

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.weights.n_features

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Score rows: higher is better.

        Parameters
        ----------
        X : array-like, sparse matrix or DesignMatrix of shape (n_samples, n_features)
            Of a data frame, if the model has feature names, the columns of these names, in any
            order and among others.
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        ValueError
            If X has not as many features as the model, or lacks one of those that it names, or a
            value or score is not finite.
        """
        if not isinstance(X, DesignMatrix):
            X = two_dimensional(columns_of(X, self.feature_names))
            X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
            X = DesignMatrix.from_array(X, IN_SCORING)
        found = X.columns.n_features
        if found != self.n_features:
            raise ValueError(f"X has {found} features but the model has {self.n_features}")
        with np.errstate(over="ignore", invalid="ignore"):
            scores: NDArray[np.float64] = X.dot(self.weights.at(X.columns), n_threads)
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise ValueError(
                f"X must be finite, and not too large; the score of row {bad[0]} is "
                f"{scores[bad[0]]}"
            )
        return scores
