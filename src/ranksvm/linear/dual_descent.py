"""Either hinge loss of short queries in sparse rows, by descent along the coordinates of its dual.

The dual has a slope b_p for each pair p (:eq:`hinge-dual`), between 0 and ``u_p = c v_p`` for the
hinge::

    maximise  sum(margin_p b_p) - 0.5 |w|^2   over  0 <= b <= u,    w = X'D'b,

and for the squared one less ``sum(b_p^2 / (4 u_p))``, over ``b >= 0``. One slope after the other
goes to where that is largest (Hsieh et al. 2008), query by query: scores of its rows follow the
slopes by the dot products of these, so that each row is read once for all of its pairs. Of 11
passes the first visits all queries, the others those that had any pair far from where it should be.

Passes in the same order are nearly linear once it is settled which slopes are at a bound. So of the
points after ten of them, the combination is taken whose residual is least (Anderson 1965; Bertrand
and Massias 2021), if that is better. That takes far fewer passes where rows are alike.

Slopes are near the optimum long before all pairs keep the margin. Weights a little longer make up
for what these lack, which costs hardly anything: the value is that of the best multiple.

Where pairs cannot be separated and regularisation is weak, slopes grow from pass to pass, for very
long. By how much the gap falls tells where that leads (`ranksvm.solvers.patience.Patience`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.core_pairs import CorePairs
from ..pairs.explicit import ExplicitPairs
from ..pairs.losses import Hinge, SquaredHinge
from ..pairs.preferences import Preferences
from ..solvers.progress import Progress
from ..solvers.protocols import Objective
from ..solvers.result import SolverResult, Status
from .design_matrix import DesignMatrix
from .dot_products import TINY
from .objective import LinearEvaluation, LinearObjective
from .slopes import at_slopes

Vector = NDArray[np.float64]

WINDOW, QUIET = 10, 0.01  # passes; what is off by so little, of the most, is left alone for these
HAIR = 1e-11  # of the margin, so that rounding leaves no pair behind it
ROUGH, WINDOWS = 0.1, 3  # a gap, down to which the objective is not evaluated after each window
ALIKE = 1e-12  # of residuals, next to their sum


def dual_descent(objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
    """Minimise an objective of the hinge loss, or of the squared one.

    It begins with slopes of zero, or those of the last solution with another c, whatever else is
    known already: weights to start from are kept if none are better.

    Parameters
    ----------
    objective : LinearObjective
        Of labels, in sparse rows.
    w0 : ndarray of shape (objective.size,)
    progress : Progress
        When to stop, and the record, which may hold earlier iterations of another solver. Passes
        are counted as products.

    Returns
    -------
    SolverResult
    """
    assert isinstance(objective, LinearObjective)
    progress.begin("dual_descent", objective)
    plain = SquaredHinge if isinstance(objective.loss, SquaredHinge) else Hinge
    objective = objective.with_loss(plain(objective.loss.pairs, objective.loss.margin))

    def record(point: LinearEvaluation, step: float) -> Status | None:
        """Record a point, of which the gap alone tells what is left, not the length of a step."""
        return progress.record(point, step, point.lower_bound)

    status = record(objective.evaluate(w0), 0.0) if w0.any() else None
    if status is not None:
        return progress.result(status)
    progress.n_evaluations += bool(w0.any())
    problem = Descent(objective)
    current = problem.evaluate() if problem.resumes() else objective.evaluate(np.zeros_like(w0))
    status = Status.STALLED if current is None else record(current, 0.0)
    while status is None:
        done = problem.n_passes
        problem.advance(WINDOWS if progress.dual_gap > ROUGH else 1)
        progress.n_products += round(problem.n_passes) - round(done)
        progress.n_evaluations += 1
        current = problem.evaluate()
        status = Status.STALLED if current is None else record(current, 1.0)
    if current is not None:
        problem.keep()
    return progress.result(status)


def _copy_of(X: DesignMatrix, rows: NDArray[np.int64]) -> tuple[Any, Any, Any]:
    """Copy sparse rows, as the arrays of a CSR matrix."""
    Z = X.sparse_rows()
    assert Z is not None
    X.n_passes += 1
    return Z.core.copy_of(Z.offset, Z.scale, rows if Z.rows is None else Z.rows[rows])


class _Point(NamedTuple):
    slopes: Vector
    weights: Vector


class Descent:
    """The dual of an objective of labels in sparse rows, and where descent is."""

    def __init__(self, objective: LinearObjective) -> None:
        pairs = objective.loss.pairs
        assert isinstance(pairs, CorePairs)
        assert isinstance(pairs.preferences, Preferences)
        self.objective = objective
        self.pairs = ExplicitPairs.of(pairs.preferences)
        self.margin = float(objective.loss.margin)
        self.is_squared = isinstance(objective.loss, SquaredHinge)
        self.weight = objective.c * self.pairs.weight
        self.upper = np.full_like(self.weight, np.inf) if self.is_squared else self.weight
        self.damping = 0.5 / self.weight if self.is_squared else np.zeros_like(self.weight)
        X, groups = objective.X, pairs.groups
        assert isinstance(X, DesignMatrix)
        order = np.arange(groups.n_samples) if groups.order is None else groups.order
        place = np.argsort(order)
        first = groups.indptr.astype(np.int64)
        better, worse = place[self.pairs.better], place[self.pairs.worse]
        query = np.searchsorted(first, better, side="right") - 1
        start = np.searchsorted(query, np.arange(groups.n_queries + 1)).astype(np.int64)
        self.core = _core.DualDescent(
            *_copy_of(X, order.astype(np.int64)),
            X.shape[1],
            first,
            start,
            (better - first[query]).astype(np.int32),
            (worse - first[query]).astype(np.int32),
            self.upper,
            self.damping,
            self.margin,
        )
        self.n_rows = np.diff(first)
        self.queries = np.flatnonzero(np.diff(start))
        self.lacking = np.zeros(groups.n_queries)
        self.n_passes = 0.0
        self._point = _Point(np.zeros(len(better)), np.zeros(X.shape[1]))
        self._slopes = np.empty((WINDOW, len(better)))
        self._weights, self._steps = np.empty((2, WINDOW, X.shape[1]))

    def resumes(self) -> bool:
        """Go on from the slopes of the last solution, times what is best; say if there are any."""
        last, objective = self.objective.last, self.objective
        slopes = None if last is None else last.slopes(objective.loss.pairs, self.upper)
        if slopes is None:
            return False
        balance = self.pairs.balance(slopes)
        weights = objective.X.t_dot(balance - balance.mean(), objective.n_threads)
        length = 2 * self._damped(slopes) + float(weights @ weights)
        best = self.margin * float(slopes.sum()) / max(length, TINY)
        best = best if self.is_squared else min(best, 1.0)  # within the bounds
        self._point = _Point(best * slopes, best * weights)
        return True

    def keep(self) -> None:
        """Leave the slopes to the next solution."""
        if self.objective.last is not None:
            pairs = self.objective.loss.pairs
            self.objective.last.keep_slopes(pairs, self._point.slopes, self.upper)

    def advance(self, n_windows: int) -> None:
        """Go through so many windows of passes."""
        for _ in range(n_windows):
            self.visit(self.queries)
            lacking = self.lacking[self.queries]
            moving = self.queries[lacking > QUIET * lacking.max(initial=0.0)]
            for k in range(WINDOW):
                before = self._point.weights.copy()
                self.visit(moving)
                self._slopes[k], self._weights[k] = self._point
                np.subtract(self._point.weights, before, out=self._steps[k])
            self._combine()

    def evaluate(self) -> LinearEvaluation | None:
        """Evaluate the objective at the best multiple of the weights; None beyond numbers."""
        objective, slopes = self.objective, self._point.slopes
        n_threads, balance = objective.n_threads, self.pairs.balance(slopes)
        weights = objective.X.t_dot(balance - balance.mean(), n_threads)
        self._point = _Point(slopes, weights)
        scores = objective.X.dot(weights, n_threads)
        if not np.isfinite(scores).all():
            return None
        longer = self._best_multiple(self.pairs.differences(scores)) * weights
        damped = self._damped(slopes)
        offset = self.margin * float(slopes.sum()) - damped
        rounding = self.pairs.rounding_of_balance(slopes)
        return at_slopes(objective, balance, offset, rounding, longer, quadratic=damped)

    def _best_multiple(self, ahead: Vector) -> float:
        """Return the best multiple t >= 1 of weights, for how far the better row is ahead.

        That is where ``t^2 |w|^2 / 2 + sum(u (margin - t ahead)_+)`` is least, or the same with
        squares, over the pairs that lack the margin at t = 1.
        """
        margin = (1 + HAIR) * self.margin
        lacking = ahead < margin
        ahead, weight = ahead[lacking], self.weight[lacking]
        with np.errstate(divide="ignore"):
            kept_from = np.where(ahead > 0, margin / ahead, np.inf)
        by_place = np.argsort(kept_from)
        ahead, weight = ahead[by_place], weight[by_place]
        # Up to the place of a pair, the loss falls by these, the latter times t.
        falls = 2 * margin * weight * ahead if self.is_squared else weight * ahead
        bends = 2 * weight * ahead**2 if self.is_squared else np.zeros_like(ahead)
        falls, bends = (
            each.sum() - np.concatenate([[0.0], np.cumsum(each)]) for each in (falls, bends)
        )
        bends += float(self._point.weights @ self._point.weights)
        multiples = np.concatenate([[1.0], kept_from[by_place]])
        with np.errstate(invalid="ignore"):
            k = int(np.argmax(multiples * bends >= falls))
        if k == 0:
            return 1.0
        best = float(min(falls[k - 1] / bends[k - 1], multiples[k]))
        return best if np.isfinite(best) else 1.0

    def visit(self, queries: NDArray[np.int64]) -> None:
        """Go over some queries once."""
        self.core.visit(queries, *self._point, self.lacking)
        self.n_passes += float(self.n_rows[queries].sum()) / float(self.n_rows.sum())

    def _dual(self, point: _Point) -> float:
        squares = self._damped(point.slopes) + 0.5 * float(point.weights @ point.weights)
        return self.margin * float(point.slopes.sum()) - squares

    def _damped(self, slopes: Vector) -> float:
        return 0.5 * float(self.damping @ slopes**2) if self.is_squared else 0.0

    def _combine(self) -> None:
        """Go to the combination of the last points whose residual is least, if it is better."""
        products = self._steps @ self._steps.T
        total = float(np.trace(products))
        if not TINY < total < 1 / TINY:
            return
        products[np.diag_indices_from(products)] += ALIKE * total
        shares = np.linalg.solve(products, np.ones(WINDOW))
        shares /= shares.sum()
        combined = shares @ self._slopes
        slopes = np.clip(combined, 0.0, self.upper)
        balance = self.pairs.balance(slopes - combined)
        pulled = self.objective.X.t_dot(balance - balance.mean(), self.objective.n_threads)
        there = _Point(slopes, shares @ self._weights + pulled)
        if self._dual(there) > self._dual(self._point):
            self._point = there
