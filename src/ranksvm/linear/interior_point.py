"""Either hinge loss where rows or pairs are few, by a primal-dual interior-point method.

The dual has a slope b_p between 0 and ``u_p = c v_p`` for each pair p, whose difference of scores
is ``(D s)_p`` (:eq:`hinge-dual`)::

    maximise  sum(margin_p b_p) - 0.5 |w|^2   over  0 <= b <= u,    w = X'D'b.

With multipliers l and h of both bounds, ``h - l = margin - D X w`` at the optimum, and each of the
products ``b l`` and ``(u - b) h`` is zero. A step makes them equal to a number that falls towards
zero (Mehrotra 1992), and is corrected where it ends early (Gondzio 1996). Its equations reduce to
the scores, as many as there are rows: with the dot products K of the rows and ``W = diag(1 / (l / b
+ h / (u - b)))``::

    (K^-1 + D'WD) ds = D'W r,

of rows that others are mixed from where K has no inverse (`ranksvm.linear.dot_products`). So a step
costs O(n^3) and O(n_pairs) operations.

With fewer features than rows, equations are those of features (:eq:`interior-features`), and
weights are variables of their own, which need not be ``X'D'b`` until the end::

    (I + Z'D'WDZ) dw = X'D'b - w + Z'D'W r.

A step costs O(n d^2) and O(n_pairs d); of d, features that a single row stores may be left out
(`ranksvm.linear.shared_features`). Sums of large slopes that cancel then say nothing of the
scores, so that b may begin amid its bounds, however weak regularisation is. So it is for the hinge
in few rows: weights are ``X'a``, and ``D'b - a`` is added to ``D'W r``.

The squared hinge bounds slopes below alone, and its dual curves (:eq:`squared-hinge-dual`): ``b_p^2
/ (4 c v_p)`` is taken off each slope there, so that ``b / (2 c v)`` is in the place of h, and ``1 /
(2 c v)`` in that of ``h / (u - b)``. In few rows its weights are those of the slopes, where there
is a multiple of all of these that serves most pairs; and else, or where that leads nowhere, of
their own, as for the hinge.

Steps are 10 to 20, whatever C and scales are, where pairs are not far more than features. Weights,
scores and the certificate are those of X itself at every step; the inverse of K, made once, need
not be exact. Where whole steps no longer halve the gap, rounding is all that is left: more exact
equations take over, or another solver.

With another penalty R in place of ``0.5 |w|^2``, the dual has ``R*(X'D'b)`` and the weights are
where ``b'D X w - R(w)`` is largest. They follow b as long as they are free, that is, at no kink or
bound: to first order, K becomes ``X diag(free / R'') X'`` of the step, whose weights are a
semismooth derivative (Li, Sun and Toh 2018). Where R curves everywhere that takes hardly more
steps; but there is no promise, since free weights may go in circles, so that steps are limited.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..records import record
from ..solvers.newton import SOLVED
from ..solvers.progress import Progress
from ..solvers.result import SolverResult, Status
from .dot_products import DotProducts
from .interior_problem import InteriorProblem, Point, Space, Step
from .objective import LinearObjective

Vector = NDArray[np.float64]

TO_BOUND = 0.995  # of the way
LEAST_STEP = 1e-6
STIFF = 100.0  # times what is rounding among dot products: what pairs are at least, in equations
CORRECTIONS, NEAR, MORE = 3, 10.0, 1.01  # of a step; a factor between products; of the room
# Of the way to where products are what they are to be; such steps, or any by equations in single
# precision, that do not halve the gap, while products fell: it is one of rounding.
WHOLE, IDLE = 0.9, 10


def interior_point(
    objective: LinearObjective, w0: Vector, progress: Progress, max_steps: float = np.inf
) -> SolverResult:
    """Minimise an objective of either hinge loss that knows its row space.

    It begins inside, whatever is known already: weights to start from are kept if none are better.

    Parameters
    ----------
    objective : LinearObjective
        Of pairs that may be listed.
    w0 : ndarray of shape (objective.size,)
    progress : Progress
        When to stop, and the record, which may hold earlier iterations of another solver.
    max_steps : float, optional
        After so many, it has stalled.

    Returns
    -------
    SolverResult
    """
    progress.begin("interior_point", objective)
    problem = InteriorProblem.of(objective)
    status = progress.record(problem.objective.evaluate(w0), 0.0) if w0.any() else None
    if status is not None:
        return progress.result(status)
    point = problem.start()
    if w0.any():  # interior points may be worse for long
        progress.begin("interior_point", objective, keeps=True)
    status = progress.record(point.current, 0.0)
    n_steps, gaps = 0, list[float]()
    while status is None and n_steps < max_steps:
        step = _step(problem, point)
        n_steps += 1
        part = 0.0 if step is None else min(TO_BOUND * step.room, 1.0)
        if step is None or not part > LEAST_STEP or _are_idle(gaps):
            gaps = []
            more_exact = problem.more_exact()
            if more_exact is not None:
                problem = more_exact
            elif point.own is None and problem.may_own_weights:
                point = problem.amid()
                progress.n_evaluations += 1
            else:
                status = Status.STALLED
            continue
        point = problem.moved(point, step, part)
        progress.n_products += 1
        progress.n_evaluations += 1
        best = problem.longer(point) or point.current
        status = progress.record(best, part)
        counts = part >= WHOLE or problem.is_single
        gaps = [*gaps, best.value - progress.lower_bound] if counts else []
    return progress.result(status or Status.STALLED)


def _are_idle(gaps: list[float]) -> bool:
    """Say whether steps no longer halve the gap."""
    return len(gaps) > IDLE and min(gaps[-IDLE:]) > 0.5 * min(gaps[:-IDLE])


def _room(fastest: float) -> float:
    """Return the part of a step that leads to the first bound: 0 beyond floating point."""
    if np.isnan(fastest):
        return 0.0
    return float(1 / fastest) if fastest > 0 else np.inf


def _step(problem: InteriorProblem, point: Point) -> Step | None:
    """Solve for the step: first to zero, which tells how far to aim, and what bends the way.

    Where that is not far, a modest aim would leave steps that are hardly longer: by features, it is
    a tenth at most, and of the hinge a hundredth; likewise where a few features make up the dot
    products of rows. Then, by the same factor, as long as that makes room: products that would be
    left far too small, or far too large, a little further on are brought nearer to the others
    (Gondzio 1996).
    """
    pairs = point.pairs
    n_products = len(problem.pairs.better) * (1 if problem.is_squared else 2)
    system = _System.of(problem, point) if point.products > 0 else None
    if system is None:
        return None
    towards, solved = system.solve(system.balance)
    fastest, change, of_products, of_aim, of_step = pairs.bend(towards)
    if problem.is_single and not system.is_solved_by(towards, solved, of_step):
        return None
    part = min(_room(fastest), 1.0)
    left = (1 - part) + part**2 * change / point.products
    product = point.products / n_products * min(left**3, problem.most_aimed_for)
    balance = system.balance - of_products + product * of_aim

    def step_for(balance: Vector) -> Step:
        move, solved = system.solve(balance)
        fastest, of_step = pairs.fastest(towards, move, product)
        return Step(towards, move, product, system.own(solved, of_step), _room(fastest))

    step = step_for(balance)
    for _ in range(CORRECTIONS if problem.is_hard_to_factorise else 0):
        if step.room >= 1.0:
            break
        further = min(max(2 * step.room, step.room + 0.1), 1.0)
        balance = balance + pairs.correct(*step.aim, further, NEAR)
        corrected = step_for(balance)
        if not corrected.room > MORE * step.room:
            pairs.undo()
            break
        step = corrected
    return step


class Equations(Protocol):
    """Equations that are ready to be solved."""

    def solve(self, right: Vector, /) -> Vector:
        """Solve for one right-hand side."""


@record
class _System:
    """The equations of a step, reduced to the scores or to coordinates, and factorised."""

    point: Point
    balance: Vector
    space: Space
    factor: Equations

    @classmethod
    def of(cls, problem: InteriorProblem, point: Point) -> _System | None:
        """Factorise; None where numbers are beyond floating point."""
        space, pairs = problem.space(point.current.weights), problem.pairs
        if not space.is_finite:
            return None
        balance = point.pairs.weigh(point.current.scores, STIFF * space.hair)
        factor: Equations | None
        if isinstance(space, DotProducts):
            factor = space.factorized(pairs, point.pairs, problem.rows.n_threads)
        else:
            factor = space.factorized(point.pairs, problem.dtype)
        return None if factor is None else cls(point, balance, space, factor)

    def solve(self, balance: Vector) -> tuple[Vector, Vector]:
        """Return how scores move, and weights or coordinates, for a balance of what pairs lack."""
        space, behind = self.space, self.point.behind
        if isinstance(space, DotProducts):
            moved = self.factor.solve(balance + behind)
            return moved, moved
        solved = self.factor.solve(space.coordinates(balance) + behind)
        return space.scores(solved), solved

    def own(self, solved: Vector, of_step: Vector) -> Vector | None:
        """Return the step of weights of their own."""
        if self.point.own is None:
            return None
        return self.point.behind + of_step if isinstance(self.space, DotProducts) else solved

    def is_solved_by(self, towards: Vector, solved: Vector, of_step: Vector) -> bool:
        """Say whether a step of weights of their own leaves but a part, by its energy."""
        assert not isinstance(self.space, DotProducts)
        left = self.space.coordinates(of_step) + self.point.behind - solved
        of_pairs = float(towards @ (self.balance - of_step))
        energy = float(solved @ solved) + max(of_pairs, 0.0)
        return bool(left @ self.factor.solve(left) <= SOLVED**2 * energy)
