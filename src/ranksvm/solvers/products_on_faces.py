"""A quadratic function and a penalty that is a sum over the weights, minimised by products alone.

::

    m(x) = g'(x - w) + (x - w)'A (x - w) / 2 + R(x)

A proximal step, coordinate by coordinate, says which coordinates are free, and on which side of
their kinks. On that face m is smooth, and conjugate gradients lead down. Where they have left
sides, each coordinate goes to its end, or all go as far as the first can, whichever is lower. That
is how bounds are treated by Dostal and Schoeberl (2005), in the two metrics of Gafni and Bertsekas
(1984): products with A are all that is asked for, and the image of the step is carried along.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .protocols import Evaluation, Face, Image, Separable

Vector = NDArray[np.float64]

FACE = 0.3  # by how much conjugate gradients bring the residual down before sides are seen to
LEAST = 1e-12  # step of a coordinate, relative to the longest


class Moved(NamedTuple):
    """A vector, its image, and its product with A; linear, so that they are added up together."""

    step: Vector
    image: Image
    product: Vector

    def plus(self, share: float, other: Moved) -> Moved:
        """Return this and a multiple of another."""
        return Moved(*(a + share * b for a, b in zip(self, other, strict=True)))

    def times(self, share: float) -> Moved:
        """Return a multiple of this."""
        return Moved(*(share * part for part in self))


@dataclass
class ProductsOnFaces:
    """The minimisation of a model around weights.

    Attributes
    ----------
    evaluation : Evaluation
        With A, the Hessian of its loss, and g, the slope of that.
    penalty : Separable
        R.
    metric : ndarray of shape (size,)
        A bound of the diagonal of the whole Hessian.
    n_products : int
        So far.
    """

    evaluation: Evaluation
    penalty: Separable
    metric: Vector
    n_products: int = 0

    def __post_init__(self) -> None:
        self._curvature = self.penalty.curvature(self.evaluation.weights)
        of_loss = self.metric - self._curvature
        self._metric = np.maximum(of_loss, LEAST * float(of_loss.max(initial=0.0)) + 1e-200)

    def residual(self) -> float:
        """Return how far the weights are from a minimum, as the norm of a gradient."""
        return self._residual(self.evaluation.weights, self.evaluation.slope_of_loss)[1]

    def minimizer(self, goal: float, max_products: int) -> tuple[Vector, Moved | None]:
        """Return where the residual is at most a goal, and the way there; None if that is none."""
        w, slope = self.evaluation.weights, self.evaluation.slope_of_loss
        x, way = w, None
        while self.n_products < max_products:
            at = slope if way is None else slope + way.product
            z, residual = self._residual(x, at)
            if residual <= goal:
                break
            end, moved = self._next(x, at, z, goal, max_products)
            if moved is None:
                break
            x, way = end, moved if way is None else way.plus(1.0, moved)
        return x, way

    def _residual(self, x: Vector, slope: Vector) -> tuple[Vector, float]:
        step = 1 / self._metric
        z = self.penalty.proximal(x - step * slope, step)
        return z, float(np.linalg.norm((z - x) * (self._metric + self._curvature)))

    def _next(
        self, x: Vector, slope: Vector, z: Vector, goal: float, max_products: int
    ) -> tuple[Vector, Moved | None]:
        """Return where a round leads, and the way there."""
        face = self.penalty.face(x, z)
        is_free = (z != x) | ((face.low < x) & (x < face.high))
        gradient = np.where(is_free, slope + face.gradient, 0.0)
        moved = self._conjugate_gradients(gradient, is_free, goal, max_products)
        if moved is None:
            return x, None
        y = x + moved.step
        held = np.clip(y, face.low, face.high)
        if np.array_equal(held, y):
            return y, moved
        return self._lowest(x, slope, face, moved, held)

    def _conjugate_gradients(
        self, gradient: Vector, is_free: NDArray[np.bool_], goal: float, max_products: int
    ) -> Moved | None:
        """Return a step on a face, as long as that brings the residual down."""
        residual = -gradient
        direction = residual / self.metric
        energy = float(residual @ direction)
        goal = max(FACE * float(np.linalg.norm(residual)), 0.5 * goal)
        way: Moved | None = None
        while self.n_products < max_products and energy > 0:
            moved = self._product(direction)
            curved = moved.product + self._curvature * direction
            curvature = float(direction @ curved)
            if not curvature > 0:  # beyond floating point
                break
            alpha = energy / curvature
            way = moved.times(alpha) if way is None else way.plus(alpha, moved)
            residual = residual - np.where(is_free, alpha * curved, 0.0)
            if float(np.linalg.norm(residual)) <= goal:
                break
            scaled = residual / self.metric
            energy, previous = float(residual @ scaled), energy
            direction = scaled + (energy / previous) * direction
        return way

    def _product(self, p: Vector) -> Moved:
        self.n_products += 1
        image = self.evaluation.image(p)
        product = self.evaluation.hessian_product(p, image)
        return Moved(p, image, product - self._curvature * p)

    def _lowest(
        self, x: Vector, slope: Vector, face: Face, moved: Moved, held: Vector
    ) -> tuple[Vector, Moved | None]:
        """Return the lower of where all coordinates are held, and where the first is."""
        to_held = self._product(held - x)
        foreseen = self.penalty.value(x) - self.penalty.value(held) - float(slope @ to_held.step)
        curvature = float(to_held.step @ to_held.product)
        share = min(1.0, foreseen / curvature) if curvature > 0 else 1.0
        gain = share * foreseen - 0.5 * share**2 * curvature

        room = _room(x, moved.step, face)
        fall = -float((slope + face.gradient) @ moved.step)
        curved = float(moved.step @ (moved.product + self._curvature * moved.step))
        if room * fall - 0.5 * room**2 * curved > max(gain, 0.0):
            end = np.clip(x + room * moved.step, face.low, face.high)
            return end, moved.times(room)._replace(step=end - x)
        if not gain > 0:
            return x, None
        if share == 1.0:
            return held, to_held
        return x + share * to_held.step, to_held.times(share)


def _room(x: Vector, p: Vector, face: Face) -> float:
    """Return how much of a step all coordinates can take."""
    end = np.where(p > 0, face.high, face.low)
    room = np.divide(end - x, p, out=np.full_like(p, np.inf), where=p != 0)
    return min(1.0, float(room.min(initial=np.inf)))
