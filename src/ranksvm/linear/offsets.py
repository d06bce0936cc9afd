"""Columns that lie far from zero, and what to take off their elements before they are multiplied.

No ranking depends on what all rows of a column have in common, but the rounding of ``X w`` and
``X'g`` does: two timestamps differ by seconds, and lie 1e9 of them from zero. Subtracting after the
product would remove nothing; before it, element by element, it costs next to nothing, and leaves X
where and as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

N_SAMPLED = 17
FAR = 16.0  # of their spread: four bits that rounding would lose


def sampled_rows(n_samples: int) -> NDArray[np.int64]:
    """Return some rows, spread evenly."""
    n = min(N_SAMPLED, n_samples)
    return (np.arange(n) * (n_samples - 1) // max(n - 1, 1)).astype(np.int64)


def column_offsets(sample: NDArray[np.floating]) -> Vector | None:
    """Return an offset for each column, or None if none lies far from zero.

    That is the median of a column whose quartiles are close together in comparison, whatever the
    other elements are, and 0 for the others. As an element itself, it is subtracted exactly from
    those near it. Small constants alone do no harm, and are left.

    Parameters
    ----------
    sample : ndarray of shape (n_rows, n_features)
        Some rows of X.
    """
    n = len(sample)
    if n == 0:
        return None
    low, middle, high = (n - 1) // 4, (n - 1) // 2, -(-3 * (n - 1) // 4)
    ordered = np.partition(sample.astype(np.float64, copy=False), (low, middle, high), axis=0)
    with np.errstate(over="ignore"):
        spread = ordered[high] - ordered[low]
        size = np.abs(ordered[middle])
        is_far = size > FAR * spread
    if not (is_far & ((spread > 0) | (size >= FAR))).any():
        return None
    return np.where(is_far, ordered[middle], 0.0)
