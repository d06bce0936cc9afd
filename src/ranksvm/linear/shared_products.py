"""Products of sparse rows with the vectors of several trainings, from one pass over X.

Most of the time of such a product is spent on finding the element of a vector that a stored value
goes with. So products that trainings ask for at the same time (`ranksvm.linear.in_step`) are
computed together, with vectors that lie side by side: what is found serves all of them. For
products with the transpose there is a copy of X by columns, since sums that lie side by side would
leave the caches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .in_step import InStep
from .stored import Stored
from .views import Products

Vector = NDArray[np.float64]

SHARED = range(1 << 18, 1 << 25)  # stored values; a copy of more might not be welcome
LEAST_COLUMNS = 2048  # for fewer, sums stay in the caches
N_SUMS = 4  # that a product of the core interleaves


def shared_products(X: Products, steps: InStep, n_threads: int) -> Products:
    """View X with products that those who go in step share, where that pays; else X itself."""
    if not isinstance(X, Stored) or X.sparse_arrays is None:
        return X
    indptr, indices, _ = X.sparse_arrays
    pays = int(indptr[-1]) in SHARED and X.shape[1] >= LEAST_COLUMNS
    return SharedProducts(X, steps, n_threads) if pays and indices.dtype == np.int32 else X


class SharedProducts:
    """Sparse rows in memory whose products with vectors are those of several at once.

    A product begins when all that go in step have asked for one; the number of threads is that of
    all together.
    """

    def __init__(self, X: Stored, steps: InStep, n_threads: int) -> None:
        self._X, self._columns = X, X.transposed()
        arrays = self._columns.sparse_arrays
        assert arrays is not None
        self._steps, self._n_threads = steps, n_threads
        longest = int(np.diff(arrays.indptr).max(initial=0))
        self.rows_in_a_sum = longest // N_SUMS + N_SUMS
        self.dot_within = X.dot_within
        self.gather = X.gather
        self.rows = X.rows
        self.columns = X.columns
        self.sparse_rows = X.sparse_rows

    def dot(self, w: Vector, n_threads: int) -> Vector:
        """Return ``X @ w``."""
        product: Vector = self._steps.together(self._dots, w)
        return product

    def t_dot(self, u: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u``."""
        product: Vector = self._steps.together(self._t_dots, u)
        return product

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int) -> Vector:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` as two columns."""
        both: Vector = self._steps.together(self._t_dots_squares, (u, v))
        return both

    def centered(self) -> Products:
        """View X with columns that lie far from zero brought near it, not shared; or this."""
        X = self._X.centered()
        return self if X is self._X else X

    def rounded(self, n_threads: int) -> None:
        """Return None: what is shared is quicker than products with a copy of X."""

    def _dots(self, vectors: list[Vector]) -> list[Vector]:
        return list(self._X.dots(vectors, self._n_threads))

    def _t_dots(self, vectors: list[Vector]) -> list[Vector]:
        return list(self._columns.dots(vectors, self._n_threads))

    def _t_dots_squares(self, pairs: list[tuple[Vector, Vector]]) -> list[Vector]:
        products = self._columns.dots([u for u, _ in pairs], self._n_threads)
        squares = self._columns.dots([v for _, v in pairs], self._n_threads, squares=True)
        return list(np.stack([products, squares], axis=-1))
