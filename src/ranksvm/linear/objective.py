"""The RankSVM objective in weight space, and its certificate.

::

    P(w) = R(w) + c * L(X w),    R(w) = 0.5 |w|^2

For any scores s and any (sub)gradient g of L at s, Fenchel duality bounds the optimum from below
(:eq:`dual`)::

    D = c * (L(s) - g's) - R*(-c X'g)  <=  min P.

At ``s = X w`` the two differ by ``P - D = 0.5 |w + c X'g|^2``, half the squared norm of the
(sub)gradient of P (:eq:`distance`): the certificate costs nothing. An epsilon-subgradient, such as
that of a smoothed hinge, does as well, and loosens the bound by ``c * epsilon``. So does a multiple
of g, of which the best is known (:eq:`best-multiple`); it is never negative, and far from the
optimum it is the better by orders of magnitude.

Rounding belongs to the certificate. A lower bound allows for that of the loss, of its gradient, and
of ``X'g``, column by column. The value is what it is at weights, not at scores that were moved
along lines and drifted from ``X w``: in the end it is computed afresh, and raised by what the
rounding of scores could hide (`LinearObjective.upper_value`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lazy import cached_property, computed
from ..pairs.losses import DualRay, LossEvaluation, PairLoss, SmoothEvaluation
from ..pairs.rounding import ROUNDING
from ..pairs.sweeps import Scores
from ..solvers.protocols import NewtonSystem, Plane
from .known import Known, LastHessian
from .line import Line
from .matrix import FullStep, Hessian, Matrix, Slope
from .penalties import SQUARED_NORM, Penalty
from .row_space import RowSpace
from .samples import Sample

Vector = NDArray[np.float64]

HAIR = 2.0**-46
WEAK = 0.03  # a best multiple: regularisation hardly counts beside the loss
LEAST = 1e-100  # likewise: the limits of floating point are near
NEAR = 0.5  # in lower bounds: a minimum can be reached by few steps


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """The objective of a linear ranker; immutable.

    Parameters
    ----------
    X : Matrix of shape (n_samples, n_features)
    loss : PairLoss
        Of pairs that live where X does.
    c : float
        Weight of the loss.
    n_threads : int, default=1
    penalty : Penalty, optional
        R; by default ``0.5 |w|^2``.
    sample : Sample, optional
        Rows whose objective is nearly the same.
    rows : RowSpace, optional
        Of X: where to find Newton steps for that penalty, if not by the Hessian in weight space.
    known : Known, optional
        What is known at some weights, for whatever c: evaluated there, it is not computed again.
    last_hessian : LastHessian, optional
        Keeps the Hessian that was formed last, for other weights and another c.
    """

    X: Matrix
    loss: PairLoss
    c: float
    n_threads: int = 1
    penalty: Penalty = SQUARED_NORM
    sample: Sample | None = None
    rows: RowSpace | None = None
    known: Known | None = None
    last_hessian: LastHessian | None = None

    def with_loss(self, loss: PairLoss) -> LinearObjective:
        """Return the same objective with another loss."""
        return replace(self, loss=loss)

    def with_c(self, c: float) -> LinearObjective:
        """Return the same objective with another weight of the loss."""
        return replace(self, c=c)

    def knowing(self, known: Known | None) -> LinearObjective:
        """Return the same objective, of which this is known."""
        return replace(self, known=known)

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.X.shape[1]

    @property
    def has_few_rows(self) -> bool:
        """Whether rows are fewer than features, so that weights can give them nearly any scores."""
        n, d = self.X.shape
        return n < d

    @property
    def n_passes(self) -> int:
        """How often X has been read so far."""
        return self.X.n_passes

    @property
    def grain(self) -> Vector:
        """How the rounding of ``X'g`` is spread over the features: as the lengths of columns."""
        return np.sqrt(self.X.column_squares(self.n_threads))

    def evaluate(self, w: ArrayLike, dtype: type[np.floating] | None = None) -> LinearEvaluation:
        """Evaluate the objective at weights of shape (n_features,).

        For a `dtype`, gradient and Hessian in that precision come from the same pass over X, where
        that can be; but for a smoothing, which is narrowed first.
        """
        weights = np.ascontiguousarray(w, dtype=np.float64)
        known = self.known
        if known is not None and weights is known.weights:
            if known.formula.equals(self.loss):
                return LinearEvaluation(self, weights, known.scores, known.loss, known.slope)
            return self.at(weights, known.scores)
        if dtype is not None:
            step = self.full_step(self.X.zeros(), weights, dtype)
            if step is not None:
                return LinearEvaluation(self, weights, *step[1:])
        scores = self.X.dot(weights, self.n_threads) if weights.any() else self.X.zeros()
        return self.at(weights, scores)

    def upper_value(self, weights: Vector, upper_loss: float | None = None) -> float:
        """Return ``P(w)`` from fresh scores, and not less than it is: rounding is added."""
        loss = self.upper_loss(weights) if upper_loss is None else upper_loss
        value = self.penalty.value(weights) + self.c * loss
        return value * (1 + ROUNDING)

    def upper_loss(self, weights: Vector) -> float:
        """Return ``L(X w)`` from fresh scores, and not less than it is.

        Scores are known to within a bound e each, and so differences to within 2 e: the loss is
        that of a margin that is larger by as much, which counts pairs just beyond the kink, too.
        It costs a pass over X, and a sweep.
        """
        known = self.known
        if known is not None and weights is known.weights and known.upper_loss is not None:
            return known.upper_loss
        scores, rounding = self.X.dot_within(weights, self.n_threads)
        loss = self.loss.widened(float(rounding.max())).evaluate(scores)
        return loss.value + loss.rounding

    def full_step(
        self, scores: Scores, p: Vector, dtype: type[np.floating] | None
    ) -> FullStep | None:
        """Return ``X p`` and what is at these scores and as much more, if one pass brings both.

        Not for a smoothed loss, whose steps hold sweeps of two widths already, for their memory.
        """
        is_smoothed = self.loss.narrowed(0.5) is not self.loss
        if self.rows is not None or is_smoothed:
            return None
        return self.X.full_step(self.loss, scores, p, dtype, self.n_threads)

    def confirmed(
        self, weights: Vector, value: float, upper: float, enough: float
    ) -> tuple[Vector, float]:
        """Return weights, or some a hair's breadth further out, and a confirmed value there.

        Where features are large and hardly regularised, pairs lie at the kink so closely that
        rounding alone makes up the loss. Weights a little longer lift them beyond it. `upper` is
        the confirmed value at the weights.
        """
        growth, at_first = HAIR, weights
        while upper > enough and upper - value > 0.5 * (upper - enough) and growth < 1e-3:
            longer = (1 + growth) * at_first
            if not self.penalty.value(longer) < upper:
                break
            there = self.upper_value(longer)
            if there < upper:
                weights, upper = longer, there
            growth *= 16
        return weights, upper

    def at(self, weights: Vector, scores: Scores) -> LinearEvaluation:
        """Evaluate the objective at weights whose scores are known."""
        return LinearEvaluation(self, weights, scores, self.loss.evaluate(scores))

    def smoothed(self) -> LinearObjective:
        """Return this, with derivatives that are smooth: of the smoothed hinge for the hinge."""
        loss = self.loss.smoothed()
        return self if loss is self.loss else self.with_loss(loss)

    def resumed(self) -> LinearObjective:
        """Return this, smoothed as narrowly as where something is known, if it is smoothed."""
        known = self.known
        same = known is not None and type(known.formula) is type(self.loss)
        return self if known is None or not same else self.with_loss(known.formula)

    def narrowed(self, ratio: float) -> LinearObjective:
        """Return this with the width of its smoothing times `ratio`."""
        return self.with_loss(self.loss.narrowed(ratio))

    @cached_property
    def sampled(self) -> LinearObjective | None:
        """The same objective on the sample, if there is one."""
        if self.sample is None:
            return None
        X, pairs = self.sample
        loss = replace(self.loss, pairs=pairs)
        return replace(self, X=X, loss=loss, sample=None, known=None, last_hessian=None)


@dataclass(frozen=True, eq=False)
class RememberedWeights:
    """What is to be known of an evaluation when its scores are let go."""

    objective: LinearObjective
    weights: Vector
    value: float
    rounding: float

    def confirmed(self, enough: float) -> tuple[Vector, float]:
        """Return these weights, or a hair's breadth further out, and a confirmed value there."""
        upper = self.objective.upper_value(self.weights)
        return self.objective.confirmed(self.weights, self.value, upper, enough)


@dataclass(frozen=True, eq=False)
class LinearEvaluation:
    """The objective at given weights; immutable, every part computed at most once.

    Attributes
    ----------
    objective : LinearObjective
    weights : ndarray of shape (n_features,)
    scores : array of shape (n_samples,)
        Where the loss lives.
    loss : LossEvaluation
    known_slope : Slope or None
        The gradient of the loss by the weights, if a pass over X has brought it already.
    known_hessian : Hessian or None
        That of the loss, likewise.
    """

    objective: LinearObjective
    weights: Vector
    scores: Scores
    loss: LossEvaluation
    known_slope: Slope | None = None
    known_hessian: Hessian | None = None

    @cached_property
    def value(self) -> float:
        """The objective ``P(w)``."""
        return self.objective.penalty.value(self.weights) + self.objective.c * self.loss.value

    @cached_property
    def _of_loss(self) -> Slope:
        if self.known_slope is not None:
            return self.known_slope
        X = self.objective.X
        return Slope(X.t_dot(self.loss.gradient, self.objective.n_threads), X.rounding_of_sums)

    @cached_property
    def _slope(self) -> Vector:
        return self.objective.c * self._of_loss.values

    @cached_property
    def gradient(self) -> Vector:
        """The (sub)gradient ``w + c X'g``, of shape (n_features,)."""
        return self.objective.penalty.gradient(self.weights) + self._slope

    @cached_property
    def distance(self) -> float:
        """The part of the gap that comes from the weights: half the squared gradient."""
        return self.objective.penalty.gap(self.weights, -self._slope)

    @property
    def absolute_gap(self) -> float:
        """``P - D``: no point is better than this one by more."""
        return max(self.value + self.rounding - self.lower_bound, 0.0)

    @property
    def plane(self) -> Plane:
        """A plane that touches ``c * L(X w)`` here from below."""
        loss, slope = self.loss, self._slope
        multiple = min(loss.largest_multiple, 1.0)
        offset = self.objective.c * (loss.offset - loss.slack - loss.rounding)
        if multiple < 1.0:
            slope, offset = multiple * slope, multiple * offset
        return Plane(slope, offset, self._noise, self.objective.grain)

    @cached_property
    def _noise(self) -> float:
        """How exactly the slope is known, in grains of the objective."""
        of_sums = self._of_loss.rounding * self.loss.gradient_norm
        return self.objective.c * (of_sums + self.loss.gradient_rounding)

    @property
    def rounding(self) -> float:
        """How exactly the value and its bound are known."""
        return self.objective.c * self.loss.rounding

    @cached_property
    def upper_loss(self) -> float:
        """The loss here from fresh scores, and not less than it is."""
        return self.objective.upper_loss(self.weights)

    @property
    def known(self) -> Known:
        """What has been computed here, for another c."""
        slope, upper_loss = computed(self, "_of_loss"), computed(self, "upper_loss")
        return Known(self.weights, self.scores, self.objective.loss, self.loss, slope, upper_loss)

    def confirmed(self, enough: float) -> tuple[Vector, float]:
        """Return weights here, or a hair's breadth further out, and a confirmed value there."""
        upper = self.objective.upper_value(self.weights, self.upper_loss)
        return self.objective.confirmed(self.weights, self.value, upper, enough)

    def remembered(self) -> RememberedWeights:
        """Return what is to be known of this later, without scores."""
        return RememberedWeights(self.objective, self.weights, self.value, self.rounding)

    @property
    def lower_bound(self) -> float:
        """The dual value D of the best multiple of g, a lower bound of the optimum."""
        return self.dual.bound

    @cached_property
    def dual(self) -> DualRay:
        """The dual values of multiples of g."""
        penalty, noise = self.objective.penalty, self._noise * self.objective.grain
        return self.loss.dual(self.objective.c, penalty.conjugate(self._slope, noise))

    @property
    def duality_gap(self) -> float:
        """The relative duality gap ``(P - D) / max(|P|, tiny)``."""
        return self.absolute_gap / max(abs(self.value), float(np.finfo(np.float64).tiny))

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing, not from the weights."""
        return self.objective.c * (self.loss.smoothing + self.loss.slack)

    def narrowed(self, ratio: float) -> LinearEvaluation:
        """Return the same weights with the width of the smoothing multiplied by `ratio`."""
        return self.objective.narrowed(ratio).at(self.weights, self.scores)

    def widened(self) -> LinearEvaluation | None:
        """Return where to begin with the width at which the gradient is its own best multiple.

        That is at these weights, if they are near the minimum for their width, or at zero; and None
        unless regularisation is weak and rows are few: at zero, a small part of the gradient is the
        best dual point.
        """
        objective = self.objective
        if not objective.has_few_rows:
            return None
        zero = objective.evaluate(np.zeros(objective.size)) if self.weights.any() else self
        if not LEAST < zero.dual.multiple < WEAK:
            return None
        here = self.narrowed(1 / float(np.clip(self.dual.multiple, LEAST, 1.0)))
        is_near = here.distance <= NEAR * here.lower_bound
        return here if is_near or zero is self else zero.narrowed(1 / zero.dual.multiple)

    @property
    def width(self) -> float:
        """The width of the smoothing, 1 if there is none."""
        return self.objective.loss.smoothing_width

    @property
    def sampled(self) -> LinearEvaluation | None:
        """The same weights on the sample, if there is one."""
        sampled = self.objective.sampled
        return None if sampled is None else sampled.evaluate(self.weights)

    def foreseen(self, ratio: float) -> LinearEvaluation:
        """Return the model of the narrowed smoothing if what is smoothed now stays so."""
        loss = self.objective.loss.foreseen(self._smooth_loss, self.scores, ratio)
        hessian = self.known_hessian
        if hessian is not None:  # of the same pairs
            change = loss.curvature / self._smooth_loss.curvature
            hessian = hessian._replace(matrix=change * hessian.matrix)
        return replace(self, loss=loss, known_slope=None, known_hessian=hessian)

    @property
    def _smooth_loss(self) -> SmoothEvaluation:
        if not isinstance(self.loss, SmoothEvaluation):
            raise TypeError("the hinge loss has no second derivatives; use the smoothed hinge")
        return self.loss

    def image(self, p: Vector) -> Scores:
        """Return ``X p``, how the scores move when the weights move along p."""
        return self.objective.X.dot(p, self.objective.n_threads)

    def hessian_product(self, p: Vector, image: Scores | None = None) -> Vector:
        """Multiply p, of shape (n_features,), by the Hessian ``I + c X'HX`` (:eq:`hessian`).

        `image` is ``X p``, if it is known already.
        """
        objective = self.objective
        scores = self.image(p) if image is None else image
        curved = self._smooth_loss.hessian_product(scores)
        product = objective.X.t_dot(curved, objective.n_threads)
        product *= objective.c
        product += objective.penalty.curvature(self.weights) * p
        return product

    def with_metric(self) -> tuple[LinearEvaluation, Vector]:
        """Return this with its gradient known, and a bound of the diagonal of its Hessian.

        The bound is ``1 + c (X * X)' diag(H)``, pairs taken singly. Both come from one pass over X.

        Where rows are fewer than features, it is 1, that of the penalty. The step is a sum of rows
        there, and so are the directions of conjugate gradients, whose pace is that of the dot
        products of rows. A scale for each feature would make these worse.
        """
        objective = self.objective
        if objective.has_few_rows:
            return self, objective.penalty.curvature(self.weights)
        product, squares = objective.X.t_dot_squares(
            self.loss.gradient, self._smooth_loss.hessian_diagonal, objective.n_threads
        )
        bound = objective.penalty.curvature(self.weights) + objective.c * squares
        return replace(self, known_slope=Slope(product, objective.X.rounding_of_sums)), bound

    def hessian(self) -> NDArray[np.float64]:
        """Form the Hessian ``I + c X'HX``, of shape (n_features, n_features)."""
        scaled, scale = self.scaled_hessian()
        return scaled / np.outer(scale, scale)

    def scaled_hessian(
        self, dtype: type[np.floating] = np.float64
    ) -> tuple[NDArray[np.float64], Vector]:
        """Form the Hessian explicitly, for standardised features.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            Precision of the products.

        Returns
        -------
        hessian : ndarray of shape (n_features, n_features)
            ``diag(scale) (I + c X'HX) diag(scale)``.
        scale : ndarray of shape (n_features,)
        """
        X, n_threads = self.objective.X, self.objective.n_threads
        shift, scale = X.standardization(n_threads)
        known = self.known_hessian
        if known is not None and known.dtype in (dtype, np.float64):
            scaled = self.objective.c * known.matrix
        else:
            scaled = X.hessian(self._smooth_loss, shift, scale, dtype, n_threads)
            scaled *= self.objective.c
        scaled[np.diag_indices_from(scaled)] += (
            self.objective.penalty.curvature(self.weights) * scale**2
        )
        return scaled, scale

    def newton_system(
        self, gradient: Vector, dtype: type[np.floating] = np.float64
    ) -> NewtonSystem:
        """Form the equations of a Newton step, for standardised features or in row space."""
        objective = self.objective
        if objective.rows is not None:
            loss = self._smooth_loss
            return self._scaled_system(
                gradient, *objective.rows.scaled_hessian(loss, objective.c, dtype)
            )
        hessian, scale = self.scaled_hessian(dtype)
        if objective.last_hessian is not None:
            objective.last_hessian.keep(hessian, scale, objective.c)
        return self._scaled_system(gradient, hessian, scale)

    def last_system(self, gradient: Vector) -> NewtonSystem | None:
        """Return the same by the Hessian of the loss that was formed last; None if none is kept."""
        objective = self.objective
        last = None if objective.last_hessian is None else objective.last_hessian.of(objective.c)
        return None if last is None else self._scaled_system(gradient, *last)

    def _scaled_system(
        self, gradient: Vector, hessian: NDArray[np.float64], scale: Vector
    ) -> NewtonSystem:
        rows = self.objective.rows
        if rows is None:
            return NewtonSystem(hessian, scale * gradient, lambda y: scale * y)
        projected = scale * rows.from_weights(gradient)
        return NewtonSystem(hessian, projected, lambda y: rows.to_weights(scale * y))

    def moved(self, weights: Vector, scores: Scores | None) -> LinearEvaluation:
        """Return the objective at other weights, and their scores if these are known."""
        objective = self.objective
        return objective.evaluate(weights) if scores is None else objective.at(weights, scores)

    def slope_along(self, p: Vector, image: Scores) -> float:
        """Return the derivative along p, for the image ``X p``."""
        slope = float(self.objective.penalty.gradient(self.weights) @ p)
        return slope + self.objective.c * float(self.loss.gradient @ image)

    def along(self, p: Vector, image: Scores | None = None) -> Line[LinearEvaluation]:
        """Restrict the objective to ``w + t p``; `image` is ``X p``, if it is known already."""
        return Line(self, p, self.image(p) if image is None else image)

    def towards(self, p: Vector, dtype: type[np.floating] | None = None) -> Line[LinearEvaluation]:
        """Restrict as `along` does, with what is at the full step from the same pass over X.

        That are value and gradient, and for a `dtype` the Hessian in that precision, too.
        """
        step = self.objective.full_step(self.scores, p, dtype)
        if step is None:
            return self.along(p)
        end = LinearEvaluation(self.objective, self.weights + p, *step[1:])
        return Line(self, p, step.image, end)
