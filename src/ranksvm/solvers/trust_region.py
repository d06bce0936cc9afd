"""Newton steps by preconditioned conjugate gradients, as of TRON (Lee and Lin 2014)."""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .conjugate_gradients import conjugate_gradients
from .first_width import with_first_width
from .line_search import line_search
from .progress import Progress
from .protocols import Evaluation, Objective
from .result import TINY, SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]

NEARLY = 0.8  # of the residual: what conjugate gradients leave at most, in the last step
FLAT = 0.3  # of the slope: what a search along a step leaves
SPARE = 0.1  # of the slope: by how much more a step may leave than its model foretells
ALIKE = 0.05  # of a gradient: by how much the next one may differ from a model to be trusted
MOST_PRODUCTS = 500  # in one step


def trust_region(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    max_products: int = MOST_PRODUCTS,
    resumes: bool = False,
) -> SolverResult:
    """Minimise by Newton steps found by conjugate gradients, just accurately enough.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing, if that is what holds the gap, and step to where the minimum is then,
       if the pairs on the smoothed part stay the same (:eq:`foreseen`),
    2. minimise the quadratic model by conjugate gradients, preconditioned by a diagonal, just
       accurately enough,
    3. search along the step; a trial costs a sweep over the scores, no pass over X.

    Where regularisation is weak, the smoothing begins wide, that of a smooth loss once a step had
    to be cut short and nearly all pairs are ranked, and a step from a width that turns out too
    narrow is not taken (`Continuation`).

    Where a step has led to nearly the gradient that its model foretold, the pairs that are active
    hardly change any more, and the next model is followed farther if that takes few products.

    The diagonal counts the penalty twice: where that is all the curvature there is, as for rare
    terms, conjugate gradients would go too far for what the certificate asks.

    The search on the scores takes the place of a region within which steps are trusted: it knows
    the function along the step, kinks of its derivatives included, whereas a radius once shortened
    by these holds up all later steps. But a step that is to bring the gradient down to what is
    asked for is taken as it is where the slope is what the model foretells: it is blended to leave
    little of the gradient, and further along the line the value is less but the gradient longer.

    Parameters
    ----------
    objective : Objective
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    max_products : int, default=500
        Most products with the Hessian in one iteration.
    resumes : bool, default=False
        Whether to go on where a solver gave up on the way from a wide smoothing, not at w0.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin("trust_region", objective)
    continuation = Continuation()
    start = with_first_width(objective.evaluate(w0), progress.lower_bound)
    wide = _begun(continuation, start, progress, resumes)
    current, metric = wide.with_metric() if not w0.any() else (wide, None)
    status = progress.record(current if wide is start else start, 0.0)
    length, ended, error = 1.0, current, 1.0
    norm_at_start = max(float(np.linalg.norm(current.gradient)), TINY)
    while status is None:
        before, refined = current, continuation.refine(current, progress.target)
        if refined is not current and continuation.ends(before, progress):
            status = progress.record(before, 0.0)
            continue
        if metric is None or refined is not current:
            current, metric = refined.with_metric()
        if not current.gradient.any():
            status = Status.STALLED
            break
        norm = float(np.linalg.norm(current.gradient))
        loosest, target = continuation.accuracy, max(progress.target, current.smoothing)
        accuracy = forcing(norm, norm_at_start, target, loosest)
        if current.smoothing > 0:
            accuracy = continuation.accuracy_for(accuracy, norm, refined is not before)
        damped = metric + objective.penalty.curvature(current.weights)
        precondition = partial(_divided, by=damped)
        is_alike = refined is ended and error <= ALIKE
        wanted = min(accuracy, forcing(norm, norm_at_start, target, error) if is_alike else 1.0)
        foreseen = None if refined is before else continuation.foreseen(before, current)
        limits = accuracy, max_products, wanted
        of = (current if foreseen is None else foreseen).rounded()
        model, n_products = conjugate_gradients(of, precondition, *limits)
        progress.n_products += n_products
        if foreseen is not None and not model.leads_down(current.gradient):
            of = current.rounded()
            model, n_products = conjugate_gradients(of, precondition, *limits)
            progress.n_products += n_products
        flat = FLAT
        may_be_last = accuracy * norm <= (1 + SPARE) * enough(target)
        if may_be_last:
            length, flat = 1.0, max(flat, model.flatness(current.gradient) + SPARE)
        line = current.along(model.step, of.near_enough(model.image, progress.target))
        trial, n_trials = line_search(line, first=max(length, 1.0), accuracy=flat)
        progress.n_evaluations += n_trials
        if trial is None:
            status = Status.STALLED
            break
        length = trial.step
        wider = continuation.retreat(current, trial.step, progress.dual_gap)
        if wider is not None:
            current, metric = wider.with_metric()
            continue
        ended, metric = trial.evaluation, None
        if not may_be_last:
            ended, metric = ended.with_metric()
        status = progress.record(ended, trial.step)
        error = model.error(trial.step, current.gradient, ended.gradient)
        current = ended
    progress.on_its_way = continuation.on_its_way(current)
    return progress.result(status)


def _begun(
    continuation: Continuation, start: Evaluation, progress: Progress, resumes: bool
) -> Evaluation:
    """Return where to begin: where another solver left off, or wide, or at the start."""
    left, progress.left_off = progress.left_off, None  # which is not to stay
    if resumes and left is not None:
        return continuation.resumed(cast("Evaluation", left), start)
    return continuation.begun(start, progress.lower_bound)


def forcing(norm: float, norm_at_start: float, target: float, loosest: float = 1.0) -> float:
    """How far conjugate gradients reduce the residual, for the norm of the gradient.

    While the set of active pairs still changes, an accurate step is wasted on a passing model; so
    the accuracy grows with progress, but never beyond what is asked for, which may be next to
    nothing. Short of that, it is `loosest` at most.
    """
    passing = float(np.clip((norm / norm_at_start) ** 0.4, 1e-2, 0.5))
    return max(min(passing, loosest), min(enough(target) / norm, NEARLY))


def enough(target: float) -> float:
    """Return the norm of a gradient that leaves the duality gap below a target."""
    return float(0.9 * (2 * target) ** 0.5)


def _divided(vector: Vector, by: Vector) -> Vector:
    return vector / by
