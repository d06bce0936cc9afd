"""The pairs of a ranking, one by one: all of them, or about as many as there are rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError, NoPairsError
from ...pairs.queries import QueryGroups
from ...records import record

GRAPHS = ("full", "reduced")
BYTES_PER_PAIR = 40  # two rows here; two rows, a margin, a side and a bound along the path


@record
class PreferenceGraph:
    """Pairs of rows: ``upper[p]`` is preferred to ``lower[p]``.

    Attributes
    ----------
    upper, lower : ndarray of shape (n_pairs,), int32
    """

    upper: NDArray[np.int32]
    lower: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.upper)

    def sum_by_row(self, values: NDArray[np.float64], n_samples: int) -> NDArray[np.float64]:
        """Add the value of each pair to its upper row, and subtract it from its lower row."""
        sums = np.zeros(n_samples)
        np.add.at(sums, self.upper, values)
        np.subtract.at(sums, self.lower, values)
        return sums

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        groups: QueryGroups,
        graph: str = "full",
        max_memory: float = np.inf,
    ) -> PreferenceGraph:
        """List the pairs of each query.

        The full graph has every pair of rows of a query whose labels differ. The reduced graph has,
        between each two neighbouring levels of a query, a pair of each row of the upper level with
        the first row of the lower one, and of the first row of the upper level with each other row
        of the lower one: as many pairs as the two levels have rows, less one (Zapien et al. 2009,
        section 4). It makes another problem, not the same one with less work: two rows that are not
        the first of their levels are compared by way of others only, so that a ranker may keep
        every one of these pairs in order and still swap some of the full graph.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Relevance labels, larger is better.
        groups : QueryGroups
        graph : {"full", "reduced"}, default="full"
        max_memory : float, optional
            Bytes that the pairs may take.

        Raises
        ------
        ValueError
            If `graph` is neither name, no query has two labels, or the pairs take more than
            `max_memory`.
        """
        if graph not in GRAPHS:
            raise InputError(f"graph must be 'full' or 'reduced', not {graph!r}")
        levels = _Levels.of(np.asarray(y), groups)
        n_pairs = int(levels.n_below.sum())
        if n_pairs == 0:
            raise NoPairsError(
                "no preference pairs to learn from: within every query all rows have the same label"
            )
        if graph == "reduced":
            upper, lower = levels.neighbouring_pairs()
        else:
            _require_memory(n_pairs, max_memory)
            upper, lower = levels.all_pairs()
        return cls(levels.rows[upper], levels.rows[lower])


@record
class _Levels:
    """The rows by query, then by label, then as they came; a place is an index of `rows`.

    `level` is the level of each place, and `start` the first place of each level, and the end.
    `query_start` is the first place of the query of each level.
    """

    rows: NDArray[np.int32]
    level: NDArray[np.int64]
    start: NDArray[np.int64]
    query_start: NDArray[np.int64]

    @classmethod
    def of(cls, y: NDArray[np.generic], groups: QueryGroups) -> _Levels:
        query = groups.per_row(np.arange(groups.n_queries))
        rows = np.lexsort((y, query))
        query, y = query[rows], y[rows]
        begins = np.ones(len(rows), dtype=bool)
        begins[1:] = (query[1:] != query[:-1]) | (y[1:] != y[:-1])
        start = np.flatnonzero(begins)
        query_start = groups.indptr[query[start]]
        return cls(
            rows.astype(np.int32), np.cumsum(begins) - 1, np.append(start, len(rows)), query_start
        )

    @property
    def n_below(self) -> NDArray[np.int64]:
        """For each place, the number of rows of lower levels."""
        return (self.start[:-1] - self.query_start)[self.level]

    def all_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_below = self.n_below
        first_pair = np.cumsum(n_below) - n_below
        upper = np.repeat(np.arange(len(n_below)), n_below)
        first_lower = self.query_start[self.level]
        return upper, np.arange(len(upper)) + (first_lower - first_pair)[upper]

    def neighbouring_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        has_below = self.start[:-1] > self.query_start
        has_above = np.append(has_below[1:], False)
        places = np.arange(len(self.level))
        uppers = places[has_below[self.level]]
        lowers = places[has_above[self.level] & (places > self.start[self.level])]
        return (
            np.r_[uppers, self.start[self.level[lowers] + 1]],
            np.r_[self.start[self.level[uppers] - 1], lowers],
        )


def _require_memory(n_pairs: int, max_memory: float) -> None:
    needed = n_pairs * BYTES_PER_PAIR
    if needed > max_memory:
        raise InputError(
            f"the full graph has {n_pairs:,} preference pairs, which take {needed / 1e9:.3g} GB, "
            f"more than max_memory={max_memory / 1e9:.3g} GB; use graph='reduced', or raise "
            "max_memory"
        )
