"""Kernels by name, and what a matrix must be to be one of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.design_matrix import DesignMatrix
from ..linear.parameters import require_number
from ..linear.row_space import less_means
from ..threads import map_in_order

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
_ROUNDING = 1e-10  # of a matrix of a kernel, in the size of its largest element
_BLOCK_ROWS = 512
_SCORED_ROWS = 1024


@dataclass(frozen=True)
class Kernel:
    """A kernel, as a name or function and its parameters.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        With rows x and z:

        - "linear": ``x'z``;
        - "rbf": ``exp(-gamma |x - z|^2)``;
        - "polynomial" or "poly": ``(gamma x'z + coef0)^degree``;
        - "sigmoid": ``tanh(gamma x'z + coef0)``, which is positive semidefinite for some data only;
        - any other name of `sklearn.metrics.pairwise.pairwise_kernels`, such as "laplacian",
          "cosine" or "chi2";
        - "precomputed": rows are not features but values of a kernel with the training rows;
        - a function of two matrices of rows that returns the matrix of kernel values, as for
          `sklearn.svm.SVC`.
    gamma : float or "scale", optional
        By default 1 / n_features; "scale" is ``1 / (n_features * X.var())`` of the training rows,
        as for `sklearn.svm.SVC`, which `fitted` puts in its place.
    degree : float, default=3
    coef0 : float, default=1

    Raises
    ------
    ValueError
        If a parameter is out of range or no kernel has this name.
    """

    kernel: str | Callable[[Any, Any], Any] = "linear"
    gamma: float | str | None = None
    degree: float = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise InputError(f"gamma must be a number, None or 'scale', not {self.gamma!r}")
        if not (self.gamma is None or isinstance(self.gamma, str)):
            require_number("gamma", self.gamma, positive=True)
        require_number("degree", self.degree, positive=True)
        if isinstance(self.coef0, bool | str) or not np.isfinite(self.coef0):
            raise InputError(f"coef0 must be finite, not {self.coef0!r}")
        if not callable(self.kernel) and self.kernel not in _names():
            raise InputError(
                f"kernel must be a function or one of {', '.join(map(repr, _names()))}, not "
                f"{self.kernel!r}"
            )

    def fitted(self, X: Any) -> Kernel:
        """Return the kernel with the width that "scale" stands for on training rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
        """
        if self.gamma != "scale":
            return self
        square = (X.multiply(X) if hasattr(X, "multiply") else X * X).mean()
        variance = float(square - X.mean() ** 2)
        return replace(self, gamma=1.0 / (X.shape[1] * variance) if variance > 0 else 1.0)

    @property
    def is_precomputed(self) -> bool:
        """Whether rows are values of a kernel themselves."""
        return self.kernel == "precomputed"

    def between(self, X: Any, X_train: Any) -> Matrix:
        """Return the kernel values of rows with the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For "precomputed": the kernel values, of shape (n_samples, n_train).
        X_train : array-like or sparse matrix of shape (n_train, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_train), float64

        Raises
        ------
        ValueError
            If a value is not finite, or there are not as many as rows.
        """
        # What overflows is refused below.
        with np.errstate(over="ignore", invalid="ignore"):
            K = _as_matrix(self._values(X, X_train))
        shape = (X.shape[0], X_train.shape[0])
        if K.shape != shape:
            raise InputError(
                f"the kernel {self} of {shape[0]} rows with {shape[1]} must be a matrix of shape "
                f"{shape}, not {K.shape}"
            )
        _require_finite(K, self)
        return K

    def scores(self, X: Any, X_train: Any, coef: Vector, n_threads: int = 1) -> Vector:
        """Return ``sum_p coef_p k(x_p, x)`` for each row x, computed for some rows at a time.

        Parameters
        ----------
        X, X_train : array-like or sparse matrix
            As for `between`.
        coef : ndarray of shape (n_train,)
        n_threads : int, default=1
            Does not change the result.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        blocks = (X[start : start + _SCORED_ROWS] for start in range(0, X.shape[0], _SCORED_ROWS))
        parts = map_in_order(lambda block: self.between(block, X_train) @ coef, blocks, n_threads)
        return np.concatenate([np.empty(0), *parts])

    def matrix(self, X: Any, max_memory: float = np.inf) -> Matrix:
        """Return the kernel values of the training rows with each other, centred.

        From each row and column its mean is taken, so that the sums are zero. No difference of
        scores within the training rows changes by that, and where features have large means, it
        takes a large part of the rounding away.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            For "precomputed": the matrix, of shape (n_samples, n_samples).
        max_memory : float, optional
            Bytes that the matrix may take.

        Returns
        -------
        ndarray of shape (n_samples, n_samples), float64
            Symmetric, and positive semidefinite up to rounding.

        Raises
        ------
        ValueError
            If the matrix takes more than `max_memory`, a value is not finite, or the matrix,
            beyond rounding, is not symmetric or, once centred, not positive semidefinite.
        """
        n = X.shape[0]
        needed = 2 * 8.0 * n * n  # the matrix and what it takes to check it
        if needed > max_memory:
            raise InputError(
                f"the kernel matrix of {n:,} rows takes {needed / 1e9:.3g} GB with its checks, "
                f"more than max_memory={max_memory / 1e9:.3g} GB; use fewer rows, raise "
                "max_memory, or approximate the kernel: RankSVM on the features of "
                "sklearn.kernel_approximation.Nystroem or RBFSampler"
            )
        K = self._by_products(X)
        if K is None:
            K = self.between(X, X)
        scale = float(max(K.max(), -K.min()))
        _require_symmetric(K, self, scale)
        K = _centred(K)
        _require_semidefinite(K, self, scale)
        return K

    def _by_products(self, X: Any) -> Matrix | None:
        """Return the values of sparse rows by their dot products; None where that cannot be."""
        values = None if callable(self.kernel) else _OF_PRODUCTS.get(self.kernel)
        if values is None or getattr(X, "format", None) != "csr" or X.dtype not in _FLOATS:
            return None
        rows = DesignMatrix.from_array(X).sparse_rows()
        assert rows is not None
        # What overflows is left for others to refuse.
        with np.errstate(over="ignore", invalid="ignore"):
            K = values(self, rows.core.gram(None, rows.scale, None), self._width(X.shape[1]))
            return K if np.isfinite(K.sum()) else None

    def _width(self, n_features: int) -> float:
        """Return gamma, or its default."""
        assert not isinstance(self.gamma, str)
        return 1.0 / n_features if self.gamma is None else float(self.gamma)

    def __str__(self) -> str:
        return repr(getattr(self.kernel, "__name__", self.kernel))

    def _values(self, X: Any, X_train: Any) -> Any:
        if self.kernel == "precomputed":
            return X
        if callable(self.kernel):
            return self.kernel(X, X_train)
        from sklearn.metrics.pairwise import pairwise_kernels

        try:
            return pairwise_kernels(
                X,
                X_train,
                metric=self.kernel,
                filter_params=True,
                gamma=self._width(X.shape[1]),
                degree=self.degree,
                coef0=self.coef0,
            )
        except ValueError as error:  # of features that have no such kernel
            raise InputError(f"the kernel {self}: {error}") from None


def _polynomial(kernel: Kernel, products: Matrix, gamma: float) -> Matrix:
    return np.asarray((gamma * products + kernel.coef0) ** kernel.degree, dtype=np.float64)


def _rbf(_: Kernel, products: Matrix, gamma: float) -> Matrix:
    squares = products.diagonal().copy()
    for row, own in zip(products, squares, strict=True):
        np.exp(-gamma * np.maximum(own + squares - 2 * row, 0.0), out=row)
    return products


# The values of kernels that are functions of the dot products of two rows and of each with itself.
_OF_PRODUCTS: dict[str, Callable[[Kernel, Matrix, float], Matrix]] = {
    "linear": lambda _, products, __: products,
    "rbf": _rbf,
    "polynomial": _polynomial,
    "poly": _polynomial,
    "sigmoid": lambda kernel, products, gamma: np.tanh(gamma * products + kernel.coef0),
}
_FLOATS = (np.float32, np.float64)


def _names() -> list[str]:
    from sklearn.metrics.pairwise import kernel_metrics

    return [*sorted(kernel_metrics()), "precomputed"]


def _as_matrix(values: Any) -> Matrix:
    from scipy import sparse

    if sparse.issparse(values):
        values = values.toarray()
    return np.ascontiguousarray(values, dtype=np.float64)


def _require_finite(K: Matrix, kernel: Kernel) -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # of values that are finite, too
        if np.isfinite(K.sum()):
            return
    bad = np.argwhere(~np.isfinite(K))
    if len(bad):
        i, j = bad[0]
        raise InputError(f"the kernel {kernel} must be finite; rows {i} and {j} have {K[i, j]}")


def _require_symmetric(K: Matrix, kernel: Kernel, scale: float) -> None:
    for start in range(0, len(K), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        asymmetry = np.abs(K[block] - K[:, block].T)
        if np.max(asymmetry) > _ROUNDING * scale:
            i, j = np.unravel_index(np.argmax(asymmetry), asymmetry.shape)
            i += start
            raise InputError(
                f"the kernel {kernel} is not symmetric: rows {i} and {j} have {K[i, j]:g}, but "
                f"rows {j} and {i} have {K[j, i]:g}"
            )


def _centred(K: Matrix) -> Matrix:
    """Return a symmetric copy with rows and columns that sum to zero."""
    return less_means((K + K.T) / 2)


def _require_semidefinite(K: Matrix, kernel: Kernel, scale: float) -> None:
    """Refuse a centred matrix unless it has a Cholesky factor once lifted by rounding."""
    lift = _ROUNDING * scale * len(K)
    lifted = K.copy()
    lifted[np.diag_indices_from(lifted)] += lift
    _, order = scipy.linalg.lapack.dpotrf(lifted, overwrite_a=True, clean=False)
    if order == 0:
        return
    least = scipy.linalg.eigh(K, subset_by_index=[0, 0], eigvals_only=True)[0]
    if least < -lift:
        raise InputError(
            f"the kernel {kernel} is not positive semidefinite for these rows: once centred, its "
            f"matrix has the eigenvalue {least:g}; use another kernel, or other parameters"
        )
