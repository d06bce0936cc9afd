"""Intervals for means over queries, by the bootstrap.

Queries are drawn with replacement, as many as there are, again and again; the middle of the means
of these samples is the interval (Efron 1979).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_BLOCK = 1 << 22  # numbers that are drawn at a time


def bootstrap_interval(
    values: NDArray[np.float64],
    n_bootstraps: int = 1000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator = 0,
) -> tuple[Vector, Vector]:
    """Return the ends of intervals of means over rows.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_values)
        Rows with NaN are left out.
    n_bootstraps : int, default=1000
        How many samples are drawn.
    confidence : float, default=0.95
    random_state : int or numpy Generator, default=0

    Returns
    -------
    low, high : ndarray of shape (n_values,)
        NaN where no row is left.
    """
    generator = np.random.default_rng(random_state)
    known = values[~np.isnan(values).any(axis=1)]
    n = len(known)
    if n == 0:
        nothing = np.full(values.shape[1], np.nan)
        return nothing, nothing
    size = max(1, _BLOCK // n)
    means = [
        generator.multinomial(n, np.full(n, 1 / n), size=min(size, n_bootstraps - done)) @ known / n
        for done in range(0, n_bootstraps, size)
    ]
    tail = 0.5 * (1 - confidence)
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return low, high
