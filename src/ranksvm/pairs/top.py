"""Preference pairs weighed by what an exchange of their rows changes at the top of a ranking.

The discounted cumulative gain of a query is the sum of ``G_i D(r_i)``, with gains ``G = 2^y - 1``
and the discounts ``D(r) = 1 / log2(1 + r)`` of the ranks 1, 2, ... `top`, 0 beyond; nDCG is its
share of the largest possible. An exchange of two rows changes that by (:eq:`top-weights`) ::

    v_ij = (G_i - G_j) |D(r_i) - D(r_j)| / maxDCG_q.

The ranks are those of given scores, so that for these weights the loss is as convex as any other
over pairs. A pair weighs nothing unless one of its rows is among the first `top` of its query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records import record
from .preferences import Preferences
from .queries import QueryGroups

Vector = NDArray[np.float64]

GREATEST = {"exponential": 1000.0, "linear": 1e300}


@dataclass(frozen=True)
class Gains:
    """What a label is worth at the top, and how far down that reaches.

    Attributes
    ----------
    kind : {"exponential", "linear"}, default="exponential"
        The gain of a label y: ``2^y - 1``, or y.
    top : int, default=30
        How many ranks count.
    """

    kind: str = "exponential"
    top: int = 30

    def of(self, y: Vector) -> Vector:
        """Return the gains of labels.

        Raises
        ------
        ValueError
            If a label is negative, or too large.
        """
        if not len(y):
            return y
        if y.min() < 0:
            row = int(np.argmin(y))
            raise InputError(
                f"gains need labels of at least 0, but row {row} has {y[row]:g}; shift the labels, "
                "or leave out pair_weight"
            )
        greatest = GREATEST[self.kind]
        if y.max() > greatest:
            row = int(np.argmax(y))
            raise InputError(
                f"gains={self.kind!r} takes labels up to {greatest:g}, but row {row} has "
                f"{y[row]:g}; number the grades of relevance from 0"
            )
        return y if self.kind == "linear" else np.exp2(y) - 1

    @property
    def discounts(self) -> Vector:
        """What the gain at each of the first ranks is multiplied by."""
        values: Vector = 1 / np.log2(2.0 + np.arange(self.top))
        return values

    def per_ideal(self, gains: Vector, groups: QueryGroups) -> Vector:
        """Return ``1 / maxDCG`` of each query, from the gains of rows; 0 where that is 0."""
        query = groups.numbers
        order = np.lexsort((-gains, query))
        rank = np.arange(len(order)) - groups.indptr[query[order]]
        counts = rank < self.top
        terms = gains[order[counts]] * self.discounts[rank[counts]]
        ideal = np.bincount(query[order[counts]], terms, groups.n_queries)
        return np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)

    def by_gap(self, labels: Preferences) -> Preferences:
        """Weigh pairs by ``(G_i - G_j) / maxDCG_q``, whatever the ranks."""
        gain = self.of(labels.y)
        factor = times(labels.query_weight, self.per_ideal(gain, labels.groups))
        return replace(labels, y=gain, query_weight=factor, pair_weight="gap")

    def by_rank(self, labels: Preferences, scores: Vector) -> TopPreferences:
        """Weigh pairs by the ranks that the rows have by scores of shape (n_samples,).

        Of equal scores the less relevant row comes first, since rows that are tied would weigh
        nothing.
        """
        gain, groups = self.of(labels.y), labels.groups
        rows = np.lexsort((labels.y, -scores, groups.numbers)).astype(np.uint32)
        factor = self.per_ideal(gain, groups)
        return TopPreferences(labels, rows, gain[rows], factor, self.discounts)


@record
class TopPreferences:
    """Pairs that are weighed by the ranks of their rows; what `Preferences` are to labels.

    Attributes
    ----------
    labels : Preferences
        The rows, with the weights of rows and queries.
    rows : ndarray of shape (n_samples,), uint32
        The rows, query by query and by rank.
    gain : ndarray of shape (n_samples,)
        Their gains, in this order.
    factor : ndarray of shape (n_queries,)
        What the pairs of a query are multiplied by, besides the weights of rows and queries.
    discount : ndarray of shape (top,)
        Of each rank.
    """

    labels: Preferences
    rows: NDArray[np.uint32]
    gain: Vector
    factor: Vector
    discount: Vector

    common_margin: ClassVar[float] = 1.0
    least_margin: ClassVar[float] = 1.0
    typical_margin: ClassVar[float] = 1.0
    is_weighted: ClassVar[bool] = True

    @property
    def groups(self) -> QueryGroups:
        """The queries."""
        return self.labels.groups

    @property
    def query_weight(self) -> Vector | None:
        """The weights of queries."""
        return self.labels.query_weight

    @property
    def query_factor(self) -> Vector:
        """What the pairs of a query are multiplied by, besides the weights of rows."""
        return times(self.query_weight, self.factor)

    @property
    def row_weight(self) -> Vector | None:
        """The weights of rows, in order."""
        weight = self.labels.sample_weight
        return None if weight is None else weight[self.rows]

    @property
    def n_rows(self) -> float:
        """The number of queries, each as often as it weighs: one counts as a row does else."""
        return float(times(self.query_weight, (self.factor > 0).astype(np.float64)).sum())

    @property
    def longest(self) -> int:
        """The number of rows of the longest query."""
        return int(np.diff(self.groups.indptr).max(initial=0))

    @property
    def n_looked_at(self) -> float:
        """How many pairs a sweep looks at."""
        sizes = np.diff(self.groups.indptr).astype(np.float64)
        return float(np.minimum(sizes, len(self.discount)) @ sizes)

    def weighed(self, pair_weight: str | None) -> TopPreferences:
        """Return these, which are weighed."""
        return self

    def with_query_weight(self, query_weight: Vector) -> TopPreferences:
        """Return these with other weights of queries."""
        return replace(self, labels=self.labels.with_query_weight(query_weight))


def times(weight: Vector | None, values: Vector) -> Vector:
    """Multiply by weights, which are 1 if there are none."""
    return values if weight is None else weight * values
