"""The dual of listed pairs that interior points solve: where they begin, and what is true of one.

See `ranksvm.linear.interior_point`, whose steps these are for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import cached_property
from ..pairs.core_pairs import CorePairs
from ..pairs.explicit import ExplicitPairs, ListedSquaredHinge
from ..pairs.losses import Hinge, SquaredHinge
from ..pairs.queries import QueryGroups
from ..pairs.rounding import relative_rounding
from ..records import record
from .dot_products import DotProducts
from .feature_space import FeatureSpace
from .objective import LinearEvaluation, LinearObjective
from .row_space import RowSpace, have_little_in_common, less_means
from .shared_columns import shared_columns
from .shared_features import SharedFeatures
from .slopes import at_slopes, with_weights

Vector = NDArray[np.float64]
Space: TypeAlias = "DotProducts | FeatureSpace | SharedFeatures"

FALL, FALL_OF_HINGE = 0.1, 0.01  # of the mean product: what a step aims for at most
MUCH = 4000  # of the equations, in operations for each pair
# Of its bound, a slope at the start, and times what pairs lack, the multipliers, where weights are
# on their way. Most slopes end at zero; from less, those that do not take as many steps again.
AMID, APART = 0.2, 10.0
# Of the margin, by how much what pairs lack differs; and how many of these a row has, at least.
UNEVEN, PAIRS_OF_A_ROW = 0.6, 1.8


@record
class Point:
    """Slopes amid their bounds, and the multipliers of these.

    Attributes
    ----------
    pairs : ranksvm._core.ListedPairs
        Which hold both; a step moves them in place.
    products : float
        The sum of the products of slopes, or the room above them, and multipliers.
    own : ndarray, optional
        Weights of their own, or the multiples of rows that make them, on the way to those of the
        slopes.
    behind : ndarray or float
        By how much they are behind these.
    current : LinearEvaluation
        Of the objective at weights of their own, or those of the slopes.
    """

    pairs: _core.ListedPairs
    products: float
    own: Vector | None
    behind: Vector | float
    current: LinearEvaluation


@record
class Step:
    """A step: how scores move to where products are zero, and to where they are a number.

    Attributes
    ----------
    towards, move : ndarray of shape (n_samples,)
    product : float
    own : ndarray, optional
        How weights of their own move.
    room : float
        The part of the step that leads to the first bound.
    """

    towards: Vector
    move: Vector
    product: float
    own: Vector | None
    room: float

    @property
    def aim(self) -> tuple[Vector, Vector, float]:
        """What tells it of each pair."""
        return self.towards, self.move, self.product


class _Start(NamedTuple):
    lacking: Vector
    own: Vector | None
    behind: Vector | float
    current: LinearEvaluation


@record
class InteriorProblem:
    """The dual of an objective.

    What pairs weigh, times c, bounds the slopes of the hinge, and tells the curvature of the
    squared one. The equations of features are in single precision as long as that serves.
    """

    objective: LinearObjective
    pairs: ExplicitPairs
    weight: Vector
    rows: RowSpace
    dtype: type[np.floating] = np.float32

    @classmethod
    def of(cls, objective: LinearObjective) -> InteriorProblem:
        """List the pairs of an objective of either hinge loss that knows its row space."""
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
        is_few = RowSpace.is_of_features(self.rows.X) or self._shared is not None
        return is_few and self.objective.penalty.is_smooth

    @property
    def may_own_weights(self) -> bool:
        """Whether weights, or the multiples of rows that make them, may be their own variables."""
        return self.objective.penalty.is_smooth

    @property
    def owns_weights(self) -> bool:
        """Whether they always are; for the squared hinge in few rows it depends on the start."""
        return self.by_features or (self.may_own_weights and not self.is_squared)

    @cached_property
    def most_aimed_for(self) -> float:
        """Of the mean product, what a step aims for at most."""
        if self.is_squared:
            return FALL if self.by_features else 1.0
        X, n_threads = self.rows.X, self.rows.n_threads
        is_hard = self.by_features or not have_little_in_common(X, n_threads)
        return FALL_OF_HINGE if self.owns_weights and is_hard else 1.0

    @cached_property
    def _shared(self) -> NDArray[np.int64] | None:
        """The features that rows share, where others are left out."""
        pairs = self.objective.loss.pairs
        if not isinstance(pairs, CorePairs):
            return None
        return shared_columns(self.rows.X, pairs.preferences, self.rows.n_threads)

    @cached_property
    def features(self) -> FeatureSpace | SharedFeatures:
        """The space of the features, where these have equations of their own."""
        pairs = self.objective.loss.pairs
        groups = pairs.groups
        if not isinstance(pairs, CorePairs):  # which may lead anywhere
            groups = QueryGroups(np.array([0, groups.n_samples]))
        if self._shared is not None:
            return SharedFeatures.of(self.rows, self.pairs, groups, self._shared)
        return FeatureSpace(self.rows, self.pairs, groups)

    @property
    def is_single(self) -> bool:
        """Whether equations are in single precision, which those of features may be."""
        return self.dtype is np.float32 and self.by_features

    def more_exact(self) -> InteriorProblem | None:
        """Return the problem with equations that leave less to rounding; None if there are none."""
        return replace(self, dtype=np.float64) if self.is_single else None

    @property
    def is_hard_to_factorise(self) -> bool:
        """Whether the equations of a step cost far more than what is done with the pairs."""
        n, d = self.objective.X.shape
        return n * min(n, d) ** 2 > MUCH * len(self.pairs.better)

    def start(self) -> Point:
        """Return slopes amid their bounds, and multipliers that differ as the slopes have to.

        The slopes are a part of what pairs weigh. Where weights are those of the slopes, they are a
        multiple of that: for the squared hinge the best one, and for the hinge halfway from there
        to a half, as logarithms go, but a half at most: the best leaves some slopes far too small,
        to grow by many steps.

        So it does for the squared hinge where it suits pairs unevenly, as with features of many
        scales, unless these are hardly more than rows: then weights are variables of their own, of
        zero, and slopes a fifth of what pairs weigh, as they are wherever weights are their own.
        """
        if self.owns_weights:
            return self.amid()
        slopes = self._best_multiple() * self.weight
        start = self._evaluate_start(slopes, None)
        return self.amid() if self._is_uneven(start.lacking) else self._inside(slopes, start)

    def amid(self) -> Point:
        """Return a start with weights of their own, of zero."""
        n, d = self.objective.X.shape
        slopes, own = AMID * self.weight, np.zeros(d if self.by_features else n)
        return self._inside(slopes, self._evaluate_start(slopes, own))

    def _is_uneven(self, lacking: Vector) -> bool:
        """Say whether the best multiple of what pairs of the squared hinge weigh serves few."""
        if not (self.is_squared and self.may_own_weights):
            return False
        are_many = len(lacking) >= PAIRS_OF_A_ROW * self.pairs.n_samples
        spread = np.abs(lacking - lacking.mean()).mean()
        return are_many and bool(spread > UNEVEN * np.mean(self.margin))

    def _evaluate_start(self, slopes: Vector, own: Vector | None) -> _Start:
        """Evaluate slopes, with weights of their own or theirs."""
        quadratic = 0.25 * float((slopes**2 / self.weight).sum()) if self.is_squared else 0.0
        offset = float((self.margin * slopes).sum()) - quadratic
        balance, degree = self.pairs.balance(slopes), self.pairs.degree(slopes)
        current, behind = self._evaluate(balance, degree, offset, quadratic, own)
        lacking = self.margin - self.pairs.differences(current.scores)
        return _Start(lacking, own, behind, current)

    def _inside(self, slopes: Vector, start: _Start) -> Point:
        """Return a start with multipliers."""
        lacking, own, behind, current = start
        typical = 2 * float(np.abs(lacking).mean())
        if self.is_squared:
            kept = 0.5 / self.weight * slopes - lacking  # by what the margin is kept
            low, high = 0.5 * (np.hypot(kept, typical) + kept), None
            products = float(slopes @ low)
        else:
            typical *= APART if own is not None else 1.0
            # Of both roots, the smaller has the product of the two to thank for its digits.
            large = 0.5 * (np.hypot(lacking, typical) + np.abs(lacking))
            small = 0.25 * typical**2 / large
            low = np.where(lacking > 0, small, large)
            high = np.where(lacking > 0, large, small)
            products = float(slopes @ low + (self.weight - slopes) @ high)
        better, worse, n = self.pairs.better, self.pairs.worse, self.pairs.n_samples
        margin = np.atleast_1d(np.asarray(self.margin, dtype=np.float64))
        pairs = _core.ListedPairs(better, worse, n, margin, self.weight, slopes, low, high)
        return Point(pairs, products, own, behind, current)

    def _best_multiple(self) -> float:
        """Return the multiple of what pairs weigh, for the squared hinge the best, to begin at."""
        u = self._pull(self.pairs.balance(self.weight))
        square = float(u @ self.objective.penalty.maximizer(u))
        total = float((self.margin * self.weight).sum())
        if self.is_squared:
            return total / (square + 0.5 * float(self.weight.sum()))
        return min(float(np.sqrt(total / square if square > 0 else 1.0)), 0.5)

    def moved(self, point: Point, step: Step, part: float) -> Point:
        """Return the point a part of a step on, whose pairs are the same, moved."""
        point.pairs.move(*step.aim, part)
        balance, degree, offset, quadratic, products = point.pairs.sums()
        own = point.own
        if own is not None and step.own is not None:
            own = own + part * step.own
        current, behind = self._evaluate(balance, degree, offset - quadratic, quadratic, own)
        return Point(point.pairs, products, own, behind, current)

    def _evaluate(
        self, balance: Vector, degree: Vector, offset: float, quadratic: float, own: Vector | None
    ) -> tuple[LinearEvaluation, Vector | float]:
        """Evaluate the objective at weights of their own, or those of the slopes.

        The other is by how much weights of their own are behind.
        """
        weights = own
        if own is not None and not self.by_features:
            weights = self.objective.penalty.maximizer(self._pull(own))
        rounding = relative_rounding(len(degree)) * float(np.linalg.norm(degree))
        current = at_slopes(self.objective, balance, offset, rounding, weights, quadratic=quadratic)
        if own is None:
            return current, 0.0
        return current, -current.gradient if self.by_features else balance - own

    def longer(self, point: Point) -> LinearEvaluation | None:
        """Return weights so much longer that all pairs keep the margin of the hinge, if better.

        Where features are large and hardly regularised, scores are known to a hair's breadth, and
        the loss of so little may be far more than the gap.
        """
        current = point.current
        if self.is_squared:
            return None
        least = float((self.pairs.differences(current.scores) / self.margin).min())
        if not 0 < least < 1:
            return None
        weights = current.weights / least
        if not self.objective.penalty.value(weights) < current.value:
            return None
        return with_weights(current, weights, current.scores / least)

    def space(self, weights: Vector) -> Space:
        """Return how scores move with the slopes, by the weights that are free to."""
        penalty = self.objective.penalty
        if self.by_features:
            return self.features
        if penalty.is_smooth:
            return self.rows.dots
        face = penalty.face(weights, weights)
        is_free = (face.low < weights) & (weights < face.high)
        gram = self.rows.weighted_gram(np.where(is_free, 1 / penalty.curvature(weights), 0.0))
        return DotProducts(less_means(gram))

    def _pull(self, balance: Vector) -> Vector:
        return self.objective.X.t_dot(balance - balance.mean(), self.objective.n_threads)
