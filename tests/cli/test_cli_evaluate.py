"""The command that measures a ranking."""

import csv
import io
import json
import re

import numpy as np
import pytest

from ranksvm import RankSVM, dump_svmlight, save_model
from ranksvm.cli import main
from ranksvm.files.scores import write_scores
from ranksvm.metrics import evaluate, paired_randomization_test


@pytest.fixture
def ranking(tmp_path, monkeypatch):
    """A folder, which is the current one, with data, two models and two files of scores."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(120, 3)), rng.integers(0, 4, 120), np.arange(120) // 5
    y[:5] = 0
    dump_svmlight("data.svm", X, y, qid)
    better = RankSVM().fit(X, y, qid)
    worse = RankSVM().fit(X, y[::-1], qid)
    save_model(better, "better.json")
    save_model(worse, "worse.json")
    write_scores("better", better.predict(X))
    write_scores("worse", worse.predict(X))
    return y, better.predict(X), worse.predict(X), qid


def run(capsys, *arguments):
    assert main(["evaluate", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys, *arguments):
    assert main(["evaluate", *arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("source", ["better", "better.json"])
def test_table(ranking, capsys, source):
    y, scores, _, qid = ranking
    lines = run(capsys, "data.svm", source, "--metrics", "ndcg@10,auc_pooled").splitlines()
    assert lines[0].split() == ["metric", "queries", "mean"]
    expected = evaluate(y, scores, qid, ["ndcg@10", "auc_pooled"])
    for line, name in zip(lines[1:], expected.mean, strict=True):
        defined = np.isfinite(expected.per_query[name]).sum()
        assert line.split() == [name, str(defined), f"{expected.mean[name]:.6f}"]
    assert len({len(line) for line in lines}) == 1


def test_json_csv_and_default_metrics(ranking, capsys):
    y, scores, _, qid = ranking
    rows = json.loads(run(capsys, "data.svm", "better", "--format", "json", "--preset", "lightgbm"))
    expected = evaluate(y, scores, qid, preset="lightgbm")
    assert {row["metric"]: row["mean"] for row in rows} == pytest.approx(expected.mean)
    text = run(capsys, "data.svm", "better", "--format", "csv", "--preset", "lightgbm")
    from_csv = list(csv.DictReader(io.StringIO(text)))
    assert {row["metric"]: float(row["mean"]) for row in from_csv} == pytest.approx(expected.mean)


@pytest.mark.parametrize("other", ["worse", "worse.json"])
def test_comparison(ranking, capsys, other):
    y, scores, other_scores, qid = ranking
    arguments = ["--compare", other, "--metrics", "ndcg,map", "--format", "json"]
    rows = json.loads(run(capsys, "data.svm", "better.json", *arguments))
    a, b = (evaluate(y, s, qid, ["ndcg", "map"]) for s in (scores, other_scores))
    for row, name in zip(rows, ("ndcg", "map"), strict=True):
        assert row["mean"] == pytest.approx(a.mean[name])
        assert row["other"] == pytest.approx(b.mean[name])
        assert row["difference"] == pytest.approx(a.mean[name] - b.mean[name])
        p = paired_randomization_test(a.per_query[name], b.per_query[name], random_state=0)
        assert row["p_value"] == pytest.approx(p)


def read_csv(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.reader(file))


def test_per_query(ranking, capsys):
    y, scores, _, qid = ranking
    run(capsys, "data.svm", "better", "--metrics", "ndcg@2", "--per-query", "q.csv")
    first = read_csv("q.csv")
    assert first[0] == ["query", "ndcg@2"]
    assert first[1] == ["0", ""]  # no relevant document
    values = evaluate(y, scores, qid, "ndcg@2").per_query["ndcg@2"]
    np.testing.assert_array_equal([float(row[1]) for row in first[2:]], values[1:])
    arguments = ["--metrics", "ndcg@2", "--per-query", "q.csv", "--compare", "worse"]
    run(capsys, "data.svm", "better", *arguments)
    both = read_csv("q.csv")
    assert both[0] == ["query", "ndcg@2", "other ndcg@2"]
    assert [row[:2] for row in both[1:]] == first[1:]


def test_undefined_metrics(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dump_svmlight("data.svm", np.eye(2), [0, 0], [1, 1])
    write_scores("s", np.array([1.0, 2.0]))
    arguments = ["data.svm", "s", "--metrics", "ndcg"]
    assert run(capsys, *arguments).split() == ["metric", "queries", "mean", "ndcg", "0", "-"]
    rows = json.loads(run(capsys, *arguments, "--compare", "s", "--format", "json"))
    assert rows[0]["mean"] is rows[0]["other"] is rows[0]["p_value"] is None


def test_ties_by_document_id(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_scores("s", np.array([1.0, 1.0]))
    arguments = ["data.svm", "s", "--metrics", "mrr", "--preset", "trec_eval", "--format", "json"]
    rows = "1 qid:1 1:1 {}\n0 qid:1 1:2 {}\n"
    for first, second, value in (("d1", "d2", 0.5), ("d2", "d1", 1.0)):
        text = rows.format(f"#docid = {first}", f"#docid = {second}")
        (tmp_path / "data.svm").write_text(text)
        assert json.loads(run(capsys, *arguments))[0]["mean"] == value
    (tmp_path / "data.svm").write_text(rows.format("", ""))
    assert "give docids" in refused(capsys, *arguments)


def test_costs_weigh_pairs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.svm").write_text(
        "2 qid:1 cost:3 1:1\n1 qid:1 cost:1 1:1\n0 qid:1 cost:1 1:1\n"
    )
    write_scores("s", np.array([2.0, 1.0, 1.5]))
    arguments = ["--metrics", "pairwise_accuracy", "--format", "json"]
    assert json.loads(run(capsys, "data.svm", "s", *arguments))[0]["mean"] == pytest.approx(6 / 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "ndgc@10"], "did you mean 'ndcg@10'"),
        (["--metrics", "ndcg@10,"], "there is no metric ''"),
        (["--preset", "lightbm"], "did you mean 'lightgbm'"),
        (["--per-query", "nowhere/q.csv"], "the directory .*nowhere does not exist"),
        (["--compare", "short"], "short has 1 scores but data.svm has 120 rows"),
    ],
)
def test_errors(ranking, capsys, arguments, message):
    write_scores("short", np.array([1.0]))
    assert re.search(message, refused(capsys, "data.svm", "better", *arguments))


@pytest.mark.parametrize(
    ("command", "noted"),
    [
        ("train one m", True),
        ("train data.svm m", False),
        ("evaluate one better.json", True),
        ("cv one --folds 2 --Cs 1", True),
        ("path data.svm --validation one --max-events 1", True),
        ("predict better.json one scores", False),
    ],
)
def test_files_without_qids_are_noted(ranking, capsys, command, noted):
    rng = np.random.default_rng(1)
    dump_svmlight("one", rng.normal(size=(20, 3)), rng.integers(0, 4, 20))
    note = "note: one has no qids: all rows are one ranking\n"
    assert main(command.split()) == 0
    assert (note in capsys.readouterr().err) == noted
    assert main([*command.split(), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
