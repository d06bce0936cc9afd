"""From data and parameters to a certified linear ranker: what every face of the package calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, NoPairsError
from ..pairs.given import AnyPreferences, GivenPreferences
from ..pairs.losses import Hinge, SquaredHinge
from ..pairs.sweeps import Pairs
from ..records import record
from ..solvers import Callback, CuttingPlanes, Progress, SolverResult, Status
from ..threads import one_blas_thread, resolve_threads
from .choice_by_cost import choose_solver, costs_of
from .conditions import NO_CONDITIONS, Conditions
from .matrix import Matrix
from .objective import LinearObjective
from .occurring import Columns, FeatureWeights
from .parameters import Parameters
from .samples import draw_sample, sample_size, tells_of_all
from .scales import advice_on_scales, with_advice
from .solver_choice import SolverChoice

Vector = NDArray[np.float64]

_HUGE_C = 1e100


@record
class Fit:
    """A trained ranker: the solver's result, what it was trained on, and what is to be said of it.

    Attributes
    ----------
    result : SolverResult
    n_pairs : int or float
    n_queries : int
    shortfall : str or None
        How far above `tol` the gap is; None if it is not.
    columns : Columns
        Which features the weights of the result belong to.
    advice : str or None
        On the scales of the features (`ranksvm.linear.scales`).
    conditions : Conditions
        On the weights.
    """

    result: SolverResult
    n_pairs: int | float
    n_queries: int
    shortfall: str | None
    columns: Columns
    advice: str | None = None
    conditions: Conditions = NO_CONDITIONS

    @property
    def weights(self) -> FeatureWeights:
        """The weights of the result, as those of the features that they belong to."""
        return self.conditions.weights(self.columns, self.result.weights)


def train_once(
    X: Matrix,
    preferences: AnyPreferences,
    parameters: Parameters,
    *,
    w0: FeatureWeights | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Train a linear ranker, in one round.

    Parameters
    ----------
    X : Matrix of shape (n_samples, n_features)
        Where it is, the loss is computed, too.
    preferences : Preferences or GivenPreferences
        Of the rows; the `pair_weight` is that of the parameters.
    parameters : Parameters
    w0 : FeatureWeights or None
        Where to start; zero by default.
    callback : callable, optional
        Called with each `Iteration`; stops the solver by returning True.

    Raises
    ------
    ValueError
        If there is not a single preference pair to learn from.
    """
    problem = make_problem(X, preferences, parameters)
    start = None if w0 is None else w0.at(X.columns)
    return problem.fit(problem.minimize(parameters, start, callback), parameters)


@record
class Problem:
    """Training data made ready for the solvers.

    Attributes
    ----------
    objective : LinearObjective
    n_pairs : int or float
        Number, or total weight, of the pairs.
    choice : SolverChoice
    """

    objective: LinearObjective
    n_pairs: int | float
    choice: SolverChoice

    @property
    def n_queries(self) -> int:
        """Number of queries, with and without preference pairs."""
        return self.objective.loss.pairs.groups.n_queries

    def fit(self, result: SolverResult, parameters: Parameters) -> Fit:
        """Return what has been trained, of its result."""
        X = self.objective.X
        advice = advice_on_scales(X, self.objective.n_threads)
        short = with_advice(shortfall(result, parameters), advice)
        n_pairs, n_queries, conditions = self.n_pairs, self.n_queries, parameters.conditions
        return Fit(result, n_pairs, n_queries, short, X.columns, advice, conditions)

    def minimize(
        self,
        parameters: Parameters,
        w0: Vector | None = None,
        callback: Callback | None = None,
        planes: CuttingPlanes | None = None,
    ) -> SolverResult:
        """Solve, for the `parameters` that say when to stop."""
        return self.solve(progress_of(parameters, callback), w0, planes)

    def solve(
        self, progress: Progress, w0: Vector | None = None, planes: CuttingPlanes | None = None
    ) -> SolverResult:
        """Solve, and leave the record of it in `progress`.

        A solver that has stalled may have been led astray by scores that had drifted, or by planes
        from far away, whose rounding hides what is near. So it goes on from fresh ones, as long as
        that brings the gap down.
        """
        objective = self.objective
        start = objective.penalty.rest(objective.size) if w0 is None else w0
        if planes is None:
            planes = CuttingPlanes(objective.size, objective.n_threads)
        gap = np.inf
        # What overflows shows in the gap.
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            result = self.choice.minimize(objective, start, progress, planes)
            while result.status is Status.STALLED and result.dual_gap < 0.5 * gap:
                gap, objective = result.dual_gap, replace(objective, known=None)
                planes = CuttingPlanes(objective.size, objective.n_threads)
                result = self.choice.minimize(objective, result.weights, progress, planes)
        return result


def progress_of(parameters: Parameters, callback: Callback | None) -> Progress:
    """Return an empty record, and when to stop."""
    epsilon = parameters.epsilon * parameters.C
    return Progress(parameters.tol, epsilon, parameters.max_iter, callback)


def make_problem(X: Matrix, preferences: AnyPreferences, parameters: Parameters) -> Problem:
    """Make training data ready for the solvers; the arguments are those of `train_once`."""
    n_threads = resolve_threads(parameters.n_threads)
    pairs, c, n_pairs = weighted_pairs(
        parameters.weigh(preferences),
        parameters,
        lambda which: X.pairs(which, parameters.counting, n_threads),
    )
    loss = (Hinge if parameters.loss == "hinge" else SquaredHinge)(pairs, preferences.common_margin)
    X = X.centered()
    is_free = parameters.solver == "auto"
    costs = costs_of(X, preferences)
    n_rows = sample_size(X, preferences, costs, parameters) if is_free else 0
    choice = choose_solver(X, preferences, parameters, n_rows, costs)
    sample = draw_sample(X, pairs, n_rows) if choice.sample is not None else None
    if choice.sample is not None and (sample is None or not tells_of_all(sample.X)):
        sample, choice = None, choose_solver(X, preferences, parameters, 0, costs)
    rows = choice.rows(X, n_threads, preferences)
    penalty = parameters.conditions.penalty(X.columns)
    objective = LinearObjective(X, loss, c, n_threads, penalty, rows=rows, sample=sample)
    return Problem(objective, n_pairs, choice)


def weighted_pairs(
    preferences: AnyPreferences,
    parameters: Parameters,
    make_pairs: Callable[[AnyPreferences], Pairs],
) -> tuple[Pairs, float, int | float]:
    """Return the pairs of a loss, its weight c, and the number (total weight) of the pairs.

    With n rows, N pairs, N_q pairs of query q and R queries that have pairs, a pair weighs
    ``C n / N`` for ``normalize="documents"``, ``C / N`` for "pairs", ``C / (R N_q)`` for "queries"
    and ``C`` for None. With weights, rows, pairs and queries count as often as they weigh, just as
    if they had been repeated; pairs weighted by gaps, times ``y_i - y_j``.
    """
    pairs = make_pairs(preferences)
    require_some(pairs.n_pairs, pairs.groups.n_samples)
    C, N = float(parameters.C), pairs.n_pairs
    if parameters.normalize is None:
        return pairs, C, N
    if parameters.normalize == "pairs":
        return pairs, C / N, N
    if parameters.normalize == "documents":
        return pairs, C * preferences.n_rows / N, N
    _require_queries(preferences)
    per_query, weight = pairs.pairs_per_query, preferences.query_weight
    if weight is None:
        weight = np.ones(len(per_query))
    has_pairs = per_query > 0
    share = np.divide(weight**2, per_query, out=np.zeros_like(weight), where=has_pairs)
    shared = make_pairs(preferences.with_query_weight(share))
    return shared, C / float(weight[has_pairs].sum()), N


def _require_queries(preferences: AnyPreferences) -> None:
    if isinstance(preferences, GivenPreferences) and not preferences.has_queries:
        raise InputError(
            "normalize='queries' needs the queries that given pairs belong to: give qid, too, or "
            "normalize='pairs'"
        )


def require_some(N: float, n_samples: int) -> None:
    """Refuse a total weight of pairs that is nothing, or beyond floating point."""
    if 1e-300 < N < 1e300:
        return
    if N != 0:
        raise InputError(
            f"the pairs weigh {N:g} in all, which is beyond floating point; scale the weights, or "
            "y if its gaps are weights"
        )
    if n_samples < 2:
        raise NoPairsError(
            f"no preference pairs to learn from: a ranking needs at least 2 samples, found "
            f"n_samples={n_samples}"
        )
    raise NoPairsError(
        "no preference pairs to learn from: within every query all rows have the same label or "
        "weight 0",
        "y, qid and the weights",
    )


def shortfall(result: SolverResult, parameters: Parameters, what: str = "") -> str | None:
    """Say how far above `tol` the gap is, and what to do; None if it is not, or was not to be.

    `what` says for what, where that is not clear.
    """
    if result.status is Status.CONVERGED or result.status is Status.STOPPED:
        return None
    reached = f"the relative duality gap is {result.dual_gap:.2g}, above tol={parameters.tol:g}"
    if parameters.epsilon > 0:
        absolute = result.dual_gap * abs(result.value) / parameters.C
        reached += f", and the absolute one {absolute:.2g}, above epsilon={parameters.epsilon:g}"
    if result.status is Status.MAX_ITER:
        remedy = f"max_iter={parameters.max_iter} was reached; increase it, or tol"
    elif not result.dual_gap < 0.9:  # no tol would do
        remedy = _too_large(parameters.C)
    else:
        remedy = "no further progress is possible in floating point; increase tol or scale X"
    return f"not converged{what}: {reached} ({remedy})"


def _too_large(C: float) -> str:
    """Say what overflows, or leaves rounding alone, and what to do about it."""
    if C >= _HUGE_C:
        return (
            f"C={C:g} is too large for floating point, its square overflows; decrease C, or scale X"
        )
    return (
        "X times C is too large for floating point; scale X, say to standard deviations of 1, or "
        "decrease C"
    )
