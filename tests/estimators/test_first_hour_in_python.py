"""What somebody meets in the first hour of Python: arguments as elsewhere, and sentences."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, ndcg_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from ranksvm import (
    KernelRankSVM,
    KernelRankSVMPathCV,
    RankSVM,
    RankSVMCV,
    SurvivalSVM,
    load_model,
    regularization_path,
    save_model,
)
from ranksvm.errors import InputError
from ranksvm.memory import bytes_of
from ranksvm.models.scaling import scale_factors

rng = np.random.default_rng(0)
X = rng.normal(2.0, 3.0, size=(40, 3))
y = rng.integers(0, 3, 40)
qid = np.repeat(np.arange(8), 5)


def test_gamma_scale_is_that_of_scikit_learn(tmp_path):
    model = KernelRankSVM(kernel="rbf", gamma="scale").fit(X, y, qid)
    gamma = SVC(gamma="scale").fit(X, y)._gamma
    same = KernelRankSVM(kernel="rbf", gamma=gamma).fit(X, y, qid)
    np.testing.assert_allclose(model.predict(X), same.predict(X), rtol=1e-9)
    path = regularization_path(X, y, qid, kernel="rbf", gamma="scale", max_memory="10M")
    assert path.kernel.gamma == pytest.approx(gamma)
    save_model(model, tmp_path / "m.json")
    np.testing.assert_allclose(load_model(tmp_path / "m.json").predict(X), model.predict(X))
    with pytest.raises(InputError, match="gamma must be a number, None or 'scale', not 'auto'"):
        KernelRankSVM(gamma="auto").fit(X, y, qid)


@pytest.mark.parametrize(
    ("amount", "size"),
    [("4G", 4e9), ("500 mb", 5e8), ("1.5GiB", 1.5 * 2**30), ("1e6", 1e6), ("7", 7), (2**31, 2**31)],
)
def test_amounts_of_memory_are_texts_or_numbers(amount, size):
    assert bytes_of(amount) == size
    KernelRankSVM(max_memory=max(1e6, bytes_of(amount))).fit(X, y, qid)


@pytest.mark.parametrize("amount", ["lots", "4X", "", "-1", 0, -1, None, True, np.nan, "1.2.3G"])
def test_what_is_no_amount_of_memory_is_refused(amount):
    with pytest.raises(InputError, match="max_memory must be a number of bytes above 0"):
        KernelRankSVM(max_memory=amount).fit(X, y, qid)


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (None, "name of a metric, such as .*, or a function called as f.y, scores, qid., not None"),
        (["map"], r"name of a metric.*, not \['map'\]"),
        (ndcg_score, "as ndcg_score cannot be"),
        (lambda y: 1.0, "as <lambda> cannot be"),
        (make_scorer(ndcg_score), "not a scorer of scikit-learn"),
        (lambda y, scores, qid: "high", "scoring must return a number, not 'high'"),
        (lambda y, scores, qid: None, "scoring must return a number, not None"),
        ("accuracy", "there is no metric 'accuracy'; did you mean 'pairwise_accuracy'"),
    ],
)
def test_scoring_says_what_is_wanted(scoring, message):
    with pytest.raises(InputError, match=message):
        RankSVMCV(scoring=scoring, cv=3, Cs=[1]).fit(X, y, qid)


def test_scoring_may_be_any_function_of_rankings():
    def first(y, scores, qid, cut=0):
        return np.float32(y[np.argmax(scores)])

    assert RankSVMCV(scoring=first, cv=3, Cs=[1]).fit(X, y, qid).best_score_ >= 0


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LinearSVC(), TypeError, "a LinearSVC is no model of ranksvm, such as RankSVM"),
        (LinearSVC, TypeError, r"LinearSVC is a class: give a fitted LinearSVC\(...\)"),
        (RankSVM, TypeError, "RankSVM is a class"),
        (RankSVM(), NotFittedError, "not fitted yet"),
        (make_pipeline(StandardScaler(), RankSVM()), NotFittedError, "not fitted yet"),
    ],
)
def test_what_cannot_be_saved_is_told(model, error, message, tmp_path):
    with pytest.raises(error, match=message):
        save_model(model, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [RankSVMCV, KernelRankSVMPathCV])
def test_who_has_not_refitted_says_so(kind, tmp_path):
    model = kind(refit=False, cv=3).fit(X, y, qid)
    for use in (model.predict, lambda X: model.score(X, y), lambda _: save_model(model, "m")):
        with pytest.raises(NotFittedError, match=r"has chosen, but not trained.* set refit=True"):
            use(X)


def test_a_search_that_has_not_refitted_says_so(tmp_path):
    search = GridSearchCV(RankSVM(), {"C": [1.0]}, refit=False, cv=2).fit(X, y)
    with pytest.raises(TypeError, match="has no best_estimator_: set refit=True"):
        save_model(search, tmp_path / "m.json")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["red"] * 40, "row 0 of column 'x' is 'red'"),
        ([datetime.datetime(2024, 1, 1)] * 40, "column 'x' holds dates or times"),
    ],
)
def test_columns_that_are_no_numbers_are_named(frame, values, message):
    with pytest.raises(InputError, match=message):
        RankSVM().fit(frame({"a": X[:, 0], "x": values}), y, qid)


def test_numerals_and_truths_are_numbers():
    numerals = pl.DataFrame({"a": X[:, 0], "x": [str(k) for k in range(40)], "t": y > 0})
    expected = RankSVM().fit(np.column_stack([X[:, 0], np.arange(40), y > 0]), y, qid)
    np.testing.assert_array_equal(RankSVM().fit(numerals, y, qid).coef_, expected.coef_)


def test_a_column_of_ids_behind_a_scaler_is_explained():
    frame = pd.DataFrame(X, columns=list("abc")).assign(query=qid)
    pipeline = make_pipeline(StandardScaler(), RankSVM(qid="query"))
    with pytest.raises(InputError, match=r"make arrays.*set_output\(transform='pandas'\)"):
        pipeline.fit(frame, y)
    pipeline.set_output(transform="pandas").fit(frame, y)
    assert pipeline[-1].n_queries_ == 8


@given(st.data())
def test_weights_of_queries_are_those_of_their_rows(data):
    """In the order of appearance, with ids in any order, torn apart, some queries of one row."""
    n = data.draw(st.integers(2, 12))
    ids = data.draw(st.lists(st.sampled_from("dbca"), min_size=n, max_size=n))
    first = list(dict.fromkeys(ids))
    weights = data.draw(st.lists(st.integers(1, 5), min_size=len(first), max_size=len(first)))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    if not any(labels[i] != labels[j] and ids[i] == ids[j] for i in range(n) for j in range(n)):
        return
    by_row = [weights[first.index(i)] for i in ids]
    one = RankSVM().fit(X[:n], labels, ids, query_weight=weights)
    other = RankSVM().fit(X[:n], labels, ids, query_weight=by_row)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.objective_ == other.objective_


def test_weights_of_neither_rows_nor_queries_are_refused():
    with pytest.raises(InputError, match=r"shape \(7,\), but there are .* queries, of 40 rows"):
        RankSVM().fit(X, y, qid, query_weight=np.ones(7))
    with pytest.raises(InputError, match="weights of queries are query_weight"):
        RankSVM().fit(X, y, qid, sample_weight=np.ones(8))
    with pytest.raises(InputError, match="not negative; query 3 holds -1"):
        RankSVM().fit(X, y, qid, query_weight=[1, 1, 1, -1, 1, 1, 1, 1])


@pytest.mark.parametrize(
    ("estimator", "name", "message"),
    [
        (RankSVM, "verbose", "verbose must be a whole number of at least 0, not 'yes'"),
        (RankSVM, "warm_start", "warm_start must be True or False, not 'yes'"),
        (KernelRankSVM, "verbose", "verbose must be a whole number"),
        (KernelRankSVM, "coef0", "coef0 must be finite, not 'yes'"),
        (RankSVMCV, "refit", "refit must be True or False"),
        (RankSVMCV, "one_standard_error", "one_standard_error must be True or False"),
        (KernelRankSVMPathCV, "verbose", "verbose must be a whole number"),
        (KernelRankSVMPathCV, "coef0", "coef0 must be finite"),
    ],
)
def test_what_is_on_or_off_is_nothing_else(estimator, name, message):
    model = estimator(**{name: "yes"})
    with pytest.raises(InputError, match=message):
        model.fit(X, y, qid)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_the_path_and_survival_refuse_what_verbose_is_not():
    with pytest.raises(InputError, match="verbose must be"):
        regularization_path(X, y, qid, verbose="yes")
    with pytest.raises(InputError, match="verbose must be"):
        SurvivalSVM(verbose="yes").fit(X, event=y > 0, time=y + 1)


def test_paths_of_given_pairs_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="given pairs are for KernelRankSVM"):
        KernelRankSVMPathCV().fit(X, pairs=[(0, 1)])


@pytest.mark.parametrize("ranker", [RankSVM(), KernelRankSVM()])
@pytest.mark.parametrize("path", ["pages.csv", Path("pages.csv")])
def test_a_file_in_the_place_of_rows_is_told_who_reads_it(ranker, path):
    with pytest.raises(ValueError, match=r"text 'pages.csv'; load_svmlight and load_table read"):
        ranker.fit(path, [0, 1])


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_deviations_that_overflow_are_not_taken_for_constant(size):
    X = size * np.linspace(-1, 1, 12).reshape(6, 2)
    with pytest.raises(ValueError, match="feature 0 of X cannot be scaled"):
        scale_factors(X, "standard")
