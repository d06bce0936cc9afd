"""The grid of C, as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..linear.condition_arguments import CONDITIONS, ConditionArguments
from ..linear.feature_names import FeatureNames
from ..linear.grid import RankSVMGrid, grid_of, solve_grid
from ..linear.grid_rounds import in_rounds
from ..linear.parameters import Parameters
from ..linear.scales import advice_on_scales, with_advice
from ..linear.training import make_problem, shortfall
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..pairs.query_columns import column_names, query_column, without_column
from ..pairs.survival import Survival, is_structured
from ..solvers import Iteration, SolverResult
from .convergence import warn_unless_converged
from .packed_data import host_matrix, is_packed, packed_preferences, require_alone, require_same
from .pair_arguments import PairArguments
from .priors import prior_values
from .rows import labelled_rows, rows_alone


def ranksvm_grid(
    X: Any,
    y: Any = None,
    qid: ArrayLike | str | None = None,
    Cs: ArrayLike | None = None,
    *,
    pairs: ArrayLike | None = None,
    pair_weights: ArrayLike | None = None,
    margins: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    event: ArrayLike | None = None,
    time: ArrayLike | None = None,
    ipcw: str | None = None,
    tau: float | None = None,
    callback: Callable[[float, Iteration], object] | None = None,
    **parameters: Any,
) -> RankSVMGrid:
    """Train a linear ranker for each C of a grid.

    From the strongest regularisation to the weakest, each solution is the start for the next, and
    the cutting planes of the hinge loss are kept, since a plane below ``L(X w)`` is one for every
    C. Labels are ranked and queries grouped once.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or PackedData
        Packed data have their own y, qid and sample_weight.
    y : array-like of shape (n_samples,)
        Labels; or times of events, as a structured array, as for `SurvivalSVM.fit`.
    qid : array-like of shape (n_samples,) or str, optional
        Query ids, or the name of the column of a data frame that holds them.
    Cs : array-like of shape (n_Cs,), optional
        The grid, in any order; by default 7 values from 0.001 to 1000.
    pairs : array-like of shape (n_pairs, 2), optional
    pair_weights, margins : array-like of shape (n_pairs,), optional
        In place of `y`, as for `RankSVM.fit`.
    sample_weight : array-like of shape (n_samples,), optional
    query_weight : array-like of shape (n_queries,) or (n_samples,), optional
        As for `RankSVM.fit`.
    event, time : array-like of shape (n_samples,), optional
        In place of y, times of events, as for `SurvivalSVM.fit`.
    ipcw, tau : optional
        As for `SurvivalSVM`, for times of events.
    callback : callable, optional
        Called with C and each `Iteration`; ends the solution for this C by returning True.
    **parameters
        The parameters of `RankSVM`, but C: loss, pair_weight, gains, top, n_rounds, normalize,
        positive, lower_bounds, upper_bounds, prior, l1_ratio, penalty_weights, solver, counting,
        tol, max_iter and n_threads; and epsilon, as for `ranksvm.linear.parameters.Parameters`.
        The prior may be a fitted ranker, too.

    Returns
    -------
    RankSVMGrid

    Raises
    ------
    ValueError
        If an argument is malformed, or there is no preference pair to learn from.

    Warns
    -----
    ConvergenceWarning
        For each C for which the gap did not reach `tol`; the first says, too, if the scales of the
        features lie far apart.

    Examples
    --------
    >>> from ranksvm import ranksvm_grid
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> path = ranksvm_grid(X, [0, 1, 2, 0, 1], Cs=[0.1, 1, 10], loss="hinge")
    >>> path.coefs.shape
    (3, 2)
    """
    given = PairArguments(pairs, pair_weights, margins)
    preferences: AnyPreferences
    weights = {"sample_weight": sample_weight, "query_weight": query_weight}
    if is_packed(X):
        require_alone(X, y=y, qid=qid, event=event, time=time, ipcw=ipcw, tau=tau)
        names = None if X.feature_names is None else list(X.feature_names)
        preferences = packed_preferences(X, given, **weights)
    else:
        if isinstance(qid, str):
            column, frame = qid, X
            qid, X = query_column(frame, column), without_column(frame, column)
        names = column_names(X) or None
        times = {"event": event, "time": time, "ipcw": ipcw, "tau": tau}
        X, preferences = _rows(X, y, qid, given, times, weights)
    grid = grid_of(np.logspace(-3, 3, 7) if Cs is None else Cs)
    shared = _parameters(parameters, FeatureNames(X.shape[1], names))
    of_each = [replace(shared, C=float(C)) for C in grid]
    matrix = host_matrix(X)
    problem = make_problem(matrix, preferences, min(of_each, key=attrgetter("C")))
    results: dict[int, SolverResult] = {}
    is_said = False
    solutions = solve_grid(problem, of_each, callback)
    for place, result in in_rounds(solutions, matrix, preferences, of_each, callback):
        short = shortfall(result, of_each[place], f" for C={grid[place]:g}")
        if short is not None and not is_said:
            advice = advice_on_scales(problem.objective.X, problem.objective.n_threads)
            short = with_advice(short, advice)
            is_said = True
        warn_unless_converged(short)
        results[place] = result
    require_same(X)
    in_order = [results[place] for place in range(len(grid))]
    return RankSVMGrid.of(grid, in_order, matrix.columns, shared.conditions)


def _rows(
    X: Any,
    y: Any,
    qid: ArrayLike | None,
    given: PairArguments,
    times: dict[str, Any],
    weights: dict[str, Any],
) -> tuple[Any, AnyPreferences]:
    """Return rows as an array or CSR matrix, and which are better than which."""
    survival = _survival(y, **times)
    if given.are_given:
        X = rows_alone(X)
        seen = {name: times[name] for name in ("event", "time")}
        return X, given.preferences(X.shape[0], qid, y=y, **seen, **weights)
    if survival is not None:
        X, _ = labelled_rows(X, survival.labels())
        return X, survival.preferences(qid, ipcw=times["ipcw"], tau=times["tau"], **weights)
    X, labels = labelled_rows(X, y)
    return X, Preferences.from_labels(labels, qid, **weights)


def _parameters(given: dict[str, Any], features: FeatureNames) -> Parameters:
    """Return the parameters that are given by name, those of the conditions on weights included."""
    known = {field.name for field in fields(Parameters)} - {"conditions", "C"}
    unknown = sorted(set(given) - known - set(CONDITIONS))
    if unknown:
        raise TypeError(f"ranksvm_grid has no parameter {unknown[0]!r}")
    asked = {name: given[name] for name in CONDITIONS if name in given}
    asked["prior"] = prior_values(asked.get("prior"), features)
    training = {name: value for name, value in given.items() if name in known}
    return Parameters(conditions=ConditionArguments(**asked).conditions(features), **training)


def _survival(
    y: Any, event: Any, time: Any, ipcw: str | None, tau: float | None
) -> Survival | None:
    """Return times of events, if these are given."""
    if event is not None or time is not None or is_structured(y):
        return Survival.of(y, event, time)
    if ipcw is not None or tau is not None:
        raise InputError("ipcw and tau are for times of events: give these in place of y")
    return None
