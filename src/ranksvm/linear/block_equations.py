"""Equations of the scores of long queries: one matrix for each query, and the dot products of rows.

With a Laplacian L that has a block for each query, and the matrix ``K = X X'`` of dot products that
is never formed, an interior-point step solves ::

    (I + L K) v = q + L r,    for v, and for the scores  u = K v - r  with  v = q - L u,

where elements of v add up to zero in each query. The symmetric form ``(L^+ + K) v = L^+ q + r`` is
for conjugate gradients, preconditioned by the same with a multiple of the identity in place of K:
rows of many features have nearly the same length, and hardly anything in common
(:eq:`block-preconditioner`). So a dozen products with X and X' do for any L.

``L^+ v`` is carried along, so that ``v = q - L u`` holds to rounding however little accuracy is
asked for: what is left is an error of the scores alone, which a large L does not multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..pairs.level_blocks import LevelBlocks
from ..records import record
from ..solvers.cholesky import ScaledCholesky
from ..threads import InOrder
from .matrix import Matrix

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

MOST_PRODUCTS = 120


@record
class QueryLaplacian:
    """The Laplacian L of weighted pairs of a query, and the equations ``(ridge + L) x = b``.

    The rows of the lowest level have no pairs with each other, so that they are eliminated first.

    Attributes
    ----------
    pairs : LevelBlocks
    weights : sequence of ndarray
        Of the pairs, block by block.
    degree : ndarray of shape (n_rows,)
    lowest : ndarray of shape (n_lowest,)
        The diagonal of ``ridge + L`` for the lowest level.
    coupling : ndarray of shape (n_rows - n_lowest, n_lowest), float32 or float64
        The weights of the pairs of other rows with these.
    factor : ScaledCholesky
        Of what is left for the other rows.
    """

    pairs: LevelBlocks
    weights: Sequence[Floats]
    degree: Vector
    lowest: Vector
    coupling: NDArray[np.floating]
    factor: ScaledCholesky

    @classmethod
    def of(
        cls,
        pairs: LevelBlocks,
        weights: Sequence[Floats],
        degree: Vector,
        ridge: float,
        dtype: type[np.floating],
    ) -> QueryLaplacian | None:
        """Factorise, in a precision if that does, else in double; None beyond that."""
        lowest = ridge + degree[: pairs.n_lowest]
        precisions: list[type[np.floating]] = [dtype, np.float64]
        for precision in dict.fromkeys(precisions):
            coupling, matrix = _eliminated(pairs, weights, ridge + degree, precision)
            factor = ScaledCholesky.of(matrix)
            if factor is not None:
                return cls(pairs, weights, degree, lowest, coupling, factor)
        return None

    def product(self, v: Vector) -> Vector:
        """Return ``L v``."""
        v = v - v.mean()
        sums = np.zeros_like(v)
        for block, of_pairs in zip(self.pairs.blocks, self.weights, strict=True):
            block.add_partners(of_pairs, v, sums)
        product: Vector = self.degree * v - sums
        return product

    def solve(self, b: Vector) -> Vector:
        """Return x."""
        n, dtype = self.pairs.n_lowest, self.coupling.dtype
        low = b[:n] / self.lowest
        high = self.factor.solve(b[n:] + self.coupling @ low.astype(dtype))
        low += (high.astype(dtype) @ self.coupling) / self.lowest
        return np.concatenate([low, high])


def _eliminated(
    pairs: LevelBlocks, weights: Sequence[Floats], diagonal: Vector, dtype: type[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return what couples rows to those of the lowest level, and the matrix without these."""
    n, n_others = pairs.n_lowest, len(pairs.rows) - pairs.n_lowest
    coupling, matrix = np.empty((n_others, n), dtype), np.zeros((n_others, n_others), dtype)
    for block, of_pairs in zip(pairs.blocks, weights, strict=True):
        rows = slice(block.better.start - n, block.better.stop - n)
        coupling[rows] = of_pairs[:, :n]
        others = of_pairs[:, n:]
        matrix[rows, : block.n_worse - n] = -others
        matrix[: block.n_worse - n, rows] = -others.T
    matrix[np.diag_indices(n_others)] = diagonal[n:]
    scaled = coupling / np.sqrt(diagonal[:n]).astype(dtype)
    matrix -= scaled @ scaled.T
    return coupling, matrix


@record
class BlockEquations:
    """The equations of all queries for a matrix of rows.

    Attributes
    ----------
    X : Matrix
    laplacians : sequence of QueryLaplacian
        Of the queries that have pairs, with the reciprocal of `length` as ridge.
    length : float
        The mean square length of a row: what stands for K in the preconditioner.
    n_threads : int
    ordered : InOrder
        Maps over queries.
    """

    X: Matrix
    laplacians: Sequence[QueryLaplacian]
    length: float
    n_threads: int
    ordered: InOrder

    def solve(self, q: Vector, r: Vector, accuracy: float) -> Vector:
        """Return the scores u.

        Conjugate gradients end once the error of v, in lengths of the preconditioner, is a small
        part of v.
        """
        kappa = self.length
        q = q + self.product(r)
        scores = self._solved(q)
        v = q - self.product(scores)
        image = self._image(v)
        residual = scores - image
        enough = accuracy**2 * float(v @ image)
        lifted, direction = np.zeros_like(v), np.zeros_like(v)
        energy = np.inf
        for _ in range(MOST_PRODUCTS):
            # The preconditioned residual is L x for this x, whose rounding the residual knows of.
            x = self._solved(residual / kappa)
            preconditioned = (residual - x) / kappa
            energy, previous = float(residual @ preconditioned), energy
            if not energy > enough:
                break
            lifted = x + energy / previous * lifted
            direction = preconditioned + energy / previous * direction
            product = lifted + self._image(direction)
            alpha = energy / float(direction @ product)
            scores -= alpha * lifted
            residual -= alpha * product
        return scores - r

    def product(self, v: Vector) -> Vector:
        """Return ``L v``."""
        return self._by_query(QueryLaplacian.product, v)

    def _solved(self, b: Vector) -> Vector:
        return self._by_query(QueryLaplacian.solve, b)

    def _by_query(self, function: Callable[[QueryLaplacian, Vector], Vector], v: Vector) -> Vector:
        """Apply a function to the part of each query; rows without pairs get 0."""
        result = np.zeros_like(v)
        parts = self.ordered(lambda each: function(each, v[each.pairs.rows]), self.laplacians)
        for each, part in zip(self.laplacians, parts, strict=True):
            result[each.pairs.rows] = part
        return result

    def _image(self, v: Vector) -> Vector:
        """Return ``K v`` for rows that have pairs."""
        image = self.X.dot(self.X.t_dot(v, self.n_threads), self.n_threads)
        return self._by_query(lambda _, part: part, image)
