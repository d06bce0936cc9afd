"""Which Hessian Newton steps come from: that where they begin, or one that serves again."""

from dataclasses import replace
from importlib import import_module
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest

import reference
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.grid import solve_grid
from ranksvm.linear.objective import LinearEvaluation
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.solver_choice import SolverChoice
from ranksvm.linear.training import make_problem
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Progress, Status, newton
from ranksvm.solvers.cholesky import ScaledCholesky
from ranksvm.solvers.conjugate_gradients import conjugate_gradients
from ranksvm.solvers.newton import NewtonMatrix
from ranksvm.solvers.protocols import NewtonSystem


def rows(d, n=1200, n_queries=40, seed=0):
    """Noisy levels in queries, of features on scales far apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    utility = X @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n)
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.8, 0.95])).astype(float)
    return X * 10.0 ** rng.uniform(-2, 3, d), y, np.sort(rng.integers(0, n_queries, n))


def fit(X, y, qid, **options):
    return RankSVM(solver="newton", **options).fit(X, y, qid)


@pytest.mark.parametrize("d", [5, 40, 80])
def test_the_last_hessian_leads_to_the_end(d):
    X, y, qid = rows(d)
    spared = 0
    for C, tol in product([1e-2, 1.0, 1e2], 10.0 ** -np.arange(2, 10)):
        pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
        model = fit(X, y, qid, C=C, tol=tol)
        spared += model.n_iter_ > model.history_[-1].n_products
        assert model.dual_gap_ <= tol
        value = reference.objective(pairs, X, model.coef_)
        assert value <= model.objective_ * (1 + 1e-12)
        bound = reference.dual_bound(pairs, X, model.coef_)
        assert value - bound <= 1.01 * model.dual_gap_ * value + 1e-11 * value
    assert spared >= 4


def test_every_number_of_threads_spares_the_same_hessians():
    X, y, qid = rows(80, n=6000, n_queries=200)
    one, two = (fit(X, y, qid, tol=1e-9, n_threads=n_threads) for n_threads in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert [line.n_products for line in one.history_] == [line.n_products for line in two.history_]
    assert one.history_[-1].n_products < one.n_iter_


def test_a_hessian_that_is_singular_to_rounding_serves_once():
    X, y, qid = rows(40)
    spared = {0.0: 0, 1.0: 0}
    for pivot, tol in product(spared, (1e-1, 1e-3, 1e-6)):
        with patch.object(NewtonMatrix, "least_pivot", pivot):
            model = fit(X, y, qid, C=1.0, tol=tol)
        assert model.dual_gap_ <= tol
        spared[pivot] += model.history_[-1].n_products < model.n_iter_
    assert spared[0.0] == 0 < spared[1.0]


@pytest.mark.parametrize("scale", [1.0, 1e2, 1e4, 1e5])
@pytest.mark.parametrize("d", [5, 40])
def test_columns_that_occur_twice_are_no_obstacle_on_large_scales(d, scale):
    X, y, qid = rows(d)
    twins = RankSVM().fit(scale * np.hstack([X, X]), y, qid)
    single = RankSVM().fit(scale * np.sqrt(2) * X, y, qid)
    assert twins.status_ == single.status_ == "converged"
    assert twins.objective_ == pytest.approx(single.objective_, rel=1e-3)
    scores = twins.predict(scale * np.hstack([X, X]))
    assert np.corrcoef(scores, single.predict(scale * np.sqrt(2) * X))[0, 1] > 0.999


def test_pivots_tell_how_nearly_a_matrix_is_singular():
    for apart in (1.0, 1e-3, 1e-6):
        matrix = np.diag([4.0, 100.0]) - np.array([[0, 20], [20, 0]]) * (1 - apart)
        system = NewtonSystem(matrix, lambda g: g, lambda y: y)
        pivot = NewtonMatrix.of(system).least_pivot
        np.testing.assert_allclose(pivot, 1 - (1 - apart) ** 2, rtol=1e-6)


def test_what_rounding_makes_singular_is_factorised_nearly():
    scale = np.array([1.0, 2.0**30])
    twins = np.outer(scale, scale)
    assert ScaledCholesky.of(twins.copy()) is None
    assert ScaledCholesky.of(twins.astype(np.float32), nearly=True) is None
    step = ScaledCholesky.of(twins.copy(), nearly=True).solve(scale)
    np.testing.assert_allclose(twins @ step, scale, rtol=1e-12)
    assert ScaledCholesky.of(np.diag([1.0, -1e-9]), nearly=True) is None


def test_steps_lead_down_or_nowhere():
    factor = ScaledCholesky.of(np.diag([2.0, 8.0]))
    matrix = NewtonMatrix(factor, lambda g: 3 * g, lambda y: 3 * y)
    np.testing.assert_allclose(matrix.step(np.array([2.0, -8.0])), [-9.0, 9.0])
    assert matrix.step(np.zeros(2)) is None
    assert NewtonMatrix.of(None) is None


def test_a_matrix_serves_gradients_elsewhere():
    X, y, qid = rows(40)
    objective = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y, qid), Parameters(C=1.0)
    ).objective
    here = objective.at_rest()
    matrix = NewtonMatrix.of(here.newton_system(np.float64))
    there = objective.evaluate(matrix.step(here.gradient))
    step = matrix.step(there.gradient)
    expected = np.linalg.solve(here.hessian(), -there.gradient)
    np.testing.assert_allclose(step, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_single_precision_gives_way_where_it_does_not_solve_the_equations(monkeypatch):
    X, y, qid = rows(41, n=300, n_queries=10)  # steps that leave much
    kinds, newton_system = [], LinearEvaluation.newton_system

    def noted(self, dtype=np.float64, **options):
        kinds.append(dtype)
        return newton_system(self, dtype, **options)

    monkeypatch.setattr(LinearEvaluation, "newton_system", noted)
    here = fit(X, y, qid, loss="hinge", tol=1e-6)
    assert set(kinds) == {np.float32}
    kinds.clear()
    monkeypatch.setattr(import_module("ranksvm.solvers.newton"), "SOLVED", 0.0)
    there = fit(X, y, qid, loss="hinge", tol=1e-6)
    assert kinds[0] is np.float32
    assert kinds[-1] is np.float64
    assert here.status_ == there.status_ == "converged"
    for one, two in ((here, there), (there, here)):
        assert one.objective_ * (1 - one.dual_gap_) <= two.objective_


def test_a_step_has_solved_the_equations_it_comes_from():
    X, y, qid = rows(10, n=300, n_queries=10)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y, qid), Parameters()
    ).objective
    start = problem.evaluate(np.zeros(problem.size))
    matrix = NewtonMatrix.of(start.newton_system(np.float64))
    step = matrix.step(start.gradient)
    assert matrix.has_solved(start, step)
    assert matrix.has_solved(start, 0.95 * step)
    assert not matrix.has_solved(start, 0.85 * step)
    assert not matrix.has_solved(start, np.zeros(problem.size))


def noisy(n=4000, n_queries=40):
    """Noisy levels in queries, of 40 features that correlate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 40)) @ (np.eye(40) + 0.1)
    utility = X @ rng.normal(size=40) / np.sqrt(40) + rng.normal(size=n)
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.8, 0.95])).astype(float)
    return X, y, np.sort(rng.integers(0, n_queries, n))


class Formed:
    """Counts the Hessians that are formed within."""

    def __enter__(self):
        system = LinearEvaluation.newton_system
        self.n = 0

        def counting(*args, **options):
            self.n += 1
            return system(*args, **options)

        self._patch = patch.object(LinearEvaluation, "newton_system", counting)
        self._patch.start()
        return self

    def __exit__(self, *_):
        self._patch.stop()


def by_newton(objective, n_products, tol):
    """Return the result of steps from zero, and how many Hessians these formed."""
    with Formed() as formed:
        zero, progress = np.zeros(objective.size), Progress(tol)
        return newton(objective, zero, progress, n_products=n_products), formed.n


def objective_of(loss, X, y, qid, C=1.0, n_threads=1):
    parameters = Parameters(C=C, loss=loss, n_threads=n_threads)
    preferences = Preferences.from_labels(y, qid)
    return make_problem(DesignMatrix.from_array(X), preferences, parameters).objective.smoothed()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_products_take_the_place_of_all_hessians_but_the_first(loss, C):
    X, y, qid = noisy()
    objective = objective_of(loss, X, y, qid, C)
    exact, n_exact = by_newton(objective, 0, 1e-5)
    result, n_formed = by_newton(objective, 20, 1e-5)
    assert n_formed == 1 < n_exact
    assert result.status is exact.status is Status.CONVERGED
    assert result.history[-1].n_products <= 1 + 5 * result.n_iter
    assert result.n_iter <= exact.n_iter + 4
    of_steps = np.diff([line.n_products for line in result.history])
    assert of_steps.min() >= 1  # which one by a Hessian that serves again would not take
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    of_loss = reference.hinge_objective if loss == "hinge" else reference.objective
    assert of_loss(pairs, X, result.weights) <= result.value * (1 + 1e-12)
    assert result.value == pytest.approx(exact.value, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_that_would_take_too_many_products_has_its_hessian(loss):
    X, y, qid = noisy()
    objective = objective_of(loss, X, y, qid, 1e2)
    result, n_formed = by_newton(objective, 1, 1e-6)
    assert result.status is Status.CONVERGED
    assert n_formed > 1
    assert result.value == pytest.approx(by_newton(objective, 0, 1e-6)[0].value, rel=2e-6)


@pytest.mark.parametrize("every", [1, 2])
def test_products_that_do_not_solve_for_two_steps_in_a_row_are_left(every):
    X, y, qid = noisy()
    n_asked = []

    def hardly_done(*args):
        n_asked.append(args[-1])
        step, n_products = conjugate_gradients(*args)
        return step, n_products if len(n_asked) % every else args[-1]

    with patch.object(import_module("ranksvm.solvers.newton"), "conjugate_gradients", hardly_done):
        result, n_formed = by_newton(objective_of("hinge", X, y, qid, 1e2), 10, 1e-6)
    assert result.status is Status.CONVERGED
    if every == 1:
        assert n_asked == [11, 11]
        assert n_formed >= result.n_iter - 1
    else:
        assert len(n_asked) > 4


@pytest.mark.parametrize("loss", LOSSES)
def test_every_number_of_threads_takes_the_same_products(loss):
    X, y, qid = noisy(n=6000, n_queries=200)
    one, two = (by_newton(objective_of(loss, X, y, qid, 10.0, n), 9, 1e-6)[0] for n in (1, 2))
    np.testing.assert_array_equal(one.weights, two.weights)
    assert [line.n_products for line in one.history] == [line.n_products for line in two.history]


def test_minima_of_a_wide_way_have_hessians():
    X, y, qid = rows(40)
    objective = objective_of("hinge", X, y, qid)
    progress = Progress(1e-7)
    asked = []

    def products(model, *args):
        asked.append(model.width)
        return conjugate_gradients(model, *args)

    with patch.object(import_module("ranksvm.solvers.newton"), "conjugate_gradients", products):
        newton(objective, np.zeros(40), progress, n_products=20)
    assert max(progress.widths) > 1  # on a way that began anew, wide, after steps cut short
    began = int(np.argmax(progress.widths))
    assert 0 < len(asked) < began
    assert max(asked) <= 1
    assert len(progress.history) > began + 10


def test_problems_nearby_begin_with_the_last_hessian():
    X, y, qid = noisy()
    of_each = [Parameters(C=C, loss="hinge", tol=1e-4) for C in (1.0, 2.0, 4.0)]
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), of_each[0])
    n_formed = {}
    for n_products in (0.0, 20.0):
        choice = SolverChoice("newton", kinks=True, n_products=n_products)
        with Formed() as formed:
            solved = dict(solve_grid(replace(problem, choice=choice), of_each))
        n_formed[n_products] = formed.n
        assert all(result.dual_gap <= 1e-4 for result in solved.values())
    assert n_formed[20.0] == 1 < 4 < n_formed[0.0]


@pytest.mark.parametrize("seed", range(3))
def test_a_way_that_begins_wide_goes_the_same_with_products(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 80))
    y = np.digitize(rng.normal(size=60), [-0.5, 0.5]).astype(float)
    objective = objective_of("hinge", X, y, np.zeros(60), 1e4)
    results = []
    for n_products in (0, 20):
        progress = Progress(1e-6)
        results.append(newton(objective, np.zeros(80), progress, n_products=n_products))
        assert progress.widths[0] > 1
    np.testing.assert_array_equal(results[0].weights, results[1].weights)
    assert [line.n_products for line in results[0].history] == [
        line.n_products for line in results[1].history
    ]
