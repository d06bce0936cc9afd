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

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .queries import QueryGroups
from .threads import one_blas_thread

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix
    from .pair_loss import SmoothEvaluation

Matrix = NDArray[np.float64]
Floats = NDArray[np.floating]

BLOCK_BYTES = 1 << 20
LONG_QUERY_BYTES = 1 << 28


def weight_space_hessian(
    X: DesignMatrix,
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
    X : DesignMatrix of shape (n_samples, n_features)
    loss : SmoothEvaluation
    shift, scale : ndarray of shape (n_features,)
    dtype : numpy.float32 or numpy.float64
        Precision of the products; the blocks are added up in float64.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    d = X.shape[1]
    order = loss.order  # by score, so that a sweep takes the rows as they lie
    item = np.dtype(dtype).itemsize
    max_rows = int(np.clip(BLOCK_BYTES // (item * max(d, 1)), 256, 1 << 14))

    def gather(rows: tuple[int, int], columns: tuple[int, int] = (0, d)) -> Floats:
        return X.gather((*rows, order), columns, shift, scale, dtype)

    def block_product(queries: tuple[int, int]) -> Floats:
        first, last = (int(place) for place in loss.groups.indptr[list(queries)])
        Z = gather((first, last))
        NZ = np.empty_like(Z)
        loss.half_laplacian(queries, Z, NZ)
        return Z.T @ NZ

    blocks, long_queries = _blocks(loss.groups, max_rows)
    hessian = np.zeros((d, d))
    for part in map_in_order(block_product, blocks, n_threads):
        hessian += part
    for query in long_queries:
        begin, end = (int(place) for place in loss.groups.indptr[query : query + 2])
        width = int(np.clip(LONG_QUERY_BYTES // (2 * item * (end - begin)), 1, d))
        for columns in _ranges(0, d, width):
            hessian[:, slice(*columns)] += _long_query_product(
                gather, loss, query, (begin, end), columns, d, max_rows, n_threads
            )
    symmetric: Matrix = hessian + hessian.T
    symmetric *= loss.curvature * loss.half_laplacian_unit
    return symmetric


def _long_query_product(
    gather: Callable[..., Floats],
    loss: SmoothEvaluation,
    query: int,
    places: tuple[int, int],
    columns: tuple[int, int],
    d: int,
    max_rows: int,
    n_threads: int,
) -> Matrix:
    """Return ``Z' N Z[:, columns]`` for one query that is longer than a block."""
    begin, end = places
    row_blocks = list(_ranges(begin, end, max_rows))
    Z = np.concatenate(
        list(map_in_order(lambda rows: gather(rows, columns), row_blocks, n_threads))
    )
    NZ = np.empty_like(Z)
    panels = _ranges(0, Z.shape[1], _panel_width(Z, loss.n_levels(query)))
    for _ in map_in_order(
        lambda panel: loss.half_laplacian((query, query + 1), Z, NZ, panel), panels, n_threads
    ):
        pass

    def product(rows: tuple[int, int]) -> Floats:
        block = slice(rows[0] - begin, rows[1] - begin)
        whole = Z[block] if columns == (0, d) else gather(rows)
        part: Floats = whole.T @ NZ[block]
        return part

    total = np.zeros((d, Z.shape[1]))
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


def map_in_order(
    function: Callable[[Any], Any], tasks: Iterable[Any], n_threads: int
) -> Iterator[Any]:
    """Map on threads with results in order, with every matrix product on one thread."""
    with one_blas_thread():
        if n_threads == 1:
            yield from map(function, tasks)
            return
        # Few tasks are in flight at a time, so that few results wait in memory.
        with ThreadPoolExecutor(n_threads) as pool:
            waiting = []
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) > 2 * n_threads:
                    yield waiting.pop(0).result()
            for future in waiting:
                yield future.result()
