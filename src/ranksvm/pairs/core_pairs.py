"""Preference pairs on the host: the sweeps of the compiled core."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError
from ..lazy import cached_property
from ..names import COUNTINGS
from .preferences import Preferences
from .queries import QueryGroups
from .sweeps import LastSweep

Vector = NDArray[np.float64]


class CorePairs:
    """Preference pairs whose scores are arrays of NumPy; the `Pairs` of the host.

    Parameters
    ----------
    preferences : Preferences
    counting : {"auto", "merge", "levels", "joachims", "tree", "pairs"}, default="auto"
        How active pairs are counted; results agree up to rounding. For a query of m documents with
        k distinct labels, once its scores are sorted:

        - "merge": O(m log k), a static tree over the labels;
        - "levels": O(m k), one sum per level (Lee and Lin 2014, supplement II.1);
        - "joachims": O(m k), one pass per level (Joachims 2006, as given in supplement II.2);
        - "tree": O(m log k), a red-black tree (TreeRSVM, Airola et al. 2011, algorithm 1);
        - "pairs": O(m^2), every pair;
        - "auto": every pair, four at a time and unsorted, up to 64 documents; otherwise O(m + k)
          where all pairs are active, which sums per level tell, and "merge" where not.
    n_threads : int, default=1
        Threads to use. Results do not depend on it, to the last bit.
    core : PreferencePairs of the core, optional
        The pairs of these preferences, if they are known.
    """

    def __init__(
        self,
        preferences: Preferences,
        counting: str = "auto",
        n_threads: int = 1,
        core: _core.PreferencePairs | None = None,
    ) -> None:
        if counting not in COUNTINGS:
            raise InputError(f"counting must be one of {', '.join(COUNTINGS)}, not {counting!r}")
        if preferences.pair_weight not in (None, "gap"):
            raise InputError(f"pair_weight must be 'gap' or None, not {preferences.pair_weight!r}")
        self._preferences = preferences
        self.counting = counting
        self.n_threads = n_threads
        self.last_sweep = LastSweep()
        weights = preferences.without_equal_roles()
        self._core = core or _core.PreferencePairs(
            np.ascontiguousarray(preferences.y, dtype=np.float64),
            self.groups.indptr,
            self.groups.order,
            weights.sample_weight,
            weights.query_weight,
            weights.better_weight,
            weights.worse_weight,
            gaps=preferences.pair_weight == "gap",
            n_threads=n_threads,
        )

    def part(self, first: int, last: int) -> CorePairs:
        """Return the pairs of the queries from first to last, whose rows come query by query."""
        core = self._core.part(first, last)
        return CorePairs(self.preferences.part(first, last), self.counting, core=core)

    @property
    def preferences(self) -> Preferences:
        """What the pairs are made of."""
        return self._preferences

    @property
    def groups(self) -> QueryGroups:
        """The queries."""
        return self.preferences.groups

    @property
    def pairs_per_query(self) -> Vector:
        """Total weight of the pairs of each query, of shape (n_queries,)."""
        weights: Vector = self._core.pairs_per_query
        return weights

    @cached_property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""
        total = float(self.pairs_per_query.sum())
        return total if self.preferences.is_weighted else int(total)

    @property
    def n_levels(self) -> NDArray[np.uint32]:
        """Number of distinct labels of each query, of shape (n_queries,)."""
        levels: NDArray[np.uint32] = self._core.n_levels
        return levels

    @property
    def ranks(self) -> NDArray[np.uint32]:
        """Query by query: the rank of each label among those of its query."""
        ranks: NDArray[np.uint32] = self._core.label
        return ranks

    def asarray(self, values: ArrayLike) -> Vector:
        """Return scores, or vectors like them, as float64 in C order."""
        return np.ascontiguousarray(values, dtype=np.float64)

    def sweep(self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0) -> _core.Sweep:
        """Find the active pairs at `scores`, and what a loss makes of them.

        Raises
        ------
        InputError
            If a score is not finite.
        """
        try:
            return _core.Sweep(
                self._core,
                self.asarray(scores),
                loss,
                margin,
                self.counting,
                width,
                n_threads=self.n_threads,
            )
        except ValueError as error:
            raise InputError(
                f"{error}: values of X are too large, or too small, for floating point; scale them"
            ) from None
