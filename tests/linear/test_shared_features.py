"""Interior points by the features that rows share: the equations, and the optima they lead to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from ranksvm import RankSVM, _core
from ranksvm.linear import shared_columns as columns
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.costs import Costs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.interior_point import interior_point
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.query_blocks import QueryBlocks
from ranksvm.linear.row_space import RowSpace
from ranksvm.linear.shared_columns import shared_columns
from ranksvm.linear.shared_features import SharedFeatures
from ranksvm.linear.training import make_problem, progress_of
from ranksvm.pairs.explicit import ExplicitPairs
from ranksvm.pairs.given import GivenPreferences
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers.cholesky import inverse


def rare_words(seed, n=40, shared=6, own=2.0, queries=6, of_row=3):
    """Return rows of a few features that others have, too, and so many of their own on average.

    Labels and queries are in no order, and some queries have one row.
    """
    rng = np.random.default_rng(seed)
    others = rng.integers(-3, 4, (n, shared)) * (rng.random((n, shared)) < of_row / shared)
    others[:2] = 1  # each is shared
    counts = rng.poisson(own, n)
    alone = np.zeros((n, counts.sum()))
    alone[np.repeat(np.arange(n), counts), np.arange(counts.sum())] = rng.normal(size=counts.sum())
    X = np.hstack([others, alone, np.zeros((n, 2))])[
        :, rng.permutation(shared + alone.shape[1] + 2)
    ]
    y = rng.integers(0, 4, n).astype(float)
    qid = np.append(rng.integers(0, queries, n - 1), queries)
    qid[:2], y[:2] = 0, (0, 1)
    return X, y, qid


def space_of(X, y, qid, n_threads=1):
    preferences = Preferences.from_labels(y, qid)
    matrix = DesignMatrix.from_array(sparse.csr_matrix(X))
    shared = np.flatnonzero((X != 0).sum(axis=0) > 1)
    pairs, rows = ExplicitPairs.of(preferences), RowSpace(matrix, n_threads)
    return SharedFeatures.of(rows, pairs, preferences.groups, shared)


def weighing(pairs, weights):
    """List pairs that weigh so much in the equations of a step."""
    ones, bounds = np.ones(len(weights)), np.full(len(weights), np.inf)
    listed = _core.ListedPairs(
        pairs.better, pairs.worse, pairs.n_samples, np.ones(1), bounds, ones, 1 / weights
    )
    listed.weigh(np.zeros(pairs.n_samples), 0.0)
    np.testing.assert_allclose(listed.weights, weights, rtol=1e-15)
    return listed


def optimum(X, y, qid, parameters):
    """Take interior points alone, by the features that rows share."""
    matrix, preferences = (
        DesignMatrix.from_array(sparse.csr_matrix(X)),
        Preferences.from_labels(y, qid),
    )
    objective = make_problem(matrix, preferences, parameters).objective
    assert shared_columns(objective.X, preferences) is not None
    objective = replace(objective, rows=RowSpace(objective.X, objective.n_threads))
    progress = progress_of(parameters, None)
    return interior_point(objective, np.zeros(objective.size), progress, max_steps=60)


@pytest.fixture
def anywhere(monkeypatch):
    """Leave features out however few there are."""
    monkeypatch.setattr(columns, "SOME", 2)
    monkeypatch.setattr(columns, "FEWER", 1.0)


@pytest.mark.parametrize("at_once", [1, 1 << 16])
@given(seed=st.integers(0, 1000))
def test_matrices_of_queries_are_one_matrix(at_once, seed):
    _, y, qid = rare_words(seed)
    preferences = Preferences.from_labels(y, qid)
    pairs, rng = ExplicitPairs.of(preferences), np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ranksvm.linear.query_blocks.AT_ONCE", at_once)
        blocks = QueryBlocks(preferences.groups, pairs)
        values = rng.random(len(pairs.better))
        matrices = blocks.symmetric(values)
    whole = np.zeros((len(y), len(y)))
    whole[pairs.better, pairs.worse] = whole[pairs.worse, pairs.better] = values
    v = rng.normal(size=len(y))
    np.testing.assert_allclose(blocks.product(matrices, v), whole @ v, atol=1e-12)
    order = preferences.groups.order
    order = np.arange(len(y)) if order is None else order.astype(np.int64)
    by_place = blocks.by_place(matrices)
    assert by_place.has_sorted_indices
    np.testing.assert_array_equal(by_place.toarray(), whole[np.ix_(order, order)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    seed=st.integers(0, 1000), digits=st.sampled_from([0, 4, 8]), own=st.sampled_from([0.3, 2.0])
)
def test_equations_of_all_features_are_solved(dtype, seed, digits, own):
    X, y, qid = rare_words(seed, own=own)
    rng, space = np.random.default_rng(seed), space_of(X, y, qid)
    pairs, digits = space.whole.pairs, digits if dtype is np.float64 else digits / 4
    weights = 10.0 ** rng.uniform(-digits, digits, len(pairs.better))
    D = X[pairs.better] - X[pairs.worse]
    right = X.T @ rng.normal(size=len(y))
    right[space.shared] += rng.normal(size=len(space.shared))
    equations = space.factorized(weighing(pairs, weights), dtype)
    assert equations is not None
    found = equations.solve(right)
    expected = reference_solution(D, weights, right)
    # Pairs that weigh much have hardly a difference left: what that costs is rounding of weights.
    close = (1e-3 if dtype is np.float32 else 1e-7) * np.linalg.norm(expected)
    assert np.linalg.norm(found - expected) <= close


def reference_solution(D, weights, right):
    """Solve ``(I + D' W D) x = right`` by least squares, which weights are hardly squared for."""
    root = np.sqrt(weights)[:, np.newaxis] * D
    _, scale, basis = np.linalg.svd(root, full_matrices=False)
    along = basis @ right
    return right - basis.T @ along + basis.T @ (along / (1 + scale**2))


def test_beyond_floating_point_there_are_no_equations():
    X, y, qid = rare_words(0)
    space = space_of(X, y, qid)
    weights = np.full(len(space.whole.pairs.better), np.inf)
    with np.errstate(all="ignore"):
        listed = weighing(space.whole.pairs, weights)
        assert space.factorized(listed, np.float64) is None
    assert not space_of(X * 1e200, y, qid).is_finite


@pytest.mark.parametrize("n", [3, 60])
def test_inverses(n):
    rng = np.random.default_rng(n)
    matrices = np.eye(n) + 0.1 / n * (lambda A: A + A.swapaxes(1, 2))(rng.random((4, n, n)))
    np.testing.assert_allclose(
        inverse(matrices) @ matrices, np.broadcast_to(np.eye(n), (4, n, n)), atol=1e-12
    )
    matrices[1] = 0.0
    assert np.isnan(inverse(matrices[1:2])).all()


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@given(
    seed=st.integers(0, 1000), C=st.sampled_from([1e-2, 1.0, 1e3]), own=st.sampled_from([0.5, 3])
)
def test_optimum(loss, seed, C, own):
    X, y, qid = rare_words(seed, own=own)
    result = optimum(X, y, qid, Parameters(C, loss, tol=1e-6, n_threads=1))
    assert str(result.status) == "converged"
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    exact = reference.hinge_objective if loss == "hinge" else reference.objective
    assert exact(pairs, X, result.weights) <= result.value * (1 + 1e-9)
    there = RankSVM(C=C, loss=loss, solver="newton", tol=1e-6).fit(X, y, qid)
    assert result.value * (1 - result.dual_gap) <= there.objective_
    assert there.objective_ * (1 - there.dual_gap_) <= result.value


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_every_number_of_threads_gives_the_same(loss):
    X, y, qid = rare_words(3, n=300, shared=20, own=4.0, queries=30)
    fits = [
        optimum(X, y, qid, Parameters(100.0, loss, tol=1e-6, n_threads=n_threads))
        for n_threads in (1, 2, 3)
    ]
    for fit in fits[1:]:
        assert np.array_equal(fit.weights, fits[0].weights)
        assert [line.dual_gap for line in fit.history] == [
            line.dual_gap for line in fits[0].history
        ]


def test_what_may_be_left_out(monkeypatch):
    X, y, qid = rare_words(1)
    monkeypatch.setattr(columns, "SOME", 2)
    matrix = DesignMatrix.from_array(sparse.csr_matrix(X))
    preferences = Preferences.from_labels(y, qid)
    found = shared_columns(matrix, preferences)
    np.testing.assert_array_equal(found, np.flatnonzero((X != 0).sum(axis=0) > 1))
    assert Costs.of(matrix, preferences).n_shared == len(found)
    assert shared_columns(DesignMatrix.from_array(np.ascontiguousarray(X)), preferences) is None
    given_pairs = GivenPreferences(np.array([0, 2]), np.array([1, 3]), len(y))
    assert shared_columns(matrix, given_pairs) is None
    again = matrix.take(np.arange(len(y)).repeat(2))  # nothing is a row's own
    assert shared_columns(again, Preferences.from_labels(y.repeat(2), qid.repeat(2))) is None
    for name, value in (("MOST_IN_BLOCKS", 10), ("MOST_SHARED", 3), ("FEWER", 0.01)):
        with monkeypatch.context() as patch:
            patch.setattr(columns, name, value)
            assert shared_columns(matrix, preferences) is None


def test_auto_leaves_out_rare_words():
    rng = np.random.default_rng(0)
    n, d = 4000, 20_000
    dense = sparse.csr_matrix(rng.standard_normal((n, 10)))
    words = sparse.csr_matrix(
        (np.ones(8 * n), rng.zipf(1.3, 8 * n) % d, np.arange(0, 8 * n + 1, 8)), (n, d)
    )
    X = sparse.csr_matrix(sparse.hstack([dense, words]))
    y = (rng.random(n) < 0.3).astype(float)
    preferences = Preferences.from_labels(y, np.arange(n) // 10)
    matrix = DesignMatrix.from_array(X)
    costs = Costs.of(matrix, preferences)
    assert 0 < costs.n_shared < 1500
    parameters = Parameters(1e3, "hinge", tol=1e-6, n_threads=1)
    assert choose_solver(matrix, preferences, parameters).name == "row_space"
    model = RankSVM(C=1e3, loss="hinge", tol=1e-6).fit(X, y, np.arange(n) // 10)
    assert model.status_ == "converged"
    assert model.history_[-1].solver == "interior_point"


def test_auto_knows_interior_points_of_the_squared_hinge_where_others_are_left_out():
    rng = np.random.default_rng(0)
    n, of_row = 3000, 12
    columns_of = rng.zipf(1.3, of_row * n) % 30_000
    X = sparse.csr_matrix(
        (rng.random(of_row * n), columns_of, np.arange(0, of_row * n + 1, of_row))
    )
    X.sum_duplicates()
    matrix = DesignMatrix.from_array(X)
    preferences = Preferences.from_labels(rng.integers(0, 2, n).astype(float), np.arange(n) // 300)
    costs = Costs.of(matrix, preferences)
    assert costs.n_shared > 0
    choice = choose_solver(matrix, preferences, Parameters(1e3, n_threads=1))
    assert choice.interior.is_first
    without = choose_solver(
        matrix, preferences, Parameters(1e3, n_threads=1), costs=replace(costs, n_shared=0)
    )
    assert without.interior is None
