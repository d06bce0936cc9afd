"""The estimator: what it takes, what it refuses before any work, what it gives back."""

import pickle

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import ranksvm
from local_clusters import counting, local_cluster
from ranksvm import RankSVM, RankSVMCV
from ranksvm.cluster import torn
from ranksvm.dask import DaskRankSVM, DaskRankSVMCV

RNG = np.random.default_rng(8)
N, D = 240, 5
X = RNG.normal(size=(N, D))
Y = (2 * X[:, 0] + RNG.normal(size=N)).round().clip(-2, 2) + 2.0
QID = np.repeat(np.arange(N // 12), 12)
CHUNKS = (96, 84, 60)


def rows(dtype=np.float64):
    return da.from_array(X.astype(dtype), chunks=(CHUNKS, D))


def column(values):
    return da.from_array(np.asarray(values), chunks=(CHUNKS,))


@pytest.fixture(scope="module")
def model(client):
    return DaskRankSVM(tol=1e-10, client=client).fit(rows(), column(Y), column(QID))


@pytest.fixture(scope="module")
def local():
    return RankSVM(tol=1e-10).fit(X, Y, QID)


def test_scores_and_measures_are_those_of_the_local_fit(client, model, local):
    assert isinstance(model.predict(rows()), da.Array)
    np.testing.assert_allclose(model.predict(rows()).compute(), local.predict(X), atol=1e-9)
    given = rows(), column(Y), column(QID)
    assert model.score(*given) == local.score(X, Y, QID)
    expected = ranksvm.evaluate(Y, model.predict(X), QID)
    assert model.evaluate(*given).to_frame().equals(expected.to_frame())
    assert model.to_local().coef_ is model.coef_
    assert model.to_local().score(X, Y, QID) == model.score(*given)


def test_history_counts_rounds(model):
    n_rounds = [line.n_rounds for line in model.history_]
    assert n_rounds == sorted(n_rounds)
    assert n_rounds[-1] >= len(n_rounds)
    assert model.n_moved_rows_ == 0


def test_it_is_cloned_and_pickled(client, model):
    assert clone(model).client is client
    copy = pickle.loads(pickle.dumps(model))
    assert copy.client is None
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert copy.get_params() == {**model.get_params(), "client": None}
    assert repr(clone(model).set_params(client=None)) == "DaskRankSVM(tol=1e-10)"
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        clone(model).set_params(c=1.0)
    chooser = DaskRankSVMCV([1.0], cv=3, client=client)
    assert clone(chooser).get_params() == chooser.get_params()
    assert not hasattr(clone(model), "coef_")


def test_the_certificate_is_true_and_that_of_the_history(model, local):
    last = model.history_[-1]
    assert (last.value, last.dual_gap) == (model.objective_, model.dual_gap_)
    assert local.objective_ * (1 - local.dual_gap_) <= model.objective_
    assert model.objective_ * (1 - model.dual_gap_) <= local.objective_
    scores = X @ model.coef_
    above = (QID[:, None] == QID) & (Y[:, None] > Y)
    losses = np.maximum(0, 1 - (scores[:, None] - scores))[above] ** 2
    exact = 0.5 * model.coef_ @ model.coef_ + N / above.sum() * losses.sum()
    assert exact <= model.objective_ <= exact * (1 + 1e-10)


def test_the_local_ranker_is_whole(model, tmp_path):
    local = model.to_local()
    assert local.get_params()["tol"] == model.tol
    assert local.history_ == model.history_
    ranksvm.save_model(local, tmp_path / "model.json")
    assert np.array_equal(ranksvm.load_model(tmp_path / "model.json").weights.dense, model.coef_)


def test_a_shortfall_is_warned_of_and_told_in_a_table(client, capsys):
    model = DaskRankSVM(tol=1e-12, max_iter=1, verbose=1, client=client)
    with pytest.warns(ranksvm.ConvergenceWarning, match="max_iter"):
        model.fit(rows(), column(Y), column(QID))
    assert model.status_ == "max_iter"
    header, *lines = capsys.readouterr().err.splitlines()
    assert header.split()[:3] == ["iteration", "objective", "gap"]
    assert len(lines) == len(model.history_)


def test_tasks_have_names(client):
    with counting(client.cluster) as counts:
        model = DaskRankSVM(client=client).fit(rows(), column(Y), column(QID))
    for name in ("survey", "count", "loss", "confirm"):
        assert counts.times(name)
    assert len(counts.times("loss")) >= model.n_iter_


def test_results_depend_on_partitions_alone(client, model):
    """Bits are the same for 1, 2 and 4 workers, of processes or threads, and the second time."""
    found = {model.coef_.tobytes()}
    for n in (1, 4):
        with (
            local_cluster(n, processes=False) as other,
            distributed.Client(other, set_as_default=False) as one,
        ):
            again = clone(model).set_params(client=one)
            for _ in range(2):
                found.add(again.fit(rows(), column(Y), column(QID)).coef_.tobytes())
    assert len(found) == 1


def test_frames_and_their_column_of_ids(client, local):
    frame = pd.DataFrame(X, columns=list("abcde")).assign(qid=QID, y=Y)
    parts = dd.from_pandas(frame, npartitions=3, sort=False)
    model = DaskRankSVM(tol=1e-10, qid="qid", client=client)
    with pytest.warns(UserWarning, match="rows were moved"):
        model.fit(parts.drop(columns="y"), parts["y"])
    assert list(model.feature_names_in_) == list("abcde")
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-9)
    scores = model.predict(parts[list("abcde")]).compute()
    np.testing.assert_allclose(scores, local.predict(X), atol=1e-9)


def test_packed_folders_and_parquet_files(client, local, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde")).assign(qid=QID, label=Y)
    paths = []
    for k, part in enumerate(np.split(frame.index, [96, 180])):
        path = tmp_path / f"part{k}.parquet"
        frame.loc[part].to_parquet(path)
        paths.append(path)
    middle = slice(96, 180)
    names = {"feature_names": list("abcde")}
    ranksvm.pack([(X[middle], Y[middle], QID[middle])], tmp_path / "packed", **names)
    for files in (paths, [paths[0], tmp_path / "packed", paths[2]]):
        model = DaskRankSVM(tol=1e-10, client=client).fit(files)
        np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-9)


def test_weights_single_precision_and_normalizations(client):
    weight = {
        "sample_weight": RNG.integers(0, 3, N).astype(float),
        "query_weight": 1.0 + QID % 3,
    }
    weight["sample_weight"][:96] = 0.0  # of a partition
    on_cluster = {name: column(values) for name, values in weight.items()}
    for normalize in ("queries", "pairs", None):
        parameters = {"normalize": normalize, "tol": 1e-9, "pair_weight": "gap"}
        single = X.astype(np.float32)
        expected = RankSVM(**parameters).fit(single, Y, QID, **weight)
        model = DaskRankSVM(**parameters, client=client)
        model.fit(rows(np.float32), column(Y), column(QID), **on_cluster)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
        assert model.n_pairs_ == pytest.approx(expected.n_pairs_, rel=1e-12)


@pytest.mark.filterwarnings("ignore:queries are torn")
def test_scores_of_a_ranking_larger_than_a_partition_meet(client, monkeypatch):
    monkeypatch.setattr(torn, "LEAST_SHARED", 1)
    qid = np.where(QID < 9, 0, QID)
    for loss, tol in (("squared_hinge", 1e-10), ("hinge", 1e-3)):
        expected = RankSVM(loss=loss, tol=1e-10).fit(X, Y, qid)
        model = DaskRankSVM(loss=loss, tol=tol, client=client)
        model.fit(rows(), column(Y), column(qid))
        assert model.n_moved_rows_ == 0
        assert (model.n_pairs_, model.n_queries_) == (expected.n_pairs_, expected.n_queries_)
        assert model.objective_ == pytest.approx(expected.objective_, rel=max(tol, 1e-10))
        assert model.objective_ * (1 - model.dual_gap_) <= expected.objective_
    with pytest.raises(ValueError, match="'newton' needs queries that are whole"):
        model.set_params(solver="newton").fit(rows(), column(Y), column(qid))


def test_torn_queries_may_be_an_error(client):
    model = DaskRankSVM(split_queries="error", client=client)
    with pytest.raises(ValueError, match=r"torn between partitions: \d+ of 240 rows would"):
        model.fit(rows().rechunk((100, D)), column(Y).rechunk(100), column(QID).rechunk(100))


def unknown():
    return dd.from_pandas(pd.DataFrame(X), npartitions=3).values


REFUSED = {
    "unknown chunks": (lambda: (unknown(), column(Y)), "chunks of unknown size"),
    "other chunks": (lambda: (rows(), column(Y).rechunk(80)), "y is partitioned differently"),
    "objects": (lambda: (rows().astype(object), column(Y)), "must hold numbers, not object"),
    "in memory": (lambda: (X, Y), "RankSVM takes what is in memory"),
    "no labels": (lambda: (rows(),), "needs labels y"),
    "labels in memory": (lambda: (rows(), Y), "y must be a dask array or series"),
    "texts": (lambda: (rows(), column(Y.astype(str))), "y must hold numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_before_any_work(client, case):
    make, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=message):
        DaskRankSVM(client=client).fit(*make())


def test_features_that_differ_between_partitions_are_refused(client, tmp_path):
    paths = []
    for k, names in enumerate(["ab", "ac"]):
        frame = pd.DataFrame(X[:12, :2], columns=list(names)).assign(qid=k, label=Y[:12])
        paths.append(tmp_path / f"{k}.parquet")
        frame.to_parquet(paths[-1])
    with pytest.raises(ValueError, match="features differ between partitions"):
        DaskRankSVM(client=client).fit(paths)


def test_a_bad_partition_is_named(client):
    bad = X.copy()
    bad[100, 2] = np.nan
    with pytest.raises(ValueError, match="partition 1: X must be finite"):
        DaskRankSVM(client=client).fit(
            da.from_array(bad, chunks=(CHUNKS, D)), column(Y), column(QID)
        )


def test_without_pairs_there_is_nothing_to_learn(client):
    with pytest.raises(ValueError, match="no preference pairs"):
        DaskRankSVM(client=client).fit(rows(), column(np.zeros(N)), column(QID))


@pytest.mark.parametrize("weighed", [False, True])
def test_folds_are_those_of_one_machine(client, weighed):
    """Queries are dealt in their order; a fold that is left out weighs nothing."""
    fold = (np.arange(N // 12) % 3)[QID]
    weight = {"sample_weight": RNG.integers(1, 3, N).astype(float)} if weighed else {}
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    local = RankSVMCV([0.01, 1.0, 100.0], cv=folds, tol=1e-9, solver="newton")
    local.fit(X, Y, QID, **weight)
    model = DaskRankSVMCV([0.01, 1.0, 100.0], cv=3, tol=1e-9, client=client)
    on_cluster = {name: column(values) for name, values in weight.items()}
    model.fit(rows(), column(Y), column(QID), **on_cluster)
    for k in range(3):
        expected = local.cv_results_[f"split{k}_test_score"]
        np.testing.assert_allclose(model.scores_[k], expected, rtol=0, atol=1e-12)
    assert (model.C_, model.best_score_) == (local.C_, pytest.approx(local.best_score_))
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:queries are torn")
def test_folds_that_cannot_be_are_told(client, monkeypatch):
    with pytest.raises(ValueError, match="fold 2 has no preference pairs: use fewer folds"):
        DaskRankSVMCV(cv=3, client=client).fit(rows(), column(Y), column(QID % 2))
    with pytest.raises(ValueError, match="cv must be a whole number of at least 2"):
        DaskRankSVMCV(cv=1, client=client).fit(rows(), column(Y), column(QID))
    monkeypatch.setattr(torn, "LEAST_SHARED", 1)
    with pytest.raises(ValueError, match="folds are of queries that are whole in a partition"):
        DaskRankSVMCV(cv=2, client=client).fit(rows(), column(Y), column(QID * 0))


def test_without_a_cluster_there_is_a_sentence(client, monkeypatch):
    given = rows(), column(Y), column(QID)
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, not a str"):
        DaskRankSVM(client="tcp://127.0.0.1:9").fit(*given)
    with pytest.raises(ValueError, match="split_queries must be one of 'move', 'error'"):
        DaskRankSVM(split_queries="join", client=client).fit(*given)
    with pytest.raises(ValueError, match="queries are given twice, by qid and qid='q'"):
        DaskRankSVM(qid="q", client=client).fit(*given)
    monkeypatch.setattr("ranksvm.cluster.ranker.default_client", default_client_of_none)
    with pytest.raises(ValueError, match="needs a cluster: give client="):
        DaskRankSVM().fit(*given)


def default_client_of_none():
    raise ValueError("No clients found")
