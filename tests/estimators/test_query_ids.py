"""Query ids as arrays, columns of frames and sizes; in searches, and as other rankers take them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, pairwise_accuracy, ranksvm_grid
from ranksvm.pairs.queries import ids_from_sizes

NAMES = [f"feature {k}" for k in range(13)]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(y))
    qid = np.array([f"query {k % 7}" for k in range(len(y))])
    return X[shuffled], y[shuffled], qid[shuffled]


def pandas_frame(X, qid, name="query"):
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(4, name, qid)
    return frame


def polars_frame(X, qid, name="query"):
    return pl.DataFrame(pandas_frame(X, qid, name).to_dict("list"))


every_frame = pytest.mark.parametrize("frame_of", [pandas_frame, polars_frame])
every_estimator = pytest.mark.parametrize(
    "make",
    [lambda **kw: RankSVM(tol=1e-10, **kw), lambda **kw: RankSVMCV(3, tol=1e-9, **kw)],
    ids=["RankSVM", "RankSVMCV"],
)


@every_frame
@every_estimator
@pytest.mark.parametrize("where", ["constructor", "fit"])
def test_a_column_of_a_frame_is_as_good_as_an_array(wine, frame_of, make, where):
    X, y, qid = wine
    frame = frame_of(X, qid)
    expected = make().fit(X, y, qid)
    if where == "constructor":
        model = make(qid="query").fit(frame, y)
    else:
        model = make().fit(frame, y, qid="query")
    assert model.n_queries_ == 7
    assert model.qid_column_ == "query"
    if hasattr(StandardScaler().fit(frame[NAMES]), "feature_names_in_"):  # scikit-learn sees them
        assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 13
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    scores = expected.predict(X)
    np.testing.assert_allclose(model.predict(frame), scores, rtol=1e-9)
    np.testing.assert_allclose(model.predict(frame[NAMES]), scores, rtol=1e-9)
    assert model.score(frame, y) == pairwise_accuracy(y, scores, qid)
    assert model.score(frame[NAMES], y, qid=qid) == pairwise_accuracy(y, scores, qid)
    with pytest.raises(ValueError, match="qid='query' names a column of a data frame, but X has"):
        model.score(frame[NAMES], y)


@pytest.mark.parametrize(
    "ids", [np.arange(178) % 5, pd.Categorical([f"q{k % 5}" for k in range(178)])]
)
def test_kinds_of_columns(wine, ids):
    X, y, _ = wine
    model = RankSVM(qid="group", tol=1e-10).fit(pandas_frame(X, ids, "group"), y)
    expected = RankSVM(tol=1e-10).fit(X, y, np.asarray(ids))
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_grid_search_without_routing(wine):
    X, y, qid = wine
    frame, folds = pandas_frame(X, qid), GroupKFold(3)
    search = GridSearchCV(RankSVM(qid="query"), {"C": [0.01, 1.0]}, cv=folds, error_score="raise")
    search.fit(frame, y, groups=qid)
    for k, (train, test) in enumerate(folds.split(X, y, qid)):
        model = RankSVM(C=1.0).fit(X[train], y[train], qid[train])
        score = pairwise_accuracy(y[test], model.predict(X[test]), qid[test])
        assert search.cv_results_[f"split{k}_test_score"][1] == pytest.approx(score, abs=1e-12)
    assert search.best_estimator_.n_queries_ == 7
    scores = cross_val_score(RankSVM(qid="query"), frame, y, cv=folds, groups=qid)
    np.testing.assert_allclose(
        scores, [search.cv_results_[f"split{k}_test_score"][1] for k in range(3)]
    )


def test_pipeline_without_routing(wine):
    X, y, qid = wine
    scale = make_column_transformer(
        (StandardScaler(), NAMES), remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    search = GridSearchCV(
        make_pipeline(scale, RankSVM(qid="query", tol=1e-9)),
        {"ranksvm__C": [0.01, 1.0]},
        cv=GroupKFold(3),
        error_score="raise",
    )
    search.fit(pandas_frame(X, qid), y, groups=qid)
    assert search.best_score_ > 0.9
    expected = RankSVM(search.best_params_["ranksvm__C"], tol=1e-9)
    expected.fit(StandardScaler().fit_transform(X), y, qid)
    np.testing.assert_allclose(search.best_estimator_[-1].coef_, expected.coef_, rtol=1e-7)


@every_estimator
def test_routing_in_a_pipeline(wine, make):
    X, y, qid = wine
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), make()).fit(X, y, qid=qid)
        assert pipeline[-1].n_queries_ == 7
        score = pipeline.score(X, y, qid=qid)
    assert score == pairwise_accuracy(y, pipeline.predict(X), qid)


@every_estimator
def test_sizes_of_consecutive_queries(wine, make):
    X, y, _ = wine
    sizes = [50, 30, 31, 0, 40, 27]
    expected = make().fit(X, y, np.repeat([9, 4, 7, 1, 5, 2], sizes))
    for group in (
        sizes,
        np.array(sizes, dtype=np.uint32),
        pd.Series(sizes),
        np.array(sizes, float),
    ):
        np.testing.assert_array_equal(make().fit(X, y, group=group).coef_, expected.coef_)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([3, 3], "group lists queries of 6 rows together, but there are 5; an id for each row"),
        ([6, -1], "group must list how many rows each query has; query 1 has -1"),
        ([2.5, 2.5], "group must list how many rows each query has; query 0 has 2.5"),
        ([np.nan, 5], "query 0 has nan"),
        (["a", "b"], "group must list how many rows each query has, not"),
        (5, "group must list how many rows each query has, not 5"),
    ],
)
def test_wrong_sizes_are_named(sizes, message):
    with pytest.raises(ValueError, match=message):
        ids_from_sizes(sizes, 5)


@every_estimator
def test_queries_given_twice_or_wrongly_are_refused(wine, make):
    X, y, qid = wine
    frame = pandas_frame(X, qid)
    cases = [
        (make(), X, {"qid": qid, "group": [178]}, "given twice, by qid and group"),
        (make(qid="query"), frame, {"qid": qid}, "given twice, by qid and qid='query'"),
        (make(qid="query"), frame, {"group": [178]}, "given twice, by group and qid='query'"),
        (make(qid=qid), X, {}, r"takes the name of a column of a data frame.*give ids as an array"),
        (make(qid="query"), X, {}, "X has no such column .it is a ndarray"),
        (make(qid="quer"), frame, {}, "X has no such column .its columns are feature 0, feature 1"),
        (make(), frame, {"qid": "quer"}, "qid='quer' names a column"),
    ]
    for model, features, arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(features, y, **arguments)


@every_frame
@every_estimator
@pytest.mark.parametrize("name", ["qid", "query_id", "Query"])
def test_a_column_that_looks_like_query_ids_is_not_taken_silently(wine, frame_of, make, name):
    X, y, qid = wine
    frame = frame_of(X, np.unique(qid, return_inverse=True)[1], name)
    with pytest.warns(UserWarning, match=f"pass qid='{name}'") as caught:
        model = make().fit(frame, y)
    assert caught[0].filename == __file__
    assert model.n_features_in_ == 14
    assert model.n_queries_ == 1
    make().fit(frame, y, qid=qid)  # silent: the queries are known


@pytest.mark.parametrize("ranker", [RankSVM(), KernelRankSVM()], ids=["linear", "kernel"])
def test_an_eval_set_of_many_queries_is_not_taken_for_one_silently(wine, ranker):
    X, y, qid = wine
    message = r"trained on 7 queries, but eval_set\[0\] was given no eval_qid or eval_group: all"
    with pytest.warns(UserWarning, match=message) as caught:
        ranker.fit(X, y, qid, eval_set=[(X, y)])
    assert [warning.filename for warning in caught] == [__file__]


@every_estimator
def test_scores_of_many_queries_are_not_taken_for_one_silently(wine, make):
    X, y, qid = wine
    model = make().fit(X, y, qid)
    with pytest.warns(UserWarning, match="trained on 7 queries, but score was given no qid"):
        score = model.score(X, y)
    assert score == pairwise_accuracy(y, model.predict(X))
    make().fit(X, y).score(X, y)  # silent: one global ranking


def test_a_path_takes_a_column_too(wine):
    X, y, qid = wine
    grid = ranksvm_grid(pandas_frame(X, qid), y, "query", [1.0])
    expected = ranksvm_grid(X, y, qid, [1.0])
    np.testing.assert_allclose(grid.coefs, expected.coefs, rtol=1e-9)


def test_validation_sets_are_measured_after_training(wine):
    X, y, qid = wine
    sets = [(X[:90], y[:90]), (X[90:], y[90:])]
    model = RankSVM().fit(X, y, qid, eval_set=sets, eval_qid=[qid[:90], qid[90:]])
    assert list(model.evals_result_) == ["valid_0", "valid_1"]
    for k, (rows, labels) in enumerate(sets):
        expected = model.score(rows, labels, qid=[qid[:90], qid[90:]][k])
        assert model.evals_result_[f"valid_{k}"] == {"pairwise_accuracy_pooled": [expected]}
    np.testing.assert_array_equal(model.coef_, RankSVM().fit(X, y, qid).coef_)
    sizes = RankSVM().fit(X, y, group=[100, 78], eval_set=sets, eval_group=[[40, 50], [88]])
    expected = sizes.score(*sets[0], qid=np.repeat([0, 1], [40, 50]))
    assert sizes.evals_result_["valid_0"]["pairwise_accuracy_pooled"] == [expected]
    single = RankSVM().fit(X, y, eval_set=sets[0])
    assert single.evals_result_ == {
        "valid_0": {"pairwise_accuracy_pooled": [single.score(*sets[0])]}
    }
    column = RankSVM(qid="query")
    column.fit(pandas_frame(X, qid), y, eval_set=[(pandas_frame(X, qid), y)])
    assert column.evals_result_["valid_0"]["pairwise_accuracy_pooled"] == [model.score(X, y, qid)]
    assert column.fit(pandas_frame(X, qid), y).evals_result_ == {}


def test_a_validation_set_without_pairs_does_not_cost_the_model(wine):
    X, y, qid = wine
    with pytest.warns(UserWarning, match=r"eval_set\[0\] has no preference pairs"):
        model = RankSVM().fit(X, y, qid, eval_set=[(X[:5], np.zeros(5))], eval_group=[[2, 3]])
    assert np.isnan(model.evals_result_["valid_0"]["pairwise_accuracy_pooled"][0])


def test_wrong_validation_sets_are_named(wine):
    X, y, qid = wine
    cases = [
        ({"eval_set": [X]}, r"eval_set\[0\] is not one"),
        (
            {"eval_set": [(X, y)], "eval_qid": [qid, qid]},
            "eval_qid has 2 members but eval_set has 1",
        ),
        ({"eval_group": [[178]]}, "eval_group has 1 members but"),
        ({"eval_set": [(X, y)], "eval_group": [[77]]}, r"eval_group\[0\] lists queries of 77 rows"),
        (
            {"eval_set": [(X, y)], "eval_qid": [qid], "eval_group": [[178]]},
            "given twice, by eval_qid and eval_group",
        ),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            RankSVM().fit(X, y, qid, **arguments)


class LTRTransformer:
    """Calls a learner as PyTerrier does by apply_learned_model(learner, form="ltr")."""

    def __init__(self, learner, **fit_kwargs):
        self.learner, self.fit_kwargs = learner, fit_kwargs

    def fit(self, train, valid):
        train, valid = train.sort_values("qid"), valid.sort_values("qid")
        sizes = [
            rows.groupby(["qid"], sort=False)["docno"].count().to_numpy() for rows in (train, valid)
        ]
        self.learner.fit(
            np.stack(train["features"].values),
            train["label"].values,
            group=sizes[0],
            eval_set=[(np.stack(valid["features"].values), valid["label"].values)],
            eval_group=[sizes[1]],
            **self.fit_kwargs,
        )

    def transform(self, test):
        importances = getattr(self.learner, "feature_importances_", None)
        assert importances is None or len(importances) == len(test["features"].iloc[0])
        return test.assign(score=self.learner.predict(np.stack(test["features"].values)))


def test_the_calling_convention_of_pyterrier(wine):
    X, y, qid = wine
    frame = pd.DataFrame(
        {
            "qid": qid,
            "docno": [f"d{k}" for k in range(len(y))],
            "features": list(X),
            "label": y.astype(float),
        }
    )
    train, valid = frame[:120], frame[120:]
    learned = LTRTransformer(RankSVM(tol=1e-9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned.fit(train, valid)
        scores = learned.transform(valid)["score"]
    expected = RankSVM(tol=1e-9).fit(X[:120], y[:120], qid[:120])
    np.testing.assert_allclose(scores, expected.predict(X[120:]), rtol=1e-5)
    accuracy = pairwise_accuracy(y[120:], scores, qid[120:])
    assert learned.learner.evals_result_ == {
        "valid_0": {"pairwise_accuracy_pooled": [pytest.approx(accuracy, abs=1e-12)]}
    }


def test_the_name_of_the_column_is_a_parameter_like_others():
    model = clone(RankSVM(qid="query"))
    assert model.get_params()["qid"] == "query"
    assert model.set_params(qid=None).qid is None
