"""Given pairs as arguments of `fit` and `score`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrays.libraries import to_host
from ..errors import InputError
from ..pairs.given import GivenPreferences, given_preferences

# What takes the place of what, beside pairs.
INSTEAD = {
    "y": "preferences are given twice, by y and pairs: give one",
    "event": "preferences are given twice, by event and pairs: give one",
    "time": "preferences are given twice, by time and pairs: give one",
    "sample_weight": "sample_weight weighs rows that have labels; given pairs have pair_weights",
    "query_weight": "query_weight weighs queries of labels; given pairs have pair_weights",
}


class PairArguments(NamedTuple):
    """What is given of pairs.

    Attributes
    ----------
    pairs, pair_weights, margins : array-like or None
    """

    pairs: Any = None
    pair_weights: Any = None
    margins: Any = None

    @property
    def are_given(self) -> bool:
        """Whether there are pairs.

        Raises
        ------
        ValueError
            If there is only what belongs to some.
        """
        for name in ("pair_weights", "margins"):
            if self.pairs is None and getattr(self, name) is not None:
                raise InputError(f"{name} is for given pairs: give pairs, too, or leave it out")
        return self.pairs is not None

    def preferences(self, n_samples: int, qid: Any = None, **others: Any) -> GivenPreferences:
        """Check pairs of so many rows.

        Raises
        ------
        ValueError
            As `given_preferences`, or if there is one of the others, which are for labels.
        """
        for name, value in others.items():
            if value is not None:
                raise InputError(INSTEAD[name])
        pairs, weights, margins = map(to_host, self)
        return given_preferences(pairs, n_samples, weights, margins, qid)
