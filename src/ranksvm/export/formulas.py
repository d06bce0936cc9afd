"""Maps of single features as formulas of lines: what engines without maps can compute.

A quantile map is piecewise linear, with jumps where knots are equal (`ranksvm.models.maps`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models.maps import QuantileMap
from .exported import Unexportable

Vector = NDArray[np.float64]


class Lines(NamedTuple):
    """A function of one variable: lines between knots, and its values at the knots.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Ascending, each once.
    at : ndarray of shape (n_knots,)
        The values at the knots.
    before, after : ndarray of shape (n_knots,)
        What they approach from below and from above; constant beyond the first and the last.
    """

    knots: Vector
    at: Vector
    before: Vector
    after: Vector

    def value(self, x: float) -> float:
        """Return the value at x."""
        k = int(np.searchsorted(self.knots, x))
        if k < len(self.knots) and self.knots[k] == x:
            return float(self.at[k])
        if k == 0 or k == len(self.knots):
            return float(self.before[0] if k == 0 else self.after[-1])
        share = (x - self.knots[k - 1]) / (self.knots[k] - self.knots[k - 1])
        return float(self.after[k - 1] + share * (self.before[k] - self.after[k - 1]))

    def segments(self) -> list[tuple[float, float, float, float]]:
        """Return knot, value there, value just above, and slope up to the next knot."""
        width = np.diff(self.knots, append=np.inf)
        rise = np.append(self.before[1:] - self.after[:-1], 0.0)
        slope = np.where(np.isfinite(width), rise / width, 0.0)
        parts = (self.knots, self.at, self.after, slope)
        return list(zip(*(part.tolist() for part in parts), strict=True))


def lines_of(quantiles: QuantileMap, place: int, target: str) -> Lines:
    """Return the quantile map of one feature as lines."""
    if quantiles.distribution != "uniform":
        raise Unexportable(
            f"{target} has no normal quantiles: use output_distribution='uniform', or python"
        )
    column = quantiles.quantiles[:, place]
    shares = np.linspace(0, 1, len(column))
    knots, first = np.unique(column, return_index=True)
    last = np.append(first[1:], len(column)) - 1
    before, after = shares[first], shares[last]
    at = 0.5 * (before + after)
    after[-1] = at[-1] = min(len(column) - 1.0, 1.0)
    before[0] = at[0] = 0.0
    if not quantiles.from_zero:
        return Lines(knots, at, before, after)
    zero = Lines(knots, at, before, after).value(0.0)
    return Lines(knots, at - zero, before - zero, after - zero)
