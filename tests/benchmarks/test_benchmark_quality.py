"""The benchmark of rankings: means over repetitions, intervals, and results that are kept."""

import json

import numpy as np
import pytest

from benchmarks import ranking_quality
from benchmarks.rankers import AUTO, is_of_trees, rankers
from benchmarks.ranking_quality import (
    METRICS,
    Outcome,
    Results,
    best_of_trees,
    compared,
    drawn,
    joined,
    means,
    splits,
)
from benchmarks.task import Rows
from ranksvm import dump_svmlight


def outcome(values, seconds=1.0):
    return Outcome(dict.fromkeys(METRICS, np.array(values)), seconds)


def rows():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(10), 6)
    return Rows(X, np.digitize(X[:, 0], [0, 1]).astype(float), qid)


def test_queries_count_once_however_often_they_are_tested():
    found = means(np.array([3, 1, 3, 2]), np.array([0.5, 0.2, 1.0, np.nan]))
    np.testing.assert_array_equal(found, [0.2, np.nan, 0.75])


def test_differences_are_of_queries():
    one, other = outcome([0.5, 0.7, np.nan, 0.9], 1.0), outcome([0.4, 0.6, np.nan, 0.8], 4.0)
    assert compared(one, other) == ["+0.1000", "+0.1000", "+0.1000", "0.250", "0.25"]


def test_the_best_trees_are_trees():
    found = {AUTO: outcome([0.9]), "LightGBM": outcome([0.5]), "XGBoost": outcome([0.6])}
    assert best_of_trees(found) == "XGBoost"
    assert best_of_trees({AUTO: outcome([0.9])}) is None
    assert len(drawn({"set": found}).axes) == 1


def test_results_are_kept_and_gone_on_with(tmp_path):
    data, path = rows(), tmp_path / "values.jsonl"
    fitted = []

    def fit(train):
        fitted.append(len(train.y))
        return lambda X: X[:, 0]

    for go_on in (False, True, False):
        results = Results(path, go_on)
        for repeat, k, train, test in splits(data, 2, 5):
            parts = [Rows(data.X[of], data.y[of], data.qid[of]) for of in (train, test)]
            results.measure(("set", repeat, k, "first"), fit, *parts)
        assert len(fitted) == (20 if not go_on and len(fitted) > 10 else 10)
        values = results.outcome("set", "first", 2, 5).values
        assert values["ndcg@10"].shape == (10,)
        assert np.nanmin(values["ndcg@10"]) == pytest.approx(1)


def test_queries_of_different_parts_differ():
    both = joined([rows(), rows()])
    assert both.X.shape == (120, 3)
    assert len(np.unique(both.qid)) == 20


@pytest.fixture
def letor(tmp_path, monkeypatch):
    """A folder as collections are published: parts of the queries, turned from fold to fold."""
    rng = np.random.default_rng(0)
    parts = []
    for k in range(5):
        X, qid = rng.uniform(size=(24, 4)), 1 + 6 * k + np.arange(24) // 4
        parts.append((X, np.digitize(X[:, 0], [0.4, 0.8]).astype(float), qid))
    for fold in range(5):
        folder = tmp_path / "MQ" / f"Fold{fold + 1}"
        folder.mkdir(parents=True)
        for name, of in (("train", (0, 1, 2)), ("vali", (3,)), ("test", (4,))):
            X, y, qid = map(np.concatenate, zip(*(parts[(k + fold) % 5] for k in of), strict=True))
            dump_svmlight(folder / f"{name}.txt", X, y, qid)
    monkeypatch.delenv("RANKSVM_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "MQ"


@pytest.mark.parametrize("by_name", [False, True])
def test_letor_folders_are_measured(letor, monkeypatch, by_name):
    few = {name: rankers(1)[name] for name in ("RankSVM", "RankSVM, ndcg")}
    monkeypatch.setattr(ranking_quality, "rankers", lambda n_threads: few)
    monkeypatch.setattr("sys.argv", ["", *([] if by_name else ["--letor", str(letor)])])
    if by_name:
        monkeypatch.setenv("RANKSVM_LETOR", str(letor))
    ranking_quality.main()
    folder = letor.parent / "build" / "benchmarks" / "quality"
    page = (folder / "quality.md").read_text()
    assert "## MQ (120 x 4, 30 queries; 1 x 5 folds)" in page
    lines = [json.loads(line) for line in (folder / "values.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * 5
    of_first = [line for line in lines if line["of"][-1] == "RankSVM"]
    tested = np.concatenate([line["queries"] for line in of_first])
    np.testing.assert_array_equal(np.sort(tested), np.arange(30))
    assert np.nanmean(np.concatenate([one["values"]["ndcg@10"] for one in of_first])) > 0.9


def test_linear_rankers_train_and_score():
    data = rows()
    for name, fit in rankers(1).items():
        if not is_of_trees(name):
            assert fit(data)(data.X).shape == (60,)
