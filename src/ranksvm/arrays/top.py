"""Pairs of the top of a ranking on a device: listed, as given pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import GivenPreferences
from ..pairs.top import TopPreferences, times


def listed(top: TopPreferences) -> GivenPreferences:
    """List the pairs that weigh anything, rank by rank: those of a rank with all further down."""
    groups, rows, gain = top.groups, top.rows, top.gain
    n, query = groups.n_samples, np.repeat(np.arange(groups.n_queries), np.diff(groups.indptr))
    start = groups.indptr[query]
    rank = np.arange(n) - start
    discount = np.zeros(n)
    discount[rank < len(top.discount)] = top.discount[rank[rank < len(top.discount)]]
    of_row = times(top.row_weight, np.ones(n))
    parts = []
    for t in range(min(len(top.discount), int(rank.max(initial=-1)) + 1)):
        below = np.flatnonzero(rank > t)
        above = start[below] + t
        gap = gain[above] - gain[below]
        weight = np.abs(gap) * (top.discount[t] - discount[below])
        weight *= top.query_factor[query[below]] * of_row[above] * of_row[below]
        up, some = gap > 0, weight > 0
        winner, loser = np.where(up, above, below)[some], np.where(up, below, above)[some]
        parts.append((rows[winner], rows[loser], weight[some]))
    winners, losers, weights = (_joined([part[k] for part in parts]) for k in range(3))
    return GivenPreferences(
        winners.astype(np.uint32), losers.astype(np.uint32), groups, weights.astype(np.float64)
    )


def _joined(parts: list[NDArray[np.generic]]) -> NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.zeros(0)
