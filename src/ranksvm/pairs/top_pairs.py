"""Pairs of the top of a ranking on the host: the sweeps of the compiled core."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..lazy import cached_property
from .queries import QueryGroups
from .sweeps import LastSweep
from .top import TopPreferences

Vector = NDArray[np.float64]


class TopPairs:
    """Pairs that are weighed by ranks; the `Pairs` of the host.

    A sweep looks at the pairs of the first rows of a query with all of its rows, one by one, and
    weighs them anew each time, so that none is in memory: O(top n).

    Parameters
    ----------
    preferences : TopPreferences
    n_threads : int, default=1
        Threads to use. Results do not depend on it, to the last bit.
    """

    def __init__(self, preferences: TopPreferences, n_threads: int = 1) -> None:
        self._preferences = preferences
        self.n_threads = n_threads
        self.last_sweep = LastSweep()
        self._core = _core.TopPairs(
            self.groups.indptr,
            preferences.rows,
            preferences.gain,
            preferences.row_weight,
            preferences.query_factor,
            preferences.discount,
        )

    @property
    def preferences(self) -> TopPreferences:
        """What the pairs are made of."""
        return self._preferences

    @property
    def groups(self) -> QueryGroups:
        """The queries."""
        return self.preferences.groups

    @cached_property
    def n_pairs(self) -> float:
        """Total weight of the pairs."""
        return float(self.pairs_per_query.sum())

    @cached_property
    def pairs_per_query(self) -> Vector:
        """The same for each query."""
        weights: Vector = self._core.pairs_per_query(self.n_threads)
        return weights

    def asarray(self, values: ArrayLike) -> Vector:
        """Return scores, or vectors like them, as float64 in C order."""
        return np.ascontiguousarray(values, dtype=np.float64)

    def sweep(
        self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0
    ) -> _core.TopSweep:
        """Find what a loss makes of the pairs at `scores`."""
        return _core.TopSweep(
            self._core, self.asarray(scores), loss, margin, width, n_threads=self.n_threads
        )
