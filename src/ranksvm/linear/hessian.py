"""The explicit Hessian X' H X of a loss in weight space, block by block.

H is a multiple of the Laplacian of the pairs that curve the loss, and that one of N + N',
block-diagonal with one block for each query. Whole short queries are gathered into blocks of rows,
N times a block is one sweep with whole rows in place of numbers, and the matrix product of the two
runs at full speed. A query too long for that is treated some columns at a time.

The result is used for Newton steps only, whose fixed point does not depend on it; single precision
is enough there, once columns are standardised. Blocks and their order depend on the shapes alone,
and each product runs on one thread, so the result is the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..pairs.losses import SmoothEvaluation
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import BlockSweep
from ..threads import map_in_order

Matrix = NDArray[np.float64]
Floats = NDArray[np.floating]

BLOCK_BYTES = 1 << 20
LONG_QUERY_BYTES = 1 << 28


class Rows(Protocol):
    """A matrix that copies blocks of its rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, number of features."""

    def gather(
        self,
        rows: tuple[int, int, NDArray[np.int64] | None],
        columns: tuple[int, int],
        shift: NDArray[np.float64],
        scale: NDArray[np.float64],
        dtype: type[np.floating],
    ) -> Floats:
        """Copy a block of ``(X - shift) * scale``, dense."""


def weight_space_hessian(
    X: Rows,
    loss: SmoothEvaluation,
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    dtype: type[np.floating],
    n_threads: int,
) -> Matrix:
    """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H of the loss.

    The shift does not change the result, since H maps constants to zero within each query; it
    keeps single precision precise.

    Parameters
    ----------
    X : Rows of shape (n_samples, n_features)
    loss : SmoothEvaluation
    shift, scale : ndarray of shape (n_features,)
    dtype : numpy.float32 or numpy.float64
        Precision of the products; the blocks are added up in float64.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    sweep = _block_sweep(loss)
    Z = _StandardizedRows(X, sweep, sweep.rows(), shift, scale, dtype)
    d = X.shape[1]
    max_rows = int(np.clip(BLOCK_BYTES // (Z.itemsize * max(d, 1)), 256, 1 << 14))

    def block_product(queries: tuple[int, int]) -> Floats:
        first, last = (int(place) for place in loss.groups.indptr[list(queries)])
        block = Z.gather((first, last))
        moved = np.empty_like(block)
        sweep.half_laplacian(*queries, block, 0, d, moved)
        return block.T @ moved

    blocks, long_queries = _blocks(loss.groups, max_rows)
    hessian = np.zeros((d, d))
    for part in map_in_order(block_product, blocks, n_threads):
        hessian += part
    for query in long_queries:
        n_rows = int(np.diff(loss.groups.indptr[query : query + 2])[0])
        width = int(np.clip(LONG_QUERY_BYTES // (2 * Z.itemsize * n_rows), 1, d))
        for columns in _ranges(0, d, width):
            hessian[:, slice(*columns)] += _long_query_product(
                Z, loss, query, columns, max_rows, n_threads
            )
    symmetric: Matrix = hessian + hessian.T
    symmetric *= loss.curvature * sweep.half_laplacian_unit
    return symmetric


@dataclass(frozen=True, eq=False)
class _StandardizedRows:
    """``Z = (X - shift) * scale``, by score, so that a sweep takes the rows as they lie."""

    X: Rows
    sweep: BlockSweep
    order: NDArray[np.int64]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    dtype: type[np.floating]

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize

    def gather(self, places: tuple[int, int], columns: tuple[int, int] | None = None) -> Floats:
        columns = columns or (0, self.X.shape[1])
        return self.X.gather((*places, self.order), columns, self.shift, self.scale, self.dtype)


def _block_sweep(loss: SmoothEvaluation) -> BlockSweep:
    if not isinstance(loss.sweep, BlockSweep):
        raise TypeError("X is on the host, where its preference pairs must be, too")
    return loss.sweep


def _long_query_product(
    Z: _StandardizedRows,
    loss: SmoothEvaluation,
    query: int,
    columns: tuple[int, int],
    max_rows: int,
    n_threads: int,
) -> Matrix:
    """Return ``Z' N Z[:, columns]`` for one query that is longer than a block."""
    begin, end = (int(place) for place in loss.groups.indptr[query : query + 2])
    d = Z.X.shape[1]
    row_blocks = list(_ranges(begin, end, max_rows))
    panel = np.concatenate(
        list(map_in_order(lambda places: Z.gather(places, columns), row_blocks, n_threads))
    )
    moved = np.empty_like(panel)

    def move(part: tuple[int, int]) -> None:
        Z.sweep.half_laplacian(query, query + 1, panel, *part, moved)

    parts = _ranges(0, panel.shape[1], _panel_width(panel, loss.n_levels(query)))
    for _ in map_in_order(move, parts, n_threads):
        pass

    def product(places: tuple[int, int]) -> Floats:
        block = slice(places[0] - begin, places[1] - begin)
        whole = panel[block] if columns == (0, d) else Z.gather(places)
        part: Floats = whole.T @ moved[block]
        return part

    total = np.zeros((d, panel.shape[1]))
    for part in map_in_order(product, row_blocks, n_threads):
        total += part
    return total


def _panel_width(Z: Floats, n_levels: int) -> int:
    """Choose as many columns as let the sums of all levels stay in the cache; half at the most."""
    in_cache = BLOCK_BYTES // (Z.itemsize * n_levels)
    return int(np.clip(min(in_cache, -(-Z.shape[1] // 2)), 16, 128))


def _ranges(begin: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(begin, end, size):
        yield first, min(end, first + size)


def _blocks(groups: QueryGroups, max_rows: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Cut the queries into runs of at most `max_rows` rows, and name the queries too long."""
    indptr = groups.indptr
    blocks, too_long = [], []
    query = 0
    while query < groups.n_queries:
        end = int(np.searchsorted(indptr, indptr[query] + max_rows, side="right")) - 1
        if end == query:
            too_long.append(query)
        else:
            blocks.append((query, end))
        query = max(end, query + 1)
    return blocks, too_long
