"""Features shifted and multiplied, where another map comes after: ``(x - center) * factors``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ...records import record
from .base import MAX_MEMORY, FeatureMap, Vector, densified, is_sparse


@record
class AffineMap(FeatureMap):
    """Each feature less a centre, times a factor.

    Attributes
    ----------
    center, factors : ndarray of shape (n_inputs,)
    """

    center: Vector
    factors: Vector

    name: ClassVar[str] = "affine"
    ARRAYS: ClassVar[dict[str, int]] = {"center": 1, "factors": 1}
    keeps_features: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.center) != len(self.factors):
            raise InputError(f"{len(self.center)} centres do not fit {len(self.factors)} factors")

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return len(self.factors)

    @property
    def description(self) -> str:
        """What the map does."""
        shifted = "shifted and " if self.center.any() else ""
        return f"{self.n_inputs} features {shifted}multiplied"

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says; sparse ones stay sparse where there is no centre."""
        if self.center.any():
            X = densified(X, max_memory)
        with np.errstate(over="ignore", invalid="ignore"):
            if not is_sparse(X):
                return (X - self.center) * self.factors
            X = X.copy()
            X.data = X.data * self.factors[X.indices]
        return X
