"""The bounds that multiples of a dual point make where the penalty is no squared norm.

::

    D(t) = t linear - t^2 quadratic - R*(t u),    0 <= t <= largest

is concave, and its slope is made of straight lines (:eq:`penalised-multiple`): Newton steps on it
end after a few. Every t gives a bound, so that where they end does not matter to what is certified.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.dual_ray import DualRay
from ..pairs.rounding import ROUNDING
from ..records import record

Vector = NDArray[np.float64]

MOST_TRIALS = 60
FAR_LESS = 1 / 64  # where nothing is known of the size of the best multiple
LITTLE = 1e-15  # that a step still gains, relative to the bound


class Dual(Protocol):
    """Bounds of the optimum by multiples of a dual point."""

    @property
    def multiple(self) -> float:
        """The best multiple."""

    @property
    def bound(self) -> float:
        """The best bound, never negative."""


class ConjugateTerms(NamedTuple):
    """What each coordinate adds to a conjugate, and how exactly.

    Attributes
    ----------
    value : ndarray of shape (n_features,)
    size : ndarray of shape (n_features,)
        Of the terms of the value, which rounding goes with.
    slope, curvature : ndarray of shape (n_features,)
    """

    value: Vector
    size: Vector
    slope: Vector
    curvature: Vector


class Conjugate(Protocol):
    """The conjugate of a penalty, a sum over the coordinates."""

    @property
    def constant(self) -> float:
        """What is taken away from it."""

    @property
    def reach(self) -> tuple[Vector, Vector]:
        """Between what a coordinate has to be where it is finite."""

    def conjugate_terms(self, u: Vector) -> ConjugateTerms:
        """Return what each coordinate adds."""


class _Trial(NamedTuple):
    multiple: float
    bound: float
    slope: float
    curvature: float


@record
class DualCurve:
    """The dual value D(t) of multiples of a dual point, all of them bounds of the optimum.

    Attributes
    ----------
    ray : DualRay
        Linear and quadratic part, and the largest multiple.
    conjugate : Conjugate
    u, noise : ndarray of shape (n_features,)
        Each coordinate is known to within the noise; the worst counts.
    """

    ray: DualRay
    conjugate: Conjugate
    u: Vector
    noise: Vector

    @property
    def multiple(self) -> float:
        """The best multiple that was found."""
        return self._best.multiple

    @property
    def bound(self) -> float:
        """The best bound, never negative."""
        return max(self._best.bound, 0.0)

    @cached_property
    def _largest(self) -> float:
        (low, high), (below, above) = self.conjugate.reach, self._ends
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limits = np.where(below < 0, low / below, np.inf)
            limits = np.minimum(limits, np.where(above > 0, high / above, np.inf))
        limit = float(limits.min(initial=np.inf)) * (1 - ROUNDING)
        return min(self.ray.largest, limit)

    @cached_property
    def _ends(self) -> tuple[Vector, Vector]:
        """Between what u is, which a multiple rounds."""
        noise = self.noise + ROUNDING * np.abs(self.u)
        return self.u - noise, self.u + noise

    @cached_property
    def _best(self) -> _Trial:
        low, high = 0.0, self._largest
        best = self._at(0.0)
        step = min(1.0, high)
        for _ in range(MOST_TRIALS):
            trial = self._at(step)
            if trial.bound > best.bound:
                best = trial
            if trial.slope > 0:
                low = step
            else:
                high = step
            step = self._next(trial, low, high)
            if not abs(trial.slope * (step - trial.multiple)) > LITTLE * abs(best.bound):
                break
        return best

    def _next(self, trial: _Trial, low: float, high: float) -> float:
        """Return Newton's step, kept between where the slope is positive and where it is not."""
        with np.errstate(divide="ignore", over="ignore"):
            step = trial.multiple + trial.slope / trial.curvature if trial.curvature else np.inf
        if np.isfinite(step) and low < step < high:
            return step
        if trial.slope > 0 and step >= high and trial.multiple < high < np.inf:
            return high
        if high == np.inf:
            return 2 * max(low, 1.0)
        return 0.5 * (low + high) if low > 0 else FAR_LESS * high

    def _at(self, multiple: float) -> _Trial:
        ray = self.ray
        value, size, slope, curvature = (part.sum() for part in self._worst(multiple))
        linear, quadratic = multiple * ray.linear, multiple**2 * ray.quadratic
        size += abs(linear) + quadratic + self.conjugate.constant
        bound = linear - quadratic - value + self.conjugate.constant - ROUNDING * size
        if not np.isfinite(bound):
            return _Trial(multiple, -np.inf, -np.inf, 0.0)
        return _Trial(
            multiple,
            float(bound),
            float(ray.linear - 2 * multiple * ray.quadratic - slope),
            float(2 * ray.quadratic + curvature),
        )

    def _worst(self, multiple: float) -> ConjugateTerms:
        """Return the terms of what is largest within the noise, with their derivatives by t."""
        low, high = (self._at_end(multiple, end) for end in self._ends)
        takes = high.value > low.value
        return ConjugateTerms(*(np.where(takes, b, a) for a, b in zip(low, high, strict=True)))

    def _at_end(self, multiple: float, u: Vector) -> ConjugateTerms:
        terms = self.conjugate.conjugate_terms(multiple * u)
        with np.errstate(invalid="ignore"):
            return terms._replace(slope=u * terms.slope, curvature=u**2 * terms.curvature)
