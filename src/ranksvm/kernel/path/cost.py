"""What a regularization path takes, as far as that is known before it begins.

Between events the F free pairs, those on their margins, tell how all scores move. With the Cholesky
factor L of their matrix an event takes, of n rows::

    F^2 / 2           for the direction, by L' (L^-1 of its other side follows the factor)
    F^2 / 2           for a pair that becomes free, by L; to turn L where one leaves, 2 F^2 / 3
    n min(F, n - F)   for how fast the scores move: from the F rows of K, or for one row of each of
                      the n - F trees of rows that the free pairs join, as they hold the rest

multiplications, about F^2 + n min(F, n - F) in all. Each takes a number of L or of K, which are
read once; less would need a direction or rates that an event changes in a few places only, where
those of a narrow kernel change everywhere. Nothing happens to a pair whose rows are joined, so that
it need not be measured; but where a free pair leaves and parts them, all such pairs near their
margins are looked through, and those between the two parts measured. With nearly as many free pairs
as rows, where most pairs are as near as that, this takes more than half of the time.

With 1,599 rows and 370 free pairs they take 0.4 ms, most of it to wait for memory. A matrix of how
all rows answer to each other, of which an event reads a column, and which changes for some events
at a time, would take n^2 multiplications in place of these; that has not been tried.

How many are free is not known before; the eigenvalues lambda_k of the centred matrix tell, roughly:
for functions so smooth that few of them matter, few pairs are free at once. Their effective number
is::

    (sum lambda_k)^2 / sum lambda_k^2 = trace(K)^2 / |K|_F^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .graph import BYTES_PER_PAIR

_MANY = 100  # free pairs from which an event takes much more than looking for it
_EVENTS_PER_PAIR = 3  # at most, as found down to a thousandth of the first lambda; half is usual
_LONG = 100_000  # pairs from which events take seconds by their number alone


def effective_rank(K: NDArray[np.float64]) -> float:
    """Return the effective number of eigenvalues of a matrix that is positive semidefinite."""
    square = float(np.vdot(K, K))
    return float(K.trace()) ** 2 / square if square > 0 else 0.0


def cost_of_path(K: NDArray[np.float64], n_pairs: int, graph: str) -> str:
    """Say what a path takes, and what would take less.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        Centred.
    n_pairs : int
    graph : {"full", "reduced"}

    Returns
    -------
    str
    """
    n_free = effective_rank(K)
    n_products = n_free**2 + len(K) * min(n_free, len(K) - n_free)
    text = (
        f"path over {n_pairs:,} pairs of {len(K):,} rows: {_gb(K.nbytes)} of kernel values, "
        f"{_gb(BYTES_PER_PAIR * n_pairs)} of pairs; by the kernel's effective rank some "
        f"{n_free:,.0f} pairs are free at once, which take {n_products:.2g} multiplications and "
        f"{48 * n_free:.2g} bytes an event; there are up to some {_EVENTS_PER_PAIR * n_pairs:,} "
        "events down to a thousandth of the first lambda"
    )
    hints = []
    if graph == "full" and (n_free >= _MANY or n_pairs >= _LONG):
        hints.append("graph='reduced' (--graph reduced)")
    if n_free >= _MANY:
        hints += ["scaled features (--scale)", "a smaller gamma"]
    return f"{text}; {' or '.join(hints)} may take much less" if hints else text


def _gb(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB"
