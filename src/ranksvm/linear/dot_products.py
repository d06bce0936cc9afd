"""The dot products of rows, and what stands for them in the equations of interior points.

With the Laplacian M of the pairs, and the matrix ``G = Z Z'`` of rows that sum to zero, scores move
by the u for which ``(G^-1 + M) u = b``. G has no inverse:

- where nothing depends on anything but the sum of all rows, a matrix of ones is added, which b does
  not see,
- where more do, ``Z = T Z_p`` for the rows p of the pivots of a Cholesky factor, which are
  independent, and ``u = T u_p`` with ``((Z_p Z_p')^-1 + T'M T) u_p = T'b``: hardly more work than
  that, while to multiply M by a factor of G would take ten times as much,
- where such an inverse is all rounding, there is the factor F itself: ``u = F y`` with
  ``(I + F'M F) y = F'b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..records import record
from ..solvers.cholesky import inverse_by
from ..threads import in_order, one_blas_thread
from .long_query import ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from .. import _core
    from ..pairs.explicit import ExplicitPairs

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

DENSE = 0.1  # share of stored values from which matrix products of all are faster
TINY = 1e-280
RIDGE = 1e-13  # of the largest diagonal element: next to nothing
_RANK = 1e-14  # likewise: a pivot of this size is rounding
_CLEAR = 1e-11  # and above this, whatever the order of rows, none depends on others
_BLOCK_ROWS = 1024


class Factor(NamedTuple):
    """A pivoted Cholesky factor F of the matrix of dot products."""

    F: Floats
    L: Floats
    pivots: NDArray[np.int64]

    @classmethod
    def empty(cls, n_samples: int) -> Factor:
        """Return that of nothing."""
        nothing = np.zeros((n_samples, 0))
        return cls(nothing, nothing[:0], np.zeros(0, dtype=np.int64))


@record
class _Mixture:
    """Rows that are mixed from others: ``Z = T Z_p``, for the rows p of pivots.

    These alone have scores of their own, and dot products with an inverse.

    Attributes
    ----------
    pivots, others : ndarray of int64
    shares : ndarray of shape (n_others, rank)
        Of the pivots, in the others.
    inverse : ndarray of shape (rank, rank)
        Of the dot products of pivots.
    """

    pivots: NDArray[np.int64]
    others: NDArray[np.int64]
    shares: Floats
    inverse: Floats

    @classmethod
    def of(cls, factor: Factor) -> _Mixture:
        """Solve for the shares, by triangles."""
        from scipy.linalg import solve_triangular

        F, L, pivots = factor
        others = np.setdiff1d(np.arange(len(F)), pivots)
        with one_blas_thread():
            shares = solve_triangular(L, F[others].T, lower=True, trans="T").T
            return cls(pivots, others, shares, inverse_by(L))

    def scores(self, of_pivots: Vector) -> Vector:
        """Return T times the scores of pivots."""
        scores = np.empty(len(self.pivots) + len(self.others))
        scores[self.pivots], scores[self.others] = of_pivots, self.shares @ of_pivots
        return scores

    def balance(self, balance: Vector) -> Vector:
        """Return T' times a gradient of the scores."""
        of_pivots: Vector = balance[self.pivots] + balance[self.others] @ self.shares
        return of_pivots

    def of_pivots(self, matrix: csr_matrix, n_threads: int) -> Floats:
        """Return ``T'M T``."""
        pivots, others, shares = self.pivots, self.others, self.shares
        total = np.empty((len(pivots), len(pivots)))
        with in_order(n_threads) as ordered:
            of_others = matrix[others]
            mixed = of_others[:, pivots].toarray() + _product(of_others[:, others], shares)

            def fill(part: tuple[int, int]) -> None:
                rows = slice(*part)
                block = matrix[pivots[rows]]
                total[rows] = block[:, pivots].toarray()
                total[rows] += _product(block[:, others], shares)
                total[rows] += shares[:, rows].T @ mixed

            for _ in ordered(fill, ranges(0, len(pivots), _BLOCK_ROWS)):
                pass
        return total


@record
class DotProducts:
    """The matrix ``G = Z Z'`` of dot products of rows that sum to zero, and what stands for it.

    Attributes
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    by_factor : bool, default=False
        Whether F stands for it whatever its shape, as where its inverse would be rounding.
    """

    gram: Floats
    by_factor: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether the dot products are within floating point."""
        largest = float(self.gram.diagonal().max())
        is_within = largest == 0 or TINY < largest < 1 / TINY
        return bool(is_within and np.isfinite(self.gram).all())

    @cached_property
    def factor(self) -> Factor:
        """F; without columns where numbers are beyond floating point."""
        return _factored(self.gram) if self.is_finite else Factor.empty(len(self.gram))

    @cached_property
    def mixture(self) -> _Mixture | None:
        """What stands for G where rows depend on each other, beyond their sum; None elsewhere."""
        if self.by_factor or self._clearly_inverted is not None:
            return None
        rank = self.factor.F.shape[1]
        return _Mixture.of(self.factor) if 0 < rank < len(self.gram) - 1 else None

    @property
    def by_coordinates(self) -> bool:
        """Whether F stands for G, as for one of nothing."""
        if self.by_factor:
            return True
        return self._clearly_inverted is None and self.factor.F.shape[1] == 0

    def scores(self, step: Vector) -> Vector:
        """Return how the scores move, for a step of these, of pivots' or of coordinates."""
        if self.by_coordinates:
            return self.factor.F @ step
        return step if self.mixture is None else self.mixture.scores(step)

    def coordinates(self, balance: Vector) -> Vector:
        """Return what becomes of a gradient of the scores."""
        if self.by_coordinates:
            return self.factor.F.T @ balance
        return balance if self.mixture is None else self.mixture.balance(balance)

    def equations(self, pairs: ExplicitPairs, weighed: _core.ListedPairs, n_threads: int) -> Floats:
        """Return the matrix of the equations of a step, on and below its diagonal."""
        if self.by_coordinates:
            matrix = self.in_coordinates(pairs.sparse_laplacian(weighed.weights), n_threads)
            add_identity(matrix)
        elif self.mixture is None:
            matrix = self.inverse.copy()
            weighed.add_laplacian(matrix)
        else:
            matrix = self.mixture.of_pivots(pairs.sparse_laplacian(weighed.weights), n_threads)
            matrix += self.mixture.inverse
        return matrix

    def in_coordinates(self, matrix: csr_matrix, n_threads: int) -> Floats:
        """Return ``F'M F`` for matrices M of shape (n_samples, n_samples)."""
        F = self.factor.F

        def product(rows: tuple[int, int]) -> Floats:
            moved = _product(matrix[slice(*rows)], F)
            return np.asarray(F[slice(*rows)].T @ moved, dtype=np.float64)

        total = np.zeros((F.shape[1], F.shape[1]))
        with in_order(n_threads) as ordered:
            for part in ordered(product, ranges(0, len(F), _BLOCK_ROWS)):
                total += part
        return total

    @property
    def inverse(self) -> Floats:
        """The inverse of G, a matrix of ones of about its size, and a hair more.

        Gradients, whose elements add up to zero, do not see the ones, without which G is singular.
        """
        return self._inverted if self._clearly_inverted is None else self._clearly_inverted

    @cached_property
    def _inverted(self) -> Floats:
        with one_blas_thread():
            return np.asarray(np.linalg.inv(self._with_ones()), dtype=np.float64)

    @cached_property
    def _clearly_inverted(self) -> Floats | None:
        """The same by a factor without pivots; None where rows may depend on each other."""
        if not self.is_finite:
            return None
        from scipy.linalg.lapack import dpotrf

        with one_blas_thread():
            factor, singular = dpotrf(self._with_ones().T, lower=True, overwrite_a=True)
            least = float(factor.diagonal().min()) ** 2
            if singular or not least > _CLEAR * float(self.gram.diagonal().max()):
                return None
            return inverse_by(factor)

    def _with_ones(self) -> Floats:
        diagonal = self.gram.diagonal()
        matrix = self.gram + float(diagonal.mean()) / len(diagonal)
        matrix[np.diag_indices_from(matrix)] += self.hair
        return matrix

    @property
    def hair(self) -> float:
        """What is next to nothing among the dot products."""
        return RIDGE * float(self.gram.diagonal().max())


def add_identity(matrix: Floats) -> None:
    """Add 1 to the diagonal, and next to nothing of that more."""
    diagonal = np.diag_indices_from(matrix)
    matrix[diagonal] = (1 + matrix[diagonal]) * (1 + RIDGE)


def _factored(gram: Floats) -> Factor:
    from scipy.linalg.lapack import dpstrf

    with one_blas_thread():
        least = _RANK * float(gram.diagonal().max())
        gram, order, rank, _ = dpstrf(gram, tol=least, lower=True)
    F = np.zeros((len(gram), rank))
    pivots = order.astype(np.int64) - 1
    F[pivots] = np.tril(gram[:, :rank])
    return Factor(F, F[pivots[:rank]], pivots[:rank])


def _product(block: csr_matrix, matrix: Floats) -> Floats:
    """Return the product of some rows, which may be full, and a matrix."""
    is_dense = block.nnz >= DENSE * block.shape[0] * block.shape[1]
    return np.asarray((block.toarray() if is_dense else block) @ matrix, dtype=np.float64)
