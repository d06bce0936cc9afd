"""What keeps weights small, and what it means for the certificate.

By Fenchel duality, a penalty R enters the lower bound of the optimum by its conjugate
``R*(u) = max over w of u'w - R(w)``, taken at ``u = -c X'g`` for a (sub)gradient g of the loss
(:eq:`dual`).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Penalty(Protocol):
    """A smooth, strongly convex function R of the weights."""

    def value(self, w: Vector) -> float:
        """Return R(w)."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient of R at w."""

    def curvature(self, w: Vector) -> Vector:
        """Return the diagonal of the Hessian of R at w, which has no other elements."""

    def conjugate(self, u: Vector, noise: Vector | float = 0.0) -> float:
        """Return the largest R*(v) for v within the noise of u, element by element."""

    def gap(self, w: Vector, u: Vector) -> float:
        """Return ``R(w) + R*(u) - w'u``, never negative, without cancellation."""


class SquaredNorm:
    """The penalty ``R(w) = 0.5 |w|^2`` of the support vector machine, its own conjugate."""

    def value(self, w: Vector) -> float:
        """Return ``0.5 |w|^2``."""
        return 0.5 * float(w @ w)

    def gradient(self, w: Vector) -> Vector:
        """Return w."""
        return w

    def curvature(self, w: Vector) -> Vector:
        """Return ones."""
        return np.ones_like(w)

    def conjugate(self, u: Vector, noise: Vector | float = 0.0) -> float:
        """Return ``0.5 |v|^2`` for the longest v within the noise of u."""
        longest = np.abs(u) + noise
        return 0.5 * float(longest @ longest)

    def gap(self, w: Vector, u: Vector) -> float:
        """Return ``0.5 |w - u|^2``."""
        difference = w - u
        return 0.5 * float(difference @ difference)


SQUARED_NORM = SquaredNorm()
