"""Newton's method where the penalty has kinks and bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .first_width import with_first_width
from .line_search import line_search
from .newton import is_gain
from .progress import Progress
from .protocols import Evaluation, Line, Objective, Separable, Trial
from .quadratic_of_few_rows import QuadraticOfFewRows
from .result import SolverResult, Status
from .separable_quadratic import SeparableQuadratic
from .smoothing import Continuation

Vector = NDArray[np.float64]

DAMPING = 1e-12  # of the diagonal of the Hessian
ACCURATE = 0.01  # a search
ORDER = 1.5  # of convergence near the optimum, where it is 2, to be on the safe side
FURTHER = 2.0  # bounds than those that hold at the optimum, so that they do not hold weights there


def proximal_newton(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    name: str = "proximal_newton",
) -> SolverResult:
    """Minimise a smooth loss and a penalty that is a sum over the weights, by Newton steps.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing of a loss with kinks, if that is what holds the gap, and step to where
       the minimum is then, if the pairs on the smoothed part stay the same (:eq:`foreseen`),
    2. form the Hessian of the loss; with its gradient and the penalty as it is, it makes a model,
    3. minimise the model: where its minimum has weights at kinks or bounds, they are there exactly
       (`ranksvm.solvers.separable_quadratic`),
    4. search between here and there; a trial costs a sweep over the scores, no pass over X.

    Where the objective knows that its rows are few, no Hessian is formed, and the model is
    minimised by way of its dual (`ranksvm.solvers.quadratic_of_few_rows`).

    That is the proximal Newton method (Lee, Sun and Saunders 2014); precision and passes over X are
    as in `ranksvm.solvers.newton`.

    Parameters
    ----------
    objective : Objective
        With smooth derivatives of its loss.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    name : str, default="proximal_newton"
        What the history calls it.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin(name, objective)
    continuation = Continuation(foresees=True)
    dtype: type[np.floating] = np.float32 if objective.size >= 32 else np.float64
    start = objective.resumed().evaluate(objective.penalty.nearest(w0), dtype)
    current = with_first_width(start, progress.lower_bound)
    status = progress.record(current, 0.0)
    if status is None:
        current, status = _by_last_hessian(objective, current, progress)
    trial: Trial[Evaluation] | None = None
    fall = 1.0  # of the distance, in the last step
    while status is None:
        refined = continuation.refine(current, progress.target, trial)
        foresees = refined is not current and trial is not None
        model = current.foreseen(continuation.ratio) if foresees else refined
        current, before = refined, refined.distance
        end = proximal_step(model, objective.penalty, dtype)
        progress.n_products += 1
        goes_on = current.smoothing + before * fall**ORDER > progress.target
        step = end - current.weights
        line = current.towards(step, dtype if goes_on else None, end=end)
        trial = search(current, line, progress)
        if trial is not None:
            current = settled(trial, end, objective.penalty, progress)
            fall = min(1.0, current.distance / before) if before > 0 else 1.0
            status = progress.record(current, trial.step)
        elif dtype is np.float64 and not foresees:
            status = Status.STALLED
        little = trial is not None and trial.step > 0.5 and current.distance > 0.1 * before
        if trial is None or (little and not foresees):
            dtype = np.float64
    return progress.result(status)


def proximal_step(
    evaluation: Evaluation,
    penalty: Separable,
    dtype: type[np.floating],
    model: Evaluation | None = None,
) -> Vector:
    """Return the weights that minimise the model of the loss, and the penalty.

    The Hessian is that of the evaluation, or of a `model` of it.
    """
    rows = (model or evaluation).few_rows()
    if rows is None:
        return _minimizer(evaluation, penalty, (model or evaluation).hessian_of_loss(dtype))
    within, value = penalty.below(FURTHER * evaluation.value), evaluation.value
    gap = evaluation.absolute_gap / value if value > 0 else 1.0
    return QuadraticOfFewRows(rows, evaluation.weights, within, value, gap).minimizer()


def _minimizer(evaluation: Evaluation, penalty: Separable, hessian: NDArray[np.float64]) -> Vector:
    """Return it for a Hessian that need not be definite: it is damped.

    Nor need the penalty be curved, whose value at the optimum is at most all that is here.
    """
    hessian[np.diag_indices_from(hessian)] *= 1 + DAMPING
    within = penalty.below(FURTHER * evaluation.value)
    weights = evaluation.weights
    return SeparableQuadratic(hessian, evaluation.slope_of_loss, weights, within).minimizer()


def _by_last_hessian(
    objective: Objective, current: Evaluation, progress: Progress
) -> tuple[Evaluation, Status | None]:
    """Step by the Hessian of a problem nearby, if one is kept, as long as that serves."""
    status, serves = None, True
    while status is None and serves and not current.smoothing > 0:
        hessian = current.last_hessian_of_loss()
        if hessian is None:
            break
        end = _minimizer(current, objective.penalty, hessian)
        line = current.towards(end - current.weights, end=end)
        trial = search(current, line, progress)
        if trial is None:
            break
        serves = is_gain(current, trial.evaluation)
        current = trial.evaluation
        status = progress.record(current, trial.step)
    return current, status


def search(
    current: Evaluation, line: Line[Evaluation], progress: Progress
) -> Trial[Evaluation] | None:
    """Search along a step, no further than it leads.

    Where slopes all but jump, a small one may lie far up; then search more accurately.
    """
    most = current.value + current.smoothing
    trial, n_trials = line_search(line, longest=1.0)
    if trial is not None and trial.evaluation.value > most:
        trial, n_more = line_search(line, accuracy=ACCURATE, longest=1.0)
        n_trials += n_more
    progress.n_evaluations += n_trials
    return trial


def settled(
    trial: Trial[Evaluation], end: Vector, penalty: Separable, progress: Progress
) -> Evaluation:
    """Return where a search ended, with the weights that the step takes to kinks and bounds there.

    Unless that takes the value up, where the step was cut short.
    """
    face, there = penalty.face(end, end), trial.evaluation
    settled = np.where((face.low < end) & (end < face.high), there.weights, end)
    if np.array_equal(settled, there.weights):
        return there
    progress.n_evaluations += 1
    at_kinks = there.towards(settled - there.weights, end=settled).trial(1.0).evaluation
    return at_kinks if at_kinks.value <= there.value else there
