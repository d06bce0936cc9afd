"""Which features rows share, to whose equations `ranksvm.linear.shared_features` reduces all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from .design_matrix import DesignMatrix
from .matrix import Matrix

MOST_SHARED, MOST_IN_BLOCKS = 8192, 1 << 22  # features; elements of the matrices of all queries
# Of rows, or features, whichever are fewer: from how many on it is worth looking, and how many of
# these may be shared.
SOME, FEWER = 1024, 0.8


def shared_columns(
    X: Matrix, preferences: AnyPreferences | None, n_threads: int = 1
) -> NDArray[np.int64] | None:
    """Return the sparse features that two rows or more store; None if hardly any others are left.

    Nor where queries are too long for a matrix for each, or few features do without. Of what rows
    store, only the numbers of features are read, once.
    """
    if not (isinstance(X, DesignMatrix) and isinstance(preferences, Preferences)):
        return None
    smaller = min(X.shape)
    if smaller < SOME or 2 * preferences.groups.most_pairs > MOST_IN_BLOCKS:
        return None
    rows = X.sparse_rows()
    if rows is None:
        return None
    shared = rows.shared_columns(n_threads)
    return shared if 0 < len(shared) <= min(FEWER * smaller, MOST_SHARED) else None
