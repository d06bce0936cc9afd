"""Preference pairs on the host, whatever they are made of."""

from __future__ import annotations

from .core_pairs import CorePairs
from .given import AnyPreferences, GivenPreferences
from .given_pairs import GivenPairs
from .sweeps import Pairs
from .top import TopPreferences
from .top_pairs import TopPairs


def host_pairs(preferences: AnyPreferences, counting: str = "auto", n_threads: int = 1) -> Pairs:
    """Return the pairs of preferences; `counting` is as for `CorePairs`."""
    if isinstance(preferences, GivenPreferences):
        return GivenPairs(preferences, n_threads)
    if isinstance(preferences, TopPreferences):
        return TopPairs(preferences, n_threads)
    return CorePairs(preferences, counting, n_threads)
