"""RankSVM as a scikit-learn estimator."""

import doctest
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from sklearn import config_context
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ranksvm
from ranksvm import (
    ConvergenceWarning,
    KernelRankSVM,
    KernelRankSVMPathCV,
    RankSVM,
    RankSVMCV,
    pairwise_accuracy,
    ranksvm_grid,
    regularization_path,
)


@parametrize_with_checks(
    [RankSVM(), RankSVM(positive=True, l1_ratio=0.5, prior=0.1, solver="newton")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    qid = np.arange(len(y)) % 7
    return X, y, qid


def test_ranks_better_than_chance_and_certifies():
    X, y = load_diabetes(return_X_y=True)
    model = RankSVM().fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.status_ == "converged"
    assert 0 <= model.dual_gap_ <= 1e-3
    assert model.history_[-1].value == model.objective_
    assert model.n_pairs_ == np.sum(y[:, np.newaxis] > y)


@pytest.mark.parametrize(
    "convert", [csr_matrix, csr_array, pd.DataFrame, pl.DataFrame, np.asfortranarray]
)
def test_kinds_of_X_agree(wine, convert):
    X, y, qid = wine
    expected = RankSVM(tol=1e-11).fit(X, y, qid)
    names = [f"f{k}" for k in range(X.shape[1])]
    Z = convert(X, columns=names) if convert is pd.DataFrame else convert(X)
    model = RankSVM(tol=1e-11).fit(Z, y, qid)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.predict(Z), expected.predict(X), rtol=1e-7)
    if convert is pd.DataFrame:
        assert list(model.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(Z[names[::-1]])


def test_float32_storage(wine):
    X, y, qid = wine
    X = (X / X.max(axis=0)).astype(np.float32)
    single = RankSVM(tol=1e-10).fit(X, y, qid)
    double = RankSVM(tol=1e-10).fit(X.astype(np.float64), y, qid)
    assert single.coef_.dtype == np.float64
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "as_ids",
    [
        lambda q: [f"query {k}" for k in q],
        lambda q: pd.Series(q, index=np.arange(len(q))[::-1]),
        lambda q: pd.Series([f"q{k}" for k in q], dtype="category"),
        lambda q: [(int(k), "x") for k in q],
        lambda q: -q.astype(float),
        lambda q: q.reshape(-1, 1),
    ],
    ids=["strings", "series", "categorical", "tuples", "descending floats", "column"],
)
def test_kinds_of_qid_agree(wine, as_ids):
    X, y, qid = wine
    expected = RankSVM(tol=1e-11).fit(X, y, qid)
    model = RankSVM(tol=1e-11).fit(X, y, as_ids(qid))
    assert model.n_queries_ == 7
    assert model.n_pairs_ == expected.n_pairs_
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-7)


def test_order_of_rows_does_not_matter(wine):
    X, y, qid = wine
    shuffled = np.random.default_rng(0).permutation(len(y))
    a = RankSVM(tol=1e-11).fit(X, y, qid)
    b = RankSVM(tol=1e-11).fit(X[shuffled], y[shuffled], qid[shuffled])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-7)


@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
def test_sample_weight_is_the_same_as_repeated_rows(wine, normalize):
    X, y, qid = wine
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    C = 1e-3 if normalize is None else 1.0
    repeated = RankSVM(C, normalize=normalize, tol=1e-11).fit(X[rows], y[rows], qid[rows])
    weighted = RankSVM(C, normalize=normalize, tol=1e-11).fit(X, y, qid, sample_weight=weight)
    assert weighted.n_pairs_ == repeated.n_pairs_
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
def test_query_weight_is_the_same_as_repeated_queries(wine, normalize):
    X, y, qid = wine
    times = np.array([0, 1, 2, 3, 1, 1, 2])
    rows = np.concatenate([np.tile(np.flatnonzero(qid == q), t) for q, t in enumerate(times)])
    copies = np.concatenate(
        [q * 10 + np.repeat(np.arange(t), np.sum(qid == q)) for q, t in enumerate(times)]
    )
    C = 1e-3 if normalize is None else 1.0
    repeated = RankSVM(C, normalize=normalize, tol=1e-11).fit(X[rows], y[rows], copies)
    weighted = RankSVM(C, normalize=normalize, tol=1e-11).fit(X, y, qid, query_weight=times[qid])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-11)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_normalizations_translate_into_each_other(wine):
    X, y, qid = wine
    expected = RankSVM(1.0, tol=1e-11).fit(X, y, qid)
    n, N = len(y), expected.n_pairs_
    for C, normalize in [(n, "pairs"), (n / N, None)]:
        model = RankSVM(C, normalize=normalize, tol=1e-11).fit(X, y, qid)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-10)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="before 1.8, scikit-learn scores a pipeline without metadata",
)
def test_grid_search_in_a_pipeline_with_routing(wine):
    X, y, qid = wine
    with config_context(enable_metadata_routing=True):
        splitter = GroupKFold(3).set_split_request(groups="qid")
        search = GridSearchCV(
            make_pipeline(StandardScaler(), RankSVM()), {"ranksvm__C": [0.01, 1.0]}, cv=splitter
        )
        search.fit(X, y, qid=qid)
        assert search.best_score_ > 0.9
        model = search.best_estimator_.named_steps["ranksvm"]
        assert model.n_queries_ == 7
        scores = search.predict(X)
        score = search.best_estimator_.score(X, y, qid=qid)
        assert score == pairwise_accuracy(y, scores, qid)


def test_pickling_keeps_predictions(wine):
    X, y, qid = wine
    model = RankSVM().fit(X, y, qid)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))
    assert restored.history_ == model.history_


def test_warm_start_begins_at_the_previous_optimum(wine):
    X, y, qid = wine
    model = RankSVM(tol=1e-10, warm_start=True).fit(X, y, qid)
    cold = model.n_iter_
    assert model.fit(X, y, qid).n_iter_ == 0 < cold
    with pytest.raises(ValueError, match="previous fit had 13 features, X has 12"):
        model.fit(X[:, 1:], y, qid)


def test_stopping_early_is_not_silent(wine):
    X, y, qid = wine
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .*max_iter=1"):
        model = RankSVM(max_iter=1, tol=1e-9).fit(X, y, qid)
    assert model.status_ == "max_iter"
    assert model.dual_gap_ > 1e-9


def test_unreachable_tolerance_ends_with_a_warning(wine):
    X, y, qid = wine
    with pytest.warns(ConvergenceWarning, match="floating point"):
        model = RankSVM(tol=0.0).fit(X, y, qid)
    assert model.status_ == "stalled"
    assert model.dual_gap_ < 1e-11


def test_verbose_prints_a_table(wine, capsys):
    X, y, qid = wine
    model = RankSVM(verbose=1).fit(X, y, qid)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == model.n_iter_ + 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0}, "C must be finite and greater than 0, not 0"),
        ({"C": -1.0}, "C must be finite and greater than 0"),
        ({"C": np.inf}, "C must be finite and greater than 0"),
        ({"C": "1"}, "C must be a number, not '1'"),
        ({"tol": -1}, "tol must be finite and 0 or greater"),
        ({"normalize": "rows"}, "normalize must be one of 'documents', 'pairs', 'queries', None"),
        ({"solver": "magic"}, "solver must be one of 'auto'"),
        ({"counting": 3}, "counting must be one of"),
        ({"loss": "hinges"}, "loss must be one of"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"n_threads": 0}, "n_threads must be a whole number of at least 1"),
    ],
)
def test_bad_parameters_are_named(wine, change, message):
    X, y, qid = wine
    with pytest.raises(ValueError, match=message):
        RankSVM(**change).fit(X, y, qid)


def test_bad_data_is_named(wine):
    X, y, qid = wine
    weight = np.ones(len(y))
    cases = [
        ({"qid": qid[:-1]}, "qid has length 177 but there are 178 rows"),
        ({"qid": np.where(qid == 3, np.nan, qid)}, "qid is missing in row 3"),
        ({"sample_weight": weight[:-1]}, "sample_weight has shape"),
        (
            {"sample_weight": -weight},
            "sample_weight must be finite and not negative; row 0 holds -1",
        ),
        ({"sample_weight": 0 * weight}, "every sample_weight is zero"),
        ({"query_weight": np.arange(len(y))}, "query_weight must be the same for all rows of a"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            RankSVM().fit(X, y, **arguments)
    with pytest.raises(ValueError, match="no preference pairs to learn from"):
        RankSVM().fit(X, np.ones(len(y)), qid)
    with pytest.raises(ValueError, match="no preference pairs to learn from"):
        RankSVM().fit(X, y, np.arange(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        RankSVM().fit(np.where(X > 1000, np.nan, X), y, qid)
    with pytest.raises(ValueError, match="expecting 13 features"):
        RankSVM().fit(X, y, qid).predict(X[:, 1:])


@pytest.mark.parametrize("name", ["RankSVM", "ranksvm_grid", "regularization_path"])
def test_the_example_in_the_docstring(name):
    result = doctest.testmod(sys.modules[getattr(ranksvm, name).__module__])
    assert result.attempted > 3
    assert result.failed == 0


@pytest.mark.parametrize(
    "fit",
    [
        RankSVM().fit,
        RankSVMCV([1.0], cv=2).fit,
        KernelRankSVM().fit,
        KernelRankSVMPathCV(cv=2).fit,
        ranksvm_grid,
        regularization_path,
    ],
    ids=lambda fit: getattr(fit, "__self__", fit),
)
def test_labels_that_are_no_numbers_are_never_learned_from(fit):
    X = np.random.default_rng(0).normal(size=(8, 2))
    y = np.array([0, 1, 2, None, 0, 1, 2, 0], dtype=object)
    qid = np.repeat([0, 1], 4)
    with pytest.raises(ValueError, match=r"^y must hold finite numbers; row 3 holds None"):
        fit(X, y, qid)
    with pytest.raises(ValueError, match="X must hold numbers, but column 'a' holds dates"):
        fit(pd.DataFrame({"a": pd.date_range("2020", periods=8), "b": X[:, 0]}), qid, qid)
    with pytest.raises(ValueError, match=r"X must be finite; the value at \[0, 0\] is masked"):
        fit(np.ma.masked_equal(X, X[0, 0]), np.arange(8), qid)


def test_ordered_categories_are_learned_from_as_their_codes(wine):
    X, y, qid = wine
    levels = ["a bad one", "a good one", "the best"]
    codes = y.astype(int) - int(y.min())
    labels = pd.Categorical.from_codes(codes, levels, ordered=True)
    expected = RankSVM().fit(X, codes, qid).coef_
    np.testing.assert_array_equal(RankSVM().fit(X, labels, qid).coef_, expected)
    enum = pl.Series([levels[code] for code in codes], dtype=pl.Enum(levels))
    np.testing.assert_array_equal(RankSVM().fit(X, enum, qid).coef_, expected)
    with pytest.raises(ValueError, match="y holds categories without an order"):
        RankSVM().fit(X, labels.as_unordered(), qid)
