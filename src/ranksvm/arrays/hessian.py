"""The explicit Hessian X' H X of a loss in weight space, on a device, panel by panel.

A sweep multiplies a panel of columns by H, whatever the lengths of the queries, and a matrix
product with the columns from there on follows, block of rows by block of rows; of the symmetric
result, that is the lower half. As on the host, it is used for Newton steps only, for which matrix
products in single precision are enough once columns are standardised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..pairs.losses import SmoothEvaluation
    from .rows import DenseRows, SparseRows

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
        Precision of the matrix products; sweeps, and sums of blocks of rows, are in float64.

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    device = X.device
    n, d = X.shape
    on_device = device.asarray(shift), device.asarray(scale)
    precision = device.float32 if dtype is np.float32 else device.float64
    width = int(np.clip(PANEL_BYTES // (8 * n), 1, d))
    hessian = np.zeros((d, d))
    for first in range(0, d, width):
        last = min(first + width, d)
        panel = loss.hessian_product(X.columns(first, last, *on_device))
        product = X.t_product(device.xp.astype(panel, precision, copy=False), first, *on_device)
        hessian[first:, first:last] = device.to_host(product)
    lower = np.tril(hessian)
    symmetric: NDArray[np.float64] = lower + np.tril(lower, -1).T
    return symmetric
