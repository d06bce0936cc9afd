"""From held partitions and parameters to a certified linear ranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..linear.choice_by_cost import choose_solver
from ..linear.occurring import FeatureWeights
from ..linear.parameters import Parameters
from ..linear.scales import advice_on_scales, with_advice
from ..linear.training import Fit, Problem, progress_of, require_some, shortfall
from ..pairs.losses import Hinge, SquaredHinge
from ..solvers import Callback
from ..solvers.result import Iteration
from .data import ClusterData
from .formula import Recipe
from .matrix import ClusterMatrix
from .objective import ClusterObjective
from .pairs import ClusterPairs


@dataclass(frozen=True)
class ClusterIteration(Iteration):
    """One line of the history of a solver on a cluster.

    Attributes
    ----------
    n_rounds : int
        Rounds of the driver so far, those before the first iteration included.
    """

    n_rounds: int = 0


def recipe_of(parameters: Parameters, **of_folds: Any) -> Recipe:
    """Return how pairs are made.

    Raises
    ------
    ValueError
        If they cannot be on a cluster.
    """
    if parameters.pair_weight == "ndcg":
        raise InputError(
            "pair_weight='ndcg' is not for a cluster, since its weights follow from the ranks of a "
            "solution; use pair_weight='gain', or train on a sample by RankSVM"
        )
    if parameters.solver == "row_space":
        raise InputError(
            "solver='row_space' is not for a cluster, since it is for few rows; use solver='auto'"
        )
    weighed = parameters.pair_weight, parameters.gains, parameters.top, parameters.counting
    return Recipe(*weighed, **of_folds)


def make_problem(data: ClusterData, parameters: Parameters, **of_folds: Any) -> Problem:
    """Make data on a cluster ready for the solvers."""
    rounds = data.rounds.with_recipe(None)
    recipe = recipe_of(parameters, **of_folds)
    if parameters.solver == "newton" and rounds.has_shared:
        raise InputError(
            "solver='newton' needs queries that are whole in a partition, but one is larger than "
            "that; use solver='auto', or fewer partitions"
        )
    pairs, c = _weighted(ClusterPairs(rounds, recipe), parameters)
    X = ClusterMatrix(pairs.rounds, pairs.counts, data.n_features, data.n_stored)
    loss = (Hinge if parameters.loss == "hinge" else SquaredHinge)(pairs, 1.0)
    choice = choose_solver(X, pairs.preferences, parameters, costs=data.costs)
    penalty = parameters.conditions.penalty(X.columns)
    objective = ClusterObjective(X, loss, c, 1, penalty)
    return Problem(objective, pairs.n_pairs, choice)


def _weighted(pairs: ClusterPairs, parameters: Parameters) -> tuple[ClusterPairs, float]:
    """Return the pairs of a loss, and its weight c, as `weighted_pairs` of the host does."""
    require_some(pairs.n_pairs, pairs.groups.n_samples)
    C, N = float(parameters.C), pairs.n_pairs
    if parameters.normalize is None:
        return pairs, C
    if parameters.normalize == "pairs":
        return pairs, C / N
    if parameters.normalize == "documents":
        return pairs, C * pairs.counts.sum("n_rows") / N
    return pairs.by_query(), C / pairs.counts.sum("weight")


def train(
    data: ClusterData,
    parameters: Parameters,
    *,
    w0: FeatureWeights | None = None,
    callback: Callable[[Iteration], object] | None = None,
) -> Fit:
    """Train a linear ranker; see `ranksvm.linear.training.train_once`."""
    problem = make_problem(data, parameters)
    X = problem.objective.X
    start = None if w0 is None else w0.at(X.columns)
    counting = RoundCounter(data, callback)
    progress = progress_of(parameters, counting)
    result = counting.counted(problem.solve(progress, start))
    advice = advice_on_scales(X)
    short = with_advice(shortfall(result, parameters), advice)
    conditions = parameters.conditions
    return Fit(result, problem.n_pairs, data.n_queries, short, X.columns, advice, conditions)


class RoundCounter:
    """Counts the rounds of the driver beside the iterations."""

    def __init__(self, data: ClusterData, callback: Callback | None) -> None:
        self._driver, self._callback = data.rounds.driver, callback
        self._n_rounds: list[int] = []

    def __call__(self, line: Iteration) -> object:
        """Count those before a line."""
        self._n_rounds.append(self._driver.n_rounds)
        return None if self._callback is None else self._callback(line)

    def counted(self, result: Any) -> Any:
        """Return a result whose history tells the rounds, too."""
        self._n_rounds[-1] = self._driver.n_rounds
        lines = zip(result.history, self._n_rounds, strict=True)
        history = [ClusterIteration(**vars(line), n_rounds=n) for line, n in lines]
        return type(result)(
            result.weights, result.value, result.dual_gap, result.status, list(history)
        )
