"""The RankSVM objective over all functions of a kernel, and its certificate.

::

    P(f) = 0.5 |f|^2 + c L(s),    f(x) = sum_i beta_i k(x_i, x),    s = K beta,    |f|^2 = beta's

A function is its coefficients beta together with its scores s on the training rows, which are moved
along with it: no product with K is needed to evaluate the objective. The gradient is the function
with the coefficients ``beta + c g``, for a (sub)gradient g of L at s, and the Hessian maps p to
``p + c H K p``. By duality (:eq:`dual`)

::

    D = c (L(s) - g's) - 0.5 c^2 g'K g  <=  min P  over all functions of the kernel,

and so does the best multiple of g (:eq:`best-multiple`). So one product ``K g`` for each point
gives its gradient and its certificate.

Rounding belongs to the bound: that of the loss, of its gradient (an error e of g adds at most
``sqrt(trace K) |e|`` to the norm of its function), and that of ``g'K g``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..linear.line import Trial
from ..pairs.loss_evaluation import LossEvaluation, SmoothEvaluation
from ..pairs.losses import PairLoss, SquaredHinge
from ..pairs.rounding import ROUNDING
from ..records import record
from .matrix import KernelMatrix

Vector = NDArray[np.float64]


@record
class FunctionObjective:
    """The objective; immutable.

    Attributes
    ----------
    K : KernelMatrix
    loss : PairLoss
    c : float
        Weight of the loss.
    """

    K: KernelMatrix
    loss: PairLoss
    c: float

    @property
    def n_passes(self) -> int:
        """How often K has been read so far."""
        return self.K.n_passes

    def evaluate(self, coef: Vector) -> FunctionEvaluation:
        """Evaluate the objective at coefficients of shape (n_samples,)."""
        return self.at(coef, self.K.dot(coef))

    def at(self, coef: Vector, scores: Vector) -> FunctionEvaluation:
        """Evaluate the objective at coefficients whose scores are known."""
        return FunctionEvaluation(self, coef, scores, self.loss.evaluate(scores))

    def smoothed(self) -> FunctionObjective:
        """Return this, with derivatives that are smooth: of the smoothed hinge for the hinge."""
        return replace(self, loss=self.loss.smoothed())

    def upper_value(self, coef: Vector) -> float:
        """Return ``P(f)`` from fresh scores, and not less than it is: rounding is added."""
        scores = self.K.dot(coef)
        size = float(np.abs(coef).sum())
        rounding = self.K.rounding(size)
        loss = self.loss.widened(rounding).evaluate(scores)
        square = float(coef @ scores) + 2 * rounding * size
        return (0.5 * square + self.c * (loss.value + loss.rounding)) * (1 + ROUNDING)


@record
class FunctionEvaluation:
    """The objective at a function; immutable, every part computed at most once.

    Attributes
    ----------
    objective : FunctionObjective
    weights : ndarray of shape (n_samples,)
        The coefficients beta.
    scores : ndarray of shape (n_samples,)
    loss : LossEvaluation
    """

    objective: FunctionObjective
    weights: Vector
    scores: Vector
    loss: LossEvaluation

    @cached_property
    def value(self) -> float:
        """The objective ``P(f)``."""
        return 0.5 * float(self.weights @ self.scores) + self.objective.c * self.loss.value

    @cached_property
    def _image(self) -> Vector:
        return self.objective.K.dot(self.loss.gradient)

    @property
    def gradient(self) -> tuple[Vector, Vector]:
        """The (sub)gradient as a function: its coefficients and its scores."""
        c = self.objective.c
        return self.weights + c * self.loss.gradient, self.scores + c * self._image

    @cached_property
    def distance(self) -> float:
        """The part of the gap that comes from the function: half the squared gradient."""
        coef, scores = self.gradient
        return 0.5 * max(float(coef @ scores), 0.0)

    @property
    def rounding(self) -> float:
        """How exactly the value and its bound are known."""
        return self.objective.c * self.loss.rounding

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing."""
        return self.objective.c * (self.loss.smoothing + self.loss.slack)

    @property
    def has_kinks(self) -> bool:
        """Whether the loss itself, without the smoothing, has kinks."""
        return not isinstance(self.objective.loss, SquaredHinge)

    @property
    def absolute_gap(self) -> float:
        """``P - D``: no function is better than this one by more."""
        return max(self.value + self.rounding - self.lower_bound, 0.0)

    @cached_property
    def lower_bound(self) -> float:
        """The dual value D of the best multiple of g, a lower bound of the optimum."""
        c = self.objective.c
        return self.loss.dual(c, 0.5 * c**2 * self._longest_square).bound

    @property
    def _longest_square(self) -> float:
        """Bound ``g'K g``, whatever rounding has done to g and to the product."""
        K, g = self.objective.K, self.loss.gradient
        size = float(np.abs(g).sum())
        square = max(float(g @ self._image), 0.0) + K.rounding(size) * size
        noise = self.loss.gradient_rounding * np.sqrt(K.trace)
        return float((np.sqrt(square) + noise) ** 2)

    @property
    def width(self) -> float:
        """The width of the smoothing, 1 if there is none."""
        return self.objective.loss.smoothing_width

    def remembered(self) -> FunctionEvaluation:
        """Return what is to be known of this later: all of it."""
        return self

    def confirmed(self, bound: float, enough: float) -> tuple[Vector, float]:
        """Return the coefficients, and a value that is computed afresh."""
        return self.weights, self.objective.upper_value(self.weights)

    def narrowed(self, ratio: float) -> FunctionEvaluation:
        """Return the same function with the width of the smoothing multiplied by `ratio`."""
        objective = replace(self.objective, loss=self.objective.loss.narrowed(ratio))
        return objective.at(self.weights, self.scores)

    @property
    def curved_loss(self) -> SmoothEvaluation:
        """The loss, with its Hessian H."""
        if not isinstance(self.loss, SmoothEvaluation):
            raise TypeError("the hinge loss has no second derivatives; use the smoothed hinge")
        return self.loss

    def hessian_product(self, coef: Vector, scores: Vector) -> Vector:
        """Return the coefficients of the Hessian times a function, ``p + c H K p``."""
        return coef + self.objective.c * self.curved_loss.hessian_product(scores)

    def along(self, coef: Vector, scores: Vector) -> FunctionLine:
        """Restrict the objective to this function plus multiples of another."""
        return FunctionLine(self, coef, scores)


@record
class FunctionLine:
    """The objective along a direction: a trial costs a sweep over the scores."""

    start: FunctionEvaluation
    coef: Vector
    scores: Vector

    @cached_property
    def slope(self) -> float:
        """The derivative at the start."""
        return self._slope(self.start)

    def _slope(self, there: FunctionEvaluation) -> float:
        return float((there.weights + there.objective.c * there.loss.gradient) @ self.scores)

    def trial(self, step: float) -> Trial[FunctionEvaluation]:
        """Evaluate the objective a step away."""
        start = self.start
        there = start.objective.at(
            start.weights + step * self.coef, start.scores + step * self.scores
        )
        return Trial(step, self._slope(there), -0.5 * self.slope, there)
