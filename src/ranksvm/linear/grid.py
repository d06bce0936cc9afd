"""Many values of C for little more than the price of the largest: warm starts along a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..pairs.query_columns import query_column, without_column
from ..pairs.weights import row_weights
from ..solvers import CuttingPlanes, Iteration, SolverResult
from .matrix import DesignMatrix
from .parameters import Parameters
from .training import Problem, warn_unless_converged

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankSVMGrid:
    """Linear rankers for a grid of C, in the order in which the grid was given.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
    coefs : ndarray of shape (n_Cs, n_features)
        The weights for each C; the scores of rows X are ``X @ coefs.T``.
    objectives : ndarray of shape (n_Cs,)
    dual_gaps : ndarray of shape (n_Cs,)
        The relative duality gap reached for each C.
    statuses : list of str
        How the solver ended, for each C; see `RankSVM`.
    histories : list of list of Iteration
    """

    Cs: Vector
    coefs: NDArray[np.float64]
    objectives: Vector
    dual_gaps: Vector
    statuses: list[str]
    histories: list[list[Iteration]]


def ranksvm_grid(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | str | None = None,
    Cs: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    callback: Callable[[float, Iteration], object] | None = None,
    **parameters: Any,
) -> RankSVMGrid:
    """Train a linear ranker for each C of a grid.

    From the strongest regularisation to the weakest, each solution is the start for the next, and
    the cutting planes of the hinge loss are kept, since a plane below ``L(X w)`` is one for every
    C. Labels are ranked and queries grouped once.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    qid : array-like of shape (n_samples,) or str, optional
        Query ids, or the name of the column of a data frame that holds them.
    Cs : array-like of shape (n_Cs,), optional
        The grid, in any order; by default 7 values from 0.001 to 1000.
    sample_weight, query_weight : array-like of shape (n_samples,), optional
    callback : callable, optional
        Called with C and each `Iteration`; ends the solution for this C by returning True.
    **parameters
        The parameters of `RankSVM`, but C: loss, pair_weight, normalize, solver, counting, tol,
        max_iter and n_threads; and epsilon, as for `ranksvm.linear.parameters.Parameters`.

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
        For each C for which the gap did not reach `tol`.

    Examples
    --------
    >>> from ranksvm import ranksvm_grid
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> path = ranksvm_grid(X, [0, 1, 2, 0, 1], Cs=[0.1, 1, 10], loss="hinge")
    >>> path.coefs.shape
    (3, 2)
    """
    from sklearn.utils import check_X_y

    if isinstance(qid, str):
        column, frame = qid, X
        qid, X = query_column(frame, column), without_column(frame, column)
    X, y = check_X_y(
        X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", y_numeric=True
    )
    unknown = sorted(set(parameters) - {field.name for field in fields(Parameters)})
    if unknown:
        raise TypeError(f"ranksvm_grid has no parameter {unknown[0]!r}")
    grid = grid_of(np.logspace(-3, 3, 7) if Cs is None else Cs)
    of_each = [Parameters(C=float(C), **parameters) for C in grid]
    problem = Problem(
        DesignMatrix.from_array(X),
        np.ascontiguousarray(y, dtype=np.float64),
        qid,
        min(of_each, key=attrgetter("C")),
        row_weights("sample_weight", sample_weight, X.shape[0]),
        query_weight,
    )
    results: dict[int, SolverResult] = {}
    for place, result in solve_grid(problem, of_each, callback):
        warn_unless_converged(result, of_each[place], f" for C={grid[place]:g}", stacklevel=3)
        results[place] = result
    in_order = [results[place] for place in range(len(grid))]
    return RankSVMGrid(
        Cs=grid,
        coefs=np.array([result.weights for result in in_order]),
        objectives=np.array([result.value for result in in_order]),
        dual_gaps=np.array([result.dual_gap for result in in_order]),
        statuses=[str(result.status) for result in in_order],
        histories=[result.history for result in in_order],
    )


def solve_grid(
    problem: Problem,
    of_each: Sequence[Parameters],
    callback: Callable[[float, Iteration], object] | None = None,
) -> Iterator[tuple[int, SolverResult]]:
    """Solve a problem for parameters that differ in C, from the smallest C to the largest.

    Parameters
    ----------
    problem : Problem
        Made with the parameters of the smallest C.
    of_each : sequence of Parameters
    callback : callable, optional
        As for `ranksvm_grid`.

    Yields
    ------
    place : int
        Of the parameters solved for.
    result : SolverResult
    """
    objective, w0 = problem.objective, None
    planes = CuttingPlanes(objective.size, objective.n_threads)
    order = sorted(range(len(of_each)), key=lambda place: of_each[place].C)
    c = objective.c / of_each[order[0]].C
    for place in order:
        C = of_each[place].C
        planes.rescale(c * C / objective.c)
        objective.c = float(c * C)
        watch = None if callback is None else _with_C(callback, C)
        result = problem.minimize(of_each[place], w0, watch, planes)
        yield place, result
        w0 = result.weights


def grid_of(Cs: ArrayLike) -> Vector:
    """Return a grid of C as a vector."""
    try:
        grid: Vector = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"Cs must be a list of numbers, not {Cs!r}") from None
    if grid.ndim != 1 or not len(grid):
        raise ValueError(f"Cs must be a list of at least one number, not of shape {grid.shape}")
    return grid


def _with_C(callback: Callable[[float, Iteration], object], C: float) -> Callable[..., object]:
    return lambda iteration: callback(C, iteration)
