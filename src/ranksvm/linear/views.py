"""Rows and scaled columns of a matrix, seen through its products: nothing is copied.

A view offers the products of what it views, so that views of views work, too.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .matrix import Rounded
from .sparse_hessian import SparseRows

Floats = NDArray[np.floating]
Vector = NDArray[np.float64]
RowIndex: TypeAlias = slice | NDArray[np.integer]


class Block(NamedTuple):
    """Rows and columns of ``(X - shift) * scale``.

    Attributes
    ----------
    first, last : int
    order : ndarray of int64, or None
        The rows are ``order[first:last]``, or ``first:last``.
    first_column, last_column : int
    shift, scale : ndarray of shape (n_features,)
    """

    first: int
    last: int
    order: NDArray[np.int64] | None
    first_column: int
    last_column: int
    shift: Vector
    scale: Vector


class Products(Protocol):
    """What a matrix can do, stored or seen through a view."""

    @property
    def rows_in_a_sum(self) -> int:
        """How many rows products with the transpose add up one after the other."""

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X @ w``."""

    def dot_within(self, w: Vector, n_threads: int) -> tuple[Vector, Vector]:
        """Return ``X @ w``, and a bound of the rounding of each element."""

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u``."""

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` as two columns."""

    def gather(self, block: Block, dtype: type[np.floating], out: Floats | None = None) -> Floats:
        """Copy a block, dense, as float32 or float64; into an array of that type, if given."""

    def rows(self, rows: RowIndex) -> Products:
        """Return some rows: a view of those that are adjacent, a dense copy of others."""

    def columns(self, columns: NDArray[np.int64]) -> Products:
        """Copy some columns, in ascending order."""

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""

    def rounded(self, n_threads: int) -> Rounded | None:
        """Return products with a copy in single precision, made once; None if there is none."""

    def centered(self) -> Products:
        """View X with columns that lie far from zero brought near it; if none does, X itself."""


class TakenRows:
    """The matrix ``X[rows]``; a row may come more than once.

    Products with vectors pass over all of X; an explicit Hessian gathers the taken rows only.
    """

    def __init__(self, X: Products, rows: NDArray[np.int64], n_samples: int) -> None:
        self._X = X
        self.rows_in_a_sum: int = X.rows_in_a_sum
        self._rows = np.ascontiguousarray(rows, dtype=np.int64)
        self._n_samples = n_samples

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X[rows] @ w``."""
        return self._X.dot(w, n_threads)[self._rows]

    def dot_within(self, w: Vector, n_threads: int) -> tuple[Vector, Vector]:
        """Return ``X[rows] @ w``, and a bound of the rounding of each element."""
        scores, bound = self._X.dot_within(w, n_threads)
        return scores[self._rows], bound[self._rows]

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``X[rows].T @ u``."""
        return self._X.t_dot(self._spread(u), n_threads)

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``X[rows].T @ u`` and ``(X * X)[rows].T @ v`` as two columns."""
        return self._X.t_dot_squares(self._spread(u), self._spread(v), n_threads)

    def gather(self, block: Block, dtype: type[np.floating], out: Floats | None = None) -> Floats:
        """Copy a block, dense, as float32 or float64; into an array of that type, if given."""
        if block.order is None:
            return self._X.gather(block._replace(order=self._rows), dtype, out)
        rows = self._rows[block.order[block.first : block.last]]
        return self._X.gather(block._replace(first=0, last=len(rows), order=rows), dtype, out)

    def rows(self, rows: RowIndex) -> Products:
        """Return some rows: a dense copy."""
        return self._X.rows(self._rows[rows])

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""
        X = self._X.sparse_rows()
        if X is None:
            return None
        return X._replace(rows=self._rows if X.rows is None else X.rows[self._rows])

    def rounded(self, n_threads: int) -> Rounded | None:
        """Return products with the same rows of a copy in single precision."""
        X = self._X.rounded(n_threads)
        if X is None:
            return None
        return Rounded(
            lambda w, n_threads: X.dot(w, n_threads)[self._rows],
            lambda u, n_threads: X.t_dot(self._spread(u), n_threads),
            X.rounding,
        )

    def columns(self, columns: NDArray[np.int64]) -> Products:
        """Copy some columns, in ascending order."""
        return TakenRows(self._X.columns(columns), self._rows, self._n_samples)

    def centered(self) -> Products:
        """View the same rows of X, centered."""
        X = self._X.centered()
        return self if X is self._X else TakenRows(X, self._rows, self._n_samples)

    def _spread(self, u: Vector) -> Vector:
        return np.bincount(self._rows, u, self._n_samples).astype(np.float64, copy=False)


class ScaledColumns:
    """The matrix ``X * scale``, for positive factors of shape (n_features,)."""

    def __init__(self, X: Products, scale: Vector) -> None:
        self._X = X
        self.rows_in_a_sum: int = X.rows_in_a_sum
        self._scale = scale

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale) @ w``."""
        return self._X.dot(self._scale * w, n_threads)

    def dot_within(self, w: Vector, n_threads: int) -> tuple[Vector, Vector]:
        """Return ``(X * scale) @ w``, and a bound of the rounding of each element."""
        return self._X.dot_within(self._scale * w, n_threads)

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale).T @ u``."""
        return self._scale * self._X.t_dot(u, n_threads)

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``(X * scale).T @ u`` and the same of squares with v, as two columns."""
        both = self._X.t_dot_squares(u, v, n_threads)
        return both * np.stack([self._scale, self._scale**2], axis=1)

    def gather(self, block: Block, dtype: type[np.floating], out: Floats | None = None) -> Floats:
        """Copy a block, dense, as float32 or float64; into an array of that type, if given."""
        shift, scale = block.shift / self._scale, block.scale * self._scale
        return self._X.gather(block._replace(shift=shift, scale=scale), dtype, out)

    def rows(self, rows: RowIndex) -> Products:
        """Return some rows: a view of those that are adjacent, a dense copy of others."""
        return ScaledColumns(self._X.rows(rows), self._scale)

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""
        X = self._X.sparse_rows()
        return None if X is None else X.scaled(self._scale)

    def rounded(self, n_threads: int) -> Rounded | None:
        """Return products with the same columns of a copy in single precision."""
        X = self._X.rounded(n_threads)
        if X is None:
            return None
        return Rounded(
            lambda w, n_threads: X.dot(self._scale * w, n_threads),
            lambda u, n_threads: self._scale * X.t_dot(u, n_threads),
            X.rounding * float(self._scale.max(initial=0.0)),
        )

    def columns(self, columns: NDArray[np.int64]) -> Products:
        """Copy some columns, in ascending order."""
        return ScaledColumns(self._X.columns(columns), self._scale[columns])

    def centered(self) -> Products:
        """View the same columns of X, centered."""
        X = self._X.centered()
        return self if X is self._X else ScaledColumns(X, self._scale)


class LastProduct:
    """A matrix that remembers its last product ``X @ w``, for views that ask for the same one.

    Not for several threads at a time.
    """

    def __init__(self, X: Products) -> None:
        self._last: tuple[Vector, Vector] | None = None
        self._X = X
        self.rows_in_a_sum: int = X.rows_in_a_sum
        self.t_dot = X.t_dot
        self.t_dot_squares = X.t_dot_squares
        self.gather = X.gather
        self.columns = X.columns
        self.rows = X.rows
        self.sparse_rows = X.sparse_rows
        self.rounded = X.rounded

    def dot_within(self, w: Vector, n_threads: int) -> tuple[Vector, Vector]:
        """Return ``X @ w``, to be left as it is, and a bound of the rounding of each element."""
        scores, bound = self._X.dot_within(w, n_threads)
        self._last = w.copy(), scores
        return scores, bound

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X @ w``, to be left as it is."""
        if self._last is None or not np.array_equal(w, self._last[0]):
            self._last = w.copy(), self._X.dot(w, n_threads)
        return self._last[1]

    def centered(self) -> Products:
        """View X, centered, with a memory of its own; if that is X itself, this."""
        X = self._X.centered()
        return self if X is self._X else LastProduct(X)
