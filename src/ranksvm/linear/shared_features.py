"""The equations of interior points where many features are those of one row each.

A feature that a single row stores, as rare words and names are, tells of no other row. Of all such
features of a row only the length counts, so that with the features U that rows share and the
squared lengths E of what else there is of a row, dot products are ``U U' + E``. The equations ``(I
+ Z'LZ) x = b`` of all features, with the Laplacian ``L = D'WD`` of the pairs, reduce to those that
are shared (:eq:`shared-features`)::

    (I + U'AU) x_U = b_U - U'L S z,    A = E^-1 - E^-1 S E^-1,    S = (E^-1 + L)^-1,

where z are the multiples of rows of which the rest of b is made; that of x is made of ``E^-1 S (z
- L U x_U)``. S is a matrix for each query, and A a Laplacian again: of a weight for all two rows of
a query, and none is a difference of other numbers. What is left to rounding, another solution for
the residual of the first mends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..lazy import cached_property
from ..pairs.explicit import ExplicitPairs
from ..pairs.queries import QueryGroups
from ..records import record
from ..solvers.cholesky import ScaledCholesky, inverse
from ..threads import in_order
from .dot_products import RIDGE
from .feature_space import FeatureSpace, factorized
from .query_blocks import QueryBlocks
from .row_space import RowSpace

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

STIFF = 1e5  # what pairs weigh, times squared lengths, beyond which rounding of S shows
LEAST = 1e-14  # of the mean square of a row: what is hardly more than rounding of dot products


@record
class SharedFeatures:
    """The features that rows share as coordinates, for steps of listed pairs.

    Attributes
    ----------
    whole, some : FeatureSpace
        Of all features, and of those that rows share.
    shared : ndarray of int64
        Which these are, in ascending order.
    lengths : ndarray of shape (n_samples,)
        What other features add to the square of each row: at least next to nothing.
    blocks : QueryBlocks
    """

    whole: FeatureSpace
    some: FeatureSpace
    shared: NDArray[np.int64]
    lengths: Vector
    blocks: QueryBlocks

    @classmethod
    def of(
        cls, rows: RowSpace, pairs: ExplicitPairs, groups: QueryGroups, shared: NDArray[np.int64]
    ) -> SharedFeatures:
        """Measure rows by the features that are left out."""
        X, n_threads = rows.X, rows.n_threads
        some = FeatureSpace(RowSpace(X.restricted(shared), n_threads), pairs, groups)
        values = X.t_dot(np.ones(X.shape[0]), n_threads)  # of each feature that one row stores
        values[shared] = 0.0
        least = LEAST * float(X.column_squares(n_threads).sum()) / X.shape[0]
        lengths = np.maximum(X.dot(values, n_threads), least)
        blocks = QueryBlocks(groups, pairs)
        return cls(FeatureSpace(rows, pairs, groups), some, shared, lengths, blocks)

    @cached_property
    def hair(self) -> float:
        """What is rounding among the squared lengths that rows do not share."""
        return RIDGE * float(self.lengths.max())

    @property
    def is_finite(self) -> bool:
        """Whether the squares of the rows are within floating point."""
        return self.whole.is_finite

    def scores(self, step: Vector) -> Vector:
        """Return how the scores move."""
        return self.whole.scores(step)

    def coordinates(self, balance: Vector) -> Vector:
        """Return ``X'D'b``, for ``D'b`` of shape (n_samples,)."""
        return self.whole.coordinates(balance)

    def factorized(self, pairs: _core.ListedPairs, dtype: type[np.floating]) -> _Reduced | None:
        """Return the equations, reduced and factorised; None beyond floating point."""
        blocks, rows = self.blocks, self.blocks.stacks
        of_pairs = blocks.symmetric(pairs.weights)

        def without_own(k: int) -> tuple[Floats, Floats]:
            return _without_own(of_pairs[k], self.lengths[rows[k]])

        with in_order(self.whole.rows.n_threads) as ordered:
            found = [*ordered(without_own, range(len(rows)))]
        laplacian = blocks.by_place([laplacian for _, laplacian in found])
        factor = factorized(self.some.product(laplacian, dtype))
        inverses = [inverted for inverted, _ in found]
        return None if factor is None else _Reduced(self, pairs, inverses, factor)


def _without_own(weights: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """Return S and A, for the pairs' weights of queries and the squared lengths of their rows.

    What is inverted has a diagonal of one, and no other element above zero.
    """
    each = np.arange(weights.shape[-1])
    to_unit = 1 / np.sqrt(1 / lengths + weights.sum(axis=-1))
    matrix = -weights * to_unit[..., np.newaxis] * to_unit[:, np.newaxis]
    matrix[:, each, each] = 1.0
    inverted = inverse(matrix)
    inverted *= to_unit[..., np.newaxis]
    inverted *= to_unit[:, np.newaxis]
    laplacian = inverted / -lengths[..., np.newaxis]
    laplacian /= lengths[:, np.newaxis]
    laplacian[:, each, each] = 0.0
    laplacian[:, each, each] = -laplacian.sum(axis=-1)
    return inverted, laplacian


@record
class _Reduced:
    """The equations of all features by way of those that rows share."""

    space: SharedFeatures
    pairs: _core.ListedPairs
    inverses: list[Floats]
    factor: ScaledCholesky

    def solve(self, right: Vector) -> Vector:
        """Solve for one right-hand side, of which what rows do not share is a sum of rows."""
        solved, whole = self._solved(right), self.space.whole
        of_pairs = self.pairs.laplacian(whole.scores(solved))
        left = right - solved - whole.rows.X.t_dot(of_pairs, whole.rows.n_threads)
        return solved + self._solved(left)

    def _solved(self, right: Vector) -> Vector:
        X, n_threads = self.space.whole.rows.X, self.space.whole.rows.n_threads
        shared, lengths = self.space.shared, self.space.lengths
        own, solved = right.copy(), np.zeros_like(right)
        own[shared] = 0.0
        multiples = X.dot(own, n_threads) / lengths
        moved = self._inverse(multiples)
        kept = X.t_dot(multiples - moved / lengths, n_threads)
        solved[shared] = self.factor.solve((right - kept)[shared])
        moved -= self._inverse(self.pairs.laplacian(X.dot(solved, n_threads)))
        others = X.t_dot(moved / lengths, n_threads)
        others[shared] = solved[shared]
        return others

    @cached_property
    def _is_stiff(self) -> bool:
        return bool(self.pairs.weights.max() * self.space.lengths.max() > STIFF)

    def _inverse(self, v: Vector) -> Vector:
        """Return ``S v``, of which columns of S alone know too little where pairs weigh much.

        Each is rounded its own way, by a part that goes with the weights; and so are differences
        of the result, which are to be as small as weights are large.
        """
        blocks, lengths = self.space.blocks, self.space.lengths
        moved = blocks.product(self.inverses, v)
        if not self._is_stiff:
            return moved
        left = v - moved / lengths - self.pairs.laplacian(moved)
        return moved + blocks.product(self.inverses, left)
