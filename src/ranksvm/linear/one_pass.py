"""What a Newton step needs to know of its end, from one pass over X.

Queries are independent. So once the direction p of a step is known, a block of whole queries, which
is in the cache, is read once for all that is asked for at the end of the step:

1. its part of the image, and so its scores ``t = s + X p``,
2. the gradient g of the loss and the Laplacian of its queries there, by a sweep over these alone,
3. ``X'g``, and its part of the Hessian as in `ranksvm.linear.hessian`, which are added up.

Blocks depend on the shape alone and are added up in an order that does, so that the result is the
same for every number of threads.

Far from the optimum, every eighth block or so tells roughly what the Hessian of all is
(`ranksvm.linear.rough_hessian`). These come first; and the other blocks are added, too, where that
does not serve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.joined import Run, joined
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.losses import SmoothLoss
from ..pairs.queries import QueryGroups
from ..pairs.rounding import relative_rounding
from ..records import record
from ..threads import in_order
from .block_memory import new_block
from .hessian import HostRows, blocks_of_queries, core_sweep, suits_blocks
from .long_query import BLOCK_BYTES
from .matrix import Fresh, FullStep, Hessian, Matrix, Slope
from .rough_hessian import MUCH, promised, stands_for_all
from .views import Block, Products

if TYPE_CHECKING:
    from .read_ahead import ReadAhead

Vector = NDArray[np.float64]

LEAST_ROWS, MOST_ROWS = 256, 1 << 14  # of a block
SINGLE = 4  # bytes of a number in single precision
MOST_COLUMNS = 2048  # of a Hessian that is kept beside another
LONGEST = 4  # in blocks, of a query that is gone through as one
# A sample is one of so many blocks at most, of so many at least, and has rows for each feature.
RAREST, LEAST_BLOCKS, ROWS_OF_FEATURE = 8, 8, 100


class Precision(NamedTuple):
    """That of a Hessian ``Z' H Z``, for ``Z = (X - shift) * scale`` in numbers of a dtype.

    Columns of Z have the variance 1, or are constant. The Hessian may be that of one in `every` so
    many blocks, weighed by pairs (:eq:`rough-hessian`), where these stand for all.
    """

    shift: Vector
    scale: Vector
    dtype: type[np.floating]
    every: int = 1


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


def precision_of(
    X: Matrix, blocks: list[Run], dtype: type[np.floating] | None, roughly: bool, n_threads: int
) -> Precision | None:
    """Say how a Hessian is computed beside; None if none is asked for.

    A large one is left for when it is needed. One that may be rough is exact where X is large,
    since more steps are more passes.
    """
    if dtype is None or X.shape[1] > MOST_COLUMNS:
        return None
    every = one_of(blocks, X.shape) if roughly and not X.is_large else 1
    return Precision(*X.standardization(n_threads), dtype, every)


def one_of(blocks: list[Run], shape: tuple[int, int]) -> int:
    """Return the number of blocks of which one is in a sample; 1 if all of them are needed."""
    n, d = shape
    return max(min(RAREST, len(blocks) // LEAST_BLOCKS, n // (ROWS_OF_FEATURE * max(d, 1))), 1)


def one_pass(
    X: Products,
    loss: SmoothLoss,
    blocks: list[Run],
    scores: Vector,
    p: Vector,
    precision: Precision | None,
    n_threads: int,
    last: Vector | None = None,
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
    last : ndarray of shape (n_features,), optional
        Weights at the end, if scores there are to be computed afresh, too.
    ahead : ReadAhead, optional
        What reads rows that are mapped from disk before they are needed.

    Raises
    ------
    OverflowError
        If scores do.
    """
    every = 1 if precision is None else precision.every
    end = _End(X, loss, scores, p, precision, last)
    sums = _Sums(end)

    def added(
        end: _End, blocks: list[Run], ahead: ReadAhead | None = ahead
    ) -> Iterator[tuple[Run, SmoothEvaluation]]:
        coming = blocks if ahead is None else ahead.before(blocks, loss.pairs.groups.indptr)
        for run, part in zip(blocks, ordered(end.of_block, coming), strict=True):
            yield sums.add(run, part)

    def parts() -> Iterator[tuple[Run, SmoothEvaluation]]:
        if every == 1:
            yield from added(end, blocks)
            return
        yield from added(end, blocks[::every], None)
        serves = sums.are_even and (p.any() or sums.promise >= MUCH)
        others = [run for place, run in enumerate(blocks) if place % every]
        yield from added(replace(end, precision=None) if serves else end, others)

    with in_order(n_threads) as ordered:
        there = joined(loss, sums.scores, parts())
    return FullStep(sums.image, sums.scores, there, sums.slope, sums.hessian, sums.fresh)


class _Product(NamedTuple):
    matrix: NDArray[np.floating]  # Z' N Z
    squares: NDArray[np.floating] | None  # of each column of Z, in a sample


class _OfBlock(NamedTuple):
    image: Vector
    loss: SmoothEvaluation
    gradient: Vector
    rows_in_a_sum: int  # of the gradient
    product: _Product | None
    fresh: Fresh | None


class _Sums:
    """What blocks add up to, and what they bring row by row."""

    def __init__(self, end: _End) -> None:
        self._pairs, self._start, self._precision = end.loss.pairs, end.scores, end.precision
        self.image, self.scores = np.empty_like(end.scores), np.empty_like(end.scores)
        self.fresh = None if end.last is None else Fresh(np.empty_like(end.scores), 0.0)
        d = len(end.p)
        self._gradient = np.zeros(d)
        self._n_blocks = self._rows_in_a_sum = 0
        self._product, self._squares = np.zeros((d, d)), np.zeros(d)
        self._n_rows = 0  # in the product, and weight of their pairs
        self._value = self._weight = self._factor = 0.0

    def add(self, run: Run, part: _OfBlock) -> tuple[Run, SmoothEvaluation]:
        """Add the next block; return which it was, and its loss."""
        rows = self._pairs.groups.rows(*run)
        self.image[rows] = part.image
        self.scores[rows] = self._start[rows] + part.image
        self._gradient += part.gradient
        self._n_blocks += 1
        self._value += part.loss.value
        self._rows_in_a_sum = max(self._rows_in_a_sum, part.rows_in_a_sum)
        if part.product is not None:
            self._product += part.product.matrix
            if part.product.squares is not None:
                self._squares += part.product.squares
            self._n_rows += len(part.image)
            self._weight += float(self._pairs.pairs_per_query[slice(*run)].sum())
            self._factor = part.loss.curvature * core_sweep(part.loss)[0].half_laplacian_unit
        if self.fresh is not None and part.fresh is not None:
            self.fresh.scores[rows] = part.fresh.scores
            rounding = max(self.fresh.rounding, part.fresh.rounding)
            self.fresh = self.fresh._replace(rounding=rounding)
        return run, part.loss

    @property
    def slope(self) -> Slope:
        """``X'g``: of rows, and then of blocks, one after the other."""
        return Slope(self._gradient, relative_rounding(self._rows_in_a_sum + self._n_blocks))

    @property
    def are_even(self) -> bool:
        """Whether the blocks in the product stand for all: their columns have about variance 1."""
        if self._precision is None or not self._weight > 0:
            return False
        return stands_for_all(self._squares / self._n_rows, self._precision.scale)

    @property
    def promise(self) -> float:
        """What a Newton step on the blocks so far promises, as a part of their loss."""
        if self._precision is None:
            return 0.0
        slope = self._precision.scale * self._gradient
        return promised(self._symmetric, slope) / self._value

    @property
    def _symmetric(self) -> NDArray[np.float64]:
        matrix = self._product + self._product.T
        matrix *= self._factor
        return matrix

    @property
    def hessian(self) -> Hessian | None:
        """``Z' H Z``, if it was asked for."""
        if self._precision is None:
            return None
        is_rough = self._n_rows < len(self.scores)
        matrix = self._symmetric
        if is_rough:
            matrix *= self._pairs.n_pairs / self._weight
        return Hessian(matrix, self._precision.dtype, is_rough)


@record
class _End:
    """What is at the end of the step, for any block of queries."""

    X: Products
    loss: SmoothLoss
    scores: Vector
    p: Vector
    precision: Precision | None
    last: Vector | None

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
        product, fresh = self._product(X, loss), self._fresh(X)
        return _OfBlock(image, loss, gradient, X.rows_in_a_sum, product, fresh)

    def _fresh(self, X: Products) -> Fresh | None:
        if self.last is None:
            return None
        scores, rounding = X.dot_within(self.last, 1)
        return Fresh(scores, float(rounding.max(initial=0.0)))

    def _product(self, X: Products, loss: SmoothEvaluation) -> _Product | None:
        if self.precision is None:
            return None
        shift, scale, dtype, every = self.precision
        sweep, _ = core_sweep(loss)
        rows = sweep.rows()
        Z = X.gather(Block(0, len(rows), rows, 0, len(scale), shift, scale), dtype)
        moved = new_block(Z.shape, dtype)
        sweep.half_laplacian(0, loss.groups.n_queries, Z, 0, Z.shape[1], moved)
        squares = np.einsum("ij,ij->j", Z, Z) if every > 1 else None
        return _Product(Z.T @ moved, squares)
