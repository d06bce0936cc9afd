"""Cutting planes first, as long as they promise to be quicker; and last, where others stand."""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..records import record
from .bundle import bundle
from .cutting_planes import CuttingPlanes
from .patience import FREE, Patience, more_planes
from .planes_at_kinks import planes_at_kinks
from .products_in_turn import DOUBTFUL, PlanesBeside
from .progress import Progress
from .protocols import Evaluation, Objective
from .result import SolverResult, Status
from .trust_region import trust_region
from .turns import (
    AGAIN,
    FAR,
    FAR_OF_PLANES,
    NEAR,
    WEAK,
    WEAK_FOR_MANY,
    SmoothSolver,
    better_start,
    products_if_strong,
    strength,
)

Vector = NDArray[np.float64]

MANY_PLANES = 80  # for which regularisation may be weaker
RATHER_WEAK, LITTLE_LEFT = 2e-3, 0.05  # regularisation, by its strength; of the value at zero
WITH_KINKS = 2.0  # times as many products, at least, of a loss that is smoothed
HALF = 0.5  # of the value: planes that bring it there go on however weak regularisation is
IN_TURN, IN_TURN_IF_WEAK = 2.0, 8.0  # times the products that are said to do, if planes do not
# After how many planes products are tried, if so many more are to come; of how many features, with
# less of which planes are few; and how many products the other solver is worth at least. How many a
# step may take, in the first steps.
SOME_PLANES, MANY_MORE, MANY_FEATURES, MANY_PRODUCTS = 12, 25, 200, 150
FEW_OF_STEP, FIRST_STEPS = 2.2, 5
FREE_AGAIN = 0.05  # of planes that go on, before they have to show that they get on


@record
class PlanesFirst:
    """Cutting planes, as long as they promise to be quicker than another solver.

    Otherwise that takes over (`Patience`), with the lower bound of the planes, which stay, and at
    the best point if that is known to be good for something. Where it comes to a stand, planes go
    on (`planes_last`).

    Where planes promise to be many more, products are tried once: on well-conditioned data a few
    dozen do what takes hundreds of planes, and their first steps tell. If not, planes go on.

    Where nothing tells how long the other one takes, either may mislead. So it has to promise to
    end with about as many `products` as it was said to take, or several times as many where planes
    lead nowhere and there is a `last` solver; without, it goes on to its end there, but for planes
    that are tried beside (`PlanesBeside`). If it does not promise that, planes go on that may
    take three times as long as before, and the other one only after these. Planes lead nowhere
    where regularisation is weak; or rather weak, and they have found that nearly all pairs can be
    ranked, since where the loss may fall to nearly nothing, each plane tells of one corner of a
    wide flat valley. But a few features of a larger scale make regularisation look weaker than it
    is to the others; so where planes may be many, so that a share of them tells for little, they
    begin unless it is weaker still.

    Attributes
    ----------
    work : float
        How many planes cost about as much as the other solver, such as `newton`.
    unless_weak : bool
        Whether to give planes up, if regularisation is weak, at the first one that does not halve
        the value. Weak is below 1.1e-4, or where planes may be 80 or more, 2e-5.
    products : float or None
        How many the other solver is said to take, if that is a guess.
    more_if_weak : bool
        Whether it takes twice what weak regularisation tells (`products_if_strong`), if that is
        more, as where rows are fewer than features, so that little but regularisation tells some
        weights; planes may then take so much longer.
    if_fewer : float
        Whether to give planes up at the first one if so many products would not end
        (`products_if_strong`), where they begin at zero.
    ends_at_once : bool
        As for `Patience`, of planes: as where few rows decide.
    last : callable or None
        What takes over in place of the other solver where either has led nowhere.
    n_products : float
        How many products the other solver is worth, for these to be tried between planes from zero
        (`FewProducts`); 0 not to try them.
    """

    work: float
    unless_weak: bool = False
    products: float | None = None
    more_if_weak: bool = False
    if_fewer: float = np.inf
    ends_at_once: bool = False
    last: SmoothSolver | None = None
    n_products: float = 0.0

    def before(self, other: SmoothSolver, planes: CuttingPlanes | None = None) -> SmoothSolver:
        """Return what minimises unsmoothed, non-negative objectives by planes, then the other.

        These may be smooth. The planes are those that there are already, as for `bundle`.
        """
        return partial(self._minimize, other, planes)

    def _minimize(
        self,
        other: SmoothSolver,
        planes: CuttingPlanes | None,
        objective: Objective,
        w0: Vector,
        progress: Progress,
    ) -> SolverResult:
        planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
        result = self._by_planes(objective, w0, progress, planes)
        if result.status.is_end:
            return result
        start = better_start(result, w0, FAR_OF_PLANES)
        if self.products is None:
            return planes_last(other, objective, start, progress, planes=planes)
        zero, there = (progress.history[k].value for k in (0, -1))
        weak = RATHER_WEAK if there < LITTLE_LEFT * zero else WEAK
        is_weak = self.unless_weak and strength(progress, w0) < weak
        if is_weak and self.last is None:
            beside = PlanesBeside(other, Patience(np.inf), self.work, DOUBTFUL * self.products)
            return planes_last(beside.minimize, objective, start, progress, planes=planes)
        in_turn = IN_TURN_IF_WEAK if is_weak else IN_TURN
        with progress.patient(Patience(in_turn * self.products, of_bounds=is_weak)):
            result = planes_last(other, objective, start, progress, planes=planes)
        if result.status is not Status.GIVEN_UP:
            return result
        with progress.patient(Patience(AGAIN * self.work, free=FREE_AGAIN)):
            result = bundle(objective, result.weights, progress, planes=planes)
        if result.status.is_end:
            return result
        start = better_start(result, w0, FAR_OF_PLANES)
        return planes_last(self.last or other, objective, start, progress, planes=planes)

    def _by_planes(
        self, objective: Objective, w0: Vector, progress: Progress, planes: CuttingPlanes
    ) -> SolverResult:
        """Minimise by planes, and by products once between these, if they turn out to be few."""
        are_worth_it = min(self.n_products / MANY_PRODUCTS, objective.size / MANY_FEATURES) >= 1
        may_try = are_worth_it and not w0.any()
        are_many = False

        def goes_on(progress: Progress) -> bool:
            nonlocal are_many
            if not self._goes_on(w0, progress):
                return False
            are_many = may_try and _are_many(progress)
            return not are_many

        with progress.patient(goes_on):
            result = bundle(objective, w0, progress, planes=planes)
        if result.status.is_end or not are_many:
            return result
        start = better_start(result, w0, FAR_OF_PLANES)
        with progress.patient(FewProducts(self.n_products)):
            result = planes_last(trust_region, objective, start, progress, planes=planes)
        if result.status.is_end:
            return result
        with progress.patient(partial(self._goes_on, w0)):
            return bundle(objective, result.weights, progress, planes=planes)

    def _goes_on(self, w0: Vector, progress: Progress) -> bool:
        """Say whether planes that began at w0 are to go on."""
        limit = WEAK if self.work < MANY_PLANES else WEAK_FOR_MANY
        values = [line.value for line in progress.history[-2:]]
        falls = len(values) == 1 or values[1] <= HALF * values[0]
        is_weak = self.unless_weak and not falls and strength(progress, w0) < limit
        n_products = products_if_strong(progress, w0)
        if is_weak or n_products > self.if_fewer:
            return False
        dearer = 1.0
        if self.more_if_weak and self.products and n_products < np.inf:
            dearer = max(WITH_KINKS * n_products / self.products, 1.0)
        patience = Patience(dearer * self.work, ends_at_once=self.ends_at_once, free=FREE / dearer)
        return patience(progress)


def _are_many(progress: Progress) -> bool:
    """Say whether planes promise to be many more."""
    n_planes = len(progress.own(progress.history)) - 1
    return n_planes >= SOME_PLANES and more_planes(progress) >= MANY_MORE


@record
class FewProducts:
    """Lets products go on while steps take few of them, and later as long as `Patience` does.

    The first few steps of a smoothed loss hardly go anywhere, but each takes about as many products
    as the condition of the Hessian asks for; those that follow take no fewer.

    Attributes
    ----------
    work : float
        What the other solver takes, in products and iterations.
    """

    work: float

    def __call__(self, progress: Progress) -> bool:
        """Say whether products are to go on."""
        lines = progress.own(progress.history)
        n_steps, n_products = len(lines) - 1, lines[-1].n_products - lines[0].n_products
        if n_steps <= FIRST_STEPS:
            return n_products <= FEW_OF_STEP * n_steps
        return Patience(self.work)(progress)


def planes_last(
    first: SmoothSolver,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    planes: CuttingPlanes | None = None,
) -> SolverResult:
    """Minimise by Newton steps on a smoothed risk, and by planes what these leave.

    Close to the optimum a smoothing that is narrow enough may be too narrow for floating point,
    above all where few pairs decide. A few planes at the kinks themselves then do the rest, from
    the best multiple of the weights. Without kinks, they do where steps have led nowhere, as where
    scales of features differ by so much that no equations can be solved: from where these began,
    since of a point far out in a valley each plane tells of next to nothing. That may be where
    others had stalled.

    Parameters
    ----------
    first : callable
        Such as `newton` or `trust_region`.
    objective, w0, progress, planes
        As for `bundle`; the objective is unsmoothed, and may be smooth.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
    if len(planes) > 0:
        progress.lower_bound = max(progress.lower_bound, planes.lower_bound)
    smooth = objective.smoothed()
    is_smooth = smooth is objective
    progress.planes, progress.unsmoothed = planes, None if is_smooth else objective
    before = min(1.0, progress.history[-1].dual_gap) if progress.history else 1.0
    result = first(smooth, w0, progress)
    if result.status is Status.CONVERGED and not is_smooth and progress.latest is not None:
        planes.add(*cast(Evaluation, progress.latest).plane)
    if result.status is not Status.STALLED or not np.isfinite(result.dual_gap):
        return result
    if is_smooth:
        if result.dual_gap < max(FAR * before, NEAR):
            return result
        return bundle(objective, w0, progress, planes=planes, keeps=True)
    return planes_at_kinks(objective, result.weights, progress, planes)
