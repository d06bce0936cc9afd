"""What linear rankers share as scikit-learn estimators: weights, and what they predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design_matrix import DesignMatrix
from .parameters import Parameters
from .ranker import Ranker
from .training import Fit

Vector = NDArray[np.float64]


class LinearRanker(Ranker):
    """Base of the estimators that learn a weight for each feature."""

    def predict(self, X: Any) -> Vector:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A data frame may have the column of query ids, or not.

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        return DesignMatrix.from_array(self._features(X)).dot(self.coef_)

    def _keep(self, fit: Fit, parameters: Parameters) -> None:
        super()._keep(fit, parameters)
        self.coef_ = fit.result.weights
