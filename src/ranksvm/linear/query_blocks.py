"""A symmetric matrix of the rows of each query, dense, those of as many rows side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.explicit import ExplicitPairs
from ..pairs.queries import QueryGroups
from ..records import record
from ..threads import one_blas_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

AT_ONCE = 1 << 16  # numbers that a thread works on, or one matrix if that has more


class _Layout(NamedTuple):
    """Where the matrices of queries stand in one array.

    Attributes
    ----------
    stacks : list of ndarray of shape (n_queries, size)
        The rows of some queries of as many, in the order of the array.
    sizes, first : ndarray of shape (n_queries,)
        How many rows each query has, and where its matrix begins.
    query, place : ndarray of shape (n_samples,)
        Of each row, and which one of the query it is.
    """

    stacks: list[Rows]
    sizes: Rows
    first: Rows
    query: Rows
    place: Rows

    @classmethod
    def of(cls, groups: QueryGroups) -> _Layout:
        sizes, n = np.diff(groups.indptr), groups.n_samples
        rows = np.arange(n) if groups.order is None else groups.order.astype(np.int64)
        by_size = np.argsort(sizes, kind="stable")
        by_size = by_size[sizes[by_size] > 0]
        squares, first = sizes[by_size] ** 2, np.zeros(len(sizes), dtype=np.int64)
        first[by_size] = np.cumsum(squares) - squares
        query, place = np.empty((2, n), dtype=np.int64)
        query[rows] = np.repeat(np.arange(len(sizes)), sizes)
        place[rows] = np.arange(n) - np.repeat(groups.indptr[:-1], sizes)
        stacks = []
        for queries in np.split(by_size, np.flatnonzero(np.diff(sizes[by_size])) + 1):
            size = int(sizes[queries[0]])
            places = groups.indptr[queries, np.newaxis] + np.arange(size)
            n_parts = -(-len(queries) // max(AT_ONCE // size**2, 1))
            stacks += [rows[part] for part in np.array_split(places, n_parts)]
        return cls(stacks, sizes, first, query, place)


@record
class QueryBlocks:
    """Where the elements of such a matrix stand.

    It comes in stacks: of each the matrices of some queries, of shape (n_queries, size, size).

    Attributes
    ----------
    groups : QueryGroups
    pairs : ExplicitPairs
        Of which none leaves its query, nor comes again.
    """

    groups: QueryGroups
    pairs: ExplicitPairs

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout.of(self.groups)

    @property
    def stacks(self) -> Sequence[Rows]:
        """The rows of the queries of each stack, of shape (n_queries, size)."""
        return self._layout.stacks

    @cached_property
    def _of_pairs(self) -> tuple[Rows, Rows]:
        """Where the numbers of pairs stand, above and below the diagonal or the other way round."""
        _, sizes, first, query, place = self._layout
        better, worse = place[self.pairs.better], place[self.pairs.worse]
        query = query[self.pairs.better]
        begin, size = first[query], sizes[query]
        return begin + better * size + worse, begin + worse * size + better

    def symmetric(self, values: Vector) -> list[Floats]:
        """Return the stacks of a matrix of the values of the pairs, zero elsewhere."""
        stacks = self.stacks
        whole = np.zeros(sum(rows.size * rows.shape[1] for rows in stacks))
        for places in self._of_pairs:
            whole[places] = values
        ends = np.cumsum([rows.size * rows.shape[1] for rows in stacks])
        parts = np.split(whole, ends[:-1])
        return [
            part.reshape(*rows.shape, rows.shape[1])
            for part, rows in zip(parts, stacks, strict=True)
        ]

    def product(self, matrices: Sequence[Floats], v: Vector) -> Vector:
        """Multiply a vector by the matrix, on one thread: more take longer to begin."""
        result = np.zeros_like(v)
        with one_blas_thread():
            for rows, matrix in zip(self.stacks, matrices, strict=True):
                result[rows] = np.matmul(matrix, v[rows, np.newaxis])[..., 0]
        return result

    def by_place(self, matrices: Sequence[Floats]) -> csr_matrix:
        """Return the matrix of all rows, query by query."""
        from scipy.sparse import csr_matrix

        columns, numbers, indptr = self._csr
        values = np.concatenate([part.reshape(-1) for part in matrices])[numbers]
        n = self.groups.n_samples
        return csr_matrix((values, columns, indptr), (n, n))

    @cached_property
    def _csr(self) -> tuple[Rows, Rows, Rows]:
        """Of the elements, row by row: their columns, where they stand, and where rows begin."""
        begin, (_, sizes, first, _, _) = self.groups.indptr, self._layout
        of_row = np.repeat(sizes, sizes)
        indptr = np.concatenate([[0], np.cumsum(of_row)])
        place = np.arange(len(of_row)) - np.repeat(begin[:-1], sizes)
        start = np.repeat(first, sizes) + place * of_row
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], of_row)
        columns = within + np.repeat(np.repeat(begin[:-1], sizes), of_row)
        return columns, within + np.repeat(start, of_row), indptr
