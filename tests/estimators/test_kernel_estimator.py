"""KernelRankSVM: its optimum and certificate, and its manners as an estimator."""

import doctest
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from cases import make_problem, optimum
from ranksvm import (
    ConvergenceWarning,
    KernelRankSVM,
    RankSVM,
    regularization_path,
)
from ranksvm.estimators import kernel_rank_svm
from ranksvm.kernel.kernels import Kernel
from strategies import examples, linear_problems

LOSSES = ["squared_hinge", "hinge"]
every_loss = pytest.mark.parametrize("loss", LOSSES)
GAMMA = 0.3


def features_of(K):
    """Rows whose dot products are K, from its eigenvectors."""
    values, vectors = scipy.linalg.eigh(K)
    return vectors * np.sqrt(values.clip(0))


def value_of(beta, K, pairs, loss):
    """The objective of ``f = K beta``, by explicit pairs that c is part of."""
    sum_of_losses = reference.hinge if loss == "hinge" else reference.squared_hinge
    return 0.5 * beta @ K @ beta + sum_of_losses(pairs, K @ beta)


def coefficients(model, n):
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_
    return beta


@parametrize_with_checks(
    [KernelRankSVM(), KernelRankSVM(loss="hinge"), KernelRankSVM(kernel="linear")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- the optimum and the certificate --------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
@pytest.mark.parametrize("n_queries", [1, 6])
def test_reaches_the_optimum(loss, normalize, n_queries):
    X, y, qid = make_problem(n_queries, n_queries=n_queries)
    C = 0.01 if normalize is None else 1.0
    model = KernelRankSVM(C, gamma=GAMMA, loss=loss, normalize=normalize, tol=1e-9)
    model.fit(X, y, qid)
    K = pairwise_kernels(X, metric="rbf", gamma=GAMMA)
    _, value = optimum(loss, features_of(K), y, qid, C, normalize)
    assert model.status_ == "converged"
    assert 0 <= model.dual_gap_ <= 1e-9
    assert model.objective_ == pytest.approx(value, rel=2e-9)
    pairs = reference.enumerate_pairs(y, qid)
    assert (model.n_pairs_, model.n_queries_) == (len(pairs.weight), n_queries)
    pairs = reference.normalize_pairs(pairs, C, normalize)
    beta = coefficients(model, len(y))
    assert value_of(beta, K, pairs, loss) == pytest.approx(value, rel=2e-9)
    assert np.ptp(model.predict(X) - K @ beta) <= 1e-12


@every_loss
def test_reaches_the_weighted_optimum(loss):
    X, y, qid = make_problem(0)
    rng = np.random.default_rng(1)
    weights = {
        "sample_weight": rng.uniform(0, 3, len(y)),
        "query_weight": rng.uniform(0, 3, 3)[qid],
    }
    model = KernelRankSVM(gamma=GAMMA, loss=loss, tol=1e-9).fit(X, y, qid, **weights)
    Phi = features_of(pairwise_kernels(X, metric="rbf", gamma=GAMMA))
    _, value = optimum(loss, Phi, y, qid, 1.0, "documents", **weights)
    assert model.objective_ == pytest.approx(value, rel=2e-9)
    model.set_params(pair_weight="gap").fit(X, y, qid)
    _, value = optimum(loss, Phi, y, qid, 1.0, "documents", pair_weight="gap")
    assert model.objective_ == pytest.approx(value, rel=2e-9)


@every_loss
@examples(40)
@given(linear_problems(), st.sampled_from([1e-4, 1e-2, 1.0]), st.sampled_from([1e-2, 1.0, 100.0]))
@pytest.mark.filterwarnings("ignore::ranksvm.ConvergenceWarning")
def test_certifies_any_ranking_at_any_tolerance(loss, problem, width, C):
    ranking, X, _ = problem
    y, qid = ranking.y, ranking.qid
    weights = {"sample_weight": ranking.sample_weight, "query_weight": ranking.query_weight}
    assume(reference.enumerate_pairs(y, qid, **weights).weight.any())
    K = pairwise_kernels(X, metric="rbf", gamma=width)
    _, value = optimum(loss, features_of(K), y, qid, C, **weights)
    for tol in (0.3, 1e-3, 1e-8):
        model = KernelRankSVM(C, gamma=width, loss=loss, tol=tol).fit(X, y, qid, **weights)
        # Heavy weights leave little more than this of floating point.
        assert 0 <= model.dual_gap_ <= (tol if model.status_ == "converged" else 1e-6)
        # A wide kernel is rounded to this part of its differences.
        assert value * (1 - 1e-8) <= model.objective_
        assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-8)


@every_loss
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_certificate_holds_for_what_the_factor_leaves_out(loss, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.floor(2 * np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=300))
    model = KernelRankSVM(C, gamma=GAMMA, loss=loss, normalize="documents")
    exact = clone(model).set_params(tol=1e-8).fit(X, y)
    for tol in (0.3, 0.03, 1e-3):
        model.set_params(tol=tol).fit(X, y)
        assert len(model.support_) < len(exact.support_)
        assert model.dual_gap_ <= tol
        assert exact.objective_ * (1 - exact.dual_gap_) <= model.objective_
        assert model.objective_ * (1 - model.dual_gap_) <= exact.objective_


def test_no_direction_leads_down():
    X, y, qid = make_problem(2)
    model = KernelRankSVM(gamma=GAMMA, tol=1e-11).fit(X, y, qid)
    K = pairwise_kernels(X, metric="rbf", gamma=GAMMA)
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), 1.0, "documents")
    beta = coefficients(model, len(y))
    for direction in np.random.default_rng(0).normal(size=(20, len(y))):
        along = [value_of(beta + h * direction, K, pairs, "squared_hinge") for h in (-1e-4, 1e-4)]
        curvature = (sum(along) - 2 * model.objective_) / 1e-8
        assert abs(along[1] - along[0]) / 2e-4 <= 1e-4 * curvature


@every_loss
def test_the_linear_kernel_is_the_linear_ranker(loss):
    X, y, qid = make_problem(3, n=200)
    linear = RankSVM(loss=loss, tol=1e-9).fit(X, y, qid)
    model = KernelRankSVM(kernel="linear", loss=loss, tol=1e-9).fit(X, y, qid)
    assert model.objective_ == pytest.approx(linear.objective_, rel=2e-9)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, linear.coef_, atol=1e-3)
    assert len(model.support_) == X.shape[1] + 1


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_agrees_with_the_regularization_path(kernel):
    X, y, qid = make_problem(20)
    path = regularization_path(X, y, qid, kernel=kernel, gamma=GAMMA)
    K = Kernel(kernel, GAMMA).between(X, X)
    pairs = reference.enumerate_pairs(y, qid)
    for lam in np.geomspace(path.lambdas[0], path.lambdas[-1], 7)[1:-1]:
        model = KernelRankSVM(
            1 / lam, kernel=kernel, gamma=GAMMA, loss="hinge", normalize=None, tol=1e-7
        ).fit(X, y, qid)
        weighted = replace(pairs, weight=pairs.weight / lam)
        value = value_of(path.coef_at(lam), K, weighted, "hinge")
        assert model.objective_ == pytest.approx(value, rel=2e-7)


@every_loss
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_scaling_the_kernel_and_C_changes_scores_by_a_rounding(loss, scale):
    X, y, qid = make_problem(4)
    K = pairwise_kernels(X, metric="rbf", gamma=GAMMA)
    model = KernelRankSVM(1.0, kernel="precomputed", loss=loss, tol=1e-6)
    expected = model.fit(K, y, qid).predict(K)
    scaled = clone(model).set_params(C=1 / scale).fit(K * scale, y, qid)
    assert scaled.status_ == "converged"
    assert scaled.objective_ * scale == pytest.approx(model.objective_, rel=2e-6)
    np.testing.assert_allclose(scaled.predict(K * scale), expected, atol=0.05)


@every_loss
def test_rows_that_are_all_the_same(loss):
    model = KernelRankSVM(loss=loss).fit(np.ones((6, 2)), np.arange(6))
    assert model.objective_ == pytest.approx(6.0)
    assert model.dual_gap_ <= 1e-3
    np.testing.assert_array_equal(model.predict(np.ones((2, 2))), 0)


def test_a_gap_that_cannot_be_reached_ends_with_a_warning():
    X, y, qid = make_problem(5)
    with pytest.warns(ConvergenceWarning, match="floating point"):
        model = KernelRankSVM(tol=0.0).fit(X, y, qid)
    assert model.status_ == "stalled"
    assert model.dual_gap_ < 1e-11
    with pytest.warns(ConvergenceWarning, match="max_iter=1 was reached"):
        model = KernelRankSVM(max_iter=1, tol=1e-9).fit(X, y, qid)
    assert model.status_ == "max_iter"


def test_the_history_is_one():
    X, y, qid = make_problem(6, n=200)
    model = KernelRankSVM(100.0, gamma=GAMMA, loss="hinge").fit(X, y, qid)
    lines = model.history_
    assert [line.iteration for line in lines] == list(range(len(lines)))
    assert np.all(np.diff([line.seconds for line in lines]) >= 0)
    assert np.all(np.diff([line.value for line in lines]) <= 1e-9 * lines[0].value)
    assert (lines[-1].value, lines[-1].dual_gap) == (model.objective_, model.dual_gap_)
    assert model.n_iter_ == lines[-1].iteration


def test_threads_do_not_change_a_bit():
    X, y, qid = make_problem(7, n=1500)
    models = [KernelRankSVM(n_threads=n_threads).fit(X, y, qid) for n_threads in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.dual_coef_, models[0].dual_coef_)
        np.testing.assert_array_equal(model.predict(X), models[0].predict(X))


# --- kinds of kernels and of rows -----------------------------------------------------------------


def test_precomputed_values_are_the_same_as_computed_ones():
    X, y, qid = make_problem(8, n=80)
    train, test = slice(0, 60), slice(60, 80)
    expected = KernelRankSVM(gamma=GAMMA, tol=1e-10).fit(X[train], y[train], qid[train])
    model = KernelRankSVM(kernel="precomputed", tol=1e-10)
    K = pairwise_kernels(X, X[train], metric="rbf", gamma=GAMMA)
    for kind in (np.asarray, sparse.csr_matrix, pd.DataFrame):
        model.fit(kind(K[train]), y[train], qid[train])
        scores = model.predict(kind(K[test]))
        np.testing.assert_allclose(np.ptp(scores - expected.predict(X[test])), 0, atol=1e-4)
        assert model.support_vectors_.shape[0] == 0


@every_loss
def test_a_kernel_of_differences_only(loss):
    """The negative distance is no kernel, but one as far as differences of scores go."""
    X, y, qid = make_problem(9)

    def closeness(X, Z):
        return -np.sqrt(((X[:, np.newaxis] - Z) ** 2).sum(axis=2))

    model = KernelRankSVM(kernel=closeness, loss=loss, tol=1e-9).fit(X, y, qid)
    K = closeness(X, X)
    H = np.eye(len(y)) - 1 / len(y)
    _, value = optimum(loss, features_of(H @ K @ H), y, qid, 1.0)
    assert model.objective_ == pytest.approx(value, rel=2e-9)
    assert np.ptp(model.predict(X) - K @ coefficients(model, len(y))) <= 1e-12


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "laplacian", "cosine"])
@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, np.asfortranarray])
def test_kinds_of_X_agree(kernel, convert):
    X, y, qid = make_problem(10)
    X = X * (X > 0)
    model = KernelRankSVM(kernel=kernel, gamma=0.05, tol=1e-10)
    expected = model.fit(X, y, qid).predict(X)
    model.fit(convert(X), y, qid)
    assert np.ptp(model.predict(convert(X)) - expected) <= 1e-4


def test_columns_of_a_frame():
    X, y, qid = make_problem(11)
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names).assign(query=[f"q{q}" for q in qid])
    model = KernelRankSVM(qid="query").fit(frame, y)
    expected = KernelRankSVM().fit(X, y, qid)
    assert list(model.feature_names_in_) == names
    np.testing.assert_allclose(model.predict(frame), expected.predict(X), atol=1e-9)
    assert model.score(frame, y) == expected.score(X, y, qid)


def test_many_rows_are_scored_in_blocks():
    X, y, qid = make_problem(12)
    model = KernelRankSVM().fit(X, y, qid)
    many = np.tile(X, (100, 1))
    values = pairwise_kernels(many, model.support_vectors_, metric="rbf")
    np.testing.assert_allclose(model.predict(many), values @ model.dual_coef_, rtol=1e-9)


def test_pickling_keeps_predictions():
    X, y, qid = make_problem(13)
    model = KernelRankSVM().fit(X, y, qid)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# --- in scikit-learn ------------------------------------------------------------------------------


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="before 1.8, scikit-learn scores a pipeline without metadata",
)
def test_grid_search_of_width_and_C_in_a_pipeline():
    X, y, qid = make_problem(14, n=90, n_queries=9)
    grid = {"kernelranksvm__gamma": [0.01, 1.0], "kernelranksvm__C": [0.1, 10.0]}
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), KernelRankSVM()),
            grid,
            cv=GroupKFold(3).set_split_request(groups="qid"),
        ).fit(X, y, qid=qid)
        model = search.best_estimator_[-1]
        assert model.n_queries_ == 9
        assert search.best_estimator_.score(X, y, qid=qid) > 0.6


def test_grid_search_over_a_precomputed_kernel():
    X, y, _ = make_problem(15, n=60)
    K = pairwise_kernels(X, metric="rbf", gamma=GAMMA)
    grid, folds = {"C": [0.1, 10.0]}, GroupKFold(3).split(X, y, np.arange(60) % 3)
    folds = list(folds)
    computed = GridSearchCV(KernelRankSVM(gamma=GAMMA, tol=1e-9), grid, cv=folds).fit(X, y)
    model = GridSearchCV(KernelRankSVM(kernel="precomputed", tol=1e-9), grid, cv=folds).fit(K, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], computed.cv_results_["mean_test_score"], atol=1e-3
    )


@every_loss
def test_approximate_kernels_lead_to_the_exact_solution(loss):
    X, y, qid = make_problem(16, n=120)
    exact = KernelRankSVM(gamma=GAMMA, loss=loss, tol=1e-6).fit(X, y, qid)

    def excess(features):
        model = make_pipeline(features, RankSVM(loss=loss, tol=1e-6))
        objective = model.fit(X, y, ranksvm__qid=qid)[-1].objective_
        return objective / exact.objective_ - 1

    nystroem = [excess(Nystroem(gamma=GAMMA, n_components=k, random_state=0)) for k in (5, 40, 120)]
    assert nystroem[0] > nystroem[1] > nystroem[2] - 1e-6
    assert abs(nystroem[2]) < 1e-5
    random = [
        abs(excess(RBFSampler(gamma=GAMMA, n_components=k, random_state=0))) for k in (20, 20000)
    ]
    assert random[1] < 0.01 < random[0]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "gaussian"}, "kernel must be a function or one of"),
        ({"gamma": -1.0}, "gamma must be finite and greater than 0"),
        ({"C": 0}, "C must be finite and greater than 0"),
        ({"max_memory": 1000}, "more than max_memory=1e-06 GB"),
        ({"kernel": "precomputed"}, r"needs a square matrix in fit, .* X has shape \(30, 4\)"),
        ({"kernel": "sigmoid", "gamma": 5.0, "coef0": -1.0}, "is not positive semidefinite"),
    ],
)
def test_bad_parameters_are_named(change, message):
    X, y, qid = make_problem(17)
    with pytest.raises(ValueError, match=message):
        KernelRankSVM(**change).fit(X, y, qid)


def test_bad_data_is_named():
    X, y, qid = make_problem(18)
    K = X @ X.T
    model = KernelRankSVM(kernel="precomputed")
    with pytest.raises(ValueError, match="NaN"):
        KernelRankSVM().fit(np.where(X > 1, np.nan, X), y, qid)
    with pytest.raises(ValueError, match="not symmetric: rows 0 and 3 have"):
        model.fit(K + 9 * (np.arange(900).reshape(30, 30) == 3), y, qid)
    with pytest.raises(ValueError, match="has the eigenvalue -"):
        model.fit(K - 10 * np.eye(30), y, qid)
    with pytest.raises(ValueError, match="X has 29 features, but KernelRankSVM is expecting 30"):
        model.fit(K, y, qid).predict(K[:, 1:])
    with pytest.raises(ValueError, match="X has 3 features, but KernelRankSVM is expecting 4"):
        KernelRankSVM().fit(X, y, qid).predict(X[:, 1:])
    with pytest.raises(ValueError, match="no preference pairs to learn from"):
        KernelRankSVM().fit(X, np.ones(30), qid)


def test_the_example_in_the_docstring():
    result = doctest.testmod(kernel_rank_svm)
    assert (result.attempted, result.failed) == (12, 0)
