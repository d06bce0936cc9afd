"""Hessians of a part of the queries, which tell roughly what that of all is (:eq:`rough-hessian`).

Far from the optimum that is all that Newton steps need. Dense rows bring it with the pass that a
step takes (`ranksvm.linear.one_pass`); the Hessian of sparse rows in short queries is formed for
one in so many of these.

It does not serve where features have heavy tails, or occur rarely: they are seen by their squares,
which are not what they are in all rows. And where a step from zero promises little, pairs stay
active, so that an exact Hessian leads to the optimum at once.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..pairs.loss_evaluation import SmoothEvaluation
from ..solvers.cholesky import ScaledCholesky
from .hessian import HostRows, core_sweep, suits_blocks
from .sparse_hessian import sparse_product

Vector = NDArray[np.float64]

EVEN = 2.0  # the factor within which squares of features, and weights of pairs, are those of all
MUCH = 0.2  # of the loss at zero, that a step promises to take away
RIDGE = 1e-3  # of the diagonal
# A sample is of one in so many queries at most, of so many at least, and has rows for each feature.
RAREST, LEAST_QUERIES, ROWS_OF_FEATURE = 8, 64, 20


class StandardRows(HostRows, Protocol):
    """X on the host, with what it takes to see whether a sample stands for all."""

    def standardization(self, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return the mean of each column and the reciprocal of its standard deviation."""

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X.T @ u`` and ``(X * X).T @ v``."""


def rough_hessian(
    X: StandardRows, loss: SmoothEvaluation, scale: Vector, n_threads: int
) -> NDArray[np.float64] | None:
    """Compute about what `weight_space_hessian` does, of sparse rows, by some of the queries.

    It is None where that does not stand for all, or saves nothing. Of the loss, the pairs are those
    of labels.
    """
    rows = None if suits_blocks(X) else X.sparse_rows()
    n, d = X.shape
    every = min(RAREST, loss.groups.n_queries // LEAST_QUERIES, n // (ROWS_OF_FEATURE * d))
    if rows is None or every <= 1:
        return None
    sweep, pairs = core_sweep(loss)
    chosen = np.arange(loss.groups.n_queries) % every == 0
    weight = float(pairs.pairs_per_query[chosen].sum())
    if not pairs.n_pairs <= EVEN * every * weight <= EVEN**2 * pairs.n_pairs:
        return None
    if not stands_for_all(_squares(X, loss.groups.per_row(chosen), scale, n_threads), scale):
        return None
    n_levels = int(pairs.n_levels.max(initial=1))
    n_stored = X.n_stored // every
    product = sparse_product(rows.scaled(scale), n_stored, loss, n_levels, sweep, n_threads, every)
    symmetric: NDArray[np.float64] = product + product.T
    symmetric *= loss.curvature * sweep.half_laplacian_unit * pairs.n_pairs / weight
    return symmetric


def _squares(
    X: StandardRows, is_chosen: NDArray[np.bool_], scale: Vector, n_threads: int
) -> Vector:
    """Return the mean squares of standardised columns, in some of the rows."""
    share = is_chosen / np.count_nonzero(is_chosen)
    shift, _ = X.standardization(n_threads)
    mean, square = X.t_dot_squares(share, share, n_threads)
    centred: Vector = scale**2 * (square - shift * (2 * mean - shift))
    return centred


def stands_for_all(squares: Vector, scale: Vector) -> bool:
    """Say whether mean squares of standardised columns are about 1, or columns may be constant."""
    may_be_constant = scale == 1.0
    return bool(np.all((squares <= EVEN) & ((EVEN * squares >= 1.0) | may_be_constant)))


def promised(hessian: NDArray[np.float64], slope: Vector) -> float:
    """Return what a Newton step promises to take away; the Hessian may be nearly singular."""
    ridged = hessian.copy()
    ridged[np.diag_indices_from(ridged)] += RIDGE * np.diag(ridged).mean()
    factor = ScaledCholesky.of(ridged)
    return 0.0 if factor is None else 0.5 * float(slope @ factor.solve(slope))
