"""Planes beside products, which go on as if nothing had been where planes lead nowhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from scipy import sparse

from ranksvm.linear.choice_by_cost import FAR_DEARER, choose_solver
from ranksvm.linear.costs import Costs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import Problem, make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import (
    Iteration,
    PlanesFirst,
    ProductsFirst,
    Progress,
    bundle,
    newton,
    planes_last,
    products_in_turn,
    trust_region,
)
from ranksvm.solvers.patience import Patience
from ranksvm.solvers.products_in_turn import DEAR, DOUBTFUL, FREE_BESIDE, OF_ALL
from ranksvm.solvers.turns import AGAIN


def make_counts_beside_dense(n: int = 600, d: int = 900) -> tuple[sparse.csr_matrix, np.ndarray]:
    """A few features of a larger scale make regularisation look weak."""
    rng = np.random.default_rng(5)
    columns = rng.zipf(1.3, n * 6) % d
    counts = sparse.csr_matrix((np.ones(n * 6), columns, np.arange(0, n * 6 + 1, 6)), (n, d))
    counts.sum_duplicates()
    dense = rng.standard_normal((n, 6))
    X = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(dense), counts]))
    utility = X @ rng.standard_normal(6 + d)
    return X, np.floor(4 * np.argsort(np.argsort(utility)) / n)


def make_hinge_problem(C: float = 30.0, tol: float = 1e-4) -> tuple[Problem, Parameters]:
    X, y = make_counts_beside_dense()
    parameters = Parameters(loss="hinge", C=C, tol=tol, n_threads=1)
    rows = DesignMatrix.from_array(X)
    return make_problem(rows, Preferences.from_labels(y), parameters), parameters


def turns(history: list[Iteration]) -> list[str]:
    return [name for name, _ in groupby(line.solver for line in history)]


@pytest.mark.parametrize(("n_planes", "ends"), [(0.0, False), (1e-3, False), (1e6, True)])
def test_planes_end_it_or_products_go_on(n_planes: float, ends: bool) -> None:
    problem, parameters = make_hinge_problem()
    objective, progress = problem.objective, Progress(tol=parameters.tol)
    first = ProductsFirst(1e9, planes=n_planes, unsure=20.0).before(newton)
    result = planes_last(first, objective, np.zeros(objective.size), progress)
    beside = ["bundle"] * (n_planes > 0)
    again = ["trust_region"] * (n_planes > 0 and not ends)
    assert turns(result.history) == ["trust_region", *beside, *again]
    assert str(result.status) == "converged"
    value = objective.evaluate(result.weights).value
    np.testing.assert_allclose(value, result.value, rtol=1e-8)
    exact = bundle(objective, np.zeros(objective.size), Progress(tol=1e-7)).value
    assert exact * (1 - 1e-7) <= result.value <= exact / (1 - parameters.tol)
    assert np.all(np.diff([line.n_passes for line in result.history]) > 0)
    n_before = [line.n_products for line in result.history[: progress.beside[0]]]
    if n_planes > 0:
        assert n_before[-2] <= 20 < n_before[-1]


@pytest.mark.parametrize(("unsure", "again"), [(0.99, True), (1.01, False)])
def test_planes_go_on_again_before_what_is_worth_far_more(unsure: float, again: bool) -> None:
    problem, parameters = make_hinge_problem()
    objective, progress = problem.objective, Progress(tol=parameters.tol)
    first = ProductsFirst(150.0, planes=1e-3, unsure=unsure * 150.0 / DEAR).before(newton)
    result = planes_last(first, objective, np.zeros(objective.size), progress)
    of_products = ["trust_region", "bundle", "trust_region"]
    assert turns(result.history) == [*of_products, *["bundle"] * again, "newton"]
    assert str(result.status) == "converged"


def test_planes_leave_a_part_of_the_iterations() -> None:
    problem, parameters = make_hinge_problem()
    objective, progress = problem.objective, Progress(tol=parameters.tol, max_iter=60)
    first = ProductsFirst(1e9, planes=1e6, unsure=20.0).before(newton)
    result = planes_last(first, objective, np.zeros(objective.size), progress)
    assert turns(result.history) == ["trust_region", "bundle", "trust_region"]
    assert progress.beside[1] == OF_ALL * 60
    assert len(progress.own(progress.history)) > (1 - OF_ALL) * 60


@pytest.mark.parametrize("when", [1, 4, 9])
def test_the_present_solver_goes_on_as_if_nothing_had_been(when: int) -> None:
    problem, _ = make_hinge_problem()
    objective = problem.objective
    smooth, zero = objective.smoothed(), np.zeros(objective.size)

    def run(goes_on) -> Progress:
        progress = Progress(tol=1e-4)
        with progress.patient(goes_on):
            assert str(trust_region(smooth, zero, progress).status) == "converged"
        return progress

    def with_planes(progress: Progress) -> bool:
        if len(progress.history) == when:
            before = vars(progress).copy()
            with progress.aside(), progress.patient(Patience(0.0)):
                assert str(bundle(objective, zero, progress).status) == "given_up"
            kept = "solver", "first", "best", "latest", "is_by_planes", "is_steep", "on_its_way"
            assert all(vars(progress)[name] is before[name] for name in kept)
            assert progress.n_evaluations > before["n_evaluations"]
        return True

    alone, other = run(lambda _: True), run(with_planes)
    lines = other.own(other.history)
    assert turns(other.history) == ["trust_region", "bundle", "trust_region"]
    assert {line.solver for line in lines} == {"trust_region"}
    assert len(other.history) - len(lines) == other.beside[1] - other.beside[0] > 0
    assert [line.iteration for line in other.history] == list(range(len(other.history)))
    for name in ("step", "n_products"):
        mine, theirs = ([getattr(line, name) for line in of] for of in (lines, alone.history))
        assert mine == theirs, name
    assert other.own(other.widths) == alone.widths


def test_the_best_point_found_beside_is_kept() -> None:
    problem, parameters = make_hinge_problem()
    objective, zero = problem.objective, np.zeros(problem.objective.size)
    progress = Progress(tol=parameters.tol)
    found = []

    def goes_on(progress: Progress) -> bool:
        if not found:
            with progress.aside(), progress.patient(Patience(1e6)):
                found.append(bundle(objective, zero, progress))
        return False

    with progress.patient(goes_on):
        result = trust_region(objective.smoothed(), zero, progress)
    assert str(result.status) == "given_up"
    assert str(found[0].status) == "converged"
    np.testing.assert_array_equal(result.weights, found[0].weights)
    assert progress.lower_bound >= (1 - parameters.tol) * found[0].value


def test_lines_of_another_solver_do_not_count_as_work() -> None:
    line = Iteration(0, 1.0, 1.0, 1.0, 0, 1, 2, "trust_region", 0.0)

    def goes_on(n: int, n_beside: int) -> bool:
        lines = [replace(line, iteration=k) for k in range(n + n_beside)]
        gaps = [1.0] * len(lines)
        progress = Progress(history=lines, left=gaps, widths=gaps, beside=(10, 10 + n_beside))
        return Patience(100.0)(progress)

    for n_beside in (0, 50):
        assert goes_on(21, n_beside)
        assert not goes_on(22, n_beside)


@pytest.mark.parametrize(("of_products", "are_tried"), [(1.01, False), (0.99, True)])
def test_planes_are_tried_only_before_what_is_far_dearer(
    of_products: float, are_tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make_counts_beside_dense(3000, 4000)
    rows, preferences = DesignMatrix.from_array(X), Preferences.from_labels(y)
    parameters = Parameters(loss="hinge", tol=1e-3, n_threads=1)
    choice = choose_solver(rows, preferences, parameters)
    assert choice.where.always
    assert choice.products.unsure == DOUBTFUL * 300
    assert choice.products.work > FAR_DEARER * 300
    dearer = of_products * choice.products.work / (FAR_DEARER * 300)
    product = Costs.of(rows, preferences).product
    monkeypatch.setattr(Costs, "product", dearer * product)
    choice = choose_solver(rows, preferences, parameters)
    assert (choice.products.unsure < np.inf) is are_tried


def test_planes_are_tried_where_nothing_else_is_left() -> None:
    """Where an explicit Hessian is too large and regularisation weak, for products or planes."""
    problem, parameters = make_hinge_problem(C=15.0)
    objective = problem.objective
    zero, turned = np.zeros(objective.size), []
    for n_planes in (1e-3, 79.0):
        progress = Progress(tol=parameters.tol)
        first = PlanesFirst(n_planes, unless_weak=True, products=20.0, more_if_weak=True)
        result = first.before(trust_region)(objective, zero, progress)
        assert str(result.status) == "converged"
        turned.append(turns(result.history))
    assert turned[0] == ["bundle", "trust_region", "bundle", "trust_region"]
    assert turned[1] == ["bundle", "trust_region", "bundle"]


@pytest.mark.parametrize("share", [0.25, 0.5])
@pytest.mark.parametrize("left", [0.0, 1.0])
def test_slow_planes_end_sooner(share: float, left: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products_in_turn, "SLOW", ((share, left),))
    problem, parameters = make_hinge_problem(C=1e4)
    objective, progress = problem.objective, Progress(tol=parameters.tol)
    first = ProductsFirst(1e9, planes=100.0, unsure=20.0).before(newton)
    result = planes_last(first, objective, np.zeros(objective.size), progress)
    assert str(result.status) == "converged"
    came, went = progress.beside
    free = FREE_BESIDE * AGAIN * 100.0
    n_planes = went - came - 1  # the first line is of where they begin
    assert n_planes == np.ceil(share * free) if left == 0.0 else n_planes > free
