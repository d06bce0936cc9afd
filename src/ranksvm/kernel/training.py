"""From a kernel and parameters to a certified kernel ranker.

Two ways lead there, and both are certified over all functions of the kernel. Where few columns of a
factor of the kernel matrix are enough, as they are for smooth kernels and few features, the linear
solvers train on these. Where the factor grows beyond what the matrix itself would cost, or can be
foreseen to, the first of its columns give a function to begin with, and precondition Newton's
method over all functions: see `ranksvm.kernel.newton`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix
from ..linear.objective import LinearObjective
from ..linear.parameters import Parameters
from ..linear.rounds import Rounds
from ..linear.training import Fit, Problem, make_problem, shortfall
from ..pairs.given import AnyPreferences
from ..pairs.losses import Hinge, SquaredHinge
from ..pairs.preferences import Preferences
from ..records import record
from ..solvers import Callback, Iteration, Progress, SolverResult, Status
from ..solvers.result import ROUNDING
from ..threads import one_blas_thread
from .factor import EXACT, KernelFactor, Note, is_semidefinite
from .function_space import FunctionObjective
from .kernels import Kernel
from .matrix import KernelMatrix
from .newton import newton_in_function_space

Vector = NDArray[np.float64]

# The remainder to begin with, in tol times the scale of the kernel, as suffices for C near 1 most
# often; the bound for the hinge loss is the looser, the more rows there are.
_FIRST = 0.1
_TINY = float(np.finfo(np.float64).tiny)

# Newton steps on a factor of rank r take n r^2 multiplications each, those over all functions a
# dozen products of n^2, which memory makes slower: they cost as much where r^2 is some 300 n.
_RANK_PER_ROW = 300
_LEAST_ROWS = 1000  # with fewer, it does not matter
_HARD = 20  # pairs that weigh so much for each row take planes fewer steps than a smoothed hinge
_LEADING_SHARE = 20  # of the rows are as many columns as pay to precondition with
_ROUGHLY = 0.1  # the gap among the functions of these columns to which one to begin with is found


@record(kw_only=True)
class KernelFit(Fit):
    """A trained kernel ranker: ``f(x) = sum_p dual_coef_p k(x_p, x)`` for the rows of support."""

    support: NDArray[np.int64]
    dual_coef: Vector


def train_kernel(
    factor: KernelFactor,
    preferences: AnyPreferences,
    parameters: Parameters,
    *,
    callback: Callback | None = None,
    note: Note | None = None,
) -> KernelFit:
    """Train a ranker on the columns of a kernel's factor, which is refined as the gap demands.

    With the kernel matrix ``K = Phi Phi' + E`` and the dual value D of the problem of Phi at a
    subgradient g, ``D - 0.5 c^2 g'E g`` is a lower bound of the optimum over all functions. So the
    gap becomes that of Phi and ``0.5 c^2 g'E g`` more, and where it exceeds `tol` and, absolutely,
    `epsilon`, Phi gets more columns, and training goes on from where it was.

    In the end the value is confirmed: it is that of the function that is returned, from kernel
    values and its own coefficients, and raised by their rounding.

    Where weights of pairs follow the ranking, that is a round (`ranksvm.linear.rounds`), and the
    next begins with its columns.

    With the solver "auto", Phi gets no more columns than pay: beyond, training goes on from where
    it was over all functions at once, if the kernel matrix finds room in the factor's `max_memory`.
    Where that stalls at the limits of rounding, or the hinge loss weighs so much that planes need
    fewer steps, Phi gets its columns after all.

    Parameters
    ----------
    factor : KernelFactor
        Of the training rows; refined in place.
    preferences, parameters, callback
        As for `ranksvm.linear.training.train_once`.
    note : callable, optional
        Called with a sentence now and then while the factor or the matrix grows.

    Returns
    -------
    KernelFit
        Its value and gap are those of the kernel and of the coefficients.
    """
    training = _KernelTraining(factor, preferences, parameters, callback, note)
    most = most_columns(factor.n_samples, parameters, factor.max_memory)
    fit = training.run(most)
    if parameters.pair_weight != "ndcg":
        return fit
    rounds: Rounds[KernelFit] = Rounds(parameters.n_rounds)
    while rounds.add(fit, fit.result.history):
        assert isinstance(preferences, Preferences)  # which the first round has seen to
        scores, _ = factor.scores(fit.support, fit.dual_coef)
        training = training.weighed(parameters.gain.by_rank(preferences, scores))
        fit = training.run(most)
    return replace(fit, result=replace(fit.result, history=rounds.history))


def most_columns(n: int, parameters: Parameters, max_memory: float) -> int | None:
    """Return from how many columns of a factor on the matrix is used instead; None for never."""
    rank = int(min(np.sqrt(_RANK_PER_ROW * n), n / 2))
    needed = KernelMatrix.n_bytes(n) + KernelFactor.n_bytes(n, rank)
    if parameters.solver != "auto" or n < _LEAST_ROWS or needed > max_memory:
        return None
    return rank


def cost_of(kernel: Kernel, n: int, parameters: Parameters, max_memory: float) -> str:
    """Say what training takes, before it begins.

    Parameters
    ----------
    kernel : Kernel
    n : int
        Number of rows.
    parameters : Parameters
    max_memory : float
        As for `ranksvm.kernel.factor.KernelFactor`.

    Returns
    -------
    str
    """
    rank = most_columns(n, parameters, max_memory)
    if rank is None:
        most = min(n, int(max_memory / KernelFactor.n_bytes(n, 1)))
        work = f"a factor of up to {most:,} columns ({_gb(KernelFactor.n_bytes(n, most))})"
    else:
        work = (
            f"a factor of up to {rank:,} columns ({_gb(KernelFactor.n_bytes(n, rank))}) and, where "
            f"these are too few, its matrix ({_gb(KernelMatrix.n_bytes(n))})"
        )
    if not is_semidefinite(kernel):
        work = f"{_gb(16.0 * n * n)} to check that it is a kernel, then {work}"
    return f"kernel {kernel} of {n:,} rows: {work}"


def _gb(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.3g} GB"


@dataclass
class _KernelTraining:
    """One call of `train_kernel`; `weights` are those of the columns of the factor."""

    factor: KernelFactor
    preferences: AnyPreferences
    parameters: Parameters
    callback: Callback | None
    note: Note | None

    def __post_init__(self) -> None:
        self.weights = np.zeros(0)
        self.history: list[Iteration] = []

    def weighed(self, preferences: AnyPreferences) -> _KernelTraining:
        """Return the training of the same columns with other weights of pairs, from there."""
        another = replace(self, preferences=preferences)
        another.weights = self.weights
        return another

    def run(self, max_rank: int | None) -> KernelFit:
        factor, parameters = self.factor, self.parameters
        tol = max(parameters.tol, parameters.epsilon)
        least = EXACT * factor.scale
        shares = factor.n_samples if parameters.loss == "hinge" else 1
        remainder = max(_FIRST * tol * factor.scale / shares, least)
        inner = parameters
        while True:
            if not factor.refine(remainder, max_rank, self.note, foresees=True):
                fit = self.over_all_functions()
                if fit is not None:
                    return fit
                max_rank = None
                continue
            inner = replace(inner, tol=inner.tol / 2, epsilon=inner.epsilon / 2)
            problem = self.problem(factor.features)
            result, total, left_out, tol = self.on_columns(problem, inner, remainder <= least)
            if total <= tol or result.status is not Status.CONVERGED:
                return self.fit(problem, result, *factor.dual_coef(self.weights))
            wanted = float(np.clip(0.25 * tol / max(left_out, _TINY), 1e-4, 0.1))
            remainder = max(wanted * remainder, least)

    def problem(self, features: NDArray[np.float64]) -> Problem:
        X = DesignMatrix.from_array(features)
        return make_problem(X, self.preferences, self.parameters)

    def on_columns(
        self, problem: Problem, inner: Parameters, is_exact: bool
    ) -> tuple[SolverResult, float, float, float]:
        """Train on the columns that there are.

        Return the result, its gap over all functions, the part of it that columns left out make up,
        and what it should be. The result is confirmed where it is the last.
        """
        parameters = self.parameters
        start = np.zeros(problem.objective.size)
        start[: len(self.weights)] = self.weights
        result = problem.minimize(inner, start, self.callback)
        self.weights = result.weights
        absolute = parameters.epsilon * parameters.C / max(abs(result.value), _TINY)
        tol = max(parameters.tol, absolute)
        gap, left_out = _gaps(problem.objective, result, self.factor, tol)
        value, total = result.value, gap + left_out
        ended = result.status is not Status.CONVERGED or is_exact
        if total <= tol or ended:
            bound = result.value * (1 - total)
            value = _confirmed(problem.objective, self.factor, self.weights)
            total = max((value - bound) / max(abs(value), _TINY) + ROUNDING, 0.0)
        self.history = _joined(self.history, result.history, value, total)
        status = result.status
        if total <= tol:
            status = Status.CONVERGED
        elif status is Status.CONVERGED and ended:
            status = Status.STALLED
        return replace(result, value=value, dual_gap=total, status=status), total, left_out, tol

    def over_all_functions(self) -> KernelFit | None:
        """Train without regard to columns; None where columns have to do it after all."""
        factor, parameters = self.factor, self.parameters
        n = factor.n_samples
        n_columns = max(n // _LEADING_SHARE, 128)
        problem = self.problem(factor.leading(n_columns, self.note).features)
        loss, c = problem.objective.loss, problem.objective.c
        if isinstance(loss, Hinge) and c * loss.evaluate(np.zeros(n)).value > _HARD * n:
            return None
        if not len(self.weights):
            roughly = replace(parameters, tol=max(parameters.tol, _ROUGHLY))
            start = np.zeros(problem.objective.size)
            self.weights = problem.minimize(roughly, start, None).weights
        progress = Progress(
            parameters.tol, parameters.epsilon * parameters.C, parameters.max_iter, self.callback
        )
        coef = factor.coef_of(
            np.append(self.weights, np.zeros(len(factor.pivots) - len(self.weights)))
        )
        with np.errstate(over="ignore", invalid="ignore"):
            objective = FunctionObjective(factor.matrix(self.note), loss, c).smoothed()
            with one_blas_thread():
                result = newton_in_function_space(
                    objective, partial(factor.leading, note=self.note), n_columns, coef, progress
                )
        self.history = _joined(self.history, result.history, result.value, result.dual_gap)
        if result.status is Status.STALLED:
            return None
        return self.fit(problem, result, *factor.with_anchor(result.weights))

    def fit(
        self, problem: Problem, result: SolverResult, support: NDArray[np.int64], coef: Vector
    ) -> KernelFit:
        result = replace(result, history=self.history)
        return KernelFit(
            result,
            problem.n_pairs,
            problem.n_queries,
            shortfall(result, self.parameters),
            problem.objective.X.columns,
            support=support,
            dual_coef=coef,
        )


def _confirmed(objective: LinearObjective, factor: KernelFactor, weights: Vector) -> float:
    """Return the objective of the function that is returned, no less than it is."""
    rows, coef = factor.dual_coef(weights)
    scores, rounding = factor.scores(rows, coef)
    loss = objective.loss.widened(rounding).evaluate(scores)
    square = float(coef @ scores[rows]) + 2 * rounding * float(np.abs(coef).sum())
    return (0.5 * square + objective.c * (loss.value + loss.rounding)) * (1 + ROUNDING)


def _gaps(
    objective: LinearObjective, result: SolverResult, factor: KernelFactor, tol: float
) -> tuple[float, float]:
    """Return the relative gap of the problem of Phi, and what the remainder may add to it."""
    loss, value = objective.loss, max(abs(result.value), _TINY)
    unit = 0.5 * objective.c**2 / value
    if isinstance(loss, Hinge):
        # Which subgradient gives the bound is not known; but as at most all its pairs pull at it,
        # no element exceeds its number of pairs, half the curvature of the squared hinge at zero.
        # And with the best multiple, all pairs together, each times its margin, weigh at most twice
        # the bound.
        curved = SquaredHinge(loss.pairs, loss.margin).evaluate(objective.X.zeros())
        pairs = 0.5 * curved.hessian_diagonal
        of_pairs = factor.bound(pairs) + factor.rounding(pairs)
        most = 4 * value / (objective.c * loss.pairs.preferences.least_margin)
        return result.dual_gap, unit * min(of_pairs, factor.bound_of(most))
    evaluation = objective.evaluate(result.weights)
    gradient = evaluation.dual.multiple * evaluation.loss.gradient
    gap = max((result.value - evaluation.lower_bound) / value, result.dual_gap)
    left_out = factor.bound(gradient)
    if gap + unit * left_out > tol:
        left_out = min(left_out, factor.left_out(gradient))
    return gap, unit * (left_out + factor.rounding(gradient))


def _joined(
    before: list[Iteration], lines: list[Iteration], value: float, gap: float
) -> list[Iteration]:
    """Continue a history with that of another training, which ends with this value and gap."""
    n_before, seconds = len(before), before[-1].seconds if before else 0.0
    moved = [
        replace(line, iteration=n_before + k, seconds=seconds + line.seconds)
        for k, line in enumerate(lines)
    ]
    return [*before, *moved[:-1], replace(moved[-1], value=value, dual_gap=gap)]
