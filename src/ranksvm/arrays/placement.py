"""Where X is computed with: on the host by the compiled passes, or on a device."""

from __future__ import annotations

import warnings
from typing import Any

from ..errors import InputError
from ..linear.design_matrix import DesignMatrix
from ..linear.occurring import IN_TRAINING, occurring
from .device import ArrayDevice
from .libraries import csr_parts, is_sparse, library_of, on_gpu, to_host
from .matrix import ArrayMatrix
from .names import DeviceName
from .rows import DenseRows, SparseRows

# What training takes at most beside X: for each row, by the sweeps of three points of a line search
# with all labels distinct, and for the panels of an explicit Hessian.
BYTES_PER_ROW = 2000
BYTES_OF_PANELS = 1 << 31


def design_matrix(
    X: Any, device: str | None = None, spare: float = IN_TRAINING
) -> DesignMatrix | ArrayMatrix:
    """View X as a design matrix where `device` says, copied there if it is elsewhere.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features), float32 or float64
        Of NumPy and SciPy, or of Torch or CuPy on any device.
    device : str or None
        As for `RankSVM`.
    spare : float, default=0.25
        Of SciPy's matrices, as for `DesignMatrix.from_array`.

    Raises
    ------
    ValueError
        If there is no such device, or it has no double precision.
    ImportError
        If no library for it is installed.
    MemoryError
        If it has too little memory; with an estimate, and what to do.

    Warns
    -----
    UserWarning
        If blocks of X are to be copied to the device again and again, since it cannot hold X.
    """
    if device is None:
        chosen = None if library_of(X) is None else device_of(X)
    else:
        chosen = named_device(device, X)
    if chosen is None:
        return DesignMatrix.from_array(to_host(X), spare)
    if library_of(X) is None or device_of(X) != chosen:
        return copied(to_host(X), chosen)
    if is_sparse(X):
        return ArrayMatrix(SparseRows(chosen, *csr_parts(X), tuple(X.shape)))
    return ArrayMatrix(DenseRows(chosen, X))


def copied(X: Any, device: ArrayDevice) -> ArrayMatrix:
    """Copy a matrix of NumPy or SciPy to a device; block by block, if it does not fit there."""
    from .gpus import free_memory

    sparse = hasattr(X, "indptr")
    needed = 2 * X.nnz * (8 + X.indices.itemsize) if sparse else X.nbytes
    beside = X.shape[0] * BYTES_PER_ROW + BYTES_OF_PANELS
    free = free_memory(device)
    if free is None or needed + beside <= free:
        if not sparse:
            return ArrayMatrix(DenseRows(device, device.asarray(X)))
        *places, columns = occurring(X.indptr, X.indices, X.shape[1])
        indptr, indices, values = map(device.asarray, (*places, X.data))
        shape = (X.shape[0], len(columns))
        return ArrayMatrix(SparseRows(device, indptr, indices, values, shape), columns=columns)
    estimate = (
        f"X takes about {needed / 2**30:.1f} GiB and training {beside / 2**30:.1f} GiB more, where "
        f"{free / 2**30:.1f} GiB are free"
    )
    if sparse or beside > free:
        raise MemoryError(
            f"too little memory on {device.device}: {estimate}; free some, train on fewer rows, or "
            'use device="cpu"'
        )
    warnings.warn(
        f"X stays on the host, too little memory on {device.device}: {estimate}; its rows are "
        "copied there block by block in every pass, which takes its time",
        UserWarning,
        stacklevel=4,
    )
    return ArrayMatrix(DenseRows(device, X, streamed=True))


def device_of(X: Any) -> ArrayDevice:
    """Return the device of an array of Torch or CuPy, dense or sparse.

    Raises
    ------
    ValueError
        If it has no double precision.
    """
    device = ArrayDevice.of(csr_parts(X)[2] if is_sparse(X) else X)
    if str(device.device).startswith("mps"):
        raise InputError(
            f"X is on {device.device}, which has no double precision; move it to the CPU or to a "
            'CUDA device, or use device="cpu"'
        )
    return device


def named_device(name: str, X: Any = None) -> ArrayDevice | None:
    """Return the device of a name, or None for the compiled passes on the host.

    A GPU without a number is that of X, if X is on one; of libraries, that of X goes first.
    """
    named, library = DeviceName.parse(name), library_of(X)
    if not named.is_gpu:
        return None if named.library is None else ArrayDevice.named(name)
    if on_gpu(X) and named.number is None and named.library in (None, library):
        return device_of(X)
    from .gpus import find_gpu

    found_first = ("cupy", "torch") if library == "cupy" else ("torch", "cupy")
    return find_gpu(named.number or 0, (named.library,) if named.library else found_first)
