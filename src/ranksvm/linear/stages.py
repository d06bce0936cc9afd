"""What may go before a solver: products, passes in the dual, a sample, interior points.

Each knows what the others cost in its own work, and so how long it is worth going on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..records import record
from ..solvers import (
    Objective,
    ProductsFirst,
    Progress,
    SolverResult,
    Status,
    bundle,
    samples_first,
)
from ..solvers.patience import LINEAR, Patience
from ..solvers.turns import (
    FAR_OF_PLANES,
    FINE,
    IDLE,
    NEAR,
    NEXT_TO_NOTHING,
    SmoothSolver,
    better_start,
    gets_nearer,
    strength,
)
from .objective import LinearObjective

Vector = NDArray[np.float64]

BEHIND = 0.5  # of the bound known before, that passes in the dual have to reach at once
FREE_PASSES = 100.0  # in the dual, as many as mostly do, before these have to promise an end
FEW_STEPS = 2.0  # of Newton's method, that are as many from weights to start from
LEAST_STEPS, WORK_OF_STEP = 6, 2.0  # of these, before they may be given up
LONGER = 2.0  # times what interior points are said to cost, where Newton steps are given up
SETTLED = 1e-3  # of the value: few steps near the end change it by more
MOST_STEPS = 60.0  # of interior points


@record
class Where:
    """Where products go first.

    Attributes
    ----------
    always : bool
        Wherever regularisation is not known to be weak.
    if_weak : bool
        Where it is, but for next to none.
    from_zero : bool
        From zero, where it is not. The other solver begins at zero all the same.
    weak : float
        The strength below which it is weak: twice the first bound, as a part of the value at zero.
    """

    always: bool = False
    if_weak: bool = False
    from_zero: bool = False
    weak: float = 0.0

    def is_here(self, progress: Progress, w0: Vector) -> bool:
        """Say whether they do from these weights, as far as regularisation tells already."""
        share = strength(progress, w0)
        if share < self.weak:
            return self.if_weak and share > NEXT_TO_NOTHING
        return self.always or (self.from_zero and not w0.any())


@record
class DescentFirst:
    """Descent by the slopes of pairs, in the dual, after products that promise to be quicker.

    Its bound rises quickly where it serves. So it is given up at once if that is not half of what
    products, or planes, have found already.

    Attributes
    ----------
    n_passes : float
        In how many it has to promise to end.
    n_products : float
        How many cost as much as it mostly does.
    """

    n_passes: float
    n_products: float

    def before(self, other: SmoothSolver) -> SmoothSolver:
        """Return what minimises by it, and where it leads too far, by another solver."""
        return ProductsFirst(self.n_products).before(partial(self._minimize, other))

    def _minimize(
        self, other: SmoothSolver, objective: Objective, w0: Vector, progress: Progress
    ) -> SolverResult:
        from .dual_descent import dual_descent  # which few problems need

        known = max(progress.lower_bound, 0.0)
        with progress.patient(partial(self._goes_on, known)):
            result = dual_descent(objective, w0, progress)
        if result.status.is_end:
            return result
        has_kinks = progress.unsmoothed is not None
        start = w0 if has_kinks else better_start(result, w0, FAR_OF_PLANES)
        return other(objective, start, progress)

    def _goes_on(self, known: float, progress: Progress) -> bool:
        """Say whether passes are to go on, where such a bound was known before."""
        lines, point = progress.own(progress.history), progress.latest
        have_begun = lines[-1].n_products > lines[0].n_products
        if have_begun and point is not None and point.lower_bound < BEHIND * known:
            return False
        patience = Patience(self.n_passes, free=FREE_PASSES / self.n_passes, pace=LINEAR)
        return patience(progress)


@record
class SampleFirst:
    """Steps by the Hessian of a sample.

    Attributes
    ----------
    n_products : float
        How many they are worth: these go before them from zero, as long as they promise to be
        quicker.
    step : float
        How many a step by the Hessian of all rows is worth: a step by the sample has no more to
        correct it.
    n_planes : float
        How many planes of the hinge cost as much as the optimum of the sample: so few go before it.
    """

    n_products: float = 0.0
    step: float = np.inf
    n_planes: float = np.inf

    def before(self, other: SmoothSolver) -> SmoothSolver:
        """Return what minimises by them, and where they do not serve, by another solver."""
        return partial(self._minimize, other)

    def _minimize(
        self, other: SmoothSolver, objective: Objective, w0: Vector, progress: Progress
    ) -> SolverResult:
        solver: SmoothSolver = partial(
            samples_first, other, most_products=self.step, n_planes=self.n_planes
        )
        if self.n_products > 0 and not w0.any():
            solver = ProductsFirst(self.n_products).before(solver)
        return solver(objective, w0, progress)


@record
class InteriorLast:
    """Newton steps for the squared hinge, and interior points where these lead too far.

    Where rows can nearly be ranked without fault, few pairs are active, and others with each step:
    dozens of Newton steps change one small set for another, each of them cut short. Interior points
    weigh all pairs, so that they hardly know the difference. Near the end, Newton steps go on pair
    by pair. Planes add up, whatever pairs are active, and where these are few they end all at once;
    nor do scales of features hold them up for long. So where many of them cost as much as interior
    points, they go before these.

    Attributes
    ----------
    n_steps : float
        How many of Newton's steps interior points are worth: these are given up where they promise
        no end by then.
    is_first : bool
        Whether there are none of these, unless there are weights to start from and interior points
        cost more than two.
    n_planes : float
        How many planes interior points are worth, if some are to go on before them.
    """

    n_steps: float
    is_first: bool = False
    n_planes: float = 0.0

    def minimize(
        self, steps: SmoothSolver, objective: Objective, w0: Vector, progress: Progress
    ) -> SolverResult:
        """Minimise a loss whose pairs may be listed; it may come to a stand.

        Parameters
        ----------
        steps : callable
            That takes Newton steps.
        objective : LinearObjective
        w0, progress
            As for `ranksvm.solvers.newton`.
        """
        from .composed_solvers import knowing_rows, pair_by_pair  # which few problems need
        from .interior_point import interior_point  # likewise

        assert isinstance(objective, LinearObjective)
        if self.takes_steps(w0):
            with progress.patient(partial(self._goes_on, Patience(WORK_OF_STEP * self.n_steps))):
                result = steps(objective, w0, progress)
            if result.status.is_end:
                return result
            if FINE < result.dual_gap <= NEAR and isinstance(objective.loss.pairs, CorePairs):
                stalled = replace(result, status=Status.STALLED)
                return pair_by_pair(steps, objective, stalled, progress)
            w0 = result.weights
            if self.n_planes > 0:
                with progress.patient(Patience(LONGER * self.n_planes, ends_at_once=True)):
                    result = bundle(objective, w0, progress, planes=progress.planes)
                if result.status.is_end:
                    return result
                w0 = result.weights
        return interior_point(knowing_rows(objective), w0, progress, max_steps=MOST_STEPS)

    def takes_steps(self, w0: Vector) -> bool:
        """Say whether Newton steps go first from these weights."""
        return not self.is_first or (self.n_steps > FEW_STEPS and bool(w0.any()))

    def _goes_on(self, patience: Patience, progress: Progress) -> bool:
        """Say whether Newton steps are to go on."""
        n_done = len(progress.history) - progress.first - 1
        if n_done < LEAST_STEPS or _settles(progress):
            return True
        return patience(progress) and gets_nearer(progress)


def _settles(progress: Progress) -> bool:
    """Say whether whole steps hardly change the value since a few, as before the last of them.

    The gap tells of that end hardly sooner than it comes, where C is large.
    """
    lines = progress.history[progress.first :]
    n_settled = 0
    for before, there in zip(lines[-2::-1], lines[:0:-1], strict=True):
        if there.step < 1.0 or before.value - there.value > SETTLED * abs(there.value):
            break
        n_settled += 1
    return 0 < n_settled <= IDLE
