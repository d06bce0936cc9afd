"""Which arrays live in an array library of devices; nothing here imports one.

An array of a library that has not been imported cannot exist, so that those that have been are
enough to ask.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def name_of(xp: Any) -> str:
    """Return "numpy", "torch" or "cupy" for the namespace of one of these."""
    return str(xp.__name__).rpartition(".")[2]


def library_of(array: Any) -> str | None:
    """Return "torch" or "cupy" for an array of these, dense or sparse; None for all else."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(array, torch.Tensor):
        return "torch"
    if cupy is not None and (isinstance(array, cupy.ndarray) or _is_cupy_sparse(array)):
        return "cupy"
    return None


def on_gpu(array: Any) -> bool:
    """Whether an array lives on a GPU."""
    return library_of(array) == "cupy" or (library_of(array) == "torch" and bool(array.is_cuda))


def is_sparse(array: Any) -> bool:
    """Whether an array of a library is sparse."""
    if library_of(array) == "torch":
        return str(array.layout) != "torch.strided"
    return _is_cupy_sparse(array)


def _is_cupy_sparse(array: Any) -> bool:
    sparse = sys.modules.get("cupyx.scipy.sparse")
    return sparse is not None and bool(sparse.issparse(array))


def csr_parts(X: Any) -> tuple[Any, Any, Any]:
    """Return indptr, indices and values of a sparse matrix of a library, as CSR."""
    if library_of(X) == "torch":
        X = X.detach().to_sparse_csr()
        return X.crow_indices(), X.col_indices(), X.values()
    X = X.tocsr()
    return X.indptr, X.indices, X.data


def to_host(array: Any) -> Any:
    """Return an array of a library as one of NumPy or SciPy, and all else as it is."""
    library = library_of(array)
    if library is None:
        return array
    if is_sparse(array):
        from scipy import sparse

        indptr, indices, values = map(to_host, csr_parts(array))
        return sparse.csr_matrix((values, indices, indptr), shape=tuple(array.shape))
    host: np.ndarray[Any, Any] = array.detach().cpu().numpy() if library == "torch" else array.get()
    return np.asarray(host, order="C")


@contextmanager
def within_memory() -> Iterator[None]:
    """Say in a sentence that a device has run out of memory, whatever its library says.

    Raises
    ------
    MemoryError
        In place of the error of the library.
    """
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":  # of Torch, or of CuPy
            raise
        raise MemoryError(
            "the device ran out of memory in training; free some, train on fewer rows, or use "
            'device="cpu"'
        ) from error
