"""Which rows are better than which: labels, queries and weights, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..lazy import cached_property
from ..records import record
from .queries import QueryGroups
from .weights import per_query_weight, row_weights

Vector = NDArray[np.float64]

# Pairs, beyond which it matters whether there are as many as there may be; and times as many.
MANY_PAIRS, FAR_MORE = 1 << 22, 4.0
SOME_PAIRS, SEED = 1024, 20141  # of rows of the same query, that tell about how many differ


@record
class Preferences:
    """What the preference pairs ``P = {(i, j): qid_i = qid_j, y_i > y_j}`` are made of.

    The pair (i, j) of query q weighs (:eq:`loss`) ::

        v_ij = query_weight[q] * sample_weight[i] * sample_weight[j]
               * better_weight[i] * worse_weight[j]

    where weights that are not given are 1; with ``pair_weight="gap"``, this times the gap between
    the labels.

    Attributes
    ----------
    y : ndarray of shape (n_samples,), float64
        Relevance labels, larger is better. Only their order within a query matters, and the gaps
        between them if pairs weigh these.
    groups : QueryGroups
    sample_weight : ndarray of shape (n_samples,), float64, or None
    query_weight : ndarray of shape (n_queries,), float64, or None
    pair_weight : {"gap"} or None
        "gap" weighs each pair by ``y_i - y_j``, in the same sweep. Every pair has its gap to
        rounding, wherever the labels lie, and sums over labels and weights that are whole numbers
        are exact.
    better_weight, worse_weight : ndarray of shape (n_samples,), float64, or None
        What a row weighs in the pairs in which it is the better one, and in those in which it is
        the worse one. A row may have a role of weight 0: with 0 as `better_weight`, others are
        preferred to it, but it to no other, as with a survival time that is censored.
    """

    y: Vector
    groups: QueryGroups
    sample_weight: Vector | None = None
    query_weight: Vector | None = None
    pair_weight: str | None = None
    better_weight: Vector | None = None
    worse_weight: Vector | None = None

    # Of all pairs.
    common_margin: ClassVar[float] = 1.0
    typical_margin: ClassVar[float] = 1.0
    least_margin: ClassVar[float] = 1.0

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
    ) -> Preferences:
        """Return those of labels, query ids and weights as users give them.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), optional
            All rows form one query by default.
        sample_weight : array-like of shape (n_samples,), optional
        query_weight : array-like of shape (n_queries,) or (n_samples,), optional
            For queries in the order in which they first appear, or the same value for all rows of
            a query.

        Raises
        ------
        ValueError
            As `ranksvm.pairs.queries.QueryGroups.from_qid`, or if weights are malformed.
        """
        labels = np.ascontiguousarray(y, dtype=np.float64)
        groups = QueryGroups.from_qid(qid, len(labels))
        of_rows = row_weights("sample_weight", sample_weight, len(labels))
        return cls(labels, groups, of_rows, per_query_weight(query_weight, groups))

    @property
    def is_weighted(self) -> bool:
        """Whether pairs weigh anything but 1."""
        weights = (self.sample_weight, self.query_weight, self.pair_weight)
        return self.has_roles or any(weight is not None for weight in weights)

    @property
    def has_roles(self) -> bool:
        """Whether it matters to the weight of a row if it is the better or the worse one."""
        return self.better_weight is not None or self.worse_weight is not None

    @cached_property
    def most_pairs(self) -> float:
        """How many pairs there are at most: of rows of the same query, with their own half.

        Where these are many, but hardly any of them differ by their labels, only those that do.
        """
        most = self.groups.most_pairs
        if most <= MANY_PAIRS or self._share_that_differs() * most > FAR_MORE * MANY_PAIRS:
            return most
        pairs = _core.PreferencePairs(self.y, self.groups.indptr, self.groups.order, None, None)
        return float(pairs.pairs_per_query.sum())

    def _share_that_differs(self) -> float:
        """Return the share of pairs of rows of the same query whose labels differ, by a sample."""
        indptr, order = self.groups.indptr, self.groups.order
        first, second = np.random.PCG64(SEED).random_raw((2, SOME_PAIRS))
        first = (first % self.groups.n_samples).astype(np.int64)
        query = np.searchsorted(indptr, first, side="right") - 1
        size = (indptr[query + 1] - indptr[query]).astype(np.uint64)
        places = np.array([first, indptr[query] + (second % size).astype(np.int64)])
        one, other = self.y[places if order is None else order[places]]
        return float(np.mean(one != other))

    def without_equal_roles(self) -> Preferences:
        """Return the same, with roles that weigh alike as weights of rows; itself otherwise."""
        better, worse, own = self.better_weight, self.worse_weight, self.sample_weight
        if better is None or worse is None or not np.array_equal(better, worse):
            return self
        weight = better if own is None else own * better
        return replace(self, sample_weight=weight, better_weight=None, worse_weight=None)

    @property
    def n_rows(self) -> float:
        """Number of rows, each as often as it and its query weigh."""
        groups, weight = self.groups, self.sample_weight
        if self.query_weight is None:
            return groups.n_samples if weight is None else float(weight.sum())
        rows = groups.per_row(self.query_weight)
        return float(rows.sum() if weight is None else rows @ weight)

    def weighed(self, pair_weight: str | None) -> Preferences:
        """Return these with another `pair_weight`."""
        return replace(self, pair_weight=pair_weight)

    def with_query_weight(self, query_weight: Vector) -> Preferences:
        """Return these with other weights of queries."""
        return replace(self, query_weight=query_weight)

    def of_rows(self, rows: NDArray[np.integer]) -> Preferences:
        """Return those of some rows among each other, in this order."""
        groups, of_queries = self.groups.of_rows(rows), self.query_weight
        if of_queries is not None:
            of_queries = self.groups.per_row(of_queries)[rows][groups.first_rows]
        return replace(self.rows(rows, groups), query_weight=of_queries)

    def part(self, first: int, last: int) -> Preferences:
        """Return those of the queries from first to last, whose rows then come query by query."""
        of_queries = self.query_weight
        return replace(
            self.rows(self.groups.rows(first, last), self.groups.part(first, last)),
            query_weight=None if of_queries is None else of_queries[first:last],
        )

    def rows(self, rows: NDArray[np.integer] | slice, groups: QueryGroups) -> Preferences:
        """Return those of some rows, whose queries are given; the weights of queries stay."""

        def cut(weight: Vector | None) -> Vector | None:
            return None if weight is None else weight[rows]

        return replace(
            self,
            y=self.y[rows],
            groups=groups,
            sample_weight=cut(self.sample_weight),
            better_weight=cut(self.better_weight),
            worse_weight=cut(self.worse_weight),
        )
