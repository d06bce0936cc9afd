"""Warm starts along a grid of C: what is known is true, and what is found as good as cold."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import reference
from ranksvm import ConvergenceWarning, RankSVM, ranksvm_grid
from ranksvm.linear import samples
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.grid import by_threes, solve_grid
from ranksvm.linear.known import LEAST_KEPT, LastSolution
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.solver_choice import SolverChoice
from ranksvm.linear.stages import Where
from ranksvm.linear.training import make_problem
from ranksvm.linear.warm_starts import BoundsByC, WarmStart
from ranksvm.names import LOSSES
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import PlanesFirst, ProductsFirst, Progress, Status

CS = np.logspace(-3, 3, 9)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def rows(seed, n, d, kind="noisy"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "scaled":
        X *= 10.0 ** rng.uniform(-2, 2, d)
    if kind == "repeated":
        X = X[rng.integers(0, n // 3, n)]
    utility = X @ rng.normal(size=d) / X.std()
    if kind != "separable":
        utility = utility + np.std(utility) * rng.normal(size=n)
    y = np.digitize(utility, np.quantile(utility, [0.4, 0.7, 0.9]))
    return X, y, np.sort(rng.integers(0, 6, n))


def objective_of(loss, X, y, qid, c=0.5):
    parameters = Parameters(C=c, loss=loss, normalize=None)
    return make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y.astype(float), qid), parameters
    ).objective


def exact(loss, X, y, qid, C, coef):
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    of_loss = reference.hinge_objective if loss == "hinge" else reference.objective
    return of_loss(pairs, X, coef)


@every_loss
@pytest.mark.parametrize("kind", ["noisy", "scaled", "repeated", "separable"])
@pytest.mark.parametrize(
    ("solver", "n", "d"),
    [
        ("auto", 150, LEAST_KEPT + 8),
        ("newton", 150, LEAST_KEPT + 8),
        ("trust_region", 150, LEAST_KEPT + 8),
        ("auto", 40, 90),
        ("row_space", 40, 90),
    ],
)
def test_each_solution_is_as_good_as_a_cold_one(loss, kind, solver, n, d):
    X, y, qid = rows(1, n, d, kind)
    options = {"loss": loss, "solver": solver, "tol": 1e-4}
    layout = csr_matrix if kind == "repeated" else np.ascontiguousarray
    grid = ranksvm_grid(layout(X), y, qid, CS, **options)
    assert set(grid.statuses) == {"converged"}
    assert np.all(grid.dual_gaps <= 1e-4)
    for C, coef, value, gap in zip(CS, grid.coefs, grid.objectives, grid.dual_gaps, strict=True):
        with warnings.catch_warnings():  # the grid gets further than some
            warnings.simplefilter("ignore", ConvergenceWarning)
            cold = RankSVM(C, **options).fit(X, y, qid)
        assert exact(loss, X, y, qid, C, coef) <= value * (1 + 1e-11)
        assert value * (1 - gap) <= cold.objective_ * (1 + 1e-11)
        assert cold.objective_ * (1 - cold.dual_gap_) <= value * (1 + 1e-11)


@every_loss
@given(seed=st.integers(0, 99), c=st.floats(1e-6, 1e6), more=st.floats(1, 1e6))
def test_what_is_known_is_what_would_be_computed(loss, seed, c, more):
    X, y, qid = rows(seed, 30, 3, ["noisy", "scaled", "repeated"][seed % 3])
    objective = objective_of(loss, X, y, qid, c).smoothed().narrowed(0.1)
    w = np.random.default_rng(seed).normal(size=3)
    here = objective.evaluate(w)
    assert here.lower_bound <= here.upper_loss * c + 0.5 * w @ w
    other = objective.with_c(c * more)
    knowing, fresh = other.knowing(here.known).evaluate(w), other.evaluate(w)
    assert knowing.value == fresh.value
    known, computed = (o.upper_value(w) for o in (knowing.objective, other))
    assert known == pytest.approx(computed, rel=1e-11)
    size = np.abs(w) + np.abs(fresh.gradient - w)
    np.testing.assert_array_less(np.abs(knowing.gradient - fresh.gradient), 1e-12 * size + 1e-300)
    assert knowing.lower_bound == pytest.approx(fresh.lower_bound, rel=1e-9, abs=1e-9 * fresh.value)
    passes = other.n_passes
    assert other.knowing(here.known).evaluate(w).duality_gap == knowing.duality_gap
    assert other.knowing(here.known).upper_value(w) == knowing.objective.upper_value(w)
    assert other.n_passes == passes


def test_another_loss_takes_the_scores_alone():
    X, y, qid = rows(0, 30, 3)
    hinge = objective_of("hinge", X, y, qid)
    w = np.ones(3)
    for formula in (hinge.loss, hinge.loss.smoothed(), SquaredHinge(hinge.loss.pairs)):
        known = hinge.with_loss(formula).evaluate(w).known
        for other in (
            hinge.loss,
            hinge.loss.smoothed(0.3),
            SquaredHinge(hinge.loss.pairs),
            Hinge(hinge.loss.pairs, 2.0),
        ):
            knowing = replace(hinge, loss=other, known=known)
            passes = hinge.n_passes
            assert knowing.evaluate(w).value == hinge.with_loss(other).at(w, known.scores).value
            assert hinge.n_passes == passes
            assert knowing.evaluate(1.0 * w).value == knowing.evaluate(w).value
            assert hinge.n_passes == passes + 1  # equal weights are not the same


@every_loss
def test_known_scores_that_are_wrong_do_not_make_a_certificate_wrong(loss):
    X, y, qid = rows(2, 60, 4)
    parameters = Parameters(C=1.0, loss=loss, tol=1e-6)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y.astype(float), qid), parameters
    )
    optimum = problem.minimize(parameters)
    here = problem.objective.evaluate(optimum.weights)
    drifted = replace(here, scores=here.scores * 0.9)
    drifted = replace(drifted, loss=problem.objective.loss.evaluate(drifted.scores))
    led_astray = replace(problem, objective=problem.objective.knowing(drifted.known))
    result = led_astray.minimize(parameters, optimum.weights)
    assert exact(loss, X, y, qid, 1.0, result.weights) <= result.value * (1 + 1e-12)
    assert result.value * (1 - result.dual_gap) <= optimum.value
    assert result.dual_gap <= 1e-6


@pytest.mark.parametrize("c", [1e-3, 0.5, 1e4])
def test_the_last_hessian_for_another_c(c):
    X, y, qid = rows(3, 150, LEAST_KEPT)
    objective = objective_of("squared_hinge", X, y, qid)
    objective = replace(objective, last=LastSolution())
    there = objective.evaluate(np.zeros(LEAST_KEPT))
    assert there.last_system() is None
    there.newton_system(np.float64)
    other = objective.with_c(c).evaluate(np.zeros(LEAST_KEPT))
    last = other.last_system()
    expected = replace(other, objective=replace(other.objective, last=None))
    expected = expected.newton_system(np.float64)
    np.testing.assert_allclose(last.hessian, expected.hessian, rtol=1e-9, atol=1e-12)
    gradient = other.gradient
    np.testing.assert_allclose(last.to_coordinates(gradient), expected.to_coordinates(gradient))


def test_few_weights_make_no_last_hessian():
    kept = LastSolution()
    kept.keep_hessian(np.eye(LEAST_KEPT - 1), np.ones(LEAST_KEPT - 1), 1.0)
    assert kept.hessian(1.0) is None


@every_loss
def test_a_solution_that_does_for_the_next_C_costs_nothing(loss):
    X, y, qid = rows(4, 150, 5)
    options = {"loss": loss, "solver": "newton", "tol": 0.05}
    close = 1.001 ** np.arange(8)
    grid = ranksvm_grid(X, y, qid, close, **options)
    passes = [history[-1].n_passes for history in grid.histories]
    assert passes.count(0) >= 4
    for C, coef, value in zip(close, grid.coefs, grid.objectives, strict=True):
        assert exact(loss, X, y, qid, C, coef) <= value * (1 + 1e-12)
    assert np.all(grid.dual_gaps <= 0.05)


@pytest.mark.parametrize(
    ("loss", "kind", "most"),
    [
        *((loss, "noisy", 0.6) for loss in LOSSES),
        ("squared_hinge", "separable", 0.6),
        ("hinge", "separable", 0.7),  # which from zero goes from wide to narrow at once
    ],
)
def test_solutions_take_fewer_steps_than_alone(loss, kind, most):
    options = {"loss": loss, "solver": "newton"}
    close = np.logspace(-3, 3, 13)
    products = alone = 0
    for seed in range(5, 10):
        X, y, qid = rows(seed, 200, 32, kind)
        grid = ranksvm_grid(X, y, qid, close, **options)
        products += sum(history[-1].n_products for history in grid.histories)
        alone += sum(RankSVM(C, **options).fit(X, y, qid).history_[-1].n_products for C in close)
    assert products < most * alone


@pytest.mark.parametrize(
    ("loss", "first", "work", "stays"),
    [
        ("hinge", "bundle", 5.0, False),
        ("hinge", "bundle", 1e6, True),
        ("squared_hinge", "newton", 100.0, False),
        ("squared_hinge", "trust_region", 1e6, True),
    ],
)
def test_what_goes_first_goes_first_again_while_it_is_quick(loss, first, work, stays):
    X, y, qid = rows(6, 600, 10)
    parameters = Parameters(C=1e-2, loss=loss, tol=1e-4)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y.astype(float), qid), parameters
    )
    kinks = loss == "hinge"
    planes = PlanesFirst(work) if kinks else None
    products, where = ProductsFirst(work), Where(always=not kinks)
    choice = SolverChoice("newton", kinks, planes, products=products, where=where)
    of_each = [replace(parameters, C=C) for C in (1e-2, 1.0, 100.0)]
    results = dict(solve_grid(replace(problem, choice=choice), of_each))
    assert results[0].history[0].solver == first
    for place in (1, 2):
        used = {line.solver for line in results[place].history}
        assert used == {first if stays else "newton"}
        assert results[place].dual_gap <= 1e-4


@pytest.mark.parametrize(
    ("n_Cs", "first"), [(1, "trust_region"), (3, "newton"), (12, "trust_region")]
)
def test_of_few_values_the_first_forms_the_hessian_of_all(n_Cs, first):
    X, y, qid = rows(6, 600, 10)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y.astype(float), qid), Parameters()
    )
    products, where = ProductsFirst(100.0), Where(always=True)
    choice = SolverChoice("newton", False, products=products, where=where)
    problem = replace(problem, choice=choice)
    of_each = [Parameters(C=C) for C in np.geomspace(1e-2, 10, n_Cs)]
    results = dict(solve_grid(problem, of_each))
    assert results[0].history[0].solver == first
    assert all(result.dual_gap <= 1e-3 for result in results.values())


def test_a_smoothed_hinge_begins_where_the_last_one_ended():
    X, y, qid = rows(9, 200, 12)
    objective = objective_of("hinge", X, y, qid).smoothed().narrowed(0.1)
    latest = objective.evaluate(np.full(12, 1e-3))
    best = objective.with_loss(objective.loss.narrowed(1e-9)).evaluate(np.full(12, 2e-3))
    start = WarmStart().after(Progress(share=1e-9, best=best, latest=latest), objective.c)
    smoothed, w0 = start.ahead(objective.with_c(2 * objective.c), Progress())
    assert w0 is latest.weights
    assert smoothed.resumed().loss.smoothing_width == latest.width


def test_what_is_known_last_stays_where_weights_do():
    X, y, qid = rows(9, 200, 12)
    kinks = objective_of("hinge", X, y, qid)
    here = kinks.evaluate(np.full(12, 1e-3))
    start = WarmStart().after(Progress(best=here, latest=here), kinks.c)
    smoothed = kinks.smoothed().narrowed(0.1).knowing(here.known)
    there = smoothed.evaluate(here.weights)
    again = start.after(Progress(best=there, latest=there), 2 * kinks.c)
    following, w0 = again.ahead(smoothed.with_c(4 * kinks.c), Progress())
    assert w0 is here.weights
    assert following.resumed().loss.smoothing_width == there.width
    assert following.resumed().evaluate(w0).loss is there.loss


@pytest.mark.parametrize("kind", ["noisy", "scaled"])
def test_smoothed_hinges_for_a_choice_take_few_hessians(kind):
    X, y, qid = rows(12, 600, 20, kind)
    parameters = [Parameters(C=C, loss="hinge", solver="newton") for C in np.logspace(-3, 3, 20)]
    preferences = Preferences.from_labels(y.astype(float), qid)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters[0])
    results = dict(solve_grid(problem, parameters, for_choice=True))
    assert {result.status for result in results.values()} == {Status.CONVERGED}
    n_hessians = [results[place].history[-1].n_products for place in range(20)]
    assert sum(n_hessians[1:]) <= 13
    assert n_hessians.count(0) >= 8


@pytest.mark.parametrize(
    ("n", "places"),
    [
        (1, [0]),
        (2, [0, 1]),
        (3, [0, 1, 2]),
        (4, [0, 2, 1, 3]),
        (5, [0, 3, 1, 2, 4]),
        (6, [0, 3, 1, 2, 4, 5]),
        (7, [0, 3, 1, 2, 5, 4, 6]),
    ],
)
def test_every_third_value_comes_before_the_two_below_it(n, places):
    assert list(by_threes(range(n))) == places


@pytest.mark.parametrize("kind", ["noisy", "scaled"])
def test_for_a_choice_values_between_two_others_take_hardly_a_step(kind):
    X, y, qid = rows(13, 600, 12, kind)
    of_each = [Parameters(C=C, solver="newton") for C in np.logspace(3, -3, 20)]
    preferences = Preferences.from_labels(y.astype(float), qid)
    problem = make_problem(DesignMatrix.from_array(X), preferences, of_each[-1])
    solutions = list(solve_grid(problem, of_each, for_choice=True))
    assert [place for place, _ in solutions] == [19 - place for place in by_threes(range(20))]
    steps = {place: result.n_iter for place, result in solutions}
    between = [steps[19 - place] for place in range(1, 18) if place % 3]
    assert between.count(0) >= 10
    exact_ones = [place for place, _ in solve_grid(problem, of_each)]
    assert exact_ones == list(range(19, -1, -1))


def test_starts_say_nothing_of_the_objective():
    X, y, qid = rows(7, 30, 3)
    objective = objective_of("squared_hinge", X, y, qid)
    assert isinstance(objective, LinearObjective)
    assert objective.known is None
    assert objective.last is None


@every_loss
@pytest.mark.parametrize("kind", ["noisy", "scaled", "separable"])
def test_for_a_choice_a_share_of_what_was_gained_is_left(loss, kind):
    X, y, qid = rows(8, 200, 12, kind)
    of_each = [Parameters(C=C, loss=loss) for C in np.logspace(-3, 3, 7)]
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y.astype(float), qid), of_each[0]
    )
    least = dict(solve_grid(problem, [replace(one, tol=1e-9) for one in of_each]))
    compared = dict(solve_grid(problem, of_each, for_choice=True))
    shares = [0.01]
    for place, result in compared.items():
        assert result.status is Status.CONVERGED
        at_rest = exact(loss, X, y, qid, of_each[place].C, np.zeros(12))
        gained = min(result.value, at_rest - result.value)
        allowed = max(1e-3 * result.value, shares[-1] * gained)
        assert result.value - least[place].value <= allowed
        assert result.dual_gap * result.value <= allowed * (1 + 1e-9)
        is_weak = 0.5 * result.weights @ result.weights <= 0.01 * gained
        shares.append(0.09 if is_weak else 0.03)
    assert any(result.dual_gap > 1e-3 for result in compared.values())
    assert (0.09 in shares) == (kind != "separable")


@pytest.mark.parametrize(
    ("value", "gap", "is_small"),
    [
        (1.5, 0.009, True),
        (1.5, 0.011, False),
        (0.1, 0.029, True),
        (0.1, 0.031, False),
        (2.0, 0.001, True),
        (2.0, 0.002, False),
        (3.0, 0.002, False),
    ],
)
def test_the_gap_for_a_choice_is_a_share_of_the_value_and_of_what_it_gained(value, gap, is_small):
    assert Progress(1e-3, share=0.03, at_rest=2.0).is_small(value, gap) is is_small


values = st.floats(0, 1e9)
lines = st.lists(st.tuples(values, values), min_size=1, max_size=8)
weights_of_loss = st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=8, unique=True)


@given(lines, weights_of_loss, st.randoms(use_true_random=False))
def test_bounds_for_some_c_are_bounds_for_others(lines, cs, random):
    def optimum(c):
        return min(charged + c * loss for charged, loss in lines)

    random.shuffle(cs)
    half = len(cs) // 2
    bounds = BoundsByC()
    for c in cs[:half]:
        bounds = bounds.with_bound(c, optimum(c))
    for c in cs:
        assert bounds.of(c) <= optimum(c) * (1 + 1e-15)
        smaller = [optimum(other) for other in cs[:half] if other <= c]
        assert bounds.of(c) >= max(smaller, default=-np.inf)


def test_between_two_c_a_bound_lies_on_their_line():
    bounds = BoundsByC().with_bound(3.0, 5.0).with_bound(1.0, 1.0)
    assert bounds.of(2.0) == pytest.approx(3.0, rel=1e-14)
    assert [bounds.of(c) for c in (0.5, 1.0, 4.0)] == [-np.inf, 1.0, 5.0]


@every_loss
@pytest.mark.parametrize("kind", ["noisy", "separable"])
def test_no_bound_is_forgotten_where_c_grows(loss, kind):
    X, y, qid = rows(11, 60, 200, kind)
    of_each = [Parameters(C=C, loss=loss) for C in 10.0 ** np.arange(-2, 6)]
    preferences = Preferences.from_labels(y.astype(float), qid)
    problem = make_problem(DesignMatrix.from_array(X), preferences, of_each[0])
    last = 0.0
    for _, result in solve_grid(problem, of_each, for_choice=True):
        assert result.status is Status.CONVERGED
        for line in result.history:
            bound = line.value * (1 - line.dual_gap)
            assert bound >= last * (1 - 1e-12)
            last = max(last, bound)


def test_no_line_is_searched_before_steps_by_a_sample(monkeypatch):
    monkeypatch.setattr(samples, "WHOLE", 64)
    monkeypatch.setattr(samples, "LONG_QUERY", 64)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30_000, 10))
    y = np.argsort(np.argsort(X @ rng.normal(size=10) + rng.normal(size=30_000)))
    grid = ranksvm_grid(X, y, None, np.logspace(-3, 3, 7))
    steps = [history for history in grid.histories if "samples" in {at.solver for at in history}]
    assert len(steps) > 1
    assert {history[0].n_evaluations for history in steps} == {1}
