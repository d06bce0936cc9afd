"""The minimum of a quadratic function and a penalty that is a sum over the weights.

::

    m(x) = g'(x - w) + (x - w)'A (x - w) / 2 + R(x)

A primal-dual active set method (Hintermueller, Ito and Kunisch 2003) finds it: each coordinate is
held at a kink or bound, or is free on one side of it. A Newton step solves for the free ones. Those
that it leads beyond the ends of their sides are held there next, and those held whose slope leads
away are set free. Both change all at once, so that a few rounds do for any number of coordinates;
and when none changes, the Newton step has led to the minimum, whatever the scales are.

Where coordinates are strongly coupled, rounds can go in circles. A descent then does the rest: of
a proximal step, coordinate by coordinate, and of the Newton step as far as sides go, whichever
brings m down further.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..records import record
from .cholesky import ScaledCholesky
from .protocols import Face, Separable

Vector = NDArray[np.float64]

MOST_ROUNDS, MOST_STEPS, HALVINGS = 30, 100, 12
TINY = 1e-200  # steps are finite where nothing curves
ENOUGH = 1e-16  # of what the first step foresees to gain


class _Corner(NamedTuple):
    """A point, the slope of the quadratic function there, and which coordinates are free."""

    x: Vector
    slope: Vector
    face: Face
    is_free: NDArray[np.bool_]


@record
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
        x, is_exact = self._active_set()
        return x if is_exact else self._descent(x)

    def _active_set(self) -> tuple[Vector, bool]:
        """Return the minimum and True; or the better of where it began and ended, and False."""
        towards = self._proximal(self.weights, self.gradient)
        corner = self._corner(self.weights, self.gradient, towards)
        for _ in range(MOST_ROUNDS):
            y = self._newton(corner)
            if y is None:
                break
            held = np.clip(y, corner.face.low, corner.face.high)
            towards = np.where(corner.is_free, held, self._proximal(y, self._slope(y)))
            if np.array_equal(towards, y):
                return y, True
            corner = self._corner(held, self._slope(held), towards)
        is_lower = self._rise(self.weights, corner.x, self.gradient) < 0
        return corner.x if is_lower else self.weights, False

    def _descent(self, x: Vector) -> Vector:
        """Return the minimum, or what steps that bring m down have come to."""
        most = 0.0
        for _ in range(MOST_STEPS):
            slope = self._slope(x)
            z = self._proximal(x, slope)
            to_gain = self._foreseen(x, z, slope)
            most = max(most, to_gain)
            if not to_gain > ENOUGH * most:
                break
            ways = (self._lower(x, slope, towards) for towards in self._ways(x, z))
            lower = next((there for there in ways if there is not None), None)
            if lower is None:
                break
            x = lower
        return x

    def _ways(self, x: Vector, z: Vector) -> Iterator[Vector]:
        """Yield which coordinates to set free: all that gain, none, that which gains most.

        The last leads down for sure where the free ones are at their least.
        """
        yield z
        yield x
        alone = x.copy()
        strongest = np.argmax((z - x) ** 2 / self._steps)
        alone[strongest] = z[strongest]
        yield alone

    def _lower(self, x: Vector, slope: Vector, towards: Vector) -> Vector | None:
        """Return the least m where others are held than set free; None if it is not below x."""
        start, x_slope = x, slope
        for _ in range(MOST_STEPS):
            corner = self._corner(x, x_slope, towards)
            y = self._newton(corner)
            candidates = [self._between(x, towards, x_slope)]
            candidates += [] if y is None else self._as_far(x, y, corner.face)
            best = min(candidates, key=lambda there: self._rise(x, there, x_slope))
            if not self._rise(x, best, x_slope) < 0:
                break
            x, towards = best, best
            if y is None or np.array_equal(best, y):
                break
            x_slope = self._slope(x)
        return None if x is start else x

    def _slope(self, x: Vector) -> Vector:
        """Return that of the quadratic function."""
        return self.gradient + self.hessian @ (x - self.weights)

    @cached_property
    def _steps(self) -> Vector:
        diagonal = np.diag(self.hessian)
        least = np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
        return 1 / np.maximum(diagonal, max(least, TINY))

    def _proximal(self, x: Vector, slope: Vector) -> Vector:
        """Return the step from x that looks at each coordinate by itself."""
        return self.penalty.proximal(x - self._steps * slope, self._steps)

    def _corner(self, x: Vector, slope: Vector, towards: Vector) -> _Corner:
        face = self.penalty.face(x, towards)
        return _Corner(x, slope, face, (towards != x) | ((face.low < x) & (x < face.high)))

    def _newton(self, corner: _Corner) -> Vector | None:
        """Return where the free coordinates are to be, whatever their sides; None if none can."""
        x, slope, face, is_free = corner
        free = np.flatnonzero(is_free)
        y = x.copy()
        if not len(free):
            return y
        hessian = self.hessian[np.ix_(free, free)]
        hessian[np.diag_indices_from(hessian)] += self.penalty.curvature(x)[free]
        factor = ScaledCholesky.of(hessian)
        if factor is None:
            return None
        y[free] -= factor.solve((slope + face.gradient)[free])
        return y

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

    @staticmethod
    def _as_far(x: Vector, y: Vector, face: Face) -> list[Vector]:
        """Return where the way to y leads if each coordinate stops at its end.

        To y, half of the way and so on, down to where the first comes to its end: of many that
        would, one at a time takes as many steps.
        """
        p = y - x
        end = np.where(p > 0, face.high, face.low)
        room = np.divide(end - x, p, out=np.full_like(p, np.inf), where=p != 0)
        first = min(1.0, float(room.min(initial=np.inf)))
        shares = [0.5**k for k in range(HALVINGS) if 0.5**k > first] + [first]
        ways = (np.where(room <= share, end, x + share * p) for share in shares)
        return [np.clip(there, face.low, face.high) for there in ways]
