"""The rows of X on a device, dense or sparse: the few products that a design matrix is made of.

Whatever the storage, sums over vectors are in float64. Single precision is widened in blocks of
rows rather than multiplied as it is: of a sum in single precision too few digits are left for a
certificate. For its sake, too, sums over many rows are sums of those over pieces, which round less,
in whatever order a library adds up.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linear.offsets import column_offsets, sampled_rows
from ..pairs.rounding import relative_rounding
from .libraries import name_of

if TYPE_CHECKING:
    from .device import ArrayDevice

Array = Any  # of the device's library
Vector = NDArray[np.float64]
BLOCK_BYTES = 1 << 27
PIECE_ROWS = 1 << 10


class DenseRows:
    """Dense rows, on the device or on the host; from there, blocks of rows follow as needed.

    Parameters
    ----------
    device : ArrayDevice
    X : array of shape (n_samples, n_features), float32 or float64
        Of the device, or of NumPy to be streamed.
    streamed : bool, default=False
    offset : ndarray of shape (n_features,), optional
        Taken off each row, before anything else.
    """

    def __init__(
        self,
        device: ArrayDevice,
        X: Array,
        *,
        streamed: bool = False,
        offset: Vector | None = None,
    ) -> None:
        self.device = device
        self.shape: tuple[int, int] = tuple(X.shape)
        self.n_stored = self.shape[0] * self.shape[1]
        self._X = X
        self.streamed = streamed
        self._offset = None if offset is None else device.asarray(offset)
        self._as_it_is = not streamed and offset is None and X.dtype == device.float64

    def centered(self) -> DenseRows:
        """View rows with columns that lie far from zero brought near it; if none does, itself."""
        if self._offset is not None or not self.shape[0]:
            return self
        sample = [self._X[int(row), :] for row in sampled_rows(self.shape[0])]
        host = sample if self.streamed else [self.device.to_host(row) for row in sample]
        offset = column_offsets(np.stack(host))
        if offset is None:
            return self
        return DenseRows(self.device, self._X, streamed=self.streamed, offset=offset)

    @property
    def rows_in_a_sum(self) -> int:
        """How many numbers are added one after the other at most, in sums over rows."""
        n = self.shape[0]
        return PIECE_ROWS + n // PIECE_ROWS + n // self._block_rows + 2

    @property
    def _block_rows(self) -> int:
        return max(BLOCK_BYTES // (8 * max(self.shape[1], 1)), 1)

    def dot(self, w: Array) -> Array:
        """Return ``X @ w``."""
        if self._as_it_is:
            return self._X @ w
        product = self.device.empty(self.shape[0], self.device.float64)
        for rows, block in self._blocks():
            product[rows] = block @ w
        return product

    def dot_within(self, w: Array) -> tuple[Array, Array]:
        """Return ``X @ w``, and a bound of the rounding of each element."""
        xp = self.device.xp
        bound = self.device.empty(self.shape[0], self.device.float64)
        for rows, block in self._blocks():
            bound[rows] = xp.abs(block) @ xp.abs(w)
        bound *= relative_rounding(self.shape[1])
        return self.dot(w), bound

    def t_dot(self, u: Array) -> Array:
        """Return ``X.T @ u``."""
        if self._as_it_is:
            return self._sum_over_rows(self._X, u)
        return self._sum(self._sum_over_rows(block, u[rows]) for rows, block in self._blocks())

    def t_dot_squares(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` from one pass over X."""
        xp = self.device.xp
        both = self._sum(
            xp.stack(
                [self._sum_over_rows(block, u[rows]), self._sum_over_rows(block * block, v[rows])]
            )
            for rows, block in self._blocks()
        )
        return both[0, :], both[1, :]

    def rows_at(self, rows: Array, scale: Array) -> Array:
        """Return ``(X * scale)[rows, :]``, in float64 as scales are."""
        device = self.device
        if self.streamed:
            chosen = device.asarray(self._X[device.to_host(rows)])
        else:
            chosen = device.take(self._X, rows, axis=0)
        return (chosen if self._offset is None else chosen - self._offset) * scale

    def columns(self, first: int, last: int, shift: Array, scale: Array) -> Array:
        """Return ``((X - shift) * scale)[:, first:last]``."""
        panel = self.device.xp.empty(
            (self.shape[0], last - first), dtype=self.device.float64, device=self.device.device
        )
        for rows, block in self._blocks(slice(first, last)):
            panel[rows, :] = (block - shift[first:last]) * scale[first:last]
        return panel

    def t_product(self, B: Array, first: int, shift: Array, scale: Array) -> Array:
        """Return ``((X - shift) * scale)[:, first:].T @ B`` in the precision of B.

        Blocks of rows are added up in float64.
        """
        xp, device = self.device.xp, self.device
        return self._sum(
            xp.astype(
                xp.astype((block - shift[first:]) * scale[first:], B.dtype).T @ B[rows, :],
                device.float64,
            )
            for rows, block in self._blocks(slice(first, None))
        )

    def _blocks(self, columns: slice = slice(None)) -> Iterator[tuple[slice, Array]]:
        """Give blocks of rows in float64."""
        n, size = self.shape[0], self._block_rows
        for begin in range(0, n, size):
            rows = slice(begin, min(begin + size, n))
            block = self._X[rows, columns]
            if self.streamed:
                block = self.device.asarray(np.ascontiguousarray(block))
            block = self.device.xp.astype(block, self.device.float64, copy=False)
            yield rows, block if self._offset is None else block - self._offset[columns]

    def _sum_over_rows(self, block: Array, u: Array) -> Array:
        """Return ``block.T @ u`` from products of pieces of rows."""
        xp, (n, d) = self.device.xp, block.shape
        n_pieces = n // PIECE_ROWS
        if n_pieces == 0:
            return block.T @ u
        whole = n_pieces * PIECE_ROWS
        rows = xp.reshape(block[:whole, :], (n_pieces, PIECE_ROWS, d))
        pieces = xp.reshape(u[:whole], (n_pieces, 1, PIECE_ROWS)) @ rows
        total = xp.sum(pieces[:, 0, :], axis=0)
        return total if whole == n else total + block[whole:, :].T @ u[whole:]

    @staticmethod
    def _sum(parts: Iterator[Array]) -> Array:
        total = next(parts)
        for part in parts:
            total += part
        return total


class SparseRows:
    """Sparse rows on the device, by rows and by columns, so that no product has to scatter.

    Values are held in float64. They are never streamed.

    Parameters
    ----------
    device : ArrayDevice
    indptr, indices, values : arrays of the device
        Of a CSR matrix.
    shape : tuple (n_samples, n_features)
    """

    def __init__(
        self,
        device: ArrayDevice,
        indptr: Array,
        indices: Array,
        values: Array,
        shape: tuple[int, int],
    ) -> None:
        xp = device.xp
        self.streamed = False
        self.device, self.shape = device, shape
        self.n_stored = int(values.shape[0])
        values = xp.astype(values, device.float64, copy=False)
        self._by_row = _csr(device, indptr, indices, values, shape)
        self._parts = indptr, indices, values
        order = xp.argsort(indices, stable=True)
        columns = indices[order]
        places = xp.arange(shape[1] + 1, dtype=indices.dtype, device=device.device)
        # Where a column begins among the sorted ones, and the row of each value.
        self._indptr = xp.astype(xp.searchsorted(columns, places), indices.dtype, copy=False)
        rows = xp.searchsorted(xp.astype(indptr, order.dtype, copy=False), order, side="right") - 1
        self._rows = xp.astype(rows, indices.dtype, copy=False)
        self._values = values[order]
        self._by_column = self._transposed(self._values)
        self._longest_column = int(xp.max(self._indptr[1:] - self._indptr[:-1]))

    @property
    def rows_in_a_sum(self) -> int:
        """How many numbers are added one after the other at most, in sums over rows."""
        return self._longest_column

    def centered(self) -> SparseRows:
        """Return this: nothing is taken off sparse rows."""
        return self

    def _transposed(self, values: Array) -> Any:
        n, d = self.shape
        return _csr(self.device, self._indptr, self._rows, values, (d, n))

    def dot(self, w: Array) -> Array:
        """Return ``X @ w``."""
        return self._by_row @ w

    def dot_within(self, w: Array) -> tuple[Array, Array]:
        """Return ``X @ w``, and a bound of the rounding of each element."""
        xp, (indptr, indices, values) = self.device.xp, self._parts
        bound = _csr(self.device, indptr, indices, xp.abs(values), self.shape) @ xp.abs(w)
        return self.dot(w), bound * relative_rounding(self.shape[1])

    def t_dot(self, u: Array) -> Array:
        """Return ``X.T @ u``."""
        return self._by_column @ u

    def t_dot_squares(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Return ``X.T @ u`` and ``(X * X).T @ v``."""
        return self._by_column @ u, self._transposed(self._values * self._values) @ v

    def columns(self, first: int, last: int, shift: Array, scale: Array) -> Array:
        """Return ``((X - shift) * scale)[:, first:last]``, dense."""
        device, xp = self.device, self.device.xp
        begin, end = int(self._indptr[first]), int(self._indptr[last])
        places = xp.arange(begin, end, dtype=self._indptr.dtype, device=device.device)
        column = xp.searchsorted(self._indptr[first + 1 : last + 1], places, side="right")
        panel = xp.zeros((self.shape[0], last - first), dtype=device.float64, device=device.device)
        row = xp.astype(self._rows[begin:end], column.dtype, copy=False)
        panel[row, column] = self._values[begin:end]
        panel -= shift[first:last]
        panel *= scale[first:last]
        return panel

    def t_product(self, B: Array, first: int, shift: Array, scale: Array) -> Array:
        """Return ``((X - shift) * scale)[:, first:].T @ B``."""
        xp = self.device.xp
        B = xp.astype(B, self.device.float64, copy=False)
        product = (self._by_column @ B)[first:, :] - shift[first:, None] * xp.sum(B, axis=0)
        return product * scale[first:, None]


def _csr(
    device: ArrayDevice, indptr: Array, indices: Array, values: Array, shape: tuple[int, int]
) -> Any:
    """Return a CSR matrix of the device's library, which shares the arrays."""
    library = name_of(device.xp)
    if library == "torch":
        with warnings.catch_warnings():
            # That its sparse tensors are young, and that their invariants are not checked.
            warnings.simplefilter("ignore", UserWarning)
            return import_module("torch").sparse_csr_tensor(indptr, indices, values, shape)
    sparse = import_module("cupyx.scipy.sparse" if library == "cupy" else "scipy.sparse")
    return sparse.csr_matrix((values, indices, indptr), shape=shape)
