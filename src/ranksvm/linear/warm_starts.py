"""Warm starts: what the solutions for smaller C tell of the next.

The solution w(c) moves smoothly with log c. So from those for the last two values, the line
through them (:eq:`ahead`)::

    w(c_k) + t (w(c_k) - w(c_{k-1})),    t about log(c_{k+1} / c_k) / log(c_k / c_{k-1}),

leads towards the next, and with a negative t back towards one between the two. Its scores are known
as far as theirs are, so that the least value along it is found by sweeps alone, without a pass over
X; and if the last solution still has the gap that is asked for, nothing is computed at all
(`ranksvm.linear.known`). From there on,

- Newton's method begins with the Hessian that was formed last, as long as that serves,
- a smoothed hinge begins as narrow as the last solution left it, or as the gap to reach needs,
- bounds of the optimum for other c bound that for this one (`BoundsByC`): where pairs are separated
  and regularisation is weak, the last one is as good as any, and only the loss is to be removed.

That is at the weights of the last bound, which need not be those of the least value.

Starts say how soon an optimum is reached, and nothing else: gaps are those of each C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.rounding import ROUNDING
from ..records import record
from ..solvers import Progress
from ..solvers.line_search import line_search
from ..solvers.result import TINY
from .known import Known
from .objective import LinearEvaluation, LinearObjective

Vector = NDArray[np.float64]


class _Solution(NamedTuple):
    known: Known
    c: float


@record
class BoundsByC:
    """Lower bounds of the optimum ``P*(c) = min R(w) + c L(X w)`` for some c, and so for others.

    It is the least of straight lines, none of which falls. So it is concave, and lies above the
    line between bounds for two values of c (:eq:`concave`); and beyond the largest it is no less.

    Attributes
    ----------
    known : tuple of (c, bound)
        With ascending c.
    """

    known: tuple[tuple[float, float], ...] = ()

    def of(self, c: float) -> float:
        """Return a bound for c; -inf where none follows."""
        below = [found for found in self.known if found[0] <= c]
        if not below:
            return -np.inf
        bound = max(bound for _, bound in below)
        above = [found for found in self.known if found[0] > c]
        if above:
            (first, low), (last, high) = below[-1], above[0]
            share = (c - first) / (last - first)
            line = (1 - share) * low + share * high
            bound = max(bound, line - 4 * ROUNDING * (abs(low) + abs(high)))
        return bound

    def with_bound(self, c: float, bound: float) -> BoundsByC:
        """Return these and another."""
        return BoundsByC(tuple(sorted((*self.known, (c, bound)))))


@record
class WarmStart:
    """Where to begin: at the last solution, or on the line through it and the one before.

    Attributes
    ----------
    weights : ndarray of shape (n_features,) or None
        Of the last solution; None if there is none.
    last, before : solution or None
        That for the largest c so far and that for the next one below, with what is known there.
    """

    weights: Vector | None = None
    last: _Solution | None = None
    before: _Solution | None = None

    def ahead(
        self, objective: LinearObjective, progress: Progress, *, by_line: bool = True
    ) -> tuple[LinearObjective, Vector | None]:
        """Return an objective of another c that knows where to begin, and the weights there.

        These are the last ones, or `by_line` the best through the last two.
        """
        if self.last is None:
            return objective.knowing(None), self.weights
        objective = objective.knowing(self.last.known)
        here = objective.with_loss(self.last.known.formula).evaluate(self.last.known.weights)
        gap = here.value + here.rounding - max(here.lower_bound, progress.lower_bound)
        is_near = progress.is_small(here.value, gap / max(abs(here.value), TINY))
        there = self._best_on_line(here, progress) if by_line and not is_near else None
        if there is None:
            return objective, here.weights
        return objective.knowing(there.known), there.weights

    def _best_on_line(self, here: LinearEvaluation, progress: Progress) -> LinearEvaluation | None:
        c, last, before = here.objective.c, self.last, self.before
        if last is None or before is None or not before.c < last.c != c:
            return None
        further = np.log(c / last.c) / np.log(last.c / before.c)
        direction = further * (last.known.weights - before.known.weights)
        image = further * (last.known.scores - before.known.scores)
        trial, n_trials = line_search(here.along(direction, image))
        progress.n_evaluations += n_trials
        # The squared hinge has no less at its optimum; beyond, hardly any pair is left that curves.
        least_loss = 0.5 * min(last.c / c, 1.0) ** 2 * here.loss.value
        if trial is None or trial.evaluation.loss.value < least_loss:
            return None
        return trial.evaluation

    def after(self, progress: Progress, c: float) -> WarmStart:
        """Return where to begin after a solution, for c, of this record.

        That is at the best point; but where solutions are only compared, at the latest if the bound
        at the best is not enough: weights that are a hair's breadth better lead nowhere without it.
        """
        best, latest = progress.best, progress.latest
        assert isinstance(best, LinearEvaluation)
        assert isinstance(latest, LinearEvaluation)
        is_enough = progress.is_small(best.value, best.duality_gap)
        point = best if is_enough or progress.share == 0 else latest
        weights, last = point.weights, self.last
        if last is not None and weights is last.known.weights:
            return WarmStart(weights, _Solution(point.known, max(c, last.c)), self.before)
        found = _Solution(point.known, c)
        if last is not None and c < last.c:
            return WarmStart(last.known.weights, last, found)
        return WarmStart(weights, found, last)
