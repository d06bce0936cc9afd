"""The command that chooses C."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from ranksvm import RankSVMCV, dump_svmlight, load_model
from ranksvm.cli import main
from ranksvm.files.table import save_table

CS = "0.01,1,100"


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    X, y = load_wine(return_X_y=True)
    qid = np.arange(len(y)) % 7
    path = tmp_path_factory.mktemp("cv") / "wine.svm"
    dump_svmlight(path, X, y, qid)
    return path, X, y, qid


def run(*arguments):
    return main(["cv", *map(str, arguments)])


def test_it_chooses_as_the_estimator_does(wine, tmp_path, capsys):
    path, X, y, qid = wine
    model, table, plot = (tmp_path / name for name in ("m.json", "table.csv", "curve.png"))
    options = ["--Cs", CS, "--folds", 3, "--loss", "hinge", "--one-standard-error"]
    assert run(path, model, *options, "--table", table, "--plot", plot) == 0
    expected = RankSVMCV([0.01, 1, 100], cv=3, loss="hinge", one_standard_error=True)
    expected.fit(X, y, qid)
    stored = load_model(model)
    np.testing.assert_array_equal(stored.coef, expected.coef_)
    assert stored.parameters["C"] == expected.C_
    assert stored.training["n_queries"] == 7
    header, *rows = (line.split(",") for line in table.read_text().splitlines())
    table = {name: of for name, of in expected.cv_results_.items() if name != "params"}
    assert header == list(table)
    columns = np.array(rows, dtype=float).T
    np.testing.assert_array_equal(columns, list(table.values()))
    assert plot.read_bytes().startswith(b"\x89PNG")
    captured = capsys.readouterr()
    assert "trainings" not in captured.err  # not on a terminal
    lines = captured.out.splitlines()
    assert len(lines) == 4
    (chosen,) = (line for line in lines if line.endswith("*"))
    assert float(chosen.split()[0]) == expected.C_
    assert float(chosen.split()[1]) == pytest.approx(expected.best_score_, abs=1e-6)


def test_a_number_of_values_and_json(wine, tmp_path, capsys):
    path, *_ = wine
    assert run(path, "--Cs", 4, "--table", tmp_path / "table.json") == 0
    rows = json.loads((tmp_path / "table.json").read_text())
    np.testing.assert_allclose([row["param_C"] for row in rows], [1e-3, 0.1, 10, 1000])
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]


def test_a_best_C_at_the_end_of_the_grid_is_noted(wine, capsys):
    path, *_ = wine
    assert run(path, "--Cs", "1e-9,1e-3") == 0
    assert "note: C=0.001 is at an end of the grid" in capsys.readouterr().err
    assert run(path, "--Cs", "1e-9,1e-3", "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_features_are_scaled(wine, tmp_path, capsys):
    path, X, y, qid = wine
    model = tmp_path / "m"
    assert run(path, model, "--Cs", CS, "--scale", "standard", "--tol", 1e-10) == 0
    deviation = X.std(axis=0)
    expected = RankSVMCV([0.01, 1, 100], tol=1e-10).fit(X / deviation, y, qid)
    (chosen,) = (line for line in capsys.readouterr().out.splitlines() if line.endswith("*"))
    assert float(chosen.split()[1]) == pytest.approx(expected.best_score_, abs=1e-6)
    stored = load_model(model)
    np.testing.assert_allclose(stored.coef * deviation, expected.coef_, rtol=1e-5, atol=1e-9)
    assert stored.parameters["C"] == expected.C_
    assert stored.parameters["scale"] == "standard"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--Cs", "1,two"], "--Cs must be numbers with commas between"),
        (["--Cs", "0"], "Cs must be at least 1"),
        (["--Cs", "-1"], "C must be finite and greater than 0"),
        (["--folds", "8"], "cv=8 folds need at least 8 queries, found 7"),
        (["--metric", "luck"], "luck"),
        (["--table", "table.txt"], "a table must end in .csv or .json"),
        (["--plot", "curve.xyz"], "the suffix must be one of"),
    ],
)
def test_mistakes_are_named(wine, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    assert run(wine[0], "model.json", *options) == 2
    captured = capsys.readouterr()
    assert re.search(message, captured.err)
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_scikit_learn_is_not_loaded(wine):
    """It takes longer than a small cross-validation."""
    code = (
        "import sys; from ranksvm.cli import main; "
        f"assert main(['cv', {str(wine[0])!r}, '-q']) == 0; "
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_what_is_no_number_in_tables(tmp_path):
    columns = {"C": np.array([0.1, 1 / 3]), "n": np.array([1, 2]), "score": np.array([np.nan, 1.0])}
    save_table(columns, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "C,n,score\n0.1,1,\n0.3333333333333333,2,1.0\n"
    save_table(columns, tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text()) == [
        {"C": 0.1, "n": 1, "score": None},
        {"C": 1 / 3, "n": 2, "score": 1.0},
    ]
