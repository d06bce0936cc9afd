"""Which solver suits which data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..pairs.explicit import ListedSquaredHinge, may_be_listed
from ..pairs.losses import SmoothedHinge, SquaredHinge
from ..pairs.queries import QueryGroups
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
    samples_first,
    trust_region,
)
from ..solvers.automatic import SmoothSolver
from .interior_point import interior_point
from .matrix import Matrix
from .objective import LinearObjective
from .parameters import Parameters
from .row_space import DENSE, RowSpace
from .samples import rows_in_long_queries

Vector = NDArray[np.float64]

MOST_FEATURES = 8192
LEAST_SAMPLE, ROWS_PER_FEATURE = 20_000, 1000
LARGEST_SHARE, NUMBERS_PER_ROW = 0.1, 2  # of a sample, in shares and rows of all data


def row_space(objective: Objective, w0: Vector, progress: Progress | None = None) -> SolverResult:
    """Minimise an objective that knows its row space."""
    assert isinstance(objective, LinearObjective)
    progress = progress or Progress()
    loss, listed = objective.loss, may_be_listed(objective.loss.pairs)
    if isinstance(loss, SmoothedHinge) and listed:
        return interior_point(objective, w0, progress)
    result = newton(objective, w0, progress, name="row_space")
    if result.status is Status.STALLED and isinstance(loss, SquaredHinge) and listed:
        exact = objective.with_loss(ListedSquaredHinge.of(loss))
        return newton(exact, result.weights, progress, name="row_space")
    return result


SMOOTH_SOLVERS: dict[str, SmoothSolver] = {
    "newton": newton,
    "row_space": row_space,
    "trust_region": trust_region,
}


@dataclass(frozen=True)
class SolverChoice:
    """A solver by its name, and what it needs to know: whether the loss has kinks, above all."""

    name: str
    kinks: bool
    fallback: str = ""
    n_planes: int = 0
    samples: bool = False

    @property
    def in_row_space(self) -> bool:
        """Whether the objective has to know its row space."""
        return "row_space" in (self.name, self.fallback)

    def minimize(
        self,
        objective: Objective,
        w0: Vector,
        progress: Progress,
        planes: CuttingPlanes | None = None,
    ) -> SolverResult:
        """Minimise the objective with this solver; `planes` serve the solvers that use planes."""
        if self.name == "auto":
            fallback = SMOOTH_SOLVERS[self.fallback]
            return planes_first(fallback, self.n_planes, objective, w0, progress, planes=planes)
        if self.name not in SMOOTH_SOLVERS:
            line_search = self.name == "bundle"
            return bundle(objective, w0, progress, line_search=line_search, planes=planes)
        minimize: SmoothSolver = SMOOTH_SOLVERS[self.name]
        if self.samples:
            minimize = partial(samples_first, minimize)
        if self.kinks:
            return planes_last(minimize, objective, w0, progress, planes=planes)
        result = minimize(objective, w0, progress)
        if self.name == "row_space" and result.status is Status.STALLED:
            return trust_region(objective, result.weights, progress)
        return result


def sample_size(X: Matrix, groups: QueryGroups) -> int:
    """Say how many rows of long queries to draw for a sample; 0 where it would not pay.

    The Hessian of so many rows for each feature is right to a few hundredths, and steps by it bring
    the gap down a thousandfold. A sample has to be a small part of the rows, those of short queries
    included, and of the stored values, since it is dense; and to take but little memory.
    """
    n, d = X.shape
    n_long = rows_in_long_queries(groups)
    n_rows = max(LEAST_SAMPLE, ROWS_PER_FEATURE * d, n_long // max(50, d))
    n_copied = n_rows + n - n_long
    most_numbers = min(LARGEST_SHARE * X.n_stored, NUMBERS_PER_ROW * n)
    pays = n_copied <= LARGEST_SHARE * n and n_copied * d <= most_numbers
    return n_rows if pays else 0


def choose_solver(X: Matrix, parameters: Parameters, has_sample: bool = False) -> SolverChoice:
    """Choose a solver by cost, where "auto" leaves the choice.

    Counted in multiplications of a pass over X, of which a matrix product does about ten in the
    same time: some 6 Newton steps of ``n d^2 / 10`` and ``d^3 / 30`` each, whatever the data are
    like, against some 300 products with the Hessian, of two passes over the stored values each;
    well-scaled data need fewer, others many more. Beyond 8,192 features the explicit Hessian is not
    considered, for its memory. With fewer rows than features, it is that of the space of the rows
    that counts (`ranksvm.linear.row_space`).

    The hinge loss takes some 10 Newton steps, or some 1,000 products where little regularisation
    or bad scales make it hard. Planes begin (`planes_first`), unless the Newton steps cost less
    than 20 of them. A plane costs two passes, and a sweep that takes the time of some 40
    multiplications per row. With few rows planes always begin, since they are more exact; but not
    where the interior-point method in the space of the rows, which C and scales hardly hold up,
    costs less than 500 of them, products of planes with each other included. Nor do they with a
    sample, since its Hessian costs next to nothing (`samples_first`).
    """
    kinks = parameters.loss == "hinge"
    if parameters.solver != "auto":
        return SolverChoice(parameters.solver, kinks)
    n, d = X.shape
    n_products = 1000 if kinks else 300
    smooth, cost = _newton_costs(X, kinks)
    if kinks and smooth == "row_space" and cost < 500 * (2 * X.n_stored + 40 * n + 100 * d):
        return SolverChoice(smooth, kinks)
    if cost > n_products * 2 * X.n_stored:
        smooth = "trust_region"
    if smooth == "newton" and has_sample:
        return SolverChoice(smooth, kinks, samples=True)
    if not kinks:
        return SolverChoice(smooth, kinks)
    n_planes = cost / (2 * X.n_stored + 40 * n)
    if smooth != "trust_region" and n_planes < 20 and n >= 1000:
        return SolverChoice(smooth, kinks)
    return SolverChoice("auto", kinks, smooth, int(np.clip(n_planes, 100, 200)))


def _newton_costs(X: Matrix, kinks: bool) -> tuple[str, float]:
    """Return the cheaper of the two kinds of Newton steps, and what it costs in multiplications."""
    n, d = X.shape
    if n < d and RowSpace.suits(X):
        return "row_space", _row_space_cost(X, kinks)
    n_steps = 10 if kinks else 6
    cost = n_steps * (n * d**2 / 10 + d**3 / 30)
    return "newton", cost if d <= MOST_FEATURES else np.inf


def _row_space_cost(X: Matrix, kinks: bool) -> float:
    """Count the dot products of the rows, and 6 Newton or 25 interior-point steps.

    The latter take some 100 multiplications for each pair, of which there may be ``n^2 / 2``.
    """
    n, d = X.shape
    gram = n**2 * d / 20 if X.n_stored >= DENSE * n * d else n * X.n_stored
    if kinks:
        return gram + 25 * (50 * n**2 + n**3 / 30 + 2 * X.n_stored)
    return gram + 6 * (2 * n**3 / 15 + 4 * X.n_stored)
