"""Rows on a device, checked as scikit-learn checks those on the host, where they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from ..arrays.device import ArrayDevice
from ..arrays.libraries import csr_parts, is_sparse, library_of
from ..errors import InputError

CHECKED_VALUES = 1 << 24  # at a time


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return rows of float32 or float64, dense or CSR.

    Parameters
    ----------
    estimator : estimator
        Whose `n_features_in_` is set, or else is to be met.
    X : array of shape (n_samples, n_features)
        Of Torch or CuPy, dense or sparse.
    reset : bool

    Raises
    ------
    ValueError
        If X has no two dimensions, no rows, no columns, another number of columns than the
        estimator was fitted with, or values that are complex, infinite or missing.
    """
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}")
    for count, what in zip(X.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InputError(f"Found array with 0 {what}(s) (shape={tuple(X.shape)})")
    if library_of(X) == "torch":
        X = X.detach()
    values = csr_parts(X)[2] if is_sparse(X) else X
    device = ArrayDevice.of(values)
    xp = device.xp
    if xp.isdtype(X.dtype, "complex floating"):
        raise InputError("Complex data not supported")
    if X.dtype not in (device.float32, device.float64):
        X = X.to(device.float64) if library_of(X) == "torch" else X.astype(device.float64)
    _refuse_infinite(values, xp)
    return validate_data(estimator, X, reset=reset, skip_check_array=True)


def _refuse_infinite(values: Any, xp: Any) -> None:
    n_rows = max(CHECKED_VALUES * values.shape[0] // max(math.prod(values.shape), 1), 1)
    for first in range(0, values.shape[0], n_rows):
        if not bool(xp.all(xp.isfinite(values[first : first + n_rows]))):
            raise InputError(
                "Input X contains NaN or infinity; impute or drop these values before training"
            )


def check_labels(X: Any, y: ArrayLike | None) -> NDArray[np.float64]:
    """Return the labels on the host, one for each row of X."""
    check_consistent_length(X, y)
    vector: NDArray[np.float64] = column_or_1d(y, warn=True)
    return vector
