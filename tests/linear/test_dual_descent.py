"""Descent by the slopes of pairs: optima that other solvers find, and where it gives up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from ranksvm._core import DualDescent
from ranksvm.linear import choice_by_cost
from ranksvm.linear import dual_descent as descent
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.costs import Costs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.dual_descent import dual_descent
from ranksvm.linear.known import LastSolution
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.stages import FREE_PASSES, DescentFirst
from ranksvm.linear.training import make_problem, progress_of
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Status
from ranksvm.solvers.patience import LINEAR, Patience


def text(seed, n=60, d=40, queries=15, levels=3, noise=0.0):
    """Return sparse rows, labels that follow them but for noise, and queries in no order."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.15)
    X[rng.integers(0, n, 5)] = X[rng.integers(0, n, 5)]
    utility = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    y = np.floor(levels * np.argsort(np.argsort(utility)) / n)
    return X, y, rng.integers(0, queries, n)


def problem_of(X, preferences, **options):
    parameters = Parameters(**{"loss": "hinge", "tol": 1e-6, "n_threads": 1} | options)
    rows = DesignMatrix.from_array(sparse.csr_matrix(X))
    return make_problem(rows, preferences, parameters), parameters


def minimized(X, preferences, *, w0=None, work=1000.0, **options):
    """Minimise as long as that promises to end within such work."""
    problem, parameters = problem_of(X, preferences, **options)
    start = np.zeros(problem.objective.size) if w0 is None else w0
    progress = progress_of(parameters, None)
    with progress.patient(Patience(work, free=FREE_PASSES / work, pace=LINEAR)):
        return dual_descent(problem.objective, start, progress)


OBJECTIVES = {
    "hinge": reference.hinge_objective,
    "squared_hinge": reference.objective,
}


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@given(seed=st.integers(0, 1000))
def test_the_optimum_is_that_of_explicit_pairs(loss, C, seed):
    X, y, qid = text(seed)
    preferences = Preferences.from_labels(y, qid)
    result = minimized(X, preferences, C=C, tol=1e-4, loss=loss)
    assert result.status in (Status.CONVERGED, Status.GIVEN_UP)
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    if result.status is Status.CONVERGED:
        exact = OBJECTIVES[loss](pairs, X, result.weights)
        assert exact == pytest.approx(result.value, rel=1e-9)
    problem, parameters = problem_of(X, preferences, C=C, solver="newton", loss=loss)
    other = problem.minimize(parameters)
    assert result.value * (1 - result.dual_gap) <= other.value * (1 + 1e-9)
    assert other.value * (1 - other.dual_gap) <= result.value * (1 + 1e-9)


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize("pair_weight", [None, "gap"])
def test_weights_of_rows_queries_and_gaps(loss, pair_weight):
    X, y, qid = text(5)
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 3, len(y)).astype(float)
    of_queries = rng.uniform(0.5, 2, len(np.unique(qid)))
    preferences = Preferences.from_labels(y, qid, weight, of_queries).weighed(pair_weight)
    options = {"C": 2.0, "pair_weight": pair_weight, "loss": loss}
    result = minimized(X, preferences, **options)
    assert result.status is Status.CONVERGED
    problem, parameters = problem_of(X, preferences, **options, solver="newton", tol=1e-8)
    assert result.value == pytest.approx(problem.minimize(parameters).value, rel=2e-6)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e5])
def test_rounding_at_the_kinks_does_not_end_it(C):
    for seed in range(40):
        X, y, qid = text(seed, n=80, d=60, queries=25)
        result = minimized(X, Preferences.from_labels(y, qid), C=C, tol=1e-9)
        assert result.status is Status.CONVERGED


def test_where_rounding_keeps_it_is_told_soon():
    for seed in range(10):
        X, y, qid = text(seed, n=80, d=60, queries=25)
        preferences = Preferences.from_labels(y, qid)
        result = minimized(X, preferences, C=1e5, tol=1e-12, loss="squared_hinge")
        assert result.status in (Status.GIVEN_UP, Status.STALLED)
        assert result.n_iter < 500
        assert result.dual_gap < 1e-5


def test_every_number_of_threads_gives_the_same():
    X, y, qid = text(6)
    preferences = Preferences.from_labels(y, qid)
    weights = [minimized(X, preferences, n_threads=k).weights for k in (1, 2, 3)]
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


def test_some_rows_of_a_matrix_are_rows_of_their_own():
    X, y, qid = text(7)
    some = np.arange(0, len(y), 2)
    rows = DesignMatrix.from_array(sparse.csr_matrix(X)).take(some)
    parameters = Parameters(loss="hinge", tol=1e-6, n_threads=1)
    problem = make_problem(rows, Preferences.from_labels(y[some], qid[some]), parameters)
    progress = progress_of(parameters, None)
    result = dual_descent(problem.objective, np.zeros(problem.objective.size), progress)
    alone = minimized(X[some], Preferences.from_labels(y[some], qid[some]))
    assert result.value == pytest.approx(alone.value, rel=2e-6)


def test_a_start_at_the_optimum_is_the_end():
    X, y, qid = text(8)
    preferences = Preferences.from_labels(y, qid)
    first = minimized(X, preferences)
    again = minimized(X, preferences, w0=first.weights, tol=1e-3)
    assert again.value <= first.value * (1 + 1e-3)
    assert again.dual_gap <= 1e-3


@pytest.mark.parametrize(
    ("loss", "C"), [("hinge", 20.0), ("squared_hinge", 20.0), ("squared_hinge", 5.0)]
)
def test_slopes_of_the_last_solution_are_close(loss, C):
    X, y, qid = text(13, n=300, d=100, queries=60, noise=1.0)
    preferences = Preferences.from_labels(y, qid)
    problem, parameters = problem_of(X, preferences, C=10.0, loss=loss, tol=1e-8)
    last, start = LastSolution(), np.zeros(problem.objective.size)
    objective = replace(problem.objective, last=last)
    dual_descent(objective, start, progress_of(parameters, None))
    other = objective.with_c(C / 10.0 * objective.c)
    values, passes = [], []
    for some, close in ((other, True), (replace(other, last=None), False)):
        progress = progress_of(parameters, None)
        result = dual_descent(some, start, progress)
        assert result.status is Status.CONVERGED
        assert (result.history[0].dual_gap < 0.5) is close
        values.append(result.value)
        passes.append(result.history[-1].n_products)
    assert values[0] == pytest.approx(values[1], rel=2e-8)
    assert passes[0] < 0.8 * passes[1]


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize("times", [0.3, 1.1, 30.0])
def test_slopes_of_the_last_solution_are_taken_times_what_is_best_within_bounds(loss, times):
    X, y, qid = text(13, n=300, d=100, queries=60, noise=1.0)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), C=0.1, loss=loss)
    objective = replace(problem.objective, last=LastSolution())
    dual_descent(objective, np.zeros(objective.size), progress_of(parameters, None))
    other = descent.Descent(objective.with_c(times * objective.c))
    assert other.resumes()
    slopes, weights = other._point
    assert (slopes >= 0).all()
    assert (slopes <= other.upper).all()
    assert slopes.any()
    here = other._dual(other._point)
    for longer in (0.99, 1.01):
        is_within = loss == "squared_hinge" or longer < 1
        there = other._dual(descent._Point(longer * slopes, longer * weights))
        assert there < here or not is_within


def test_slopes_of_other_pairs_are_not_taken():
    last, pairs = LastSolution(), object()
    assert last.slopes(pairs, np.ones(2)) is None
    last.keep_slopes(pairs, np.array([0.0, 0.5, 1.0, 2.0]), np.array([1.0, 1.0, 1.0, 2.0]))
    assert last.slopes(object(), np.ones(4)) is None
    bounds = np.array([0.4, 0.4, 3.0, 3.0])
    np.testing.assert_array_equal(last.slopes(pairs, bounds), [0.0, 0.4, 3.0, 3.0])


@pytest.mark.parametrize("loss", OBJECTIVES)
def test_slopes_that_only_grow_are_given_up(loss):
    X, y, qid = text(9, n=300, d=10, queries=100, noise=5.0)
    preferences = Preferences.from_labels(y, qid)
    result = minimized(X, preferences, C=1e6, loss=loss)
    assert result.status is Status.GIVEN_UP
    assert result.history[-1].n_products < 20 * descent.WINDOW


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize(("known", "at_once"), [(0.0, False), (0.9, True)])
def test_passes_far_behind_a_known_bound_are_given_up_at_once(loss, known, at_once):
    X, y, qid = text(9, n=300, d=10, queries=100, noise=5.0)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), C=1e6, loss=loss)
    optimum = problem.minimize(parameters)
    assert optimum.status is Status.CONVERGED
    progress = progress_of(parameters, None)
    progress.lower_bound = known * (1 - optimum.dual_gap) * optimum.value
    start = np.zeros(problem.objective.size)
    gave_up = []

    def other(objective, w0, progress):
        gave_up.append(progress.history[-1].n_products)
        return progress.result(Status.STOPPED)

    DescentFirst(1000.0, 1.0)._minimize(other, problem.objective, start, progress)
    first = 3 * (descent.WINDOW + 1)
    assert gave_up[0] <= first if at_once else gave_up[0] > first


def test_passes_that_would_be_too_many_are_given_up():
    X, y, qid = text(10, n=300, d=100, queries=60, noise=1.0)
    preferences = Preferences.from_labels(y, qid)
    little, enough = (minimized(X, preferences, C=1e3, work=work) for work in (1.0, 1000.0))
    assert little.status is Status.GIVEN_UP
    assert enough.status is Status.CONVERGED
    at_once = FREE_PASSES + 3 * (descent.WINDOW + 1)
    assert little.history[-1].n_products <= at_once < enough.history[-1].n_products


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-160, 1e100, 1e160])
def test_what_is_beyond_floating_point_has_no_false_certificate(loss, scale):
    X, y, qid = text(11)
    result = minimized(scale * X, Preferences.from_labels(y, qid), loss=loss)
    assert 0 <= result.dual_gap <= 1 or not np.isfinite(result.dual_gap)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_beyond_floating_point_are_not_left_to_the_next_solution():
    X, y, qid = text(11)
    problem, parameters = problem_of(1e160 * X, Preferences.from_labels(y, qid))
    objective = replace(problem.objective, last=LastSolution())
    dual_descent(objective, np.zeros(objective.size), progress_of(parameters, None))
    assert not descent.Descent(objective).resumes()


def test_it_takes_far_fewer_passes_with_combined_points(monkeypatch):
    X, y, qid = text(12, n=600, d=420, queries=200)
    preferences = Preferences.from_labels(y, qid)
    with_them = minimized(X, preferences, C=1000.0)
    monkeypatch.setattr(descent.Descent, "_combine", lambda self: None)
    without = minimized(X, preferences, C=1000.0)
    assert with_them.status is without.status is Status.CONVERGED
    assert with_them.history[-1].n_products < 0.7 * without.history[-1].n_products


def shape(n, d, n_per_query, per_row=5):
    """Return sparse rows of a shape, and preferences of distinct labels."""
    rng = np.random.default_rng(0)
    X = sparse.random(n, d, per_row / d, "csr", rng=rng)
    preferences = Preferences.from_labels(rng.permutation(n), np.arange(n) // n_per_query)
    return DesignMatrix.from_array(X), preferences


@pytest.mark.parametrize(
    ("rows", "loss", "goes"),
    [
        (shape(3000, 3000, 5), "hinge", True),
        (shape(3000, 10_000, 5), "hinge", True),
        (shape(3000, 3000, 5), "squared_hinge", True),
        (shape(3000, 100, 5), "squared_hinge", False),
        (shape(3000, 100, 5), "hinge", False),
        (shape(3000, 3000, 3000), "hinge", False),
    ],
)
def test_auto_takes_it_for_short_queries_of_sparse_rows(rows, loss, goes):
    choice = choose_solver(*rows, Parameters(loss=loss))
    assert (choice.descent is not None) is goes


def test_auto_takes_it_only_where_thousands_of_products_cost_no_less(monkeypatch):
    rows = shape(2400, 9000, 600)
    parameters = Parameters(loss="squared_hinge")
    assert choose_solver(*rows, parameters).descent is None
    monkeypatch.setattr(choice_by_cost, "DEAR_PASSES", np.inf)
    assert choose_solver(*rows, parameters).descent is not None


def test_auto_takes_it_for_no_more_features_than_points_have_memory_for():
    rows = shape(3000, 3000, 5)
    for d, goes in ((100_000, True), (1_000_000, False)):
        costs = replace(Costs.of(*rows), d=d)
        choice = choose_solver(*rows, Parameters(loss="hinge"), costs=costs)
        assert (choice.descent is not None) is goes


def test_products_go_before_it_without_kinks():
    rows, preferences = shape(3000, 3000, 5)
    parameters = Parameters(C=1000.0, n_threads=1)
    problem = make_problem(rows, preferences, parameters)
    result = problem.minimize(parameters)
    assert result.status is Status.CONVERGED
    assert result.solver == "trust_region, dual_descent"


@pytest.mark.parametrize(("loss", "times"), [("squared_hinge", 2), ("hinge", 20)])
def test_it_has_to_promise_an_end_in_a_few_times_the_passes_that_it_mostly_takes(loss, times):
    for n, d in ((9000, 9000), (3000, 3000)):  # too many for a Hessian, and a dear one
        choice = choose_solver(*shape(n, d, 5), Parameters(loss=loss, tol=1e-3))
        assert choice.descent.n_passes == times * (50 + 3 * 17)


def test_auto_goes_on_where_it_gives_up():
    rows, preferences = shape(3000, 800, 3)  # which cannot be separated
    parameters = Parameters(C=1e6, loss="hinge", tol=1e-3, n_threads=1)
    problem = make_problem(rows, preferences, parameters)
    assert problem.choice.descent is not None
    result = problem.minimize(parameters)
    assert result.status is Status.CONVERGED
    assert "dual_descent" in result.solver
    assert result.history[-1].solver != "dual_descent"


def arrays(**changed):
    start = np.array([0, 1, 2], np.int64)
    one = np.array([0], np.int32)
    given = {
        "row_start": start,
        "column": np.array([0, 1], np.uint32),
        "value": np.ones(2),
        "n_columns": 2,
        "first_row": np.array([0, 2], np.int64),
        "pair_start": np.array([0, 1], np.int64),
        "better": one,
        "worse": one + np.int32(1),
        "upper": np.ones(1),
        "damping": np.zeros(1),
        "margin": 1.0,
    }
    return given | changed


@pytest.mark.parametrize(("damping", "slope"), [(0.0, 0.5), (2.0, 0.25)])
def test_a_pair_alone(damping, slope):
    core = DualDescent(**arrays(damping=np.full(1, damping)))
    slopes, weights, lacking = np.zeros(1), np.zeros(2), np.zeros(1)
    core.visit(np.array([0]), slopes, weights, lacking)
    np.testing.assert_allclose(slopes, slope)
    np.testing.assert_allclose(weights, [slope, -slope])
    np.testing.assert_allclose(lacking, 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"column": np.array([0, 2], np.uint32)}, "sparse matrix"),
        ({"row_start": np.array([0, 2, 1], np.int64)}, "sparse matrix"),
        ({"row_start": np.array([1, 1, 2], np.int64)}, "sparse matrix"),
        ({"first_row": np.array([0, 3], np.int64)}, "parts of the rows"),
        ({"pair_start": np.array([0, 2], np.int64)}, "those of the queries"),
        ({"better": np.array([2], np.int32)}, "those of the queries"),
        ({"worse": np.array([-1], np.int32)}, "those of the queries"),
        ({"damping": np.zeros(2)}, "those of the queries"),
    ],
)
def test_what_does_not_fit_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        DualDescent(**arrays(**changed))


@pytest.mark.parametrize("sizes", [(2, 2, 1), (1, 1, 1), (1, 2, 2)])
def test_vectors_of_other_lengths_are_refused(sizes):
    with pytest.raises(ValueError, match="a slope for each pair"):
        DualDescent(**arrays()).visit(np.array([0]), *map(np.zeros, sizes))


def test_queries_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="a slope for each pair"):
        DualDescent(**arrays()).visit(np.array([1]), np.zeros(1), np.zeros(2), np.zeros(1))
