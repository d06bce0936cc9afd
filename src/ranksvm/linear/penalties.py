"""What keeps weights small, or where they are wanted, and what it means for the certificate.

By Fenchel duality, a penalty R enters the lower bound of the optimum by its conjugate
``R*(u) = max over w of u'w - R(w)``, taken at ``u = -c X'g`` for a (sub)gradient g of the loss
(:eq:`dual`). Of a penalty that is a sum over the weights, so are its conjugate, its proximal step
and its gap (:eq:`elastic-net`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..pairs.dual_ray import DualRay
from ..records import record
from ..solvers.protocols import Face
from .dual_curve import ConjugateTerms, Dual, DualCurve

Vector = NDArray[np.float64]


class Penalty(Protocol):
    """A convex function R of the weights, never negative, a sum over them."""

    @property
    def is_smooth(self) -> bool:
        """Whether it has a gradient everywhere, and is finite."""

    def value(self, w: Vector) -> float:
        """Return R(w); infinite where weights may not be."""

    def slope(self, w: Vector, p: Vector) -> float:
        """Return the derivative at w in the direction p, of a penalty with kinks that ahead."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient of R at w, at a kink one of the subgradients."""

    def curvature(self, w: Vector) -> Vector:
        """Return the diagonal of the Hessian of R at w, which has no other elements."""

    def proximal(self, z: Vector, step: Vector) -> Vector:
        """Return the least ``R(x) + |x - z|^2 / (2 step)``, coordinate by coordinate."""

    def face(self, w: Vector, towards: Vector) -> Face:
        """Return where R is smooth around w, on the side of other weights at a kink."""

    def maximizer(self, u: Vector) -> Vector:
        """Return where ``u'w - R(w)`` is largest; infinite where it grows without end."""

    def rest(self, size: int) -> Vector:
        """Return the weights of least R."""

    def nearest(self, w: Vector) -> Vector:
        """Return w, or where weights may be that is nearest to it."""

    def below(self, value: float) -> Penalty:
        """Return this with bounds that hold wherever it is at most a value."""

    def dual(self, ray: DualRay, u: Vector, noise: Vector) -> Dual:
        """Return the bounds that multiples of a dual point make.

        Parameters
        ----------
        ray : DualRay
            What they are without a penalty.
        u : ndarray of shape (n_features,)
            Known to within `noise`.
        """

    def gap(self, w: Vector, u: Vector) -> float:
        """Return ``R(w) + R*(u) - w'u``, never negative, without cancellation."""


class SquaredNorm:
    """The penalty ``R(w) = 0.5 |w|^2`` of the support vector machine, its own conjugate."""

    is_smooth = True

    def value(self, w: Vector) -> float:
        """Return ``0.5 |w|^2``."""
        return 0.5 * float(w @ w)

    def slope(self, w: Vector, p: Vector) -> float:
        """Return ``w'p``."""
        return float(w @ p)

    def gradient(self, w: Vector) -> Vector:
        """Return w."""
        return w

    def curvature(self, w: Vector) -> Vector:
        """Return ones."""
        return np.ones_like(w)

    def proximal(self, z: Vector, step: Vector) -> Vector:
        """Return ``z / (1 + step)``."""
        return z / (1 + step)

    def face(self, w: Vector, towards: Vector) -> Face:
        """Return all weights."""
        return Face(w, np.full_like(w, -np.inf), np.full_like(w, np.inf))

    def maximizer(self, u: Vector) -> Vector:
        """Return u."""
        return u

    def rest(self, size: int) -> Vector:
        """Return zeros."""
        return np.zeros(size)

    def nearest(self, w: Vector) -> Vector:
        """Return w."""
        return w

    def below(self, value: float) -> SquaredNorm:
        """Return this, without bounds."""
        return self

    def conjugate(self, u: Vector, noise: Vector | float = 0.0) -> float:
        """Return ``0.5 |v|^2`` for the longest v within the noise of u."""
        longest = np.abs(u) + noise
        return 0.5 * float(longest @ longest)

    def dual(self, ray: DualRay, u: Vector, noise: Vector) -> DualRay:
        """Return the ray with the conjugate, which goes with the square of the multiple."""
        return replace(ray, quadratic=self.conjugate(u, noise) + ray.quadratic)

    def gap(self, w: Vector, u: Vector) -> float:
        """Return ``0.5 |w - u|^2``."""
        difference = w - u
        return 0.5 * float(difference @ difference)


SQUARED_NORM = SquaredNorm()


@record
class ElasticNet:
    """Absolute and squared distances from a prior, within bounds.

    ::

        R(w) = sum over k of  lasso_k |v_k| + ridge_k v_k^2 / 2,    v = w - prior,
        lower <= w <= upper

    A coordinate without ridge needs a lasso or finite bounds.

    Attributes
    ----------
    lasso, ridge : ndarray of shape (n_features,)
        Never negative.
    prior, lower, upper : ndarray of shape (n_features,)
    constant : float
        What weights add that are not among these.
    """

    lasso: Vector
    ridge: Vector
    prior: Vector
    lower: Vector
    upper: Vector
    constant: float = 0.0

    is_smooth = False

    def terms(self, w: Vector) -> Vector:
        """Return what each weight, which may be where it is, adds to R."""
        v = w - self.prior
        return self.lasso * np.abs(v) + 0.5 * (self.ridge * v) * v  # of large v, but without ridge

    def value(self, w: Vector) -> float:
        """Return R(w); infinite beyond the bounds."""
        if (w < self.lower).any() or (w > self.upper).any():
            return np.inf
        return float(self.terms(w).sum()) + self.constant

    def slope(self, w: Vector, p: Vector) -> float:
        """Return the derivative at w in the direction p; infinite where that leads out."""
        leaves = np.where(p < 0, w <= self.lower, (p > 0) & (w >= self.upper))
        if leaves.any():
            return np.inf
        v = w - self.prior
        side = np.where(v == 0, np.sign(p), np.sign(v))
        return float((self.lasso * side + self.ridge * v) @ p)

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient, at the prior that of the squares alone."""
        v = w - self.prior
        return self.lasso * np.sign(v) + self.ridge * v

    def curvature(self, w: Vector) -> Vector:
        """Return the ridge."""
        return self.ridge

    def proximal(self, z: Vector, step: Vector) -> Vector:
        """Return ``prior + soft(z - prior, step lasso) / (1 + step ridge)`` within the bounds."""
        v = soft(z - self.prior, step * self.lasso) / (1 + step * self.ridge)
        return np.clip(np.where(v == 0, self.prior, self.prior + v), self.lower, self.upper)

    def nearest(self, w: Vector) -> Vector:
        """Return w within the bounds."""
        return np.clip(w, self.lower, self.upper)

    def face(self, w: Vector, towards: Vector) -> Face:
        """Return the side of the prior where w is, or the prior, within the bounds."""
        v = w - self.prior
        side = np.where(v == 0, np.sign(towards - self.prior), np.sign(v))
        kinked = self.lasso > 0
        low = np.where(kinked & (side >= 0), np.maximum(self.prior, self.lower), self.lower)
        high = np.where(kinked & (side <= 0), np.minimum(self.prior, self.upper), self.upper)
        return Face(self.lasso * side + self.ridge * v, low, high)

    def rest(self, size: int) -> Vector:
        """Return the prior, or what is nearest to it within the bounds."""
        return self.nearest(self.prior)

    def maximizer(self, u: Vector) -> Vector:
        """Return where ``u'w - R(w)`` is largest; infinite where it grows without end."""
        pull = soft(u, self.lasso)
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.where(pull == 0, 0.0, pull / self.ridge)
        return np.clip(self.prior + v, self.lower, self.upper)

    def conjugate_terms(self, u: Vector) -> ConjugateTerms:
        """Return what each coordinate adds to R*(u)."""
        w = self.maximizer(u)
        with np.errstate(invalid="ignore", divide="ignore"):
            gained, paid = u * w, self.terms(w)
            value = np.where(np.isfinite(w), gained - paid, np.inf)
            is_free = (np.abs(u) > self.lasso) & (self.lower < w) & (w < self.upper)
            curvature = np.where(is_free, 1 / self.ridge, 0.0)
        return ConjugateTerms(value, np.abs(gained) + paid, w, curvature)

    def conjugate(self, u: Vector) -> float:
        """Return R*(u)."""
        return float(self.conjugate_terms(u).value.sum()) - self.constant

    def dual(self, ray: DualRay, u: Vector, noise: Vector) -> DualCurve:
        """Return the bounds that multiples make, for the worst points within the noise."""
        return DualCurve(ray, self, u, noise)

    @property
    def reach(self) -> tuple[Vector, Vector]:
        """Between what a coordinate of u has to be for R*(u) to be finite."""
        low = np.where((self.ridge > 0) | np.isfinite(self.lower), -np.inf, -self.lasso)
        high = np.where((self.ridge > 0) | np.isfinite(self.upper), np.inf, self.lasso)
        return low, high

    def below(self, value: float) -> ElasticNet:
        """Return this with bounds that hold wherever it is at most a value."""
        left = max(value - self.constant, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            reach = 2 * left / (self.lasso + np.sqrt(self.lasso**2 + 2 * left * self.ridge))
        reach = np.where(np.isnan(reach), np.inf, reach)
        lower = np.maximum(self.lower, self.prior - reach)
        return replace(self, lower=lower, upper=np.minimum(self.upper, self.prior + reach))

    def gap(self, w: Vector, u: Vector) -> float:
        """Return ``R(w) + R*(u) - w'u``, never negative, without cancellation.

        With the maximizer t of ``u'w - R(w)`` and ``z = u - ridge (t - prior)``, a subgradient of
        the absolute values and bounds there, a coordinate adds ``ridge (w - t)^2 / 2 + lasso
        (|w - prior| - |t - prior|) - z (w - t)``.
        """
        t = self.maximizer(u)
        if not np.isfinite(t).all():
            return np.inf
        apart = w - t
        z = u - self.ridge * (t - self.prior)
        kinked = self.lasso * (np.abs(w - self.prior) - np.abs(t - self.prior)) - z * apart
        return float((0.5 * self.ridge * apart**2 + np.maximum(kinked, 0.0)).sum())

    def scaled(self, factors: Vector) -> ElasticNet:
        """Return the penalty of weights that are multiplied by positive factors to be these."""
        return ElasticNet(
            self.lasso * factors,
            self.ridge * factors**2,
            self.prior / factors,
            self.lower / factors,
            self.upper / factors,
            self.constant,
        )


def soft(z: Vector, threshold: Vector) -> Vector:
    """Return z brought nearer to zero by the threshold, and no further."""
    return np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0)
