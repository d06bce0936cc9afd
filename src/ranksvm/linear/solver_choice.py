"""A solver by its name, what goes before it, and what takes over where it comes to a stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..records import record
from ..solvers import (
    CuttingPlanes,
    Objective,
    Progress,
    SolverResult,
    Status,
    bundle,
    newton,
    planes_first,
    planes_last,
    products_first,
    samples_first,
    trust_region,
)
from ..solvers.patience import LINEAR, Patience
from ..solvers.turns import (
    FAR_OF_PLANES,
    NEXT_TO_NOTHING,
    WEAK,
    SmoothSolver,
    better_start,
    strength,
)
from .matrix import Matrix
from .row_space import RowSpace, lists_pairs

Vector = NDArray[np.float64]

MOST_FEATURES, TINY_HESSIAN = 8192, 64
FEW_PRODUCTS = 35
NOT_STRONG = 3e-2  # regularisation, for products of the hinge before Newton steps by features
WARM = 1 / 3  # of the work of Newton steps, from a warm start
WARM_SMOOTHED = 1 / 12  # likewise, of smoothed ones by the Hessian of all features
FEW_STEPS = 2.0  # of Newton's method, that are as many from weights to start from
FREE_PASSES = 100.0  # in the dual, as many as mostly do, before these have to promise an end

SMOOTH_SOLVERS: dict[str, SmoothSolver] = {"newton": newton, "trust_region": trust_region}
PLANES = ("bundle", "cutting_planes")


@record
class SolverChoice:
    """A solver by its name, and what goes before it.

    Attributes
    ----------
    name : str
    kinks : bool
        Whether the loss has kinks.
    n_planes, n_products : float
        How much work of planes, or of products with the Hessian, the solver is worth: where these
        go first, they do as long as they promise to be quicker. Planes do not where that is 0, nor
        without kinks unless regularisation is so strong that few products would do. It is a guess
        of products where the solver is `trust_region`.
    products_first, if_weak, from_zero : bool
        Whether products go first: whatever the regularisation; or, for the hinge, where it is weak,
        before Newton steps by features below 0.03; or from zero alone. But where there is next to
        none, they do not.
    planes_after : float
        Likewise of planes that may go on after products of a smooth loss, and after Newton steps
        that are given up.
    unsure : float
        After how many products of the hinge planes are tried beside, before a solver that is worth
        far more of these.
    unless_weak : bool
        Whether planes do not go first where regularisation is weak.
    more_if_weak : bool
        Whether there may be the more planes the weaker it is, since products are: as where rows are
        fewer than features, so that little but regularisation tells some weights.
    ends_at_once : bool
        Whether planes are likely to end all at once, as where few rows decide.
    blocks_last : bool
        Whether interior points by blocks of pairs go on where planes and products lead nowhere.
    n_passes, before_descent : float
        In how many passes descent by the slopes of pairs has to promise to end, which goes before
        all but planes; and how many products may go before that, as long as they promise to be
        quicker.
    n_steps : float
        How many Newton steps interior points of the squared hinge are worth, which take over where
        these promise no end by then; inf where there are none.
    interior_first : bool
        Whether these do without any Newton step, unless there are weights to start from and they
        cost more than two.
    samples : bool
        Whether a sample goes first.
    before_sample : float
        How many products steps by the sample are worth: these go before it from zero, as long as
        they promise to be quicker.
    step_in_products : float
        How many products a step by the Hessian of all rows is worth: a step by the sample has no
        more to correct it.
    is_proximal : bool
        Whether the penalty has kinks or bounds.
    """

    name: str
    kinks: bool
    n_planes: float = 0.0
    n_products: float = 0.0
    products_first: bool = False
    if_weak: bool = False
    from_zero: bool = False
    planes_after: float = 0.0
    unsure: float = np.inf
    unless_weak: bool = False
    more_if_weak: bool = False
    ends_at_once: bool = False
    blocks_last: bool = False
    n_passes: float = 0.0
    before_descent: float = 0.0
    n_steps: float = np.inf
    interior_first: bool = False
    samples: bool = False
    before_sample: float = 0.0
    step_in_products: float = np.inf
    is_proximal: bool = False

    def rows(
        self, X: Matrix, n_threads: int, preferences: AnyPreferences | None = None
    ) -> RowSpace | None:
        """Return the row space, where the objective is to know it.

        Rows may be many where interior points go by the features. Within conditions, Newton steps
        go by the dual where rows are few: active sets of many features that are more than rows
        change by one weight at a time.
        """
        by_dual = self.is_proximal and self.name == "newton" and RowSpace.suits_columns(X)
        by_dual = by_dual and X.shape[1] > TINY_HESSIAN
        by_pairs = self.name == "row_space" and self.kinks and not self.is_proximal
        if by_pairs and lists_pairs(X, preferences):
            return RowSpace(X, n_threads)
        return RowSpace.of(X, n_threads) if self.name == "row_space" or by_dual else None

    def minimize(
        self,
        objective: Objective,
        w0: Vector,
        progress: Progress,
        planes: CuttingPlanes | None = None,
    ) -> SolverResult:
        """Minimise the objective with this solver; `planes` serve the solvers that use planes."""
        if self.is_proximal:
            from .composed_solvers import PROXIMAL_SOLVERS  # which most problems do not need

            solver, smoothed = PROXIMAL_SOLVERS[self.name], objective.smoothed()
            if self.samples:
                return samples_first(solver, smoothed, w0, progress)
            return solver(smoothed, w0, progress)
        if self.name in PLANES:
            line_search = self.name == "bundle"
            return bundle(objective, w0, progress, line_search=line_search, planes=planes)
        if self.n_planes == 0 or (w0.any() and not self.kinks):
            return planes_last(self._smooth, objective, w0, progress, planes=planes)
        is_guess = self.name == "trust_region" and self.n_passes == 0
        return planes_first(
            self._smooth,
            self.n_planes,
            objective,
            w0,
            progress,
            planes=planes,
            unless_weak=self.unless_weak,
            products=self.n_products if is_guess else None,
            more_if_weak=self.more_if_weak,
            if_fewer=np.inf if self.kinks else self.n_products,
            ends_at_once=self.ends_at_once,
            last=self._blocks,
        )

    @property
    def _blocks(self) -> SmoothSolver | None:
        if not self.blocks_last:
            return None
        from .composed_solvers import blocks_last  # which few problems need

        return blocks_last

    def when_shared(self) -> SolverChoice:
        """Return the solvers for several problems nearby, which a Hessian serves one after another.

        Products go first where even warm Newton steps are worth more than a few.
        """
        if self.products_first and WARM * self.n_products > FEW_PRODUCTS:
            return self
        n_planes = self.n_planes if self.kinks else 0.0
        return replace(self, n_planes=n_planes, products_first=False, unless_weak=False)

    def when_warm(self, result: SolverResult) -> SolverChoice:
        """Return the solvers for a problem nearby, a larger C or another round, after this result.

        Those that gave up do not go first again; nor do those that took more of the work that they
        are measured against than Newton steps take from there, or where that is few products.
        """
        used, last = {line.solver for line in result.history}, result.history[-1]
        n_planes = self.n_planes if self.kinks else 0.0
        warm = WARM_SMOOTHED if self.name == "newton" else WARM
        if used != {"bundle"} or last.iteration > warm * n_planes:
            n_planes = 0.0
        gave_up = not used <= {"bundle", "trust_region"}
        are_few = max(last.n_products, FEW_PRODUCTS) <= WARM * self.n_products
        first = self.products_first and are_few and not gave_up
        return replace(self, n_planes=n_planes, products_first=first)

    def _smooth(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise an objective with smooth derivatives."""
        if self.n_passes == 0:
            return self._by_steps(objective, w0, progress)
        return products_first(self._by_descent, self.before_descent, objective, w0, progress)

    def _by_descent(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it by the slopes of pairs, and where these lead too far, without."""
        from .dual_descent import dual_descent  # which few problems need

        free = FREE_PASSES / self.n_passes
        with progress.patient(Patience(self.n_passes, free=free, pace=LINEAR)):
            result = dual_descent(objective, w0, progress)
        if result.status.is_end:
            return result
        start = w0 if self.kinks else better_start(result, w0, FAR_OF_PLANES)
        return self._by_steps(objective, start, progress)

    def _by_steps(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it by Newton steps of some kind."""
        if not self.samples:
            return self._without_sample(objective, w0, progress)
        if self.before_sample > 0 and not w0.any():
            return products_first(self._by_sample, self.before_sample, objective, w0, progress)
        return self._by_sample(objective, w0, progress)

    def _by_sample(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        most = self.step_in_products
        return samples_first(self._without_sample, objective, w0, progress, most)

    def _without_sample(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it without a sample."""
        if self.name == "trust_region" or not self._may_begin_with_products(progress, w0):
            return self._alone(objective, w0, progress)
        exact = not (self.kinks or self.interior_first)
        alone = self._from(w0) if self.from_zero else self._alone
        return products_first(
            alone,
            self.n_products,
            objective,
            w0,
            progress,
            solves_models=exact,
            planes=self.planes_after if self.unsure == np.inf else self.n_planes,
            unsure=self.unsure,
        )

    def _from(self, w0: Vector) -> SmoothSolver:
        """Return what minimises from these weights, wherever another solver has been."""
        return lambda objective, _, progress: self._alone(objective, w0, progress)

    def _may_begin_with_products(self, progress: Progress, w0: Vector) -> bool:
        """Say whether products go first, as far as regularisation tells already."""
        share = strength(progress, w0) if self.unless_weak else 1.0
        if share < (NOT_STRONG if self.name == "newton" else WEAK):
            return self.if_weak and share > NEXT_TO_NOTHING
        return self.products_first or (self.from_zero and not w0.any())

    def _alone(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it without what may go before."""
        if self.n_steps < np.inf:
            from .composed_solvers import interior_last, steps_in_row_space  # which few need

            is_first = self.interior_first and (not w0.any() or self.n_steps <= FEW_STEPS)
            n_steps = 0.0 if is_first else self.n_steps
            steps: SmoothSolver = steps_in_row_space if self.name == "row_space" else newton
            result = interior_last(steps, n_steps, objective, w0, progress, self.planes_after)
            if result.status is not Status.STALLED:
                return result
            w0 = better_start(result, w0, FAR_OF_PLANES)
        if self.name != "row_space":
            solver = SMOOTH_SOLVERS[self.name]
            result = solver(objective, w0, progress)
            if result.status is not Status.STALLED:
                return result
            from .composed_solvers import pair_by_pair  # which few problems need

            return pair_by_pair(solver, objective, result, progress)
        from .composed_solvers import is_for_planes, row_space  # likewise

        result = row_space(objective, w0, progress)
        by_features = newton if self.kinks and objective.size <= MOST_FEATURES else trust_region
        by_planes = by_features is not newton and self.kinks and is_for_planes(result, progress)
        if result.status is not Status.STALLED or by_planes:
            return result
        return by_features(objective, better_start(result, w0, FAR_OF_PLANES), progress)
