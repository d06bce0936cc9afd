"""The hinge loss of long queries in few rows of many features, by an interior-point method.

The dual, its multipliers and the steps are those of `ranksvm.linear.interior_point`. What differs
is that rows are too many for the inverse of their dot products, and pairs for one list:

- the equations of a step are solved by conjugate gradients on products with X
  (`ranksvm.linear.block_equations`),
- so scores are variables of their own, which differ from ``X w`` by as much as that has left; the
  next step takes it into account,
- pairs are worked on level by level, in place (`ranksvm.pairs.level_blocks`), in four passes a
  step.

It begins with slopes that are the same share of their bounds, by the best multiple of these as a
dual point (:eq:`best-multiple`), and with products that are all alike. Where many slopes end at
their bounds, that may be far too small a share, so that steps lead nowhere. It begins anew then,
amid the bounds and with scores of zero, as interior points of listed pairs do; and where steps are
as short from there, other solvers go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.level_blocks import LevelBlocks
from ..pairs.losses import Hinge
from ..pairs.preferences import Preferences
from ..pairs.rounding import relative_rounding
from ..records import record
from ..solvers.progress import Progress
from ..solvers.result import SolverResult, Status
from ..threads import InOrder, in_order
from .block_equations import BlockEquations, QueryLaplacian
from .interior_point import LEAST_STEP, TO_BOUND
from .interior_problem import APART
from .objective import LinearObjective
from .slopes import at_slopes

Vector = NDArray[np.float64]

# Of its bound, a slope at the first point, in shares that are best for all; but no more than this.
BEST, MOST = 3.0, 0.5
FEW = 10  # steps, that are to be as long as one that ends at its aim, together
LONG = 0.5  # a step that tells whether its equations were solved well enough
ENOUGH = 0.4  # of a gap, in the sum of products: equations get harder as that gets less
# Of the equations of a step; and how much tighter they are once a third of the gap comes from
# scores that are not those of the weights.
ACCURACY, TIGHTER, TIGHTEST, AGREEMENT = 0.03, 0.1, 1e-5, 1.5
LESS = 0.5  # of the gap, that a step leaves where they can be solved no better


def interior_blocks(objective: LinearObjective, w0: Vector, progress: Progress) -> SolverResult:
    """Minimise an objective of the hinge loss over labels.

    It begins inside, whatever is known already: weights to start from are kept if none are better.

    Parameters
    ----------
    objective : LinearObjective
        Of pairs that may be blocks.
    w0 : ndarray of shape (objective.size,)
    progress : Progress
        When to stop, and the record, which may hold earlier iterations of another solver.

    Returns
    -------
    SolverResult
    """
    progress.begin("interior_point", objective)
    hinge = objective.with_loss(Hinge(objective.loss.pairs, objective.loss.margin))
    status = progress.record(hinge.evaluate(w0), 0.0) if w0.any() else None
    # What is beyond floating point shows in the steps.
    with np.errstate(all="ignore"), in_order(objective.n_threads) as ordered:
        problem = _Problem(hinge, ordered)
        if status is None:
            if w0.any():  # interior points may be worse for long
                progress.begin("interior_point", objective, keeps=True)
            status = progress.record(problem.current, 0.0)
        way = []
        while status is None:
            step = problem.step(progress.target)
            if not step > LEAST_STEP:
                status = Status.STALLED
                break
            progress.n_products += 1
            progress.n_evaluations += 1
            status = progress.record(problem.current, step)
            way.append(step)
            if len(way) % FEW == 0 and sum(way[-FEW:]) < 1.0 and status is None:
                if len(way) > FEW:
                    status = Status.STALLED
                else:
                    problem.begin_amid_bounds()
    return progress.result(status)


class _Bend(NamedTuple):
    """What a step towards zero products tells of the way: how far it is free, and how it bends."""

    fastest: float
    change: float
    of_products: Vector
    of_aim: Vector


class _Aim(NamedTuple):
    """Scores where products are a number, and those where they are zero, towards which it bends."""

    towards: Vector
    scores: Vector
    product: float

    def of(self, rows: NDArray[np.int64]) -> _Aim:
        """Return that of some rows."""
        return _Aim(self.towards[rows], self.scores[rows], self.product)


@record
class _Query:
    """The pairs of one query; vectors are of its rows."""

    pairs: LevelBlocks
    blocks: Sequence[_core.InteriorPairs]

    @classmethod
    def beginning(
        cls, pairs: LevelBlocks, c: float, margin: float, share: float, product: float
    ) -> _Query:
        """Let slopes be a share of their bounds, and products a number."""
        blocks = [
            _core.InteriorPairs(
                block.better.start, *block.shape, c * block.weight, margin, share, product
            )
            for block in pairs.blocks
        ]
        return cls(pairs, blocks)

    def equations(
        self, scores: Vector, ridge: float, dtype: type[np.floating]
    ) -> tuple[QueryLaplacian | None, Vector]:
        """Return the Laplacian here, and the balance that it makes of what pairs lack."""
        balance, degree = np.zeros((2, len(scores)))
        for block in self.blocks:
            block.weigh(scores, balance, degree)
        weights = [block.weights for block in self.blocks]
        return QueryLaplacian.of(self.pairs, weights, degree, ridge, dtype), balance

    def bend(self, scores: Vector) -> _Bend:
        """Look at the step to scores, with products of zero."""
        of_products, of_aim = np.zeros((2, len(scores)))
        found = [block.bend(scores, of_products, of_aim) for block in self.blocks]
        fastest = np.max([each for each, _ in found])
        return _Bend(fastest, sum(change for _, change in found), of_products, of_aim)

    def fastest(self, aim: _Aim) -> float:
        """Say how fast a step goes, in ways to the bounds."""
        return float(np.max([block.fastest(*aim) for block in self.blocks]))

    def move(self, aim: _Aim, step: float) -> _Sums:
        """Take the step as far."""
        balance, degree = np.zeros((2, len(self.pairs.rows)))
        found = [block.move(*aim, step, balance, degree) for block in self.blocks]
        slopes, products = np.sum(found, axis=0)
        return _Sums(balance, degree, float(slopes), float(products))


class _Sums(NamedTuple):
    """Balance and degree of the slopes, their sum, and that of the products."""

    balance: Vector
    degree: Vector
    slopes: float
    products: float


class _Problem:
    """The dual of an objective, where it is, and the way on."""

    def __init__(self, objective: LinearObjective, ordered: InOrder) -> None:
        preferences = objective.loss.pairs.preferences
        assert isinstance(preferences, Preferences)
        pairs = LevelBlocks.of(preferences)
        self.n_pairs = sum(each.n_pairs for each in pairs)
        self._objective, self._ordered = objective, ordered
        squares = objective.X.column_squares(objective.n_threads)
        self._length = float(squares.sum()) / objective.X.shape[0]
        self._pairs = pairs
        self._begin()
        self._scores = self.current.scores

    def begin_amid_bounds(self) -> None:
        """Begin anew, with slopes of half their bounds, and scores of zero."""
        self._begin(MOST, APART)
        self._scores = np.zeros_like(self._scores)

    def _begin(self, share: float | None = None, apart: float = 1.0) -> None:
        """Let slopes be a share of their bounds, and products so many times what these tell of.

        The best share for all pairs leaves too little to those whose slopes are to grow.
        """
        self._accuracy, self._is_lost = ACCURACY, False
        objective, n = self._objective, self._objective.X.shape[0]
        c, margin = objective.c, objective.loss.margin
        balance, degree = np.zeros((2, n))
        for each in self._pairs:
            of_query = np.zeros((2, len(each.rows)))
            for block in each.blocks:
                block.add_sums(*of_query)
            balance[each.rows], degree[each.rows] = c * of_query
        bounds = c * objective.loss.pairs.n_pairs
        if share is None:
            pulled = objective.X.t_dot(balance - balance.mean(), objective.n_threads)
            square = float(pulled @ pulled)
            best = BEST * margin * bounds / square if 0 < square < np.inf else MOST
            share = float(np.clip(best, np.finfo(np.float64).tiny, MOST))
        product = apart * share * margin * bounds / self.n_pairs
        self._queries = [_Query.beginning(each, c, margin, share, product) for each in self._pairs]
        sums = _Sums(share * balance, share * degree, share * bounds, 2 * product * self.n_pairs)
        self._evaluate(sums)

    def step(self, target: float) -> float:
        """Take a step (Mehrotra 1992) towards a gap, and return its length."""
        solved = self._aim(ENOUGH * target)
        if solved is None:
            return 0.0
        aim, fastest = solved
        step = min(TO_BOUND / fastest, 1.0) if fastest > 0 else 1.0
        if not step > LEAST_STEP:
            return 0.0
        expected, gap = (1 - step) * np.linalg.norm(self._beside), self.current.absolute_gap
        if not self._move(aim, step):
            return 0.0
        # Where scores are those of the weights, all of the gap is in the products.
        in_products = self.current.absolute_gap <= AGREEMENT * self._products
        if step > LONG and not in_products and np.linalg.norm(self._beside) > 2 * expected:
            if self._accuracy > TIGHTEST:
                self._accuracy *= TIGHTER
            elif not self.current.absolute_gap <= LESS * gap:
                self._is_lost = True
        return step

    @property
    def _beside(self) -> Vector:
        """By how much scores differ from those of the weights."""
        return self._scores - self.current.scores

    def _aim(self, least: float) -> tuple[_Aim, float] | None:
        """Return where a step leads, and how fast slopes and multipliers get to their bounds.

        No less than the `least` sum of products is aimed for: beyond what the gap needs, equations
        only get harder to solve.
        """
        is_finite = 0 < self._products < np.inf and 0 < self._length < np.inf
        if not is_finite or self._is_lost:
            return None
        n, objective = len(self._scores), self._objective
        dtype = np.float32 if self._accuracy == ACCURACY else np.float64
        laplacians, balances = [], np.zeros(n)
        found = self._ordered(
            lambda each: each.equations(self._scores[each.pairs.rows], 1 / self._length, dtype),
            self._queries,
        )
        for each, (laplacian, balance) in zip(self._queries, found, strict=True):
            if laplacian is None:
                return None
            laplacians.append(laplacian)
            balances[each.pairs.rows] = balance
        equations = BlockEquations(
            objective.X, laplacians, self._length, objective.n_threads, self._ordered
        )
        beside = self._beside
        towards = self._scores + equations.solve(balances, beside, self._accuracy)
        fastest, change, of_aim = 0.0, 0.0, np.zeros(n)
        bends = self._ordered(lambda each: each.bend(towards[each.pairs.rows]), self._queries)
        for each, bend in zip(self._queries, bends, strict=True):
            fastest, change = np.maximum(fastest, bend.fastest), change + bend.change
            balances[each.pairs.rows] -= bend.of_products
            of_aim[each.pairs.rows] = bend.of_aim
        step = min(1 / fastest, 1.0)
        left = (1 - step) + step**2 * change / self._products
        product = max(self._products * left**3, least) / (2 * self.n_pairs)
        moved = equations.solve(balances + product * of_aim, beside, self._accuracy)
        aim = _Aim(towards, self._scores + moved, product)
        ways = self._ordered(lambda each: each.fastest(aim.of(each.pairs.rows)), self._queries)
        return aim, float(np.max(list(ways)))

    def _move(self, aim: _Aim, step: float) -> bool:
        """Take a step as far, and evaluate the objective there, if that is in floating point."""
        balance, degree = np.zeros((2, len(self._scores)))
        slopes = products = 0.0
        found = self._ordered(lambda each: each.move(aim.of(each.pairs.rows), step), self._queries)
        for each, sums in zip(self._queries, found, strict=True):
            balance[each.pairs.rows], degree[each.pairs.rows] = sums.balance, sums.degree
            slopes += sums.slopes
            products += sums.products
        if not np.isfinite(products):
            return False
        self._scores = self._scores + step * (aim.scores - self._scores)
        self._evaluate(_Sums(balance, degree, slopes, products))
        return True

    def _evaluate(self, sums: _Sums) -> None:
        """Evaluate the objective at the weights of slopes, which are its dual point as well."""
        self._products = sums.products
        rounding = relative_rounding(len(sums.degree)) * float(np.linalg.norm(sums.degree))
        offset = self._objective.loss.margin * sums.slopes
        self.current = at_slopes(self._objective, sums.balance, offset, rounding)
