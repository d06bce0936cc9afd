"""What one pass brings at the end of a step, against explicit pairs, and against many passes."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import reference
import strategies
from cases import make_losses, make_pairs, pairs_of
from ranksvm import RankSVM
from ranksvm.linear import design_matrix, one_pass
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.line import FAR
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups
from ranksvm.solvers.line_search import line_search

WIDTH = 0.5
small_blocks = patch.multiple(one_pass, BLOCK_BYTES=0, LEAST_ROWS=10, LONGEST=100)
every_loss = pytest.mark.parametrize(
    ("Loss", "widths"), [(SquaredHinge, {}), (SmoothedHinge, {"width": WIDTH})]
)


def views(X, rng):
    """The same rows in several places: all, some of more, and scaled."""
    n, d = X.shape
    scale = rng.uniform(0.5, 2, d)
    places = rng.permutation(n)
    shuffled = np.empty_like(X)
    shuffled[places] = X
    yield DesignMatrix.from_array(X)
    yield DesignMatrix.from_array(csr_matrix(X))
    yield DesignMatrix.from_array(np.ascontiguousarray(X / scale)).scaled(scale)
    yield DesignMatrix.from_array(shuffled).take(places)


def assert_the_same(step, view, loss, there):
    """What a step brought agrees with what many passes bring, each within its own bounds."""
    expected, found = loss.evaluate(there), step.loss
    np.testing.assert_array_equal(step.scores, there)
    assert abs(found.value - expected.value) <= found.rounding + expected.rounding
    for name in ("offset", "quadratic", "smoothing"):
        bound = 2 * (found.rounding + expected.rounding) + found.slack + expected.slack
        assert abs(getattr(found, name) - getattr(expected, name)) <= bound
    rounding = found.gradient_rounding + expected.gradient_rounding
    assert np.linalg.norm(found.gradient - expected.gradient) <= rounding
    assert abs(found.gradient_norm - expected.gradient_norm) <= rounding
    slope, lengths = step.slope, np.sqrt(view.column_squares())
    of_sums = slope.rounding + view.rounding_of_sums
    difference = np.abs(slope.values - view.t_dot(expected.gradient))
    assert np.all(difference <= (rounding + of_sums * expected.gradient_norm) * lengths)
    hessian = view.hessian(expected, *view.standardization(), np.float64)
    # Terms of all pairs; in the sums of two windows, those below the band cancel.
    terms = 1e-12 * len(there) * found.curvature * loss.pairs.n_pairs
    np.testing.assert_allclose(step.hessian.matrix, hessian, 1e-9, terms)


@every_loss
@strategies.examples(20)
@given(ranking=strategies.rankings(), d=st.integers(1, 6), seed=st.integers(0, 99))
def test_the_end_of_a_step_against_explicit_pairs(Loss, widths, ranking, d, seed):
    rng = np.random.default_rng(seed)
    pairs, n = pairs_of(ranking), len(ranking.y)
    X, p = rng.integers(-16, 17, (n, d)) / 8, rng.integers(-2, 3, d).astype(float)
    there = ranking.scores + X @ p
    of_pairs = reference.squared_hinge if Loss is SquaredHinge else reference.hinge
    value = of_pairs(pairs, there)
    for loss in make_losses(Loss, ranking, **widths):
        if not isinstance(loss.pairs, CorePairs):
            continue
        for view in views(X, rng):
            with small_blocks:
                step = view.full_step(loss, ranking.scores, p, np.float64)
            assert step.loss.value == pytest.approx(value, rel=1e-9, abs=step.loss.rounding)
            assert_the_same(step, view, loss, ranking.scores + view.dot(p))


@st.composite
def mixtures(draw):
    """Queries of all lengths, their rows mixed or not, and weights of every kind."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 10, 64, 65, 200]), min_size=1, max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = sum(sizes)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    if draw(st.booleans()):
        qid = rng.permutation(qid)
    weights = {}
    if draw(st.booleans()):
        weights["sample_weight"] = rng.integers(0, 3, n) * draw(st.sampled_from([1.0, 0.7, 1e-90]))
    if draw(st.booleans()):
        weights["query_weight"] = rng.integers(0, 3, len(sizes)) / 3
    if draw(st.booleans()):
        weights["pair_weight"] = "gap"
    y = rng.integers(0, draw(st.sampled_from([1, 2, 5, 100])), n).astype(float)
    return y, QueryGroups.from_qid(qid, n), weights, rng


@every_loss
@given(mixture=mixtures(), d=st.integers(1, 20), far=st.sampled_from([0.0, 1e6]))
def test_many_queries_on_any_number_of_threads(Loss, widths, mixture, d, far):
    y, groups, weights, rng = mixture
    loss = Loss(make_pairs(y, groups, **weights), **widths)
    scores = rng.normal(size=len(y))
    X, p = far + rng.normal(size=(len(y), d)), rng.normal(size=d)
    view = DesignMatrix.from_array(X).centered()
    with small_blocks:
        one, *others = (
            view.full_step(loss, scores, p, np.float64, n_threads) for n_threads in (1, 2, 3)
        )
    assert_the_same(one, view, loss, scores + view.dot(p))
    for other in others:
        np.testing.assert_array_equal(other.image, one.image)
        np.testing.assert_array_equal(other.loss.gradient, one.loss.gradient)
        assert other.loss.value == one.loss.value
        np.testing.assert_array_equal(other.slope.values, one.slope.values)
        np.testing.assert_array_equal(other.hessian.matrix, one.hessian.matrix)


def problem(n=600, d=5, size=12, long=0):
    """Noisy queries of so many rows, and perhaps a long one; features on several scales."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + long, d))
    y = np.digitize(X.sum(axis=1) / np.sqrt(d) + rng.normal(size=n + long), [-0.5, 0, 0.5])
    return X * np.logspace(0, 2, d), y.astype(float), np.r_[np.arange(n) // size, np.full(long, n)]


def objective_of(X, y, qid, Loss=SquaredHinge, c=0.1):
    loss = Loss(make_pairs(y, QueryGroups.from_qid(qid, len(y))))
    return LinearObjective(DesignMatrix.from_array(X), loss, c)


@pytest.mark.parametrize("d", [5, 40])
@pytest.mark.parametrize("is_large", [False, True])
def test_a_step_of_newtons_method_takes_one_pass(d, is_large, monkeypatch):
    X, y, qid = problem(2000, d)
    monkeypatch.setattr(design_matrix, "UNCACHED", X.size + (not is_large))
    model = RankSVM(solver="newton", tol=1e-8).fit(X, y, qid)
    assert all(line.step == 1.0 for line in model.history_[1:])
    passes = [line.n_passes for line in model.history_]
    # Scales of columns; gradient and Hessian at the start; steps, of which the last end where no
    # Hessian is needed, and take one pass only where X is large, which confirms the value, too.
    n_last = model.n_iter_ - (model.history_[-1].n_products - 1)
    assert n_last > 0
    steps = np.repeat([1, 1 if is_large else 2], [model.n_iter_ - n_last, n_last])
    steps[-1] += not is_large
    assert passes == [2, *(2 + steps.cumsum())]


def test_without_a_hessian_one_pass_serves_where_passes_are_dear(monkeypatch):
    objective = objective_of(*problem())
    start, p = objective.evaluate(np.ones(5) / 50), np.ones(5) / 100
    several = start.towards(p).trial(1.0).evaluation
    monkeypatch.setattr(design_matrix, "UNCACHED", objective.X.n_stored)
    n_passes = objective.n_passes
    one = start.towards(p).trial(1.0).evaluation
    assert one.value == pytest.approx(several.value, rel=1e-12)
    assert one.known_hessian is None
    assert objective.n_passes == n_passes + 1
    np.testing.assert_allclose(one.gradient, several.gradient, rtol=1e-10)
    assert objective.n_passes == n_passes + 2


def test_the_last_steps_take_no_hessian(monkeypatch):
    asked = []
    full_step = DesignMatrix.full_step

    def noted(X, loss, scores, p, dtype, n_threads, **options):
        asked.append(dtype)
        return full_step(X, loss, scores, p, dtype, n_threads, **options)

    monkeypatch.setattr(DesignMatrix, "full_step", noted)
    model = RankSVM(solver="newton", tol=1e-8).fit(*problem(2000, 40))
    assert len(asked) == len(model.history_)
    n_products = model.history_[-1].n_products
    assert asked == [np.float32] * n_products + [None] * (len(asked) - n_products)
    assert n_products < model.n_iter_


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("long", [0, 300])
def test_the_same_optimum_as_by_many_passes(monkeypatch, loss, long):
    X, y, qid = problem(long=long)
    model = RankSVM(loss=loss, solver="newton", tol=1e-9)
    here = model.fit(X, y, qid).coef_, model.objective_, model.history_[-1].n_passes
    monkeypatch.setattr(DesignMatrix, "full_step", lambda *_, **__: None)
    model.fit(X, y, qid)
    assert here[1] == pytest.approx(model.objective_, rel=2e-9)
    np.testing.assert_allclose(here[0], model.coef_, atol=1e-3 * np.abs(model.coef_).max())
    passes = model.history_[-1].n_passes
    assert here[2] < 0.8 * passes


def test_queries_that_fit_no_block_take_many_passes():
    X, y, qid = problem(long=300)
    with small_blocks, patch.object(one_pass, "LONGEST", 1):
        assert (
            objective_of(X, y, qid).X.full_step(
                objective_of(X, y, qid).loss, np.zeros(len(y)), np.ones(5), np.float64
            )
            is None
        )
        model = RankSVM(solver="newton").fit(X, y, qid)
    assert model.status_ == "converged"


def test_a_full_step_that_is_refused():
    objective = objective_of(*problem())
    start = objective.evaluate(np.zeros(5))
    towards = -30 * np.linalg.solve(start.hessian(), start.gradient)
    fused, plain = start.towards(towards, np.float64), start.along(towards)
    trial, n_trials = line_search(fused)
    expected, expected_trials = line_search(plain)
    assert (trial.step, n_trials) == (expected.step, expected_trials)
    assert trial.step < 1
    np.testing.assert_array_equal(trial.evaluation.scores, expected.evaluation.scores)
    np.testing.assert_array_equal(trial.evaluation.gradient, expected.evaluation.gradient)
    np.testing.assert_array_equal(trial.evaluation.hessian(), expected.evaluation.hessian())


def test_what_is_known_is_used_without_another_pass():
    objective = objective_of(*problem())
    start = objective.evaluate(np.zeros(5), np.float64)
    n_passes = objective.n_passes
    there = start.towards(np.ones(5) / 100, np.float64).trial(1.0).evaluation
    known = there.value, there.gradient, there.lower_bound, there.scaled_hessian()[0]
    assert objective.n_passes == n_passes + 1
    plain = objective.evaluate(np.ones(5) / 100)
    assert known[0] == pytest.approx(plain.value, rel=1e-12)
    np.testing.assert_allclose(known[1], plain.gradient, rtol=1e-10)
    assert known[2] == pytest.approx(plain.lower_bound, rel=1e-10)
    np.testing.assert_allclose(known[3], plain.scaled_hessian()[0], rtol=1e-10)
    # A Hessian in single precision does not do for double precision, but the other way round.
    assert there.scaled_hessian(np.float32)[0] is not None
    coarse = start.towards(np.ones(5) / 100, np.float32).trial(1.0).evaluation
    n_passes = objective.n_passes
    coarse.scaled_hessian(np.float64)
    assert objective.n_passes == n_passes + 1


def test_scores_that_are_far_are_computed_afresh():
    objective = objective_of(*problem())
    start = objective.evaluate(np.zeros(5))
    line = start.towards(np.full(5, FAR))
    n_passes = objective.n_passes
    line.trial(1.0)
    assert objective.n_passes == n_passes + 1


def test_a_large_hessian_is_not_kept(monkeypatch):
    X, y, qid = problem()
    model = RankSVM(solver="newton", tol=1e-8).fit(X, y, qid)
    monkeypatch.setattr(one_pass, "MOST_COLUMNS", 4)
    monkeypatch.setattr(design_matrix, "UNCACHED", X.size)
    n_passes = model.history_[-1].n_passes
    objective = objective_of(X, y, qid)
    step = objective.X.full_step(objective.loss, np.zeros(len(y)), np.ones(5), np.float32)
    assert step.hessian is None
    value = model.objective_
    assert model.fit(X, y, qid).objective_ == pytest.approx(value, rel=1e-8)
    assert model.history_[-1].n_passes > n_passes


def test_numbers_too_large_take_many_passes():
    X, y, qid = problem()
    X[:, 0] *= 1e300
    objective = objective_of(X, y, qid)
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.r_[1e10, np.zeros(4)]
        assert objective.X.full_step(objective.loss, np.zeros(len(y)), p, np.float64) is None


@pytest.mark.parametrize("Loss", [SquaredHinge, SmoothedHinge])
def test_the_last_pass_over_what_is_large_confirms_the_value(Loss, monkeypatch):
    X, y, qid = problem()
    objective = objective_of(X, y, qid, Loss)
    monkeypatch.setattr(design_matrix, "UNCACHED", X.size)
    start, p = objective.evaluate(np.ones(5) / 50), np.ones(5) / 100
    n_passes = objective.n_passes
    with small_blocks:
        there = start.towards(p).trial(1.0).evaluation
        known = start.towards(p, np.float64).trial(1.0).evaluation
    assert known.fresh is None
    scores, rounding = objective.X.dot_within(there.weights)
    np.testing.assert_array_equal(there.fresh.scores, scores)
    assert there.fresh.rounding == rounding.max()
    n_passes = objective.n_passes
    assert there.upper_loss == objective.upper_loss(there.weights)
    assert objective.n_passes == n_passes + 1
