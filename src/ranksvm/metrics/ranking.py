"""The documents of every query in order of falling scores, sorted once for all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from ..lazy import cached_property
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from .conventions import Conventions
from .pairs import LEAST_MARGIN, active_pairs

Vector = NDArray[np.float64]
Index = NDArray[np.int64]


class Ranking:
    """Documents sorted by query, then falling score; sums over queries and over ties.

    A place is a position in this order. Documents of equal scores form a block.

    Parameters
    ----------
    labels, scores : ndarray of shape (n_samples,), float64
    groups : QueryGroups
    conventions : Conventions
    sample_weight : ndarray of shape (n_samples,), optional
    docids : sequence of n_samples ids, optional
    n_threads : int

    Attributes
    ----------
    starts, sizes : ndarray of shape (n_queries,)
        The first place and the number of documents of each query.
    rank : ndarray of shape (n_samples,)
        The rank of each place in its query, from 1.
    order : ndarray of shape (n_samples,)
        The row at each place.
    labels : ndarray of shape (n_samples,)
        The label at each place.
    score_blocks : ndarray
        The first place of each block.
    block_starts, block_sizes : ndarray
        The first place and the length of each block that the conventions leave together.
    """

    def __init__(
        self,
        labels: Vector,
        scores: Vector,
        groups: QueryGroups,
        conventions: Conventions,
        *,
        sample_weight: Vector | None = None,
        docids: Sequence[Any] | NDArray[Any] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.row_labels, self.row_scores, self.conventions = labels, scores, conventions
        self.row_weight = sample_weight
        self.starts: Index = groups.indptr[:-1]
        self.sizes: Index = np.diff(groups.indptr)
        self.rank = np.arange(1, len(labels) + 1) - np.repeat(self.starts, self.sizes)
        preferences = Preferences(labels, groups, sample_weight)
        self._pairs = CorePairs(preferences, "merge", n_threads)  # which sorts every query
        self._swapped = self._pairs.sweep(scores, "hinge", margin=0.0)
        self.order = self._falling(self._swapped)
        self._find_blocks(scores[self.order])
        if self.tied and conventions.ties in ("order", "pessimistic", "docid"):
            self._break_ties(docids)
        self.labels: Vector = labels[self.order]

    def _falling(self, sweep: _core.Sweep) -> Index:
        """Return the rows by falling scores of a sweep, which has them by rising ones."""
        mirrored = np.repeat(2 * self.starts + self.sizes, self.sizes)
        mirrored -= np.arange(1, len(mirrored) + 1)
        rows: Index = sweep.rows()[mirrored]
        return rows

    def _find_blocks(self, scores: Vector) -> None:
        begins = np.empty(len(scores), dtype=bool)
        np.not_equal(scores[1:], scores[:-1], out=begins[1:])
        begins[self.starts] = True
        self.score_blocks = self.block_starts = np.flatnonzero(begins)
        self.block_sizes = np.diff(self.block_starts, append=len(scores))
        self.tied = len(self.block_starts) < len(scores)

    def _break_ties(self, docids: Sequence[Any] | NDArray[Any] | None) -> None:
        """Sort the documents of each block, and split it into blocks of one."""
        block = self.per_place(np.arange(len(self.block_starts)))
        places = np.flatnonzero(self.per_place(self.block_sizes) > 1)
        rows = self.order[places]
        if self.conventions.ties == "docid":
            if docids is None:
                raise InputError(
                    f"row {rows[0]} has the score of another document of its query, and ties go by "
                    "document id: give docids, or conventions with other ties"
                )
            ids = [str(docids[row]) for row in rows.tolist()]
            key: NDArray[Any] = -np.unique(ids, return_inverse=True)[1]
        elif self.conventions.ties == "pessimistic":
            key = self.row_labels[rows]
        else:
            key = rows
        self.order[places] = rows[np.lexsort((key, block[places]))]
        self.block_starts = np.arange(len(self.order))
        self.block_sizes = np.ones(len(self.order), dtype=np.int64)

    # Sums and spreads

    def total(self, values: NDArray[Any], k: int | None = None) -> Vector:
        """Sum values by place over the first k ranks of each query."""
        if k is None or k >= self.sizes.max():
            sums: Vector = np.add.reduceat(values, self.starts, dtype=np.float64)
            return sums
        kept = np.minimum(self.sizes, k)
        starts = np.cumsum(kept) - kept
        places = np.arange(kept.sum()) + np.repeat(self.starts - starts, kept)
        top: Vector = np.add.reduceat(values[places], starts, dtype=np.float64)
        return top

    def running_total(self, values: Vector) -> Vector:
        """Sum values by place from the first rank of the query up to each place."""
        # Each query takes back the sum of the one before. What rounding leaves of that is small,
        # and is known where the query begins.
        steps = values.copy()
        steps[self.starts[1:]] -= self.total(values)[:-1]
        running = np.cumsum(steps)
        running -= np.repeat(running[self.starts] - values[self.starts], self.sizes)
        return running

    def block_total(self, values: NDArray[Any]) -> Vector:
        """Sum values by place over each block."""
        sums: Vector = np.add.reduceat(values, self.block_starts, dtype=np.float64)
        return sums

    def per_place(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every place the value of its block."""
        return np.repeat(values, self.block_sizes)

    def averaged(self, values: Vector) -> Vector:
        """Give every place the mean of its block."""
        if not self.has_blocks:
            return values
        return self.per_place(self.block_total(values) / self.block_sizes)

    @property
    def has_blocks(self) -> bool:
        """Whether there are ties that nothing breaks."""
        return len(self.block_starts) < len(self.order)

    # Pairs

    @cached_property
    def weight(self) -> Vector:
        """The row weight at each place."""
        if self.row_weight is None:
            return np.ones(len(self.order))
        return self.row_weight[self.order]

    @property
    def pairs(self) -> Vector:
        """Weight of the preference pairs of each query."""
        return self._pairs.pairs_per_query

    @cached_property
    def swapped_pairs(self) -> Vector:
        """Weight of the pairs of each query with ``s_i < s_j``, though ``y_i > y_j``."""
        return active_pairs(self._pairs, self._swapped)

    @cached_property
    def tied_pairs(self) -> Vector:
        """Weight of the pairs of each query with ``s_i = s_j``, though ``y_i > y_j``."""
        if not self.tied:
            return np.zeros(len(self.starts))
        sweep = self._pairs.sweep(self.row_scores, "hinge", margin=LEAST_MARGIN)
        return active_pairs(self._pairs, sweep) - self.swapped_pairs

    # Relevance

    @cached_property
    def relevant(self) -> Vector:
        """At each place 1 if the document is relevant, else 0."""
        return (self.labels >= self.conventions.threshold).astype(np.float64)

    @cached_property
    def n_relevant(self) -> Vector:
        """Number of relevant documents of each query."""
        return self.total(self.relevant)

    @cached_property
    def hits(self) -> Vector:
        """Number of relevant documents of the query up to each place."""
        return self.running_total(self.relevant)

    @cached_property
    def relevant_pairs(self) -> tuple[Vector, Vector]:
        """Weight of the pairs of a relevant and an irrelevant document in order, and of all.

        By query; tied pairs count half.
        """
        relevant = self.weight * self.relevant
        irrelevant = self.weight - relevant
        above = (self.running_total(relevant) - relevant)[self.score_blocks]
        above += np.add.reduceat(relevant, self.score_blocks) / 2
        in_order = irrelevant * np.repeat(above, np.diff(self.score_blocks, append=len(relevant)))
        return self.total(in_order), self.total(relevant) * self.total(irrelevant)

    @cached_property
    def gains(self) -> Vector:
        """The gain at each place."""
        self.require_gains("nDCG")
        return self._gain(self.labels)

    @cached_property
    def ideal_gains(self) -> Vector:
        """The gain at each place, were the documents sorted by label."""
        self.require_gains("nDCG")
        by_label = self._falling(self._pairs.sweep(self.row_labels, "hinge", margin=0.0))
        return self._gain(self.row_labels[by_label])

    def _gain(self, labels: Vector) -> Vector:
        return labels if self.conventions.gain == "linear" else np.exp2(labels) - 1

    def require_gains(self, metric: str, greatest: float | None = None) -> None:
        """Refuse labels below 0, and above the greatest that the metric can deal with."""
        labels = self.row_labels
        if labels.min() < 0:
            row = int(np.argmin(labels))
            raise InputError(
                f"{metric} needs labels of at least 0, but row {row} has {labels[row]:g}; "
                "shift the labels, or use a metric of pairs, such as pairwise_accuracy; labels "
                "come first, evaluate(y, scores)"
            )
        if greatest is None:
            greatest = np.inf if self.conventions.gain == "linear" else 1000.0
        if labels.max() > greatest:
            row = int(np.argmax(labels))
            raise InputError(
                f"{metric} with these conventions takes labels up to {greatest:g}, but row {row} "
                f"has {labels[row]:g}; see gain and max_label of Conventions"
            )

    @cached_property
    def discounts(self) -> Vector:
        """What the gain at each place is multiplied by."""
        ranks = np.arange(1.0, self.sizes.max() + 1)
        if self.conventions.discount == "letor":
            divisor = np.maximum(1.0, np.log2(ranks))
        else:
            divisor = np.log2(1 + ranks)
        return (1 / divisor)[self.rank - 1]
