"""Which rows are better than which: labels, queries and weights, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .queries import QueryGroups

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        the worse one. A row may have a role of weight 0: with 0 as `worse_weight`, it is preferred
        to others, but no row to it, as with a survival time that is censored.
    """

    y: Vector
    groups: QueryGroups
    sample_weight: Vector | None = None
    query_weight: Vector | None = None
    pair_weight: str | None = None
    better_weight: Vector | None = None
    worse_weight: Vector | None = None

    @classmethod
    def from_labels(cls, y: ArrayLike, qid: ArrayLike | None = None) -> Preferences:
        """Return those of labels and query ids of shape (n_samples,), without weights.

        Raises
        ------
        ValueError
            As `ranksvm.pairs.queries.QueryGroups.from_qid`.
        """
        labels = np.ascontiguousarray(y, dtype=np.float64)
        return cls(labels, QueryGroups.from_qid(qid, len(labels)))

    @property
    def is_weighted(self) -> bool:
        """Whether pairs weigh anything but 1."""
        weights = (self.sample_weight, self.query_weight, self.pair_weight)
        return self.has_roles or any(weight is not None for weight in weights)

    @property
    def has_roles(self) -> bool:
        """Whether it matters to the weight of a row if it is the better or the worse one."""
        return self.better_weight is not None or self.worse_weight is not None

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
