"""Training in rounds, with weights of pairs that follow the ranking (``pair_weight="ndcg"``).

A pair is to weigh what an exchange of its rows would change at the top of its query
(:eq:`top-weights`), which depends on the ranks, and so on the solution. So round 0 is a plain fit;
each later one ranks the rows by the solution so far, weighs the pairs, and solves again from there.
For given weights that is convex, and certified like any other training. The whole is not: what a
certificate says is that of its round.

A round begins near its optimum, with the Hessian that the rounds before it formed last
(`ranksvm.linear.known.LastSolution`), as long as that serves; and solvers that the one before gave
up do not go first again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..solvers import Callback, Iteration, SolverResult, Status
from ..threads import resolve_threads
from .known import LastSolution
from .matrix import Matrix
from .occurring import FeatureWeights
from .parameters import Parameters
from .training import Fit, Problem, make_problem, shortfall, train_once

Vector = NDArray[np.float64]
Kept = TypeVar("Kept")
Judge = Callable[[FeatureWeights], float]

PATIENCE = 2  # rounds that do not better the best


@dataclass(eq=False, repr=False)
class Rounds(Generic[Kept]):
    """Which round to keep, and when to stop: the best, two rounds after it; or else the last.

    Attributes
    ----------
    n_rounds : int
        How many there are at most.
    judge : callable, optional
        Says how good a round is; larger is better.
    kept : object
        The round to keep.
    history : list of Iteration
        Of all rounds, one after the other.
    """

    n_rounds: int
    judge: Callable[[Kept], float] | None = None
    kept: Kept | None = None
    history: list[Iteration] = field(default_factory=list)
    _n: int = 0
    _best: float = -np.inf
    _since: int = 0

    def add(self, candidate: Kept, history: Sequence[Iteration]) -> bool:
        """Add a round; say whether there is to be another."""
        self.history += _continued(self.history, history, self._n)
        self._n += 1
        if self.judge is None:
            self.kept = candidate
            return self._n < self.n_rounds
        value = self.judge(candidate)
        self._since += 1
        if self.kept is None or value > self._best:
            self.kept, self._best, self._since = candidate, value, 0
        return self._n < self.n_rounds and self._since < PATIENCE


def _continued(
    before: Sequence[Iteration], lines: Sequence[Iteration], round_number: int
) -> Iterator[Iteration]:
    """Yield the lines of a round, with numbers and work counted on."""
    if not before:
        yield from lines
        return
    last = before[-1]
    for line in lines:
        yield replace(
            line,
            iteration=last.iteration + 1 + line.iteration,
            n_products=last.n_products + line.n_products,
            n_evaluations=last.n_evaluations + line.n_evaluations,
            n_passes=last.n_passes + line.n_passes,
            seconds=last.seconds + line.seconds,
            round=round_number,
        )


def train(
    X: Matrix,
    preferences: AnyPreferences,
    parameters: Parameters,
    *,
    w0: FeatureWeights | None = None,
    callback: Callback | None = None,
    judge: Judge | None = None,
) -> Fit:
    """Train a linear ranker, in rounds if weights of pairs follow the ranking.

    Parameters
    ----------
    X, preferences, parameters, w0, callback
        As for `ranksvm.linear.training.train_once`.
    judge : callable, optional
        Says how good weights are; larger is better. Of rounds, the best is kept, and two that do
        not better it are the last; without it, the last is kept.

    Returns
    -------
    Fit
        Its value and gap are those of the round that is kept, its history is that of all.
    """
    first = train_once(X, preferences, parameters, w0=w0, callback=callback)
    return after_first(first, X, preferences, parameters, callback=callback, judge=judge)


def after_first(
    first: Fit,
    X: Matrix,
    preferences: AnyPreferences,
    parameters: Parameters,
    last: LastSolution | None = None,
    *,
    callback: Callback | None = None,
    judge: Judge | None = None,
) -> Fit:
    """Go on from the first round, if weights of pairs follow the ranking."""
    if parameters.pair_weight != "ndcg":
        return first
    of_fit = None if judge is None else lambda fit: judge(fit.weights)
    rounds: Rounds[Fit] = Rounds(parameters.n_rounds, of_fit)
    fit, more = first, rounds.add(first, first.result.history)
    more &= first.result.status is not Status.STOPPED
    last = LastSolution() if last is None else last
    while more:
        problem = next_problem(X, preferences, parameters, fit.result, last)
        result = problem.minimize(parameters, fit.result.weights, callback)
        short = shortfall(result, parameters)
        fit = replace(first, result=result, n_pairs=problem.n_pairs, shortfall=short)
        more = rounds.add(fit, result.history) and result.status is not Status.STOPPED
    assert rounds.kept is not None
    return replace(rounds.kept, result=replace(rounds.kept.result, history=rounds.history))


def next_problem(
    X: Matrix,
    preferences: AnyPreferences,
    parameters: Parameters,
    result: SolverResult,
    last: LastSolution,
) -> Problem:
    """Return the problem of the round after one that had this result."""
    assert isinstance(preferences, Preferences)  # which round 0 has seen to
    scores = X.scores(result.weights, resolve_threads(parameters.n_threads))
    problem = make_problem(X, parameters.gain.by_rank(preferences, scores), parameters)
    objective = replace(problem.objective, last=last)
    return replace(problem, objective=objective, choice=problem.choice.when_warm(result))
