"""How well each C of a grid ranks rows that training has not seen.

The folds share X, which is not copied. Each follows the grid from the strongest regularisation to
the weakest by warm starts; folds run at the same time, on threads, and the result does not depend
on how many. Their solutions serve a choice, and are no more exact than that needs: of what there
was to gain, 30 times `tol` may be left, at most 3 %, and three times as much where regularisation
is weak (`ranksvm.linear.grid`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..linear.grid import solve_grid
from ..linear.grid_rounds import in_rounds
from ..linear.in_step import InStep
from ..linear.parameters import Parameters
from ..linear.scales import advice_on_scales, with_advice
from ..records import record
from ..solvers import SolverResult, Status
from ..threads import resolve_threads
from .fold_scores import FoldScores
from .folds import Fold
from .rows import FoldedRows
from .runner import FoldRunner
from .scoring import Scoring

Vector = NDArray[np.float64]
_Measured: TypeAlias = tuple[float, float, bool]
_Solutions: TypeAlias = Iterator[tuple[int, SolverResult]]


@record
class CrossValidation(FoldScores):
    """The scores of each C on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_Cs, n_folds)
        NaN in folds that were left out.
    Cs : ndarray of shape (n_Cs,)
    dual_gaps : ndarray of shape (n_Cs, n_folds)
        The relative duality gap that training reached.
    shortfall : str or None
        How many trainings did not converge, and what to do; None if all did.
    advice : str or None
        On the scales of the features (`ranksvm.linear.scales`).
    n_passes : int or None
        How often X has been read, if it is mapped from disk; by all folds together.
    ends : dict of int to ndarray of shape (n_features,)
        By the number of a fold, its first round for the largest C.
    """

    Cs: Vector
    dual_gaps: NDArray[np.float64]
    shortfall: str | None = None
    advice: str | None = None
    n_passes: int | None = None
    ends: Mapping[int, Vector] = field(default_factory=dict)

    def best(self, one_standard_error: bool = False) -> int:
        """Return the place of the C with the best mean; of equal ones, the smallest.

        With `one_standard_error`, that of the smallest C whose mean lies at most one standard
        error of the best mean below it.
        """
        return self.simplest(self.Cs, one_standard_error)

    def split(self, sizes: Sequence[int]) -> list[CrossValidation]:
        """Return the results of the first so many C, of the next so many, and so on."""
        ends = np.cumsum(sizes)
        parts = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        return [
            replace(self, scores=self.scores[of], Cs=self.Cs[of], dual_gaps=self.dual_gaps[of])
            for of in parts
        ]

    def joined(self, other: CrossValidation) -> CrossValidation:
        """Return these results, and then others."""
        return replace(
            self,
            scores=np.concatenate([self.scores, other.scores]),
            Cs=np.concatenate([self.Cs, other.Cs]),
            dual_gaps=np.concatenate([self.dual_gaps, other.dual_gaps]),
            shortfall=self.shortfall or other.shortfall,
            ends=other.ends if other.Cs.max() > self.Cs.max() else self.ends,
        )

    def table(self) -> dict[str, NDArray[Any]]:
        """Return columns with a value for each C, named as by GridSearchCV."""
        gaps = np.nanmax(self.dual_gaps, axis=1)
        return {"param_C": self.Cs, **self.columns(), "max_dual_gap": gaps}


def cross_validate(
    rows: FoldedRows,
    of_each: Sequence[Parameters],
    folds: Sequence[Fold],
    scoring: str | Scoring,
    *,
    n_jobs: int | None = None,
    progress: Callable[[], object] | None = None,
    starts: Mapping[int, Vector] | None = None,
) -> CrossValidation:
    """Train for each C on the training rows of each fold; measure on its validation rows.

    Parameters
    ----------
    rows : FoldedRows
    of_each : sequence of Parameters
        That differ in C, and in whether pairs weigh "ndcg" in rounds after the same first one.
    folds : sequence of (train, validation)
        Parts of the rows.
    scoring : str or callable
        As for `ranksvm.selection.scoring.scorer`.
    n_jobs : int, optional
        Folds at a time, which share the threads; by default as many as there are threads, and all
        of them where X is mapped from disk or sparse, of which each pass then serves all folds
        (`ranksvm.linear.in_step`).
    progress : callable, optional
        Called after each training.
    starts : dict of int to ndarray of shape (n_features,), optional
        By the number of a fold, where it starts; at zero by default.

    Raises
    ------
    ValueError
        If no fold has preference pairs both to train and to validate on.

    Warns
    -----
    UserWarning
        Of folds that are left out, since they lack pairs.
    """
    n_threads = resolve_threads(of_each[0].n_threads)
    all_go = rows.X.is_mapped or n_jobs is not None
    steps = InStep(None if all_go else n_threads)
    X = rows.X.in_step(steps, n_threads)
    if X is not rows.X:
        rows = rows.seen_as(X)
        n_jobs = len(folds) if n_jobs is None else n_jobs
    runner = FoldRunner(rows, folds, scoring, n_jobs, n_threads, stacklevel=8)
    of_each = [replace(one, n_threads=max(1, n_threads // runner.n_workers)) for one in of_each]

    starts = starts or {}

    def solve(k: int) -> _OfFold:
        with steps.member():
            return _solve_fold(runner, of_each, k, starts.get(k), progress or (lambda: None))

    with runner.threads() as each_fold:
        of_folds = each_fold(solve)
    results = np.array([of_fold.measured for of_fold in of_folds])
    scores, gaps, converged = np.moveaxis(results, -1, 0)
    advice = next((one.advice for one in of_folds if one.advice is not None), None)
    short = shortfall_of(gaps, converged > 0, of_each[0].tol)
    return CrossValidation(
        runner.by_fold(scores),
        np.array([one.C for one in of_each]),
        runner.by_fold(gaps),
        with_advice(short, advice),
        advice,
        steps.n_passes if rows.X.is_mapped else None,
        {k: one.end for k, one in zip(runner.kept, of_folds, strict=True)},
    )


class _OfFold(NamedTuple):
    """Score, gap and whether that is small enough, for each C; the largest C's first round."""

    measured: list[_Measured]
    advice: str | None
    end: Vector


def _solve_fold(
    runner: FoldRunner,
    of_each: Sequence[Parameters],
    k: int,
    w0: Vector | None,
    progress: Callable[[], object],
) -> _OfFold:
    fold = runner.folds[k]
    seen, unseen = runner.rows.views(fold)
    problem = runner.rows.problem(seen, fold[0], min(of_each, key=attrgetter("C")))
    measure = runner.scorer(k)
    results: list[_Measured] = [(np.nan, np.nan, False)] * len(of_each)
    weights, score = None, np.nan
    ends: list[Vector] = []
    solutions = solve_grid(problem, of_each, runner.stopped, w0, for_choice=True)
    solutions = _noted(solutions, ends)
    some = runner.rows.some(fold[0])
    for place, result in in_rounds(solutions, seen, some, of_each, runner.stopped):
        if result.weights is not weights:
            weights = result.weights
            score = measure(unseen.dot(weights, problem.objective.n_threads))
        results[place] = score, result.dual_gap, result.status is Status.CONVERGED
        progress()
    advice = advice_on_scales(problem.objective.X, problem.objective.n_threads)
    return _OfFold(results, advice, ends[-1])


def _noted(solutions: _Solutions, ends: list[Vector]) -> _Solutions:
    """Pass solutions on, and note their weights, the last alone."""
    for place, result in solutions:
        ends[:] = [result.weights]
        yield place, result


def shortfall_of(gaps: NDArray[np.float64], converged: NDArray[np.bool_], tol: float) -> str | None:
    """Say how many trainings did not converge, of those with these gaps; None if all did."""
    if converged.all():
        return None
    return (
        f"{np.sum(~converged)} of {converged.size} trainings of the folds did not converge: "
        f"the largest relative duality gap is {gaps[~converged].max():.2g}, above tol={tol:g}; "
        "increase max_iter or tol, or scale X"
    )
