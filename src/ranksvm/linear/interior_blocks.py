"""The hinge loss of long queries in few rows of many features, by an interior-point method.

The dual, its multipliers and the steps are those of `ranksvm.linear.interior_point`. What differs
is that rows are too many for the inverse of their dot products, and pairs for one list:

- the equations of a step are solved by conjugate gradients on products with X
  (`ranksvm.linear.block_equations`),
- so scores are variables of their own, which differ from ``X w`` by as much as that has left; the
  next step takes it into account,
- pairs are worked on block by block, in place (`ranksvm.pairs.level_blocks`).

It begins on the central path at scores of zero, where all pairs are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.level_blocks import LevelBlock, LevelBlocks
from ..pairs.losses import Hinge
from ..pairs.preferences import Preferences
from ..pairs.rounding import relative_rounding
from ..solvers.result import Progress, SolverResult, Status
from ..threads import InOrder, in_order
from .block_equations import BlockEquations, QueryLaplacian
from .interior_point import LEAST_STEP, TO_BOUND, at_slopes
from .objective import LinearEvaluation, LinearObjective

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

START = 0.3  # a product of the bound of a slope and the margin, at the first point
ENOUGH = 0.1  # of a gap, in the sum of products
# Of the equations of a step; and how much tighter they are once a third of the gap comes from
# scores that are not those of the weights.
ACCURACY, TIGHTER, TIGHTEST, AGREEMENT = 0.03, 0.1, 1e-6, 1.5


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
            progress.n_evaluations += bool(w0.any())
            status = progress.record(problem.current, 0.0)
        while status is None:
            step = problem.step(progress.target)
            if not step > LEAST_STEP:
                status = Status.STALLED
                break
            progress.n_products += 1
            progress.n_evaluations += 1
            status = progress.record(problem.current, step)
    return progress.result(status)


class _Bend(NamedTuple):
    """What a step towards zero products tells of the way: how far it is free, and how it bends."""

    fastest: float
    change: float
    of_products: Vector
    of_aim: Vector


@dataclass(eq=False)
class _Block:
    """Slopes of the pairs of a block, the room above them, multipliers, and the step in the making.

    Attributes
    ----------
    pairs : LevelBlock
    upper : ndarray of the shape of the block, or (1, 1)
    slopes, room, low, high : ndarray of the shape of the block
    weights : ndarray of the shape of the block
        Of the Laplacian.
    change : tuple of ndarray
        What the products bend by, later the step of slopes and multipliers.
    """

    pairs: LevelBlock
    upper: Floats
    slopes: Floats
    room: Floats
    low: Floats
    high: Floats
    weights: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    change: tuple[Floats, ...] = ()

    @classmethod
    def central(cls, pairs: LevelBlock, c: float, margin: float, product: float) -> _Block:
        """Return the point at scores of zero where each product is this number."""
        upper = c * pairs.weight
        room = 2 * product / (margin + 2 * product / upper + np.hypot(margin, 2 * product / upper))
        slopes = upper - room
        low, high = product / slopes, product / room
        slopes, room, low, high = (
            np.array(np.broadcast_to(values, pairs.shape)) for values in (slopes, room, low, high)
        )
        return cls(pairs, upper, slopes, room, low, high)

    def weigh(self) -> None:
        """Find the weights of the Laplacian here."""
        self.weights = 1 / (self.low / self.slopes + self.high / self.room)

    def bend(self, lacking: Floats, of_products: Vector, of_aim: Vector) -> tuple[float, float]:
        """Look at the step to where pairs lack so much of the margin, with products of zero.

        Returned are how fast it goes, in ways to the bounds, and what it changes of the products to
        second order; added to the vectors is what these and an aim do to the balance.
        """
        step = self.weights * lacking
        x, y = step / self.slopes, step / self.room
        low, high = -self.low * (1 + x), -self.high * (1 - y)
        fastest = np.max([-x.min(), y.max(), 1 + x.max(), 1 - y.min()])
        change = float(np.vdot(step, low) - np.vdot(step, high))
        x *= low
        y *= high
        self.change = (x, y)
        self.pairs.add_balance(self.weights * (x + y), of_products)
        self.pairs.add_balance(self.weights * (1 / self.slopes - 1 / self.room), of_aim)
        return float(fastest), change

    def aim(self, lacking: Floats, product: float) -> float:
        """Make the step to where pairs lack so much, and products are a number; say how fast."""
        bent_low, bent_high = self.change
        low, high = product / self.slopes - bent_low, product / self.room + bent_high
        step = self.weights * (lacking + low - high)
        x, y = step / self.slopes, step / self.room
        low -= self.low * (1 + x)
        high -= self.high * (1 - y)
        self.change = (step, low, high)
        ways = (-x.min(), y.max(), -(low / self.low).min(), -(high / self.high).min())
        return float(np.max(ways))

    def move(self, step: float) -> None:
        """Take the step as far."""
        slopes, low, high = self.change
        slopes *= step
        self.slopes += slopes
        np.minimum(self.slopes, self.upper, out=self.slopes)  # steps are rounded
        self.room -= slopes
        low *= step
        self.low += low
        high *= step
        self.high += high
        self.change = ()


@dataclass(frozen=True, eq=False)
class _Query:
    """The pairs of one query; vectors are of its rows."""

    pairs: LevelBlocks
    margin: float
    blocks: Sequence[_Block]

    def sums(self) -> tuple[Vector, Vector, float, float]:
        """Return balance and degree of the slopes, their sum, and that of the products."""
        balance, degree = np.zeros((2, len(self.pairs.rows)))
        offset = products = 0.0
        for each in self.blocks:
            each.pairs.add_balance(each.slopes, balance)
            each.pairs.add_degree(each.slopes, degree)
            offset += float(each.slopes.sum())
            products += float(np.vdot(each.slopes, each.low) + np.vdot(each.room, each.high))
        return balance, degree, offset, products

    def equations(
        self, scores: Vector, ridge: float, dtype: type[np.floating]
    ) -> tuple[QueryLaplacian | None, Vector]:
        """Return the Laplacian here, and the balance that it makes of what pairs lack."""
        balance = np.zeros_like(scores)
        for each in self.blocks:
            each.weigh()
            each.pairs.add_balance(each.weights * self._lacking(each, scores), balance)
        weights = [each.weights for each in self.blocks]
        return QueryLaplacian.of(self.pairs, weights, ridge, dtype), balance

    def bend(self, scores: Vector) -> _Bend:
        """Look at the step to scores, with products of zero."""
        of_products, of_aim = np.zeros((2, len(scores)))
        found = [
            each.bend(self._lacking(each, scores), of_products, of_aim) for each in self.blocks
        ]
        return _Bend(
            np.max([fastest for fastest, _ in found]),
            sum(change for _, change in found),
            of_products,
            of_aim,
        )

    def aim(self, scores: Vector, product: float) -> float:
        """Make the step to scores where products are a number; say how fast it goes."""
        found = [each.aim(self._lacking(each, scores), product) for each in self.blocks]
        return float(np.max(found))

    def move(self, step: float) -> None:
        """Take the step as far."""
        for each in self.blocks:
            each.move(step)

    def _lacking(self, each: _Block, scores: Vector) -> Floats:
        return each.pairs.differences(self.margin - scores, -scores)


class _Problem:
    """The dual of an objective, where it is, and the way on."""

    def __init__(self, objective: LinearObjective, ordered: InOrder) -> None:
        preferences = objective.loss.pairs.preferences
        assert isinstance(preferences, Preferences)
        pairs = LevelBlocks.of(preferences)
        self.n_pairs = sum(each.n_pairs for each in pairs)
        product = START * objective.c * objective.loss.pairs.n_pairs / self.n_pairs
        product *= objective.loss.margin
        self._objective, self._ordered = objective, ordered
        self._queries = [
            _Query(
                each,
                objective.loss.margin,
                [
                    _Block.central(block, objective.c, objective.loss.margin, product)
                    for block in each.blocks
                ],
            )
            for each in pairs
        ]
        squares = objective.X.column_squares(objective.n_threads)
        self._length = float(squares.sum()) / objective.X.shape[0]
        self._scores: Vector = np.zeros(objective.X.shape[0])
        self._accuracy = ACCURACY
        self.current = self._evaluate()

    def step(self, target: float) -> float:
        """Take a step (Mehrotra 1992) towards a gap, and return its length."""
        solved = self._direction(ENOUGH * target)
        if solved is None:
            return 0.0
        direction, fastest = solved
        step = min(TO_BOUND / fastest, 1.0) if fastest > 0 else 1.0
        if not step > LEAST_STEP:
            return 0.0
        expected = (1 - step) * np.linalg.norm(self._beside)
        list(self._ordered(lambda each: each.move(step), self._queries))
        self._scores += step * direction
        self.current = self._evaluate()
        # Where scores are those of the weights, all of the gap is in the products.
        in_products = self.current.absolute_gap <= AGREEMENT * self._products
        if not in_products and np.linalg.norm(self._beside) > 2 * expected:
            self._accuracy *= TIGHTER
        return step

    @property
    def _beside(self) -> Vector:
        """By how much scores differ from those of the weights."""
        return self._scores - self.current.scores

    def _direction(self, least: float) -> tuple[Vector, float] | None:
        """Return how scores move, and how fast slopes and multipliers get to their bounds.

        No less than the `least` sum of products is aimed for: beyond what the gap needs, equations
        only get harder to solve.
        """
        is_finite = 0 < self._products < np.inf and 0 < self._length < np.inf
        if not is_finite or self._accuracy < TIGHTEST:
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
        there = self._scores + equations.solve(balances, beside, self._accuracy)
        fastest, change = 0.0, 0.0
        of_aim = np.zeros(n)
        bends = self._ordered(lambda each: each.bend(there[each.pairs.rows]), self._queries)
        for each, bend in zip(self._queries, bends, strict=True):
            fastest, change = np.maximum(fastest, bend.fastest), change + bend.change
            balances[each.pairs.rows] -= bend.of_products
            of_aim[each.pairs.rows] = bend.of_aim
        step = min(1 / fastest, 1.0)
        left = (1 - step) + step**2 * change / self._products
        product = max(self._products * left**3, least) / (2 * self.n_pairs)
        direction = equations.solve(balances + product * of_aim, beside, self._accuracy)
        there = self._scores + direction
        ways = self._ordered(lambda each: each.aim(there[each.pairs.rows], product), self._queries)
        return direction, float(np.max(list(ways)))

    def _evaluate(self) -> LinearEvaluation:
        """Evaluate the objective at the weights of the slopes, which are its dual point as well."""
        n = len(self._scores)
        balance, degree = np.zeros((2, n))
        offset = self._products = 0.0
        found = self._ordered(_Query.sums, self._queries)
        for each, (*of_rows, slopes, products) in zip(self._queries, found, strict=True):
            balance[each.pairs.rows], degree[each.pairs.rows] = of_rows
            offset += each.margin * slopes
            self._products += products
        rounding = relative_rounding(n) * float(np.linalg.norm(degree))
        return at_slopes(self._objective, balance, offset, rounding)
