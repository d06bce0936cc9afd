"""What kernel rankers share as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from ..errors import InputError
from .ranker import Ranker

Vector = NDArray[np.float64]


class KernelRanker(Ranker):
    """Base of the estimators that learn a function of the space of a kernel."""

    kernel: str | Callable[[Any, Any], Any]
    degree: float
    coef0: float
    max_memory: float | str

    def _training_rows(
        self, X: Any, y: ArrayLike | None, qid: Any, group: ArrayLike | None
    ) -> tuple[Any, Vector, Any]:
        X, labels, ids = super()._training_rows(X, y, qid, group)
        self._require_square(X)
        return X, labels, ids

    def _training_features(self, X: Any, qid: Any, group: ArrayLike | None) -> tuple[Any, Any]:
        X, ids = super()._training_features(X, qid, group)
        self._require_square(X)
        return X, ids

    def _require_square(self, X: Any) -> None:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(
                f"a precomputed kernel needs a square matrix in fit, with a row and a column for "
                f"each training row; X has shape {X.shape}"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
