"""The RankSVM objective in weight space, and the ways between its weights.

::

    P(w) = R(w) + c * L(X w),    R(w) = 0.5 |w|^2

What it is at given weights, its certificate included, is in `ranksvm.linear.evaluation`; here is
how solvers get from weights to others: along lines, to another smoothing, to a sample, and to fresh
scores in the end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lazy import cached_property, computed
from ..pairs.losses import PairLoss
from ..pairs.rounding import ROUNDING, relative_rounding
from ..pairs.sweeps import Scores
from ..records import record
from .evaluation import AtWeights, Terms
from .known import Known, RememberedWeights
from .line import Line
from .matrix import Fresh, FullStep, Slope
from .penalties import SquaredNorm
from .samples import Sample, draw_sample

Vector = NDArray[np.float64]

HAIR = 2.0**-46
WEAK = 0.03  # a best multiple: regularisation hardly counts beside the loss
LEAST = 1e-100  # likewise: the limits of floating point are near
NEAR = 0.5  # in lower bounds: a minimum can be reached by few steps
OFF = 1e-3  # of a margin: what images may be off by
LITTLE = 1e-3  # of a gap: a bound of rounding that is so small need not be better


@record
class LinearObjective(Terms):
    """The objective of a linear ranker; immutable.

    Parameters
    ----------
    X, loss, c, n_threads, penalty, rows, last
        As for `ranksvm.linear.evaluation.Terms`.
    sample : Sample, optional
        Rows whose objective is nearly the same.
    known : Known, optional
        What is known at some weights, for whatever c: evaluated there, it is not computed again.
    """

    sample: Sample | None = None
    known: Known | None = None

    def with_loss(self, loss: PairLoss) -> LinearObjective:
        """Return the same objective with another loss."""
        return replace(self, loss=loss)

    def with_c(self, c: float) -> LinearObjective:
        """Return the same objective with another weight of the loss."""
        return replace(self, c=c)

    def knowing(self, known: Known | None) -> LinearObjective:
        """Return the same objective, of which this is known."""
        return replace(self, known=known)

    def evaluate(
        self, w: ArrayLike, dtype: type[np.floating] | None = None, *, roughly: bool = False
    ) -> LinearEvaluation:
        """Evaluate the objective at weights of shape (n_features,).

        For a `dtype`, gradient and Hessian in that precision come from the same pass over X, where
        that can be; but for a smoothing, which is narrowed first unless weights are zero. The
        Hessian may be known but `roughly`.
        """
        weights = np.ascontiguousarray(w, dtype=np.float64)
        known = self.known
        if known is not None and weights is known.weights:
            if known.formula.equals(self.loss):
                return LinearEvaluation(self, weights, known.scores, known.loss, known.slope)
            return self.at(weights, known.scores)
        is_final = self.loss.narrowed(0.5) is self.loss or not weights.any()
        if dtype is not None and is_final:
            step = self.full_step(self.X.zeros(), weights, dtype, roughly=roughly)
            if step is not None:
                return LinearEvaluation(self, weights, *step[1:])
        scores = self.X.dot(weights, self.n_threads) if weights.any() else self.X.zeros()
        return self.at(weights, scores)

    def at_rest(self) -> LinearEvaluation:
        """Evaluate the objective at the weights of least R."""
        return self.evaluate(self.penalty.rest(self.size))

    def upper_value(self, weights: Vector, upper_loss: float | None = None) -> float:
        """Return ``P(w)`` from fresh scores, and not less than it is: rounding is added."""
        loss = self.upper_loss(weights) if upper_loss is None else upper_loss
        value = self.penalty.value(weights) + self.c * loss
        return value * (1 + ROUNDING)

    def upper_loss(self, weights: Vector, fresh: Fresh | None = None) -> float:
        """Return ``L(X w)`` from fresh scores, and not less than it is.

        Scores are known to within a bound e each, and so differences to within 2 e: the loss is
        that of a margin that is larger by as much, which counts pairs just beyond the kink, too.
        It costs a pass over X, unless they are known, and a sweep.
        """
        known = self.known
        if known is not None and weights is known.weights and known.upper_loss is not None:
            return known.upper_loss
        scores, rounding = fresh or self._fresh(weights)
        loss = self.loss.widened(rounding).evaluate(scores)
        return loss.value + loss.rounding

    def quick_upper_loss(self, here: LinearEvaluation) -> float:
        """Return the same from what is known at scores nearby, without a sweep.

        Fresh scores are within a reach of those. Without any, the result is infinite.
        """
        fresh = here.quickly_fresh
        if fresh is None:
            return np.inf
        reach = fresh.rounding + float(abs(fresh.scores - here.scores).max())
        return self.loss.most_within(here.loss.value + here.loss.rounding, reach)

    def quickly_fresh(self, here: LinearEvaluation) -> Fresh | None:
        """Return fresh scores, with a bound of their rounding that takes no pass of its own.

        It is by the lengths of columns, ``|x_ik| <= (sum_i x_ik^2)^0.5``. Where that alone adds
        much to the gap, there is no pass over X, and the result is None.
        """
        loss, fresh = here.loss, here.fresh
        if fresh is None:
            reach = relative_rounding(self.size) * float(self.grain @ np.abs(here.weights))
        else:
            reach = fresh.rounding
        added = self.c * (self.loss.most_within(loss.value + loss.rounding, reach) - loss.value)
        if not added <= LITTLE * here.absolute_gap:
            return None
        return fresh or Fresh(self.X.dot(here.weights, self.n_threads), reach)

    def _fresh(self, weights: Vector) -> Fresh:
        """Return ``X w``, and how exactly it is known; without a vector of that."""
        scores, rounding = self.X.dot_within(weights, self.n_threads)
        return Fresh(scores, float(rounding.max()))

    def full_step(
        self,
        scores: Scores,
        p: Vector,
        dtype: type[np.floating] | None,
        *,
        roughly: bool = False,
        end: Vector | None = None,
    ) -> FullStep | None:
        """Return ``X p`` and what is at these scores and as much more, if one pass brings both."""
        if self.rows is not None:
            return None
        return self.X.full_step(
            self.loss, scores, p, dtype, self.n_threads, roughly=roughly, end=end
        )

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
        X, pairs, n_threads = *self.sample[:2], self.sample.threads(self.n_threads)
        fresh = replace(self, sample=None, known=None, last=None)
        return replace(fresh, X=X, loss=replace(self.loss, pairs=pairs), n_threads=n_threads)


@record
class LinearEvaluation(AtWeights):
    """The objective at given weights, and the way to others.

    Attributes
    ----------
    objective : LinearObjective
    weights, scores, loss, known_slope, known_hessian, fresh
        As for `ranksvm.linear.evaluation.AtWeights`.
    """

    objective: LinearObjective

    @cached_property
    def upper_loss(self) -> float:
        """The loss here from fresh scores, and not less than it is."""
        return self.objective.upper_loss(self.weights, self.quickly_fresh or self.fresh)

    @cached_property
    def quickly_fresh(self) -> Fresh | None:
        """Fresh scores here, where their rounding is known to add little to the gap."""
        return self.objective.quickly_fresh(self)

    @cached_property
    def quick_upper_loss(self) -> float:
        """The same by a bound that is quick, and may be loose."""
        known = self.objective.known
        is_known = known is not None and self.loss is known.loss
        quick = known.quick_upper_loss if known is not None and is_known else None
        return self.objective.quick_upper_loss(self) if quick is None else quick

    @property
    def known(self) -> Known:
        """What has been computed here, for another c."""
        names = "_of_loss", "upper_loss", "quick_upper_loss"
        computed_here = (computed(self, name) for name in names)
        return Known(self.weights, self.scores, self.objective.loss, self.loss, *computed_here)

    def confirmed(self, bound: float, enough: float) -> tuple[Vector, float]:
        """Return weights here, or a hair's breadth further out, and a confirmed value there."""
        quick = self.objective.upper_value(self.weights, self.quick_upper_loss)
        if quick - self.value <= LITTLE * min(self.absolute_gap, self.value - bound):
            return self.weights, quick
        upper = self.objective.upper_value(self.weights, self.upper_loss)
        return self.objective.confirmed(self.weights, self.value, upper, enough)

    def remembered(self) -> RememberedWeights:
        """Return what is to be known of this later, without scores."""
        return RememberedWeights(self.objective, self.weights, self.value, self.rounding)

    def narrowed(self, ratio: float) -> LinearEvaluation:
        """Return the same weights with the width of the smoothing multiplied by `ratio`."""
        return self.objective.narrowed(ratio).at(self.weights, self.scores)

    def tied(self, limit: LinearEvaluation) -> tuple[LinearEvaluation | None, int]:
        """Return where rows are tied as pairs at the kink tell, and how many products that took.

        See `ranksvm.linear.ties`.
        """
        from .ties import tied  # which few problems need

        step, n_products = tied(self, limit)
        there = None if step is None else self.along(step).trial(1.0).evaluation
        return there, n_products

    @property
    def begins_wide(self) -> bool:
        """Whether the loss has kinks, and rows are few; from zero, by their levels."""
        return self.has_kinks and self.objective.has_few_rows(by_levels=not self.weights.any())

    def widened(self) -> LinearEvaluation | None:
        """Return where to begin with the width at which the gradient is its own best multiple.

        That is at these weights, if they are near the minimum for their width, or at zero; and None
        unless regularisation is weak: at zero, a small part of the gradient is the best dual point.
        """
        objective = self.objective
        rest = objective.penalty.rest(objective.size)
        zero = self if np.array_equal(rest, self.weights) else objective.evaluate(rest)
        if not LEAST < zero.dual.multiple < WEAK:
            return None
        here = self.narrowed(1 / float(np.clip(self.dual.multiple, LEAST, 1.0)))
        is_near = here.distance <= NEAR * here.lower_bound
        return here if is_near or zero is self else zero.narrowed(1 / zero.dual.multiple)

    @property
    def sampled(self) -> LinearEvaluation | None:
        """The same weights on the sample, if there is one."""
        sampled = self.objective.sampled
        return None if sampled is None else sampled.evaluate(self.weights)

    def resampled(self) -> LinearEvaluation | None:
        """Return this on a sample drawn for these weights; None without, or if passes are dear."""
        objective, activity = self.objective, self._smooth_loss.hessian_diagonal
        sample = objective.sample
        n_rows = 0 if sample is None or objective.X.is_large else sample.n_rows
        sample = draw_sample(objective.X, objective.loss.pairs, n_rows, activity)
        return replace(self, objective=replace(objective, sample=sample)).sampled

    def foreseen(self, ratio: float) -> LinearEvaluation:
        """Return the model of the narrowed smoothing if what is smoothed now stays so."""
        loss = self.objective.loss.foreseen(self._smooth_loss, self.scores, ratio)
        hessian = self.known_hessian
        if hessian is not None:  # of the same pairs
            change = loss.curvature / self._smooth_loss.curvature
            hessian = hessian._replace(matrix=change * hessian.matrix)
        return replace(self, loss=loss, known_slope=None, known_hessian=hessian)

    def with_metric(self) -> tuple[LinearEvaluation, Vector]:
        """Return this with its gradient known, and a diagonal that stands for its Hessian.

        It is ``1 + c (X * X)' diag(H)``, pairs taken singly, which is a bound of the Hessian's; the
        loss counts more for rare features where these matter (:eq:`restraint`). Both come from one
        pass over X.

        Where rows are far fewer than features, it is 1, that of the penalty. The step is a sum of
        rows there, and so are the directions of conjugate gradients, whose pace is that of the dot
        products of rows. A scale for each feature would make these worse.
        """
        objective = self.objective
        if objective.has_far_fewer_rows and objective.penalty.is_smooth:
            return self, objective.penalty.curvature(self.weights)
        product, squares = objective.X.t_dot_squares(
            self.loss.gradient, self._smooth_loss.hessian_diagonal, objective.n_threads
        )
        if objective.penalty.is_smooth:
            squares *= objective.restraint
        metric = objective.penalty.curvature(self.weights) + objective.c * squares
        return replace(self, known_slope=Slope(product, objective.X.rounding_of_sums)), metric

    def rounded(self) -> LinearEvaluation:
        """Return this with images and Hessian products of rounded rows, if near enough."""
        objective = self.objective
        if not isinstance(objective.penalty, SquaredNorm):
            return self
        rounded = objective.X.rounded(objective.n_threads)
        if rounded is None or not rounded.off(self.value) <= OFF * objective.loss.margin:
            return self
        objective = replace(objective, rounded=rounded)
        return replace(self, objective=objective, known_slope=self._of_loss)

    def near_enough(self, image: Scores, target: float) -> Scores | None:
        """Return the image of a step if its products tell values to within a target; else None."""
        rounded, margin = self.objective.rounded, self.objective.loss.margin
        # Far less than the bound, by more than the factor by which slopes may multiply it.
        off = 0.0 if rounded is None else rounded.off(self.value)
        return image if off * self.value <= target * margin else None

    def moved(self, weights: Vector, scores: Scores | None) -> LinearEvaluation:
        """Return the objective at other weights, and their scores if these are known."""
        objective = self.objective
        weights = objective.penalty.nearest(weights)
        return objective.evaluate(weights) if scores is None else objective.at(weights, scores)

    def along(
        self, p: Vector, image: Scores | None = None, *, end: Vector | None = None
    ) -> Line[LinearEvaluation]:
        """Restrict the objective to ``w + t p``.

        `image` is ``X p``, if it is known already; `end` are the weights at the full step, if they
        are known exactly.
        """
        return Line(self, p, self.image(p) if image is None else image, last=end)

    def towards(
        self,
        p: Vector,
        dtype: type[np.floating] | None = None,
        *,
        roughly: bool = False,
        is_last: bool = True,
        end: Vector | None = None,
    ) -> Line[LinearEvaluation]:
        """Restrict as `along` does, with what is at the full step from the same pass over X.

        That are value and gradient, and for a `dtype` the Hessian in that precision, too, which may
        be known but `roughly`; or without one, fresh scores that confirm the value, if the step
        `is_last`. `end` are the weights there, if they are known exactly.
        """
        weights = self.weights + p if end is None else end
        confirmed = weights if is_last else None
        step = self.objective.full_step(self.scores, p, dtype, roughly=roughly, end=confirmed)
        if step is None:
            return Line(self, p, self.image(p), last=end)
        there = LinearEvaluation(self.objective, weights, *step[1:])
        return Line(self, p, step.image, there, end)
