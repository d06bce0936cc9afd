"""What a loss is at given scores: its value, its derivatives, and the bounds that these make."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from ..records import record
from .dual_ray import DualRay
from .queries import QueryGroups
from .sweeps import Pairs, Scores, Sweep


@record
class LossEvaluation:
    """The loss at given scores.

    Attributes
    ----------
    value : float
        The loss L(s).
    gradient : array of shape (n_samples,)
        A subgradient of L at s, or nearly so.
    offset : float
        Where the tangent meets 0: ``L(s) - gradient's``, less the smoothing.
    rounding : float
        How exactly the value is known.
    gradient_norm, gradient_rounding : float
        How long the gradient is, and what may be added to it at most.
    quadratic : float
        The part of ``-offset`` that grows with the square of a multiple of the gradient, as that
        of pairs does: ``t offset + (t - t^2) quadratic`` is the offset for t times the gradient.
    largest_multiple : float
        The t up to which that holds: how far slopes of pairs may be scaled up.
    smoothing : float
        By how much the gradient fails to be a subgradient: it is an epsilon-subgradient. That is,
        ``L(t) >= L(s) + gradient'(t - s) - smoothing`` for all scores t.
    slack : float
        How exactly smoothing and offset are known.
    """

    value: float
    gradient: Scores
    offset: float
    rounding: float
    gradient_norm: float
    gradient_rounding: float
    quadratic: float = 0.0
    largest_multiple: float = 1.0
    smoothing: float = 0.0
    slack: float = 0.0

    def dual(self, c: float, conjugate: float) -> DualRay:
        """Return the bounds that multiples of the gradient make for a loss of weight c.

        `conjugate` is that of the penalty at ``-c`` times the gradient: ``R*(-c X'g)``.
        """
        linear = c * (self.offset + self.quadratic - self.slack - 2 * self.rounding)
        if self.largest_multiple > 1:
            conjugate += c * (self.quadratic + self.rounding)
        return DualRay(linear, conjugate, self.largest_multiple)


@record(kw_only=True)
class SmoothEvaluation(LossEvaluation):
    """A loss at given scores, with its generalised Hessian: a multiple of the Laplacian M.

    Attributes
    ----------
    pairs : Pairs
    make_sweep : callable
        Makes the sweep at these scores.
    curvature : float
        The Hessian is ``curvature * M``.
    """

    pairs: Pairs
    make_sweep: Callable[[], Sweep]
    curvature: float

    @property
    def sweep(self) -> Sweep:
        """The sweep at these scores: the last, or made again."""
        return self.pairs.last_sweep.of(self.make_sweep)

    @property
    def groups(self) -> QueryGroups:
        """The queries; the Hessian has one diagonal block for each."""
        return self.pairs.groups

    @property
    def hessian_diagonal(self) -> Scores:
        """The diagonal of the Hessian, of shape (n_samples,)."""
        return self.curvature * self.sweep.degree()

    def hessian_product(self, v: ArrayLike) -> Scores:
        """Multiply by the Hessian.

        Parameters
        ----------
        v : array-like of shape (n_samples,) or (n_samples, k)

        Returns
        -------
        array of the shape of `v`
        """
        product = self.sweep.laplacian(self.pairs.asarray(v), n_threads=self.pairs.n_threads)
        product *= self.curvature
        return product
