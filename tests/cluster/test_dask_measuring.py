"""Measures on the cluster: those of one machine, with queries torn between partitions or not."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import ranksvm
from ranksvm.cluster import torn
from ranksvm.cluster.measuring import Scorer, measured_rows, scored
from ranksvm.cluster.rows import Rows
from ranksvm.dask import DaskRankSVM

RNG = np.random.default_rng(11)
N, D = 90, 3
X = RNG.normal(size=(N, D)).round(1)  # tied scores, too
Y = (X[:, 0] + RNG.normal(size=N)).round().clip(-1, 2) + 1.0
QID = np.repeat(np.arange(N // 9), 9)
QID[QID == 3] = 7  # not adjacent
W = RNG.integers(0, 3, N).astype(float)
METRICS = ("pairwise_accuracy_pooled", "ranking_error_pooled", "auc_pooled", "ndcg@3", "map", "mrr")


@pytest.fixture(scope="module")
def model(client):
    chunks = (da.from_array(v, chunks=45) for v in (Y, QID))
    with pytest.warns(UserWarning, match="torn"):
        return DaskRankSVM(client=client).fit(da.from_array(X, chunks=(45, D)), *chunks)


def parts(chunks, *columns):
    return [da.from_array(v, chunks=(chunks, *v.shape[1:])) for v in columns]


def assert_same(found, expected):
    assert list(found.mean) == list(expected.mean)
    order = np.argsort(found.queries)
    np.testing.assert_array_equal(found.queries[order], np.unique(expected.queries))
    at = np.argsort(expected.queries)
    for name, values in expected.per_query.items():
        np.testing.assert_array_equal(found.per_query[name][order], values[at])
        assert found.mean[name] == pytest.approx(expected.mean[name], rel=1e-14)


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighed"])
@pytest.mark.parametrize("chunks", [(45, 45), (40, 0, 1, 49)], ids=["two", "torn"])
def test_measures_are_those_of_one_machine(model, chunks, weights):
    given = {} if weights is None else {"sample_weight": weights}
    on_cluster = {name: parts(chunks, values)[0] for name, values in given.items()}
    scores = model.to_local().predict(X)
    expected = ranksvm.evaluate(Y, scores, QID, METRICS, preset="trec_eval", **given)
    rows = parts(chunks, X, Y, QID)
    assert_same(model.evaluate(*rows, METRICS, preset="trec_eval", **on_cluster), expected)
    score = model.score(*rows, **on_cluster)
    assert score == pytest.approx(model.to_local().score(X, Y, QID, **given), abs=1e-14)


def test_one_ranking_meets_in_one_place(model, monkeypatch):
    monkeypatch.setattr(torn, "LEAST_SHARED", 1)
    rows = parts((30, 30, 30), X, Y)
    with pytest.warns(UserWarning, match="trained on 9 queries, but no qid was given"):
        assert model.score(*rows) == ranksvm.pairwise_accuracy(Y, model.predict(X))


def test_what_travels_is_by_query(model, monkeypatch):
    from ranksvm.cluster.driver import Driver

    plain, brought = Driver.gather, []

    def gather(self, name, step, *of_each):
        found = plain(self, name, step, *of_each)
        brought.extend(found if name == "measure" else [])
        return found

    monkeypatch.setattr(Driver, "gather", gather)
    model.evaluate(*parts((45, 45), X, Y, QID))
    for part in brought:
        arrays = [*part.per_query.values(), *part.pooled.values(), part.queries]
        assert {array.shape[-1] for array in arrays} == {len(part.queries)}
    assert sum(len(part.queries) for part in brought) == len(np.unique(QID))


def test_what_cannot_be_measured_is_told(model):
    one, none = (parts((45, 45), X, labels, QID) for labels in (Y * 0 + 1, Y - 9))
    with pytest.raises(ValueError, match="no preference pairs"):
        model.score(*one)
    with pytest.warns(UserWarning, match="pairwise_accuracy would be defined"):
        assert np.isnan(model.evaluate(*one, "pairwise_accuracy").mean["pairwise_accuracy"])
    with pytest.raises(ValueError, match="nDCG needs labels of at least 0"):
        model.evaluate(*none, "ndcg")
    with pytest.raises(ValueError, match="there is no metric 'ndgc'; did you mean 'ndcg'"):
        model.evaluate(*none, "ndgc")
    with pytest.raises(ValueError, match="partition 0 has other features than the model"):
        model.score(*parts((45, 45), X[:, :2], Y, QID))
    with pytest.raises(ValueError, match="there are no rows to evaluate"):
        model.evaluate(*parts((0,), X[:0], Y[:0], QID[:0]))


def test_a_partition_measures_its_queries():
    rows = Rows(X, Y, QID, W, None, ("a", "b", "c"))
    here = scored(rows, Scorer(np.arange(3.0), ("a", "b", "c")), 0)
    assert here.X.shape == (N, 1)
    found = measured_rows(here, ["ndcg@3"], None)
    expected = ranksvm.evaluate(Y, X @ np.arange(3.0), QID, "ndcg@3", sample_weight=W)
    np.testing.assert_array_equal(found.per_query["ndcg@3"], expected.per_query["ndcg@3"])
    none = rows.taken(np.arange(0))
    assert measured_rows(scored(none, Scorer(np.arange(3.0)), 1), ["ndcg@3"], None) is None


def test_features_of_other_names_are_refused():
    rows = Rows(X, Y, QID, None, None, ("a", "b", "c"))
    scorer = Scorer(np.arange(3.0), ("a", "c", "b"))
    with pytest.raises(ValueError, match="other features than the model, or in another order"):
        scored(rows, scorer, 4)
    assert np.array_equal(scored(rows, Scorer(np.arange(3.0)), 0).X[:, 0], X @ np.arange(3.0))


def test_scores_are_lazy_and_keep_their_index(client):
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(N) + 100).assign(q=QID)
    data = dd.from_pandas(frame, npartitions=2, sort=False)
    labels = dd.from_pandas(pd.Series(Y, index=frame.index), npartitions=2, sort=False)
    with pytest.warns(UserWarning, match="torn"):
        model = DaskRankSVM(qid="q", client=client).fit(data, labels)
    scores = model.predict(data)
    assert isinstance(scores, dd.Series)
    assert scores.compute(scheduler="synchronous").index.equals(frame.index)
    assert model.score(data, labels) == model.to_local().score(frame, Y)
    wide = model.predict(da.from_array(X, chunks=((0, N), (2, 1))))
    in_order = scores.compute(scheduler="synchronous").to_numpy()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(wide.compute(scheduler="synchronous"), in_order)
