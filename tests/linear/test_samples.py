"""Samples of long queries: what they are, and that they decide nothing but the speed."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from cases import make_problem, optimum
from ranksvm import RankSVM, ranksvm_grid
from ranksvm.linear import samples
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.samples import Sample, draw_sample, sample_sizes, sampled_places
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from ranksvm.solvers import Progress, newton, samples_first

LOSSES = ["squared_hinge", "hinge"]


@pytest.fixture
def small(monkeypatch):
    """Samples of a fifth of a few hundred rows."""
    monkeypatch.setattr(samples, "LONG_QUERY", 64)
    monkeypatch.setattr(samples, "LEAST_ROWS", 80)
    monkeypatch.setattr(samples, "ROWS_PER_FEATURE", 1)
    monkeypatch.setattr(samples, "LARGEST_SHARE", 0.5)
    monkeypatch.setattr(samples, "NUMBERS_PER_ROW", 100)


def noisy(n, d, seed=0, exponent=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    return np.sign(X) * np.abs(X) ** exponent, y


def solvers_of(model):
    return {line.solver for line in model.history_}


@given(st.lists(st.integers(0, 300), min_size=1, max_size=5), st.integers(1, 200))
def test_rows_come_from_all_over_a_long_query(sizes, n_rows):
    groups = QueryGroups(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "LONG_QUERY", 100)
        places, indptr = sampled_places(groups, n_rows)
    assert (np.diff(places) > 0).all()
    assert indptr[-1] == len(places)
    n_long = sum(size for size in sizes if size >= 100)
    for q, size in enumerate(sizes):
        own = places[indptr[q] : indptr[q + 1]] - groups.indptr[q]
        if size < 100:
            np.testing.assert_array_equal(own, np.arange(size))
            continue
        k = len(own)
        assert abs(k - min(max(n_rows * size / n_long, 2), size)) <= 0.5
        for stretch, place in enumerate(own):
            assert stretch * size // k <= place < (stretch + 1) * size // k


def test_rows_are_drawn_at_random():
    groups = QueryGroups.from_qid(None, 100_000)
    places, _ = sampled_places(groups, 10_000)
    np.testing.assert_array_equal(places, sampled_places(groups, 10_000)[0])
    counts = np.bincount(places % 10)
    assert abs(counts - 1000).max() < 150


@pytest.mark.parametrize("pair_weight", [None, "gap"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_roles", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
def test_the_pairs_of_a_query_weigh_what_all_do(
    loss, storage, with_roles, weighted, pair_weight, monkeypatch
):
    monkeypatch.setattr(samples, "LONG_QUERY", 60)
    X, y, qid = make_problem(3, n=250, n_queries=3)
    qid[:20] = 7  # a short one
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, 250) if weighted else None
    groups = QueryGroups.from_qid(qid, 250)
    of_query = rng.uniform(0.5, 2, groups.n_queries) if weighted else None
    roles = rng.uniform(0, 2, (2, 250)) if with_roles else (None, None)
    pairs = CorePairs(Preferences(y, groups, weight, of_query, pair_weight, *roles))
    sample = draw_sample(DesignMatrix.from_array(storage(X)), pairs, [90])
    np.testing.assert_allclose(sample.pairs.pairs_per_query, pairs.pairs_per_query)

    w = rng.standard_normal(X.shape[1])
    places, indptr = sampled_places(groups, 90)
    assert len(places) < 150
    phi = (lambda z: max(0, 1 - z) ** 2) if loss is SquaredHinge else (lambda z: max(0, 1 - z))
    u, z = (np.ones(250) if weight is None else weight,) * 2
    if with_roles:
        u, z = u * roles[0], z * roles[1]
    expected = 0.0
    for q, all_pairs in enumerate(pairs.pairs_per_query):
        rows = groups.order[places[indptr[q] : indptr[q + 1]]]
        drawn = [
            (u[i] * z[j] * (y[i] - y[j] if pair_weight else 1), phi(w @ (X[i] - X[j])))
            for i in rows
            for j in rows
            if y[i] > y[j]
        ]
        of_pairs, of_losses = np.array(drawn).T
        expected += all_pairs / of_pairs.sum() * (of_pairs @ of_losses)
    objective = LinearObjective(DesignMatrix.from_array(storage(X)), loss(pairs), 0.3, 1)
    of_sample = replace(objective, sample=sample).sampled.evaluate(w)
    assert of_sample.value == pytest.approx(0.5 * w @ w + 0.3 * expected, rel=1e-12)


def test_a_sample_of_all_rows_is_the_objective(monkeypatch):
    monkeypatch.setattr(samples, "LONG_QUERY", 60)
    X, y, qid = make_problem(4, n=200, n_queries=2)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y, qid))
    sample = draw_sample(matrix, pairs, [1000])
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


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("exponent", [1, 9])
def test_a_sample_that_misleads_does_no_harm(loss, exponent, small):
    X, y = noisy(600, 4, exponent=exponent)
    model = RankSVM(loss=loss, tol=1e-6, C=100.0).fit(X, y)
    exact = RankSVM(loss=loss, tol=1e-6, C=100.0, solver="newton").fit(X, y)
    assert model.status_ == exact.status_ == "converged"
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-6)
    if exponent == 9:  # few rows decide
        assert "newton" in solvers_of(model)
    elif loss == "squared_hinge":
        assert solvers_of(model) == {"samples"}


@pytest.mark.parametrize("loss", LOSSES)
def test_bad_scales_and_duplicate_rows(loss, small):
    X, y = noisy(500, 3)
    X, y = np.repeat(X * [1e6, 1.0, 1e-4], 2, axis=0), np.repeat(y, 2)
    model = RankSVM(loss=loss).fit(X, y)
    exact = RankSVM(loss=loss, solver="newton").fit(X, y)
    assert "samples" in solvers_of(model)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(exact.objective_, rel=2e-3)


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
@pytest.mark.parametrize("sizes", [[100], [300, 100]])
def test_a_callback_ends_it_and_few_iterations_do(loss, sizes, small):
    X, y = noisy(600, 4)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y))
    made = (Hinge if loss == "hinge" else SquaredHinge)(pairs)
    objective = LinearObjective(matrix, made, 0.1, sample=draw_sample(matrix, pairs, sizes))
    objective = objective.smoothed()
    solve = partial(samples_first, newton, objective, np.zeros(4))
    assert solve(Progress(tol=0.0, callback=lambda line: True)).status == "stopped"
    ended = solve(Progress(tol=0.0, max_iter=1))
    assert (ended.status, ended.n_iter) == ("max_iter", 1)
    assert solve(Progress(tol=0.0, max_iter=0)).n_iter == 0


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
    bad = Sample(DesignMatrix.from_array(1e200 * X), pairs)
    objective = LinearObjective(matrix, SquaredHinge(pairs), 0.1, sample=bad)
    with np.errstate(all="ignore"):
        result = samples_first(newton, objective, np.zeros(3))
    expected = newton(objective, np.zeros(3))
    assert result.status == "converged"
    assert result.value == pytest.approx(expected.value, rel=2e-3)


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
def test_a_sample_may_have_a_sample(loss, small):
    X, y = noisy(900, 3)
    matrix = DesignMatrix.from_array(X)
    pairs = CorePairs(Preferences.from_labels(y))
    sample = draw_sample(matrix, pairs, [400, 100])
    assert [some.X.shape[0] for some in (sample, sample.sample)] == [400, 100]
    assert sample.sample.sample is None
    for some in (sample, sample.sample):
        np.testing.assert_allclose(some.pairs.pairs_per_query, pairs.pairs_per_query)
    objective = LinearObjective(matrix, loss(pairs), 0.1, sample=sample).smoothed()
    inner = objective.sampled.sampled
    assert inner.X is sample.sample.X
    assert inner.sampled is None
    result = samples_first(newton, objective, np.zeros(3), Progress(tol=1e-6))
    assert result.solver.startswith("samples")
    assert result.status == "converged"
    exact = newton(replace(objective, sample=None), np.zeros(3), Progress(tol=1e-9))
    assert result.value == pytest.approx(exact.value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_number_of_threads_gives_the_same_bits(loss):
    X, y = noisy(220_000, 2)
    models = [RankSVM(loss=loss, n_threads=n).fit(X, y) for n in (1, 3)]
    assert solvers_of(models[0]) == {"samples"}
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert models[0].dual_gap_ == models[1].dual_gap_


def test_where_a_sample_pays():
    def sizes(n, d, query=None, density=1.0):
        X = DesignMatrix.from_array(np.empty((n, d), dtype=np.float32))
        X.n_stored = round(density * n * d)
        qid = None if query is None else np.arange(n) // query
        return sample_sizes(X, Preferences.from_labels(np.zeros(n), qid))

    assert sizes(150_000, 2) == ()
    assert sizes(170_000, 2) == (20_000,)
    assert sizes(2_000_000, 2) == (40_000,)
    assert sizes(400_000, 41) == ()  # features
    assert sizes(400_000, 29) == ()  # memory
    assert sizes(400_000, 27) == (27_000,)
    assert sizes(400_000, 27, density=0.5) == ()
    assert sizes(400_000, 2, query=100) == ()  # short queries
    assert sizes(400_000, 2, query=20_000) == (20_000,)
    # Beyond that, a sample is sampled itself, where its queries are still long.
    assert sizes(3_900_000, 2) == (78_000,)
    assert sizes(4_000_000, 2) == (160_000, 20_000)
    assert sizes(12_000_000, 1) == (240_000, 20_000)
    assert sizes(4_000_000, 2, query=1_000_000) == (160_000, 20_000)
    assert sizes(4_000_000, 2, query=100_000) == (80_000,)
