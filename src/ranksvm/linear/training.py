"""From data and parameters to a certified linear ranker: what every face of the package calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..pairs.losses import Hinge, PairLoss, SquaredHinge
from ..pairs.queries import QueryGroups
from ..pairs.weights import per_query_weight
from ..solvers import Callback, CuttingPlanes, Progress, SolverResult, Status
from ..threads import one_blas_thread, resolve_threads
from .objective import LinearObjective, Matrix
from .parameters import Parameters
from .solver_choice import choose_solver

if TYPE_CHECKING:
    from ..arrays.device import ArrayDevice

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """A trained ranker: the solver's result, what it was trained on, and its `shortfall`."""

    result: SolverResult
    n_pairs: int | float
    n_queries: int
    shortfall: str | None


def train(
    X: Matrix,
    y: Vector,
    qid: ArrayLike | None = None,
    *,
    parameters: Parameters,
    sample_weight: Vector | None = None,
    query_weight: ArrayLike | None = None,
    w0: Vector | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Train a linear ranker.

    Parameters
    ----------
    X : DesignMatrix or ArrayMatrix of shape (n_samples, n_features)
        Where it is, the loss is computed, too.
    y : ndarray of shape (n_samples,), float64
    qid : array-like of shape (n_samples,) or None
    parameters : Parameters
    sample_weight : ndarray of shape (n_samples,) or None
    query_weight : array-like of shape (n_samples,) or None
        One value per row, the same for all rows of a query.
    w0 : ndarray of shape (n_features,) or None
        Where to start; zero by default.
    callback : callable, optional
        Called with each `Iteration`; stops the solver by returning True.

    Raises
    ------
    ValueError
        If there is not a single preference pair to learn from.
    """
    problem = Problem(X, y, qid, parameters, sample_weight, query_weight)
    result = problem.minimize(parameters, w0, callback)
    return Fit(result, problem.n_pairs, problem.n_queries, shortfall(result, parameters))


class Problem:
    """Training data made ready for the solvers.

    Parameters
    ----------
    X, y, qid, parameters, sample_weight, query_weight
        As for `train`.

    Attributes
    ----------
    objective : LinearObjective
    n_pairs : int or float
    n_queries : int
    """

    def __init__(
        self,
        X: Matrix,
        y: Vector,
        qid: ArrayLike | None,
        parameters: Parameters,
        sample_weight: Vector | None = None,
        query_weight: ArrayLike | None = None,
    ) -> None:
        n_threads = resolve_threads(parameters.n_threads)
        groups = QueryGroups.from_qid(qid, X.shape[0])
        weights = per_query_weight(query_weight, groups)
        loss, c, self.n_pairs = weighted_loss(
            parameters, y, groups, sample_weight, weights, n_threads, X.device
        )
        self.n_queries = groups.n_queries
        self.objective = LinearObjective(X, loss, c, n_threads)
        self._choice = choose_solver(X, parameters)

    def minimize(
        self,
        parameters: Parameters,
        w0: Vector | None = None,
        callback: Callback | None = None,
        planes: CuttingPlanes | None = None,
    ) -> SolverResult:
        """Solve, for the `parameters` that say when to stop."""
        progress = Progress(
            parameters.tol, parameters.epsilon * parameters.C, parameters.max_iter, callback
        )
        start = np.zeros(self.objective.size) if w0 is None else w0
        # What overflows shows in the gap.
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            return self._choice.minimize(self.objective, start, progress, planes)


def weighted_loss(
    parameters: Parameters,
    y: Vector,
    groups: QueryGroups,
    sample_weight: Vector | None,
    query_weight: Vector | None,
    n_threads: int,
    device: ArrayDevice | None = None,
) -> tuple[Hinge | SquaredHinge, float, int | float]:
    """Return the loss, its weight c, and the number (total weight) of the pairs.

    With n rows, N pairs, N_q pairs of query q and R queries that have pairs, a pair weighs
    ``C n / N`` for ``normalize="documents"``, ``C / N`` for "pairs", ``C / (R N_q)`` for "queries"
    and ``C`` for None. With weights, rows, pairs and queries count as often as they weigh, just as
    if they had been repeated; pairs weighted by gaps, times ``y_i - y_j``.
    """

    def loss_of(query_weight: Vector | None) -> Hinge | SquaredHinge:
        return (Hinge if parameters.loss == "hinge" else SquaredHinge)(
            y,
            groups,
            sample_weight=sample_weight,
            query_weight=query_weight,
            pair_weight=parameters.pair_weight,
            counting=parameters.counting,
            n_threads=n_threads,
            device=device,
        )

    loss = loss_of(query_weight)
    _require_pairs(loss)
    C, N = float(parameters.C), loss.n_pairs
    if parameters.normalize is None:
        return loss, C, N
    if parameters.normalize == "pairs":
        return loss, C / N, N
    if parameters.normalize == "documents":
        return loss, C * _n_rows(groups, sample_weight, query_weight) / N, N
    per_query = loss.pairs_per_query
    weight = np.ones(groups.n_queries) if query_weight is None else query_weight
    has_pairs = per_query > 0
    share = np.divide(weight**2, per_query, out=np.zeros_like(weight), where=has_pairs)
    return loss_of(share), C / float(weight[has_pairs].sum()), N


def _n_rows(
    groups: QueryGroups, sample_weight: Vector | None, query_weight: Vector | None
) -> float:
    if query_weight is None:
        return groups.n_samples if sample_weight is None else float(sample_weight.sum())
    rows = groups.per_row(query_weight)
    return float(rows.sum() if sample_weight is None else rows @ sample_weight)


def _require_pairs(loss: PairLoss) -> None:
    N = loss.n_pairs
    if 1e-300 < N < 1e300:
        return
    if N != 0:
        raise ValueError(
            f"the pairs weigh {N:g} in all, which is beyond floating point; scale the weights, or "
            "y if its gaps are weights"
        )
    if loss.n_samples < 2:
        raise ValueError(
            f"no preference pairs to learn from: a ranking needs at least 2 samples, found "
            f"n_samples={loss.n_samples}"
        )
    raise ValueError(
        "no preference pairs to learn from: within every query all rows have the same label or "
        "weight 0; check y, qid and the weights"
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
    else:
        remedy = "no further progress is possible in floating point; increase tol or scale X"
    return f"not converged{what}: {reached} ({remedy})"
