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
from .newton import newton, newton_step
from .protocols import Evaluation, Objective, Trial
from .result import Progress, SolverResult
from .smoothing import Continuation

Vector = NDArray[np.float64]

SAMPLE_TOL = 1e-3  # the optimum of a sample differs by more from that of all of the data
GAIN_OF_GAP, GAIN_OF_SLOPE = 4.0, 10.0  # what a step has to bring down its gap or square slope by


def samples_first(
    fallback: SmoothSolver,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
) -> SolverResult:
    """Minimise by Newton steps of a sample as long as they serve, and then by another solver.

    1. Minimise on the sample, and go on from there, unless `w0` is better.
    2. Step by the Hessian of the sample at the present weights, with a line search.
    3. Where a step does not bring the gap down well, the fallback takes over, at the best point so
       far and with the lower bound that has been reached.

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
    continuation = Continuation()
    status, current = None, None
    if w0.any():
        current = continuation.start(objective.evaluate(w0), progress.lower_bound)
        status = progress.record(current, 0.0)
    there = None if status is not None else _optimum_of_sample(objective, w0, progress)
    if there is not None and (current is None or there.value < current.value):
        current, status = there, progress.record(there, 0.0)
    del there  # and its scores, once they are behind
    trial: Trial[Evaluation] | None = None
    while status is None and current is not None:
        before = continuation.refine(current, progress.target, trial)
        trial = _step(before, progress)
        current = None
        if trial is not None:
            status = progress.record(trial.evaluation, trial.step)
            current = trial.evaluation if _is_gain(before, trial.evaluation) else None
    if status is not None:
        return progress.result(status)
    return fallback(objective, w0 if progress.best is None else progress.best.weights, progress)


def _optimum_of_sample(objective: Objective, w0: Vector, progress: Progress) -> Evaluation | None:
    """Return the objective at the optimum of the sample, smoothed as widely; None if that fails."""
    sampled = objective.sampled
    assert sampled is not None
    tol, max_iter = max(progress.tol, SAMPLE_TOL), max(progress.max_iter, 1)
    of_sample = Progress(tol, progress.epsilon, max_iter)
    weights = newton(sampled, w0, of_sample).weights
    if not np.isfinite(weights).all() or of_sample.best is None:
        return None
    progress.n_evaluations += bool(progress.history)
    there = objective.narrowed(of_sample.best.width).evaluate(weights)
    return there if np.isfinite(there.absolute_gap) else None


def _step(current: Evaluation, progress: Progress) -> Trial[Evaluation] | None:
    """Step from here by the Hessian of the sample; None if it leads nowhere."""
    progress.n_products += 1
    direction = newton_step(current, np.float64, current.sampled)
    if direction is None:
        return None
    trial, n_trials = line_search(current.along(direction))
    progress.n_evaluations += n_trials
    return trial


def _is_gain(before: Evaluation, there: Evaluation) -> bool:
    return (
        GAIN_OF_GAP * there.absolute_gap <= before.absolute_gap
        or GAIN_OF_SLOPE * there.distance <= before.distance
    )
