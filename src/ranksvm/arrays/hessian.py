"""The explicit Hessian X' H X of a loss in weight space, on a device.

Where queries are short, pairs are written down as dense blocks W of the rows Z of some queries, so
that matrix products are all that it takes: with the degrees ``D = diag(W 1)``, each block adds
``Z' (D Z - W Z)``. Constants in a query have no part in that, and so its mean is taken off first.

Else it goes panel by panel: a sweep multiplies a panel of columns by H, whatever the lengths of the
queries, and a matrix product with the columns from there on follows, block of rows by block of
rows; of the symmetric result, that is the lower half.

As on the host, the Hessian is used for Newton steps only, for which matrix products in single
precision are enough once columns are standardised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .query_blocks import pair_unit, query_blocks, suits_blocks
from .rows import DenseRows
from .sweep import ArraySweep

if TYPE_CHECKING:
    from ..pairs.loss_evaluation import SmoothEvaluation
    from .rows import SparseRows

Array = Any  # of the device's library
Vector = NDArray[np.float64]
PANEL_BYTES = 1 << 28


def weight_space_hessian(
    X: DenseRows | SparseRows,
    loss: SmoothEvaluation,
    shift: Vector,
    scale: Vector,
    dtype: type[np.floating],
) -> NDArray[np.float64]:
    """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H of the loss.

    Parameters
    ----------
    X : DenseRows or SparseRows of shape (n_samples, n_features)
    loss : SmoothEvaluation
        On the device of X.
    shift, scale : ndarray of shape (n_features,)
    dtype : numpy.float32 or numpy.float64
        Precision of the matrix products; what they are made of, and sums of blocks, are in float64.

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    device = X.device
    on_device = device.asarray(shift), device.asarray(scale)
    precision = device.float32 if dtype is np.float32 else device.float64
    sweep = loss.sweep
    if (
        isinstance(X, DenseRows)
        and isinstance(sweep, ArraySweep)
        and suits_blocks(sweep.layout, X.shape[1])
    ):
        hessian = loss.curvature * _of_blocks(X, sweep, on_device[1], precision)
    else:
        hessian = _of_panels(X, loss, *on_device, precision)
    lower = np.tril(hessian)
    symmetric: NDArray[np.float64] = lower + np.tril(lower, -1).T
    return symmetric


def _of_blocks(
    X: DenseRows, sweep: ArraySweep, scale: Array, precision: Any
) -> NDArray[np.float64]:
    """Compute ``Z' M Z`` from the pairs of one block of queries after the other.

    No shift makes a difference to it, as the mean of each query is taken off.
    """
    device, xp, d = X.device, X.device.xp, X.shape[1]
    layout = sweep.layout
    total = xp.zeros((d, d), dtype=device.float64, device=device.device)
    for block in query_blocks(layout, d):
        slots, weights = block.adjacency(sweep.windows, precision)
        rows = layout.rows(xp.reshape(slots, (-1,)))
        Z = xp.reshape(X.rows_at(rows, scale), (*slots.shape, d))
        Z = xp.astype(Z - xp.mean(Z, axis=1, keepdims=True), precision)
        product = xp.sum(weights, axis=2)[:, :, None] * Z - weights @ Z
        flat = (xp.reshape(of, (-1, d)) for of in (Z, product))
        total += xp.astype(next(flat).T @ next(flat), device.float64)
    hessian: NDArray[np.float64] = device.to_host(total * pair_unit(layout))
    return hessian


def _of_panels(
    X: DenseRows | SparseRows, loss: SmoothEvaluation, shift: Array, scale: Array, precision: Any
) -> NDArray[np.float64]:
    """Compute the lower half of ``Z' H Z`` from the products of one panel after the other."""
    device, (n, d) = X.device, X.shape
    width = int(np.clip(PANEL_BYTES // (8 * n), 1, d))
    hessian = np.zeros((d, d))
    for first in range(0, d, width):
        last = min(first + width, d)
        panel = loss.hessian_product(X.columns(first, last, shift, scale))
        product = X.t_product(device.xp.astype(panel, precision, copy=False), first, shift, scale)
        hessian[first:, first:last] = device.to_host(product)
    return hessian
