"""Products between planes, which end it where steps take few of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import exp, inf, sqrt
from typing import Any

import numpy as np
import pytest

from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import Problem, make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import (
    CuttingPlanes,
    Iteration,
    PlanesFirst,
    Progress,
    SolverResult,
    bundle,
    newton,
    planes_in_turn,
)
from ranksvm.solvers.patience import more_planes
from ranksvm.solvers.planes_in_turn import (
    FEW_OF_STEP,
    FIRST_STEPS,
    MANY_FEATURES,
    MANY_MORE,
    MANY_PRODUCTS,
    SOME_PLANES,
    FewProducts,
)

PARAMETERS = Parameters(loss="hinge", tol=1e-4, n_threads=1)


def make_hinge_problem(
    d: int = 250, falling: float = 0.5, C: float = 10.0, n: int = 900
) -> Problem:
    """Random features, whose scales fall with such a power of their place."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    utility = X @ rng.standard_normal(d) + 0.5 * np.sqrt(d) * rng.standard_normal(n)
    X *= np.arange(1.0, d + 1) ** -falling
    preferences = Preferences.from_labels(np.floor(4 * np.argsort(np.argsort(utility)) / n))
    return make_problem(DesignMatrix.from_array(X), preferences, replace(PARAMETERS, C=C))


def solve(
    objective: LinearObjective, n_products: float, w0: np.ndarray | None = None
) -> SolverResult:
    first = PlanesFirst(1e4, n_products=n_products)
    w0 = np.zeros(objective.size) if w0 is None else w0
    result = first.before(newton)(objective, w0, Progress(tol=PARAMETERS.tol))
    assert str(result.status) == "converged"
    exact = bundle(objective, np.zeros(objective.size), Progress(tol=1e-7, max_iter=9_999)).value
    assert exact * (1 - 1e-7) <= result.value <= exact / (1 - PARAMETERS.tol)
    return result


def turns(history: list[Iteration]) -> list[tuple[str, int]]:
    return [
        (name, sum(1 for _ in lines))
        for name, lines in groupby(history, key=lambda line: line.solver)
    ]


def test_few_products_end_it() -> None:
    objective = make_hinge_problem().objective
    (before, n_before), (after, n_after) = turns(solve(objective, 1e3).history)
    (alone, n_alone), *rest = turns(solve(objective, 0.0).history)
    assert (before, after) == ("bundle", "trust_region")
    assert (alone, rest) == ("bundle", [])
    assert n_before > SOME_PLANES
    assert n_before + n_after < n_alone / 2


def test_planes_go_on_where_steps_take_many(monkeypatch: pytest.MonkeyPatch) -> None:
    known = []

    def noted(*args: Any, planes: CuttingPlanes) -> SolverResult:
        known.append(len(planes))
        return bundle(*args, planes=planes)

    monkeypatch.setattr(planes_in_turn, "bundle", noted)
    objective = make_hinge_problem(400, falling=1.0, C=3e3).objective
    history = solve(objective, 1e3).history
    assert [name for name, _ in turns(history)] == ["bundle", "trust_region", "bundle"]
    tried = [line for line in history if line.solver == "trust_region"]
    *within, last = [line.n_products - tried[0].n_products for line in tried]
    assert len(within) <= FIRST_STEPS
    assert all(n <= FEW_OF_STEP * k for k, n in enumerate(within))
    assert last > FEW_OF_STEP * len(within)
    assert known == [0, tried[0].iteration]  # a plane for each line


@pytest.mark.parametrize(
    "what", ["few features", "little work", "weights", "few planes to come", "few planes yet"]
)
def test_nothing_is_tried(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    d = MANY_FEATURES - (what == "few features")
    objective = make_hinge_problem(d).objective
    w0 = np.full(d, 1e-9) if what == "weights" else None
    if what == "few planes to come":
        monkeypatch.setattr(planes_in_turn, "more_planes", lambda _: MANY_MORE - 0.1)
    if what == "few planes yet":
        monkeypatch.setattr(planes_in_turn, "SOME_PLANES", 10_000)
    n_products = MANY_PRODUCTS * (1 - (what == "little work") / 100)
    assert {line.solver for line in solve(objective, n_products, w0).history} == {"bundle"}


def test_so_much_is_enough() -> None:
    objective = make_hinge_problem(MANY_FEATURES).objective
    tried = solve(objective, MANY_PRODUCTS).history
    assert "trust_region" in {line.solver for line in tried}


def test_auto_tries_them_unless_few_rows_decide() -> None:
    rng = np.random.default_rng(0)
    X = DesignMatrix.from_array(rng.standard_normal((4_000, 250)))
    some, few = (
        choose_solver(X, Preferences.from_labels(y), PARAMETERS).planes
        for y in (rng.integers(0, 4, 4_000), np.arange(4_000) < 3)
    )
    assert some is not None
    assert few is not None
    assert some.n_products > MANY_PRODUCTS
    assert few.n_products == 0


def make_progress(n: int, gap: float, slope: float, tol: float = 1e-6) -> Progress:
    """A record of n lines, whose gaps, as parts of the bounds, fall by the root of their number."""
    parts = [gap * exp(slope * (sqrt(n - 1) - sqrt(k))) for k in range(n)]
    gaps = [part / (1 + part) for part in parts]
    lines = [Iteration(k, 1.0, gap, 1.0, 0, k, 2 * k, "bundle", 0.0) for k, gap in enumerate(gaps)]
    return Progress(tol=tol, history=lines, left=gaps)


@pytest.mark.parametrize(("n", "gap", "slope"), [(17, 0.1, 1.0), (26, 3.0, 2.0), (101, 0.01, 0.2)])
def test_planes_to_come_are_those_of_the_root(n: int, gap: float, slope: float) -> None:
    progress = make_progress(n, gap, slope)
    to_fall = np.log(progress.history[-1].dual_gap / 1e-6) + np.log1p(gap)
    end = (sqrt(n - 1) + to_fall / slope) ** 2
    assert more_planes(progress) == pytest.approx(end - (n - 1), rel=1e-9)


def test_planes_that_get_nowhere_have_no_end() -> None:
    assert more_planes(make_progress(20, 0.5, 0.0)) == inf
    assert more_planes(make_progress(20, 0.5, 1.0, tol=0.0)) == inf
    assert (
        more_planes(make_progress(20, 0.5, 1.0))
        > MANY_MORE
        > more_planes(make_progress(20, 1e-5, 3.0))
    )


def test_later_steps_are_left_to_patience() -> None:
    steps = [(k, FEW_OF_STEP * min(k, FIRST_STEPS) + 30 * (k > FIRST_STEPS)) for k in range(9)]
    gaps = [0.5 / (k + 1) for k, _ in steps]
    lines = [
        Iteration(k, 1.0, gap, 1.0, n, k, 2 * k, "trust_region", 0.0)
        for (k, n), gap in zip(steps, gaps, strict=True)
    ]
    first, all_lines = lines[: FIRST_STEPS + 1], lines
    for history, work, goes_on in (
        (first, 0.0, True),
        (all_lines, 1e4, True),
        (all_lines, 5.0, False),
    ):
        progress = Progress(history=history, left=gaps[: len(history)], widths=[1.0] * len(history))
        assert FewProducts(work)(progress) is goes_on
