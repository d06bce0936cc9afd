"""The minimum of a quadratic function of few rows and a penalty, by way of its dual.

::

    m(x) = l'B p + (B p)'M (B p) / 2 + R(x) + sum over k of delta_k p_k^2 / 2,    p = x - w,

where B has fewer rows than columns. For any point v with an element for each row,
``u = -B'(l + M v)`` is a dual point, at which x(u), the least ``R(x) + |p|^2 / 2 - u'p``, is a
proximal step. Then ``v'M v / 2 - min`` of that is convex in v, smooth, and least where
``v = B p``; a semismooth Newton method (Li, Sun and Toh 2018) solves

    (1 + B D B' M) dv = B p - v,    D = 1 / (R'' + delta) where x(u) is free, and else 0,

as many equations as there are rows. Whatever v is, m(x(u)) is above its minimum by at most
``(B p - v)'M (B p - v) / 2``. The damping delta, next to nothing near the optimum, makes x(u)
unique where R does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..records import record
from .protocols import FewRows, Separable

Vector = NDArray[np.float64]

MOST_STEPS, LEAST_STEP = 60, 1e-8
ENOUGH = 0.1  # of what x gains, that it may be above the minimum by
DESCENT = 1e-4  # of what the slope promises
DAMPING, LEAST, TINY = 0.25, 1e-6, 1e-200
HAIR, EXACT = 1e-10, 1e-3  # of the curvature, and of the slope


class _Dual(NamedTuple):
    """A point v, ``M v``, u and x(u), and the value there."""

    point: Vector
    curved: Vector
    u: Vector
    x: Vector
    value: float


class _Direction(NamedTuple):
    point: Vector
    curved: Vector
    u: Vector


@record
class QuadraticOfFewRows:
    """A model around weights.

    Attributes
    ----------
    rows : FewRows
        B, l and M.
    weights : ndarray of shape (size,)
        w, where the penalty is finite.
    penalty : Separable
        R, within bounds.
    value : float
        What the whole objective is at w.
    gap : float
        By how much that may be above the optimum, relatively: the damping goes with it.
    """

    rows: FewRows
    weights: Vector
    penalty: Separable
    value: float
    gap: float = 1.0

    def minimizer(self) -> Vector:
        """Return the x of nearly least m(x)."""
        at = self._start()
        for _ in range(MOST_STEPS):
            image = self.rows.image(at.x - self.weights)
            left = image - at.point
            curved = self.rows.curvature @ left
            if not float(left @ curved) > 2 * ENOUGH * max(self._gain(at.x, image), 0.0):
                break
            lower = self._newton(at, left, curved)
            if lower is None:
                break
            at = lower
        return at.x

    @cached_property
    def _damping(self) -> Vector:
        """About as R would curve if its kinks were smoothed, and hardly where it has none."""
        ends = [self.penalty.nearest(np.full_like(self.weights, end)) for end in (-np.inf, np.inf)]
        reach = ends[1] - ends[0]
        slopes = [self.penalty.face(end, end).gradient for end in ends]
        kink = slopes[1] - slopes[0] - self.penalty.curvature(self.weights) * reach
        share = DAMPING * float(np.clip(self.gap, LEAST, 1.0)) * len(self.rows.slope)
        with np.errstate(divide="ignore", over="ignore"):
            damping = share * kink**2 / self.value + LEAST * self.value / reach**2
        return np.clip(damping, TINY, 1 / TINY)

    def _gain(self, x: Vector, image: Vector) -> float:
        """Return by how much the model is below what it is at w, but for the damping."""
        slope = self.rows.slope + 0.5 * (self.rows.curvature @ image)
        return self.penalty.value(self.weights) - self.penalty.value(x) - float(slope @ image)

    def _at(self, point: Vector, curved: Vector, u: Vector) -> _Dual:
        step = 1 / self._damping
        x = self.penalty.proximal(self.weights + step * u, step)
        p = x - self.weights
        value = float((u - 0.5 * self._damping * p) @ p) - self.penalty.value(x)
        return _Dual(point, curved, u, x, value + 0.5 * float(point @ curved))

    def _start(self) -> _Dual:
        """Return zero, or better a point that makes u a multiple of what it is at zero.

        Where regularisation is weak, that has to be far smaller.
        """
        M, slope = self.rows.curvature, self.rows.slope
        zero = np.zeros_like(slope)
        best = start = self._at(zero, zero, -self.rows.transposed(slope))
        damped = M.copy()
        damped[np.diag_indices_from(damped)] += HAIR * float(np.trace(M)) / len(M) + TINY
        to_end = -_solved(damped, slope)
        curved = M @ to_end
        if not np.linalg.norm(curved + slope) <= EXACT * np.linalg.norm(slope):
            return best
        for digits in range(15):
            share = 1 - 10.0**-digits
            there = self._at(share * to_end, share * curved, (1 - share) * start.u)
            best = there if there.value < best.value else best
        return best

    def _newton(self, at: _Dual, left: Vector, curved: Vector) -> _Dual | None:
        """Return where a Newton step leads, as far as it leads down; None if it does not."""
        face = self.penalty.face(at.x, at.x)
        is_free = (face.low < at.x) & (at.x < face.high)
        curvature = self.penalty.curvature(at.x) + self._damping
        matrix = self.rows.gram(np.where(is_free, 1 / curvature, 0.0)) @ self.rows.curvature
        matrix[np.diag_indices_from(matrix)] += 1
        along = _solved(matrix, left)
        moved = self.rows.curvature @ along
        direction = _Direction(along, moved, -self.rows.transposed(moved))
        return self._down(at, direction, -float(along @ curved))

    def _down(self, at: _Dual, direction: _Direction, slope: float) -> _Dual | None:
        step = 1.0
        while step > LEAST_STEP and slope < 0:
            there = self._at(*(a + step * b for a, b in zip(at[:3], direction, strict=True)))
            if there.value <= at.value + DESCENT * step * slope:
                return there
            step *= 0.5
        return None


def _solved(matrix: NDArray[np.float64], right: Vector) -> Vector:
    """Return the solution; not a number where there is none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan)
