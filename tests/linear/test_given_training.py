"""Training on given pairs, against explicit pairs and against labels whose pairs are given."""

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from cases import make_problem
from ranksvm.arrays.placement import design_matrix
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.given_hessian import given_hessian
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.names import LOSSES, NORMALIZATIONS, SOLVERS
from ranksvm.pairs.given import given_preferences
from ranksvm.pairs.given_pairs import GivenPairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

every_loss = pytest.mark.parametrize("loss", LOSSES)


def contradictory(n, d, n_pairs=200, seed=0):
    """Rows, and pairs with duplicates, cycles, and weights of 0; some rows are in none."""
    rng = np.random.default_rng(seed)
    winner = rng.integers(0, n - 2, n_pairs)
    pairs = np.stack([winner, (winner + rng.integers(1, 4, n_pairs)) % (n - 2)], axis=1)
    weights = rng.choice([0, 1, 2.5, 1e-3], n_pairs)
    return rng.normal(size=(n, d)), pairs, weights, rng.choice([1e-3, 0.5, 1, 3], n_pairs)


def optimum(loss, X, pairs, weights, margins, c):
    """The minimum by explicit pairs, of which each is scaled so that its margin is 1."""
    listed = reference.given_pairs(pairs, len(X), weights)
    Z = (X[listed.better] - X[listed.worse]) / margins[:, np.newaxis]
    power = 1 if loss == "hinge" else 2
    rows = np.concatenate([Z, np.zeros((1, X.shape[1]))])
    scaled = reference.Pairs(
        len(rows),
        np.arange(len(Z)),
        np.full(len(Z), len(Z)),
        listed.query,
        c * listed.weight * margins**power,
    )
    if loss == "hinge":
        return reference.hinge_objective(scaled, rows, reference.minimize_hinge(scaled, rows))
    return reference.objective(scaled, rows, reference.minimize_squared_hinge(scaled, rows))


@every_loss
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(40, 3), (25, 60)])
@pytest.mark.parametrize("kind", ["dense", "csr", "float32", "arrays"])
def test_every_solver_finds_the_optimum(loss, solver, shape, kind):
    if kind == "arrays" and solver == "row_space":
        pytest.skip("rows have to be on the host")
    X, pairs, weights, margins = contradictory(*shape)
    X = X.astype(np.float32).astype(np.float64)
    value = optimum(loss, X, pairs, weights, margins, c=0.3)
    stored = {"csr": sp.csr_matrix, "float32": np.float32}.get(kind, np.asarray)(X)
    matrix = design_matrix(stored, "numpy:cpu" if kind == "arrays" else None)
    parameters = Parameters(C=0.3, loss=loss, normalize=None, solver=solver, tol=1e-5, n_threads=1)
    preferences = given_preferences(pairs, len(X), weights, margins)
    result = train(matrix, preferences, parameters).result
    assert result.dual_gap <= (1e-3 if solver == "cutting_planes" else 1e-5)
    assert result.value * (1 - result.dual_gap) <= value * (1 + 1e-10)
    assert value <= result.value * (1 + 1e-10)


@every_loss
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_the_pairs_of_labels_are_as_good_as_labels(loss, normalize):
    X, y, qid = make_problem(3)
    listed = reference.enumerate_pairs(y, qid)
    pairs = np.stack([listed.better, listed.worse], axis=1)
    parameters = Parameters(loss=loss, normalize=normalize, tol=1e-9, n_threads=1)
    labels = train(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)
    given = given_preferences(pairs, len(X), qid=qid)
    fit = train(DesignMatrix.from_array(X), given, parameters)
    assert fit.result.value == pytest.approx(labels.result.value, rel=1e-8)
    assert (fit.n_pairs, fit.n_queries) == (labels.n_pairs, labels.n_queries)


def test_queries_are_needed_where_weights_are_shared_among_them():
    X, pairs, weights, _ = contradictory(20, 2)
    parameters = Parameters(normalize="queries")
    with pytest.raises(ValueError, match="normalize='queries' needs the queries"):
        train(DesignMatrix.from_array(X), given_preferences(pairs, 20, weights), parameters)


def test_gaps_of_labels_are_refused():
    X, pairs, _, _ = contradictory(20, 2)
    with pytest.raises(ValueError, match="pair_weight='gap' weighs the pairs of labels"):
        train(
            DesignMatrix.from_array(X), given_preferences(pairs, 20), Parameters(pair_weight="gap")
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_hessian_in_panels(monkeypatch, dtype, scale):
    X, pairs, weights, margins = contradictory(50, 7)
    weights = scale * weights
    scores = np.random.default_rng(1).normal(size=50)
    shift, factors = X.mean(axis=0), np.linspace(0.5, 2, 7)
    M = reference.laplacian(reference.given_pairs(pairs, 50, weights), scores, margins)
    Z = (X - shift) * factors
    given = GivenPairs(given_preferences(pairs, 50, weights, margins))
    loss = SquaredHinge(given, 0.0).evaluate(scores)
    for panel in (1 << 26, 8 * 50 * 3, 1):
        monkeypatch.setattr("ranksvm.linear.given_hessian.PANEL_BYTES", panel)
        for n_threads in (1, 2):
            hessian = given_hessian(
                DesignMatrix.from_array(X), loss, shift, factors, dtype, n_threads
            )
            tolerance = (1e-5 if dtype is np.float32 else 1e-12) * np.abs(hessian).max()
            np.testing.assert_allclose(hessian, 2 * Z.T @ M @ Z, rtol=0, atol=tolerance)


@pytest.mark.parametrize("most_stored", [1 << 24, 50])
def test_hessian_of_sparse_rows(monkeypatch, most_stored):
    monkeypatch.setattr("ranksvm.linear.given_hessian.MOST_STORED", most_stored)
    monkeypatch.setattr("ranksvm.linear.given_hessian.BLOCK_BYTES", 1000)
    X, pairs, weights, margins = contradictory(50, 40)
    X[np.random.default_rng(2).random(X.shape) < 0.95] = 0
    scores = np.random.default_rng(1).normal(size=50)
    M = reference.laplacian(reference.given_pairs(pairs, 50, weights), scores, margins)
    given = GivenPairs(given_preferences(pairs, 50, weights, margins))
    loss = SquaredHinge(given, 0.0).evaluate(scores)
    scale = np.linspace(0.5, 2, 40)
    hessian = DesignMatrix.from_array(sp.csr_matrix(X)).hessian(
        loss, X.mean(axis=0), scale, np.float32
    )
    expected = 2 * (X * scale).T @ M @ (X * scale)
    np.testing.assert_allclose(hessian, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_close", [50, 10, 0])
def test_rows_without_an_active_pair_are_left_out_of_the_hessian(monkeypatch, is_sparse, n_close):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 40)) * (rng.random((50, 40)) < 0.05)
    winner = rng.integers(0, 45, 200)
    pairs = np.stack([winner, winner + rng.integers(1, 6, 200)], axis=1)  # later rows are worse
    scores = np.where(np.arange(50) < n_close, rng.normal(size=50), -10.0 * np.arange(50))
    loss = SquaredHinge(GivenPairs(given_preferences(pairs, 50)), 1.0).evaluate(scores)
    matrix = DesignMatrix.from_array(sp.csr_matrix(X) if is_sparse else X)
    gathered, gather = [], DesignMatrix.gather

    def noted(self, rows, columns, *args):
        first, last, order = rows
        gathered.extend([] if order is None else order[first:last].tolist())
        return gather(self, rows, columns, *args)

    monkeypatch.setattr(DesignMatrix, "gather", noted)
    options = {"by_panels": not is_sparse}
    hessian = given_hessian(matrix, loss, np.zeros(40), np.ones(40), np.float64, 1, **options)
    active = np.flatnonzero(loss.hessian_diagonal)
    assert len(active) <= n_close
    assert len(active) > 0.9 * n_close - 1
    assert gathered == active.tolist()
    M = reference.laplacian(reference.given_pairs(pairs, 50), scores, np.ones(200))
    np.testing.assert_allclose(hessian, 2 * X.T @ M @ X, atol=1e-12 * np.abs(hessian).max())


@every_loss
def test_tiny_and_huge_margins_are_certified(loss):
    X, pairs, weights, margins = contradictory(40, 3)
    for scale in (1e-12, 1e12):
        given = given_preferences(pairs, 40, weights, scale * margins)
        parameters = Parameters(loss=loss, normalize=None, tol=1e-6, n_threads=1)
        # The squared hinge is homogeneous: w and margins may be multiplied by the same number.
        C = 1.0 if loss == "squared_hinge" else scale
        fit = train(DesignMatrix.from_array(X), given, Parameters(**{**vars(parameters), "C": C}))
        assert fit.result.dual_gap <= 1e-6
        value = optimum(loss, X, pairs, weights, margins, c=1.0)
        assert fit.result.value == pytest.approx(scale**2 * value, rel=2e-6)
