"""The minimum of a quadratic function and a penalty that is a sum over the weights.

::

    m(x) = g'(x - w) + (x - w)'A (x - w) / 2 + R(x)

Two steps take turns. A proximal one, of each coordinate by itself and as far as m falls along it,
says which coordinates leave their kinks and bounds, and for which side. A Newton step then solves
for these and all that are at none; it ends where coordinates reach the ends of their sides, or is
cut off there, whichever brings m down further. Faces change a few times, and on the last one the
Newton step is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cholesky import ScaledCholesky
from .protocols import Separable

Vector = NDArray[np.float64]

MOST_STEPS = 100
ENOUGH = 1e-16  # of what the first step foresees to gain


@dataclass(frozen=True, eq=False)
class SeparableQuadratic:
    """A model around weights.

    Attributes
    ----------
    hessian : ndarray of shape (size, size)
        A, positive semidefinite.
    gradient : ndarray of shape (size,)
        g.
    weights : ndarray of shape (size,)
        w, where the penalty is finite.
    penalty : Separable
        R.
    """

    hessian: NDArray[np.float64]
    gradient: Vector
    weights: Vector
    penalty: Separable

    def minimizer(self) -> Vector:
        """Return the x of least m(x)."""
        x, slope, step = self.weights, self.gradient, self._steps
        most = 0.0
        for _ in range(MOST_STEPS):
            z = self.penalty.proximal(x - step * slope, step)
            to_gain = self._foreseen(x, z, slope)
            most = max(most, to_gain)
            if not to_gain > ENOUGH * most:
                break
            candidates = [self._between(x, z, slope), *self._on_face(x, z, slope)]
            best = min(candidates, key=lambda there: self._rise(x, there, slope))
            if np.array_equal(best, x):
                break
            slope = slope + self.hessian @ (best - x)
            x = best
        return x

    @property
    def _steps(self) -> Vector:
        diagonal = np.diag(self.hessian)
        least = np.finfo(np.float64).eps * max(float(diagonal.max(initial=0.0)), 1e-300)
        return 1 / np.maximum(diagonal, least)

    def _foreseen(self, x: Vector, z: Vector, slope: Vector) -> float:
        """Return what the way to z gains to first order."""
        gain = self.penalty.value(x) - self.penalty.value(z)
        return float(gain - slope @ (z - x))

    def _rise(self, x: Vector, z: Vector, slope: Vector) -> float:
        """Return ``m(z) - m(x)``."""
        d = z - x
        return 0.5 * float(d @ (self.hessian @ d)) - self._foreseen(x, z, slope)

    def _between(self, x: Vector, z: Vector, slope: Vector) -> Vector:
        """Return z, or a point before it where m, with the penalty above itself, is least."""
        d = z - x
        curved = float(d @ (self.hessian @ d))
        share = self._foreseen(x, z, slope) / curved if curved > 0 else 1.0
        return z if share >= 1 else x + share * d

    def _on_face(self, x: Vector, z: Vector, slope: Vector) -> list[Vector]:
        """Return where the Newton step on the free coordinates leads, as far as sides go.

        That is each coordinate to its end, and all to where the first comes to its end.
        """
        face = self.penalty.face(x, z)
        is_free = (z != x) | ((x > face.low) & (x < face.high))
        free = np.flatnonzero(is_free)
        if not len(free):
            return []
        hessian = self.hessian[np.ix_(free, free)]
        hessian[np.diag_indices_from(hessian)] += self.penalty.curvature(x)[free]
        factor = ScaledCholesky.of(hessian)
        if factor is None:
            return []
        p = np.zeros_like(x)
        p[free] = factor.solve(-(slope + face.gradient)[free])
        room = self._room(x, p, face.low, face.high)
        return [np.clip(x + share * p, face.low, face.high) for share in (1.0, room)]

    @staticmethod
    def _room(x: Vector, p: Vector, low: Vector, high: Vector) -> float:
        """Return how much of a step all coordinates can take."""
        end = np.where(p > 0, high, low)
        room = np.divide(end - x, p, out=np.full_like(p, np.inf), where=p != 0)
        return min(1.0, float(room.min(initial=np.inf)))
