"""Newton steps by the Hessian of a sample, and another solver where these do not serve.

A sample of the data is an objective of its own that is nearly the same. So its optimum, found for a
fraction of the price of one exact step, is close to the one that is sought, and its Hessian ``H_S``
close to H there. Steps ``-H_S^-1 g`` with the exact gradient g leave, of the way to the optimum,
the part (:eq:`sampled-step`)::

    I - H_S^-1 H,

and of the gap the square of that, at the price of an evaluation each; or less, since by how much
the gradient changes with a step tells of H along it (`ranksvm.solvers.secants`). Where that part is
large, ``H_S`` preconditions a few products with H (:eq:`preconditioned`). Value, gradient and
certificate are exact, so that samples decide how soon the optimum is reached, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .bundle import bundle
from .first_width import with_first_width
from .line_search import line_search
from .newton import MOST_PRODUCTS, NewtonMatrix, is_gain, newton
from .patience import Patience
from .progress import Progress
from .protocols import Evaluation, Line, Objective, Separable, Trial
from .result import SolverResult, Status
from .secants import Secants
from .smoothing import Continuation
from .turns import SmoothSolver

Vector = NDArray[np.float64]

SAMPLE_TOL = 1e-3  # the optimum of a sample differs by more from that of all of the data
# Steps, without kinks and with, that bring the gap down by little in a row.
MOST_IDLE = (10, 30)
SHORT, AS_MANY = 0.01, 8  # a step of a loss with kinks that leads nowhere; it counts so many times
FEW_PLANES = 8  # of a sample, to be tried on all rows
NOTHING_LEARNT, ALL_RANKED = 0.95, 0.01  # of the value at zero, that is left at its optimum
MOST_OF_SAMPLE = 70  # steps to its optimum, with more of which it is no easier than all rows
HARDLY = 0.99  # of the gap: where that is left, without kinks, a step counts twice

Step: TypeAlias = Callable[[Evaluation, Progress], "Trial[Evaluation] | None"]


def samples_first(
    fallback: SmoothSolver,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    most_products: float = np.inf,
    n_planes: float = np.inf,
) -> SolverResult:
    """Minimise by Newton steps of a sample as long as they serve, and then by another solver.

    Where the penalty has kinks or bounds, these are proximal Newton steps.

    1. Minimise by planes, if a few of them do on the sample, from zero; as long as they promise to.
       They may be eight where the sample's value at its optimum is nearly that at zero, as of noise
       (another sample's optimum is as far from that of all rows as zero is), or next to nothing, so
       that planes end all at once; and else as many as its optimum is worth.
    2. Step by the Hessian of the sample at the present weights, with a line search, from `w0`,
       unless that is zero.
    3. Where a step does not bring the gap down well, step by conjugate gradients with the Hessian
       of all rows, preconditioned by that of the sample.
    4. Where that does not serve, or there was no step, minimise on the sample, and step from there.
    5. Where that does not serve either, or takes as many steps as if the sample were no easier than
       all rows, the fallback takes over, at the best point so far and with the lower bound that has
       been reached.

    Parameters
    ----------
    fallback : callable
        Such as `newton`; the solver, too, if the objective has no sample.
    objective : Objective
        With smooth derivatives.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
    most_products : float, default=inf
        Of a step, as many as one of the fallback costs; 20 at most, whatever that is.
    n_planes : float, default=inf
        How many planes cost as much as the optimum of the sample.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    if objective.sampled is None:
        return fallback(objective, w0, progress)
    by_planes = _few_planes(w0, progress, n_planes)
    if by_planes is not None:
        return by_planes
    progress.begin("samples", objective)
    steps = partial(_steps, objective.penalty, int(min(most_products, MOST_PRODUCTS)))
    continuation, status = Continuation(), None
    if w0.any():
        resumed, bound = objective.resumed(), progress.lower_bound
        start = with_first_width(resumed.evaluate(objective.penalty.nearest(w0)), bound)
        status = steps(start, continuation, progress)
    if status is None:
        optimum = _optimum_of_sample(objective, w0, progress)
        status = steps(optimum, continuation, progress)
    if status not in (None, Status.STALLED):
        return progress.result(status)
    return fallback(objective, w0 if progress.best is None else progress.best.weights, progress)


def _steps(
    penalty: Separable,
    most_products: int,
    current: Evaluation | None,
    continuation: Continuation,
    progress: Progress,
) -> Status | None:
    """Step from here as long as that serves; return a status if this is the end.

    Nobody else holds on to the first evaluation, and its scores, once they are behind.
    """
    status = None if current is None else progress.record(current, 0.0)
    trial: Trial[Evaluation] | None = None
    secants = Secants()
    by_sample = partial(_step, secants)
    corrected = partial(_corrected_step, most_products)
    step: Step = by_sample if penalty.is_smooth else partial(_proximal_step, penalty)
    n_idle = 0
    while status is None and current is not None and n_idle <= MOST_IDLE[current.has_kinks]:
        before = continuation.refine(current, progress.target, trial)
        if before is not current:
            secants.forget()
        trial = step(before, progress)
        current = None
        if trial is None:
            break
        current = trial.evaluation
        if step is by_sample:
            secants.add(before, current)
        status = progress.record(trial.evaluation, trial.step)
        is_end = current.smoothing <= progress.target and current.distance <= progress.target / 100
        if status is None and is_end:  # at this width, but for rounding
            current = continuation.beyond(current)
        idle = _idle(before, trial)
        n_idle = n_idle + idle if idle > 0 else 0
        if n_idle > 0 and step is by_sample:
            step = corrected
        elif n_idle > 0 and step is not corrected:
            break
    return status


def _idle(before: Evaluation, trial: Trial[Evaluation]) -> int:
    """Return how much a step counts that brings the gap down by little; 0 of others."""
    there = trial.evaluation
    if is_gain(before, there):
        return 0
    if before.has_kinks:
        return AS_MANY if trial.step < SHORT else 1
    return 2 if there.absolute_gap > HARDLY * before.absolute_gap else 1


def _few_planes(w0: Vector, progress: Progress, n_planes: float) -> SolverResult | None:
    """Minimise by planes, if few of them do on the sample; None where they do not."""
    kinks = progress.unsmoothed
    sampled = None if kinks is None or w0.any() else kinks.sampled
    if kinks is None or sampled is None:
        return None
    asked = {name: getattr(progress, name) for name in ("tol", "epsilon", "share", "at_rest")}
    of_sample = bundle(sampled, w0, Progress(**asked, max_iter=FEW_PLANES))
    left = of_sample.value / of_sample.history[0].value
    are_few = of_sample.n_iter <= n_planes or not ALL_RANKED < left < NOTHING_LEARNT
    if of_sample.status is not Status.CONVERGED or not are_few:
        return None
    patience = Patience(FEW_PLANES)

    def goes_on(progress: Progress) -> bool:
        return len(progress.own(progress.history)) <= len(of_sample.history) or patience(progress)

    with progress.patient(goes_on):
        result = bundle(kinks, w0, progress, planes=progress.planes)
    return result if result.status.is_end else None


def _optimum_of_sample(objective: Objective, w0: Vector, progress: Progress) -> Evaluation | None:
    """Return the objective at the optimum of the sample, smoothed as widely.

    None if that fails or takes long, or is no better than the best so far.
    """
    sampled = objective.sampled
    assert sampled is not None
    tol, max_iter = max(progress.tol, SAMPLE_TOL), min(max(progress.max_iter, 1), MOST_OF_SAMPLE)
    of_sample = Progress(tol, progress.epsilon, max_iter)
    start = w0 if progress.best is None else progress.best.weights
    solver: SmoothSolver = newton
    if not objective.penalty.is_smooth:
        from .proximal_newton import proximal_newton as solver  # which few penalties need

    result = solver(sampled, start, of_sample)
    is_long = result.status is Status.MAX_ITER and max_iter < progress.max_iter
    if is_long or of_sample.best is None or not np.isfinite(result.weights).all():
        return None
    progress.n_evaluations += bool(progress.history)
    there = objective.narrowed(of_sample.best.width).evaluate(result.weights)
    is_best = progress.best is None or there.value < progress.best.value
    return there if is_best and np.isfinite(there.absolute_gap) else None


def _step(secants: Secants, current: Evaluation, progress: Progress) -> Trial[Evaluation] | None:
    """Step from here by the Hessian of the sample; None if it leads nowhere."""
    progress.n_products += 1
    sampled = current.sampled
    matrix = None if sampled is None else _factorised(sampled)
    if matrix is None:
        return None
    direction = -secants.solve(matrix.solve, current.gradient)
    leads_down = direction @ current.gradient < 0
    return _searched(current.along(direction), progress) if leads_down else None


def _corrected_step(
    most_products: int, current: Evaluation, progress: Progress
) -> Trial[Evaluation] | None:
    """Likewise by products with the Hessian of all, preconditioned by that of a sample for here.

    None as well where many products leave much of the slope.
    """
    progress.n_products += 1
    sampled = current.resampled()
    matrix = None if sampled is None else _factorised(sampled)
    if matrix is None:
        return None
    model, n_products = matrix.by_products(current, most_products)
    progress.n_products += n_products
    if n_products >= most_products:
        return None
    return _searched(current.along(model.step, model.image), progress)


def _factorised(sampled: Evaluation) -> NewtonMatrix | None:
    """Return the Hessian, in single precision if that will do."""
    for dtype in (np.float32, np.float64):
        if (matrix := NewtonMatrix.of(sampled.newton_system(dtype))) is not None:
            return matrix
    return None


def _proximal_step(
    penalty: Separable, current: Evaluation, progress: Progress
) -> Trial[Evaluation] | None:
    """Likewise where the penalty has kinks or bounds."""
    from .proximal_newton import proximal_step, search  # which few penalties need

    progress.n_products += 1
    end = proximal_step(current, penalty, np.float64, current.sampled)
    return search(current, current.along(end - current.weights, end=end), progress)


def _searched(line: Line[Evaluation], progress: Progress) -> Trial[Evaluation] | None:
    trial, n_trials = line_search(line)
    progress.n_evaluations += n_trials
    return trial
