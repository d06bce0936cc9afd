"""The equations of interior points where features are fewer than rows: in the space of these.

With the Laplacian ``L = D'WD`` of listed pairs, they are of ``X'LX`` (:eq:`interior-features`), a
sum over queries: whole queries are gathered into blocks of rows, so that nothing is copied for
long. Where rows store little, each value that they store adds a multiple of a row of ``LX``. What
rows have in common does not count, since L maps constants to zero within each query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import cached_property
from ..pairs.explicit import ExplicitPairs
from ..pairs.queries import QueryGroups
from ..records import record
from ..solvers.cholesky import ScaledCholesky
from ..threads import in_order
from .dot_products import TINY, add_identity
from .hessian import blocks_of_queries, suits_blocks
from .long_query import BLOCK_BYTES, ranges
from .row_space import RowSpace, common_offset
from .sparse_hessian import SparseRows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

LEAST_ROWS = 256  # of a run of queries
N_BLOCKS = 2  # at least
N_PANELS, LEAST_COLUMNS = 4, 64  # of the columns
FULL = 0.2  # of a Laplacian: what is stored, from which on products with all of it cost less
ADDITIONS = 1 << 30  # of what is stored, after which an interruption is heard


@record
class FeatureSpace:
    """Features as coordinates, for steps of listed pairs.

    Attributes
    ----------
    rows : RowSpace
        Of more rows than features.
    pairs : ExplicitPairs
    groups : QueryGroups
        Of which no pair leaves its query.
    """

    rows: RowSpace
    pairs: ExplicitPairs
    groups: QueryGroups
    hair: ClassVar[float] = 0.0

    @cached_property
    def is_finite(self) -> bool:
        """Whether the squares of the rows are within floating point."""
        square = float(self.rows.X.column_squares(self.rows.n_threads).sum())
        return TINY < square < 1 / TINY

    @cached_property
    def stored(self) -> SparseRows | None:
        """The rows as they are stored, near zero in columns that all of them store.

        None of rows that store so much that blocks of them cost less.
        """
        X = self.rows.X
        Z = None if suits_blocks(X) else X.sparse_rows()
        if Z is None:
            return None
        shift, _ = X.standardization(self.rows.n_threads)
        return Z._replace(offset=common_offset(Z, shift))

    def scores(self, step: Vector) -> Vector:
        """Return how the scores move."""
        return self.rows.X.dot(step, self.rows.n_threads)

    def coordinates(self, balance: Vector) -> Vector:
        """Return ``X'D'b``, for ``D'b`` of shape (n_samples,)."""
        return self.rows.X.t_dot(balance - balance.mean(), self.rows.n_threads)

    def equations(self, weights: Vector, dtype: type[np.floating] = np.float64) -> Floats:
        """Return ``X'D' diag(weights) D X``, added up by blocks of whole queries.

        Each block is in this precision; in single, of columns whose scale is one.
        """
        return self.product(self._by_place.sparse_laplacian(weights), dtype)

    def factorized(
        self, pairs: _core.ListedPairs, dtype: type[np.floating]
    ) -> ScaledCholesky | None:
        """Return the factor of ``I + X'LX``, of the pairs' weights; None beyond floating point."""
        return factorized(self.equations(pairs.weights, dtype))

    def product(self, laplacian: csr_matrix, dtype: type[np.floating] = np.float64) -> Floats:
        """Return ``X'LX`` likewise, for a Laplacian of places, of which none leaves its query."""
        X = self.rows.X
        shift, scale = X.standardization(self.rows.n_threads)
        if dtype is not np.float32:
            scale = np.ones(len(scale))
        if self.stored is None:
            total = self._of_blocks(laplacian, shift, scale, dtype)
        else:
            total = self._of_stored(laplacian, self.stored.scaled(scale), dtype)
        if dtype is np.float32:
            total /= scale
            total /= scale[:, np.newaxis]
        return total

    def _of_blocks(
        self, laplacian: csr_matrix, shift: Vector, scale: Vector, dtype: type[np.floating]
    ) -> Floats:
        """Add up products of blocks of rows, of each panel of columns what is not above it."""
        X, indptr = self.rows.X, self.groups.indptr
        d = X.shape[1]
        panels = [*ranges(0, d, max(-(-d // N_PANELS), LEAST_COLUMNS))]

        def products_of(block: list[tuple[int, int]]) -> list[NDArray[np.floating]]:
            begin, end = int(indptr[block[0][0]]), int(indptr[block[-1][1]])
            rows = X.gather((begin, end, self._order), (0, d), shift, scale, dtype)
            moved = np.empty_like(rows)
            with np.errstate(over="ignore", invalid="ignore"):  # where double has to do
                for queries in block:
                    first, last = (int(place) for place in indptr[list(queries)])
                    L = laplacian[first:last, first:last]
                    is_full = L.nnz > FULL * L.shape[0] ** 2
                    L = (L.toarray() if is_full else L).astype(dtype, copy=False)
                    moved[first - begin : last - begin] = L @ rows[first - begin : last - begin]
                return [rows[:, left:].T @ moved[:, left:right] for left, right in panels]

        n_rows = max(BLOCK_BYTES // (np.dtype(dtype).itemsize * d), d)
        n_rows = min(n_rows, -(-X.shape[0] // N_BLOCKS))
        total = np.zeros((d, d))
        with in_order(self.rows.n_threads) as ordered:
            for parts in ordered(products_of, self._blocks(n_rows)):
                for (left, right), part in zip(panels, parts, strict=True):
                    total[left:, left:right] += part
        for left, right in panels:
            total[left:right, right:] = total[right:, left:right].T
        return total

    def _of_stored(self, laplacian: csr_matrix, Z: SparseRows, dtype: type[np.floating]) -> Floats:
        """Add up the multiples of rows that stored values are."""
        X = self.rows.X
        n, d = X.shape
        core, n_threads = Z.core, self.rows.n_threads
        product = core.laplacian_product32 if dtype is np.float32 else core.laplacian_product64
        total = np.zeros((d, d))
        for queries in self._runs(ADDITIONS * n // (1 + X.n_stored * d)):
            first, last = (int(place) for place in self.groups.indptr[list(queries)])
            L = laplacian[first:last, first:last]
            places = np.arange(first, last) if self._order is None else self._order[first:last]
            chosen = places if Z.rows is None else Z.rows[places]
            arrays = L.indptr.astype(np.int64), L.indices.astype(np.int64), L.data
            total += product(Z.offset, Z.scale, chosen, *arrays, n_threads)
        return total

    def _runs(self, n_rows: int) -> list[tuple[int, int]]:
        """Cut the queries into runs of so many rows, those that are longer alone."""
        runs, too_long = blocks_of_queries(self.groups, max(n_rows, LEAST_ROWS))
        return sorted(runs + [(query, query + 1) for query in too_long])

    def _blocks(self, n_rows: int) -> list[list[tuple[int, int]]]:
        """Gather runs, each with a Laplacian of its own, into blocks of so many rows."""
        blocks: list[list[tuple[int, int]]] = []
        room = 0
        for first, last in self._runs(BLOCK_BYTES // (8 * self.rows.X.shape[1])):
            size = int(self.groups.indptr[last] - self.groups.indptr[first])
            if size > room:
                blocks.append([])
                room = n_rows
            blocks[-1].append((first, last))
            room -= size
        return blocks

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        order = self.groups.order
        return None if order is None else order.astype(np.int64)

    @cached_property
    def _by_place(self) -> ExplicitPairs:
        """The pairs, each of places in place of rows."""
        return self.pairs if self._order is None else self.pairs.moved(np.argsort(self._order))


def factorized(matrix: Floats) -> ScaledCholesky | None:
    """Factorise ``I + matrix``, which is overwritten; None beyond floating point."""
    add_identity(matrix)
    return ScaledCholesky.of(matrix)
