"""The command that follows a regularization path."""

import csv
import json
import re

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from cases import make_problem
from ranksvm import dump_svmlight, evaluate, regularization_path
from ranksvm.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    parts = {name: make_problem(seed, n=40) for seed, name in enumerate(["train", "validation"])}
    for name, (X, y, qid) in parts.items():
        dump_svmlight(folder / f"{name}.svm", X, y, qid)
    return folder, parts["train"], parts["validation"]


def run(*arguments):
    return main(["path", *map(str, arguments)])


def test_the_table_is_the_path(files, tmp_path, capsys):
    folder, (X, y, qid), _ = files
    assert run(folder / "train.svm", tmp_path / "t.csv", "--kernel", "rbf", "--gamma", 0.3) == 0
    path = regularization_path(X, y, qid, kernel="rbf", gamma=0.3)
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    for name, expected in [
        ("lambda", path.lambdas),
        ("n_zero", path.n_zero),
        ("n_between", path.n_free),
        ("n_one", path.n_one),
    ]:
        np.testing.assert_array_equal([float(row[name]) for row in rows], expected)
    *of_events, end = rows
    pairs = path.event_pairs
    assert [int(row["upper_row"]) for row in of_events] == path.graph.upper[pairs].tolist()
    assert [int(row["lower_row"]) for row in of_events] == path.graph.lower[pairs].tolist()
    names = ["zero", "one", "between"]
    assert [row["multiplier"] for row in of_events] == [names[k] for k in path.event_sets]
    assert end["upper_row"] == end["lower_row"] == end["multiplier"] == ""
    captured = capsys.readouterr()
    header, first, last = captured.out.splitlines()
    assert header.split() == ["lambda", "alpha", "=", "0", "between", "alpha", "=", "1"]
    assert first.split()[:2] == ["first", f"{path.lambdas[0]:.6g}"]
    assert last.split()[:2] == ["last", f"{path.lambdas[-1]:.6g}"]
    assert f"lambda_min: {len(pairs)} events, {len(path.graph)} pairs of 40 rows" in captured.err


def test_the_best_lambda_on_other_rows(files, tmp_path, capsys):
    folder, (X, y, qid), (new_X, new_y, new_qid) = files
    table, plot = tmp_path / "t.json", tmp_path / "p.png"
    options = ["--graph", "reduced", "--scale", "standard", "--lambda-min-ratio", 0.1, "-q"]
    validation = ["--validation", folder / "validation.svm", "--metric", "ndcg@5"]
    assert run(folder / "train.svm", table, *options, *validation, "--plot", plot) == 0
    scale = X.std(axis=0)
    path = regularization_path(X / scale, y, qid, graph="reduced", lambda_min_ratio=0.1)
    scores = [
        evaluate(new_y, path.predict(new_X / scale, lam), new_qid, "ndcg@5").mean["ndcg@5"]
        for lam in path.lambdas
    ]
    rows = json.loads(table.read_text())
    np.testing.assert_allclose([row["lambda"] for row in rows], path.lambdas, rtol=1e-6)
    np.testing.assert_allclose([row["ndcg@5"] for row in rows], scores, atol=1e-9)
    assert (rows[-1]["upper_row"], rows[-1]["multiplier"]) == (None, None)
    captured = capsys.readouterr()
    assert captured.err == ""
    best = captured.out.splitlines()[2].split()
    assert best[0] == "best"
    assert float(best[1]) == pytest.approx(path.lambdas[int(np.argmax(scores))], rel=1e-5)
    assert float(best[-1]) == pytest.approx(max(scores), abs=1e-6)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_path_alone_is_drawn(files, tmp_path):
    assert run(files[0] / "train.svm", "--max-events", 20, "--plot", tmp_path / "p.svg") == 0
    assert b"<svg" in (tmp_path / "p.svg").read_bytes()


@pytest.mark.parametrize("scale", [[], ["--scale", "maxabs"]])
def test_sparse_rows_and_others_with_fewer_features(tmp_path, scale, capsys):
    X = random_sparse(30, 12, 0.2, format="csr", random_state=0)
    y = np.arange(30) % 3
    dump_svmlight(tmp_path / "a.svm", X, y, zero_based=False)
    dump_svmlight(tmp_path / "b.svm", X[:, :7], y, zero_based=False)
    options = ["--kernel", "rbf", "--graph", "reduced", *scale]
    assert run(tmp_path / "a.svm", "--validation", tmp_path / "b.svm", *options) == 0
    shown = capsys.readouterr()
    assert "best" in shown.out
    assert re.search(r"b\.svm ends at feature \d; the other \d of the model count as", shown.err)
    assert run(tmp_path / "b.svm", "--validation", tmp_path / "a.svm", *options) == 2
    assert re.search(
        r"a\.svm has \d+ features but the model was trained with \d", capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["t.txt"], "a table must end in .csv or .json"),
        (["--plot", "p.xyz"], "the suffix must be one of"),
        (["--kernel", "gaussian"], "--kernel must be one of linear, rbf, .*, not 'gaussian'"),
        (["--kernel", "polynomal"], r"not 'polynomal' \(did you mean polynomial\?\)"),
        (["--kernel", "rbf", "--gamma", "-1"], "gamma must be finite and greater than 0"),
        (["--gamma", "1"], "the kernel linear has no gamma: leave out --gamma, or take one of"),
        (["--kernel", "rbf", "--degree", "2"], "the kernel rbf has no degree: leave out --degree"),
        (["--max-memory", "10"], "more than max_memory=1e-08 GB"),
        (["--lambda-min-ratio", "0"], "lambda_min_ratio must be finite"),
        (["--metric", "luck"], "luck"),
        (["--validation", "missing.svm"], "missing.svm"),
    ],
)
def test_mistakes_are_named(files, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    assert run(files[0] / "train.svm", *options) == 2
    captured = capsys.readouterr()
    assert re.search(message, captured.err)
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_weights_of_rows_are_refused(tmp_path, capsys):
    (tmp_path / "w.svm").write_text("1 cost:2 1:1\n0 1:0.5\n")
    assert run(tmp_path / "w.svm") == 2
    assert "has weights of rows, cost:, which a path cannot regard" in capsys.readouterr().err
