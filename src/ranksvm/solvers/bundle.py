"""Cutting planes: the bundle method for risks with kinks, with a line search or without."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cutting_planes import CuttingPlanes
from .line_search import search_kink
from .progress import Progress
from .protocols import Objective
from .result import SolverResult, Status

Vector = NDArray[np.float64]


def bundle(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    line_search: bool = True,
    planes: CuttingPlanes | None = None,
    keeps: bool = False,
) -> SolverResult:
    """Minimise ``0.5 |w|^2 + R(w)`` by cutting planes.

    While the gap between the best value and the minimum of the model exceeds what is asked for:

    1. find the minimiser w_t of the model (a small quadratic programme, :eq:`model-dual`),
    2. search from the best point w_b towards w_t for the least value; a trial costs a sweep over
       the scores, no pass over X,
    3. add the plane at the last point met beyond the minimum: close to the best point, but where
       the risk rises towards w_t, so that the plane cuts w_t off.

    Step 2 and the choice in step 3 are the idea of OCAS (Franc and Sonnenburg 2009). Without the
    line search this is the method of Joachims (2006), Teo et al. (2010) and TreeRSVM (Airola et al.
    2011, algorithm 2): the plane is taken at w_t itself.

    Parameters
    ----------
    objective : Objective
        With an unsmoothed, non-negative risk.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    line_search : bool, default=True
    planes : CuttingPlanes, optional
        Planes known to lie below the risk; new ones are added to them.
    keeps : bool, default=False
        Whether the best point so far, of another solver, is kept if none is better.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin("bundle" if line_search else "cutting_planes", objective, keeps=keeps)
    if planes is None:
        planes = CuttingPlanes(objective.size, objective.n_threads)
    best = objective.evaluate(w0)
    planes.add(*best.plane)
    status = progress.record(best, 0.0, planes.lower_bound)
    first_step = 1.0
    while status is None:
        line = best.along(planes.minimizer - best.weights)
        step = 0.0
        if line_search:
            gap = best.value - progress.lower_bound
            lowest, beyond, n_trials = search_kink(line, best.value, gap, first_step)
            progress.n_evaluations += n_trials
        else:
            lowest = beyond = line.trial(1.0)
            progress.n_evaluations += 1
        if lowest is not None and lowest.evaluation.value < best.value:
            best, step = lowest.evaluation, lowest.step
        # At w_t itself the plane always is a new one.
        first_step = min(step, 1.0) if step > 0 else 1.0
        plane = beyond.evaluation.plane
        if not plane.is_finite:
            return progress.result(Status.STALLED)
        planes.add(*plane)
        del line, lowest, beyond  # each has scores for all rows
        status = progress.record(best, step, planes.lower_bound)
    return progress.result(status)
