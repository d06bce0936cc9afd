"""A solver by its name, what goes before it, and what takes over where it comes to a stand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..records import record
from ..solvers import (
    CuttingPlanes,
    Objective,
    PlanesFirst,
    ProductsFirst,
    Progress,
    SolverResult,
    Status,
    bundle,
    newton,
    planes_last,
    trust_region,
)
from ..solvers.turns import FAR_OF_PLANES, SmoothSolver, better_start, leaves_little
from .matrix import Matrix
from .row_space import RowSpace, lists_pairs
from .stages import DescentFirst, InteriorLast, SampleFirst, Where

Vector = NDArray[np.float64]

MOST_FEATURES, TINY_HESSIAN = 8192, 64
FEW_PRODUCTS = 35
WARM = 1 / 3  # of the work of Newton steps, from a warm start
WARM_SMOOTHED = 1 / 12  # likewise, of smoothed ones by the Hessian of all features

SMOOTH_SOLVERS: dict[str, SmoothSolver] = {"newton": newton, "trust_region": trust_region}
PLANES = ("bundle", "cutting_planes")


@record
class SolverChoice:
    """A solver by its name, and what goes before it, in this order; None does not.

    Attributes
    ----------
    name : str
    kinks : bool
        Whether the loss has kinks.
    planes : PlanesFirst or None
        Without kinks, from zero alone.
    descent : DescentFirst or None
    sample : SampleFirst or None
    products : ProductsFirst or None
    where : Where
        Products go first.
    interior : InteriorLast or None
    is_proximal : bool
        Whether the penalty has kinks or bounds.
    n_products : float
        Of Newton steps by the features, which may solve for one of them; 0 for none.
    """

    name: str
    kinks: bool
    planes: PlanesFirst | None = None
    descent: DescentFirst | None = None
    sample: SampleFirst | None = None
    products: ProductsFirst | None = None
    where: Where = Where()
    interior: InteriorLast | None = None
    is_proximal: bool = False
    n_products: float = 0.0

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
            return self._after_sample(solver)(smoothed, w0, progress)
        if self.name in PLANES:
            line_search = self.name == "bundle"
            return bundle(objective, w0, progress, line_search=line_search, planes=planes)
        if self.planes is None or (w0.any() and not self.kinks):
            return planes_last(self._smooth, objective, w0, progress, planes=planes)
        return self.planes.before(self._smooth, planes)(objective, w0, progress)

    def without_planes(self) -> SolverChoice:
        """Return the solvers without planes of the hinge, or any before those of smooth losses."""
        products = self.products
        if self.kinks and products is not None:
            products = replace(products, planes=0.0)
        return replace(self, planes=None, products=products)

    def when_shared(self) -> SolverChoice:
        """Return the solvers for several problems nearby, which a Hessian serves one after another.

        Products go first where even warm Newton steps are worth more than a few.
        """
        if self.name == "trust_region" or (self.where.always and self._are_few(FEW_PRODUCTS)):
            return self
        where = replace(self.where, always=False, weak=0.0)
        if self.planes is None or not self.kinks:
            return replace(self.without_planes(), where=where)
        return replace(self, planes=replace(self.planes, unless_weak=False), where=where)

    def when_warm(self, result: SolverResult) -> SolverChoice:
        """Return the solvers for a problem nearby, a larger C or another round, after this result.

        Those that gave up do not go first again; nor do those that took more of the work that they
        are measured against than Newton steps take from there, or where that is few products.
        """
        used, last = {line.solver for line in result.history}, result.history[-1]
        gave_up = not used <= {"bundle", "trust_region"}
        always = self.where.always and self._are_few(max(last.n_products, FEW_PRODUCTS))
        choice = replace(self, where=replace(self.where, always=always and not gave_up))
        warm = WARM_SMOOTHED if self.name == "newton" else WARM
        n_planes = warm * self.planes.work if self.kinks and self.planes is not None else 0.0
        is_quick = used == {"bundle"} and last.iteration <= n_planes
        return choice if n_planes > 0 and is_quick else choice.without_planes()

    def _are_few(self, n_products: float) -> bool:
        """Say whether so many are less work than warm Newton steps."""
        return self.products is not None and n_products <= WARM * self.products.work

    def _after_sample(self, solver: SmoothSolver) -> SmoothSolver:
        return solver if self.sample is None else self.sample.before(solver)

    def _smooth(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise an objective with smooth derivatives."""
        solver = self._after_sample(self._without_sample)
        if self.descent is not None:
            solver = self.descent.before(solver)
        return solver(objective, w0, progress)

    def _without_sample(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it without a sample."""
        solver: SmoothSolver = self._alone
        if self.products is not None and self.where.is_here(progress, w0):
            solver = self.products.before(self._from(w0) if self.where.from_zero else self._alone)
        return solver(objective, w0, progress)

    def _from(self, w0: Vector) -> SmoothSolver:
        """Return what minimises from these weights, wherever another solver has been."""
        return lambda objective, _, progress: self._alone(objective, w0, progress)

    def _alone(self, objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
        """Minimise it without what may go before."""
        if self.interior is not None:
            from .composed_solvers import steps_in_row_space  # which few problems need

            steps: SmoothSolver = steps_in_row_space if self.name == "row_space" else newton
            result = self.interior.minimize(steps, objective, w0, progress)
            if result.status is not Status.STALLED:
                return result
            w0 = better_start(result, w0, FAR_OF_PLANES)
        if self.name != "row_space":
            solver = SMOOTH_SOLVERS[self.name]
            if self.n_products > 0:
                solver = partial(newton, n_products=self.n_products)
            result = solver(objective, w0, progress)
            if result.status is not Status.STALLED:
                return result
            from .composed_solvers import pair_by_pair  # which few problems need

            return pair_by_pair(solver, objective, result, progress)
        from .composed_solvers import row_space  # likewise

        result = row_space(objective, w0, progress)
        by_features = newton if self.kinks and objective.size <= MOST_FEATURES else trust_region
        by_planes = by_features is not newton and self.kinks and leaves_little(result, progress)
        if result.status is not Status.STALLED or by_planes:
            return result
        return by_features(objective, better_start(result, w0, FAR_OF_PLANES), progress)
