"""Newton steps by the Hessian of a sample, and another solver where these do not serve.

A sample of the data is an objective of its own that is nearly the same. So its optimum, found for a
fraction of the price of one exact step, is close to the one that is sought, and its Hessian ``H_S``
close to H there. Steps ``-H_S^-1 g`` with the exact gradient g leave, of the way to the optimum,
the part (:eq:`sampled-step`)::

    I - H_S^-1 H,

and of the gap the square of that, at the price of an evaluation each. Value, gradient and
certificate are exact, so that samples decide how soon the optimum is reached, and nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .automatic import SmoothSolver
from .line_search import line_search
from .newton import is_gain, newton, newton_step
from .protocols import Evaluation, Objective, Separable, Trial
from .result import Progress, SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]

SAMPLE_TOL = 1e-3  # the optimum of a sample differs by more from that of all of the data


def samples_first(
    fallback: SmoothSolver,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
) -> SolverResult:
    """Minimise by Newton steps of a sample as long as they serve, and then by another solver.

    Where the penalty has kinks or bounds, these are proximal Newton steps.

    1. Step by the Hessian of the sample at the present weights, with a line search, from `w0`,
       unless that is zero.
    2. Where a step does not bring the gap down well, or there was none, minimise on the sample, and
       step from there.
    3. Where that does not serve either, the fallback takes over, at the best point so far and with
       the lower bound that has been reached.

    Parameters
    ----------
    fallback : callable
        Such as `newton`; the solver, too, if the objective has no sample.
    objective : Objective
        With smooth derivatives.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    if objective.sampled is None:
        return fallback(objective, w0, progress)
    progress.begin("samples", objective)
    continuation, status = Continuation(), None
    if w0.any():
        resumed, bound = objective.resumed(), progress.lower_bound
        start = continuation.start(resumed.evaluate(objective.penalty.nearest(w0)), bound)
        status = _steps(start, objective.penalty, continuation, progress)
    if status is None:
        optimum = _optimum_of_sample(objective, w0, progress)
        status = _steps(optimum, objective.penalty, continuation, progress)
    if status is not None:
        return progress.result(status)
    return fallback(objective, w0 if progress.best is None else progress.best.weights, progress)


def _steps(
    current: Evaluation | None,
    penalty: Separable,
    continuation: Continuation,
    progress: Progress,
) -> Status | None:
    """Step from here as long as that serves; return a status if this is the end.

    Nobody else holds on to the first evaluation, and its scores, once they are behind.
    """
    status = None if current is None else progress.record(current, 0.0)
    trial: Trial[Evaluation] | None = None
    while status is None and current is not None:
        before = continuation.refine(current, progress.target, trial)
        trial = _step(before, penalty, progress)
        current = None
        if trial is not None:
            status = progress.record(trial.evaluation, trial.step)
            current = trial.evaluation if is_gain(before, trial.evaluation) else None
    return status


def _optimum_of_sample(objective: Objective, w0: Vector, progress: Progress) -> Evaluation | None:
    """Return the objective at the optimum of the sample, smoothed as widely.

    None if that fails, or is no better than the best so far.
    """
    sampled = objective.sampled
    assert sampled is not None
    tol, max_iter = max(progress.tol, SAMPLE_TOL), max(progress.max_iter, 1)
    of_sample = Progress(tol, progress.epsilon, max_iter)
    start = w0 if progress.best is None else progress.best.weights
    solver = newton
    if not objective.penalty.is_smooth:
        from .proximal_newton import proximal_newton as solver  # which few penalties need

    weights = samples_first(solver, sampled, start, of_sample).weights
    if not np.isfinite(weights).all() or of_sample.best is None:
        return None
    progress.n_evaluations += bool(progress.history)
    there = objective.narrowed(of_sample.best.width).evaluate(weights)
    is_best = progress.best is None or there.value < progress.best.value
    return there if is_best and np.isfinite(there.absolute_gap) else None


def _step(current: Evaluation, penalty: Separable, progress: Progress) -> Trial[Evaluation] | None:
    """Step from here by the Hessian of the sample; None if it leads nowhere."""
    progress.n_products += 1
    if penalty.is_smooth:
        direction = newton_step(current, np.float64, current.sampled)
        if direction is None:
            return None
        trial, n_trials = line_search(current.along(direction))
        progress.n_evaluations += n_trials
        return trial
    from .proximal_newton import proximal_step, search  # likewise

    end = proximal_step(current, penalty, np.float64, current.sampled)
    return search(current, current.along(end - current.weights, end=end), progress)
