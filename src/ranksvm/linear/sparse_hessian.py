"""The explicit Hessian of sparse rows, in time that goes with their stored values.

Documents are gone through in the order of the sweep: what a document p takes of the others is a
dense row ``(N Z)_p``, which each value ``z_pk`` that p stores adds to a row of the result,

    (Z'N Z)_k += z_pk (N Z)_p.

Threads share the columns; or, where queries are many and features are few, the queries, in parts
that are added up. Every element is added up in the same order, and in double precision, whatever
their number; nothing is copied, and there is nothing beside the results but for the sums of the
walk, which are a row for each label: where labels are many, it is repeated for some columns at a
time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.loss_evaluation import SmoothEvaluation
from ..threads import in_order
from .long_query import LEAST_SUMS, SUMS_PER_ROW, Range, ranges

Vector = NDArray[np.float64]
CoreCsr: TypeAlias = (
    _core.CsrMatrix32 | _core.CsrMatrix64 | _core.CsrMatrix32Long | _core.CsrMatrix64Long
)

LANES = 8  # numbers that are added at once; the columns are cut between them
LEAST_WIDTH = 160  # columns of a thread: each reads all rows
STEP = 1 << 26  # additions, after which an interruption is heard
# Parts of queries, where none has more than a part, and of which a result takes less bytes than
# these, and less additions than its terms by that factor.
PARTS, MOST_BYTES, MORE = 8, 1 << 24, 8


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

    def shared_columns(self, n_threads: int) -> NDArray[np.int64]:
        """Return which columns two rows or more store; all of them where a row comes again."""
        if self.rows is not None and np.bincount(self.rows).max(initial=0) > 1:
            return np.arange(len(self.scale))
        return np.flatnonzero(self.core.column_counts(n_threads) > 1)

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
    n_sums = n_levels * (2 if sweep.has_gaps else 1)
    parts = _parts(loss, d, stride, n_stored, n_sums)
    width = stride if len(parts) > 1 else _width(loss, stride, n_threads, n_sums)
    n_at_once = 1 + STEP * len(loss.gradient) // (1 + n_stored * width)

    def begin(product: Vector, columns: Range, queries: Range) -> _core.SparseHessian:
        return Z.core.hessian(
            sweep, Z.offset, Z.scale, Z.rows, *columns, product, *queries, every=every
        )

    def of_part(queries: Range) -> Vector:
        product = np.zeros((d, stride))
        walk = begin(product, (0, stride), queries)
        while walk.advance(n_at_once):
            pass
        return product

    product = np.zeros((d, stride))
    with in_order(n_threads) as ordered:
        if len(parts) > 1:
            for part in ordered(of_part, parts):
                product += part
            return product[:, :d]
        for first, last in ranges(0, stride, n_threads * width):
            walks = [begin(product, columns, parts[0]) for columns in ranges(first, last, width)]
            while any(list(ordered(lambda walk: walk.advance(n_at_once), walks))):
                pass
    return product[:, :d]


def _parts(loss: SmoothEvaluation, d: int, stride: int, n_stored: int, n_sums: int) -> list[Range]:
    """Cut the queries into parts of about as many rows, whatever the number of threads."""
    indptr = loss.groups.indptr
    n, n_queries = int(indptr[-1]), loss.groups.n_queries
    longest = int(np.diff(indptr).max(initial=0))
    is_small = 8 * stride * max(d, n_sums) <= MOST_BYTES and MORE * PARTS * d <= n_stored
    if PARTS * longest > n or not is_small:
        return [(0, n_queries)]
    edges = np.searchsorted(indptr, np.arange(PARTS + 1) * n // PARTS).tolist()
    edges[0], edges[-1] = 0, n_queries
    return list(pairwise(edges))


def _width(loss: SmoothEvaluation, stride: int, n_threads: int, n_sums: int) -> int:
    """Return how many columns with so many sums a thread has at a time, a multiple of `LANES`."""
    of_a_column = 8 * n_sums
    longest = int(np.diff(loss.groups.indptr).max(initial=0))
    most = max(LEAST_SUMS, SUMS_PER_ROW * longest) // of_a_column
    n_busy = min(n_threads, max(stride // LEAST_WIDTH, 1))
    width = min(most // n_threads, -(-stride // n_busy))
    return max(1, -(-width // LANES)) * LANES
