"""How well each C of a grid ranks rows that training has not seen.

The folds share X, which is not copied. Each follows the grid from the strongest regularisation to
the weakest by warm starts; folds run at the same time, on threads, and the result does not depend
on how many.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..linear.design_matrix import DesignMatrix
from ..linear.grid import grid_of, solve_grid
from ..linear.parameters import Parameters
from ..linear.training import ConvergenceWarning, Problem, make_problem, weighted_pairs
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.weights import per_query_weight, row_weights
from ..solvers import Status
from ..threads import one_blas_thread, resolve_threads
from .folds import Fold, Rows
from .scoring import Scoring, has_pairs, measure

Vector = NDArray[np.float64]


class TrainingRows:
    """Labelled rows, their queries and weights, checked.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    qid, sample_weight, query_weight : array-like of shape (n_samples,), optional

    Attributes
    ----------
    query : ndarray of shape (n_samples,) or None
        Number of the query of each row; None if all rows form one ranking.
    """

    def __init__(
        self,
        X: DesignMatrix,
        y: Vector,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
    ) -> None:
        self.X, self.y = X, y
        groups = QueryGroups.from_qid(qid, len(y))
        one = groups.n_queries == 1
        self.query = None if one else groups.per_row(np.arange(groups.n_queries))
        self.sample_weight = row_weights("sample_weight", sample_weight, len(y))
        by_query = per_query_weight(query_weight, groups)
        self.query_weight = None if by_query is None else groups.per_row(by_query)

    def problem(self, X: DesignMatrix, rows: Rows, parameters: Parameters) -> Problem:
        """Make some of the rows, of features X, ready for the solvers."""
        return make_problem(
            X,
            self.y[rows],
            _of(self.query, rows),
            parameters,
            _of(self.sample_weight, rows),
            _of(self.query_weight, rows),
        )

    def have_pairs(self, rows: Rows) -> bool:
        """Whether some of the rows have a preference pair among them."""
        weight = _of(self.sample_weight, rows)
        if self.query_weight is not None:
            weight = self.query_weight[rows] * (1.0 if weight is None else weight)
        return has_pairs(self.y[rows], _of(self.query, rows), weight)

    def grid(self, Cs: int | ArrayLike, parameters: Parameters) -> list[Parameters]:
        """Return the parameters for each C of a grid, or of a default one with so many.

        That lies evenly in log C from 0.001 to 1000 for ``normalize="documents"``, and where the
        pairs weigh as much, on average, for the other normalisations.
        """
        if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
            if Cs < 1:
                raise ValueError(f"Cs must be at least 1 value of C, not {Cs}")
            values = np.logspace(-3, 3, Cs) * self._unit_of_C(parameters)
        else:
            values = grid_of(Cs)
        return [replace(parameters, C=float(C)) for C in values]

    def _unit_of_C(self, parameters: Parameters) -> float:
        """Return which C gives pairs the weight that C = 1 gives them by documents."""
        if parameters.normalize == "documents":
            return 1.0
        groups = QueryGroups.from_qid(self.query, len(self.y))
        weight = per_query_weight(self.query_weight, groups)
        by_documents = replace(parameters, C=1.0, normalize="documents")
        preferences = Preferences(
            self.y, groups, self.sample_weight, weight, parameters.pair_weight
        )
        _, c, n_pairs = weighted_pairs(preferences, by_documents, CorePairs)
        return c if parameters.normalize is None else float(c * n_pairs)


def _of(values: NDArray[Any] | None, rows: Rows) -> NDArray[Any] | None:
    return None if values is None else values[rows]


@dataclass(frozen=True, eq=False)
class FoldScores:
    """The scores of several models on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_models, n_folds)
        NaN in folds that were left out.
    """

    scores: NDArray[np.float64]

    @property
    def mean(self) -> Vector:
        """Mean score of each model."""
        means: Vector = np.nanmean(self.scores, axis=1)
        return means

    @property
    def standard_error(self) -> Vector:
        """Standard error of each mean: the deviation over the folds by the root of their number.

        NaN for a single fold.
        """
        used = self.scores[:, ~np.isnan(self.scores[0])]
        if used.shape[1] < 2:
            return np.full(len(used), np.nan)
        errors: Vector = used.std(axis=1, ddof=1) / np.sqrt(used.shape[1])
        return errors

    def simplest(self, complexity: Vector, one_standard_error: bool = False) -> int:
        """Return the place of the model with the best mean; of equal ones, of the least complex.

        With `one_standard_error`, that of the least complex model whose mean lies at most one
        standard error of the best mean below it.
        """
        mean = self.mean
        least = mean.max()
        if one_standard_error:
            least -= self.standard_error[self.simplest(complexity)]
            if np.isnan(least):
                raise ValueError("one_standard_error needs at least 2 folds with preference pairs")
        good = np.flatnonzero(mean >= least)
        return int(good[np.argmin(complexity[good])])

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return columns with a value for each model, named as by GridSearchCV."""
        mean = self.mean
        splits = {f"split{k}_test_score": of_fold for k, of_fold in enumerate(self.scores.T)}
        return {
            "mean_test_score": mean,
            "std_test_score": np.nanstd(self.scores, axis=1),
            "standard_error": self.standard_error,
            "rank_test_score": rank_of(mean),
            **splits,
        }


def rank_of(mean: Vector) -> NDArray[np.int64]:
    """Return 1 for the largest, and for others one more than how many are larger."""
    ranks: NDArray[np.int64] = 1 + np.searchsorted(np.sort(-mean), -mean)
    return ranks


@dataclass(frozen=True, eq=False)
class CrossValidation(FoldScores):
    """The scores of each C on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_Cs, n_folds)
        NaN in folds that were left out.
    Cs : ndarray of shape (n_Cs,)
    dual_gaps : ndarray of shape (n_Cs, n_folds)
        The relative duality gap that training reached.
    """

    Cs: Vector
    dual_gaps: NDArray[np.float64]

    def best(self, one_standard_error: bool = False) -> int:
        """Return the place of the C with the best mean; of equal ones, the smallest.

        With `one_standard_error`, that of the smallest C whose mean lies at most one standard
        error of the best mean below it.
        """
        return self.simplest(self.Cs, one_standard_error)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return columns with a value for each C, named as by GridSearchCV."""
        gaps = np.nanmax(self.dual_gaps, axis=1)
        return {"param_C": self.Cs, **self.columns(), "max_dual_gap": gaps}


def cross_validate(
    rows: TrainingRows,
    of_each: Sequence[Parameters],
    folds: Sequence[Fold],
    scoring: Scoring,
    *,
    n_jobs: int | None = None,
    progress: Callable[[], object] | None = None,
) -> CrossValidation:
    """Train for each C on the training rows of each fold; measure on its validation rows.

    Parameters
    ----------
    rows : TrainingRows
    of_each : sequence of Parameters
        That differ in C.
    folds : sequence of (train, validation)
        Row numbers.
    scoring : callable
        As from `ranksvm.selection.scoring.scoring_of`.
    n_jobs : int, optional
        Folds at a time, which share the threads; by default as many as there are threads.
    progress : callable, optional
        Called after each training.

    Raises
    ------
    ValueError
        If no fold has preference pairs both to train and to validate on.

    Warns
    -----
    UserWarning
        Of folds that are left out, since they lack pairs.
    ConvergenceWarning
        Once, if gaps did not reach the tolerance.
    """
    kept = folds_with_pairs(rows, folds)
    n_threads = resolve_threads(of_each[0].n_threads)
    n_workers = min(len(kept), n_jobs or n_threads)
    of_each = [replace(one, n_threads=max(1, n_threads // n_workers)) for one in of_each]
    stop = threading.Event()

    def solve(k: int) -> list[tuple[float, float, bool]]:
        return _solve_fold(rows, of_each, folds[k], scoring, stop, progress or (lambda: None))

    # Entered here once, since leaving it in one thread would end it for the others.
    with one_blas_thread(), ThreadPoolExecutor(n_workers) as pool:
        try:
            results = np.array(list(pool.map(solve, kept)))
        except BaseException:
            stop.set()
            raise
    shape = len(of_each), len(folds)
    scores, gaps = np.full(shape, np.nan), np.full(shape, np.nan)
    scores[:, kept], gaps[:, kept] = results[:, :, 0].T, results[:, :, 1].T
    _warn_of_gaps(results[:, :, 1], results[:, :, 2] > 0, of_each[0].tol)
    return CrossValidation(scores, np.array([one.C for one in of_each]), gaps)


def _solve_fold(
    rows: TrainingRows,
    of_each: Sequence[Parameters],
    fold: Fold,
    scoring: Scoring,
    stop: threading.Event,
    progress: Callable[[], object],
) -> list[tuple[float, float, bool]]:
    """Return score, gap and whether that is small enough, for each C."""
    train, validation = fold
    smallest = min(of_each, key=lambda one: one.C)
    seen, unseen = rows.X.views(train, validation)
    problem = rows.problem(seen, train, smallest)
    y, query = rows.y[validation], _of(rows.query, validation)
    weight = _of(rows.sample_weight, validation)
    results = [(np.nan, np.nan, False)] * len(of_each)
    for place, result in solve_grid(problem, of_each, lambda *_: stop.is_set()):
        scores = unseen.dot(result.weights, problem.objective.n_threads)
        score = measure(scoring, y, scores, query, weight)
        if not np.isfinite(score):
            raise ValueError(f"scoring must give a finite number for each fold, not {score}")
        results[place] = score, result.dual_gap, result.status is Status.CONVERGED
        progress()
    return results


def folds_with_pairs(rows: TrainingRows, folds: Sequence[Fold]) -> list[int]:
    """Return the numbers of the folds that have pairs in both parts; warn of the others."""
    kept = []
    for k, parts in enumerate(folds):
        lacking = [
            name
            for name, part in zip(("training", "validation"), parts, strict=True)
            if not rows.have_pairs(part)
        ]
        if not lacking:
            kept.append(k)
        else:
            warnings.warn(
                f"fold {k} is left out: its {' and '.join(lacking)} rows have no preference pairs; "
                "use fewer folds",
                UserWarning,
                stacklevel=4,
            )
    if not kept:
        raise ValueError(
            "no fold has preference pairs both to train and to validate on: use fewer folds, or "
            "check y and qid"
        )
    return kept


def _warn_of_gaps(gaps: NDArray[np.float64], converged: NDArray[np.bool_], tol: float) -> None:
    if not converged.all():
        warnings.warn(
            f"{np.sum(~converged)} of {converged.size} trainings of the folds did not converge: "
            f"the largest relative duality gap is {gaps[~converged].max():.2g}, above tol={tol:g}; "
            "increase max_iter or tol, or scale X",
            ConvergenceWarning,
            stacklevel=4,
        )
