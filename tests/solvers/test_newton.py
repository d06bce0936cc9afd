"""Which Hessian Newton steps come from: that where they begin, or one that serves again."""

from importlib import import_module
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest

import reference
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearEvaluation
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers.cholesky import ScaledCholesky
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
    X, y, qid = rows(40, n=300, n_queries=10)  # steps that leave much
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
