"""What sums lose in double precision."""

from __future__ import annotations

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
ROUNDING = 16 * EPSILON  # of a long sum, in the size of its terms


def relative_rounding(n_terms: float) -> float:
    """Bound what a sum of products loses, relative to the absolute values of its terms.

    That is one rounding for each of the terms that are added one after the other in the worst case,
    and hardly ever more than for their square root (Higham and Mary, 2019), besides some for each
    term by itself and for the sums of sums.
    """
    return float(0.5 * EPSILON * min(n_terms + 12, np.sqrt(n_terms) + 16))
