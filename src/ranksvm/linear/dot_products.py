"""The dot products of rows, and what stands for them in the equations of interior points.

With the Laplacian M of the pairs, and the matrix ``G = Z Z'`` of rows that sum to zero, scores move
by the u for which ``(G^-1 + M) u = b``. G has no inverse:

- where nothing depends on anything but the sum of all rows, a matrix of ones is added, which b does
  not see,
- where more may, ``Z = T Z_p`` for the rows p of the pivots of a Cholesky factor, which are
  independent, and ``u = T u_p`` with ``((Z_p Z_p')^-1 + T'M T) u_p = T'b``: hardly more work than
  that, while to multiply M by a factor of G would take ten times as much.

Such an inverse is rounded, by far where scales of features differ, and the equations of stiff pairs
leave few of its digits. But nothing is inverted in ``u = G (b - M u)``: what a solution leaves of
that, another one mends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..records import record
from ..solvers.cholesky import ScaledCholesky, inverse_by
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
_STIFF = 1e8  # what pairs weigh, times squares of rows, beyond which rounding of an inverse shows
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
class _Basis:
    """Rows that the others are mixed from: ``Z = T Z_p``, for these rows p.

    They alone have scores of their own, and dot products with an inverse.

    Attributes
    ----------
    chosen, others : ndarray of int64
    shares : ndarray of shape (n_others, n_chosen)
        Of the chosen, in the others.
    inverse : ndarray of shape (n_chosen, n_chosen)
        Of the dot products of the chosen, or of what stands for these.
    """

    chosen: NDArray[np.int64]
    others: NDArray[np.int64]
    shares: Floats
    inverse: Floats

    @classmethod
    def of_all(cls, inverse: Floats) -> _Basis:
        """Choose all rows."""
        n = len(inverse)
        return cls(np.arange(n), np.arange(0), np.zeros((0, n)), inverse)

    @classmethod
    def of_pivots(cls, factor: Factor) -> _Basis:
        """Choose the pivots, and solve for the shares by triangles."""
        from scipy.linalg import solve_triangular

        F, L, pivots = factor
        others = np.setdiff1d(np.arange(len(F)), pivots)
        if not len(pivots):
            return cls(pivots, others, F, L)
        with one_blas_thread():
            shares = solve_triangular(L, F[others].T, lower=True, trans="T").T
            return cls(pivots, others, shares, inverse_by(L))

    def scores(self, of_chosen: Vector) -> Vector:
        """Return T times the scores of the chosen."""
        scores = np.empty(len(self.chosen) + len(self.others))
        scores[self.chosen], scores[self.others] = of_chosen, self.shares @ of_chosen
        return scores

    def balance(self, balance: Vector) -> Vector:
        """Return T' times a gradient of the scores."""
        of_chosen: Vector = balance[self.chosen] + balance[self.others] @ self.shares
        return of_chosen

    def equations(self, pairs: ExplicitPairs, weighed: _core.ListedPairs, n_threads: int) -> Floats:
        """Return ``(Z_p Z_p')^-1 + T'M T``, on and below the diagonal."""
        if len(self.others):
            matrix = self._mixed(pairs.sparse_laplacian(weighed.weights), n_threads)
            matrix += self.inverse
        else:
            matrix = self.inverse.copy()
            weighed.add_laplacian(matrix)
        return matrix

    def _mixed(self, matrix: csr_matrix, n_threads: int) -> Floats:
        """Return ``T'M T``."""
        chosen, others, shares = self.chosen, self.others, self.shares
        total = np.empty((len(chosen), len(chosen)))
        with in_order(n_threads) as ordered:
            of_others = matrix[others]
            mixed = of_others[:, chosen].toarray() + _product(of_others[:, others], shares)

            def fill(part: tuple[int, int]) -> None:
                rows = slice(*part)
                block = matrix[chosen[rows]]
                total[rows] = block[:, chosen].toarray()
                total[rows] += _product(block[:, others], shares)
                total[rows] += shares[:, rows].T @ mixed

            for _ in ordered(fill, ranges(0, len(chosen), _BLOCK_ROWS)):
                pass
        return total


@record
class DotProducts:
    """The matrix ``G = Z Z'`` of dot products of rows that sum to zero, and what stands for it.

    Attributes
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    """

    gram: Floats

    @cached_property
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
    def basis(self) -> _Basis:
        """The rows whose dot products are inverted: all of them where these are independent."""
        inverse = self._clearly_inverted()
        return _Basis.of_pivots(self.factor) if inverse is None else _Basis.of_all(inverse)

    def factorized(
        self, pairs: ExplicitPairs, weighed: _core.ListedPairs, n_threads: int
    ) -> ScoreEquations | None:
        """Return the equations of a step, factorised; None beyond floating point."""
        factor = ScaledCholesky.of(self.basis.equations(pairs, weighed, n_threads))
        return None if factor is None else ScoreEquations(self, weighed, factor)

    def _clearly_inverted(self) -> Floats | None:
        """Invert G, a matrix of ones of about its size, and a hair more; None unless it is clear.

        That is, by a factor without pivots that tells that no row depends on others, but for the
        sum of all. Gradients, whose elements add up to zero, do not see the ones.
        """
        if not self.is_finite:
            return None
        from scipy.linalg.lapack import dpotrf

        diagonal = self.gram.diagonal()
        matrix = self.gram + float(diagonal.mean()) / len(diagonal)
        matrix[np.diag_indices_from(matrix)] += self.hair
        with one_blas_thread():
            factor, singular = dpotrf(matrix.T, lower=True, overwrite_a=True)
            least = float(factor.diagonal().min()) ** 2
            if singular or not least > _CLEAR * float(diagonal.max()):
                return None
            return inverse_by(factor)

    @property
    def hair(self) -> float:
        """What is next to nothing among the dot products."""
        return RIDGE * float(self.gram.diagonal().max())


@record
class ScoreEquations:
    """The equations ``(G^-1 + M) u = b``, by which scores move."""

    dots: DotProducts
    weighed: _core.ListedPairs
    factor: ScaledCholesky

    def solve(self, right: Vector) -> Vector:
        """Solve for one right-hand side, whose elements add up to zero."""
        basis = self.dots.basis
        moved = basis.scores(self.factor.solve(basis.balance(right)))
        if not self._is_stiff:
            return moved
        left = self.dots.gram @ (right - self.weighed.laplacian(moved)) - moved
        left -= left.mean()
        return moved + basis.scores(self.factor.solve(basis.inverse @ left[basis.chosen]))

    @cached_property
    def _is_stiff(self) -> bool:
        largest = float(self.dots.gram.diagonal().max())
        return bool(self.weighed.weights.max() * largest > _STIFF)


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
