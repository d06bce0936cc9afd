"""Preference pairs on the host, whatever they are made of."""

from __future__ import annotations

from .core_pairs import CorePairs
from .given import AnyPreferences, GivenPreferences
from .preferences import Preferences
from .sweeps import Pairs


def host_pairs(preferences: AnyPreferences, counting: str = "auto", n_threads: int = 1) -> Pairs:
    """Return the pairs of preferences; `counting` is as for `CorePairs`."""
    if isinstance(preferences, Preferences):
        return CorePairs(preferences, counting, n_threads)
    if isinstance(preferences, GivenPreferences):
        from .given_pairs import GivenPairs

        return GivenPairs(preferences, n_threads)
    from .top_pairs import TopPairs

    return TopPairs(preferences, n_threads)
