"""The bounds that multiples of a dual point make."""

from __future__ import annotations

import numpy as np

from ..records import record
from .rounding import ROUNDING


@record
class DualRay:
    """The dual value ``D(t) = t linear - t^2 quadratic`` of multiples of a dual point.

    All are lower bounds of the optimum (:eq:`best-multiple`), for t from 0 to `largest`.
    """

    linear: float
    quadratic: float
    largest: float

    @property
    def multiple(self) -> float:
        """The best multiple."""
        if not self.linear > 0:
            return 0.0
        best = self.linear / (2 * self.quadratic) if self.quadratic > 0 else np.inf
        return float(min(best, self.largest))

    @property
    def bound(self) -> float:
        """The best bound, never negative."""
        multiple = self.multiple
        bound = multiple * (self.linear - multiple * self.quadratic) * (1 - ROUNDING)
        return bound if bound > 0 else 0.0
