"""Preference pairs on a device: the sweeps of array libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import LastSweep
from .device import ArrayDevice
from .layout import PairLayout
from .sweep import ArraySweep


class ArrayPairs:
    """Preference pairs whose scores are arrays on a device; the `Pairs` of `ArrayMatrix`.

    There is one way of counting, O(n log k) for k levels in passes over all queries at once.
    Labels and weights are those of NumPy, and so is what there is for each query.

    Parameters
    ----------
    preferences : Preferences
    device : ArrayDevice
    n_threads : int, default=1
        Of what is done on the host. The library of the arrays decides on its own.
    """

    def __init__(self, preferences: Preferences, device: ArrayDevice, n_threads: int = 1) -> None:
        self.device = device
        self.n_threads = n_threads
        self.last_sweep = LastSweep()
        self._host = CorePairs(preferences, n_threads=n_threads)
        self._layout = PairLayout(device, preferences, self._host.ranks)

    @property
    def preferences(self) -> Preferences:
        """What the pairs are made of."""
        return self._host.preferences

    @property
    def groups(self) -> QueryGroups:
        """The queries."""
        return self._host.groups

    @property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""
        return self._host.n_pairs

    @property
    def pairs_per_query(self) -> NDArray[np.float64]:
        """Total weight of the pairs of each query, of shape (n_queries,)."""
        return self._host.pairs_per_query

    @property
    def n_levels(self) -> NDArray[np.uint32]:
        """Number of distinct labels of each query, of shape (n_queries,)."""
        return self._host.n_levels

    def asarray(self, values: ArrayLike) -> Any:
        """Return scores, or vectors like them, as float64 on the device."""
        return self.device.asarray(values, self.device.float64)

    def sweep(self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0) -> ArraySweep:
        """Find the active pairs at `scores`, and what a loss makes of them."""
        return ArraySweep(self._layout, self.asarray(scores), loss, margin, width)
