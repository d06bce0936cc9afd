"""Rows and scaled columns of a matrix of the core, seen through its products: nothing is copied.

A view offers the products of what it views, so that views of views work, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class _View:
    """A view whose blocks are blocks of what it views."""

    _core: Any

    def gather32(self, *place: Any) -> NDArray[np.float32]:
        """Copy a block, in single precision."""
        block: NDArray[np.float32] = self._core.gather32(*self._of_viewed(*place))
        return block

    def gather64(self, *place: Any) -> Vector:
        """Copy a block."""
        block: Vector = self._core.gather64(*self._of_viewed(*place))
        return block

    def _of_viewed(self, *place: Any) -> tuple[Any, ...]:
        raise NotImplementedError


class TakenRows(_View):
    """The matrix ``X[rows]``; a row may come more than once.

    Products with vectors pass over all of X; an explicit Hessian gathers the taken rows only.
    """

    def __init__(self, core: Any, rows: NDArray[np.int64], n_samples: int) -> None:
        self._core = core
        self._rows = np.ascontiguousarray(rows, dtype=np.int64)
        self._n_samples = n_samples

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X[rows] @ w``."""
        product: Vector = self._core.dot(w, n_threads=n_threads)[self._rows]
        return product

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``X[rows].T @ u``."""
        product: Vector = self._core.t_dot(self._spread(u), n_threads=n_threads)
        return product

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``X[rows].T @ u`` and ``(X * X)[rows].T @ v`` as two columns."""
        both: Vector = self._core.t_dot_squares(
            self._spread(u), self._spread(v), n_threads=n_threads
        )
        return both

    def _spread(self, u: Vector) -> Vector:
        return np.bincount(self._rows, u, self._n_samples).astype(np.float64, copy=False)

    def _of_viewed(self, *place: Any) -> tuple[Any, ...]:
        first, last, order, *rest = place
        if order is None:
            return first, last, self._rows, *rest
        return 0, last - first, self._rows[order[first:last]], *rest


class ScaledColumns(_View):
    """The matrix ``X * scale``, for positive factors of shape (n_features,)."""

    def __init__(self, core: Any, scale: Vector) -> None:
        self._core = core
        self._scale = scale

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale) @ w``."""
        product: Vector = self._core.dot(self._scale * w, n_threads=n_threads)
        return product

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale).T @ u``."""
        product: Vector = self._scale * self._core.t_dot(u, n_threads=n_threads)
        return product

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale).T @ u`` and the same of squares with v, as two columns."""
        both: Vector = self._core.t_dot_squares(u, v, n_threads=n_threads)
        return both * np.stack([self._scale, self._scale**2], axis=1)

    def _of_viewed(self, *place: Any) -> tuple[Any, ...]:
        *block, shift, scale = place
        return *block, shift / self._scale, scale * self._scale


class LastProduct:
    """A matrix that remembers its last product ``X @ w``, for views that ask for the same one.

    Not for several threads at a time.
    """

    def __init__(self, core: Any) -> None:
        self._core = core
        self._last: tuple[Vector, Vector] | None = None

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X @ w``, to be left as it is."""
        if self._last is None or not np.array_equal(w, self._last[0]):
            self._last = w.copy(), self._core.dot(w, n_threads=n_threads)
        return self._last[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)
