"""Which solver suits which data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..pairs.queries import QueryGroups
from ..solvers import (
    CuttingPlanes,
    Objective,
    Progress,
    SolverResult,
    bundle,
    newton,
    planes_first,
    planes_last,
    samples_first,
    trust_region,
)
from ..solvers.automatic import SmoothSolver
from .matrix import Matrix
from .parameters import Parameters
from .samples import rows_in_long_queries

Vector = NDArray[np.float64]
SMOOTH_SOLVERS: dict[str, SmoothSolver] = {"newton": newton, "trust_region": trust_region}

LEAST_SAMPLE, ROWS_PER_FEATURE = 20_000, 1000
LARGEST_SHARE, NUMBERS_PER_ROW = 0.1, 2  # of a sample, in shares and rows of all data


@dataclass(frozen=True)
class SolverChoice:
    """A solver by its name, and what it needs to know: whether the loss has kinks, above all."""

    name: str
    kinks: bool
    fallback: str = ""
    n_planes: int = 0
    samples: bool = False

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
        return minimize(objective, w0, progress)


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
    considered, for its memory.

    The hinge loss takes some 10 Newton steps, or some 1,000 products where little regularisation
    or bad scales make it hard. Planes begin (`planes_first`), unless the Newton steps cost less
    than 20 of them. A plane costs two passes, and a sweep that takes the time of some 40
    multiplications per row. With few rows planes always begin, since they are more exact; with a
    sample never, since its Hessian costs next to nothing (`samples_first`).
    """
    kinks = parameters.loss == "hinge"
    if parameters.solver != "auto":
        return SolverChoice(parameters.solver, kinks)
    n, d = X.shape
    newton_step = n * d**2 / 10 + d**3 / 30
    n_steps, n_products = (10, 1000) if kinks else (6, 300)
    explicit = d <= 8192 and n_steps * newton_step <= n_products * 2 * X.n_stored
    smooth = "newton" if explicit else "trust_region"
    if explicit and has_sample:
        return SolverChoice(smooth, kinks, samples=True)
    if not kinks:
        return SolverChoice(smooth, kinks)
    n_planes = n_steps * newton_step / (2 * X.n_stored + 40 * n)
    if explicit and n_planes < 20 and n >= 1000:
        return SolverChoice(smooth, kinks)
    return SolverChoice("auto", kinks, smooth, int(np.clip(n_planes, 100, 200)))
