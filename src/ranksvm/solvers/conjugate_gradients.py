"""Preconditioned conjugate gradients on the quadratic model of an objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .protocols import Evaluation, Image
from .result import TINY

Vector = NDArray[np.float64]

BY_ENERGY = 0.25  # of the square of the gradient in all features, which a step may leave
FARTHER = 4  # products, by which the next model is followed farther
MOST_DIRECTIONS = 8  # that are kept before they are added up: each takes memory


class ModelStep(NamedTuple):
    """A step for the quadratic model, its image, and what it leaves of the gradient, negated."""

    step: Vector
    image: Image
    residual: Vector

    def leads_down(self, gradient: Vector) -> bool:
        """Say whether it does so where that is the gradient."""
        return float(gradient @ self.step) < 0

    def error(self, step: float, before: Vector, there: Vector) -> float:
        """Return how far the gradient there is from what the model foretells a step away.

        That is in lengths of the gradient before.
        """
        foretold = (1 - step) * before - step * self.residual
        length = max(float(np.linalg.norm(before)), TINY)
        return float(np.linalg.norm(there - foretold)) / length

    def flatness(self, gradient: Vector) -> float:
        """Return the slope at the end of the step, as a share of that at its start.

        It is 0 where numbers are so small that no slope can be told from zero.
        """
        slope = -float(gradient @ self.step)
        return float(self.residual @ self.step) / slope if slope > 0 else 0.0


class _Way:
    """Where conjugate gradients have got to, and the blend of that with the points on the way.

    Both are combinations of the directions so far, which are added up in the end alone, since that
    is all that they are needed for; only what is left of the gradient is known throughout.

    Parameters
    ----------
    gradient : ndarray of shape (size,)

    Attributes
    ----------
    residual, blended : ndarray of shape (size,)
        What both leave of the gradient, negated.
    """

    def __init__(self, gradient: Vector) -> None:
        self.residual, self.blended = -gradient, -gradient
        self._directions: list[tuple[Vector, Image]] = []
        self._reached: list[float] = []
        self._blend: list[float] = []

    def turn(self, direction: Vector, image: Image) -> None:
        """Look in another direction, of this image."""
        if len(self._directions) == MOST_DIRECTIONS:
            reached, blend = self._sum(self._reached), self._sum(self._blend)
            self._directions = [reached, blend]
            self._reached, self._blend = [1.0, 0.0], [0.0, 1.0]
        self._directions.append((direction, image))
        self._reached.append(0.0)
        self._blend.append(0.0)

    def go(self, alpha: float, product: Vector) -> None:
        """Go so far, for the product of the direction and the Hessian; blend as is best."""
        self._reached[-1] = alpha
        self.residual -= alpha * product
        change = self.residual - self.blended
        square = float(change @ change)
        share = -float(self.blended @ change) / square if square > 0 else 1.0
        share = min(max(share, 0.0), 1.0)
        change *= share
        self.blended += change
        self._blend = [b + share * (r - b) for b, r in zip(self._blend, self._reached, strict=True)]

    def reached(self) -> ModelStep:
        """Return the step to where this is."""
        return ModelStep(*self._sum(self._reached), self.residual)

    def blend(self) -> ModelStep:
        """Return the step of which least is left."""
        return ModelStep(*self._sum(self._blend), self.blended)

    def _sum(self, factors: list[float]) -> tuple[Vector, Image]:
        (first, *others), (factor, *factors) = self._directions, factors
        step, image = (factor * part for part in first)
        for factor, (direction, moved) in zip(factors, others, strict=True):
            step += factor * direction
            image += factor * moved
        return step, image


def conjugate_gradients(
    current: Evaluation,
    precondition: Callable[[Vector], Vector],
    accuracy: float,
    max_products: int,
    wanted: float = 1.0,
) -> tuple[ModelStep, int]:
    """Minimise the model ``g'p + 0.5 p'Hp`` nearly; `precondition` returns about ``H^-1 g`` of g.

    The gap goes with the residual, which conjugate gradients bring down by fits and starts. So each
    of their steps is blended with those before, such that the residual is shortest (minimal
    residual smoothing, :eq:`blend`; Zhou and Walker 1994), and the blend is taken once it is short
    enough; but not where a smoothing is to be narrowed, which has to be settled. Enough is
    `accuracy`, as a part of the gradient, and what is `wanted` beyond it if few products more lead
    there at the pace so far.

    Where features differ much in scale, the largest make up that length, and a step that has to do
    with them alone may be longer than the next can put right: dozens would go to and fro. So its
    square by what `precondition` returns, in which all features count, has to fall to a quarter; if
    that of the blend has not, the step is not blended. But steps on a smoothed loss are accurate
    enough anyhow.

    The images of the directions are carried along, so that the step's own image needs no further
    pass over X. Returned are the step and the number of products.
    """
    gradient = current.gradient
    direction = precondition(-gradient)
    energy = -float(gradient @ direction)
    length, most = max(float(np.linalg.norm(gradient)), TINY), max_products
    most_energy = max(accuracy, BY_ENERGY) * energy
    image = current.image(direction)
    way, is_smoothed = _Way(gradient), current.smoothing > 0
    for n_products in range(1, max_products + 1):
        way.turn(direction, image)
        product = current.hessian_product(direction, image)
        curvature = float(direction @ product)
        if not (curvature > 0 and energy > 0):  # beyond floating point
            break
        way.go(energy / curvature, product)
        scaled = precondition(way.residual)
        energy, previous = float(way.residual @ scaled), energy
        counts_all = is_smoothed or energy <= most_energy
        shortest = way.residual if is_smoothed else way.blended
        if counts_all and np.linalg.norm(shortest) <= accuracy * length:
            blends = not is_smoothed and float(shortest @ precondition(shortest)) <= most_energy
            rest = float(np.linalg.norm(shortest if blends else way.residual)) / length
            if rest <= accuracy:
                most = min(most, n_products + FARTHER)
                foreseen = rest ** (most / n_products)
                if rest <= wanted or foreseen > wanted or n_products == most:
                    return (way.blend() if blends else way.reached()), n_products
        direction = scaled + (energy / previous) * direction
        if n_products < max_products:
            image = current.image(direction)
    return way.reached(), n_products
