"""Hessians of a sample of the queries: what they are, and when and for which steps."""

from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse import csr_array

from cases import make_pairs
from ranksvm import RankSVM
from ranksvm.linear import design_matrix, one_pass, rough_hessian
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.evaluation import AtWeights
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.losses import SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

EVERY = 4
# Blocks of 10 rows, of which a sample is every fourth.
small_blocks = patch.multiple(
    one_pass, BLOCK_BYTES=0, LEAST_ROWS=10, RAREST=EVERY, LEAST_BLOCKS=1, ROWS_OF_FEATURE=1
)
every_loss = pytest.mark.parametrize("Loss", [SquaredHinge, SmoothedHinge])


def problem(n=480, d=6, *, shuffled=False):
    """Queries of 10 rows with offsets, scales and query weights; mixed if shuffled."""
    rng = np.random.default_rng(1)
    X = rng.normal(3.0, 1.0, (n, d)) * np.logspace(0, 3, d)
    utility = (X / np.logspace(0, 3, d)).sum(axis=1) + np.sqrt(d) * rng.normal(size=n)
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.8, 0.95]))
    qid = np.arange(n) // 10
    if shuffled:
        qid = rng.permutation(qid)
    return X, y.astype(float), qid, rng


def steps(Loss, X, y, qid, n_threads=1, **weights):
    """Return a loss, weights, and a step that asks for a rough Hessian and one that does not."""
    loss = Loss(make_pairs(y, QueryGroups.from_qid(qid, len(y)), **weights))
    view, p = DesignMatrix.from_array(X), 0.3 / np.sqrt((X**2).sum(axis=0) / len(X))
    start = np.zeros(len(X))
    with small_blocks:
        both = [
            view.full_step(loss, start, p, np.float64, n_threads, roughly=roughly)
            for roughly in (True, False)
        ]
    return loss, p, *both


@every_loss
@pytest.mark.parametrize("shuffled", [False, True])
def test_it_is_that_of_the_queries_of_a_sample_as_their_pairs_weigh(Loss, shuffled):
    X, y, qid, rng = problem(shuffled=shuffled)
    query_weight = rng.integers(1, 4, qid.max() + 1).astype(float)
    loss, p, rough, exact = steps(Loss, X, y, qid, query_weight=query_weight)
    assert rough.hessian.is_rough
    assert not exact.hessian.is_rough
    is_sampled = qid % EVERY == 0
    of_sample = Loss(
        make_pairs(
            y[is_sampled],
            QueryGroups.from_qid(qid[is_sampled], is_sampled.sum()),
            query_weight=query_weight[::EVERY].copy(),
        )
    )
    shift, scale = DesignMatrix.from_array(X).standardization()
    Z = (X[is_sampled] - shift) * scale
    hessian = Z.T @ of_sample.evaluate(X[is_sampled] @ p).hessian_product(Z)
    hessian *= loss.pairs.n_pairs / of_sample.pairs.n_pairs
    np.testing.assert_allclose(rough.hessian.matrix, hessian, 1e-9, 1e-9 * np.abs(hessian).max())


@every_loss
def test_all_else_is_exact(Loss):
    X, y, qid, _ = problem()
    _, _, rough, exact = steps(Loss, X, y, qid)
    np.testing.assert_array_equal(rough.image, exact.image)
    np.testing.assert_array_equal(rough.scores, exact.scores)
    np.testing.assert_array_equal(rough.loss.gradient, exact.loss.gradient)
    assert rough.loss.value == pytest.approx(exact.loss.value, rel=1e-13)
    bound = 1e-13 * np.abs(X).T @ np.abs(exact.loss.gradient)
    assert np.all(np.abs(rough.slope.values - exact.slope.values) <= bound)


@pytest.mark.parametrize("shuffled", [False, True])
def test_threads_change_no_bit(shuffled):
    X, y, qid, _ = problem(shuffled=shuffled)
    one, other = (steps(SquaredHinge, X, y, qid, n_threads)[2] for n_threads in (1, 3))
    np.testing.assert_array_equal(one.hessian.matrix, other.hessian.matrix)
    np.testing.assert_array_equal(one.slope.values, other.slope.values)
    assert one.loss.value == other.loss.value


@pytest.mark.parametrize("place", [0, 1])
def test_a_rare_feature_takes_all_queries(place):
    X, y, qid, _ = problem()
    X[:, 2] = qid == place  # in the sample, which has too much of it, or beside it
    _, _, rough, exact = steps(SquaredHinge, X, y, qid)
    assert not rough.hessian.is_rough
    expected = exact.hessian.matrix
    np.testing.assert_allclose(rough.hessian.matrix, expected, 1e-9, 1e-9 * np.abs(expected).max())


def test_a_constant_feature_is_no_rare_one():
    X, y, qid, _ = problem()
    X[:, 2] = 4.0
    assert steps(SquaredHinge, X, y, qid)[2].hessian.is_rough


def test_a_sample_without_pairs_takes_all_queries():
    X, y, qid, _ = problem()
    y[qid % EVERY == 0] = 1.0
    assert not steps(SquaredHinge, X, y, qid)[2].hessian.is_rough


@pytest.mark.parametrize(("noise", "serves"), [(0.5, True), (5.0, False)])
def test_a_step_from_zero_that_promises_little_takes_all_queries(noise, serves):
    X, _, qid, rng = problem()
    utility = (X / X.std(axis=0)).sum(axis=1) + noise * np.sqrt(X.shape[1]) * rng.normal(size=480)
    loss = SquaredHinge(
        make_pairs(
            np.digitize(utility, np.quantile(utility, [0.5, 0.8])).astype(float),
            QueryGroups.from_qid(qid, 480),
        )
    )
    view, start = DesignMatrix.from_array(X), np.zeros(480)
    with small_blocks:
        step = view.full_step(loss, start, np.zeros(6), np.float64, roughly=True)
    assert step.hessian.is_rough == serves


def test_what_is_large_takes_all_queries(monkeypatch):
    X, y, qid, _ = problem()
    monkeypatch.setattr(design_matrix, "LARGE", X.size)
    assert not steps(SquaredHinge, X, y, qid)[2].hessian.is_rough


def test_few_rows_for_each_feature_are_no_sample():
    assert one_pass.one_of([(0, 1)] * 1000, (10_000, 100)) == 1
    assert one_pass.one_of([(0, 1)] * 20, (10**6, 100)) == 2
    assert one_pass.one_of([(0, 1)] * 1000, (50_000, 100)) == 5
    assert one_pass.one_of([(0, 1)] * 1000, (10**7, 100)) == one_pass.RAREST


@pytest.fixture
def found(monkeypatch):
    """Which Hessians were rough, of those that steps brought."""
    found = []
    full_step = DesignMatrix.full_step

    def noted(*args, **options):
        step = full_step(*args, **options)
        if step is not None and step.hessian is not None:
            found.append(step.hessian.is_rough)
        return step

    monkeypatch.setattr(DesignMatrix, "full_step", noted)
    return found


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_first_steps_from_zero_have_rough_hessians_and_the_optimum_is_the_same(found, loss):
    X, y, qid, _ = problem(20_000, 64)
    model = RankSVM(loss=loss, solver="newton", tol=1e-8)
    weights = model.fit(X, y, qid).coef_
    assert not any(found)
    with patch.multiple(one_pass, BLOCK_BYTES=0, LEAST_ROWS=100):
        found.clear()
        rough = RankSVM(loss=loss, solver="newton", tol=1e-8).fit(X, y, qid)
        assert 1 <= sum(found) <= 2 < len(found)
        assert not any(found[2:])
        assert rough.status_ == "converged"
        assert rough.objective_ == pytest.approx(model.objective_, rel=2e-8)
        scale = X.std(axis=0)
        np.testing.assert_allclose(scale * rough.coef_, scale * weights, atol=1e-3)
        found.clear()
        n_steps = len(rough.history_)
        rough.set_params(warm_start=True).fit(X, y, qid)
        assert not any(found)
        assert len(rough.history_) < n_steps


def test_few_features_have_exact_hessians(found):
    X, y, qid, _ = problem(20_000, 63)
    with patch.multiple(one_pass, BLOCK_BYTES=0, LEAST_ROWS=100):
        RankSVM(solver="newton").fit(X, y, qid)
    assert found
    assert not any(found)


def test_a_rough_hessian_that_leads_nowhere_is_followed_by_an_exact_one(monkeypatch):
    X, y, qid, _ = problem(20_000, 64)
    full_step = DesignMatrix.full_step

    def spoilt(*args, **options):
        step = full_step(*args, **options)
        if step is None or step.hessian is None or not step.hessian.is_rough:
            return step
        return step._replace(hessian=step.hessian._replace(matrix=-step.hessian.matrix))

    expected = RankSVM(solver="newton", tol=1e-8).fit(X, y, qid).objective_
    monkeypatch.setattr(DesignMatrix, "full_step", spoilt)
    with patch.multiple(one_pass, BLOCK_BYTES=0, LEAST_ROWS=100):
        model = RankSVM(solver="newton", tol=1e-8).fit(X, y, qid)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(expected, rel=2e-8)


small_samples = patch.multiple(rough_hessian, RAREST=EVERY, LEAST_QUERIES=1, ROWS_OF_FEATURE=1)


def sparse_problem(n=4800, d=20, *, shuffled=False):
    """One value in every tenth row of each feature, in queries of 10 rows."""
    rng = np.random.default_rng(2)
    X = rng.uniform(1, 2, (n, d)) * (rng.random((n, d)) < 0.1)
    utility = X.sum(axis=1) + 0.5 * rng.normal(size=n)
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.8])).astype(float)
    qid = np.arange(n) // 10
    return X, y, rng.permutation(qid) if shuffled else qid, rng


def rough(Loss, X, y, qid, n_threads=1, **weights):
    """Return where a loss is evaluated, its pairs, and the Hessian of a sample of sparse rows."""
    pairs = make_pairs(y, QueryGroups.from_qid(qid, len(y)), **weights)
    scores = 0.1 * X.sum(axis=1)
    view, loss = DesignMatrix.from_array(csr_array(X)), Loss(pairs).evaluate(scores)
    _, scale = view.standardization()
    with small_samples:
        return scores, pairs, view.rough_hessian(loss, scale, n_threads)


@every_loss
@pytest.mark.parametrize("shuffled", [False, True])
def test_of_sparse_rows_it_is_that_of_one_in_so_many_queries(Loss, shuffled):
    X, y, qid, rng = sparse_problem(shuffled=shuffled)
    query_weight = rng.integers(1, 4, qid.max() + 1).astype(float)
    scores, pairs, found = rough(Loss, X, y, qid, query_weight=query_weight)
    is_sampled = qid % EVERY == 0
    groups = QueryGroups.from_qid(qid[is_sampled], is_sampled.sum())
    of_sample = make_pairs(y[is_sampled], groups, query_weight=query_weight[::EVERY].copy())
    Z = X[is_sampled] / X.std(axis=0)
    hessian = Z.T @ Loss(of_sample).evaluate(scores[is_sampled]).hessian_product(Z)
    hessian *= pairs.n_pairs / of_sample.n_pairs
    np.testing.assert_allclose(found, hessian, 1e-9, 1e-9 * np.abs(hessian).max())
    again = rough(Loss, X, y, qid, 3, query_weight=query_weight)[2]
    np.testing.assert_array_equal(found, again)


def test_of_sparse_rows_it_is_left_where_a_sample_does_not_stand_for_all():
    X, y, qid, _ = sparse_problem()
    assert rough(SquaredHinge, X, y, qid)[2] is not None
    rare = X.copy()
    rare[:, 3] = qid == 1
    assert rough(SquaredHinge, rare, y, qid)[2] is None
    assert rough(SquaredHinge, X, np.where(qid % EVERY == 0, 1.0, y), qid)[2] is None
    assert rough(SquaredHinge, X, y, np.where(qid < 400, 0, qid - 399))[2] is None  # a long one
    assert rough(SquaredHinge, np.ones((4800, 20)), y, qid)[2] is None  # no sparse rows


def test_of_sparse_rows_what_is_large_takes_all_queries(monkeypatch):
    monkeypatch.setattr(design_matrix, "LARGE", 1)
    X, y, qid, _ = sparse_problem()
    assert rough(SquaredHinge, X, y, qid)[2] is None


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_first_steps_on_sparse_rows_are_rough_and_the_optimum_is_the_same(loss, monkeypatch):
    X, y, qid, _ = sparse_problem(20_000, 64)
    X, found = csr_array(X), []
    newton_system = AtWeights.newton_system

    def noted(*args, **options):
        system = newton_system(*args, **options)
        found.append(system.is_rough)
        return system

    monkeypatch.setattr(AtWeights, "newton_system", noted)
    with patch.object(rough_hessian, "RAREST", 1):
        model = RankSVM(loss=loss, solver="newton", tol=1e-8).fit(X, y, qid)
    assert not any(found)
    found.clear()
    of_sample = RankSVM(loss=loss, solver="newton", tol=1e-8).fit(X, y, qid)
    assert found[:2] == [True, True]
    assert not any(found[2:])
    assert of_sample.status_ == "converged"
    assert of_sample.objective_ == pytest.approx(model.objective_, rel=2e-8)
    np.testing.assert_allclose(of_sample.coef_, model.coef_, atol=1e-3)


def test_a_step_on_sparse_rows_that_promises_little_is_by_all_queries():
    X, _, qid, rng = sparse_problem(20_000, 64)
    y = rng.integers(0, 3, len(X)).astype(float)  # nothing to learn
    pairs = make_pairs(y, QueryGroups.from_qid(qid, len(y)))
    objective = LinearObjective(DesignMatrix.from_array(csr_array(X)), SquaredHinge(pairs), 1.0)
    at_zero = objective.evaluate(np.zeros(64))
    elsewhere = objective.evaluate(np.full(64, 0.1))
    assert not at_zero.newton_system(np.float32, roughly=True).is_rough
    assert elsewhere.newton_system(np.float32, roughly=True).is_rough
    assert not elsewhere.newton_system(np.float32).is_rough
