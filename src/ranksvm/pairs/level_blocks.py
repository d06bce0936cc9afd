"""Preference pairs of long queries as dense blocks: the rows of a level with all those below."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..records import record
from .given import AnyPreferences
from .preferences import Preferences

Vector = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.float64]

MOST_IN_BLOCKS = 1 << 23  # pairs, as if all rows of a query had different labels


@record
class LevelBlock:
    """The pairs of the rows of a level with all rows of its query on lower levels.

    Attributes
    ----------
    better : slice
        Positions of the better rows among those of the query, which are in order of their labels.
    n_worse : int
        The worse rows are the first so many.
    weight : ndarray of shape (n_better, n_worse), or (1, 1) where all pairs weigh the same
    """

    better: slice
    n_worse: int
    weight: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """How many better and worse rows there are."""
        return self.better.stop - self.better.start, self.n_worse

    def add_sums(self, balance: Vector, degree: Vector) -> None:
        """Add up balance and degree of the weights of the pairs."""
        weight = np.broadcast_to(self.weight, self.shape)
        of_better, of_worse = weight.sum(axis=1), weight.sum(axis=0)
        for sums, sign in ((balance, -1), (degree, 1)):
            sums[self.better] += of_better
            sums[: self.n_worse] += sign * of_worse

    def add_partners(self, values: Floats, v: Vector, sums: Vector) -> None:
        """Add to each row the sum of v over its partners, times the numbers of the pairs."""
        of_better, of_worse = _core.tile_products(values, v[self.better], v[: self.n_worse])
        sums[self.better] += of_better
        sums[: self.n_worse] += of_worse


@record
class LevelBlocks:
    """The pairs of one query, level by level.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), int64
        Rows of the query, in order of their labels.
    n_lowest : int
        How many of them are on the lowest level: they have no pairs among each other.
    blocks : tuple of LevelBlock
    """

    rows: NDArray[np.int64]
    n_lowest: int
    blocks: tuple[LevelBlock, ...]

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return sum(block.shape[0] * block.shape[1] for block in self.blocks)

    @classmethod
    def of(cls, preferences: Preferences) -> tuple[LevelBlocks, ...]:
        """Return those of the queries that have pairs.

        Roles are not looked at (`may_be_blocks`); rows and queries that weigh nothing are left out.
        """
        groups, weight = preferences.groups, preferences.sample_weight
        order = np.arange(groups.n_samples) if groups.order is None else groups.order
        queries = []
        for q in range(groups.n_queries):
            rows = order[groups.indptr[q] : groups.indptr[q + 1]].astype(np.int64)
            if weight is not None:
                rows = rows[weight[rows] > 0]
            rows = rows[np.argsort(preferences.y[rows], kind="stable")]
            factor = 1.0 if preferences.query_weight is None else float(preferences.query_weight[q])
            starts = np.flatnonzero(np.diff(preferences.y[rows])) + 1
            if len(starts) and factor > 0:
                ends = [*starts[1:].tolist(), len(rows)]
                blocks = tuple(
                    _block(preferences, rows, slice(start, end), start, factor)
                    for start, end in zip(starts.tolist(), ends, strict=True)
                )
                queries.append(cls(rows, int(starts[0]), blocks))
        return tuple(queries)


def _block(
    preferences: Preferences, rows: NDArray[np.int64], better: slice, n_worse: int, factor: float
) -> LevelBlock:
    above, below = rows[better, np.newaxis], rows[:n_worse]
    weight = np.full((1, 1), factor)
    if preferences.sample_weight is not None:
        of_row = preferences.sample_weight
        weight = weight * of_row[above] * of_row[below]
    if preferences.pair_weight is not None:
        weight = weight * (preferences.y[above] - preferences.y[below])
    return LevelBlock(better, n_worse, weight)


def may_be_blocks(preferences: AnyPreferences) -> bool:
    """Say whether pairs are those of labels, without roles, and few enough to be in memory."""
    if not isinstance(preferences, Preferences) or preferences.has_roles:
        return False
    return preferences.groups.most_pairs <= MOST_IN_BLOCKS
