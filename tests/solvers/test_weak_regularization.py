"""Few rows or pairs with large C: from wide to narrow."""

import numpy as np
import pytest
from scipy import sparse

from cases import optimum
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.linear.training import make_problem
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Progress, newton, trust_region
from ranksvm.solvers.first_width import with_first_width
from ranksvm.solvers.smoothing import CLOSE, Continuation

every_loss = pytest.mark.parametrize("loss", LOSSES)


def few_rows(seed=0, n=60, d=150, levels=4):
    """Sparse rows of three queries, which weights can order as they like."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
    y = rng.integers(0, levels, n).astype(float)
    return X, y, rng.integers(0, 3, n)


def solve(X, y, qid, loss, C, place=None, solver="trust_region", **parameters):
    parameters = Parameters(loss=loss, C=C, solver=solver, **parameters)
    matrix = DesignMatrix.from_array(X) if place is None else place.matrix(X, solver)
    return train(matrix, Preferences.from_labels(y, qid), parameters=parameters).result


@every_loss
@pytest.mark.parametrize("C", [1.0, 1e3, 1e4])
def test_reaches_the_optimum_in_few_products(loss, C, place):
    X, y, qid = few_rows()
    result = solve(X, y, qid, loss, C, place, tol=1e-6)
    assert str(result.status) == "converged"
    assert result.solver == "trust_region"
    w, value = optimum(loss, X, y, qid, C)
    assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-6)
    assert result.value * (1 - result.dual_gap) <= value * (1 + 1e-9)
    assert np.linalg.norm(result.weights - w) <= np.sqrt(2.1e-6 * value)
    # A start at the width of the loss takes several times as many, or stalls.
    assert result.history[-1].n_products < 1000


@every_loss
def test_no_bound_on_the_way_exceeds_the_optimum(loss):
    X, y, qid = few_rows(1)
    _, value = optimum(loss, X, y, qid, 1e3)
    result = solve(X, y, qid, loss, 1e3, tol=1e-8)
    bounds = [line.value * (1 - line.dual_gap) for line in result.history]
    assert max(bounds) <= value * (1 + 1e-9)
    assert min(line.value for line in result.history) >= value * (1 - 1e-9)


@pytest.mark.parametrize(
    ("loss", "d", "C", "wide"),
    [
        ("hinge", 150, 1e4, True),
        ("hinge", 150, 1e-3, False),
        ("hinge", 40, 1e4, True),
        ("squared_hinge", 150, 1e4, True),
        ("squared_hinge", 150, 1e-3, False),
        ("squared_hinge", 40, 1e4, True),
    ],
)
def test_goes_wide_where_regularization_is_weak(loss, d, C, wide):
    X, y, qid = few_rows(2, d=d)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y, qid), Parameters(loss=loss, C=C)
    )
    here = problem.objective.smoothed().evaluate(np.zeros(d))
    assert here.begins_wide == (loss == "hinge" and d == 150)
    there = here.widened()
    assert (there is not None) == wide
    if wide:
        assert there.width == pytest.approx(1 / here.dual.multiple)
        assert there.dual.multiple == pytest.approx(1, rel=1e-6)


def test_close_to_the_end_no_way_begins_wide():
    X, y, qid = few_rows(2)
    w = solve(X, y, qid, "hinge", 1e3, tol=1e-3).weights
    parameters = Parameters(loss="hinge", C=1e3)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)
    start = problem.objective.smoothed().evaluate(w)
    assert start.begins_wide
    assert Continuation().begun(start, (1 - 0.9 * CLOSE) * start.value) is start
    assert Continuation().begun(start, (1 - 1.1 * CLOSE) * start.value).width > start.width


@pytest.mark.parametrize(
    ("n", "levels", "wide"), [(59, 2, True), (61, 2, False), (37, 5, True), (38, 5, False)]
)
def test_the_fewer_levels_the_more_rows_are_few(n, levels, wide):
    """A query of n rows with L levels counts as n (1 - 1/L)."""
    X = np.random.default_rng(0).normal(size=(n, 30))
    preferences = Preferences.from_labels(np.arange(n) % levels)
    problem = make_problem(DesignMatrix.from_array(X), preferences, Parameters(loss="hinge"))
    assert problem.objective.has_few_rows(by_levels=True) == wide


def test_dense_rows_that_can_just_be_divided_take_few_products():
    """Two levels in fewer rows than twice as many as features: the way is wide from the start."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 220))
    y = (X @ rng.normal(size=220) / 15 + rng.normal(size=300) > 0).astype(float)
    result = solve(X, y, None, "hinge", 1e3, tol=1e-3)
    assert str(result.status) == "converged"
    assert result.solver == "trust_region"
    assert result.history[-1].n_products < 1500


@every_loss
@pytest.mark.parametrize("solver", ["newton", "row_space"])
def test_newton_steps_go_from_wide_to_narrow_where_few_pairs_decide(loss, solver):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 150)) < 0.05).astype(float)
    qid = np.arange(300) // 10
    y = (X @ rng.normal(size=150) + 0.5 * rng.normal(size=300) > 0).astype(float)
    result = solve(X, y, qid, loss, 1e3, solver=solver, tol=1e-6)
    assert str(result.status) == "converged"
    w, value = optimum(loss, X, y, qid, 1e3)
    assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-6)
    assert np.linalg.norm(result.weights - w) <= np.sqrt(2.1e-6 * value)
    # At the loss as it is, each step lifts other pairs across the kink: there are many tiny steps.
    assert result.history[-1].n_products < 35
    bounds = [line.value * (1 - line.dual_gap) for line in result.history]
    assert max(bounds) <= value * (1 + 1e-9)


@every_loss
def test_newton_steps_go_on_where_products_gave_up_on_a_wide_way(loss):
    X, y, qid = few_rows(2)
    parameters = Parameters(loss=loss, C=1e3, solver="newton")
    preferences = Preferences.from_labels(y, qid)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    objective, zero = problem.objective.smoothed(), np.zeros(X.shape[1])
    value = optimum(loss, X, y, qid, 1e3)[1]
    n_steps = []
    for resumes in (False, True):
        progress = Progress(1e-6)
        with progress.patient(lambda progress: not 1 < progress.latest.width < 100):
            assert trust_region(objective, zero, progress).status == "given_up"
        n_before = len(progress.history)
        result = newton(objective, zero, progress, resumes=resumes)
        assert result.status == "converged"
        assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-6)
        bounds = [line.value * (1 - line.dual_gap) for line in result.history]
        assert max(bounds) <= value * (1 + 1e-9)
        n_steps.append(len(result.history) - n_before - 1)
    assert n_steps[1] < n_steps[0]


@every_loss
def test_begins_anew_at_weights_that_are_nearly_optimal_and_at_zero_otherwise(loss):
    X, y, qid = few_rows(2)
    first = solve(X, y, qid, loss, 1e3, tol=1e-6)
    parameters = Parameters(loss=loss, C=4e3, solver="trust_region", tol=1e-4)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)
    objective = problem.objective.smoothed()
    near = with_first_width(objective.evaluate(first.weights), -np.inf)
    np.testing.assert_array_equal(near.widened().weights, first.weights)
    astray = np.random.default_rng(0).normal(size=X.shape[1])
    assert not objective.evaluate(astray).widened().weights.any()
    counts = []
    for w0 in (np.zeros(X.shape[1]), astray, first.weights):
        result = problem.minimize(parameters, w0)
        assert str(result.status) == "converged"
        assert result.value <= objective.evaluate(w0).value * (1 + 1e-7)  # rounding is added
        counts.append(result.history[-1].n_products)
    if loss == "hinge":
        assert counts[1] == counts[0]
    assert counts[1] < 1.1 * counts[0]
    assert counts[0] > 2 * counts[2]


@every_loss
def test_scales_of_features_do_not_hold_it_up(loss):
    X, y, qid = few_rows(3)
    X = X * 10 ** np.random.default_rng(4).uniform(-2, 2, X.shape[1])
    result = solve(X, y, qid, loss, 1e3, tol=1e-3)
    assert str(result.status) == "converged"
    value = optimum(loss, X, y, qid, 1e3)[1]
    assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-3)


@every_loss
def test_rows_that_repeat_and_contradict_each_other(loss):
    X, y, qid = few_rows(5, n=40)
    X, y, qid = np.r_[X, X[:10]], np.r_[y, 3 - y[:10]], np.r_[qid, qid[:10]]
    result = solve(X, y, qid, loss, 1e3, tol=1e-4)
    assert str(result.status) == "converged"
    value = optimum(loss, X, y, qid, 1e3)[1]
    assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-4)


@every_loss
def test_any_number_of_threads_gives_the_same_bits(loss):
    X, y, qid = few_rows(6, n=3_000, d=4_000)
    X = sparse.csr_matrix(X * (np.abs(X) > 1.5))
    one, *more = (solve(X, y, qid, loss, 1e3, max_iter=12, n_threads=n) for n in (1, 2, 3))
    for other in more:
        np.testing.assert_array_equal(other.weights, one.weights)
        assert (other.value, other.dual_gap) == (one.value, one.dual_gap)


@every_loss
def test_the_minima_of_two_widths_tell_where_the_way_leads(monkeypatch, loss):
    X, y, qid = few_rows(3)
    _, value = optimum(loss, X, y, qid, 1e4)
    left = []

    def limit(self, minimum, original=Continuation.limit):
        there = original(self, minimum)
        if there is not None:
            assert there.value >= value * (1 - 1e-9)
            left.append((minimum.value / value - 1, there.value / value - 1))
        return there

    monkeypatch.setattr(Continuation, "limit", limit)
    result = solve(X, y, qid, loss, 1e4, tol=1e-6)
    assert str(result.status) == "converged"
    near = [there / here for here, there in left if here < 3]
    assert len(near) >= 3
    assert max(near) < 0.1


def test_a_limit_that_is_near_enough_ends_the_way():
    X, y, qid = few_rows(3)
    _, value = optimum("hinge", X, y, qid, 1e4)
    result = solve(X, y, qid, "hinge", 1e4, tol=1e-3)
    last, end = result.history[-2:]
    assert str(result.status) == "converged"
    assert end.dual_gap <= 1e-3 < last.dual_gap
    assert (end.n_products, end.step) == (last.n_products, 0.0)
    assert value * (1 - 1e-9) <= result.value <= value * (1 + 1e-3)


def test_only_minima_of_a_wide_way_lead_anywhere():
    X, y, qid = few_rows(3)
    parameters = Parameters(loss="hinge", C=1e4, solver="trust_region")
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)
    here = problem.objective.smoothed().evaluate(np.zeros(X.shape[1]))
    narrow = Continuation()
    assert narrow.limit(here) is None
    assert narrow.limit(here.narrowed(0.1)) is None
    wide = Continuation()
    here = wide.widened(here)
    assert wide.limit(here) is None
    assert wide.limit(here.narrowed(10.0)) is None
    assert wide.limit(here) is not None


def test_a_resumed_way_that_leads_nowhere_begins_anew_from_zero():
    """Minima of the solver before may have been too inexact for Newton steps to go on from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(float)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y), Parameters(loss="hinge", C=1e4)
    )
    zero = problem.objective.smoothed().evaluate(np.zeros(50))
    there = zero.along(rng.normal(size=50)).trial(1.0).evaluation.narrowed(1e-3)
    way = Continuation(foresees=True)
    assert way.resumed(there, zero) is there
    assert all(way.begun_anew(there, 0.01, 9e-3) is None for _ in range(4))  # close to the end
    assert way.begun_anew(there, 0.01, 1e-2) is None
    assert way.begun_anew(there, 0.01, 1e-2) is None
    anew = way.begun_anew(there, 0.01, 1e-2)
    assert not anew.weights.any()
    assert anew.width > 1
    assert all(way.begun_anew(there, 0.01) is None for _ in range(4))
