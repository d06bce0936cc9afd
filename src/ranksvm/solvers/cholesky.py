"""Equations with a symmetric positive definite matrix of any scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..records import record
from ..threads import one_blas_thread

Vector = NDArray[np.float64]

SMALL = 48  # rows of matrices that NumPy inverts, many at a time
LARGE = 512  # rows, from which on copies of a matrix count; NumPy makes two
# What is added to the diagonal for each row, until it serves.
RIDGES = float(np.finfo(np.float64).eps) * np.array([1.0, 1e2, 1e4])


@record
class ScaledCholesky:
    """The Cholesky factor of a matrix whose diagonal has been scaled to one."""

    factor: NDArray[np.float64]
    to_unit: Vector

    @classmethod
    def of(cls, matrix: NDArray[np.floating], *, nearly: bool = False) -> ScaledCholesky | None:
        """Factorise, in the precision of the matrix, which is overwritten.

        None if it is not positive definite in that precision, or beyond floating point. What
        double precision does not suffice for may be factorised `nearly`, with as little added to
        the diagonal as makes it positive definite: columns that depend on each other, on scales at
        which a penalty of 1 is lost in rounding, make such a matrix.
        """
        diagonal = np.diag(matrix)
        if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            return None
        to_unit: Vector = 1 / np.sqrt(diagonal)
        matrix *= to_unit
        matrix *= to_unit[:, np.newaxis]
        ridges = len(matrix) * RIDGES if nearly and matrix.dtype == np.float64 else ()
        for ridge in (0.0, *ridges):
            matrix[np.diag_indices_from(matrix)] += ridge
            factor = _factor(matrix, overwrite=len(ridges) == 0)
            if factor is not None:
                return cls(np.asarray(factor, dtype=np.float64), to_unit)
        return None

    def solve(self, right: Vector) -> Vector:
        """Solve for one right-hand side."""
        solved: Vector = self.to_unit * _core.cholesky_solve(self.factor, self.to_unit * right)
        return solved


def _factor(matrix: NDArray[np.floating], overwrite: bool) -> NDArray[np.floating] | None:
    """Return a factor whose lower triangle counts; None if there is none."""
    if len(matrix) < LARGE:
        try:
            return np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None
    from scipy.linalg.lapack import dpotrf, spotrf

    potrf = spotrf if matrix.dtype == np.float32 else dpotrf
    with one_blas_thread():
        upper, info = potrf(matrix.T, lower=False, clean=False, overwrite_a=overwrite)
    return upper.T if info == 0 else None


def inverse(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert symmetric positive definite matrices, of shape (n_matrices, n, n), of small scale.

    What cannot be inverted is not a number.
    """
    n = matrices.shape[-1]
    if n < SMALL:
        try:
            return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
        except np.linalg.LinAlgError:
            return np.full_like(matrices, np.nan)
    from scipy.linalg.lapack import dpotrf

    inverses = np.empty_like(matrices)
    for matrix, inverted in zip(matrices, inverses, strict=True):
        factor, singular = dpotrf(matrix.T, lower=True)
        inverted[:] = np.nan if singular else inverse_by(factor)
    return inverses


def inverse_by(factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a matrix by its Cholesky factor, with zeros above the diagonal."""
    from scipy.linalg.lapack import dpotri

    below, singular = dpotri(factor, lower=True)
    if singular:
        return np.full_like(below, np.nan)
    inverted: NDArray[np.float64] = np.add(below, below.T, order="C")
    inverted[np.diag_indices_from(inverted)] = below.diagonal()
    return inverted
