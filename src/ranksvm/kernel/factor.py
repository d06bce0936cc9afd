"""Rows as features whose dot products are the values of a kernel: a partial Cholesky factor.

Differences of scores are all that a ranking knows, so the kernel is taken between differences from
one row a, the anchor:

    k_a(x, z) = k(x, z) - k(x, a) - k(a, z) + k(a, a) = (Phi Phi')_xz + E_xz

where Phi, of shape (n_samples, rank), grows by columns, one for each pivot, and the remainder E is
positive semidefinite and zero in the rows of pivots. With weights w on the columns of Phi, the
function ``f(x) = sum over pivots p of  beta_p k_a(p, x)`` with ``beta = L^-T w``, L the rows of Phi
that are pivots, has the scores ``Phi w`` exactly, and ``|f| = |w|``, however much E holds. So Phi
restricts the functions to be learnt from, and nothing else is approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..errors import InputError
from ..pairs.rounding import relative_rounding
from ..records import record
from ..threads import map_in_order, one_blas_thread
from .kernels import Kernel
from .matrix import KernelMatrix

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
Note = Callable[[str], object]  # of how far the work is, for people

EXACT = 1e-14  # of the largest diagonal element: a remainder of this size is rounding
_SEMIDEFINITE = ("linear", "rbf", "laplacian", "cosine", "chi2")
_BLOCK_COLUMNS = 128
_BLOCK_ROWS = 1024
_DIAGONAL_ROWS = 64
_LEAST_PIVOT = 0.01  # of the largest, so that the columns of a block are computed for some use
_EARLY = 4  # of how many parts of the columns that there may be the first show the course
_EPS = float(np.finfo(np.float64).eps)


@record
class LeadingColumns:
    """The first columns of a factor: values of functions, orthonormal, that its pivots span.

    Attributes
    ----------
    features : ndarray of shape (n_samples, n_columns)
    pivots : ndarray of shape (n_columns,), int64
    L : ndarray of shape (n_columns, n_columns)
        The rows of pivots, lower triangular.
    """

    features: Matrix
    pivots: Rows
    L: Matrix

    def coef(self, t: Vector) -> Vector:
        """Return the coefficients of the function with the scores ``features @ t``."""
        coef = np.zeros(len(self.features))
        coef[self.pivots] = scipy.linalg.solve_triangular(self.L, t, lower=True, trans=1)
        return coef


class KernelFactor:
    """A Cholesky factor of the kernel matrix of the training rows, as exact as it is asked to be.

    Pivots are the rows with the largest remainders. Kernel values are computed as they are needed,
    for a block of pivots at a time, and the matrix of all of them is never held: this takes
    ``16 n_samples rank`` bytes, and O(n_samples rank^2) time. Only kernels that may fail to be
    positive semidefinite (precomputed ones, functions, "sigmoid", and polynomials with a negative
    `coef0` or a broken degree) are computed as a whole, to be checked.

    Parameters
    ----------
    kernel : Kernel
    X : array-like or sparse matrix of shape (n_samples, n_features)
    max_memory : float
        Bytes that the factor may take.
    n_threads : int, default=1

    Attributes
    ----------
    pivots : ndarray of shape (rank,), int64
    anchor : int
    remainder : ndarray of shape (n_samples,)
        The diagonal of E.
    scale : float
        The largest diagonal element of the kernel matrix.

    Raises
    ------
    ValueError
        If the kernel is not one for these rows, or `max_memory` would be exceeded.

    References
    ----------
    Harbrecht, Peters and Schneider, "On the low-rank approximation by the pivoted Cholesky
    decomposition", Applied Numerical Mathematics 62 (2012).
    """

    def __init__(self, kernel: Kernel, X: Any, max_memory: float, n_threads: int = 1) -> None:
        self.max_memory, self._n_threads = max_memory, n_threads
        self._values = _kernel_values(kernel, X, max_memory)
        n, self._n_features = X.shape
        self._diagonal = self._by_rows(
            lambda rows: self._values(rows, rows).diagonal(), n, _DIAGONAL_ROWS
        )
        self.anchor = int(self._diagonal.argmin())
        self._to_anchor = self._by_rows(lambda rows: self._values(rows, [self.anchor])[:, 0], n)
        distance = self._diagonal - 2 * self._to_anchor + self._diagonal[self.anchor]
        self.remainder = np.maximum(distance, 0.0)
        self.remainder[self.anchor] = 0.0
        self.scale = float(np.abs(self._diagonal).max())
        self.pivots = np.empty(0, dtype=np.int64)
        self._blocks: list[Matrix] = []

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.remainder)

    @staticmethod
    def n_bytes(n_samples: int, rank: int) -> float:
        """Return the memory that a factor takes."""
        return 16.0 * n_samples * rank

    @property
    def features(self) -> Matrix:
        """Phi, of shape (n_samples, rank)."""
        return self._features_of(slice(None))

    def refine(
        self,
        remainder: float,
        max_rank: int | None = None,
        note: Note | None = None,
        *,
        foresees: bool = False,
    ) -> bool:
        """Add pivots until no diagonal element of the remainder is larger than this.

        Returns whether that is so; it is not, where there are `max_rank` pivots before, or, with
        `foresees`, where it is to be expected that twice as many would be too few.
        """
        course = _Course()
        while True:
            largest = self.remainder.max()
            if largest <= remainder:
                return True
            rank = len(self.pivots)
            course.add(rank, float(self.remainder.mean()))
            if max_rank is not None and rank >= max_rank:
                return False
            if foresees and max_rank is not None and course.is_hopeless(remainder, max_rank):
                return False
            if note is not None:
                note(
                    f"factor of the kernel: {rank:,} columns leave a remainder of "
                    f"{largest:.2g}; {remainder:.2g} is wanted"
                )
            least = max(remainder, _LEAST_PIVOT * largest)
            n_candidates = min(_BLOCK_COLUMNS, len(self.remainder))
            candidates = np.argpartition(self.remainder, -n_candidates)[-n_candidates:]
            with one_blas_thread():
                self._add_block(candidates[self.remainder[candidates] > least], least)

    def matrix(self, note: Note | None = None) -> KernelMatrix:
        """Return the values between differences from the anchor of all rows, half of them held."""
        n = len(self.remainder)

        def values(rows: slice, columns: Rows) -> Matrix:
            if note is not None:
                note(f"kernel matrix: {rows.start:,} of {n:,} rows")
            return self._differences(rows, columns)

        return KernelMatrix(values, n, 4 * self._rounding(n) * self.scale, self._n_threads)

    def leading(self, n_columns: int, note: Note | None = None) -> LeadingColumns:
        """Return the first columns of Phi, to which some are added if there is need and room."""
        room = self.max_memory - KernelMatrix.n_bytes(self.n_samples)
        most = int(min(room / self.n_bytes(self.n_samples, 1), self.n_samples)) - _BLOCK_COLUMNS
        wanted = min(n_columns, most)
        if note is not None and wanted > len(self.pivots):
            note(f"factor of the kernel: {wanted:,} columns, to precondition Newton steps with")
        self.refine(EXACT * self.scale, wanted)
        pivots = self.pivots[:n_columns]
        features = np.ascontiguousarray(self._features_of(slice(None), n_columns))
        return LeadingColumns(features, pivots, features[pivots])

    def coef_of(self, w: Vector) -> Vector:
        """Return the coefficients of all rows but for the anchor, which differences do without."""
        rows, beta = self.dual_coef(w)
        coef = np.zeros(len(self.remainder))
        coef[rows[:-1]] = beta[:-1]
        return coef

    def with_anchor(self, coef: Vector) -> tuple[Rows, Vector]:
        """Return the rows that have coefficients, and these with that of the anchor: sum zero."""
        coef = coef.copy()
        coef[self.anchor] = 0.0
        support = np.append(np.flatnonzero(coef), self.anchor)
        coef[self.anchor] = -coef.sum()
        return support, coef[support]

    def dual_coef(self, w: Vector) -> tuple[Rows, Vector]:
        """Return rows and coefficients beta, with sum zero, of ``f(x) = sum_p beta_p k(p, x)``."""
        L = self._features_of(self.pivots)
        with one_blas_thread():
            beta = scipy.linalg.solve_triangular(L, w, lower=True, trans=1)
        return np.append(self.pivots, self.anchor), np.append(beta, -beta.sum())

    def scores(self, rows: Rows, coef: Vector) -> tuple[Vector, float]:
        """Return the scores of ``f(x) = sum_p coef_p k(p, x)``, and a bound of their rounding.

        They are made of kernel values, which are as exact as the products of rows are.
        """
        scores = self._by_rows(lambda block: self._values(block, rows) @ coef, len(self.remainder))
        return scores, self._rounding(len(rows)) * self.scale * float(np.abs(coef).sum())

    def rounding(self, g: Vector) -> float:
        """Bound how ``g'E g`` may differ from that of the E that there is."""
        return self._rounding_of(float(np.abs(g).sum()) * float(np.linalg.norm(g)))

    def bound_of(self, size: float) -> float:
        """Bound ``g'E g``, with what rounding may add, for all g whose absolute sum is `size`."""
        return (float(self.remainder.max()) * size + self._rounding_of(size)) * size

    def _rounding_of(self, lengths: float) -> float:
        return 4 * self._rounding(len(self.pivots)) * self.scale * lengths

    def _rounding(self, n_terms: int) -> float:
        return relative_rounding(n_terms) + relative_rounding(self._n_features)

    def bound(self, g: Vector) -> float:
        """Bound ``g'E g`` by the diagonal of E, for g with sum zero, and for ``|g|`` smaller."""
        return float(np.abs(g) @ np.sqrt(self.remainder)) ** 2

    def left_out(self, g: Vector) -> float:
        """Compute ``g'E g`` for g with sum zero, from all kernel values again, up to rounding."""
        used = np.flatnonzero(g)
        u = g[used]
        quadratic = self._by_rows(
            lambda rows: u[rows] * (self._differences(used[rows], used) @ u), len(used)
        ).sum()
        rounding = _EPS * float(np.abs(u) @ np.sqrt(np.abs(self._diagonal[used]))) ** 2
        with one_blas_thread():
            projected = sum(float(np.sum((u @ block[used]) ** 2)) for block in self._blocks)
        return max(float(quadratic) - projected, 0.0) + rounding

    def _features_of(self, rows: Any, n_columns: int | None = None) -> Matrix:
        none = np.empty((len(self.remainder), 0))
        blocks = [none, *self._blocks]
        if n_columns is not None:
            ends = np.cumsum([block.shape[1] for block in blocks])
            blocks = blocks[: int(np.searchsorted(ends, n_columns)) + 1]
        return np.concatenate([block[rows] for block in blocks], axis=1)[:, :n_columns]

    def _add_block(self, candidates: Rows, least: float) -> None:
        self._require_memory(len(self.pivots) + len(candidates))
        # Rows of pivots are zero, and what rounding would leave there would be divided by small
        # numbers later.
        rest = np.flatnonzero(self.remainder)
        V = self._by_rows(lambda rows: self._remainder(rest[rows], candidates), len(rest))
        square = V[np.searchsorted(rest, candidates)]
        self.remainder[candidates] = square.diagonal().clip(0.0)
        L, order, rank, _ = scipy.linalg.lapack.dpstrf(square, tol=least, lower=True)
        if rank == 0:
            return
        taken, L = order[:rank] - 1, np.tril(L[:rank, :rank])
        block = np.zeros((len(self.remainder), rank))
        block[rest] = self._by_rows(
            lambda rows: scipy.linalg.solve_triangular(L, V[rows, taken].T, lower=True).T, len(rest)
        )
        pivots = candidates[taken]
        block[pivots] = L
        self.remainder = (self.remainder - np.einsum("ij,ij->i", block, block)).clip(0.0)
        self.remainder[pivots] = 0.0
        self.pivots = np.append(self.pivots, pivots)
        self._blocks.append(block)

    def _differences(self, rows: Any, columns: Rows) -> Matrix:
        """Kernel values between differences from the anchor."""
        values = self._values(rows, columns) - self._to_anchor[columns]
        values -= self._to_anchor[rows, np.newaxis] - self._diagonal[self.anchor]
        return values

    def _remainder(self, rows: Rows, columns: Rows) -> Matrix:
        values = self._differences(rows, columns)
        for block in self._blocks:
            values -= block[rows] @ block[columns].T
        return values

    def _by_rows(
        self, function: Callable[[slice], Matrix], n: int, size: int = _BLOCK_ROWS
    ) -> Matrix:
        """Apply a function to blocks of rows, and join what it returns."""
        blocks = (slice(start, min(start + size, n)) for start in range(0, n, size))
        return np.concatenate(list(map_in_order(function, blocks, self._n_threads)))

    def _require_memory(self, rank: int) -> None:
        n = len(self.remainder)
        needed = self.n_bytes(n, rank)
        if needed > self.max_memory:
            raise InputError(
                f"the kernel's factor has a rank of {len(self.pivots):,} and needs a larger one "
                f"for {n:,} rows, which would take {needed / 1e9:.3g} GB, more than "
                f"max_memory={self.max_memory / 1e9:.3g} GB; use fewer rows, raise tol or "
                "max_memory, or approximate the kernel: RankSVM on the features of "
                "sklearn.kernel_approximation.Nystroem or RBFSampler"
            )


class _Course:
    """How the mean of a remainder falls with the rank, and how far it goes on like that.

    As a rule its logarithm falls ever more slowly, as eigenvalues do, so that a straight line tells
    a rank that is too small.
    """

    def __init__(self) -> None:
        self._ranks: list[int] = []
        self._logs: list[float] = []

    def add(self, rank: int, mean: float) -> None:
        self._ranks.append(rank)
        self._logs.append(float(np.log(mean)))

    def is_hopeless(self, remainder: float, max_rank: int) -> bool:
        """Whether twice so many columns would be too few for this remainder."""
        rank = self._ranks[-1]
        if rank < max_rank / _EARLY:
            return False
        logs = np.interp([rank / 3, 2 * rank / 3, rank], self._ranks, self._logs)
        before, now = -np.diff(logs)
        if now >= before:  # as where rows repeat: it falls all at once, in the end
            return False
        foreseen = rank + rank / 3 * (logs[-1] - np.log(remainder)) / max(now, _EPS)
        return bool(foreseen > 2 * max_rank)


def _kernel_values(kernel: Kernel, X: Any, max_memory: float) -> Callable[[Any, Any], Matrix]:
    """Return the function of rows and columns that gives the kernel values between them."""
    if is_semidefinite(kernel):
        return lambda rows, columns: kernel.between(X[rows], X[columns])
    with one_blas_thread():
        K = kernel.matrix(X, max_memory)
    every = np.arange(len(K))
    return lambda rows, columns: K[np.ix_(every[rows], every[columns])]


def is_semidefinite(kernel: Kernel) -> bool:
    """Whether a kernel is one whatever the rows are; others are checked."""
    if kernel.kernel in ("poly", "polynomial"):
        return kernel.coef0 >= 0 and float(kernel.degree).is_integer()
    return not callable(kernel.kernel) and kernel.kernel in _SEMIDEFINITE
