"""From a kernel and parameters to a certified kernel ranker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..linear.design_matrix import DesignMatrix
from ..linear.objective import LinearObjective
from ..linear.parameters import Parameters
from ..linear.training import Fit, make_problem, shortfall
from ..pairs.losses import Hinge
from ..solvers import Callback, Iteration, SolverResult, Status
from ..solvers.result import ROUNDING
from .factor import EXACT, KernelFactor

Vector = NDArray[np.float64]

# The remainder to begin with, in tol times the scale of the kernel, as suffices for C near 1 most
# often; the bound for the hinge loss is the looser, the more rows there are.
_FIRST = 0.1
_TINY = float(np.finfo(np.float64).tiny)


def train_kernel(
    factor: KernelFactor,
    y: Vector,
    qid: ArrayLike | None = None,
    *,
    parameters: Parameters,
    sample_weight: Vector | None = None,
    query_weight: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Train a ranker on the columns of a kernel's factor, which is refined as the gap demands.

    With the kernel matrix ``K = Phi Phi' + E`` and the dual value D of the problem of Phi at a
    subgradient g, ``D - 0.5 c^2 g'E g`` is a lower bound of the optimum over all functions. So the
    gap becomes that of Phi and ``0.5 c^2 g'E g`` more, and where it exceeds `tol` and, absolutely,
    `epsilon`, Phi gets more columns, and training goes on from where it was.

    In the end the value is confirmed: it is that of the function that is returned, from kernel
    values and its own coefficients, and raised by their rounding.

    Parameters
    ----------
    factor : KernelFactor
        Of the training rows; refined in place.
    y, qid, parameters, sample_weight, query_weight, callback
        As for `ranksvm.linear.training.train`.

    Returns
    -------
    Fit
        Its weights are for the columns of ``factor.features``, its gap is that of the kernel, its
        value that of ``factor.dual_coef(weights)``.
    """
    tol = max(parameters.tol, parameters.epsilon)
    least = EXACT * factor.scale
    shares = len(y) if parameters.loss == "hinge" else 1
    remainder = max(_FIRST * tol * factor.scale / shares, least)
    weights, inner = np.zeros(0), parameters
    history: list[Iteration] = []
    while True:
        inner = replace(inner, tol=inner.tol / 2, epsilon=inner.epsilon / 2)
        factor.refine(remainder)
        Phi = DesignMatrix.from_array(factor.features)
        problem = make_problem(Phi, y, qid, parameters, sample_weight, query_weight)
        start = np.zeros(Phi.shape[1])
        start[: len(weights)] = weights
        result = problem.minimize(inner, start, callback)
        weights = result.weights
        absolute = parameters.epsilon * parameters.C / max(abs(result.value), _TINY)
        tol = max(parameters.tol, absolute)
        gap, left_out = _gaps(problem.objective, result, factor, tol)
        value, total = result.value, gap + left_out
        ended = result.status is not Status.CONVERGED or remainder <= least
        if total <= tol or ended:
            bound = result.value * (1 - total)
            value = _confirmed(problem.objective, factor, weights)
            total = max((value - bound) / max(abs(value), _TINY) + ROUNDING, 0.0)
        history = _joined(history, result.history, value, total)
        if total <= tol or ended:
            break
        wanted = float(np.clip(0.25 * tol / max(left_out, _TINY), 1e-4, 0.1))
        remainder = max(wanted * remainder, least)
    status = result.status
    if total <= tol:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.STALLED
    result = replace(result, value=value, dual_gap=total, status=status, history=history)
    short = shortfall(result, parameters)
    return Fit(result, problem.n_pairs, problem.n_queries, short, Phi.columns)


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
        # no element exceeds its number of pairs, the curvature of all pairs at zero. And with the
        # best multiple, all pairs together weigh at most twice the bound.
        pairs = loss.smoothed().evaluate(objective.X.zeros()).hessian_diagonal
        of_pairs = factor.bound(pairs) + factor.rounding(pairs)
        return result.dual_gap, unit * min(of_pairs, factor.bound_of(4 * value / objective.c))
    evaluation = objective.evaluate(result.weights)
    gradient = evaluation.multiple * evaluation.loss.gradient
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
