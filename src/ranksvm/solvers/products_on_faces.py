"""A quadratic function and a penalty that is a sum over the weights, minimised by products alone.

::

    m(x) = g'(x - w) + (x - w)'A (x - w) / 2 + R(x)

Two kinds of steps take turns, as in Dostal and Schoeberl (2005) for bounds, with products with A
alone. A proximal one, coordinate by coordinate and as long as the last was curved (Barzilai and
Borwein 1988), says which coordinates are free, and on which side of their kinks. Once that changes
little, conjugate gradients lead down on the face, where m is smooth. Of coordinates that have left
their sides then, each goes to its end, or all go as far as the first can, whichever is lower.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .protocols import Evaluation, Face, Image, Separable

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

FEW, LEFT = 0.4, 0.1  # of the free coordinates, that change before and on a face
FACE = 0.3  # by how much conjugate gradients bring the residual down before sides are seen to
ENOUGH = 0.1  # of what a step on the face gains were there no sides
LEAST, TINY = 1e-12, 1e-200  # of a metric, relative to the largest, and at all
SLOW, FAST = 1e-6, 1e6  # paces


class Way(NamedTuple):
    """A step to an end, its image, and its product with A."""

    end: Vector
    step: Vector
    image: Image
    product: Vector

    def after(self, other: Way | None) -> Way:
        """Return the way that this is the last part of."""
        if other is None:
            return self
        sums = (a + b for a, b in zip(other[1:], self[1:], strict=True))
        return Way(self.end, *sums)

    def cut(self, share: float, end: Vector) -> Way:
        """Return a share of it, which ends there."""
        return Way(end, *(share * part for part in self[1:]))


class ProductsOnFaces:
    """The minimisation of a model around weights.

    Parameters
    ----------
    evaluation : Evaluation
        With A, the Hessian of its loss, and g, the slope of that.
    penalty : Separable
        R.
    metric : ndarray of shape (size,)
        A bound of the diagonal of the whole Hessian.
    max_products : int
    pace : float, default=1.0
        Of the first proximal step, in those by the metric of the loss.

    Attributes
    ----------
    pace : float
        Of the next one.
    n_products : int
        So far.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        penalty: Separable,
        metric: Vector,
        max_products: int,
        pace: float = 1.0,
    ) -> None:
        self._evaluation, self._penalty = evaluation, penalty
        self._curvature = penalty.curvature(evaluation.weights)
        of_loss = metric - self._curvature
        least = LEAST * float(of_loss.max(initial=0.0)) + TINY
        self._of_loss = np.maximum(of_loss, least)
        self._metric = self._of_loss + self._curvature
        self._max_products = max_products
        self.pace = pace
        self.n_products = 0

    def residual(self) -> float:
        """Return how far the weights are from the minimum, as the norm of a gradient."""
        return self._residual(self._evaluation.weights, self._evaluation.slope_of_loss)

    def minimize(self, goal: float) -> Way | None:
        """Return the way to where the residual is at most a goal; None if there is none."""
        x, slope = self._evaluation.weights, self._evaluation.slope_of_loss
        way: Way | None = None
        while self.n_products < self._max_products:
            at = slope if way is None else slope + way.product
            if self._residual(x, at) <= goal:
                break
            last = self._next(x, at, goal)
            if last is None:
                break
            x, way = last.end, last.after(way)
        return way

    def _residual(self, x: Vector, slope: Vector) -> float:
        return float(np.linalg.norm((self._proximal(x, slope, 1.0) - x) * self._metric))

    def _proximal(self, x: Vector, slope: Vector, pace: float) -> Vector:
        step = pace / self._of_loss
        return self._penalty.proximal(x - step * slope, step)

    def _next(self, x: Vector, slope: Vector, goal: float) -> Way | None:
        """Return the way of a round: on the face, if that is at rest, and to another else."""
        z = self._proximal(x, slope, self.pace)
        face = self._penalty.face(x, z)
        is_inside, will_be = ((face.low < there) & (there < face.high) for there in (x, z))
        if np.count_nonzero(is_inside != will_be) <= FEW * np.count_nonzero(will_be):
            way = self._on_face(x, slope, face, is_inside | (z != x), goal)
            if way is not None:
                return way
        return self._across(x, slope, z)

    def _across(self, x: Vector, slope: Vector, z: Vector) -> Way | None:
        """Return the way of a proximal step as far as m falls, and set the pace of the next."""
        way = self._way(z - x, z)
        foreseen = self._foreseen(way, x, slope)
        if not foreseen > 0:
            return None
        curved = float(way.step @ way.product)
        if curved > 0:
            pace = float(way.step @ (self._of_loss * way.step)) / curved
            self.pace = float(np.clip(pace, SLOW, FAST))
        share = _share(foreseen, curved)
        return way if share == 1.0 else way.cut(share, x + share * way.step)

    def _on_face(
        self, x: Vector, slope: Vector, face: Face, is_free: Mask, goal: float
    ) -> Way | None:
        """Return the way of conjugate gradients within a face; None if sides hold it up."""
        gradient = np.where(is_free, slope + face.gradient, 0.0)
        way = self._conjugate_gradients(x, gradient, face, is_free, goal)
        if way is None:
            return None
        held = np.clip(way.end, face.low, face.high)
        if np.array_equal(held, way.end):
            return way
        fall = -float(gradient @ way.step)
        curved = float(way.step @ (way.product + self._curvature * way.step))
        room = _room(x, way.step, face)
        to_first = way.cut(room, np.clip(x + room * way.step, face.low, face.high))
        of_first = room * fall - 0.5 * room**2 * curved
        to_held = self._way(held - x, held)
        foreseen = self._foreseen(to_held, x, slope)
        curved_held = float(to_held.step @ to_held.product)
        share = _share(foreseen, curved_held)
        of_held = share * foreseen - 0.5 * share**2 * curved_held
        if not max(of_first, of_held) > ENOUGH * (fall - 0.5 * curved):
            return None
        if of_first > of_held:
            return to_first
        return to_held if share == 1.0 else to_held.cut(share, x + share * to_held.step)

    def _conjugate_gradients(
        self, x: Vector, gradient: Vector, face: Face, is_free: Mask, goal: float
    ) -> Way | None:
        """Return a way down, as long as few coordinates leave their sides."""
        residual = -gradient
        direction = residual / self._metric
        energy = float(residual @ direction)
        goal = max(FACE * float(np.linalg.norm(residual)), 0.5 * goal)
        most = LEFT * np.count_nonzero(is_free)
        way: Way | None = None
        while energy > 0:
            part = self._way(direction, x)
            curved = part.product + self._curvature * direction
            curvature = float(direction @ curved)
            if not curvature > 0:  # beyond floating point
                break
            alpha = energy / curvature
            so_far = x if way is None else way.end
            way = part.cut(alpha, so_far + alpha * direction).after(way)
            residual = residual - np.where(is_free, alpha * curved, 0.0)
            left = np.count_nonzero((way.end < face.low) | (way.end > face.high))
            at_end = left > most or self.n_products >= self._max_products
            if at_end or float(np.linalg.norm(residual)) <= goal:
                break
            scaled = residual / self._metric
            energy, previous = float(residual @ scaled), energy
            direction = scaled + (energy / previous) * direction
        return way

    def _way(self, p: Vector, end: Vector) -> Way:
        self.n_products += 1
        image = self._evaluation.image(p)
        product = self._evaluation.hessian_product(p, image)
        return Way(end, p, image, product - self._curvature * p)

    def _foreseen(self, way: Way, x: Vector, slope: Vector) -> float:
        """Return what the way gains to first order."""
        gain = self._penalty.value(x) - self._penalty.value(way.end)
        return float(gain - slope @ way.step)


def _share(foreseen: float, curved: float) -> float:
    """Return how much of a way goes down."""
    return float(np.clip(foreseen / curved, 0.0, 1.0)) if curved > 0 else 1.0


def _room(x: Vector, p: Vector, face: Face) -> float:
    """Return how much of a step all coordinates can take."""
    end = np.where(p > 0, face.high, face.low)
    room = np.divide(end - x, p, out=np.full_like(p, np.inf), where=p != 0)
    return min(1.0, float(room.min(initial=np.inf)))
