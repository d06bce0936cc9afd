"""Pairs of the top of a ranking one by one, where they are few enough, or on a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .given import GivenPreferences
from .top import TopPreferences, times

Rows = NDArray[np.uint32]
Vector = NDArray[np.float64]


def listed(top: TopPreferences) -> GivenPreferences:
    """List the pairs that weigh anything, in the order of the upper rank; see `top_weights`."""
    parts = [top_weights(top, rank) for rank in range(min(len(top.discount), top.longest))]
    none = np.zeros(0, np.uint32)
    winner, loser = (np.concatenate([none, *(part[k] for part in parts)]) for k in range(2))
    weight = np.concatenate([np.zeros(0), *(part[2] for part in parts)])
    return GivenPreferences(winner, loser, top.groups, weight)


def top_weights(top: TopPreferences, rank: int) -> tuple[Rows, Rows, Vector]:
    """Return winners, losers and weights of the pairs of the rows at a rank with those below.

    The operations are those of the core, so that weights are the same to the last bit.
    """
    indptr = top.groups.indptr
    sizes = np.maximum(np.diff(indptr) - rank - 1, 0)
    query = np.repeat(np.arange(len(sizes)), sizes)
    above = indptr[query] + rank
    places = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    below = above + 1 + places
    discount = np.append(top.discount, 0.0)
    change = discount[rank] - discount[np.minimum(rank + 1 + places, len(top.discount))]
    gap, of_row = top.gain[above] - top.gain[below], top.row_weight
    weight = np.abs(gap) * times(None if of_row is None else of_row[above], top.query_factor[query])
    weight = times(None if of_row is None else of_row[below], weight * change)
    is_better, some = gap > 0, weight > 0
    winner, loser = np.where(is_better, above, below), np.where(is_better, below, above)
    return top.rows[winner[some]], top.rows[loser[some]], weight[some]
