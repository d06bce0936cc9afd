"""The explicit Hessian of sparse rows, in time that goes with their stored values.

Documents are gone through in the order of the sweep: what a document p takes of the others is a
dense row ``(N Z)_p``, which each value ``z_pk`` that p stores adds to a row of the result,

    (Z'N Z)_k += z_pk (N Z)_p.

Threads share the columns. Every element is added up in the same order, and in double precision,
whatever their number; nothing is copied, and there is nothing beside the result but for the sums of
the walk, which are a row for each label: where labels are many, it is repeated for some columns at
a time.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.loss_evaluation import SmoothEvaluation
from ..threads import in_order
from .long_query import LEAST_SUMS, SUMS_PER_ROW, ranges

Vector = NDArray[np.float64]
CoreCsr: TypeAlias = (
    _core.CsrMatrix32 | _core.CsrMatrix64 | _core.CsrMatrix32Long | _core.CsrMatrix64Long
)

LANES = 8  # numbers that are added at once; the columns are cut between them
STEP = 1 << 26  # additions, after which an interruption is heard


class SparseRows(NamedTuple):
    """Rows and scaled columns of a CSR matrix of the core.

    Attributes
    ----------
    core : CsrMatrix32, ...
    offset : ndarray of shape (n_features,), or None
        What is taken off the columns.
    rows : ndarray of shape (n_samples,), or None
        Which rows; None for all.
    scale : ndarray of shape (n_features,)
    """

    core: CoreCsr
    offset: Vector | None
    rows: NDArray[np.int64] | None
    scale: Vector

    def scaled(self, scale: Vector) -> SparseRows:
        """Scale the columns by other factors, too."""
        return self._replace(scale=self.scale * scale)

    def rarity(self, n_threads: int) -> Vector:
        """Return how rare values of each column are, in all rows.

        That is ``exp(mean of log f) / f_k``, as of `ranksvm.linear.matrix.Matrix.rarity`.
        """
        stored = self.core.column_counts(n_threads)
        counts = np.maximum(stored, 1)
        typical = np.exp((stored * np.log(counts)).sum() / max(stored.sum(), 1))
        rarity: Vector = typical / counts
        return rarity


def sparse_product(
    Z: SparseRows,
    n_stored: int,
    loss: SmoothEvaluation,
    n_levels: int,
    sweep: _core.Sweep,
    n_threads: int,
    every: int = 1,
) -> Vector:
    """Return ``Z' N Z`` for the sweep of a loss, of at most so many labels, and Z as stored.

    That is of one in `every` so many queries.
    """
    d = len(Z.scale)
    stride = -(-d // LANES) * LANES
    product = np.zeros((d, stride))
    width = _width(loss, stride, n_threads, n_levels * (2 if sweep.has_gaps else 1))
    n_at_once = 1 + STEP * len(loss.gradient) // (1 + n_stored * width)
    with in_order(n_threads) as ordered:
        for first, last in ranges(0, stride, n_threads * width):
            walks = [
                Z.core.hessian(sweep, Z.offset, Z.scale, Z.rows, *columns, product, every)
                for columns in ranges(first, last, width)
            ]
            while any(list(ordered(lambda walk: walk.advance(n_at_once), walks))):
                pass
    return product[:, :d]


def _width(loss: SmoothEvaluation, stride: int, n_threads: int, n_sums: int) -> int:
    """Return how many columns with so many sums a thread has at a time, a multiple of `LANES`."""
    of_a_column = 8 * n_sums
    longest = int(np.diff(loss.groups.indptr).max(initial=0))
    most = max(LEAST_SUMS, SUMS_PER_ROW * longest) // of_a_column
    width = min(most, stride + n_threads - 1) // n_threads
    return max(1, -(-width // LANES)) * LANES
