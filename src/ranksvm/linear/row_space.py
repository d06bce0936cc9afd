"""Newton steps where rows are few: in the space that they span.

With fewer rows than features, the weights that matter are sums of rows, less one that all have in
common. So with ``Z = X - 1 mean'`` and the factor of its matrix of dot products::

    Z Z' = F F',    Z = F Q',    Q'Q = I,    F of shape (n_samples, rank),

they are ``w = Q v``, as long as v is; and the Newton step is ``p = Q y`` with (:eq:`row-space`)::

    (I + c F'HF) y = -Q'r,    r the gradient.

A step so costs O(n^3) in place of O(n d^2), and F but once, for all steps and all values of C. Q is
never formed. With a pivoted Cholesky factor, whose rows L of pivots are triangular::

    Q y = Z' L^-T y,    Q'r = L^-1 Z r    (rows of pivots).

All else, that is value, gradient, line search and certificate, is of X itself, so that what
rounding does to the factor may only cost steps. Where it costs too many, other solvers go on.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..lazy import cached_property
from ..pairs.given import AnyPreferences
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.preferences import Preferences
from ..records import record
from ..threads import in_order, one_blas_thread
from .design_matrix import DesignMatrix
from .dot_products import DENSE, TINY, DotProducts, Factor
from .long_query import ranges
from .matrix import Matrix
from .shared_columns import shared_columns
from .sparse_hessian import SparseRows

Vector = NDArray[np.float64]
Floats = NDArray[np.float64]

MOST_ROWS, FEW_ROWS = 8192, 1024
MANY_FEATURES = 64  # as if so many made up the squares of rows alike
_BLOCK_BYTES = 1 << 20


@record
class RowSpace:
    """Coordinates for the weights in the space of the rows; their factor is made when asked for.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    n_threads : int, default=1
    """

    X: DesignMatrix
    n_threads: int = 1

    @staticmethod
    def suits(X: Matrix) -> TypeGuard[DesignMatrix]:
        """Say whether rows are on the host, and few enough for a matrix with a row for each."""
        return isinstance(X, DesignMatrix) and X.shape[0] <= MOST_ROWS

    @staticmethod
    def is_of_features(X: Matrix) -> TypeGuard[DesignMatrix]:
        """Say whether features are so few, and fewer than rows, that they span these as they are.

        Then a matrix with a row for each feature does, for steps of listed pairs.
        """
        n, d = X.shape
        return isinstance(X, DesignMatrix) and d < n - 1 and d <= MOST_ROWS

    @staticmethod
    def suits_columns(X: Matrix) -> bool:
        """Say whether dot products of some columns of the rows, again and again, cost little."""
        n, d = X.shape
        return RowSpace.suits(X) and n < d and n <= FEW_ROWS and X.n_stored >= DENSE * n * d

    @classmethod
    def of(cls, X: Matrix, n_threads: int = 1) -> RowSpace:
        """Return the space of rows that suit it.

        Raises
        ------
        ValueError
            If they do not.
        """
        if cls.suits(X):
            return cls(X, n_threads)
        raise InputError(
            f"solver='row_space' is for at most {MOST_ROWS:,} rows on the host, not for "
            f"{X.shape[0]:,} of {type(X).__name__}; use solver='auto'"
        )

    @cached_property
    def dots(self) -> DotProducts:
        """The dot products of all rows."""
        return DotProducts(gram_matrix(self.X, self.n_threads))

    @property
    def _factor(self) -> Factor:
        return self.dots.factor

    def weighted_gram(self, weights: Vector) -> Floats:
        """Return ``X diag(weights) X'``, of the columns whose weights are positive."""
        chosen = np.flatnonzero(weights)
        columns = self.X.restricted(chosen)
        n, d = columns.shape
        scale = np.sqrt(weights[chosen])
        Z = columns.gather((0, n, None), (0, d), np.zeros(d), scale, np.float64)
        return np.asarray(Z @ Z.T, dtype=np.float64)

    @property
    def rank(self) -> int:
        """Number of coordinates: 0 where numbers are beyond floating point."""
        return len(self._factor.pivots)

    def projected(self, w: Vector) -> Vector:
        """Return the part of w that is in the space: it is shorter, and ranks the rows the same."""
        return self.to_weights(self.from_weights(w)) if self.rank else w

    def from_weights(self, w: Vector) -> Vector:
        """Return the coordinates ``Q'w`` of the part of w that is in the space."""
        scores = self.X.dot(w, self.n_threads)
        return self._solve(scores[self._factor.pivots] - scores.mean(), transposed=False)

    def to_weights(self, y: Vector) -> Vector:
        """Return the weights ``Q y``."""
        coef = np.zeros(self.X.shape[0])
        coef[self._factor.pivots] = self._solve(y, transposed=True)
        return self.X.t_dot(coef - coef.mean(), self.n_threads)

    def scaled_hessian(
        self, loss: SmoothEvaluation, c: float, dtype: type[np.floating]
    ) -> tuple[Floats, Vector]:
        """Form ``I + c F'HF``, for columns of F that are brought to the same scale.

        Returns
        -------
        hessian : ndarray of shape (rank, rank)
            ``diag(scale) (I + c F'HF) diag(scale)``.
        scale : ndarray of shape (rank,)
        """
        if self.rank == 0:
            return np.zeros((0, 0)), np.zeros(0)
        F = DesignMatrix.from_array(self._factor.F)
        shift, scale = F.standardization(self.n_threads)
        hessian = F.hessian(loss, shift, scale, dtype, self.n_threads)
        hessian *= c
        hessian[np.diag_indices_from(hessian)] += scale**2
        return hessian, scale

    def _solve(self, right: Vector, transposed: bool) -> Vector:
        from scipy.linalg import solve_triangular

        with one_blas_thread():
            solution: Vector = solve_triangular(
                self._factor.L, right, lower=True, trans=int(transposed), check_finite=False
            )
        return solution


def lists_pairs(X: Matrix, preferences: AnyPreferences | None) -> TypeGuard[DesignMatrix]:
    """Say whether pairs within queries may be listed, for features that are fewer than rows.

    Those of one row each do not count, where matrices of the queries make up for them.
    """
    if not (isinstance(X, DesignMatrix) and isinstance(preferences, Preferences)):
        return False
    from ..pairs.explicit import MOST_PAIRS  # which only the hinge needs

    if preferences.most_pairs > MOST_PAIRS:
        return False
    return RowSpace.is_of_features(X) or shared_columns(X, preferences) is not None


def have_little_in_common(X: Matrix, n_threads: int = 1) -> bool:
    """Say whether no few features make up the dot products of rows, as raw counts among others do.

    With features of very different scales, steps of interior points by blocks are short, and those
    of listed pairs many.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = X.column_squares(n_threads)
    if not TINY < squares.max() < np.inf:
        return True
    shares = squares / squares.max()
    return bool(shares.sum() ** 2 >= MANY_FEATURES * (shares @ shares))


def gram_matrix(X: DesignMatrix, n_threads: int = 1) -> Floats:
    """Return the dot products of rows, less the mean of all: ``Z Z'``.

    Of dense rows these are matrix products of blocks of columns; of sparse ones, sums over what is
    stored, column by column.
    """
    shift, _ = X.standardization(n_threads)
    n, d = X.shape
    Z = X.sparse_rows() if X.n_stored < DENSE * n * d else None
    if Z is not None:
        return _sparse_gram(Z, shift, n_threads)
    ones = np.ones(d)

    def product(columns: tuple[int, int]) -> Floats:
        block = X.gather((0, n, None), columns, shift, ones, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # of each thread; see `is_finite`
            return np.asarray(block @ block.T, dtype=np.float64)

    gram = np.zeros((n, n))
    width = max(_BLOCK_BYTES // (8 * n), 512)
    with in_order(n_threads) as ordered:
        for part in ordered(product, ranges(0, d, width)):
            gram += part
    return gram


def _sparse_gram(Z: SparseRows, shift: Vector, n_threads: int) -> Floats:
    """Return the same of what is stored, less the mean in columns that all rows store."""
    return less_means(Z.core.gram(common_offset(Z, shift), Z.scale, Z.rows, n_threads))


def common_offset(Z: SparseRows, shift: Vector) -> Vector:
    """Return the offset of rows that are shifted in the columns that all of them store."""
    common = Z.core.common_columns(Z.rows)
    offset = np.zeros(len(Z.scale)) if Z.offset is None else Z.offset.copy()
    offset[common] += shift[common] / Z.scale[common]
    return offset


def less_means(gram: Floats) -> Floats:
    """Take from a symmetric matrix what makes rows and columns sum to zero, in place."""
    means = gram.mean(axis=0)
    shift = means - means.mean() / 2
    for row, own in zip(gram, shift, strict=True):
        row -= own + shift
    return gram
