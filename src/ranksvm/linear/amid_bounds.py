"""Slopes of pairs amid their bounds, and steps between these.

A slope has room at each of its bounds, none of which it may reach, and each bound a multiplier,
which is positive, too. The hinge bounds slopes on both sides. The squared hinge bounds them below,
and its dual curves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..records import record

Vector = NDArray[np.float64]


class Direction(NamedTuple):
    """How slopes, the multiplier of each bound, and weights of their own are to move."""

    slopes: Vector
    multipliers: list[Vector]
    weights: Vector | None


@record
class Bound:
    """A bound of slopes: the room that they have there, 1 if that grows with them or -1, and l."""

    room: Vector
    sign: float
    multiplier: Vector

    @property
    def product(self) -> Vector:
        """What is to become zero."""
        product: Vector = self.room * self.multiplier
        return product

    def moved(self, slopes: Vector, multiplier: Vector) -> Bound:
        """Return the bound where slopes and multiplier have moved by so much."""
        return Bound(self.room + self.sign * slopes, self.sign, self.multiplier + multiplier)


@record
class Point:
    """Slopes amid their bounds, with the multipliers of these.

    The weights are those of the slopes, or on the way there. The curvature is that of the dual in
    each slope.
    """

    slopes: Vector
    bounds: list[Bound]
    weights: Vector | None
    curvature: Vector | float

    @property
    def products(self) -> list[Vector]:
        """What is to become zero, for each bound."""
        return [bound.product for bound in self.bounds]

    @property
    def complementarity(self) -> float:
        """The mean of the products."""
        total = sum(bound.room @ bound.multiplier for bound in self.bounds)
        return float(total) / max(len(self.bounds) * len(self.slopes), 1)

    @property
    def stiffness(self) -> Vector:
        """By how much what a pair lacks falls with its slope, as if scores stayed."""
        stiffness = np.add(self.curvature, self.bounds[0].multiplier / self.bounds[0].room)
        for bound in self.bounds[1:]:
            stiffness = stiffness + bound.multiplier / bound.room
        return stiffness

    def residual(self, lacking: Vector) -> Vector:
        """Return what the multipliers leave of what the pairs lack."""
        residual = lacking - self.curvature * self.slopes
        for bound in self.bounds:
            residual = residual + bound.sign * bound.multiplier
        return residual

    def room_along(self, direction: Direction) -> float:
        """Return the step that leads to the first bound: 0 if numbers are beyond floating point."""
        ratios = []
        for bound, move in zip(self.bounds, direction.multipliers, strict=True):
            ratios += [-bound.sign * direction.slopes / bound.room, -move / bound.multiplier]
        fastest = np.max([ratio.max() for ratio in ratios])
        if np.isnan(fastest):
            return 0.0
        return float(1 / fastest) if fastest > 0 else np.inf

    def moved(self, direction: Direction, step: float) -> Point:
        """Return the point at a step."""
        along, weights = step * direction.slopes, self.weights
        if weights is not None and direction.weights is not None:
            weights = weights + step * direction.weights
        bounds = [
            bound.moved(along, step * move)
            for bound, move in zip(self.bounds, direction.multipliers, strict=True)
        ]
        return replace(self, slopes=self.slopes + along, bounds=bounds, weights=weights)
