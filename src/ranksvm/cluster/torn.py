"""Queries whose rows lie in several partitions: found by their sizes, and brought together.

A query that has more rows than partitions have on average, and not just a few, is shared: its rows
stay where they are, and their scores meet in one place. All other torn queries move, each to the
partition that holds most of its rows; of several, they are taken in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.queries import QueryGroups
from .rows import Survey

Indices = NDArray[np.int64]

LEAST_SHARED = 1 << 12  # rows


class Plan(NamedTuple):
    """Where rows go, by query as surveys list them.

    Attributes
    ----------
    destinations : list of ndarray
        Of each partition and each of its queries, the partition where it goes to.
    shared : list of ndarray of bool
        Likewise: whether it stays in several.
    sizes : ndarray of shape (n_queries,)
        The rows of each query in all.
    n_moved : int
        Rows that leave their partition.
    """

    destinations: list[Indices]
    shared: list[NDArray[np.bool_]]
    sizes: Indices
    n_moved: int

    @property
    def has_shared(self) -> bool:
        """Whether some query stays in several partitions."""
        return any(of_partition.any() for of_partition in self.shared)

    def sources_of(self, partition: int) -> list[int]:
        """Return the partitions from which rows come to one, itself always among them."""
        return [
            k for k, to in enumerate(self.destinations) if k == partition or (to == partition).any()
        ]

    def is_left(self, partition: int) -> bool:
        """Whether rows of a partition go elsewhere."""
        return bool((self.destinations[partition] != partition).any())


def plan_of(surveys: Sequence[Survey], may_share: bool = True) -> Plan:
    """Decide where rows go; all to one place, if large queries may not be shared."""
    n_partitions = len(surveys)
    owner = np.repeat(np.arange(n_partitions), [len(survey.ids) for survey in surveys])
    sizes = np.concatenate([survey.sizes for survey in surveys])
    number = QueryGroups.from_qid(_joined([survey.ids for survey in surveys]), len(owner)).numbers
    total = np.bincount(number, sizes).astype(np.int64)
    is_torn = np.bincount(number) > 1
    is_large = (total * n_partitions > sizes.sum()) & (total >= LEAST_SHARED)
    is_shared = is_torn & is_large & may_share
    home = _homes(number, owner, sizes, n_partitions)
    stays = is_shared[number] | ~is_torn[number]
    destination = np.where(stays, owner, home[number])
    n_moved = int(sizes[destination != owner].sum())
    cuts = np.cumsum([len(survey.ids) for survey in surveys])[:-1]
    return Plan(np.split(destination, cuts), np.split(is_shared[number], cuts), total, n_moved)


def _homes(number: Indices, owner: Indices, sizes: Indices, n_partitions: int) -> Indices:
    """Return the partition that holds most rows of each query."""
    turn = (owner - number) % n_partitions
    order = np.lexsort((turn, -sizes, number))
    _, first = np.unique(number[order], return_index=True)
    homes: Indices = owner[order[first]]
    return homes


def _joined(ids: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    """Return ids of all partitions, those that differ in type kept different."""
    kinds = {part.dtype.kind for part in ids if len(part)}
    if len(kinds) <= 1 or kinds <= {"i", "u"}:
        return np.concatenate([part for part in ids if len(part)] or ids[:1])
    return np.concatenate([part.astype(object) for part in ids])
