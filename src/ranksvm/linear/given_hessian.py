"""The explicit Hessian X' H X for given pairs.

Pairs lead anywhere, so that no block of rows is multiplied by H alone. But a panel of some columns
of all rows is, at the cost of the pairs; what it becomes, times blocks of rows of the columns from
there on, is a panel of the symmetric result. Where X stores few values, H is a sparse matrix among
others, and blocks of its rows make sparse products. Rows without an active pair are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.loss_evaluation import SmoothEvaluation
from ..threads import in_order
from .long_query import BLOCK_BYTES, Floats, Range, Rows, ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vector = NDArray[np.float64]

PANEL_BYTES = 1 << 26
MOST_STORED = 1 << 24  # values of a sparse product


def given_hessian(
    X: Rows,
    loss: SmoothEvaluation,
    shift: Vector,
    scale: Vector,
    dtype: type[np.floating],
    n_threads: int,
    *,
    by_panels: bool = True,
) -> NDArray[np.float64]:
    """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H over given pairs.

    Parameters and result are those of `ranksvm.linear.hessian.weight_space_hessian`; unless
    `by_panels`, products are sparse, in double precision, and without the shift.
    """
    sweep = loss.sweep
    assert isinstance(sweep, _core.GivenSweep | _core.TopSweep)
    if by_panels or not isinstance(sweep, _core.GivenSweep):
        product = _by_panels(X, sweep, shift, scale, dtype, n_threads)
    else:
        product = _by_sparse_products(X, sweep, scale, n_threads)
    lower = np.tril(product) * (loss.curvature * sweep.unit)
    symmetric: NDArray[np.float64] = lower + np.tril(lower, -1).T
    return symmetric


def _by_panels(
    X: Rows,
    sweep: _core.GivenSweep | _core.TopSweep,
    shift: Vector,
    scale: Vector,
    dtype: type[np.floating],
    n_threads: int,
) -> NDArray[np.float64]:
    """Return the lower half of ``Z' M Z`` in the unit of the sweep."""
    n, d = X.shape
    result, active = np.zeros((d, d)), np.flatnonzero(sweep.degree())
    height = max(BLOCK_BYTES // (np.dtype(dtype).itemsize * max(d, 1)), 256)
    with in_order(n_threads) as ordered:
        for columns in ranges(0, d, int(np.clip(PANEL_BYTES // (8 * max(n, 1)), 1, max(d, 1)))):
            first, last = columns
            panel = X.gather((0, n, None), columns, shift, scale, np.float64)
            moved = _moved(sweep, panel, n_threads)[active].astype(dtype)

            def product(
                rows: Range, first: int = first, moved: Floats = moved
            ) -> NDArray[np.floating]:
                block = X.gather((*rows, active), (first, d), shift, scale, dtype)
                return block.T @ moved[slice(*rows)]

            for part in ordered(product, ranges(0, len(active), height)):
                result[first:, first:last] += part
    return result


def _moved(
    sweep: _core.GivenSweep | _core.TopSweep, panel: Floats, n_threads: int
) -> NDArray[np.float64]:
    """Return ``M panel`` in units that single precision can hold."""
    moved = sweep.laplacian(np.ascontiguousarray(panel, dtype=np.float64), n_threads=n_threads)
    moved /= sweep.unit
    return np.asarray(moved)


def _by_sparse_products(
    X: Rows, sweep: _core.GivenSweep, scale: Vector, n_threads: int
) -> NDArray[np.float64]:
    """Return the same, of what X stores."""
    from scipy.sparse import csr_array

    n, d = X.shape
    result, degrees = np.zeros((d, d)), sweep.degree()
    active = np.flatnonzero(degrees)
    if not len(active):
        return result
    start, partner, weight = sweep.graph(n_threads)
    graph: Any = csr_array((weight, partner.astype(np.int64), start), shape=(n, n))
    graph.eliminate_zeros()
    degree = csr_array((degrees, np.arange(n), np.arange(n + 1)), shape=(n, n))
    M: Any = (degree - graph)[active][:, active]
    M /= sweep.unit
    Z = stored_rows(X, scale, active)
    per_row = 1 + Z.nnz * M.nnz // len(active) ** 2
    for first, last in ranges(0, len(active), max(MOST_STORED // per_row, 1)):
        result += (Z[first:last].T @ (M[first:last] @ Z)).toarray()
    return result


def stored_rows(X: Rows, scale: Vector, rows: NDArray[np.int64]) -> csr_array:
    """Return what rows of X store, its columns scaled, as a sparse matrix of double precision."""
    from scipy.sparse import csr_array, vstack

    d = X.shape[1]
    height = max(BLOCK_BYTES // (8 * max(d, 1)), 1)
    blocks = (
        X.gather((first, last, rows), (0, d), np.zeros(d), scale, np.float64)
        for first, last in ranges(0, len(rows), height)
    )
    return vstack([csr_array(block) for block in blocks], format="csr")
