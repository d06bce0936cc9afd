"""The command line on packed data: the same as on the files they were packed from."""

import json

import numpy as np
import pytest
from test_cli import assert_refused, ranksvm

from ranksvm import dump_svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a.svm and b.svm, both together as all.svm, and packed as d.rsvm."""
    folder = tmp_path_factory.mktemp("packed")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    y = np.digitize(X @ np.arange(6) + rng.standard_normal(400), [-3, 0, 3])
    qid = np.arange(400) // 20
    dump_svmlight(folder / "all.svm", X, y, qid)
    dump_svmlight(folder / "a.svm", X[:150], y[:150], qid[:150])
    dump_svmlight(folder / "b.svm", X[150:], y[150:], qid[150:])
    process = ranksvm("pack", folder / "a.svm", folder / "b.svm", folder / "d.rsvm")
    assert (process.returncode, process.stdout) == (0, "")
    assert process.stderr == ("packed: 400 rows, 6 features, 20 queries; dense float64, 26.5 kB\n")
    return folder


def test_models_are_the_same(folder, tmp_path):
    models = []
    for data in ("all.svm", "d.rsvm"):
        process = ranksvm("train", folder / data, tmp_path / "m.json", "-C", "0.1")
        assert process.returncode == 0, process.stderr
        models.append(json.loads((tmp_path / "m.json").read_text()))
        assert models[-1]["training"].pop("data") == str(folder / data)
    n_passes = [model["training"].pop("n_passes") for model in models]
    assert n_passes[1] <= n_passes[0]
    assert models[0] == models[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "m.json", "{}"),
        ("evaluate", "{}", "m.json", "--metrics", "ndcg@5,map"),
        ("cv", "{}", "--Cs", "0.1,1", "--folds", "3"),
        ("cv", "{}", "--Cs", "0.1", "--scale", "standard", "--folds", "2"),
        ("path", "{}", "--max-events", "5"),
    ],
)
def test_commands_say_the_same(folder, tmp_path, arguments):
    ranksvm("train", folder / "all.svm", tmp_path / "m.json")
    said = []
    for data in ("all.svm", "d.rsvm"):
        words = [word.format(folder / data) for word in arguments]
        process = ranksvm(*words, "-q", cwd=tmp_path)
        assert process.returncode == 0, process.stderr
        said.append(process.stdout)
    assert said[0] == said[1] != ""


def test_info(folder):
    process = ranksvm("info", folder / "d.rsvm")
    lines = process.stdout.splitlines()
    assert lines[0] == ("packed data   400 rows, 6 features, 20 queries; dense float64, 26.5 kB")
    assert [line.split(",")[0] for line in lines[1:]] == [
        f"source        {folder / name}" for name in ("a.svm", "b.svm")
    ]
    assert_refused(ranksvm("info", folder / "d.rsvm", "--weights"), "have no weights")


def test_single_precision_and_streams(folder, tmp_path):
    with open(folder / "all.svm") as text:
        process = ranksvm("pack", "-", tmp_path / "d.rsvm", "--float32", stdin=text)
    assert "dense float32" in process.stderr


def test_errors_are_sentences(folder, tmp_path):
    (tmp_path / "bad.svm").write_text("1 qid:1 1:1\n0 qid:1 1:x\n")
    refused = ranksvm("pack", folder / "a.svm", tmp_path / "bad.svm", tmp_path / "d.rsvm")
    assert_refused(refused, r"bad\.svm, line 2, column 9: expected index:value")
    assert_refused(ranksvm("pack", folder / "a.svm", folder / "b.svm"), "holds no packed data")
    assert_refused(ranksvm("train", folder, tmp_path / "m"), "is a directory: name the files")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.svm"]


def test_stale_data_are_said(folder, tmp_path):
    (tmp_path / "a.svm").write_bytes((folder / "a.svm").read_bytes())
    ranksvm("pack", tmp_path / "a.svm", tmp_path / "d.rsvm")
    with open(tmp_path / "a.svm", "a") as file:
        file.write("1 qid:99 1:1\n")
    process = ranksvm("train", tmp_path / "d.rsvm", tmp_path / "m.json")
    assert process.returncode == 0
    assert "a.svm changed after packing; pack again" in process.stderr


def test_tables_with_names_and_documents(tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    lines = [f"{k % 3},q{k // 10},d{k},{rng.random():.3f},{rng.random():.3f}" for k in range(60)]
    text = "\n".join(["grade,topic,docid,bm25,price", *lines]) + "\n"
    (tmp_path / "rows.csv").write_text(text)
    columns = ("--label", "grade", "--qid", "topic")
    process = ranksvm("pack", "rows.csv", "d.rsvm", *columns, cwd=tmp_path)
    assert process.stderr == "packed: 60 rows, 2 features, 6 queries; dense float64, 3.56 kB\n"
    ranksvm("train", "d.rsvm", "m.json", cwd=tmp_path)
    assert json.loads((tmp_path / "m.json").read_text())["feature_names"] == ["bm25", "price"]
    best = [
        ranksvm("predict", "m.json", data, "-", "--top", "2", *more, cwd=tmp_path).stdout
        for data, more in [("rows.csv", columns), ("d.rsvm", ())]
    ]
    assert best[0] == best[1]
    assert best[0].startswith("qid,rank,docid,score\nq0,1,d")
    refused = ranksvm("train", "d.rsvm", "n.json", "--label", "grade", cwd=tmp_path)
    assert_refused(
        refused, "d.rsvm is packed: its columns and queries were settled by 'ranksvm pack'"
    )
