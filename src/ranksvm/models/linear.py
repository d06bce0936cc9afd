"""Linear models: a weight for each feature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix, two_dimensional
from .columns import columns_of


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear ranker: weights, and how they came about.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The weights.
    feature_names : list of str or None
    parameters : dict
        What the model was trained with.
    training : dict
        What training reported: objective, dual_gap, status and the like; and, as "fingerprint",
        which data it saw (`ranksvm.jobs.fingerprint.fingerprint`).
    """

    coef: NDArray[np.float64]
    feature_names: list[str] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def to_model(self) -> LinearModel:
        """Return the model itself, as estimators return what they have learned."""
        return self

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.coef)

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
            X = DesignMatrix.from_array(np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X)
        if X.shape[1] != len(self.coef):
            raise ValueError(f"X has {X.shape[1]} features but the model has {len(self.coef)}")
        with np.errstate(over="ignore", invalid="ignore"):
            scores: NDArray[np.float64] = X.dot(self.coef, n_threads)
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise ValueError(
                f"X must be finite, and not too large; the score of row {bad[0]} is "
                f"{scores[bad[0]]}"
            )
        return scores
