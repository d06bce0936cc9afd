"""Training in rounds: each against the optimum by explicit pairs, and which is kept."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from cases import make_problem
from ranksvm.arrays.placement import design_matrix
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.given_hessian import given_hessian
from ranksvm.linear.grid import solve_grid
from ranksvm.linear.grid_rounds import in_rounds, train_path
from ranksvm.linear.hessian import fits_blocks, weight_space_hessian
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import PATIENCE, Rounds, train
from ranksvm.linear.training import make_problem as make_ready
from ranksvm.names import LOSSES, SOLVERS
from ranksvm.pairs.given import given_preferences
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.top import Gains
from ranksvm.pairs.top_pairs import TopPairs
from ranksvm.solvers import Iteration

every_loss = pytest.mark.parametrize("loss", LOSSES)
NORMALIZED = ["documents", "pairs", "queries", None]


def optimum(loss, X, pairs):
    """The minimum by explicit pairs, whose weights hold c."""
    if loss == "hinge":
        return reference.hinge_objective(pairs, X, reference.minimize_hinge(pairs, X))
    return reference.objective(pairs, X, reference.minimize_squared_hinge(pairs, X))


def normalized(pairs, C, normalize, of_query):
    """The pairs with c in their weights; by documents, a query counts as one."""
    if normalize != "documents":
        return reference.normalize_pairs(pairs, C, normalize, query_weight=of_query)
    some = np.unique(pairs.query)
    n = sum(of_query[pairs.better[pairs.query == q][0]] for q in some)
    return replace(pairs, weight=C * n / pairs.weight.sum() * pairs.weight)


def assert_second_round_is_optimal(X, stored, y, qid, parameters, of_rows=None, of_query=None):
    """Compare the round after the plain fit with explicit pairs, ranked by that fit."""
    of_query = np.ones(len(y)) if of_query is None else of_query
    preferences = Preferences.from_labels(y, qid, of_rows, of_query)
    first = train(stored, preferences, replace(parameters, n_rounds=1))
    fit = train(stored, preferences, replace(parameters, n_rounds=2))
    pairs = reference.top_pairs(
        y, X @ first.weights.dense, qid, parameters.gains, parameters.top,
        sample_weight=of_rows, query_weight=of_query,
    )  # fmt: skip
    value = optimum(
        parameters.loss, X, normalized(pairs, parameters.C, parameters.normalize, of_query)
    )
    most = 1e-3 if parameters.solver == "cutting_planes" else parameters.tol
    assert fit.result.dual_gap <= most
    assert fit.result.value * (1 - fit.result.dual_gap) <= value * (1 + 1e-10)
    assert value <= fit.result.value * (1 + 1e-10)
    assert fit.n_pairs == pytest.approx(pairs.weight.sum())


@every_loss
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(40, 3), (25, 60)])
@pytest.mark.parametrize("kind", ["dense", "csr", "float32", "arrays"])
def test_every_solver_finds_the_optimum_of_a_round(loss, solver, shape, kind):
    if kind == "arrays" and solver == "row_space":
        pytest.skip("rows have to be on the host")
    X, y, qid = make_problem(2, *shape)
    X = X.astype(np.float32).astype(np.float64)
    stored = {"csr": sp.csr_matrix, "float32": np.float32}.get(kind, np.asarray)(X)
    matrix = design_matrix(stored, "numpy:cpu" if kind == "arrays" else None)
    parameters = Parameters(
        C=3, loss=loss, pair_weight="ndcg", top=5, solver=solver, tol=1e-5, n_threads=1
    )
    assert_second_round_is_optimal(X, matrix, y, qid, parameters)


@every_loss
@pytest.mark.parametrize("normalize", NORMALIZED)
@pytest.mark.parametrize("gains", ["exponential", "linear"])
def test_weights_of_rows_and_queries_and_normalisations(loss, normalize, gains):
    X, y, qid = make_problem(4, 50)
    rng = np.random.default_rng(0)
    parameters = Parameters(
        loss=loss, pair_weight="ndcg", gains=gains, normalize=normalize, tol=1e-6, n_threads=1
    )
    of_rows, of_query = rng.choice([0.5, 1, 3], 50), np.array([1.0, 2.0, 0.5])[qid]
    matrix = DesignMatrix.from_array(X)
    assert_second_round_is_optimal(X, matrix, y, qid, parameters, of_rows, of_query)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_matrix])
def test_hessian_in_blocks_and_in_panels(monkeypatch, dtype, stored):
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(600, 7)), rng.integers(0, 4, 600), rng.integers(0, 3, 600)
    preferences = Gains(top=9).by_rank(Preferences.from_labels(y, qid), rng.normal(size=600))
    scores, shift, factors = rng.normal(size=600), X.mean(axis=0), np.linspace(0.5, 2, 7)
    loss = SquaredHinge(TopPairs(preferences)).evaluate(scores)
    Z = (X - shift) * factors
    expected = Z.T @ loss.hessian_product(Z)
    matrix = DesignMatrix.from_array(stored(X))
    assert fits_blocks(matrix, preferences.groups, dtype)
    at = (matrix, loss, shift, factors, dtype)
    tolerance = (1e-5 if dtype is np.float32 else 1e-12) * np.abs(expected).max()
    for n_threads in (1, 2):
        for hessian in (weight_space_hessian, given_hessian):
            found = hessian(*at, n_threads)
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    monkeypatch.setattr("ranksvm.linear.hessian.PANEL_BYTES", 1)
    assert not fits_blocks(matrix, preferences.groups, dtype)
    found = weight_space_hessian(*at, 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@every_loss
def test_any_number_of_threads_gives_the_same_bits(loss):
    X, y, qid = make_problem(1, 3000, 10, 20)
    preferences = Preferences.from_labels(y, qid)
    one, three = (
        train(
            DesignMatrix.from_array(X),
            preferences,
            Parameters(loss=loss, pair_weight="ndcg", n_threads=n_threads),
        )
        for n_threads in (1, 3)
    )
    assert one.result.value == three.result.value
    np.testing.assert_array_equal(one.weights.dense, three.weights.dense)


def test_the_first_round_is_the_plain_fit_and_the_history_goes_on():
    X, y, qid = make_problem(1, 200, 5, 10)
    matrix, preferences = DesignMatrix.from_array(X), Preferences.from_labels(y, qid)
    parameters = Parameters(pair_weight="ndcg", n_rounds=4, n_threads=1)
    plain = train(matrix, preferences, replace(parameters, pair_weight=None))
    one = train(matrix, preferences, replace(parameters, n_rounds=1))
    np.testing.assert_array_equal(one.weights.dense, plain.weights.dense)
    assert one.result.value == plain.result.value
    history = train(matrix, preferences, parameters).result.history
    assert [line.iteration for line in history] == list(range(len(history)))
    assert sorted({line.round for line in history}) == [0, 1, 2, 3]
    passes, seconds = zip(*((line.n_passes, line.seconds) for line in history), strict=True)
    assert list(passes) == sorted(passes)
    assert list(seconds) == sorted(seconds)
    plain = plain.result.history
    assert [line.value for line in history[: len(plain)]] == [line.value for line in plain]


LINE = Iteration(0, 1.0, 0.0, 1.0, 0, 1, 2, "newton", 0.0)


@pytest.mark.parametrize(
    ("values", "kept", "n_rounds"),
    [
        ([0.5, 0.6, 0.7, 0.8], 3, 4),
        ([0.5, 0.6, 0.55, 0.58, 0.9], 1, 4),
        ([0.5, 0.4, 0.6, 0.5, 0.5, 0.9], 2, 5),
        ([0.5, 0.5, 0.5], 0, 3),
        ([np.nan, np.nan, np.nan], 0, 3),
    ],
)
def test_the_best_round_is_kept_and_two_without_gain_are_the_last(values, kept, n_rounds):
    rounds = Rounds(10 if len(values) > n_rounds else len(values), judge=values.__getitem__)
    n = 0
    while rounds.add(n, [LINE]):
        n += 1
    assert rounds.kept == kept
    assert n + 1 == n_rounds == len(rounds.history)
    assert PATIENCE == 2


def test_without_a_judge_the_last_is_kept():
    rounds = Rounds(3)
    assert [rounds.add(k, [LINE]) for k in range(3)] == [True, True, False]
    assert rounds.kept == 2


def test_a_grid_goes_on_in_rounds_from_each_of_its_solutions():
    X, y, qid = make_problem(1, 200, 5, 10)
    matrix, preferences = DesignMatrix.from_array(X), Preferences.from_labels(y, qid)
    of_each = [Parameters(C=C, pair_weight="ndcg", tol=1e-9, n_threads=1) for C in (0.1, 1, 10)]
    solutions = solve_grid(make_ready(matrix, preferences, of_each[0]), of_each)
    for place, result in in_rounds(solutions, matrix, preferences, of_each):
        alone = train(matrix, preferences, of_each[place]).result
        assert result.value == pytest.approx(alone.value, rel=1e-6)
        assert result.history[-1].round == 2


def test_what_is_trained_on_one_path_is_what_is_trained_alone():
    X, y, qid = make_problem(1, 200, 5, 10)
    matrix, preferences = DesignMatrix.from_array(X), Preferences.from_labels(y, qid)
    asked = [(10.0, "ndcg"), (0.1, None), (1.0, None), (10.0, None), (0.1, "ndcg")]
    of_each = [Parameters(C=C, pair_weight=w, tol=1e-9, n_threads=1) for C, w in asked]
    fits = train_path(matrix, preferences, of_each)
    for fit, parameters in zip(fits, of_each, strict=True):
        alone = train(matrix, preferences, parameters)
        assert fit.result.dual_gap <= 1e-9
        assert fit.shortfall is None
        assert fit.result.value == pytest.approx(alone.result.value, rel=1e-6)
        assert fit.result.history[-1].round == alone.result.history[-1].round
        assert fit.n_pairs == pytest.approx(alone.n_pairs)
        np.testing.assert_allclose(fit.weights.dense, alone.weights.dense, rtol=1e-3, atol=1e-6)
    few = train_path(matrix, preferences, [replace(one, max_iter=1, tol=1e-12) for one in of_each])
    assert all(fit.shortfall.startswith("not converged: ") for fit in few)


def test_what_has_no_gains_is_refused():
    X, y, qid = make_problem(1, 30)
    matrix, parameters = DesignMatrix.from_array(X), Parameters(pair_weight="ndcg")
    given = given_preferences([[0, 1]], 30)
    with pytest.raises(ValueError, match="pair_weight='ndcg' weighs the pairs of labels"):
        train(matrix, given, parameters)
    roles = replace(Preferences.from_labels(y, qid), worse_weight=np.ones(30))
    for pair_weight in ("gain", "ndcg"):
        with pytest.raises(ValueError, match="needs grades of relevance; times of events have no"):
            train(matrix, roles, replace(parameters, pair_weight=pair_weight))
