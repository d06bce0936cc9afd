"""Given pairs on the host: the sweeps of the compiled core."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..lazy import cached_property
from .given import GivenPreferences
from .queries import QueryGroups
from .sweeps import LastSweep

Vector = NDArray[np.float64]


class GivenPairs:
    """Pairs that are given one by one; the `Pairs` of the host.

    Each row adds up its own pairs, over both roles, so that a sweep goes through the pairs twice,
    and gathers one score of each. Those of the same rows and margin are added up beforehand.

    Parameters
    ----------
    preferences : GivenPreferences
    n_threads : int, default=1
        Threads to use. Results do not depend on it, to the last bit.
    """

    def __init__(self, preferences: GivenPreferences, n_threads: int = 1) -> None:
        self._preferences = preferences
        self.n_threads = n_threads
        self.last_sweep = LastSweep()
        self._core = _core.GivenPairs(
            preferences.n_rows,
            preferences.winner,
            preferences.loser,
            preferences.weight,
            preferences.margin,
        )

    @property
    def preferences(self) -> GivenPreferences:
        """What the pairs are made of."""
        return self._preferences

    @property
    def groups(self) -> QueryGroups:
        """The queries; one, if none are given."""
        return self.preferences.groups

    @cached_property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""
        total = float(self.pairs_per_query.sum())
        return total if self.preferences.is_weighted else int(total)

    @cached_property
    def pairs_per_query(self) -> Vector:
        """The same for each query."""
        return self.preferences.pairs_per_query

    @property
    def distinct(self) -> GivenPreferences:
        """The pairs by winner and loser, each once, without those that weigh nothing."""
        core = self._core
        return GivenPreferences(
            core.winner,
            core.loser,
            self.groups,
            core.weight if len(core.weight) else None,
            core.margin if len(core.margin) else None,
        )

    def asarray(self, values: ArrayLike) -> Vector:
        """Return scores, or vectors like them, as float64 in C order."""
        return np.ascontiguousarray(values, dtype=np.float64)

    def sweep(
        self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0
    ) -> _core.GivenSweep:
        """Find what a loss makes of the pairs at `scores`.

        `margin` is added to those of pairs that have margins.
        """
        return _core.GivenSweep(
            self._core, self.asarray(scores), loss, margin, width, n_threads=self.n_threads
        )
