"""Rows rounded to single precision, by which no more than steps are found."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from cases import make_loss
from ranksvm import RankSVM
from ranksvm.linear import design_matrix
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.penalties import ElasticNet
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.solvers import Progress, trust_region


@pytest.fixture(autouse=True, scope="module")
def few_are_rounded():
    """Round rows however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design_matrix, "ROUNDED", range(1 << 20))
        yield


def text_rows(n=400, d=600, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.05)
    y = dense[:, :20] @ rng.normal(size=20)
    return csr_matrix(dense), y + 0.1 * rng.normal(size=n)


def objective(X, y, **options):
    loss = make_loss(SquaredHinge, np.asarray(y, dtype=float))
    return LinearObjective(DesignMatrix.from_array(X), loss, 1e-3, **options)


@given(st.integers(0, 1000), st.sampled_from([5, 70_000]), st.sampled_from([np.int32, np.int64]))
def test_products_are_those_of_rows_that_are_rounded(seed, d, index):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    dense = (
        10.0 ** rng.integers(-3, 4, (n, d)) * rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    )
    X = csr_matrix(dense)
    view = DesignMatrix.from_csr(X.indptr, X.indices.astype(index), X.data, d)
    scale, rows = 10.0 ** rng.integers(-2, 3, d), rng.integers(0, n, int(rng.integers(1, 12)))
    exact = dense.astype(np.float32).astype(float)
    w = rng.normal(size=d)
    for matrix, array, sharp in (
        (view, exact, dense),
        (view.take(rows), exact[rows], dense[rows]),
        (view.scaled(scale), exact * scale, dense * scale),
        (view.remembering().scaled(scale).take(rows), (exact * scale)[rows], (dense * scale)[rows]),
    ):
        rounded, u = matrix.rounded(), rng.normal(size=len(array))
        assert matrix.n_passes == 0
        close = {"rtol": 1e-10, "atol": 1e-9 * (1 + np.abs(array).max())}
        for n_threads in (1, 2):
            np.testing.assert_allclose(rounded.dot(w, n_threads), array @ w, **close)
            np.testing.assert_allclose(rounded.t_dot(u, n_threads), array.T @ u, **close)
        assert matrix.n_passes == 4
        off = np.abs((sharp - array) @ w)
        assert off.max() <= rounded.rounding * np.linalg.norm(w) * (1 + 1e-9)


def test_what_is_rounded_and_what_is_not():
    X, _ = text_rows(20, 30)
    assert DesignMatrix.from_array(X).rounded() is not None
    assert DesignMatrix.from_array(X.astype(np.float32)).rounded() is None
    assert DesignMatrix.from_array(X.toarray()).rounded() is None
    assert DesignMatrix.from_array(X).mapped().rounded() is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(design_matrix, "ROUNDED", range(X.nnz))
        assert DesignMatrix.from_array(X).rounded() is None
    everywhere = csr_matrix(1e9 + np.arange(40.0).reshape(20, 2))
    assert DesignMatrix.from_array(everywhere).centered().rounded() is None


@pytest.mark.parametrize("value", [1e300, 1e-300])
def test_numbers_that_single_precision_cannot_hold(value):
    X = csr_matrix([[value, 1.0], [2.0, 3.0]])
    rounded = DesignMatrix.from_array(X).rounded()
    assert rounded.rounding == np.inf
    with pytest.raises(ValueError, match="cannot hold"):
        rounded.dot(np.ones(2), 1)
    assert objective(X, [1.0, 0.0]).at_rest().rounded().objective.rounded is None


def test_products_serve_where_they_move_no_score_by_much():
    X, y = text_rows()
    here = objective(X, y).at_rest()
    assert here.rounded().objective.rounded is not None
    infinite = np.full(600, np.inf)
    penalty = ElasticNet(np.ones(600), np.ones(600), np.zeros(600), -infinite, infinite)
    penalised = objective(X, y, penalty=penalty).at_rest()
    assert penalised.rounded() is penalised
    large = objective(1e6 * X, y).at_rest()
    assert large.rounded() is large


def test_steps_by_rounded_rows_lead_to_the_optimum():
    X, y = text_rows()
    p = np.random.default_rng(1).normal(size=600)
    here = objective(X, y).evaluate(0.01 * p)
    rounded = here.rounded()
    assert rounded.objective.rounded is not None
    np.testing.assert_array_equal(rounded.gradient, here.gradient)
    exact = here.hessian_product(p)
    off = np.linalg.norm(rounded.hessian_product(p) - exact)
    assert 0 < off < 1e-6 * np.linalg.norm(exact)


def test_scores_along_a_step_are_exact_where_the_gap_asks_for_it():
    X, y = text_rows()
    p = 0.01 * np.random.default_rng(1).normal(size=600)
    here = objective(X, y).at_rest()
    rounded = here.rounded()
    image = rounded.image(p)
    assert np.abs(image - X @ p).max() > 1e-12
    assert here.near_enough(image, 0.0) is image  # whose products are exact
    assert rounded.near_enough(image, 1e-3 * here.value) is image
    assert rounded.near_enough(image, 1e-9 * here.value) is None


@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_values_on_the_way_are_those_of_the_rows_as_they_are(tol):
    X, y = text_rows()
    trained = objective(X, y)
    scores = []
    with pytest.MonkeyPatch.context() as patch:
        record = Progress.record

        def recording(self, evaluation, step, lower_bound=None):
            scores.append((evaluation.scores, X @ evaluation.weights))
            return record(self, evaluation, step, lower_bound)

        patch.setattr(Progress, "record", recording)
        trust_region(trained, np.zeros(600), Progress(tol))
    off = max(np.abs(known - fresh).max() for known, fresh in scores)
    assert len(scores) > 2
    assert off < 1e-12 if tol == 1e-8 else 1e-12 < off < 1e-6


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_fits_reach_tight_gaps_and_the_same_bits(loss, scale):
    X, y = text_rows(300, 200)
    options = {"loss": loss, "solver": "trust_region", "tol": 1e-9, "C": 1.0 / scale**2}
    if loss == "hinge":
        options["tol"] = 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [RankSVM(**options, n_threads=k).fit(scale * X, y) for k in (1, 2)]
    assert models[0].history_[-1].n_products > 10
    assert models[0].dual_gap_ <= options["tol"]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
