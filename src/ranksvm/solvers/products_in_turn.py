"""Products with the Hessian, and planes beside them, as long as they promise to be quicker."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..records import record
from .bundle import bundle
from .patience import FEWEST, Patience
from .planes_at_kinks import planes_at_kinks
from .progress import Progress
from .protocols import Objective
from .result import SolverResult, Status
from .trust_region import MOST_PRODUCTS, trust_region
from .turns import (
    AGAIN,
    FAR,
    FAR_OF_PLANES,
    WEAK_FOR_MANY,
    SmoothSolver,
    better_start,
    leaves_little,
    strength,
)

Vector = NDArray[np.float64]

IN_ONE_STEP = 0.25  # of the other's work
FALLEN = 0.5  # of the first value, to which products have led Newton steps on their way
# Products that have not led to the end, times those that mostly do, for planes to be tried beside,
# and the share that these have before they have to show that they get on; and how many times as
# many the other solver is to be worth for planes to go on once more before it.
DOUBTFUL, FREE_BESIDE, DEAR = 2.0, 0.45, 6.0
SLOW = (0.25, 0.98), (0.5, 0.8)  # such a share of that has left more than this of the gap
AT_END = 100.0  # planes, that are to promise an end where products have stalled close to it
OF_ALL = 0.75  # of the iterations allowed, that planes leave the rest of to others


@record
class ProductsFirst:
    """Products by `trust_region`, as long as they promise to be quicker than another solver.

    Otherwise that takes over (`Patience`), with the lower bound that has been reached, and at the
    best point if that is known to be good for something; but after planes that begin anew, where a
    smoothed loss has stalled so close to the end that few of them do.

    Planes may go on after products of a smooth loss (`PlanesAfter`), or be tried beside those of a
    smoothed one (`PlanesBeside`).

    Attributes
    ----------
    work : float
        What the other solver, such as `newton`, takes, in products and iterations of
        `trust_region`.
    solves_models : bool
        Whether the other solver takes a few Newton steps. These then go on as soon as a model takes
        as many products as one and a half of them cost; and at the best point, whatever the gap, if
        that has half of the first value at most. Otherwise no products go on after planes.
    planes : float
        How many planes the other solver costs, where these may go on from zero; or of a smoothed
        loss, about half as many as may be tried beside.
    unsure : float
        After how many products of a smoothed loss.
    """

    work: float
    solves_models: bool = False
    planes: float = 0.0
    unsure: float = np.inf

    def before(self, other: SmoothSolver) -> SmoothSolver:
        """Return what minimises objectives with smooth derivatives by products, then the other."""
        return partial(self._minimize, other)

    def _minimize(
        self, other: SmoothSolver, objective: Objective, w0: Vector, progress: Progress
    ) -> SolverResult:
        result = self._by_products(objective, w0, progress)
        if progress.unsmoothed is not None and leaves_little(result, progress):
            with progress.patient(Patience(AT_END)):
                result = planes_at_kinks(progress.unsmoothed, result.weights, progress)
        if result.status.is_end:
            return result
        has_fallen = self.solves_models and result.value <= FALLEN * result.history[0].value
        far = FAR_OF_PLANES if progress.solver == "bundle" else FAR
        start = result.weights if has_fallen else better_start(result, w0, far)
        return other(objective, start, progress)

    def _by_products(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        most = int(np.clip(IN_ONE_STEP * self.work, FEWEST, MOST_PRODUCTS))
        patience = Patience(self.work, most_products=most if self.solves_models else np.inf)
        products = partial(trust_region, max_products=most)
        if self.planes > 0 and self.unsure < np.inf:
            beside = PlanesBeside(products, patience, self.planes, self.unsure)
            return beside.minimize(objective, w0, progress)
        if self.planes > 0 and not w0.any():
            after = PlanesAfter(products, patience, self.planes, resumes=self.solves_models)
            return after.minimize(objective, w0, progress)
        with progress.patient(patience):
            return products(objective, w0, progress)


@record
class PlanesAfter:
    """Products, and where they are given up or have begun a long way, planes from the best point.

    Where the pairs that are active change with every step, each takes as many products as the last,
    while planes add up. So these go on before the other solver does, and before products do on the
    long way from a wide smoothing; unless regularisation is weak. Where they are given up, too,
    products may go on along that way.

    Attributes
    ----------
    products : callable
        What minimises by them.
    patience : Patience
        With these.
    n_planes : float
        How many planes the other solver costs.
    resumes : bool
        Whether products may go on after planes.
    """

    products: partial[SolverResult]
    patience: Patience
    n_planes: float
    resumes: bool

    def minimize(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise by either."""

        def suits_planes() -> bool:
            return strength(progress, w0) >= WEAK_FOR_MANY

        def goes_on(progress: Progress) -> bool:
            is_long = progress.widths[-1] > 1
            return not (is_long and suits_planes()) and self.patience(progress)

        with progress.patient(goes_on):
            result = self.products(objective, w0, progress)
        if result.status.is_end or not suits_planes():
            return result
        left = progress.on_its_way
        with progress.patient(Patience(self.n_planes)):
            result = bundle(objective, result.weights, progress, planes=progress.planes)
        if result.status.is_end or left is None or not self.resumes:
            return result
        progress.on_its_way = left
        with progress.patient(self.patience):
            return self.products(objective, result.weights, progress, resumes=True)


@record
class PlanesBeside:
    """Products of a smoothed loss, and planes where so many of these have not led to the end.

    There may be planes that do in little time what takes thousands of products, as where a few
    features of a large scale make regularisation look weak. So once products are `unsure`, planes
    have about as long beside them, and longer if they promise to end, but half as long if that
    takes less than a fifth off the gap, and a quarter if less than a fiftieth; then products go on
    as if nothing had been. Where these are given up later, planes go on once more if the other
    solver is worth six times as many. All this within three quarters of the iterations allowed.

    Attributes
    ----------
    products : callable
        What minimises by them.
    patience : Patience
        With these.
    n_planes : float
        About half as many as may be tried.
    unsure : float
        After how many products.
    """

    products: SmoothSolver
    patience: Patience
    n_planes: float
    unsure: float

    def minimize(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise by either."""
        tried = None

        def goes_on(progress: Progress) -> bool:
            nonlocal tried
            lines = progress.own(progress.history)
            if tried is None and lines[-1].n_products - lines[0].n_products > self.unsure:
                with progress.aside():
                    tried = self._by_planes(progress)
                if tried.status.is_end:
                    return False
            return self.patience(progress)

        with progress.patient(goes_on):
            result = self.products(objective, w0, progress)
        if tried is None or tried.status.is_end:
            return tried or result
        is_worth_it = self.patience.work >= DEAR * self.unsure
        goes_on_again = result.status is Status.GIVEN_UP and is_worth_it
        return self._by_planes(progress) if goes_on_again else result

    def _by_planes(self, progress: Progress) -> SolverResult:
        kinks = progress.unsmoothed
        assert kinks is not None
        best = progress.result(Status.GIVEN_UP).weights
        with progress.patient(self._get_on):
            return bundle(kinks, best, progress, planes=progress.planes)

    def _get_on(self, progress: Progress) -> bool:
        """Say whether planes get on."""
        of_planes = Patience(AGAIN * self.n_planes, free=FREE_BESIDE)
        gaps = [line.value * line.dual_gap for line in progress.own(progress.history)]
        share = (len(gaps) - 1) / max(of_planes.free * of_planes.work, FEWEST)
        is_slow = any(share >= so_far and gaps[-1] > left * gaps[0] for so_far, left in SLOW)
        is_long = len(progress.history) >= OF_ALL * progress.max_iter
        return not (is_slow or is_long) and of_planes(progress)
