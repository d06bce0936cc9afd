"""Where X is computed with: on the host by the compiled passes, or on a device."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from ..linear.design_matrix import DesignMatrix
from .libraries import csr_parts, is_sparse, library_of, on_gpu, to_host
from .matrix import ArrayMatrix
from .rows import DenseRows, SparseRows

if TYPE_CHECKING:
    from .device import ArrayDevice

# From how many stored values on ``device="auto"`` takes a GPU. Not measured yet: it is reckoned
# from the seconds that the libraries take to start, in which a CPU trains on about as many.
GPU_PAYS = 50_000_000

# What training takes at most beside X: for each row, by the sweeps of three points of a line search
# with all labels distinct, and for the panels of an explicit Hessian.
BYTES_PER_ROW = 2000
BYTES_OF_PANELS = 1 << 31


def design_matrix(X: Any, device: str | None = None) -> DesignMatrix | ArrayMatrix:
    """View X as a design matrix where `device` says, copied there if it is elsewhere.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features), float32 or float64
        Of NumPy and SciPy, or of Torch or CuPy on any device.
    device : {"cpu", "cuda", "cuda:N", "auto"} or None
        As for `RankSVM`.

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
    chosen = _choose(X, device)
    if chosen is None:
        return DesignMatrix.from_array(to_host(X))
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
        indptr, indices, values = map(device.asarray, (X.indptr, X.indices, X.data))
        return ArrayMatrix(SparseRows(device, indptr, indices, values, X.shape))
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
    from .device import ArrayDevice

    device = ArrayDevice.of(csr_parts(X)[2] if is_sparse(X) else X)
    if str(device.device).startswith("mps"):
        raise ValueError(
            f"X is on {device.device}, which has no double precision; move it to the CPU or to a "
            'CUDA device, or use device="cpu"'
        )
    return device


def _choose(X: Any, device: str | None) -> ArrayDevice | None:
    """Return the device to compute on, or None for the compiled passes on the host."""
    library = library_of(X)
    known = device is None or (isinstance(device, str) and _DEVICES.fullmatch(device))
    if not known:
        raise ValueError(f'device must be None, "cpu", "cuda", "cuda:N" or "auto", not {device!r}')
    if device == "cpu" or (device is None and library is None):
        return None
    if device is None or (on_gpu(X) and device in ("cuda", "auto")):
        return device_of(X)
    if device == "auto" and _n_values(X) < GPU_PAYS:
        return None
    from .gpus import find_gpu

    if device != "auto":
        return find_gpu(int(device.partition(":")[2] or 0), library)
    try:
        return find_gpu()
    except (ImportError, ValueError):
        return None


def _n_values(X: Any) -> int:
    """Return how many values X stores."""
    if hasattr(X, "indptr"):
        return int(X.nnz)
    return int(csr_parts(X)[2].shape[0]) if is_sparse(X) else X.shape[0] * X.shape[1]


_DEVICES = re.compile(r"cpu|cuda(:\d+)?|auto")
