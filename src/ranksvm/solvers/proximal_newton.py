"""Newton's method where the penalty has kinks and bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .line_search import line_search
from .protocols import Evaluation, Objective, Separable, Trial
from .result import Progress, SolverResult, Status
from .separable_quadratic import SeparableQuadratic
from .smoothing import Continuation

Vector = NDArray[np.float64]


def proximal_newton(
    objective: Objective, w0: Vector, progress: Progress | None = None
) -> SolverResult:
    """Minimise a smooth loss and a penalty that is a sum over the weights, by Newton steps.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing of a loss with kinks, if that is what holds the gap,
    2. form the Hessian of the loss; with its gradient and the penalty as it is, it makes a model,
    3. minimise the model: where its minimum has weights at kinks or bounds, they are there exactly
       (`ranksvm.solvers.separable_quadratic`),
    4. search between here and there; a trial costs a sweep over the scores, no pass over X.

    That is the proximal Newton method (Lee, Sun and Saunders 2014); precision and passes over X are
    as in `ranksvm.solvers.newton`.

    Parameters
    ----------
    objective : Objective
        With smooth derivatives of its loss.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin("proximal_newton", objective)
    penalty = objective.penalty
    continuation = Continuation()
    dtype: type[np.floating] = np.float32 if objective.size >= 32 else np.float64
    start = objective.resumed().evaluate(penalty.nearest(w0), dtype)
    current = continuation.start(start, progress.lower_bound)
    status = progress.record(current, 0.0)
    trial: Trial[Evaluation] | None = None
    while status is None:
        current = continuation.refine(current, progress.target)
        before = current.distance
        end = proximal_step(current, penalty, dtype)
        progress.n_products += 1
        line = current.towards(end - current.weights, dtype, end=end)
        trial, n_trials = line_search(line, longest=1.0)
        progress.n_evaluations += n_trials
        if trial is not None:
            current = trial.evaluation
            status = progress.record(current, trial.step)
        elif dtype is np.float64:
            status = Status.STALLED
        if trial is None or (trial.step > 0.5 and current.distance > 0.1 * before):
            dtype = np.float64
    return progress.result(status)


def proximal_step(evaluation: Evaluation, penalty: Separable, dtype: type[np.floating]) -> Vector:
    """Return the weights that minimise the model of the loss, and the penalty."""
    hessian = evaluation.hessian_of_loss(dtype)
    model = SeparableQuadratic(hessian, evaluation.slope_of_loss, evaluation.weights, penalty)
    return model.minimizer()
