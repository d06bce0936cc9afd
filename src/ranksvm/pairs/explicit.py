"""Preference pairs one by one, where they are few enough to be listed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lazy import cached_property
from ..records import record
from .core_pairs import CorePairs
from .given import AnyPreferences, GivenPreferences
from .given_pairs import GivenPairs
from .loss_evaluation import SmoothEvaluation
from .losses import SquaredHinge
from .queries import QueryGroups
from .rounding import EPSILON, ROUNDING, relative_rounding
from .sweeps import Pairs
from .top import TopPreferences
from .top_list import listed
from .top_pairs import TopPairs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_PAIRS = 1 << 22
BLOCK = 1 << 20  # comparisons at once

Vector = NDArray[np.float64]


@record
class ExplicitPairs:
    """The list of all pairs that weigh anything, and the matrix D of their differences.

    Attributes
    ----------
    better, worse : ndarray of shape (n_pairs,), int64
        The rows of each pair.
    weight : ndarray of shape (n_pairs,)
    n_samples : int
    margin : ndarray of shape (n_pairs,), or 0
        What is added to the margin of the loss.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: Vector
    n_samples: int
    margin: Vector | float = 0.0

    @classmethod
    def of(cls, preferences: AnyPreferences) -> ExplicitPairs:
        """List the pairs: of labels, query by query."""
        if isinstance(preferences, GivenPreferences):
            return cls._of_given(preferences)
        if isinstance(preferences, TopPreferences):
            return cls._of_given(listed(preferences))
        groups, y = preferences.groups, preferences.y
        i, j = _within(groups, y)
        weight = np.ones(len(i)) if preferences.pair_weight is None else y[i] - y[j]
        if preferences.query_weight is not None:
            weight *= groups.per_row(preferences.query_weight)[i]
        if preferences.sample_weight is not None:
            weight *= preferences.sample_weight[i] * preferences.sample_weight[j]
        if preferences.better_weight is not None:
            weight *= preferences.better_weight[i]
        if preferences.worse_weight is not None:
            weight *= preferences.worse_weight[j]
        some = weight > 0
        return cls(i[some], j[some], weight[some], groups.n_samples)

    @classmethod
    def _of_given(cls, given: GivenPreferences) -> ExplicitPairs:
        i, j = given.winner.astype(np.int64), given.loser.astype(np.int64)
        weight = np.ones(len(i)) if given.weight is None else given.weight
        some = weight > 0
        margin = 0.0 if given.margin is None else given.margin[some]
        return cls(i[some], j[some], weight[some], given.n_rows, margin)

    def moved(self, places: NDArray[np.int64]) -> ExplicitPairs:
        """Return the same pairs of places, where each row has one."""
        return replace(self, better=places[self.better], worse=places[self.worse])

    def differences(self, scores: Vector) -> Vector:
        """Return ``D s``: for each pair, by how much the better row is ahead."""
        ahead: Vector = scores[self.better] - scores[self.worse]
        return ahead

    def rounding_of_balance(self, slopes: Vector) -> float:
        """Bound the length of what the sums of the balance lose."""
        length = float(np.linalg.norm(self.degree(slopes)))
        return relative_rounding(self.n_samples) * length

    def balance(self, slopes: Vector) -> Vector:
        """Return ``D'b``: for each row, the sum over its pairs, those lost taken off."""
        return self._sum(self.better, slopes) - self._sum(self.worse, slopes)

    def degree(self, slopes: Vector) -> Vector:
        """Return for each row the sum over its pairs."""
        return self._sum(self.better, slopes) + self._sum(self.worse, slopes)

    def sparse_laplacian(self, slopes: Vector) -> csr_matrix:
        """Return ``D' diag(b) D``, of shape (n_samples, n_samples)."""
        from scipy.sparse import csr_matrix

        order, columns, indptr = self._csr
        values = np.concatenate([-slopes, -slopes, self.degree(slopes)])[order]
        return csr_matrix((values, columns, indptr), (self.n_samples, self.n_samples))

    @cached_property
    def _csr(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where the values of either half and of the diagonal stand."""
        each = np.arange(self.n_samples)
        rows = np.concatenate([self.better, self.worse, each])
        columns = np.concatenate([self.worse, self.better, each])
        order = np.argsort(rows, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows))])
        return order, columns[order], indptr

    def _sum(self, rows: NDArray[np.int64], values: Vector) -> Vector:
        return np.bincount(rows, values, self.n_samples).astype(np.float64, copy=False)


def _within(groups: QueryGroups, y: Vector) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the better and the worse row of each pair, query by query.

    Queries of the same length are compared at once, as many as make a block; of a longer one, each
    row is paired with those before its label, by label.
    """
    order = np.arange(groups.n_samples) if groups.order is None else groups.order.astype(np.int64)
    lengths, firsts = np.diff(groups.indptr), groups.indptr[:-1]
    better, worse = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for length in np.unique(lengths[lengths > 1]):
        alike, at_once = firsts[lengths == length], max(BLOCK // int(length) ** 2, 1)
        for begin in range(0, len(alike), at_once):
            block = alike[begin : begin + at_once, np.newaxis]
            rows = order[block + np.arange(length)]
            above, below = _compared(y, rows) if length**2 <= BLOCK else _by_label(y, rows[0])
            better.append(above)
            worse.append(below)
    i, j = np.concatenate(better), np.concatenate(worse)
    by_query = np.argsort(np.argsort(order)[i], kind="stable")
    return i[by_query], j[by_query]


def _compared(y: Vector, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    labels = y[rows]
    query, above, below = np.nonzero(labels[:, :, np.newaxis] > labels[:, np.newaxis])
    return rows[query, above], rows[query, below]


def _by_label(y: Vector, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    labels = y[rows]
    ascending = np.argsort(labels, kind="stable")
    n_below = np.searchsorted(labels[ascending], labels)
    first = np.repeat(np.cumsum(n_below) - n_below, n_below)
    places = np.arange(len(first)) - first
    return np.repeat(rows, n_below), rows[ascending[places]]


def may_be_listed(pairs: Pairs) -> bool:
    """Say whether pairs are on the host, and few enough for a list."""
    if isinstance(pairs, GivenPairs):
        return len(pairs.preferences.winner) <= MOST_PAIRS
    if isinstance(pairs, TopPairs):
        return pairs.preferences.n_looked_at <= MOST_PAIRS
    if not isinstance(pairs, CorePairs):
        return False
    return pairs.preferences.most_pairs <= MOST_PAIRS


@record(kw_only=True)
class ListedSquaredHinge(SquaredHinge):
    """The squared hinge loss, pair by pair.

    Where all pairs almost keep the margin, the loss is far smaller than the sums of scores that it
    is the difference of. The squares of what pairs lack, one by one, lose nothing. Over given
    pairs, that is how the loss is computed anyway.

    Parameters
    ----------
    listed : ExplicitPairs
    """

    listed: ExplicitPairs
    is_of_queries: ClassVar[bool] = False

    @classmethod
    def of(cls, loss: SquaredHinge) -> ListedSquaredHinge:
        """List the pairs of a loss over those of labels."""
        assert isinstance(loss.pairs, CorePairs)
        return cls(loss.pairs, loss.margin, listed=ExplicitPairs.of(loss.pairs.preferences))

    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""
        s, listed = np.asarray(scores, dtype=np.float64), self.listed
        lacking = np.maximum(self.margin - listed.differences(s), 0.0)
        slopes = listed.weight * lacking
        value, total = float((slopes * lacking).sum()), float(slopes.sum())
        # What a pair lacks is known to within the rounding of the difference of its scores.
        coarse = 2 * EPSILON * (self.margin + 2 * float(np.abs(s).max(initial=0.0)))
        of_pairs = coarse * (2 * total + coarse * float(listed.weight.sum()))
        gradient = -2 * listed.balance(slopes)
        return SmoothEvaluation(
            value=value,
            gradient=gradient,
            offset=2 * self.margin * total - value,
            rounding=ROUNDING * (2 * self.margin * total + value) + of_pairs,
            gradient_norm=float(np.linalg.norm(gradient)),
            gradient_rounding=2 * listed.rounding_of_balance(slopes),
            quadratic=value,
            largest_multiple=np.inf,
            pairs=self.pairs,
            make_sweep=self.sweep_maker(s),
            curvature=2.0,
        )
