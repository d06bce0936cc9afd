"""Planes first, and Newton steps where planes do not get on."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .bundle import bundle
from .cutting_planes import CuttingPlanes
from .protocols import Evaluation, Objective
from .result import Progress, SolverResult, Status

SmoothSolver: TypeAlias = Callable[[Objective, NDArray[np.float64], Progress], SolverResult]

LOOK_BACK = 10
LEAST_PLANES = 20


def planes_first(
    fallback: SmoothSolver,
    n_planes: int,
    objective: Objective,
    w0: NDArray[np.float64],
    progress: Progress | None = None,
    *,
    planes: CuttingPlanes | None = None,
) -> SolverResult:
    """Minimise by cutting planes as long as they promise to be quicker than another solver.

    On well-scaled data, planes with a line search are hard to beat; on others they hardly move. So
    planes begin, and have to show that they will end within about as much work as the other solver
    takes:

    - after a fifth of that work their bound must be a thousandth of the value,
    - beyond that work, what the latest planes gained must, if it goes on so, lead to the end before
      it is twice that work.

    Otherwise the other solver takes over, at the best point so far and with the lower bound of the
    planes, which stay; where it comes to a stand, planes go on (`planes_last`). The work is thus at
    most about twice that of the better of the two.

    Parameters
    ----------
    fallback : callable
        Such as `newton` or `trust_region`.
    n_planes : int
        How many planes cost about as much as the fallback.
    objective : Objective
        With an unsmoothed, non-negative risk.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
    planes : CuttingPlanes, optional
        As for `bundle`.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    gave_up = False

    def patience(progress: Progress) -> bool:
        nonlocal gave_up
        gave_up = not _promising(progress, n_planes)
        return not gave_up

    planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
    result = bundle(objective, w0, progress, planes=planes, patience=patience)
    if not gave_up and result.status is not Status.STALLED:
        return result
    return planes_last(fallback, objective, result.weights, progress, planes=planes)


def planes_last(
    first: SmoothSolver,
    objective: Objective,
    w0: NDArray[np.float64],
    progress: Progress | None = None,
    *,
    planes: CuttingPlanes | None = None,
) -> SolverResult:
    """Minimise by Newton steps on a smoothed risk, and by planes what these leave.

    Close to the optimum a smoothing that is narrow enough may be too narrow for floating point,
    above all where few pairs decide. A few planes at the kinks themselves then do the rest.

    Parameters
    ----------
    first : callable
        Such as `newton` or `trust_region`.
    objective, w0, progress, planes
        As for `planes_first`.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
    if len(planes) > 0:
        progress.lower_bound = max(progress.lower_bound, planes.lower_bound)
    result = first(objective.smoothed(), w0, progress)
    if result.status is Status.CONVERGED and progress.best is not None:
        planes.add(*cast(Evaluation, progress.best).plane)
    if result.status is not Status.STALLED or not np.isfinite(result.dual_gap):
        return result
    return bundle(objective, result.weights, progress, planes=planes)


def _promising(progress: Progress, n_planes: int) -> bool:
    history = progress.history
    done = len(history) - progress.first
    if done <= max(LEAST_PLANES, n_planes // 5):
        return True
    if progress.lower_bound < 1e-3 * history[-1].value:
        return False
    if done <= max(LEAST_PLANES, n_planes):
        return True
    last, before = history[-1], history[-1 - LOOK_BACK]
    gap, wanted = last.dual_gap * last.value, progress.target
    gain = log(before.dual_gap * before.value / gap) if gap > 0 else 0.0
    if gain <= 0 or wanted <= 0:
        return False
    return done + log(gap / wanted) / gain * LOOK_BACK <= 2 * n_planes
