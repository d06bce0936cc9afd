"""What may go before a solver: products, passes in the dual, a sample, interior points.

Each knows what the others cost in its own work, and so how long it is worth going on.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..records import record
from ..solvers import Objective, ProductsFirst, Progress, SolverResult, samples_first
from ..solvers.patience import LINEAR, Patience
from ..solvers.turns import (
    FAR_OF_PLANES,
    NEXT_TO_NOTHING,
    SmoothSolver,
    better_start,
    strength,
)

Vector = NDArray[np.float64]

FREE_PASSES = 100.0  # in the dual, as many as mostly do, before these have to promise an end
FEW_STEPS = 2.0  # of Newton's method, that are as many from weights to start from


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

        free = FREE_PASSES / self.n_passes
        with progress.patient(Patience(self.n_passes, free=free, pace=LINEAR)):
            result = dual_descent(objective, w0, progress)
        if result.status.is_end:
            return result
        has_kinks = progress.unsmoothed is not None
        start = w0 if has_kinks else better_start(result, w0, FAR_OF_PLANES)
        return other(objective, start, progress)


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
    """Interior points of the squared hinge, where Newton steps promise no end.

    Attributes
    ----------
    n_steps : float
        How many of these they are worth.
    is_first : bool
        Whether they do without any, unless there are weights to start from and they cost more than
        two.
    n_planes : float
        How many planes they are worth, if some are to go on before them.
    """

    n_steps: float
    is_first: bool = False
    n_planes: float = 0.0

    def minimize(
        self, steps: SmoothSolver, objective: Objective, w0: Vector, progress: Progress
    ) -> SolverResult:
        """Minimise by steps of Newton's method, and then by these; they may come to a stand."""
        from .composed_solvers import interior_last  # which few problems need

        saves = not self.is_first or (w0.any() and self.n_steps > FEW_STEPS)
        n_steps = self.n_steps if saves else 0.0
        return interior_last(steps, n_steps, objective, w0, progress, self.n_planes)
