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
        NaN is left out of the means.
    n_bootstraps : int, default=1000
        How many samples are drawn.
    confidence : float, default=0.95
    random_state : int or numpy Generator, default=0

    Returns
    -------
    low, high : ndarray of shape (n_values,)
        NaN where all is NaN.
    """
    generator = np.random.default_rng(random_state)
    known = ~np.isnan(values)
    low, high = np.full((2, values.shape[1]), np.nan)
    defined = known.any(axis=0)
    if not defined.any():
        return low, high
    known = known[:, defined]
    filled = np.where(known, values[:, defined], 0.0)
    n = len(values)
    size = max(1, _BLOCK // n)
    means = []
    for done in range(0, n_bootstraps, size):
        drawn = min(size, n_bootstraps - done)
        counts = generator.multinomial(n, np.full(n, 1 / n), size=drawn).astype(np.float64)
        with np.errstate(invalid="ignore"):  # samples without a known value
            means.append(counts @ filled / (counts @ known))
    tail = 0.5 * (1 - confidence)
    low[defined], high[defined] = np.nanquantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return low, high
