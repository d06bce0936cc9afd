"""A matrix of the core, dense or sparse, as it is stored."""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InputError
from .matrix import Rounded
from .offsets import column_offsets, sampled_rows
from .sparse_hessian import CoreCsr, SparseRows
from .views import Block, Products, RowIndex

Floats = NDArray[np.floating]
Vector = NDArray[np.float64]
CoreMatrix: TypeAlias = _core.DenseMatrix32 | _core.DenseMatrix64 | CoreCsr


class SparseArrays(NamedTuple):
    """The arrays of a CSR matrix."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    values: Floats

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
        self.shape = shape
        self._offset = offset
        self.source = source
        self.rows_in_a_sum: int = core.rows_in_a_sum
        self._rounded: _core.RoundedRows | None = None
        self._rounding = Lock()

    @classmethod
    def from_dense(cls, X: NDArray[Any]) -> Stored:
        """View a dense matrix; a TypeError if it is of another kind than the core takes."""
        kind = {"f4": _core.DenseMatrix32, "f8": _core.DenseMatrix64}.get(X.dtype.str[1:])
        if kind is None or X.ndim != 2 or not X.flags.c_contiguous:
            raise TypeError("X must be a C-contiguous matrix of float32 or float64")
        return cls(kind(X), X.shape, source=X)

    @classmethod
    def from_csr(cls, arrays: SparseArrays, n_columns: int) -> Stored:
        """View sparse rows; an InputError if indices point beyond the arrays, or columns."""
        kinds = {
            ("f4", "i4"): _core.CsrMatrix32,
            ("f8", "i4"): _core.CsrMatrix64,
            ("f4", "i8"): _core.CsrMatrix32Long,
            ("f8", "i8"): _core.CsrMatrix64Long,
        }
        indptr, indices, values = arrays
        kind = kinds.get((values.dtype.str[1:], indices.dtype.str[1:]))
        if kind is None:
            raise TypeError(f"CSR values must be float32 or float64, not {values.dtype}")
        try:
            core = kind(indptr, indices, values, n_columns)
        except ValueError as error:
            raise InputError(f"X is no CSR matrix: {error}") from None
        return cls(core, (len(indptr) - 1, n_columns), source=arrays)

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

    @property
    def sparse_arrays(self) -> SparseArrays | None:
        """The arrays of a CSR matrix that is as it is stored, without offsets."""
        source = self.source
        return source if self._offset is None and isinstance(source, SparseArrays) else None

    def dots(self, vectors: list[Vector], n_threads: int, *, squares: bool = False) -> Vector:
        """Return ``X @ w`` of each vector, or ``(X * X) @ w``, as rows: of sparse arrays alone."""
        assert isinstance(self._core, (_core.CsrMatrix32, _core.CsrMatrix64))
        return self._core.dots(vectors, squares, n_threads=n_threads)

    def transposed(self) -> Stored:
        """Copy X by columns: of sparse arrays alone."""
        from scipy.sparse import csr_array

        assert self.sparse_arrays is not None
        indptr, indices, values = self.sparse_arrays
        X = csr_array((values[: indptr[-1]], indices[: indptr[-1]], indptr), self.shape).tocsc()
        indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        same: Any = type(self._core)
        arrays = SparseArrays(indptr, indices, X.data)
        return Stored(same(*arrays, self.shape[0]), X.shape[::-1], source=arrays)

    def gather(self, block: Block, dtype: type[np.floating], out: Floats | None = None) -> Floats:
        """Copy a block, dense, as float32 or float64; into an array of that type, if given."""
        if self._offset is not None:
            block = block._replace(shift=block.shift + self._offset)
        gather: Any = self._core.gather32 if dtype is np.float32 else self._core.gather64
        copy: Floats = gather(*block, out)
        return copy

    def rows(self, rows: RowIndex) -> Products:
        """Return some rows: a view of those that are adjacent, a dense copy of others."""
        d = self.shape[1]
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
        return SparseRows(self._core, self._offset, None, np.ones(self.shape[1]))

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
        if self._offset is not None:
            return self
        some = np.array(self._core.common_columns(sampled_rows(self.shape[0])), dtype=np.int64)
        offset = column_offsets(self.sample(some)) if len(some) else None
        if offset is None:
            return self
        shifted, everywhere = np.zeros((2, self.shape[1]))
        shifted[some] = offset
        common = self.common_columns
        everywhere[common] = shifted[common]
        return self.less(everywhere)

    @property
    def common_columns(self) -> NDArray[np.int64]:
        """The columns of which every row stores a value, which alone can be shifted."""
        return np.array(self._core.common_columns(), dtype=np.int64)

    def less(self, offset: Vector) -> Products:
        """View X less an offset of each column."""
        return Stored(self._core, self.shape, offset, self.source) if offset.any() else self

    def columns(self, columns: NDArray[np.int64]) -> Products:
        """Copy some columns, in ascending order."""
        n, d = self.shape
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

    def sample(self, columns: NDArray[np.int64]) -> Vector:
        """Copy these columns of some rows, spread evenly, dense, in double precision."""
        rows, d = sampled_rows(self.shape[0]), self.shape[1]
        result = np.empty((len(rows), len(columns)))
        if not result.size:
            return result
        shift, scale = np.zeros(d), np.ones(d)
        if len(columns) == d:
            return self._core.gather64(*Block(0, len(rows), rows, 0, d, shift, scale))
        for k in range(len(rows)):  # of all columns, only one row at a time
            block = Block(0, 1, rows[k : k + 1], 0, d, shift, scale)
            result[k] = self._core.gather64(*block)[0, columns]
        return result
