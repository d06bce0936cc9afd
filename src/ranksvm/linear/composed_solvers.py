"""Solvers that are made of others: for few rows, and for penalties with kinks or bounds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.explicit import MOST_PAIRS, ListedSquaredHinge, may_be_listed
from ..pairs.given import AnyPreferences
from ..pairs.losses import SmoothedHinge, SquaredHinge
from ..solvers import (
    Objective,
    ProductsFirst,
    Progress,
    SolverResult,
    Status,
    newton,
    trust_region,
)
from ..solvers.proximal_newton import proximal_newton
from ..solvers.proximal_products import proximal_products
from ..solvers.turns import FINE, SmoothSolver, gets_nearer, leaves_little
from .costs import Costs
from .design_matrix import DesignMatrix
from .dot_products import DENSE
from .matrix import Matrix
from .objective import LinearObjective
from .row_space import RowSpace, have_little_in_common, lists_pairs

__all__ = [
    "DEARER_IF_SHARED",
    "DEARER_IN_LIST",
    "INTERIOR_STEPS",
    "MOST_PAIRS",
    "PROXIMAL_SOLVERS",
    "blocks_last",
    "knowing_rows",
    "pair_by_pair",
    "row_space",
    "steps_in_row_space",
    "suits_blocks_of_pairs",
]

Vector = NDArray[np.float64]

INTERIOR_STEPS, MOST_STEPS = 12, 40  # hardly more for a small tol; within conditions, maybe
NEAR_SQUARED, SMALL_HESSIAN = 1e-2, 2048  # a gap; features
FAR_TOO_MANY = 200  # steps in the space of rows
# Times what interior points of listed pairs are said to cost, where blocks lead nowhere: with
# features of scales that differ by far, they take two or three times as many steps; and by shared
# features.
DEARER_IN_LIST, DEARER_IF_SHARED = 3.0, 1.7


def _proximal_row_space(
    objective: Objective, w0: Vector, progress: Progress | None = None
) -> SolverResult:
    """Minimise an objective with kinks or bounds that knows its row space.

    With few rows, a step leaves hardly a pair on the smoothed part of a hinge loss. So that begins
    near the optimum of the squared one.
    """
    assert isinstance(objective, LinearObjective)
    progress = progress or Progress()
    progress.begin("proximal_row_space", objective)
    loss, begins = objective.loss, not progress.history
    if isinstance(loss, SmoothedHinge) and _suits_interior_point(objective):
        from .interior_point import interior_point  # only where pairs are few

        start = objective.penalty.nearest(w0)
        result = interior_point(objective, start, progress, max_steps=MOST_STEPS)
        if result.status is not Status.STALLED:
            return result
    if isinstance(loss, SmoothedHinge) and begins:
        squared = objective.with_loss(SquaredHinge(loss.pairs, loss.margin))
        w0 = proximal_newton(squared, w0, Progress(NEAR_SQUARED)).weights
    return _by_dual(objective, w0, progress, "proximal_row_space")


def _proximal_newton(
    objective: Objective, w0: Vector, progress: Progress | None = None
) -> SolverResult:
    """Minimise an objective with kinks or bounds by the Hessian, or by way of the dual first."""
    assert isinstance(objective, LinearObjective)
    if objective.rows is None:
        return proximal_newton(objective, w0, progress)
    return _by_dual(objective, w0, progress or Progress(), "proximal_newton")


def _by_dual(objective: LinearObjective, w0: Vector, progress: Progress, name: str) -> SolverResult:
    """Minimise by way of the dual of models.

    What that leaves, as where hardly anything is charged, a small Hessian does, or else products.
    """
    result = proximal_newton(objective, w0, progress, name=name)
    if result.status is not Status.STALLED:
        return result
    if objective.size <= SMALL_HESSIAN:
        return proximal_newton(replace(objective, rows=None), result.weights, progress)
    return proximal_products(objective, result.weights, progress)


def _suits_interior_point(objective: LinearObjective) -> bool:
    """Say whether pairs may be listed, and slopes of pairs tell all weights."""
    charged = objective.penalty.curvature(np.zeros(objective.size)).all()
    return bool(charged) and may_be_listed(objective.loss.pairs)


def row_space(objective: Objective, w0: Vector, progress: Progress | None = None) -> SolverResult:
    """Minimise an objective that knows its row space.

    Where scales differ by so much that steps for the squared hinge lead nowhere, interior points
    do, as for the hinge.
    """
    assert isinstance(objective, LinearObjective)
    assert objective.rows is not None
    progress = progress or Progress()
    loss, listed = objective.loss, may_be_listed(objective.loss.pairs)
    if isinstance(loss, SmoothedHinge) and suits_blocks_of_pairs(
        objective.X, loss.pairs.preferences
    ):
        if have_little_in_common(objective.X, objective.n_threads):
            result = _in_blocks(objective, w0, progress)
            if result.status is not Status.STALLED:
                return result
            w0 = result.weights
        if not listed:
            return trust_region(objective, w0, progress)
        return _products_or_list(objective, w0, progress)
    if isinstance(loss, SmoothedHinge) and listed:
        return _of_listed_pairs(objective, w0, progress)
    if not (listed and isinstance(loss, SquaredHinge) and isinstance(loss.pairs, CorePairs)):
        return steps_in_row_space(objective, w0, progress)
    with progress.patient(lambda steps: _are_few(steps) and gets_nearer(steps), Status.STALLED):
        result = steps_in_row_space(objective, w0, progress)
    with progress.patient(_are_few, Status.STALLED):
        result = pair_by_pair(partial(newton, name="row_space"), objective, result, progress)
    if result.status is not Status.STALLED:
        return result
    return _of_listed_pairs(objective, result.weights, progress)


def _in_blocks(objective: LinearObjective, w0: Vector, progress: Progress) -> SolverResult:
    from .interior_blocks import interior_blocks  # only for long documents

    return interior_blocks(objective, w0, progress)


def blocks_last(objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
    """Minimise the hinge of many sparse rows by blocks of pairs, and what these leave by products.

    Equations of many rows take more products with X than those of few do, so that other solvers go
    first.
    """
    assert isinstance(objective, LinearObjective)
    result = _in_blocks(objective, w0, progress)
    if result.status is not Status.STALLED:
        return result
    return trust_region(objective, result.weights, progress)


def _products_or_list(objective: LinearObjective, w0: Vector, progress: Progress) -> SolverResult:
    """Minimise what blocks of pairs leave: by products, or else by interior points of all pairs."""
    costs = Costs.of(objective.X, objective.loss.pairs.preferences)
    dearer = DEARER_IF_SHARED if costs.n_shared > 0 else DEARER_IN_LIST
    work = dearer * costs.interior_points(INTERIOR_STEPS) / costs.product
    return ProductsFirst(work).before(_of_listed_pairs)(objective, w0, progress)


def _of_listed_pairs(objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
    from .interior_point import interior_point  # only where pairs are few

    assert isinstance(objective, LinearObjective)
    return interior_point(objective, w0, progress)


def steps_in_row_space(objective: Objective, w0: Vector, progress: Progress) -> SolverResult:
    """Take Newton steps for an objective that knows its row space."""
    assert isinstance(objective, LinearObjective)
    assert objective.rows is not None
    if w0.any() and objective.known is None:
        w0 = objective.rows.projected(w0)
    return newton(objective, w0, progress, name="row_space", resumes=False)


def _are_few(progress: Progress) -> bool:
    """Say whether steps are not far more than they ever are where they lead on."""
    return len(progress.history) - progress.first <= FAR_TOO_MANY


def pair_by_pair(
    solver: SmoothSolver, objective: Objective, result: SolverResult, progress: Progress
) -> SolverResult:
    """Go on pair by pair, where sums over scores, or a smoothing, have stalled a solver.

    For the squared hinge, sums have not where the gap is as small as these allow of a loss that is
    more than next to nothing. The hinge goes on by interior points of the features, unless what is
    left is for a few planes.
    """
    assert isinstance(objective, LinearObjective)
    loss, pairs = objective.loss, objective.loss.pairs
    if result.status is not Status.STALLED:
        return result
    if not (isinstance(pairs, CorePairs) and may_be_listed(pairs)):
        return result
    if isinstance(loss, SquaredHinge) and result.dual_gap > FINE:
        return solver(objective.with_loss(ListedSquaredHinge.of(loss)), result.weights, progress)
    by_features = objective.rows is None and lists_pairs(objective.X, pairs.preferences)
    if not (by_features and isinstance(loss, SmoothedHinge)) or leaves_little(result, progress):
        return result
    from .interior_point import interior_point  # which few problems need

    return interior_point(knowing_rows(objective), result.weights, progress, max_steps=MOST_STEPS)


def knowing_rows(objective: LinearObjective) -> LinearObjective:
    """Return the objective as one that knows its row space."""
    if objective.rows is not None:
        return objective
    assert isinstance(objective.X, DesignMatrix)
    return replace(objective, rows=RowSpace(objective.X, objective.n_threads))


def suits_blocks_of_pairs(
    X: Matrix, preferences: AnyPreferences, costs: Costs | None = None
) -> bool:
    """Say whether the pairs of the hinge loss are dealt with in blocks, for rows that are few.

    Rows have to be sparse, so that they have little in common.
    """
    n, d = X.shape
    if n >= d or X.n_stored >= DENSE * n * d:
        return False
    from ..pairs.level_blocks import may_be_blocks  # only for few sparse rows

    if not may_be_blocks(preferences):
        return False
    costs = costs or Costs.of(X, preferences)
    in_list = costs.interior_points(INTERIOR_STEPS) if costs.n_pairs <= MOST_PAIRS else np.inf
    return costs.interior_blocks(INTERIOR_STEPS) < in_list


PROXIMAL_SOLVERS: dict[str, SmoothSolver] = {
    "newton": _proximal_newton,
    "row_space": _proximal_row_space,
    "trust_region": proximal_products,
}
