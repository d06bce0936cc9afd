"""The explicit Hessian X' H X of a loss in weight space, block by block.

H is a multiple of the Laplacian of the pairs that curve the loss, and that one of N + N',
block-diagonal with one block for each query. Whole short queries are gathered into blocks of rows,
N times a block is one sweep with whole rows in place of numbers, and the matrix product of the two
runs at full speed. A query too long for that is walked through: see `ranksvm.linear.long_query`.
Where X stores few values, no blocks are made of them: see `ranksvm.linear.sparse_hessian`. For
given pairs, see `ranksvm.linear.given_hessian`; pairs of the top are multiplied by blocks of whole
queries, and else as given ones are.

The result is used for Newton steps only, whose fixed point does not depend on it; single precision
is enough there, once columns are standardised. Blocks and their order depend on the shapes alone,
and each product runs on one thread, so the result is the same for every number of threads.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.core_pairs import CorePairs
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import BlockSweep
from ..threads import in_order
from .block_memory import new_block
from .given_hessian import PANEL_BYTES, given_hessian
from .long_query import BLOCK_BYTES, Floats, Rows, StandardizedRows, long_query_product
from .sparse_hessian import SparseRows, sparse_product

Matrix = NDArray[np.float64]

# Features for each value that a row stores, from which on blocks cost more than the values alone:
# the two are level at 7 to 10 in one query and in short ones, with 50 to 1,000 features.
OF_BLOCKS = 8


class HostRows(Rows, Protocol):
    """X on the host, dense or sparse."""

    @property
    def n_stored(self) -> int:
        """Number of stored values."""

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""


def weight_space_hessian(
    X: HostRows,
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
    X : HostRows of shape (n_samples, n_features)
    loss : SmoothEvaluation
    shift, scale : ndarray of shape (n_features,)
    dtype : numpy.float32 or numpy.float64
        Precision of the products of blocks, which are added up in float64.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_features, n_features)
    """
    if isinstance(loss.sweep, _core.TopSweep) and fits_blocks(X, loss.groups, dtype):
        return _top_hessian(X, loss, shift, scale, dtype, n_threads)
    if isinstance(loss.sweep, _core.GivenSweep | _core.TopSweep):
        dense = suits_blocks(X)
        return given_hessian(X, loss, shift, scale, dtype, n_threads, by_panels=dense)
    sweep, pairs = core_sweep(loss)
    rows = None if suits_blocks(X) else X.sparse_rows()
    if rows is None:
        Z = StandardizedRows(X, sweep, shift, scale, dtype)
        product = _product_by_blocks(Z, loss, pairs.n_levels, n_threads)
    else:
        n_levels = int(pairs.n_levels.max(initial=1))
        product = sparse_product(rows.scaled(scale), X.n_stored, loss, n_levels, sweep, n_threads)
    symmetric: Matrix = product + product.T
    symmetric *= loss.curvature * sweep.half_laplacian_unit
    return symmetric


def fits_blocks(X: HostRows, groups: QueryGroups, dtype: type[np.floating]) -> bool:
    """Say whether whole queries make blocks that cost less than what X stores."""
    longest = int(np.diff(groups.indptr).max(initial=0))
    return suits_blocks(X) and longest * X.shape[1] * np.dtype(dtype).itemsize <= PANEL_BYTES


def _top_hessian(
    X: HostRows,
    loss: SmoothEvaluation,
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    dtype: type[np.floating],
    n_threads: int,
) -> Matrix:
    """Compute it for pairs of the top, where even the longest query makes a block."""
    sweep = loss.sweep
    assert isinstance(sweep, _core.TopSweep)
    Z = StandardizedRows(X, cast("BlockSweep", sweep), shift, scale, dtype)  # of blocks alone
    blocks, long_queries = blocks_of_queries(loss.groups, _rows_of_block(Z))
    blocks += [(query, query + 1) for query in long_queries]
    product = np.zeros((X.shape[1], X.shape[1]))
    with in_order(n_threads) as ordered:
        for part in ordered(lambda queries: _block_product(Z, loss.groups, queries), blocks):
            product += part
    symmetric: Matrix = product + product.T
    symmetric *= loss.curvature * sweep.half_laplacian_unit
    return symmetric


def suits_blocks(X: HostRows) -> bool:
    """Say whether X stores so much that dense blocks of rows cost less than what is stored."""
    n, d = X.shape
    return OF_BLOCKS * X.n_stored > n * d


def _product_by_blocks(
    Z: StandardizedRows, loss: SmoothEvaluation, n_levels: NDArray[np.uint32], n_threads: int
) -> Matrix:
    """Return ``Z' N Z``."""
    d = Z.X.shape[1]
    max_rows = _rows_of_block(Z)
    blocks, long_queries = blocks_of_queries(loss.groups, max_rows)
    product = np.zeros((d, d))
    with in_order(n_threads) as ordered:
        for part in ordered(lambda queries: _block_product(Z, loss.groups, queries), blocks):
            product += part
        for query in long_queries:
            begin = int(loss.groups.indptr[query])
            of_query = int(n_levels[query])
            product += long_query_product(Z, query, begin, of_query, max_rows, ordered)
    return product


def _rows_of_block(Z: StandardizedRows) -> int:
    return int(np.clip(BLOCK_BYTES // (Z.itemsize * max(Z.X.shape[1], 1)), 256, 1 << 14))


def _block_product(Z: StandardizedRows, groups: QueryGroups, queries: tuple[int, int]) -> Floats:
    """Return what queries from first to last add to ``Z' N Z``."""
    first, last = (int(place) for place in groups.indptr[list(queries)])
    block = Z.gather((first, last))
    moved = new_block(block.shape, Z.dtype)
    Z.sweep.half_laplacian(*queries, block, 0, block.shape[1], moved)
    return block.T @ moved


def core_sweep(loss: SmoothEvaluation) -> tuple[_core.Sweep, CorePairs]:
    """Return the sweep over the pairs of labels on the host, and these."""
    sweep, pairs = loss.sweep, loss.pairs
    if not isinstance(sweep, _core.Sweep) or not isinstance(pairs, CorePairs):
        raise TypeError("X is on the host, where its preference pairs must be, too")
    return sweep, pairs


def blocks_of_queries(
    groups: QueryGroups, max_rows: int
) -> tuple[list[tuple[int, int]], list[int]]:
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
