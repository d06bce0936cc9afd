"""An objective along a direction: a trial costs a sweep over the scores, no pass over X."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.sweeps import Scores
from ..records import record

Vector = NDArray[np.float64]

FAR = 1e5  # scores that are so large are computed afresh: moved ones would have lost the digits

E = TypeVar("E")
S = TypeVar("S", bound="Start")


class Start(Protocol):
    """An evaluation that can be moved along a direction."""

    @property
    def weights(self) -> Vector:
        """Where it is."""

    @property
    def scores(self) -> Scores:
        """The scores there."""

    def moved(self: S, weights: Vector, scores: Scores | None) -> S:
        """Return the objective at other weights, and their scores if these are known."""

    def slope_along(self, p: Vector, image: Scores) -> float:
        """Return the derivative along p, for the image of p; at kinks, that ahead."""

    def slope_before(self, p: Vector, image: Scores) -> float:
        """Return the same, at kinks that of what lies behind."""


@record
class Trial(Generic[E]):
    """A point on a line.

    Attributes
    ----------
    step : float
    slope : float
        The derivative along the line there.
    decrement : float
        What the step 1 would gain on a parabola with its vertex there.
    evaluation : object
        What is there.
    """

    step: float
    slope: float
    decrement: float
    evaluation: E


@record
class Line(Generic[S]):
    """The line ``weights + t direction``, whose scores are ``scores + t image``.

    Attributes
    ----------
    start : Start
    direction, image : array
    end : Start or None
        At the full step, if it is known.
    last : ndarray of shape (n_features,) or None
        The weights there, if they are known exactly.
    """

    start: S
    direction: Vector
    image: Scores
    end: S | None = None
    last: Vector | None = None

    @cached_property
    def slope(self) -> float:
        """The derivative at the start."""
        return self.start.slope_along(self.direction, self.image)

    def trial(self, step: float) -> Trial[S]:
        """Evaluate a step away; where scores are very large, from fresh ones."""
        start = self.start
        if step == 1.0 and self.last is not None:
            weights = self.last
        else:
            weights = start.weights + step * self.direction
        if not self._extent + step * self._reach < FAR:
            there = start.moved(weights, None)
        elif step == 1.0 and self.end is not None:
            there = self.end
        else:
            there = start.moved(weights, start.scores + step * self.image)
        slope = there.slope_before(self.direction, self.image)
        return Trial(step, slope, -0.5 * self.slope, there)

    @cached_property
    def _extent(self) -> float:
        return _extent(self.start.scores)

    @cached_property
    def _reach(self) -> float:
        return _extent(self.image)


def _extent(scores: Scores) -> float:
    return max(float(scores.max()), -float(scores.min()))
