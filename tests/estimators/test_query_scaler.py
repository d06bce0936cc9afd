"""The transformer that scales within queries."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from cases import make_problem
from ranksvm import QueryScaler, RankSVM, load_model, save_model


def what_cannot_be(_):
    return {"check_methods_subset_invariance": "rows are scaled by the others of their query"}


@parametrize_with_checks([QueryScaler()], expected_failed_checks=what_cannot_be)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def problem():
    X, y, qid = make_problem(5, d=4)
    return np.abs(X), y, qid


def within_queries(X, qid):
    found = np.empty(X.shape)
    for q in np.unique(qid):
        found[qid == q] = MinMaxScaler().fit_transform(X[qid == q])
    return found


def test_each_query_scales_itself():
    X, _, qid = problem()
    expected = within_queries(X, qid)
    scaler = QueryScaler().fit(X, qid=qid)
    np.testing.assert_allclose(scaler.transform(X, qid), expected, atol=1e-12)
    np.testing.assert_allclose(scaler.transform(X[::-1], qid[::-1]), expected[::-1], atol=1e-12)
    sparse = scaler.fit_transform(csr_matrix(X), qid=qid)
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-12)
    named = scaler.transform(X, [f"q{q}" for q in qid])
    np.testing.assert_array_equal(named, scaler.transform(X, qid))
    assert scaler.n_queries_ == len(np.unique(qid))
    assert list(scaler.get_feature_names_out()) == ["x0", "x1", "x2", "x3"]


def test_rows_without_qid_are_one_query_unless_there_were_several():
    X, _, qid = problem()
    np.testing.assert_allclose(QueryScaler().fit_transform(X), MinMaxScaler().fit_transform(X))
    with pytest.raises(ValueError, match=r"the scaler was fitted to .* queries, but transform was"):
        QueryScaler().fit(X, qid=qid).transform(X)
    with pytest.raises(ValueError, match="qid has length 1 but there are"):
        QueryScaler().fit(X, qid=[1])


@pytest.mark.parametrize("name", ["m.json", "m.safetensors"])
def test_in_a_pipeline_qid_reaches_the_scaler_and_the_ranker(tmp_path, name):
    X, y, qid = problem()
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), RankSVM()).fit(X, y, qid=qid)
        scores = pipeline.predict(X, qid=qid)
        accuracy = pipeline.score(X, y, qid=qid)
    ranker = RankSVM().fit(within_queries(X, qid), y, qid)
    np.testing.assert_allclose(scores, ranker.predict(within_queries(X, qid)), atol=1e-6)
    assert accuracy == pytest.approx(ranker.score(within_queries(X, qid), y, qid))
    save_model(pipeline, tmp_path / name)
    model = load_model(tmp_path / name)
    np.testing.assert_allclose(model.predict(X, qid=qid), scores, atol=1e-12)
    with pytest.raises(ValueError, match="the model maps features within queries: give qid"):
        model.predict(X)


def test_a_search_hands_qid_on():
    X, y, qid = problem()
    with config_context(enable_metadata_routing=True):
        grid = {"ranksvm__C": [0.1, 1.0]}
        search = GridSearchCV(make_pipeline(QueryScaler(), RankSVM()), grid, cv=GroupKFold(2))
        search.fit(X, y, qid=qid, groups=qid)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("X", "qid", "message"),
    [
        ([[1.0], [np.nan]], [1, 1], "Input X contains NaN"),
        ([[1.0], [2.0]], [1, None], "qid"),
        ([[1.0], [2.0]], np.ones((2, 2)), "qid must be one-dimensional"),
        ([["a"], ["b"]], [1, 1], "could not convert string to float"),
    ],
)
def test_bad_rows_and_ids_are_refused(X, qid, message):
    with pytest.raises(ValueError, match=message):
        QueryScaler().fit(X, qid=qid)
