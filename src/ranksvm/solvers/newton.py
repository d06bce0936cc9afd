"""Newton's method with an explicit Hessian and a line search on the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cholesky import ScaledCholesky
from .line_search import line_search
from .protocols import Evaluation, NewtonSystem, Objective, Trial
from .result import Progress, SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]

GAIN_OF_GAP, GAIN_OF_SLOPE = 4.0, 10.0  # what a step has to bring down its gap or square slope by
ORDER = 1.5  # of convergence near the optimum, where it is 2, to be on the safe side
FALL_NEARBY = 0.1  # of the distance, as if by a step before, where a problem nearby was solved


def newton(
    objective: Objective, w0: Vector, progress: Progress | None = None, *, name: str = "newton"
) -> SolverResult:
    """Minimise by Newton steps.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing of a loss with kinks, if that is what holds the gap, and step to where
       the minimum is then, if the pairs on the smoothed part stay the same (:eq:`foreseen`),
    2. form the Hessian and scale its diagonal to one,
    3. factorise it (Cholesky) and solve for the Newton step (:eq:`newton-step`),
    4. search along the step; a trial costs a sweep over the scores, no pass over X.

    The pass over X that the search begins with may bring gradient and Hessian at the full step,
    too, so that such a step takes one pass in all. Where the next gap is foreseen to be small
    enough, since the last step brought it down by so much, no Hessian is asked for.

    Steps come from a Hessian in single precision as long as they serve; value, gradient, line
    search and certificate are in double precision always, so the optimum is not affected.

    Parameters
    ----------
    objective : Objective
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    name : str, default="newton"
        What the history calls it.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin(name, objective)
    continuation = Continuation(foresees=True)
    dtype: type[np.floating] = np.float32 if objective.size >= 32 else np.float64
    current = continuation.start(objective.resumed().evaluate(w0, dtype), progress.lower_bound)
    status = progress.record(current, 0.0)
    fall = 1.0  # of the distance, in the last step
    if status is None:
        there, status = _by_last_hessian(current, progress)
        current, fall = there, fall if there is current else FALL_NEARBY
        del there
    trial: Trial[Evaluation] | None = None
    while status is None:
        refined = continuation.refine(current, progress.target, trial)
        direction = None
        if refined is not current and trial is not None:
            direction = newton_step(current.foreseen(continuation.ratio), dtype)
            progress.n_products += 1
        current = refined
        del refined  # which has scores for all rows
        before = current.distance
        foreseen = direction is not None and bool(direction @ current.gradient < 0)
        if not foreseen:
            direction = newton_step(current, dtype)
            progress.n_products += 1
        trial = None
        if direction is not None:
            # Near the optimum the next step brings the distance down as the last one, squared.
            goes_on = current.smoothing + before * fall**ORDER > progress.target
            trial, n_trials = line_search(current.towards(direction, dtype if goes_on else None))
            progress.n_evaluations += n_trials
        if trial is not None:
            current = trial.evaluation
            fall = min(1.0, current.distance / before) if before > 0 else 1.0
            status = progress.record(current, trial.step)
        elif dtype is np.float64 and not foreseen:
            status = Status.STALLED
        little = trial is not None and trial.step > 0.5 and current.distance > 0.1 * before
        if trial is None or (little and not foreseen):
            dtype = np.float64
    return progress.result(status)


def newton_step(
    evaluation: Evaluation, dtype: type[np.floating], model: Evaluation | None = None
) -> Vector | None:
    """Solve for the step; None if the Hessian is not positive definite in this precision.

    The Hessian is that of the evaluation, or of a `model` of it.
    """
    return _solve((model or evaluation).newton_system(evaluation.gradient, dtype))


def is_gain(before: Evaluation, there: Evaluation) -> bool:
    """Say whether a step by a Hessian that is not the exact one has served."""
    return (
        GAIN_OF_GAP * there.absolute_gap <= before.absolute_gap
        or GAIN_OF_SLOPE * there.distance <= before.distance
    )


def _by_last_hessian(current: Evaluation, progress: Progress) -> tuple[Evaluation, Status | None]:
    """Step by the Hessian of a problem nearby, if one is kept, as long as that serves."""
    status, serves = None, True
    while status is None and serves and not current.smoothing > 0:
        system = current.last_system(current.gradient)
        direction = None if system is None else _solve(system)
        if direction is None:
            break
        trial, n_trials = line_search(current.towards(direction))
        progress.n_evaluations += n_trials
        if trial is None:
            break
        serves = is_gain(current, trial.evaluation)
        current = trial.evaluation
        status = progress.record(current, trial.step)
    return current, status


def _solve(system: NewtonSystem) -> Vector | None:
    hessian, gradient, to_weights = system
    factor = ScaledCholesky.of(hessian)
    if factor is None:
        return None
    step = factor.solve(-gradient)
    return to_weights(step) if step @ gradient < 0 else None
