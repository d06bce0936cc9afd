"""The equations of interior points where features are fewer than rows: in the space of these.

With the Laplacian ``L = D'WD`` of listed pairs, they are of ``X'LX`` (:eq:`interior-features`), a
sum over queries: whole queries are gathered into blocks of rows, so that nothing is copied for
long. Where rows store little, each value that they store adds a multiple of a row of ``LX``. What
rows have in common does not count, since L maps constants to zero within each query.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.explicit import ExplicitPairs
from ..pairs.queries import QueryGroups
from ..records import record
from ..threads import in_order
from .hessian import blocks_of_queries, suits_blocks
from .long_query import BLOCK_BYTES
from .row_space import TINY, RowSpace, common_offset
from .sparse_hessian import SparseRows

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

LEAST_ROWS = 256  # of a block
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
        X, n_threads = self.rows.X, self.rows.n_threads
        n, d = X.shape
        laplacian, Z = self._by_place.sparse_laplacian(weights), self.stored
        shift, scale = X.standardization(n_threads)
        is_single = dtype is np.float32
        if not is_single:
            scale = np.ones(d)
        if Z is not None:
            Z = Z.scaled(scale)

        def product_of(queries: tuple[int, int]) -> NDArray[np.floating]:
            first, last = (int(place) for place in self.groups.indptr[list(queries)])
            L = laplacian[first:last, first:last]
            if Z is None:
                rows = X.gather((first, last, self._order), (0, d), shift, scale, dtype)
                is_full = L.nnz > FULL * L.shape[0] ** 2
                with np.errstate(over="ignore", invalid="ignore"):  # where double has to do
                    L = (L.toarray() if is_full else L).astype(dtype, copy=False)
                    part: NDArray[np.floating] = rows.T @ (L @ rows)
                return part
            places = np.arange(first, last) if self._order is None else self._order[first:last]
            chosen = places if Z.rows is None else Z.rows[places]
            arrays = L.indptr.astype(np.int64), L.indices.astype(np.int64), L.data
            core = Z.core
            product = core.laplacian_product32 if is_single else core.laplacian_product64
            return product(Z.offset, Z.scale, chosen, *arrays, n_threads)

        n_rows = BLOCK_BYTES // (8 * d) if Z is None else ADDITIONS * n // (1 + X.n_stored * d)
        blocks, too_long = blocks_of_queries(self.groups, max(n_rows, LEAST_ROWS))
        blocks += [(query, query + 1) for query in too_long]
        total = np.zeros((d, d))
        with in_order(n_threads if Z is None else 1) as ordered:
            for part in ordered(product_of, blocks):
                total += part
        if is_single:
            total /= scale
            total /= scale[:, np.newaxis]
        return total

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        order = self.groups.order
        return None if order is None else order.astype(np.int64)

    @cached_property
    def _by_place(self) -> ExplicitPairs:
        """The pairs, each of places in place of rows."""
        return self.pairs if self._order is None else self.pairs.moved(np.argsort(self._order))
