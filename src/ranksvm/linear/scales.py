"""Features whose scales lie far apart, and what to say of them.

The penalty ``0.5 |w|^2`` charges a weight whatever the unit of its feature: one that is measured in
millionths takes a weight a million times as large for the same effect on the scores, at 10^12 times
the price. Such features are hardly used, without a word in the certificate, which is true of the
problem as it was set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .matrix import Matrix, deviations

APART = 1e6


def advice_on_scales(X: Matrix, n_threads: int = 1) -> str | None:
    """Return what to do about columns whose standard deviations are a million times apart.

    Constants do not count. That a column of sparse rows is seldom stored makes up to the root of
    the number of rows, which is allowed for. There is a pass over X only where the squares of the
    columns, which training knows, give reason to.

    Parameters
    ----------
    X : Matrix
    n_threads : int, default=1

    Returns
    -------
    str or None
        None if there is nothing to be said.
    """
    n, d = X.shape
    most = APART * (np.sqrt(n) if X.n_stored < n * d else 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        square = X.column_squares(n_threads) / n
        if not _ratio(np.sqrt(square)) > most:
            return None
        ratio = _ratio(deviations(X.standardization(n_threads)[0], square))
    if not ratio > most:
        return None
    return (
        f"the standard deviations of features differ by a factor of {ratio:.1g}, and the small "
        "ones hardly count: bring them to one scale, by StandardScaler or train --scale standard"
    )


def with_advice(shortfall: str | None, advice: str | None) -> str | None:
    """Return what a training fell short of, and what may be the cause, as far as there are."""
    return shortfall if shortfall is None or advice is None else f"{shortfall}; {advice}"


def _ratio(sizes: NDArray[np.float64]) -> float:
    """Return how many times the largest is as large as the smallest, zeros apart."""
    some = sizes[sizes > 0]
    return float(some.max() / some.min()) if len(some) else 1.0
