"""The explicit Hessian X' H X for given pairs, panel by panel of columns.

Pairs lead anywhere, so that no block of rows is multiplied by H alone. But a panel of some columns
of all rows is, at the cost of the pairs; what it becomes, times blocks of rows of the columns from
there on, is a panel of the symmetric result. Panels and blocks depend on the shape alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.losses import SmoothEvaluation
from ..threads import in_order
from .long_query import BLOCK_BYTES, Floats, Range, Rows, ranges

PANEL_BYTES = 1 << 26


def given_hessian(
    X: Rows,
    loss: SmoothEvaluation,
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    dtype: type[np.floating],
    n_threads: int,
) -> NDArray[np.float64]:
    """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H over given pairs.

    Parameters and result are those of `ranksvm.linear.hessian.weight_space_hessian`.
    """
    sweep = loss.sweep
    assert isinstance(sweep, _core.GivenSweep | _core.TopSweep)
    n, d = X.shape
    hessian = np.zeros((d, d))
    height = max(BLOCK_BYTES // (np.dtype(dtype).itemsize * max(d, 1)), 256)
    with in_order(n_threads) as ordered:
        for columns in ranges(0, d, int(np.clip(PANEL_BYTES // (8 * max(n, 1)), 1, max(d, 1)))):
            first, last = columns
            panel = X.gather((0, n, None), columns, shift, scale, np.float64)
            moved = _moved(sweep, panel, n_threads).astype(dtype)

            def product(
                rows: Range, first: int = first, moved: Floats = moved
            ) -> NDArray[np.floating]:
                block = X.gather((*rows, None), (first, d), shift, scale, dtype)
                return block.T @ moved[slice(*rows)]

            for part in ordered(product, ranges(0, n, height)):
                hessian[first:, first:last] += part
    lower = np.tril(hessian) * (loss.curvature * sweep.unit)
    symmetric: NDArray[np.float64] = lower + np.tril(lower, -1).T
    return symmetric


def _moved(
    sweep: _core.GivenSweep | _core.TopSweep, panel: Floats, n_threads: int
) -> NDArray[np.float64]:
    """Return ``M panel`` in units that single precision can hold."""
    moved = sweep.laplacian(np.ascontiguousarray(panel, dtype=np.float64), n_threads=n_threads)
    moved /= sweep.unit
    return np.asarray(moved)
