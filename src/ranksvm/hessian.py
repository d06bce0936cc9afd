"""The explicit Hessian X' H X of a loss in weight space, block by block.

H is block-diagonal with one block for each query. Whole short queries are gathered into blocks of
rows, H times a block is one sweep with whole rows in place of numbers, and the matrix product of
the two runs at full speed. A query too long for that is treated panel by panel of columns.

The result is used for Newton steps only, whose fixed point does not depend on it; single precision
is enough there, once columns are standardised. Blocks and their order depend on the shapes alone,
and each product runs on one thread, so the result is the same for every number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design_matrix import DesignMatrix
from .pair_loss import SquaredHingeEvaluation
from .queries import QueryGroups
from .threads import one_blas_thread

Matrix = NDArray[np.float64]

BLOCK_BYTES = 1 << 20
PANEL_BYTES = 1 << 28


def weight_space_hessian(
    X: DesignMatrix,
    loss: SquaredHingeEvaluation,
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
    loss : SquaredHingeEvaluation
    shift, scale : ndarray of shape (n_features,)
    dtype : numpy.float32 or numpy.float64
        Precision of the products; the blocks are added up in float64.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    d = X.shape[1]
    item = np.dtype(dtype).itemsize
    max_rows = int(np.clip(BLOCK_BYTES // (item * max(d, 1)), 256, 1 << 14))
    order = loss.groups.order

    def gather(first: int, last: int, columns: tuple[int, int] = (0, d)) -> NDArray[np.floating]:
        return X.gather((first, last, order), columns, shift, scale, dtype)

    def block_product(queries: tuple[int, int]) -> tuple[int, NDArray[Any]]:
        first, last = (int(loss.groups.indptr[q]) for q in queries)
        Z = gather(first, last)
        return 0, Z.T @ loss.hessian_rows(*queries, Z)

    def panel_product(task: tuple[int, int, int]) -> tuple[int, NDArray[Any]]:
        query, begin, end = task
        first, last = (int(p) for p in loss.groups.indptr[query : query + 2])
        HZ = loss.hessian_rows(query, query + 1, gather(first, last, (begin, end)))
        product = np.zeros((d, end - begin))
        for row in range(first, last, max_rows):
            stop = min(last, row + max_rows)
            product += gather(row, stop).T @ HZ[row - first : stop - first]
        return begin, product

    hessian = np.zeros((d, d))
    blocks, long_queries = _blocks(loss.groups, max_rows)
    panels = _panels(loss.groups, long_queries, d, item)
    for tasks, product in ((blocks, block_product), (panels, panel_product)):
        for begin, part in _map_in_order(product, tasks, n_threads):
            hessian[:, begin : begin + part.shape[1]] += part
    return (hessian + hessian.T) / 2


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


def _panels(
    groups: QueryGroups, queries: Iterable[int], d: int, item: int
) -> Iterator[tuple[int, int, int]]:
    for query in queries:
        length = int(groups.indptr[query + 1] - groups.indptr[query])
        width = int(np.clip(PANEL_BYTES // (2 * item * length), 1, 16))
        for begin in range(0, d, width):
            yield query, begin, min(d, begin + width)


def _map_in_order(
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
