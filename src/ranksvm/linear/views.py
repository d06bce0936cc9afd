"""Rows and scaled columns of a matrix of the core, seen through its products: nothing is copied.

A view offers the products of what it views, so that views of views work, too.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .matrix import Rounded
from .offsets import column_offsets, sampled_rows
from .sparse_hessian import CoreCsr, SparseRows

Vector = NDArray[np.float64]
RowIndex: TypeAlias = slice | NDArray[np.integer]
CoreMatrix: TypeAlias = _core.DenseMatrix32 | _core.DenseMatrix64 | CoreCsr


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

    def gather(self, block: Block, dtype: type[np.floating]) -> NDArray[np.floating]:
        """Copy a block, dense, as float32 or float64."""

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


class SparseArrays(NamedTuple):
    """The arrays of a CSR matrix."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    values: NDArray[np.floating]

    def columns(self, columns: NDArray[np.int64], n_columns: int) -> SparseArrays:
        """Copy some of so many columns, in ascending order."""
        places = np.full(n_columns, -1, dtype=self.indices.dtype)
        places[columns] = np.arange(len(columns))
        n_stored = int(self.indptr[-1])
        found = places[self.indices[:n_stored]]
        kept = np.flatnonzero(found >= 0)
        indptr = np.searchsorted(kept, self.indptr).astype(self.indptr.dtype)
        return SparseArrays(indptr, found[kept], self.values[:n_stored][kept])


class Stored:
    """A matrix of the core, less an offset of each column."""

    def __init__(
        self,
        core: CoreMatrix,
        shape: tuple[int, int],
        offset: Vector | None = None,
        source: NDArray[Any] | SparseArrays | None = None,
    ):
        self._core = core
        self._shape = shape
        self._offset = offset
        self.source = source
        self.rows_in_a_sum: int = core.rows_in_a_sum
        self._rounded: _core.RoundedRows | None = None
        self._rounding = Lock()

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X @ w``."""
        return self._core.dot(w, self._offset, n_threads=n_threads)

    def dot_within(self, w: Vector, n_threads: int) -> tuple[Vector, Vector]:
        """Return ``X @ w``, and a bound of the rounding of each element."""
        scores, bound = self._core.dot_within(w, self._offset, n_threads=n_threads)
        return scores, bound

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u``."""
        return self._core.t_dot(u, self._offset, n_threads=n_threads)

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` as two columns."""
        return self._core.t_dot_squares(u, v, self._offset, n_threads=n_threads)

    def gather(self, block: Block, dtype: type[np.floating]) -> NDArray[np.floating]:
        """Copy a block, dense, as float32 or float64."""
        if self._offset is not None:
            block = block._replace(shift=block.shift + self._offset)
        return self._core.gather32(*block) if dtype is np.float32 else self._core.gather64(*block)

    def rows(self, rows: RowIndex) -> Products:
        """Return some rows: a view of those that are adjacent, a dense copy of others."""
        d = self._shape[1]
        if isinstance(rows, slice):
            core = self._core.rows(rows.start, rows.stop)
            return Stored(core, (rows.stop - rows.start, d), self._offset)
        block = Block(0, len(rows), rows.astype(np.int64), 0, d, np.zeros(d), np.ones(d))
        copy = self.gather(block, np.float64)
        return Stored(_core.DenseMatrix64(copy.astype(np.float64, copy=False)), (len(rows), d))

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""
        if isinstance(self._core, (_core.DenseMatrix32, _core.DenseMatrix64)):
            return None
        return SparseRows(self._core, self._offset, None, np.ones(self._shape[1]))

    def rounded(self, n_threads: int) -> Rounded | None:
        """Return products with a copy in single precision, made once; None if there is none.

        Sparse rows in double precision have one, but for an offset, beside which it hides what is
        small.
        """
        if not isinstance(self._core, (_core.CsrMatrix64, _core.CsrMatrix64Long)):
            return None
        if self._offset is not None:
            return None
        with self._rounding:
            if self._rounded is None:
                self._rounded = self._core.rounded(n_threads)
        return Rounded(self._rounded.dot, self._rounded.t_dot, self._rounded.rounding)

    def centered(self) -> Products:
        """View X with columns that lie far from zero brought near it; if none does, X itself."""
        some = self._core.common_columns(sampled_rows(self._shape[0]))
        offset = column_offsets(self.sample()[:, some]) if self._offset is None else None
        if offset is None:
            return self
        everywhere = self.common_columns
        everywhere[some] *= offset
        return self.less(everywhere)

    @property
    def common_columns(self) -> Vector:
        """1 for columns of which every row stores a value, which alone can be shifted; else 0."""
        everywhere = np.zeros(self._shape[1])
        everywhere[self._core.common_columns()] = 1.0
        return everywhere

    def less(self, offset: Vector) -> Products:
        """View X less an offset of each column."""
        return Stored(self._core, self._shape, offset, self.source) if offset.any() else self

    def columns(self, columns: NDArray[np.int64]) -> Products:
        """Copy some columns, in ascending order."""
        n, d = self._shape
        shape, source = (n, len(columns)), self.source
        offset = None if self._offset is None else self._offset[columns]
        if isinstance(source, SparseArrays):
            some = source.columns(columns, d)
            same: Any = type(self._core)
            return Stored(same(*some, len(columns)), shape, offset, some)
        if source is None:
            everything = Block(0, n, None, 0, d, np.zeros(d), np.ones(d))
            source, offset = self.gather(everything, np.float64), None
        dense = np.ascontiguousarray(source[:, columns])
        kind: Any = _core.DenseMatrix32 if dense.dtype == np.float32 else _core.DenseMatrix64
        return Stored(kind(dense), shape, offset, dense)

    def sample(self) -> Vector:
        """Copy some rows, spread evenly, dense, in double precision."""
        rows = sampled_rows(self._shape[0])
        d = self._shape[1]
        block = Block(0, len(rows), rows, 0, d, np.zeros(d), np.ones(d))
        return self._core.gather64(*block)


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

    def gather(self, block: Block, dtype: type[np.floating]) -> NDArray[np.floating]:
        """Copy a block, dense, as float32 or float64."""
        if block.order is None:
            return self._X.gather(block._replace(order=self._rows), dtype)
        rows = self._rows[block.order[block.first : block.last]]
        return self._X.gather(block._replace(first=0, last=len(rows), order=rows), dtype)

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

    def gather(self, block: Block, dtype: type[np.floating]) -> NDArray[np.floating]:
        """Copy a block, dense, as float32 or float64."""
        shift, scale = block.shift / self._scale, block.scale * self._scale
        return self._X.gather(block._replace(shift=shift, scale=scale), dtype)

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
