"""Interior points of the squared hinge: the same optimum as Newton steps, in far fewer steps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from ranksvm import RankSVM
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.interior_point import interior_point
from ranksvm.linear.interior_problem import InteriorProblem
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.row_space import RowSpace
from ranksvm.linear.stages import InteriorLast
from ranksvm.linear.training import Problem, make_problem
from ranksvm.pairs.given import GivenPreferences
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import CuttingPlanes, Progress, Status, newton, planes_last

# More features than rows, as many, and fewer.
SHAPES = [(60, 90), (60, 60), (150, 60)]


def nearly_separable(n, d, seed=0, length=10):
    """Rows of queries, with features of different scales, of which a part tells their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    y = (X[:, : d // 4].sum(axis=1) + rng.normal(size=n)).round()
    return X, y, np.arange(n) // length


def of_many_scales(n, d, scale=3.0):
    """Rows of features of scales as far apart as a thousandth and a thousand, and any labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.exp(scale * rng.normal(size=d))
    return X, rng.normal(size=n), np.arange(n) // 20


def problem_of(X, preferences, C, tol=1e-9, n_threads=1) -> tuple[Problem, Parameters]:
    parameters = Parameters(C=C, tol=tol, solver="newton", n_threads=n_threads)
    matrix = DesignMatrix.from_array(X)
    problem = make_problem(matrix, preferences, parameters)
    rows = RowSpace(matrix, n_threads)
    return replace(problem, objective=replace(problem.objective, rows=rows)), parameters


def solved(problem, tol=1e-9, w0=None):
    w0 = np.zeros(problem.objective.size) if w0 is None else w0
    return interior_point(problem.objective, w0, Progress(tol=tol), max_steps=100)


def assert_same_optimum(problem, parameters, tol=1e-9):
    here, there = solved(problem, tol), problem.minimize(parameters)
    assert (str(here.status), str(there.status)) == ("converged", "converged")
    assert here.value * (1 - here.dual_gap) <= there.value
    assert there.value * (1 - there.dual_gap) <= here.value
    return here, there


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("shape", SHAPES)
def test_same_optimum_as_newton(shape, C, storage):
    X, y, qid = nearly_separable(*shape)
    preferences = Preferences.from_labels(y, qid)
    assert_same_optimum(*problem_of(storage(X), preferences, C))


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_labels_queries_and_weights(data):
    n, d = data.draw(st.integers(2, 14)), data.draw(st.integers(1, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.integers(-2, 3, (n, d)) * 10.0 ** data.draw(st.integers(-3, 3))  # some rows repeat
    y = np.append(rng.integers(0, data.draw(st.integers(1, 4)), n - 2), [0, 1]).astype(float)
    qid = np.append(rng.integers(0, 3, n - 2), [0, 0])
    sample_weight = rng.integers(0, 3, n) + (np.arange(n) >= n - 2)
    preferences = Preferences.from_labels(y, qid, sample_weight=sample_weight.astype(float))
    assert_same_optimum(
        *problem_of(X, preferences, 10.0 ** data.draw(st.integers(-2, 3)), 1e-7), 1e-7
    )


def test_given_pairs_with_margins():
    X, y, _ = nearly_separable(80, 50)
    rng = np.random.default_rng(1)
    i, j = rng.permutation(80)[:40], rng.permutation(80)[:40]
    i, j = i[i != j], j[i != j]
    better = np.where(y[i] >= y[j], i, j)
    weight, margin = rng.uniform(0.5, 2, len(i)), rng.uniform(0, 2, len(i))
    winner, loser = better.astype(np.uint32), (i + j - better).astype(np.uint32)
    groups = Preferences.from_labels(y, None).groups
    preferences = GivenPreferences(winner, loser, groups, weight, margin, has_queries=False)
    problem, parameters = problem_of(X, preferences, 10.0)
    assert_same_optimum(problem, parameters)


def test_steps_are_a_fraction_of_those_of_newton():
    X, y, qid = nearly_separable(600, 200)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), 100.0, 1e-6)
    here, there = assert_same_optimum(problem, parameters, 1e-6)
    assert 2 * len(here.history) < len(there.history)


@pytest.mark.parametrize(("C", "most"), [(1.0, 12), (1000.0, 18)])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_steps_are_few_where_one_multiple_of_all_slopes_serves_few_pairs(storage, C, most):
    X, y, qid = of_many_scales(60, 90)
    problem, parameters = problem_of(storage(X), Preferences.from_labels(y, qid), C, 1e-6)
    here, _ = assert_same_optimum(problem, parameters, 1e-6)
    assert len(here.history) <= most


@pytest.mark.parametrize(
    ("d", "scale", "length", "C", "owns"),
    [
        (90, 3.0, 20, 1.0, True),
        (90, 3.0, 3, 1.0, False),  # hardly more pairs than rows
        (2000, 0.0, 20, 1.0, False),  # features of one scale
        (90, 3.0, 20, 1e-12, False),  # scores are next to nothing
    ],
)
def test_weights_are_their_own_where_pairs_are_many_and_unlike(d, scale, length, C, owns):
    X, y, _ = of_many_scales(60, d, scale)
    problem, _ = problem_of(X, Preferences.from_labels(y, np.arange(60) // length), C)
    assert (InteriorProblem.of(problem.objective).start().own is not None) == owns


@pytest.mark.parametrize(
    ("scale", "n_queries", "n_again", "C"),
    [(1.0, 20, 20, 1e6), (1.0, 15, 20, 1e6), (1.0, 15, 30, 1e6), (3.0, 15, 30, 1.0)],
)
def test_weights_of_their_own_go_on_where_those_of_slopes_lead_nowhere(
    scale, n_queries, n_again, C
):
    X, y, _ = of_many_scales(60, 90, scale)
    X[-n_again:] = X[:n_again]  # with other labels
    preferences = Preferences.from_labels(y, np.arange(60) % n_queries)
    problem, parameters = problem_of(X, preferences, C, 1e-6)
    assert InteriorProblem.of(problem.objective).start().own is None
    here, _ = assert_same_optimum(problem, parameters, 1e-6)
    assert len(here.history) <= 16


@pytest.mark.parametrize("shape", SHAPES)
def test_start_that_is_kept_if_none_is_better(shape):
    X, y, qid = nearly_separable(*shape)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), 10.0)
    best = problem.minimize(parameters).weights
    there = solved(problem, 1e-6, best)
    assert len(there.history) == 1
    np.testing.assert_array_equal(there.weights, best)


@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_any_number_of_threads(shape):
    X, y, qid = nearly_separable(*shape)
    preferences = Preferences.from_labels(y, qid)
    weights = [
        solved(problem_of(X, preferences, 10.0, 1e-6, k)[0], 1e-6).weights for k in (1, 2, 3)
    ]
    for others in weights[1:]:
        np.testing.assert_array_equal(weights[0], others)


def test_newton_steps_make_way():
    X, y, qid = nearly_separable(600, 200)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), 100.0, 1e-6)
    progress = Progress(tol=1e-6)
    result = InteriorLast(12.0).minimize(newton, problem.objective, np.zeros(200), progress)
    solvers = [line.solver for line in result.history]
    assert str(result.status) == "converged"
    assert [*dict.fromkeys(solvers)] == ["newton", "interior_point"]
    assert 6 <= solvers.count("newton") < 20
    there = problem.minimize(parameters)
    assert result.value == pytest.approx(there.value, rel=2e-6)


def test_what_rounding_keeps_from_them_is_left_to_others():
    """Rows that repeat, of features whose scales differ by far: no inverse leads anywhere."""
    X, y, qid = nearly_separable(60, 90)
    X[1::3] = X[::3]
    X *= 1e6
    X[:, :3] *= 1e5
    model = RankSVM(tol=1e-3).fit(X, y, qid)
    assert model.status_ == "converged"
    assert model.history_[-1].solver == "trust_region"


@pytest.mark.parametrize(("worth", "others"), [(20.0, {"interior_point"}), (500.0, set())])
def test_planes_go_before_them_as_far_as_they_promise_to_be_quicker(worth, others):
    X, y, qid = nearly_separable(600, 200)
    problem, parameters = problem_of(X, Preferences.from_labels(y, qid), 10.0, 1e-6)
    progress = Progress(tol=1e-6)
    interior = InteriorLast(12.0, n_planes=worth)
    result = interior.minimize(newton, problem.objective, np.zeros(200), progress)
    assert str(result.status) == "converged"
    assert {line.solver for line in result.history} == {"newton", "bundle", *others}
    assert result.value == pytest.approx(problem.minimize(parameters).value, rel=2e-6)


def test_planes_that_are_given_up_stay_for_others():
    X, y, qid = nearly_separable(600, 200)
    problem, _ = problem_of(X, Preferences.from_labels(y, qid), 10.0, 1e-6)
    planes = CuttingPlanes(200, 1)

    def steps(objective, w0, progress):
        interior = InteriorLast(12.0, n_planes=20.0)
        return interior.minimize(newton, objective, w0, progress)

    result = planes_last(steps, problem.objective, np.zeros(200), Progress(tol=1e-6), planes=planes)
    n_planes = sum(line.solver == "bundle" for line in result.history)
    assert len(planes) == n_planes > 5


def test_columns_and_their_products_are_for_planes():
    """They tell nearly all rows apart, with scales that differ by far."""
    X, y = load_breast_cancer(return_X_y=True)
    first, second = np.triu_indices(X.shape[1])
    model = RankSVM(1.0).fit(np.hstack((X, X[:, first] * X[:, second])), y)
    assert model.status_ == "converged"
    assert model.history_[-1].solver == "bundle"
    assert "interior_point" not in {line.solver for line in model.history_}


def test_newton_steps_that_end_soon_do_not():
    X, y, qid = nearly_separable(2000, 20)
    problem, _ = problem_of(X, Preferences.from_labels(y, qid), 1.0)
    progress = Progress(tol=1e-9)
    result = InteriorLast(12.0).minimize(newton, problem.objective, np.zeros(20), progress)
    assert {line.solver for line in result.history} == {"newton"}


@pytest.mark.parametrize(
    ("n", "d", "length", "name", "first", "worth"),
    [
        (400, 600, 20, "row_space", True, True),  # few pairs
        (1800, 600, 20, "newton", True, True),
        (1800, 600, 1800, "newton", False, False),  # so many that each step costs as much as fifty
        (20_000, 40, 20, "newton", False, False),
    ],
)
def test_choice(n, d, length, name, first, worth):
    X, y, qid = nearly_separable(n, d, length=length)
    preferences = Preferences.from_labels(y, qid)
    choice = choose_solver(DesignMatrix.from_array(X), preferences, Parameters())
    assert choice.name == name
    assert (choice.interior is not None) == worth
    assert choice.products.solves_models is not first
    assert choice.interior is None or choice.interior.is_first is first
    of_hinge = choose_solver(DesignMatrix.from_array(X), preferences, Parameters(loss="hinge"))
    assert of_hinge.interior is None


def test_auto_takes_them_and_warm_starts_do_not_begin_with_them():
    X, y, qid = nearly_separable(200, 300, length=20)
    model = RankSVM(10.0, tol=1e-6).fit(X, y, qid)
    assert model.status_ == "converged"
    assert model.history_[-1].solver == "interior_point"
    by_newton = RankSVM(10.0, tol=1e-6, solver="row_space").fit(X, y, qid)
    assert model.objective_ == pytest.approx(by_newton.objective_, rel=2e-6)
    again = RankSVM(10.0, warm_start=True)
    again.weights_ = model.weights_
    again.fit(X + 1e-6 * np.random.default_rng(1).normal(size=X.shape), y, qid)
    assert {line.solver for line in again.history_} == {"row_space"}


@pytest.fixture
def starts(monkeypatch):
    """Return whether steps go first, and whether from other weights than zero, of each."""
    starts, minimize = [], InteriorLast.minimize

    def noted(interior, steps, objective, w0, progress):
        starts.append((interior.takes_steps(w0), w0.any()))
        return minimize(interior, steps, objective, w0, progress)

    monkeypatch.setattr(InteriorLast, "minimize", noted)
    return starts


@pytest.mark.parametrize(("n_steps", "taken"), [(1.0, False), (9.0, True)])
def test_weights_to_start_from_save_none_of_so_few_steps(n_steps, taken, starts):
    X, y, qid = nearly_separable(200, 300, length=20)
    parameters = Parameters(C=10.0, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)
    interior = replace(problem.choice.interior, n_steps=n_steps)
    assert interior.is_first
    choice = replace(problem.choice, interior=interior)
    result = replace(problem, choice=choice).minimize(parameters, np.full(300, 1e-3))
    assert result.status is Status.CONVERGED
    assert ("row_space" in {line.solver for line in result.history}) is taken
    assert starts == [(taken, True)]


def test_products_of_dense_rows_begin_and_interior_points_begin_at_zero_all_the_same(starts):
    X, y, qid = nearly_separable(200, 300, length=20)
    model = RankSVM(10.0, tol=1e-6).fit(X, y, qid)
    assert model.history_[0].solver == "trust_region"
    assert starts == [(False, False)]
    preferences = Preferences.from_labels(y, qid)
    for n_filled, is_dense in ((300, True), (20, False)):
        X[:, n_filled:] = 0.0
        stored = DesignMatrix.from_array(sparse.csr_matrix(X))
        assert choose_solver(stored, preferences, Parameters()).where.from_zero is is_dense


def test_newton_steps_that_are_about_to_end_go_on():
    """With a large C, the gap tells of the end hardly sooner than it comes, but the value does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1000))[rng.integers(0, 300, 600)]
    y = rng.integers(0, 3, 600)
    model = RankSVM(1e3).fit(X, y)
    assert model.status_ == "converged"
    assert model.history_[-2].dual_gap > 0.5
    assert {line.solver for line in model.history_[1:]} == {"row_space"}
