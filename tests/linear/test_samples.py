"""Samples of long queries: what they are, and that they decide nothing but the speed."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from cases import make_problem, optimum
from ranksvm import RankSVM, ranksvm_grid
from ranksvm.linear import choice_by_cost, design_matrix, samples, training
from ranksvm.linear.costs import Costs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.samples import (
    Sample,
    draw_sample,
    pairs_of_rows,
    sample_size,
    sampled_places,
    tells_of_all,
)
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from ranksvm.solvers import Progress, newton, samples_first, secants
from ranksvm.solvers import samples as steps_by_samples
from ranksvm.solvers.smoothing import Continuation

LOSSES = ["squared_hinge", "hinge"]


@pytest.fixture
def small(monkeypatch):
    """Samples of a fifth of a few hundred rows, and no products or planes before them."""
    monkeypatch.setattr(choice_by_cost, "LITTLE_STEP", np.inf)
    monkeypatch.setattr(samples, "WHOLE", 64)
    monkeypatch.setattr(samples, "LONG_QUERY", 64)
    monkeypatch.setattr(samples, "LEAST_ROWS", 80)
    for name in ("ROWS_PER_FEATURE", "LEAST_PER_FEATURE", "MOST_PER_FEATURE"):
        monkeypatch.setattr(samples, name, 1)
    monkeypatch.setattr(samples, "ONE_OF", 1 << 20)
    monkeypatch.setattr(samples, "LARGEST_SHARE", 0.5)
    monkeypatch.setattr(samples, "STEP_IN_PRODUCTS", np.inf)
    monkeypatch.setattr(samples, "PRODUCTS", -np.inf)
    monkeypatch.setattr(steps_by_samples, "FEW_PLANES", 0)


def noisy(n, d, seed=0, exponent=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    return np.sign(X) * np.abs(X) ** exponent, y


def solvers_of(model):
    return {line.solver for line in model.history_}


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=5),
    st.integers(1, 200),
    st.sampled_from([np.zeros, np.ones, np.arange, lambda n: np.arange(n) % 50 == 0]),
    st.booleans(),
)
def test_rows_of_long_queries_are_drawn_by_chance_and_short_ones_as_a_whole(
    sizes, n_rows, activity, in_order
):
    n = sum(sizes)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    order = np.arange(n) if in_order else np.random.default_rng(0).permutation(n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    groups = QueryGroups(indptr, None if in_order else order.astype(np.uint32))
    active = np.asarray(activity(n), dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "WHOLE", 100)
        places, starts, chance, of_query = sampled_places(groups, n_rows, active)
    assert (np.diff(places) > 0).all()
    share = active[order] / active.sum() if active.any() else np.zeros(n)
    expected = np.minimum(n_rows / 2 * (share + 1 / max(n, 1)), 1.0)
    drawn_together = np.ones(n)  # rows
    for q, size in enumerate(sizes):
        n_drawn = starts[q + 1] - starts[q]
        assert (qid[places[starts[q] : starts[q + 1]]] == q).all()
        if 0 < size < 100:
            expected[qid == q] = expected[qid == q].mean()
            drawn_together[qid == q] = size
            assert n_drawn in (0, size)
        assert of_query[q] == pytest.approx(expected[qid == q].mean() if 0 < size < 100 else 1.0)
    assert starts[-1] == len(places)
    np.testing.assert_allclose(chance, expected[places])
    assert set(np.flatnonzero(expected >= 1 + 1e-9)) <= set(places)
    spread = np.sqrt((expected * (1 - np.minimum(expected, 1)) * drawn_together).sum())
    assert abs(len(places) - expected.sum()) <= 5 * spread + 1e-6


@pytest.mark.parametrize("n_queries", [1, 4])
def test_pairs_of_rows_are_those_of_the_squared_hinge_at_zero(n_queries):
    _, y, qid = make_problem(3, n=250, n_queries=n_queries)
    qid[:20] = 7
    pairs = CorePairs(Preferences.from_labels(y, qid))
    at_zero = pairs.sweep(np.zeros(250), "squared_hinge", 1.0).degree()
    np.testing.assert_array_equal(pairs_of_rows(pairs), at_zero)


def test_rows_come_from_all_over_and_are_always_the_same():
    groups = QueryGroups.from_qid(None, 100_000)
    places, *_ = sampled_places(groups, 10_000, np.ones(100_000))
    np.testing.assert_array_equal(places, sampled_places(groups, 10_000, np.ones(100_000))[0])
    assert abs(np.bincount(places % 10) - 1000).max() < 150
    assert abs(np.bincount(places // 10_000) - 1000).max() < 150


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
def test_with_rare_levels_a_sample_is_nearly_the_objective(loss):
    X, y = noisy(40_000, 3)
    y = (y > np.sort(y)[-60]).astype(np.float64)
    matrix, pairs = DesignMatrix.from_array(X), CorePairs(Preferences.from_labels(y))
    sample = draw_sample(matrix, pairs, 2000)
    assert sample.X.shape[0] < 1700
    assert sample.pairs.preferences.y.sum() == 59
    objective = LinearObjective(matrix, loss(pairs), 0.3, sample=sample)
    w = np.random.default_rng(1).standard_normal(3)
    here, there = objective.evaluate(w), objective.sampled.evaluate(w)
    assert there.value == pytest.approx(here.value, rel=0.05)
    np.testing.assert_allclose(there.gradient, here.gradient, rtol=0.1, atol=0.02 * here.value)


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
def test_a_sample_for_the_weights_knows_the_pairs_that_are_left(loss):
    X, y = noisy(40_000, 12)
    y = (y > np.sort(y)[-400]).astype(np.float64)
    matrix, pairs = DesignMatrix.from_array(X), CorePairs(Preferences.from_labels(y))
    sample = draw_sample(matrix, pairs, 2000)
    objective = LinearObjective(matrix, loss(pairs), 1.0, sample=sample).smoothed()
    here = newton(objective.narrowed(0.3), np.zeros(12), Progress(tol=0.1)).weights
    there = objective.narrowed(0.3).evaluate(here)

    def condition(some):
        values = np.linalg.eigvals(np.linalg.solve(some.hessian(), there.hessian()))
        return abs(values).max() / abs(values).min()

    assert condition(there.resampled()) < 2 < condition(there.sampled)


@pytest.mark.parametrize("pair_weight", [None, "gap"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_roles", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
def test_the_pairs_of_a_query_weigh_what_all_do(
    loss, storage, with_roles, weighted, pair_weight, monkeypatch
):
    monkeypatch.setattr(samples, "WHOLE", 60)
    X, y, qid = make_problem(3, n=250, n_queries=3)
    qid[:40] = 7 + np.arange(40) // 4  # short ones
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 250) if weighted else None
    groups = QueryGroups.from_qid(qid, 250)
    of_query = rng.uniform(0.5, 2, groups.n_queries) if weighted else None
    roles = rng.uniform(0, 2, (2, 250)) if with_roles else (None, None)
    pairs = CorePairs(Preferences(y, groups, weight, of_query, pair_weight, *roles))
    sample = draw_sample(DesignMatrix.from_array(storage(X)), pairs, 90)
    places, indptr, chance, _ = sampled_places(groups, 90, pairs_of_rows(pairs))
    n_drawn, n_rows = np.diff(indptr), np.diff(groups.indptr)
    is_drawn, is_short = n_drawn > 0, n_rows < 60
    assert 0 < is_drawn[is_short].sum() < is_short.sum() == 10
    of_query = np.where(is_short, 0.0, 1.0)  # times as much as all of its pairs
    of_query[is_drawn & is_short] = 1 / chance[indptr[:-1][is_drawn & is_short]]
    stands_for_pairs = of_query * pairs.pairs_per_query
    np.testing.assert_allclose(sample.pairs.pairs_per_query, stands_for_pairs[is_drawn])

    w = rng.standard_normal(X.shape[1])
    stands_for = np.ones(250)
    stands_for[groups.order[places]] = 1 / chance
    assert len(places) < 150
    phi = (lambda z: max(0, 1 - z) ** 2) if loss is SquaredHinge else (lambda z: max(0, 1 - z))
    u, z = (stands_for if weight is None else stands_for * weight,) * 2
    if with_roles:
        u, z = u * roles[0], z * roles[1]
    expected = 0.0
    for q in np.flatnonzero(stands_for_pairs):
        rows = groups.order[places[indptr[q] : indptr[q + 1]]]
        drawn = [
            (u[i] * z[j] * (y[i] - y[j] if pair_weight else 1), phi(w @ (X[i] - X[j])))
            for i in rows
            for j in rows
            if y[i] > y[j]
        ]
        of_pairs, of_losses = np.array(drawn).T
        expected += stands_for_pairs[q] / of_pairs.sum() * (of_pairs @ of_losses)
    objective = LinearObjective(DesignMatrix.from_array(storage(X)), loss(pairs), 0.3, 1)
    of_sample = replace(objective, sample=sample).sampled.evaluate(w)
    assert of_sample.value == pytest.approx(0.5 * w @ w + 0.3 * expected, rel=1e-12)


def test_a_sample_of_all_rows_is_the_objective(monkeypatch):
    monkeypatch.setattr(samples, "WHOLE", 60)
    X, y, qid = make_problem(4, n=200, n_queries=2)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y, qid))
    sample = draw_sample(matrix, pairs, 1000)
    here = LinearObjective(matrix, Hinge(pairs), 0.3, sample=sample).smoothed().narrowed(0.3)
    there = here.sampled
    assert there.loss.width == here.loss.width
    w = np.random.default_rng(0).standard_normal(X.shape[1])
    assert there.evaluate(w).value == pytest.approx(here.evaluate(w).value, rel=1e-12)
    np.testing.assert_allclose(there.evaluate(w).gradient, here.evaluate(w).gradient, rtol=1e-9)
    np.testing.assert_allclose(here.evaluate(w).sampled.hessian(), here.evaluate(w).hessian())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_queries", [1, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e2])
def test_reaches_the_optimum(loss, n_queries, C, small):
    X, y, qid = make_problem(5, n=400, n_queries=n_queries, n_levels=9)
    qid[:9] = -1
    w, value = optimum(loss, X, y, qid, C)
    for tol in (1e-3, 1e-7):
        model = RankSVM(C=C, loss=loss, tol=tol).fit(X, y, qid)
        assert "samples" in solvers_of(model)
        assert model.status_ == "converged"
        assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-9)
        assert value * (1 - 1e-9) <= model.objective_ <= value * (1 + 1.01 * tol)
        assert np.linalg.norm(model.coef_ - w) <= np.sqrt(2 * tol * value) * 1.01 + 1e-6


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_what_steps_tell_saves_some(C, small, monkeypatch):
    """Where a sample is wrong by about as much at each step, the first ones tell by how much."""
    monkeypatch.setattr(samples, "ROWS_PER_FEATURE", 10)
    X, y = noisy(20_000, 10)
    n_steps = []
    for left in (secants.LEFT, np.inf):
        monkeypatch.setattr(secants, "LEFT", left)
        model = RankSVM(C, tol=1e-6).fit(X, y)
        assert (solvers_of(model), model.status_) == ({"samples"}, "converged")
        n_steps.append(model.n_iter_)
    assert n_steps[0] < n_steps[1]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("exponent", [1, 9])
def test_a_sample_that_misleads_does_no_harm(loss, exponent, small, monkeypatch):
    monkeypatch.setattr(samples, "MOST_RARE", 1.0)
    X, y = noisy(600, 4, exponent=exponent)
    model = RankSVM(loss=loss, tol=1e-6, C=100.0).fit(X, y)
    exact = RankSVM(loss=loss, tol=1e-6, C=100.0, solver="newton").fit(X, y)
    assert model.status_ == exact.status_ == "converged"
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-6)
    assert "samples" in solvers_of(model)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "limit", [(steps_by_samples, "MOST_PRODUCTS", 1), (design_matrix, "LARGE", 0)]
)
def test_where_a_sample_does_not_serve_another_solver_goes_on(loss, limit, small, monkeypatch):
    monkeypatch.setattr(*limit)
    monkeypatch.setattr(samples, "MOST_RARE", 1.0)
    X, y = noisy(600, 4, exponent=9)  # few rows decide
    model = RankSVM(loss=loss, tol=1e-6, C=100.0).fit(X, y)
    exact = RankSVM(loss=loss, tol=1e-6, C=100.0, solver="newton").fit(X, y)
    assert model.status_ == "converged"
    assert len(solvers_of(model)) > 1
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-6)


@pytest.mark.parametrize(
    ("left", "has_kinks", "step", "expected"),
    [
        (0.2, False, 1.0, 0),
        (0.9, False, 1.0, 1),
        (0.999, False, 0.001, 2),
        (0.999, True, 1.0, 1),
        (1.0, False, 1.0, 2),
        (0.2, True, 0.001, 0),
        (0.999, True, 0.001, 8),
    ],
)
def test_how_much_a_step_counts_that_gains_little(left, has_kinks, step, expected):
    before = SimpleNamespace(absolute_gap=1.0, distance=1.0, has_kinks=has_kinks)
    there = SimpleNamespace(absolute_gap=left, distance=1.0, has_kinks=has_kinks)
    trial = SimpleNamespace(evaluation=there, step=step)
    assert steps_by_samples._idle(before, trial) == expected


@pytest.mark.parametrize(("d", "digits", "others"), [(20, 0, []), (60, 4, ["samples", "newton"])])
def test_products_go_first_where_steps_by_a_sample_are_dear(d, digits, others, small, monkeypatch):
    monkeypatch.setattr(choice_by_cost, "LITTLE_STEP", 0.0)
    X, y = noisy(2000, d)
    X *= np.logspace(-digits, digits, d)
    model = RankSVM(tol=1e-6).fit(X, y)
    assert model.status_ == "converged"
    assert list(dict.fromkeys(line.solver for line in model.history_)) == ["trust_region", *others]
    model.set_params(warm_start=True, C=2.0).fit(X, y)
    assert "trust_region" not in solvers_of(model)  # a step or two by the sample do
    assert "samples" in solvers_of(RankSVM(loss="hinge").fit(X, y))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_takes_no_more_products_than_others_are_worth(loss, small):
    X, y = noisy(1000, 20)
    matrix = DesignMatrix.from_array(X * np.logspace(-3, 3, 20))
    preferences = Preferences.from_labels(y, None)
    parameters = Parameters(loss=loss, n_threads=1)
    problem = training.make_problem(matrix, preferences, parameters)
    worth = problem.choice.sample.step
    costs = Costs.of(matrix, preferences)
    assert (
        worth == costs.newton(1, loss == "hinge") / costs.product < steps_by_samples.MOST_PRODUCTS
    )
    objective, dearest, values = problem.objective.smoothed(), [], []
    for most in (worth, 2 * steps_by_samples.MOST_PRODUCTS):
        start = np.zeros(objective.size)
        result = samples_first(newton, objective, start, Progress(tol=1e-6), most)
        by_sample = [line.n_products for line in result.history if line.solver == "samples"]
        dearest.append(np.diff(by_sample).max())
        values.append(result.value)
    assert dearest[0] <= 1 + worth < dearest[1] <= 1 + steps_by_samples.MOST_PRODUCTS
    assert values[0] == pytest.approx(values[1], rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_bad_scales_and_duplicate_rows(loss, small):
    X, y = noisy(500, 3)
    X, y = np.repeat(X * [1e6, 1.0, 1e-4], 2, axis=0), np.repeat(y, 2)
    model = RankSVM(loss=loss).fit(X, y)
    exact = RankSVM(loss=loss, solver="newton").fit(X, y)
    assert "samples" in solvers_of(model)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-3)


def test_activity_beyond_floating_point_draws_nothing(monkeypatch):
    monkeypatch.setattr(samples, "WHOLE", 64)
    X, y = noisy(300, 3)
    matrix, pairs = DesignMatrix.from_array(X), CorePairs(Preferences.from_labels(y))
    with np.errstate(all="ignore"):
        assert draw_sample(matrix, pairs, 100, np.full(300, np.inf)) is None


def test_samples_are_drawn_on_the_host_alone(place, small):
    X, y = noisy(400, 3)
    model = place.ranker().fit(X, y)
    assert model.status_ == "converged"
    assert ("samples" in solvers_of(model)) == (place.device is None)


def test_a_sample_without_pairs(small):
    # One row is better than the others, and hardly ever in the sample.
    X, _ = noisy(600, 3)
    for best in (5, 17):
        labels = np.zeros(600)
        labels[best] = 1
        model = RankSVM().fit(X, labels)
        exact = RankSVM(solver="newton").fit(X, labels)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(exact.objective_, rel=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_that_is_better_is_kept(loss, small):
    X, y = noisy(600, 4)
    model = RankSVM(loss=loss, tol=1e-6, warm_start=True).fit(X, y)
    coef = model.coef_
    model.fit(X, y)
    assert model.n_iter_ <= (loss == "hinge")  # whose smoothing begins anew
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-2)
    model.coef_ = 1e3 * coef
    model.fit(X, y)
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-2)


@pytest.mark.parametrize("loss", LOSSES)
def test_grids_reach_their_optima(loss, small):
    X, y = noisy(600, 4)
    Cs = [1e-3, 1.0, 1e3]
    grid = ranksvm_grid(X, y, Cs=Cs, loss=loss)
    assert all("samples" in {line.solver for line in history} for history in grid.histories)
    for C, value in zip(Cs, grid.objectives, strict=True):
        exact = RankSVM(C=C, loss=loss, solver="newton").fit(X, y)
        assert value == pytest.approx(exact.objective_, rel=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_callback_ends_it_and_few_iterations_do(loss, small):
    X, y = noisy(600, 4)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y))
    made = (Hinge if loss == "hinge" else SquaredHinge)(pairs)
    objective = LinearObjective(matrix, made, 0.1, sample=draw_sample(matrix, pairs, 100))
    objective = objective.smoothed()
    solve = partial(samples_first, newton, objective, np.zeros(4))
    assert solve(Progress(tol=0.0, callback=lambda line: True)).status == "stopped"
    ended = solve(Progress(tol=0.0, max_iter=1))
    assert (ended.status, ended.n_iter) == ("max_iter", 1)
    assert solve(Progress(tol=0.0, max_iter=0)).n_iter == 0


@pytest.mark.parametrize(
    ("C", "n_planes", "n_steps", "is_noise", "solvers"),
    [
        (1e-3, 8, 1e9, False, {"bundle"}),  # no more than the optimum of the sample is worth
        (1e-3, 8, 1e-9, False, {"samples"}),
        (1e-3, 8, 1e-9, True, {"bundle"}),  # noise, of which another sample tells nothing
        (1e-3, 0, 1e9, True, {"samples"}),
        (1e2, 8, 1e9, False, {"samples"}),
    ],
)
def test_planes_take_the_place_of_steps_where_few_do_on_the_sample(
    C, n_planes, n_steps, is_noise, solvers, small, monkeypatch
):
    monkeypatch.setattr(steps_by_samples, "FEW_PLANES", n_planes)
    monkeypatch.setattr(choice_by_cost, "STEPS_OF_SAMPLE", n_steps)
    X, y = noisy(20_000, 4)
    if is_noise:
        y = np.random.default_rng(0).permutation(y)
    model = RankSVM(C, loss="hinge").fit(X, y)
    assert (solvers_of(model), model.status_) == (solvers, "converged")
    again = model.set_params(C=2 * C, warm_start=True).fit(X, y)
    assert solvers_of(again) == {"samples"}


def test_planes_that_few_do_of_a_sample_alone_are_given_up(small, monkeypatch):
    monkeypatch.setattr(steps_by_samples, "FEW_PLANES", 8)
    X, y = noisy(2000, 4)
    matrix, pairs = DesignMatrix.from_array(X), CorePairs(Preferences.from_labels(y))
    easy = Sample(DesignMatrix.from_array(1e-6 * X), pairs, 2000)
    objective = LinearObjective(matrix, Hinge(pairs), 10.0, sample=easy)
    progress = Progress(tol=1e-6)
    progress.unsmoothed = objective
    result = samples_first(newton, objective.smoothed(), np.zeros(4), progress)
    solvers = [line.solver for line in result.history]
    assert result.status == "converged"
    assert 1 < solvers.count("bundle") <= 8
    assert solvers[-1] in ("samples", "newton")


def test_planes_have_as_many_as_on_the_sample(small, monkeypatch):
    """They end all at once where all pairs reach the margin; before, no gap tells of that."""
    monkeypatch.setattr(steps_by_samples, "FEW_PLANES", 8)
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 10_000)
    X = np.hstack((np.eye(3)[group], rng.standard_normal((10_000, 3))))
    model = RankSVM(1e3, loss="hinge").fit(X, group == 0)
    assert (solvers_of(model), model.status_) == ({"bundle"}, "converged")


@pytest.mark.parametrize(("n_steps", "serves"), [(1, False), (70, True)])
def test_a_sample_that_takes_many_steps_is_given_up(n_steps, serves, small, monkeypatch):
    monkeypatch.setattr(steps_by_samples, "MOST_OF_SAMPLE", n_steps)
    X, y = noisy(600, 4)
    model = RankSVM(loss="hinge").fit(X, y)
    assert model.status_ == "converged"
    assert ("samples" in solvers_of(model)) == serves


def test_nothing_is_evaluated_beyond_the_end(small, monkeypatch):
    X, y = noisy(20_000, 4)
    happened, beyond = [], Continuation.beyond
    monkeypatch.setattr(
        Continuation, "beyond", lambda self, here: happened.append("beyond") or beyond(self, here)
    )
    matrix, pairs = DesignMatrix.from_array(X), CorePairs(Preferences.from_labels(y))
    sample = draw_sample(matrix, pairs, 2000)
    objective = LinearObjective(matrix, Hinge(pairs), 0.1, sample=sample).smoothed()
    for tol in 10.0 ** -np.arange(1, 5):
        happened.clear()
        progress = Progress(tol=tol, callback=lambda line: happened.append(line.solver))
        assert samples_first(newton, objective, np.zeros(4), progress).status == "converged"
        assert happened[-1] == "samples"


def test_without_a_sample_it_is_the_other_solver():
    X, y = noisy(100, 3)
    loss = SquaredHinge(CorePairs(Preferences.from_labels(y)))
    objective = LinearObjective(DesignMatrix.from_array(X), loss, 0.1)
    result = samples_first(newton, objective, np.zeros(3))
    assert result.solver == "newton"


def test_a_sample_that_overflows_is_left_alone(small):
    X, y = noisy(300, 3)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y))
    bad = Sample(DesignMatrix.from_array(1e200 * X), pairs, 300)
    objective = LinearObjective(matrix, SquaredHinge(pairs), 0.1, sample=bad)
    with np.errstate(all="ignore"):
        result = samples_first(newton, objective, np.zeros(3))
    expected = newton(objective, np.zeros(3))
    assert result.status == "converged"
    assert result.value == pytest.approx(expected.value, rel=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "exponent"), [(220_000, 1), (20_000, 9)])
def test_any_number_of_threads_gives_the_same_bits(loss, n, exponent, monkeypatch):
    monkeypatch.setattr(samples, "LEAST_ROWS", 1000)
    monkeypatch.setattr(samples, "PRODUCTS", -np.inf)
    monkeypatch.setattr(samples, "WORK_OF_THREADS", 0)
    monkeypatch.setattr(samples, "MOST_RARE", 1.0)
    X, y = noisy(n, 2, exponent=exponent)
    models = [RankSVM(loss=loss, tol=1e-6, n_threads=n).fit(X, y) for n in (1, 3)]
    assert "samples" in solvers_of(models[0])
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].dual_gap_ == models[1].dual_gap_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_products_correct_a_sample_that_says_little(loss, C, small):
    X, y = noisy(2000, 12, exponent=3)
    matrix, made = DesignMatrix.from_array(X), Hinge if loss == "hinge" else SquaredHinge
    pairs = CorePairs(Preferences.from_labels(y))
    sample = draw_sample(matrix, pairs, 150)
    c = C / pairs.n_pairs * len(y)
    objective = LinearObjective(matrix, made(pairs), c, sample=sample).smoothed()
    result = samples_first(newton, objective, np.zeros(12), Progress(tol=1e-6))
    assert (result.solver, result.status) == ("samples", "converged")
    last = result.history[-1]
    assert last.n_products > last.iteration  # by more than a step of the sample each
    exact = newton(replace(objective, sample=None), np.zeros(12), Progress(tol=1e-9))
    assert result.value == pytest.approx(exact.value, rel=1.1e-6)


def test_where_a_sample_pays():
    def size(
        n, d, query=None, density=1.0, levels=None,
        tol=1e-3, kinks=False, n_long=0, is_large=False,
    ):  # fmt: skip
        X = DesignMatrix.from_array(np.empty((n, d), dtype=np.float32))
        X.n_stored = round(density * n * d)
        qid = None if query is None else np.arange(n) // query
        if n_long > 0:
            qid[:n_long] = -1
        y = np.arange(n) % levels if levels else np.arange(n)
        preferences = Preferences.from_labels(y.astype(float), qid)
        costs = replace(Costs.of(X, preferences), is_large=is_large)
        parameters = Parameters(tol=tol, loss="hinge" if kinks else "squared_hinge")
        return sample_size(X, preferences, costs, parameters)

    assert size(30_000, 20) == 2_500
    assert size(30_000, 2) == 0  # an exact Hessian costs little
    assert size(400_000, 2) == 20_000
    assert size(2_000_000, 2) == 40_000
    assert size(400_000, 150) == 7_500
    assert size(300_000, 300) == 15_000
    assert size(80_000, 300) == 5_000  # of more, a step would cost more than a few products
    assert size(50_000, 400, levels=2) == 6_400
    assert size(50_000, 400) == 0
    assert size(400_000, 27, density=0.5) == 20_000
    assert size(4_000_000, 27, density=0.05) == 80_000
    assert size(1_000_000, 300, density=0.005) == 5_000  # memory
    assert size(400_000, 2, query=100) == 0  # short queries
    assert size(400_000, 40, query=20_000) == 8_000

    kinks = {"kinks": True}
    assert size(9_900, 2, **kinks) == 0
    assert size(10_000, 2, **kinks) == size(10_000, 2, query=100, **kinks) == 2_000
    assert size(400_000, 40, query=100, **kinks) == 20_000
    assert size(50_000, 200, query=100, **kinks) == 10_000
    assert size(50_000, 250, query=100, **kinks) == 0  # 16 rows for each feature are too few
    assert size(50_000, 250, **kinks) == 4_166
    assert size(80_000, 120, query=100, **kinks) == 6_666
    assert size(80_000, 120, query=100, tol=9e-5, **kinks) == 0  # a tight gap
    assert size(80_000, 60, query=100, tol=9e-5, **kinks) == 6_666
    assert size(400_000, 16, query=30, **kinks) == 20_000
    assert size(400_000, 40, query=100, density=0.5, **kinks) == 0  # sparse
    assert size(400_000, 40, query=100, is_large=True, **kinks) == 0  # passes are dear
    assert size(400_000, 40, is_large=True, **kinks) == 20_000
    assert size(400_000, 100, query=100, n_long=100_000) == 20_000
    assert size(400_000, 190, query=100) == 20_000
    assert size(400_000, 210, query=100) == 0
    assert size(500_000, 30, query=5, levels=2) == 20_000
    assert size(100_000, 40, query=80, levels=5) == 0  # steps cost more than exact ones
    assert size(200_000, 24, query=19) == 5_000  # of more, steps would cost more than they save
    assert size(400_000, 210, query=100, n_long=100_000) == 10_500


@pytest.mark.parametrize(("n_rare", "tells"), [(0, True), (1, True), (3, False)])
@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
@pytest.mark.parametrize("numbers", [1, 3000, 1 << 22])  # a column at a time, three, all
def test_a_sample_does_not_tell_of_columns_of_a_few_rows(
    n_rare, tells, scale, numbers, monkeypatch
):
    monkeypatch.setattr(samples, "FEW_NUMBERS", numbers)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    for k in range(n_rare):
        X[:, k] = 0.0
        X[rng.choice(1000, 9, replace=False), k] = 1.0
    assert tells_of_all(DesignMatrix.from_array(scale * (X + 7.0))) == tells


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("is_rare", [False, True])
def test_steps_by_a_sample_are_not_taken_where_many_columns_are_of_a_few_rows(loss, is_rare):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 8))
    if is_rare:
        X = np.where(rng.random(X.shape) < 1e-3, 1e3**0.5, 0.0)
    y = X @ np.ones(8) + rng.normal(size=len(X))
    model = RankSVM(loss=loss, n_threads=1).fit(X, y)
    assert model.status_ == "converged"
    assert ("samples" in solvers_of(model)) != is_rare
