"""Rounds after each solution of a grid of C, where weights of pairs follow the ranking.

The first rounds go along the grid by warm starts (`ranksvm.linear.grid`); the others go on from
each of its solutions (`ranksvm.linear.rounds`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from ..pairs.given import AnyPreferences
from ..solvers import SolverResult, Status
from .grid import CallbackOfC, solve_grid, with_C
from .known import LastSolution
from .matrix import Matrix
from .parameters import Parameters
from .rounds import Rounds, after_first, next_problem
from .training import Fit, make_problem


def train_path(X: Matrix, preferences: AnyPreferences, of_each: Sequence[Parameters]) -> list[Fit]:
    """Train several linear rankers for what the solutions for smaller C leave to the next.

    Parameters
    ----------
    X, preferences
        As for `train`.
    of_each : sequence of Parameters
        That differ in C, and in whether pairs weigh "ndcg" in rounds after the same first one.

    Returns
    -------
    list of Fit
        What `train` returns for each, up to what their gaps leave open.
    """
    problem = make_problem(X, preferences, min(of_each, key=attrgetter("C")))
    fits, last = {}, LastSolution()
    for place, result in solve_grid(problem, of_each):
        first = problem.fit(result, of_each[place])
        fits[place] = after_first(first, X, preferences, of_each[place], last)
    return [fits[place] for place in range(len(of_each))]


def in_rounds(
    solutions: Iterator[tuple[int, SolverResult]],
    X: Matrix,
    preferences: AnyPreferences,
    of_each: Sequence[Parameters],
    callback: CallbackOfC | None = None,
) -> Iterator[tuple[int, SolverResult]]:
    """Go on from the solutions of a grid of C (`ranksvm.linear.grid.solve_grid`), in rounds.

    Yields
    ------
    place : int
        Of the parameters solved for.
    result : SolverResult
        Of the last round.
    """
    last = LastSolution()
    for place, result in solutions:
        parameters = of_each[place]
        if parameters.pair_weight != "ndcg":
            yield place, result
            continue
        rounds: Rounds[SolverResult] = Rounds(parameters.n_rounds)
        of_C = None if callback is None else with_C(callback, parameters.C)
        more = rounds.add(result, result.history) and result.status is not Status.STOPPED
        while more:
            problem = next_problem(X, preferences, parameters, result, last)
            result = problem.minimize(parameters, result.weights, of_C)
            more = rounds.add(result, result.history) and result.status is not Status.STOPPED
        yield place, replace(result, history=rounds.history)
