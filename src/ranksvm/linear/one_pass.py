"""What a Newton step needs to know of its end, from one pass over X.

Queries are independent. So once the direction p of a step is known, a block of whole queries, which
is in the cache, is read once for all that is asked for at the end of the step:

1. its part of the image, and so its scores ``t = s + X p``,
2. the gradient g of the loss and the Laplacian of its queries there, by a sweep over these alone,
3. ``X'g``, and its part of the Hessian as in `ranksvm.linear.hessian`, which are added up.

Blocks depend on the shape alone and are added up in their order, so that the result is the same for
every number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..pairs.core_pairs import CorePairs
from ..pairs.joined import Run, joined
from ..pairs.losses import SmoothEvaluation, SmoothLoss
from ..pairs.queries import QueryGroups
from ..pairs.rounding import relative_rounding
from ..threads import in_order
from .hessian import HostRows, blocks_of_queries, core_sweep, suits_blocks
from .long_query import BLOCK_BYTES
from .matrix import FullStep, Hessian, Slope
from .read_ahead import ReadAhead
from .views import Block, Products

Vector = NDArray[np.float64]

LEAST_ROWS, MOST_ROWS = 256, 1 << 14  # of a block
SINGLE = 4  # bytes of a number in single precision
LONGEST = 4  # in blocks, of a query that is gone through as one


class Precision(NamedTuple):
    """That of a Hessian ``Z' H Z``, for ``Z = (X - shift) * scale`` in numbers of a dtype."""

    shift: Vector
    scale: Vector
    dtype: type[np.floating]


def whole_queries(X: HostRows, groups: QueryGroups) -> list[Run] | None:
    """Cut the queries into runs of so many rows as the cache holds.

    None if some are too long for that, or if X is too sparse for blocks.
    """
    if not suits_blocks(X):
        return None
    most = BLOCK_BYTES // (SINGLE * max(X.shape[1], 1))
    max_rows = min(max(most, LEAST_ROWS), MOST_ROWS)
    blocks, long_queries = blocks_of_queries(groups, max_rows)
    longest = max((int(groups.indptr[q + 1] - groups.indptr[q]) for q in long_queries), default=0)
    if longest > min(LONGEST * max_rows, MOST_ROWS):  # which threads would share
        return None
    return blocks + [(query, query + 1) for query in long_queries]


def one_pass(
    X: Products,
    loss: SmoothLoss,
    blocks: list[Run],
    scores: Vector,
    p: Vector,
    precision: Precision | None,
    n_threads: int,
    ahead: ReadAhead | None = None,
) -> FullStep:
    """Take a full step along p, of shape (n_features,), from where the scores are those given.

    Parameters
    ----------
    X : Products of shape (n_samples, n_features)
    loss : SmoothLoss
    blocks : list of Run
        Its queries (`whole_queries`).
    scores : ndarray of shape (n_samples,)
    p : ndarray of shape (n_features,)
    precision : Precision or None
        None if no Hessian is asked for.
    n_threads : int
    ahead : ReadAhead, optional
        What reads rows that are mapped from disk before they are needed.

    Raises
    ------
    OverflowError
        If scores do.
    """
    groups = loss.pairs.groups
    end = _End(X, loss, scores, p, precision)
    sums = _Sums(groups, scores, len(p), precision)
    coming = blocks if ahead is None else ahead.before(blocks, groups.indptr)
    with in_order(n_threads) as ordered:
        parts = zip(blocks, ordered(end.of_block, coming), strict=True)
        there = joined(loss, sums.scores, (sums.add(run, part) for run, part in parts))
    return FullStep(sums.image, sums.scores, there, sums.slope, sums.hessian)


class _OfBlock(NamedTuple):
    image: Vector
    loss: SmoothEvaluation
    gradient: Vector
    rows_in_a_sum: int  # of the gradient
    product: NDArray[np.floating] | None  # Z' N Z


class _Sums:
    """What blocks add up to, and what they bring row by row."""

    def __init__(
        self, groups: QueryGroups, scores: Vector, d: int, precision: Precision | None
    ) -> None:
        self._groups, self._start, self._precision = groups, scores, precision
        self.image, self.scores = np.empty_like(scores), np.empty_like(scores)
        self._gradient = np.zeros(d)
        self._n_blocks = self._rows_in_a_sum = 0
        self._product = np.zeros((d, d)) if precision is not None else None
        self._factor = 0.0

    def add(self, run: Run, part: _OfBlock) -> tuple[Run, SmoothEvaluation]:
        """Add the next block; return which it was, and its loss."""
        rows = self._groups.rows(*run)
        self.image[rows] = part.image
        self.scores[rows] = self._start[rows] + part.image
        self._gradient += part.gradient
        self._n_blocks += 1
        self._rows_in_a_sum = max(self._rows_in_a_sum, part.rows_in_a_sum)
        if self._product is not None and part.product is not None:
            self._product += part.product
            self._factor = part.loss.curvature * core_sweep(part.loss)[0].half_laplacian_unit
        return run, part.loss

    @property
    def slope(self) -> Slope:
        """``X'g``: of rows, and then of blocks, one after the other."""
        return Slope(self._gradient, relative_rounding(self._rows_in_a_sum + self._n_blocks))

    @property
    def hessian(self) -> Hessian | None:
        """``Z' H Z``, if it was asked for."""
        if self._product is None or self._precision is None:
            return None
        matrix = self._product + self._product.T
        matrix *= self._factor
        return Hessian(matrix, self._precision.dtype)


@dataclass(frozen=True, eq=False)
class _End:
    """What is at the end of the step, for any block of queries."""

    X: Products
    loss: SmoothLoss
    scores: Vector
    p: Vector
    precision: Precision | None

    def of_block(self, run: Run) -> _OfBlock:
        """Read the rows of some queries; return what they bring."""
        pairs = self.loss.pairs
        assert isinstance(pairs, CorePairs)
        rows = pairs.groups.rows(*run)
        X = self.X.rows(rows)
        start = self.scores[rows]
        image = X.dot(self.p, 1) if self.p.any() else np.zeros_like(start)
        scores = start + image
        if not np.isfinite(scores).all():
            raise OverflowError("scores must be finite")
        loss = replace(self.loss, pairs=pairs.part(*run)).evaluate(scores)
        gradient = X.t_dot(loss.gradient, 1)
        return _OfBlock(image, loss, gradient, X.rows_in_a_sum, self._product(X, loss))

    def _product(self, X: Products, loss: SmoothEvaluation) -> NDArray[np.floating] | None:
        """Return ``Z' N Z``."""
        if self.precision is None:
            return None
        shift, scale, dtype = self.precision
        sweep, _ = core_sweep(loss)
        rows = sweep.rows()
        Z = X.gather(Block(0, len(rows), rows, 0, len(scale), shift, scale), dtype)
        moved = _core.like(Z)
        sweep.half_laplacian(0, loss.groups.n_queries, Z, 0, Z.shape[1], moved)
        return Z.T @ moved
