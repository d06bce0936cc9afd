"""Trust-region Newton with preconditioned conjugate gradients (TRON; Lee and Lin 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .line_search import line_search
from .protocols import Evaluation, Image, Objective
from .result import TINY, Progress, SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]


def trust_region(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    max_products: int = 500,
) -> SolverResult:
    """Minimise by Newton steps found by conjugate gradients inside a trust region.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing of a loss with kinks, if that is what holds the gap,
    2. minimise the quadratic model inside the region by Steihaug's conjugate gradients, with the
       diagonal of the Hessian as preconditioner, just accurately enough,
    3. search along the step; a trial costs a sweep over the scores, no pass over X,
    4. set the radius from the length of the step that the search accepted: where the model was too
       hopeful the region shrinks to it, where the region was in the way it grows beyond it.

    Since the search replaces the rejection of steps, every iteration makes progress.

    Parameters
    ----------
    objective : Objective
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    max_products : int, default=500
        Most products with the Hessian in one iteration.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin("trust_region", objective)
    continuation = Continuation()
    current = continuation.start(objective.evaluate(w0), progress.lower_bound)
    current, metric = current.with_metric()
    status = progress.record(current, 0.0)
    radius = np.inf
    norm_at_start = max(float(np.linalg.norm(current.gradient)), TINY)
    while status is None:
        refined = continuation.refine(current, progress.target)
        if refined is not current:
            current, metric = refined.with_metric()
            radius = np.inf
        if not current.gradient.any():
            status = Status.STALLED
            break
        norm = float(np.linalg.norm(current.gradient))
        accuracy = forcing(norm, norm_at_start, max(progress.target, current.smoothing))
        model = _steihaug(current, metric, radius, accuracy, max_products)
        progress.n_products += model.n_products
        trial, n_trials = line_search(current.along(model.step, model.image))
        progress.n_evaluations += n_trials
        if trial is None:
            status = Status.STALLED
            break
        if trial.step < 0.5 or model.at_boundary:
            radius = (4 if model.at_boundary else 2) * trial.step * model.length
        current, metric = trial.evaluation.with_metric()
        status = progress.record(current, trial.step)
    return progress.result(status)


def forcing(norm: float, norm_at_start: float, target: float) -> float:
    """How far conjugate gradients reduce the residual, for the norm of the gradient.

    While the set of active pairs still changes, an accurate step is wasted on a passing model; so
    the accuracy grows with progress, but never beyond what is asked for.
    """
    enough = 0.9 * np.sqrt(2 * target)
    return float(np.clip(max(enough / norm, (norm / norm_at_start) ** 0.3), 1e-2, 0.3))


@dataclass(frozen=True)
class ModelStep:
    """A step for the quadratic model, its image, and its length in the preconditioner's norm."""

    step: Vector
    image: Image
    length: float
    at_boundary: bool
    n_products: int


def _steihaug(
    current: Evaluation, metric: Vector, radius: float, accuracy: float, max_products: int
) -> ModelStep:
    """Minimise the model ``g'p + 0.5 p'Hp`` within ``|p| <= radius`` by conjugate gradients.

    Norms are those of the preconditioner, ``|p|^2 = p' diag(metric) p``. The images of the
    directions are carried along, so that the step's own image needs no further pass over X.
    """
    gradient = current.gradient
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = residual / metric
    energy = float(residual @ direction)
    goal = accuracy**2 * float(gradient @ gradient)
    image: Image | None = None
    n_products = 0
    at_boundary = False
    while image is None or (n_products < max_products and not at_boundary):
        n_products += 1
        moved = current.image(direction)
        product = current.hessian_product(direction, moved)
        curvature = float(direction @ product)
        if not curvature > 0:  # beyond floating point
            image = 0.0 * moved if image is None else image
            break
        alpha = energy / curvature
        to_boundary = _distance(step, direction, metric, radius)
        at_boundary = alpha >= to_boundary
        alpha = min(alpha, to_boundary)
        step += alpha * direction
        image = alpha * moved if image is None else image + alpha * moved
        residual -= alpha * product
        if float(residual @ residual) <= goal:
            break
        scaled = residual / metric
        energy, previous = float(residual @ scaled), energy
        direction = scaled + (energy / previous) * direction
    length = float(np.sqrt(step @ (metric * step)))
    return ModelStep(step, image, length, at_boundary, n_products)


def _distance(step: Vector, direction: Vector, metric: Vector, radius: float) -> float:
    """Return the t >= 0 at which ``|step + t direction| = radius``."""
    if not np.isfinite(radius):
        return np.inf
    a = float(direction @ (metric * direction))
    b = float(step @ (metric * direction))
    c = float(step @ (metric * step)) - radius**2
    return float((-b + np.sqrt(max(b * b - a * c, 0.0))) / a)
