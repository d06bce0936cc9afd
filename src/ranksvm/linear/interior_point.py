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

or, where K = F F' has no inverse since rows repeat, or one that leads nowhere since scales of
features differ by far, to the coordinates of these, ``ds = F (I + F'D'WDF)^-1 F'D'W r``. So a step
costs O(n^3) and O(n_pairs) operations.

With fewer features than rows, equations are those of features (:eq:`interior-features`), and
weights are variables of their own, which need not be ``X'D'b`` until the end::

    (I + Z'D'WDZ) dw = X'D'b - w + Z'D'W r.

A step costs O(n d^2) and O(n_pairs d). Sums of large slopes that cancel then say nothing of the
scores, so that b may begin amid its bounds, however weak regularisation is. So it is for the hinge
in few rows: weights are ``X'a``, and ``D'b - a`` is added to ``D'W r``.

The squared hinge bounds slopes below alone, and its dual curves (:eq:`squared-hinge-dual`): ``b_p^2
/ (4 c v_p)`` is taken off each slope there, so that ``b / (2 c v)`` is in the place of h, and ``1 /
(2 c v)`` in that of ``h / (u - b)``.

Steps are 10 to 20, whatever C and scales are, where pairs are not far more than features. Weights,
scores and the certificate are those of X itself at every step; the inverse of K, made once, need
not be exact.

With another penalty R in place of ``0.5 |w|^2``, the dual has ``R*(X'D'b)`` and the weights are
where ``b'D X w - R(w)`` is largest. They follow b as long as they are free, that is, at no kink or
bound: to first order, K becomes ``X diag(free / R'') X'`` of the step, whose weights are a
semismooth derivative (Li, Sun and Toh 2018). Where R curves everywhere that takes hardly more
steps; but there is no promise, since free weights may go in circles, so that steps are limited.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.core_pairs import CorePairs
from ..pairs.explicit import ExplicitPairs, ListedSquaredHinge
from ..pairs.losses import Hinge, SquaredHinge
from ..pairs.queries import QueryGroups
from ..records import record
from ..solvers.cholesky import ScaledCholesky
from ..solvers.result import Progress, SolverResult, Status
from .amid_bounds import Bound, Direction, Point
from .feature_space import FeatureSpace
from .objective import LinearEvaluation, LinearObjective
from .row_space import RIDGE, DotProducts, RowSpace, less_means
from .slopes import at_slopes

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

TO_BOUND = 0.995  # of the way
LEAST_STEP = 1e-6
FALL = 0.1  # of the mean product: what a step aims for at most
SOLVED = 0.1  # of equations: what single precision may leave
CORRECTIONS, NEAR, MORE = 3, 10.0, 1.01  # of a step; a factor between products; of the room
MUCH = 4000  # of the equations, in operations for each pair
APART = 10.0  # times what pairs lack: the multipliers' start, where weights are on their way


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
    problem = _Problem.of(objective)
    status = progress.record(problem.objective.evaluate(w0), 0.0) if w0.any() else None
    if status is not None:
        return progress.result(status)
    slopes, weights = problem.start()
    current = problem.evaluate(slopes, weights)
    progress.n_evaluations += bool(w0.any())
    status = progress.record(current, 0.0)
    point = problem.interior(slopes, weights, current.scores)
    n_steps = 0
    while status is None:
        direction = _direction(problem, point, current) if n_steps < max_steps else None
        n_steps += 1
        step = 0.0 if direction is None else min(TO_BOUND * point.room_along(direction), 1.0)
        if direction is None or not step > LEAST_STEP:
            more_exact = problem.more_exact()
            if more_exact is None:
                status = Status.STALLED
                break
            problem = more_exact
            continue
        point = point.moved(direction, step)
        current = problem.evaluate(point.slopes, point.weights)
        progress.n_products += 1
        progress.n_evaluations += 1
        status = progress.record(current, step)
    return progress.result(status)


@record
class _Problem:
    """The dual of an objective; maybe by a factor of the dot products in place of their inverse.

    What pairs weigh, times c, bounds the slopes of the hinge, and tells the curvature of the
    squared one. The equations of features are in single precision as long as that serves.
    """

    objective: LinearObjective
    pairs: ExplicitPairs
    weight: Vector
    rows: RowSpace
    by_factor: bool = False
    dtype: type[np.floating] = np.float32

    @classmethod
    def of(cls, objective: LinearObjective) -> _Problem:
        loss, rows = objective.loss, objective.rows
        assert rows is not None
        pairs = ExplicitPairs.of(loss.pairs.preferences)
        weight = objective.c * pairs.weight
        if not isinstance(loss, SquaredHinge):
            return cls(objective.with_loss(Hinge(loss.pairs, loss.margin)), pairs, weight, rows)
        if isinstance(loss.pairs, CorePairs):
            loss = ListedSquaredHinge(loss.pairs, loss.margin, listed=pairs)
        return cls(objective.with_loss(loss), pairs, weight, rows)

    @property
    def is_squared(self) -> bool:
        """Whether the loss is the squared hinge."""
        return isinstance(self.objective.loss, SquaredHinge)

    @property
    def margin(self) -> Vector | float:
        """What each pair has to keep."""
        return self.objective.loss.margin + self.pairs.margin

    @property
    def by_features(self) -> bool:
        """Whether equations are of the features."""
        return RowSpace.is_of_features(self.rows.X) and self.objective.penalty.is_smooth

    @property
    def owns_weights(self) -> bool:
        """Whether weights are variables of their own, or what rows are multiplied with for them."""
        return self.by_features or (self.objective.penalty.is_smooth and not self.is_squared)

    @cached_property
    def features(self) -> FeatureSpace:
        """The space of the features, where these have equations of their own."""
        pairs = self.objective.loss.pairs
        groups = pairs.groups
        if not isinstance(pairs, CorePairs):  # which may lead anywhere
            groups = QueryGroups(np.array([0, groups.n_samples]))
        return FeatureSpace(self.rows, self.pairs, groups)

    @property
    def is_single(self) -> bool:
        """Whether equations are in single precision, which those of features may be."""
        return self.dtype is np.float32 and self.by_features

    def more_exact(self) -> _Problem | None:
        """Return the problem with equations that leave less to rounding; None if there are none."""
        if self.is_single:
            return replace(self, dtype=np.float64)
        is_last = self.by_features or self.by_factor
        return None if is_last else replace(self, by_factor=True)

    @property
    def is_hard_to_factorise(self) -> bool:
        """Whether the equations of a step cost far more than what is done with the pairs."""
        n, d = self.objective.X.shape
        return n * min(n, d) ** 2 > MUCH * len(self.pairs.better)

    def start(self) -> tuple[Vector, Vector | None]:
        """Return slopes amid their bounds, and weights of their own, which are zero.

        The slopes are half of what pairs weigh. Where weights are those of the slopes, they are a
        multiple of that: for the squared hinge the best one, which suits all pairs nearly, and for
        the hinge halfway from there to a half, as logarithms go, but a half at most: the best
        leaves some slopes far too small, to grow by many steps.
        """
        if self.owns_weights:
            n, d = self.objective.X.shape
            return 0.5 * self.weight, np.zeros(d if self.by_features else n)
        u = self._pull(self.pairs.balance(self.weight))
        square = float(u @ self.objective.penalty.maximizer(u))
        total = float((self.margin * self.weight).sum())
        if self.is_squared:
            share = total / (square + 0.5 * float(self.weight.sum()))
        else:
            share = min(np.sqrt(total / square if square > 0 else 1.0), 0.5)
        return share * self.weight, None

    def interior(self, slopes: Vector, weights: Vector | None, scores: Vector) -> Point:
        """Return a point with these slopes, and multipliers that differ as they have to."""
        lacking = self.lacking(scores)
        typical = 2 * float(np.abs(lacking).mean())
        if self.is_squared:
            curvature = 0.5 / self.weight
            kept = curvature * slopes - lacking  # by what the margin is kept
            multiplier = 0.5 * (np.hypot(kept, typical) + kept)
            return Point(slopes, [Bound(slopes, 1.0, multiplier)], weights, curvature)
        typical *= APART if self.owns_weights else 1.0
        # Of both roots, the smaller has the product of the two to thank for its digits.
        large = 0.5 * (np.hypot(lacking, typical) + np.abs(lacking))
        small = 0.25 * typical**2 / large
        low = Bound(slopes, 1.0, np.where(lacking > 0, small, large))
        high = Bound(self.weight - slopes, -1.0, np.where(lacking > 0, large, small))
        return Point(slopes, [low, high], weights, 0.0)

    def behind(self, point: Point, current: LinearEvaluation) -> Vector | float:
        """Return how far weights of their own are behind those of the slopes."""
        if self.by_features:
            return -current.gradient
        own = point.weights
        return 0.0 if own is None else self.pairs.balance(self.within(point.slopes)) - own

    def within(self, slopes: Vector) -> Vector:
        """Return slopes that are within their bounds, since steps are rounded."""
        return slopes if self.is_squared else np.minimum(slopes, self.weight)

    def lacking(self, scores: Vector) -> Vector:
        """Return what each pair lacks of the margin."""
        return self.margin - self.pairs.differences(scores)

    def space(self, weights: Vector) -> DotProducts | FeatureSpace:
        """Return how scores move with the slopes, by the weights that are free to."""
        penalty = self.objective.penalty
        if self.by_features:
            return self.features
        if penalty.is_smooth:
            return self.rows.factored_dots if self.by_factor else self.rows.dots
        face = penalty.face(weights, weights)
        is_free = (face.low < weights) & (weights < face.high)
        gram = self.rows.weighted_gram(np.where(is_free, 1 / penalty.curvature(weights), 0.0))
        return DotProducts(less_means(gram), self.by_factor)

    def _pull(self, balance: Vector) -> Vector:
        return self.objective.X.t_dot(balance - balance.mean(), self.objective.n_threads)

    def evaluate(self, slopes: Vector, weights: Vector | None) -> LinearEvaluation:
        """Evaluate the objective at weights of their own, or those of the slopes."""
        if weights is not None and not self.by_features:
            weights = self.objective.penalty.maximizer(self._pull(weights))
        slopes = self.within(slopes)
        quadratic = 0.25 * float((slopes**2 / self.weight).sum()) if self.is_squared else 0.0
        balance = self.pairs.balance(slopes)
        offset = float((self.margin * slopes).sum()) - quadratic
        rounding = self.pairs.rounding_of_balance(slopes)
        return at_slopes(self.objective, balance, offset, rounding, weights, quadratic=quadratic)


def _direction(problem: _Problem, point: Point, current: LinearEvaluation) -> Direction | None:
    """Solve for the step: first to zero, which tells how far to aim, and what bends the way.

    Where that is not far, a modest aim would leave steps that are hardly longer: by features, it is
    a tenth at most. Then, by the same factor, as long as that makes room: products that would be
    left far too small, or far too large, a little further on are brought nearer to the others
    (Gondzio 1996).
    """
    mean = point.complementarity
    system = _System.of(problem, point, current) if mean > 0 else None
    if system is None:
        return None
    products = point.products
    towards = system.solve([-product for product in products])
    if problem.is_single and not system.is_solved_by(towards):
        return None
    reached = point.moved(towards, min(point.room_along(towards), 1.0)).complementarity
    most = FALL if problem.by_features else 1.0
    aim = mean * min((reached / mean) ** 3, most)
    changes = [
        aim - product - bound.sign * towards.slopes * move
        for product, bound, move in zip(products, point.bounds, towards.multipliers, strict=True)
    ]
    direction = system.solve(changes)
    for _ in range(CORRECTIONS if problem.is_hard_to_factorise else 0):
        room = point.room_along(direction)
        if room >= 1.0:
            break
        further = point.moved(direction, min(max(2 * room, room + 0.1), 1.0))
        changes = [
            change + _lacking(product, aim)
            for change, product in zip(changes, further.products, strict=True)
        ]
        corrected = system.solve(changes)
        if not point.room_along(corrected) > MORE * room:
            break
        direction = corrected
    return direction


def _lacking(product: Vector, aim: float) -> Vector:
    """Return what products are off a range around an aim; but no more than its end above."""
    off = np.clip(product, aim / NEAR, NEAR * aim) - product
    return np.maximum(off, -NEAR * aim)


@record
class _System:
    """The equations of a step, reduced to the scores or to coordinates, and factorised."""

    pairs: ExplicitPairs
    point: Point
    residual: Vector
    weights: Vector
    space: DotProducts | FeatureSpace
    behind: Vector | float
    factor: ScaledCholesky

    @classmethod
    def of(cls, problem: _Problem, point: Point, current: LinearEvaluation) -> _System | None:
        """Factorise; None where numbers are beyond floating point."""
        space, pairs = problem.space(current.weights), problem.pairs
        if not space.is_finite:
            return None
        with np.errstate(divide="ignore", over="ignore"):
            weights = 1 / np.maximum(point.stiffness, 10 * space.hair)
        if isinstance(space, DotProducts) and space.spanning is None:
            matrix = pairs.laplacian(weights)
            matrix += space.inverse
        else:
            if isinstance(space, FeatureSpace):
                matrix = space.equations(weights, problem.dtype)
            else:
                laplacian = pairs.sparse_laplacian(weights)
                matrix = space.in_coordinates(laplacian, problem.rows.n_threads)
            diagonal = np.diag_indices_from(matrix)
            matrix[diagonal] = (1 + matrix[diagonal]) * (1 + RIDGE)
        factor = ScaledCholesky.of(matrix)
        if factor is None:
            return None
        residual = point.residual(problem.lacking(current.scores))
        return cls(pairs, point, residual, weights, space, problem.behind(point, current), factor)

    def solve(self, changes: list[Vector]) -> Direction:
        """Return the step that changes the products by these numbers, to first order."""
        point, space = self.point, self.space
        right = self.residual
        for bound, change in zip(point.bounds, changes, strict=True):
            right = right + bound.sign * change / bound.room
        balance = self.pairs.balance(self.weights * right)
        by_features = isinstance(space, FeatureSpace)
        if by_features:
            solved = self.factor.solve(space.coordinates(balance) + self.behind)
        else:
            solved = self.factor.solve(space.coordinates(balance + self.behind))
        along = self.weights * (right - self.pairs.differences(space.scores(solved)))
        multipliers = [
            (change - bound.sign * bound.multiplier * along) / bound.room
            for bound, change in zip(point.bounds, changes, strict=True)
        ]
        if point.weights is None:
            return Direction(along, multipliers, None)
        own = solved if by_features else self.behind + self.pairs.balance(along)
        return Direction(along, multipliers, own)

    def is_solved_by(self, step: Direction) -> bool:
        """Say whether a step of weights of their own leaves but a part, by its energy."""
        assert step.weights is not None
        balance = self.pairs.balance(step.slopes)
        left = self.space.coordinates(balance) + self.behind - step.weights
        ahead = self.pairs.differences(self.space.scores(step.weights))
        energy = step.weights @ step.weights + self.weights @ ahead**2
        return bool(left @ self.factor.solve(left) <= SOLVED**2 * energy)
