"""Newton's method by products with the Hessian, where the penalty has kinks and bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .first_width import with_first_width
from .products_on_faces import ProductsOnFaces
from .progress import Progress
from .protocols import Objective
from .proximal_newton import FURTHER, search, settled
from .result import TINY, SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]

# A model is minimised as far as the gap asks, and not much further than the last step has come.
ENOUGH, MOST, POWER = 3.0, 0.95, 0.05


def proximal_products(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    max_products: int = 500,
) -> SolverResult:
    """Minimise a smooth loss and a penalty that is a sum over the weights, by products alone.

    The steps are those of `ranksvm.solvers.proximal_newton.proximal_newton`, from models that are
    minimised just accurately enough (`ranksvm.solvers.products_on_faces`).

    Parameters
    ----------
    objective : Objective
        With smooth derivatives of its loss.
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
    progress.begin("proximal_products", objective)
    penalty, continuation = objective.penalty, Continuation()
    start = objective.resumed().evaluate(penalty.nearest(w0))
    current, metric = with_first_width(start, progress.lower_bound).with_metric()
    status = progress.record(current, 0.0)
    norm_at_start, pace = TINY, 1.0
    while status is None:
        refined = continuation.refine(current, progress.target)
        if refined is not current:
            current, metric = refined.with_metric()
        within = penalty.below(FURTHER * current.value)
        model = ProductsOnFaces(current, within, metric, max_products, pace)
        norm = model.residual()
        norm_at_start = max(norm_at_start, norm)
        accuracy = _forcing(norm / norm_at_start, current.absolute_gap, progress.target)
        way = model.minimize(accuracy * norm)
        progress.n_products += model.n_products
        pace = model.pace
        trial = None
        if way is not None:
            line = current.along(way.end - current.weights, way.image, end=way.end)
            trial = search(current, line, progress)
        if trial is None or way is None:
            status = Status.STALLED
            break
        current, metric = settled(trial, way.end, penalty, progress).with_metric()
        status = progress.record(current, trial.step)
    return progress.result(status)


def _forcing(progress: float, gap: float, target: float) -> float:
    """Return how far a model is minimised: by how much its residual is to fall.

    `progress` is what is left of the residual since the start. A gap goes with its square.
    """
    enough = ENOUGH * (target / gap) ** 0.5 if gap > 0 else 1.0
    return float(np.clip(max(enough, progress**POWER), 1e-2, MOST))
