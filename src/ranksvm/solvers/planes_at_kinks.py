"""A few planes at the kinks themselves, for what steps on a smoothed risk have left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bundle import bundle
from .cutting_planes import CuttingPlanes
from .line_search import search_kink
from .progress import Progress
from .protocols import Objective
from .result import SolverResult

Vector = NDArray[np.float64]


def planes_at_kinks(
    objective: Objective, w0: Vector, progress: Progress, planes: CuttingPlanes | None = None
) -> SolverResult:
    """Minimise an unsmoothed objective by planes, from the best multiple of weights.

    Where all pairs can be ranked, those that matter lie on the margin at the optimum, and a little
    short of it where they were smoothed: all by the same part, if so little that planes hardly tell
    one pair from another. So weights are stretched first, if a larger multiple has less value.

    Parameters
    ----------
    objective, w0, progress, planes
        As for `bundle`.
    """
    here = objective.evaluate(w0)
    line = here.along(w0)
    gap = here.value - progress.lower_bound
    if line.slope < 0 < gap < np.inf:
        lowest, _, n_trials = search_kink(line, here.value, gap, gap / -line.slope)
        progress.n_evaluations += n_trials
        w0 = w0 if lowest is None else lowest.evaluation.weights
    return bundle(objective, w0, progress, planes=planes)
