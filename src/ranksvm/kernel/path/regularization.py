"""Every solution of the kernel RankSVM with hinge loss, as lambda falls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _core
from ...errors import InputError
from ...metrics.pairs import pairwise_error
from ...pairs.columns import finite_column
from ...pairs.queries import QueryGroups
from ...summaries import Tabular
from ...threads import one_blas_thread
from ..kernels import Kernel
from .coefficients import PathCoefficients
from .cost import cost_of_path
from .following import ACCURACY, PathCallback, PathFollower, Stop
from .graph import PreferenceGraph

Vector = NDArray[np.float64]
Metric = Callable[[Vector, Vector, Any], float]

_ONE, _FREE = 1, 2  # sets of events; 0 is zero
_SPREAD = 1e-9  # of the margins, so that events which would tie come one after the other
_COLUMNS = 256


@dataclass(frozen=True, eq=False, repr=False)
class RegularizationPath(Tabular):
    """Kernel rankers for every lambda.

    They are the solutions of::

        minimise  sum over pairs p of  max(0, 1 - f_p)  +  lambda / 2 |f|^2

    with ``f_p = f(x_u) - f(x_l)`` for the pair p that prefers row u to row l, and
    ``f(x) = sum_i beta_i k(x_i, x)``. The multiplier alpha_p of a pair is 1 where ``f_p < 1``, 0
    where ``f_p > 1``, and else between; ``lambda beta = P' alpha``, its sum by row, is linear in
    lambda between the breakpoints (Zapien et al. 2009).

    Attributes
    ----------
    lambdas : ndarray of shape (n_events + 1,)
        Where each event happens, falling, and where the path ends. For larger lambda than the first
        all multipliers are 1; it is 0 if nothing ever happens, since all pairs' differences cancel.
    coefficients : PathCoefficients
        ``lambda beta`` there, linear between: what each event changes of it.
    n_zero, n_free, n_one : ndarray of shape (n_events + 1,), int64
        Number of pairs with a multiplier of 0, between, and 1, below each of `lambdas`: the sizes
        of I_0, I_alpha and I_1.
    event_pairs : ndarray of shape (n_events,), int64
        The pair that changed its set, as an index of `graph`.
    event_sets : ndarray of shape (n_events,), uint8
        The set that it is in since: 0 and 1 for that multiplier, 2 for one between.
    graph : PreferenceGraph
    kernel : Kernel
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The training rows.
    status : {"lambda_min", "max_events", "max_support", "stopped", "precision"}
        Why the path ends; "precision" if rounding allowed no more.
    violation : float
        The largest violation of the optimality conditions, in units of ``f_p``, that was found in
        checks at the end and, on the way, at every 64th event, or with more than 16,384 pairs as
        many events apart as a 256th of these.
    """

    lambdas: Vector
    coefficients: PathCoefficients
    n_zero: NDArray[np.int64]
    n_free: NDArray[np.int64]
    n_one: NDArray[np.int64]
    event_pairs: NDArray[np.int64]
    event_sets: NDArray[np.uint8]
    graph: PreferenceGraph
    kernel: Kernel
    X: Any
    status: str
    violation: float

    @property
    def _title(self) -> str:
        return (
            f"Solutions of kernel rankers, {self.kernel}, {len(self.lambdas) - 1} events, "
            f"{self.status}"
        )

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {
            "lambda": self.lambdas.tolist(),
            "zero": self.n_zero.tolist(),
            "free": self.n_free.tolist(),
            "one": self.n_one.tolist(),
        }

    @property
    def shortfall(self) -> str | None:
        """Why the path had to end early, and what to do; None if it had not."""
        if self.status != "precision":
            return None
        return (
            f"the path ends at lambda={self.lambdas[-1]:.3g}: below, rounding violates the "
            f"conditions of optimality by more than {ACCURACY:g}; raise lambda_min, or scale X"
        )

    @property
    def gammas(self) -> NDArray[np.float64]:
        """``lambda beta`` at each of `lambdas`, of shape (n_events + 1, n_samples): made anew."""
        return self.coefficients.at(np.arange(len(self.lambdas)))

    def coef_at(self, lam: ArrayLike) -> NDArray[np.float64]:
        """Return the coefficients beta.

        Parameters
        ----------
        lam : float or array-like of shape (n_lambdas,)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_lambdas, n_samples)

        Raises
        ------
        ValueError
            If a lambda is not positive, or less than where the path ends.
        """
        lams = self._checked(lam)
        return self._gamma_at(lams) / lams[..., np.newaxis]

    def predict(self, X: Any, lam: ArrayLike) -> NDArray[np.float64]:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            For a precomputed kernel: its values with the training rows.
        lam : float or array-like of shape (n_lambdas,)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_lambdas)
        """
        scores: NDArray[np.float64] = self._kernel_values(X) @ self.coef_at(lam).T
        return scores

    def multipliers_at(self, lam: float) -> Vector:
        """Return the multiplier of each pair.

        Between breakpoints they follow from the coefficients, as no pairs whose multipliers are
        between 0 and 1 form a circle.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        lams = self._checked(lam)
        n_changes = int(self._segment(lams)) + 1
        sets = np.full(len(self.graph), _ONE, dtype=np.uint8)
        sets[self.event_pairs[:n_changes]] = self.event_sets[:n_changes]  # the last change counts
        alpha: Vector = (sets == _ONE).astype(np.float64)
        free = np.flatnonzero(sets == _FREE)
        if len(free):
            rest = self._gamma_at(lams) - self.graph.sum_by_row(alpha, self.coefficients.n_rows)
            incidence = np.zeros((len(rest), len(free)))
            incidence[self.graph.upper[free], np.arange(len(free))] = 1
            incidence[self.graph.lower[free], np.arange(len(free))] = -1
            alpha[free] = np.linalg.lstsq(incidence, rest, rcond=None)[0]
        return alpha

    def validation_errors(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None = None, *, metric: Metric | None = None
    ) -> Vector:
        """Measure the ranking of other rows at each of `lambdas`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            For a precomputed kernel: its values with the training rows.
        y : array-like of shape (n_rows,)
        qid : array-like of shape (n_rows,), optional
        metric : callable, optional
            Called as ``metric(y, scores, qid)``; by default the share of pairs in the wrong order,
            where ties count half.

        Returns
        -------
        ndarray of shape (n_events + 1,)

        Raises
        ------
        ValueError
            If X has other features than the training rows, lengths differ, or there is no pair.
        """
        values = self._kernel_values(X)
        labels = finite_column(y, "y")
        if len(labels) != len(values):
            raise InputError(f"y has length {len(labels)} but there are {len(values)} rows")
        measure = pairwise_error(labels, qid) if metric is None else _measured(metric, labels, qid)
        errors = np.empty(len(self.lambdas))
        for block in np.array_split(np.arange(len(errors)), -(-len(errors) // _COLUMNS)):
            # By row, so that the scores of one lambda are contiguous.
            scores = self.coefficients.at(block) @ values.T
            if self.lambdas[0] > 0:
                scores /= self.lambdas[block, np.newaxis]
            errors[block] = [measure(column) for column in scores]
        return errors

    def _checked(self, lam: ArrayLike) -> Vector:
        lams = np.asarray(lam, dtype=np.float64)
        end = self.lambdas[-1]
        if lams.ndim > 1 or not np.all((lams >= end) & (lams > 0) & np.isfinite(lams)):
            raise InputError(
                f"lam must be positive, finite and at least {end:g}, where the path ends, not "
                f"{lam!r}; lambda_min of regularization_path says where it does"
            )
        return lams

    def _segment(self, lams: Vector) -> NDArray[np.intp]:
        """Index of the last breakpoint that is not below; -1 for none."""
        return np.searchsorted(-self.lambdas, -lams, side="right") - 1

    def _gamma_at(self, lams: Vector) -> NDArray[np.float64]:
        above = self._segment(lams)
        below = np.minimum(above + 1, len(self.lambdas) - 1)
        above = np.maximum(above, 0)
        width = self.lambdas[above] - self.lambdas[below]
        share = np.divide(
            self.lambdas[above] - lams, width, out=np.zeros_like(lams), where=width > 0
        ).clip(0, 1)[..., np.newaxis]
        at = self.coefficients.at
        gammas: NDArray[np.float64] = (1 - share) * at(above) + share * at(below)
        return gammas

    def _kernel_values(self, X: Any) -> NDArray[np.float64]:
        from sklearn.utils import check_array

        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if X.shape[1] != self.X.shape[1]:
            raise InputError(
                f"X has {X.shape[1]} features but the path was trained with {self.X.shape[1]}"
            )
        return self.kernel.between(X, self.X)


def _measured(metric: Metric, y: Vector, qid: ArrayLike | None) -> Callable[[Vector], float]:
    return lambda scores: metric(y, scores, qid)


def solve_path(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None,
    kernel: Kernel,
    stop: Stop,
    *,
    graph: str = "full",
    callbacks: Sequence[PathCallback] = (),
    note: Callable[[str], object] | None = None,
) -> RegularizationPath:
    """Follow the path from the largest lambda down.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), float32 or float64
        For a precomputed kernel, its matrix.
    y : array-like of shape (n_samples,)
    qid : array-like of shape (n_samples,) or None
    kernel : Kernel
    stop : Stop
    graph : {"full", "reduced"}, default="full"
    callbacks : sequence of callable
        Called with a `PathProgress` after each check; one that returns True ends the path.
    note : callable, optional
        Called with what the path takes, before it begins.

    Returns
    -------
    RegularizationPath

    Raises
    ------
    ValueError
        As by `ranksvm.regularization_path`.
    """
    pairs, K = _pairs_and_kernel(X, y, qid, kernel, stop.max_memory, graph)
    if note is not None:
        with one_blas_thread():
            note(cost_of_path(K, len(pairs), graph))
    margin = 1 + _SPREAD * np.random.default_rng(0).uniform(size=len(pairs))
    path = _core.RegularizationPath(K, pairs.upper, pairs.lower, margin)
    followed = PathFollower(path, len(pairs), stop, callbacks)
    return RegularizationPath(
        **followed.parts(),
        graph=pairs,
        kernel=kernel,
        X=X,
        status=followed.status,
        violation=followed.violation,
    )


def foresee_path(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None,
    kernel: Kernel,
    stop: Stop,
    *,
    graph: str = "full",
) -> str:
    """Say what `solve_path` would take, from the pairs and the kernel alone.

    Raises
    ------
    ValueError
        As by `solve_path` before it begins.
    """
    pairs, K = _pairs_and_kernel(X, y, qid, kernel, stop.max_memory, graph)
    with one_blas_thread():
        return cost_of_path(K, len(pairs), graph)


def _pairs_and_kernel(
    X: Any, y: ArrayLike, qid: ArrayLike | None, kernel: Kernel, max_memory: float, graph: str
) -> tuple[PreferenceGraph, NDArray[np.float64]]:
    groups = QueryGroups.from_qid(qid, X.shape[0])
    pairs = PreferenceGraph.from_labels(y, groups, graph, max_memory)
    with one_blas_thread():
        return pairs, kernel.matrix(X, max_memory)
