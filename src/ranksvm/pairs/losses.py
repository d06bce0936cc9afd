"""Losses over preference pairs, in score space.

With preference pairs ``P = {(i, j): qid_i = qid_j, y_i > y_j}`` of weight ``v_ij``, a loss is
(:eq:`loss`)::

    L(s) = sum over (i, j) in P of  v_ij * phi(s_i - s_j).

It is a formula over pairs, which are data, wherever they live; it knows neither X nor w nor C. All
that is O(pairs) in these formulas follows from the active pairs ``margin - (s_i - s_j) > 0`` by way
of three vectors, which one sweep over the sorted scores yields: the balance ``l+ - l-`` and degree
``l+ + l-`` of the documents, and products with the Laplacian M of the graph of active pairs (Lee
and Lin 2014, section 2.2; Airola et al. 2011, equations 3 and 4). Sweeps over given pairs, which
have margins of their own, add up the loss itself (`ranksvm.pairs.given`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..records import record
from .loss_evaluation import LossEvaluation, SmoothEvaluation
from .rounding import ROUNDING
from .sweeps import Pairs, Sweep, has_exact_slopes


@record
class PairLoss(ABC):
    """A formula over preference pairs; the base of the losses.

    Parameters
    ----------
    pairs : Pairs
    margin : float, default=1.0
        The margin rho of the loss, which is added to those of given pairs that have margins.
    """

    pairs: Pairs
    margin: float = 1.0

    @abstractmethod
    def evaluate(self, scores: ArrayLike) -> LossEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""

    def equals(self, other: PairLoss) -> bool:
        """Say whether another is the same function of scores."""
        return (
            type(self) is type(other)
            and self.pairs is other.pairs
            and self.margin == other.margin
            and self.smoothing_width == other.smoothing_width
        )

    def most_within(self, value: float, reach: float) -> float:
        """Return no less than the loss at scores that all are within a reach, for its value here.

        No difference of two scores changes by more than twice the reach, nor the hinge of a pair.
        """
        return value + 2 * reach * self.pairs.n_pairs

    def widened(self, reach: float) -> PairLoss:
        """Return this loss with a larger margin: no less than this one is at scores so near."""
        return replace(self, margin=self.margin + 2 * reach)

    def smoothed(self) -> PairLoss:
        """Return this loss with smooth derivatives: itself, if it has them."""
        return self

    def narrowed(self, ratio: float) -> PairLoss:
        """Return this with the width of its smoothing times `ratio`: itself, if it has none."""
        return self

    @property
    def smoothing_width(self) -> float:
        """The width of the smoothing; 1 if there is none."""
        return 1.0

    def foreseen(
        self, there: SmoothEvaluation, scores: ArrayLike, ratio: float
    ) -> SmoothEvaluation:
        """Return the derivatives of the narrowed loss if the pairs that are smoothed stay so.

        `there` is this loss at the scores.
        """
        return there


class Hinge(PairLoss):
    """The hinge loss ``phi(z) = max(0, margin - z)`` of SVM^rank and TreeRSVM.

    With N the weight of the active pairs and b their balance, ``L = margin N + b's`` and b is a
    subgradient (:eq:`hinge`; Airola et al. 2011, equations 3 and 4).
    """

    def evaluate(self, scores: ArrayLike) -> LossEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""
        sweep = self.pairs.sweep(scores, "hinge", self.margin)
        return LossEvaluation(
            value=sweep.value,
            gradient=sweep.gradient,
            offset=sweep.offset,
            rounding=ROUNDING * sweep.magnitude,
            gradient_norm=sweep.gradient_norm,
            gradient_rounding=sweep.gradient_rounding,
        )

    def smoothed(self, width: float | None = None) -> SmoothedHinge:
        """Return the same loss with smooth derivatives; by default, as wide as a margin is."""
        if width is None:
            width = self.pairs.preferences.typical_margin
        return SmoothedHinge(self.pairs, self.margin, width)


class SmoothLoss(PairLoss):
    """A loss with second derivatives.

    Attributes
    ----------
    is_of_queries : bool
        Whether it is one of parts, each of some of the queries.
    """

    is_of_queries: ClassVar[bool] = True

    @abstractmethod
    def sweep_maker(self, scores: ArrayLike) -> Callable[[], Sweep]:
        """Return what makes the sweep at scores of shape (n_samples,)."""

    @abstractmethod
    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""


@record
class SquaredHinge(SmoothLoss):
    """The squared hinge loss ``phi(z) = max(0, margin - z)^2`` of Lee and Lin (2014).

    With N the weight of the active pairs, b their balance and M their Laplacian
    (:eq:`squared-hinge`)::

        L = margin^2 N + 2 margin b's + s'Ms,    gradient = 2 (M s + margin b),    Hessian = 2 M.

    Widened by h, it has the derivatives of ``phi / h``. As any slopes, these make a dual feasible
    point of the loss itself, so that they are those of an epsilon-subgradient (:eq:`widened`)::

        epsilon = (1 - 1 / h)^2 L.

    Parameters
    ----------
    pairs : Pairs
    margin : float, default=1.0
    width : float, default=1.0
        The width h, at least 1.
    """

    width: float = 1.0

    @property
    def smoothing_width(self) -> float:
        """The width h."""
        return self.width

    def most_within(self, value: float, reach: float) -> float:
        """Return the square of the length of what pairs lack, each by twice the reach more."""
        return float((value**0.5 + 2 * reach * self.pairs.n_pairs**0.5) ** 2)

    def narrowed(self, ratio: float) -> SquaredHinge:
        """Return the same loss with the width times `ratio`, but at least 1."""
        width = max(ratio * self.width, 1.0)
        return self if width == self.width else replace(self, width=width)

    def sweep_maker(self, scores: ArrayLike) -> Callable[[], Sweep]:
        """Return what makes the sweep at scores of shape (n_samples,)."""
        return partial(self.pairs.sweep, scores, "squared_hinge", self.margin)

    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate at scores of shape (n_samples,): the loss, and the derivatives if widened."""
        make_sweep = self.sweep_maker(scores)
        sweep = self.pairs.last_sweep.of(make_sweep)
        there = SmoothEvaluation(
            value=sweep.value,
            gradient=sweep.gradient,
            offset=sweep.offset,
            rounding=ROUNDING * sweep.magnitude,
            gradient_norm=sweep.gradient_norm,
            gradient_rounding=sweep.gradient_rounding,
            quadratic=sweep.value,
            largest_multiple=np.inf,
            pairs=self.pairs,
            make_sweep=make_sweep,
            curvature=2.0,
        )
        return there if self.width == 1.0 else self._widened(there)

    def _widened(self, there: SmoothEvaluation) -> SmoothEvaluation:
        h = self.width
        quadratic = there.value / h**2
        return replace(
            there,
            gradient=there.gradient / h,
            offset=(there.offset + there.value) / h - quadratic,
            gradient_norm=there.gradient_norm / h,
            gradient_rounding=there.gradient_rounding / h,
            quadratic=quadratic,
            smoothing=(1 - 1 / h) ** 2 * there.value,
            curvature=there.curvature / h,
        )


@record
class SmoothedHinge(SmoothLoss):
    """The hinge loss, with derivatives from a copy whose kink is rounded off.

    With its kink rounded off over a width h below the margin rho, the hinge is
    (:eq:`smoothed-hinge`)::

        phi_h(z) = (max(0, rho - z)^2 - max(0, rho - h - z)^2) / (2 h),

    a difference of two squared hinges with ``hinge - h/2 <= phi_h <= hinge`` and the slope
    ``-alpha``, where ``alpha = clip((rho - z) / h, 0, 1)``. As any slopes between 0 and 1, these
    make a dual feasible point of the hinge itself, so that its gradient is an epsilon-subgradient
    of the hinge (:eq:`smoothing`)::

        epsilon = sum over the pairs with rho - h < z < rho of  (rho - z) (1 - alpha).

    Parameters
    ----------
    pairs : Pairs
    margin : float, default=1.0
    width : float, default=1.0
        The width h, greater than 0.
    """

    width: float = 1.0

    @property
    def smoothing_width(self) -> float:
        """The width of the smoothing."""
        return self.width

    def narrowed(self, ratio: float) -> SmoothedHinge:
        """Return the same loss with the width times `ratio`."""
        return replace(self, width=ratio * self.width)

    def foreseen(
        self, there: SmoothEvaluation, scores: ArrayLike, ratio: float
    ) -> SmoothEvaluation:
        """Return the derivatives of the narrowed loss if the pairs that are smoothed stay so.

        The slopes of these, ``(rho - z) / h`` in the loss, become ``(rho - z) / (ratio h)``, beyond
        1 as well; those of the pairs below remain 1 (:eq:`foreseen`). `there` is this loss at the
        scores.
        """
        below = Hinge(self.pairs, self.margin - self.width).evaluate(scores).gradient
        gradient = there.gradient - below
        gradient /= ratio
        gradient += below
        return replace(there, gradient=gradient, curvature=1 / (ratio * self.width))

    def sweep_maker(self, scores: ArrayLike) -> Callable[[], Sweep]:
        """Return what makes the sweep at scores of shape (n_samples,)."""
        return partial(self.pairs.sweep, scores, "smoothed_hinge", self.margin, self.width)

    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate at scores of shape (n_samples,): the hinge, and the smoothed derivatives."""
        make_sweep = self.sweep_maker(scores)
        sweep = self.pairs.last_sweep.of(make_sweep)
        return SmoothEvaluation(
            value=sweep.value,
            gradient=sweep.gradient,
            offset=sweep.offset,
            rounding=ROUNDING * sweep.magnitude,
            gradient_norm=sweep.gradient_norm,
            gradient_rounding=sweep.gradient_rounding,
            # A slope of sums may exceed 1 by the rounding of scores, in widths.
            largest_multiple=1.0 if has_exact_slopes(sweep) else 1 / (1 + ROUNDING / self.width),
            smoothing=max(sweep.smoothing, 0.0),
            slack=ROUNDING * sweep.band_magnitude,
            pairs=self.pairs,
            make_sweep=make_sweep,
            curvature=1 / self.width,
        )
