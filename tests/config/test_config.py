"""Config files: those of TreeRankSVM's manual run unchanged, and what is wrong is told."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from config_files import TEST, TRAINING, assert_refused, output_of, run, write_data
from ranksvm import dump_svmlight, load_model, load_svmlight, pairwise_accuracy
from ranksvm.cli import main, rank_svm
from ranksvm.config.file import read_config
from ranksvm.files.source import DataError
from ranksvm.files.treeranksvm import (
    read_features,
    read_labels,
    read_qids,
    write_labels,
)
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.feature_names import FeatureNames
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.pairs.preferences import Preferences

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "treeranksvm"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with data."""
    monkeypatch.chdir(tmp_path)
    write_data()
    return tmp_path


def reference(**parameters):
    """Train on the data of the fixture without a config file."""
    settings = {"loss": "hinge", "normalize": "pairs", "tol": 0.0, "epsilon": 1e-3}
    X = DesignMatrix.from_array(read_features("f").X)
    preferences = Preferences.from_labels(read_labels("l"), read_qids("q"))
    return train(X, preferences, Parameters(**{**settings, **parameters}))


def table_of(labels, scores, qid):
    """Return the pooled ranking error and its mean over queries."""
    return tuple(
        1 - pairwise_accuracy(labels, scores, qid, average=average)
        for average in ("pooled", "query")
    )


def printed_errors(out):
    match = re.search(r"^ranking error +([\d.]+) +([\d.]+)$", out, re.MULTILINE)
    return float(match[1]), float(match[2])


def test_the_examples_of_the_manual(tmp_path):
    """All four config files of the manual, verbatim, by the installed program."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("data"))
    program = [sys.executable, "-c", "import sys, ranksvm.cli as c; sys.exit(c.rank_svm())"]

    def shell(*command):
        process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (process.returncode, process.stderr) == (0, "")
        return process.stdout

    shell(sys.executable, "make_data.py")
    assert "converged: objective" in shell(*program, "train.cfg")
    model = load_model(tmp_path / "data" / "model.pckl")
    assert model.parameters["C"] == 10
    assert model.training["zero_based"] is True
    assert "wrote 142 predictions" in shell(*program, "predict.cfg")
    predicted = (tmp_path / "data" / "predicted.labels").read_bytes()
    measured = shell(*program, "performance.cfg")

    weights = (tmp_path / "data" / "model.pckl").read_bytes()
    together = shell(*program, "all.cfg")
    assert (tmp_path / "data" / "model.pckl").read_bytes() == weights
    assert (tmp_path / "data" / "predicted.labels").read_bytes() == predicted
    assert together.endswith(measured)
    data = tmp_path / "data"
    expected = table_of(
        *(
            read(data / name)
            for read, name in (
                (read_labels, "test.labels"),
                (read_labels, "predicted.labels"),
                (read_qids, "test.qids"),
            )
        )
    )
    assert printed_errors(measured) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("lines", "parameters"),
    [
        ("", {}),
        ("regparam=0.01", {"C": 100.0}),
        ("regparam = 3 # strong\nepsilon\t=\t1e-7", {"C": 1 / 3, "epsilon": 1e-7}),
        ("C=2\ntol=1e-6", {"C": 2.0, "tol": 1e-6, "epsilon": 0.0}),
        ("tol=1e-6\nepsilon=0.1", {"tol": 1e-6, "epsilon": 0.1}),
        (
            "loss=squared_hinge\nnormalize=none\nC=0.1",
            {"loss": "squared_hinge", "normalize": None} | {"C": 0.1},
        ),
        ("solver=cutting_planes\ncounting=tree", {"solver": "cutting_planes", "counting": "tree"}),
        ("threads=2\nmax_iter=900", {"n_threads": 2, "max_iter": 900}),
    ],
)
def test_parameters_are_those_of_the_library(folder, capsys, lines, parameters):
    output_of(f"[Parameters]\n{lines}\n{TRAINING}[Output]\nmodel=m\n", capsys)
    model, fit = load_model("m"), reference(**parameters)
    np.testing.assert_array_equal(model.coef, fit.result.weights)
    assert model.training["objective"] == fit.result.value
    settings = {"loss": "hinge", "normalize": "pairs", "tol": 0.0, "epsilon": 1e-3, **parameters}
    assert model.parameters == Parameters(**settings).described(FeatureNames(0))


def test_epsilon_is_a_gap_of_the_objective_of_treeranksvm(folder, capsys):
    """(1/N) sum of losses + lambda |w|^2 is the objective divided by C."""
    for epsilon in (0.3, 1e-2, 1e-5):
        text = f"[Parameters]\nregparam=0.001\nepsilon={epsilon}\n{TRAINING}[Output]\nmodel=m\n"
        output_of(text, capsys)
        training = load_model("m").training
        assert training["dual_gap"] * training["objective"] * 0.001 <= epsilon
        assert training["status"] == "converged"


@pytest.mark.parametrize("command", [["run"], []])
def test_both_programs(folder, capsys, command):
    Path("c.cfg").write_text(f"{TRAINING}[Output]\nmodel=m\n")
    assert (main([*command, "c.cfg"]) if command else rank_svm(["c.cfg"])) == 0
    out = capsys.readouterr().out
    assert out.startswith("iteration ")
    assert out.endswith("wrote the model to m\n")


def test_nothing_is_printed_unless_verbose(folder, capsys):
    quiet = "[Parameters]\nverbose=False\n"
    outputs = "[Output]\nmodel=m\npredicted_labels=p\n"
    assert output_of(f"{quiet}{TRAINING}prediction_features=tf\n{outputs}", capsys) == ""
    assert len(read_labels("p")) == 30
    measured = output_of(f"{quiet}{TRAINING}{TEST}{outputs}", capsys)
    assert len(measured.splitlines()) == 3


def test_layout_does_not_matter(folder, capsys):
    plain = f"[Parameters]\nregparam=0.1\n{TRAINING}[Output]\nmodel=m\n"
    odd = (
        "\ufeff[Output] # first\r\n\tmodel = m#ine\r\n[Readers]\n\n[ Input ]\n#a=b\n"
        "train_qids=q\n  train_labels =l\ntrain_features= f\n[Parameters]\nregparam=0.1"
    )
    output_of(plain, capsys)
    weights = Path("m").read_bytes()
    os.remove("m")
    output_of(odd, capsys)
    assert Path("m").read_bytes() == weights


def test_sets_and_separate_files_are_the_same(folder, capsys):
    outputs = "[Output]\nmodel=m\npredicted_labels=p\n"
    expected = output_of(f"{TRAINING}{TEST}{outputs}", capsys)
    coef, predicted = load_model("m").coef, Path("p").read_bytes()
    for inputs in (
        "train_set=set\ntest_set=tset\n",
        "train_set=set_without_qids\ntrain_qids=q\ntest_set=tset_without_qids\ntest_qids=tq\n",
        "train_features=set\ntrain_labels=set\ntrain_qids=set\nprediction_features=tset\n"
        "test_labels=tset\nprediction_qids=tset\n[Readers]\ntrain_features=svmlight\n"
        "train_labels=svmlight\ntrain_qids=svmlight\nprediction_features=svmlight\n"
        "test_labels=svmlight\ntest_qids = svmlight\n",
    ):
        out = output_of(f"[Input]\n{inputs}{outputs}", capsys)
        assert out.splitlines()[-3:] == expected.splitlines()[-3:]
        np.testing.assert_array_equal(load_model("m").coef, coef)
        assert Path("p").read_bytes() == predicted


def test_measures(folder, capsys):
    write_labels("p", np.arange(30.0))
    labels, scores, qid = read_labels("tl"), np.arange(30.0), read_qids("tq")
    with_queries = output_of("[Input]\npredicted_labels=p\ntest_labels=tl\ntest_qids=tq\n", capsys)
    assert printed_errors(with_queries) == pytest.approx(table_of(labels, scores, qid), abs=1e-6)
    note = "note: tl has no qids: all rows are one ranking\n"
    without = output_of("[Input]\npredicted_labels=p\ntest_labels=tl\n", capsys, note)
    assert printed_errors(without) == pytest.approx(table_of(labels, scores, None), abs=1e-6)
    assert output_of("[Input]\npredicted_labels=p\ntest_set=tset\n", capsys) == with_queries


def test_queries_of_rows_without_labels_do_no_harm(folder, capsys):
    inputs = f"{TRAINING}prediction_features=tf\n"
    output_of(f"{inputs}[Output]\npredicted_labels=p\n", capsys)
    expected = Path("p").read_bytes()
    output_of(f"{inputs}prediction_qids=tq\n[Output]\npredicted_labels=p\n", capsys)
    assert Path("p").read_bytes() == expected


def test_a_test_set_may_have_arbitrary_labels(folder, capsys):
    """The manual allows that, where the labels are not known."""
    X = read_features("tf").X
    dump_svmlight("unknown", X, np.zeros(30), zero_based=True)
    inputs = f"{TRAINING}test_set=unknown\n"
    out = output_of(f"{inputs}[Output]\npredicted_labels=p\n", capsys)
    assert "note: unknown is not measured: no preference pairs" in out
    assert len(read_labels("p")) == 30
    assert_refused(inputs, "unknown cannot be measured: no preference pairs: .*", capsys)
    write_labels("tl", np.zeros(30))
    message = "tl cannot be measured: no preference pairs: .*"
    assert_refused(f"{TRAINING}{TEST}[Output]\npredicted_labels=p2\n", message, capsys)


@pytest.mark.parametrize("inputs", [TRAINING, "[Input]\nmodel=m\n"])
def test_features_that_only_training_or_test_has(folder, capsys, inputs):
    """More features than training has seen are refused; those that the test lacks are zero."""
    output_of(f"{TRAINING}[Output]\nmodel=m\n", capsys)
    coef = load_model("m").coef
    predict = inputs + "prediction_features={}\n[Output]\npredicted_labels=p\n"
    Path("wide").write_text("0:1 3:1 70:5\n2:1\n71:1\n")
    message = "wide has 72 features but the model was trained with 4"
    assert_refused(predict.format("wide"), message, capsys)
    Path("narrow").write_text("1:1\n0:0\n")
    out = output_of(predict.format("narrow"), capsys)
    assert "note: narrow ends at feature 1; the other 2 of the model count as zero" in out
    np.testing.assert_allclose(read_labels("p"), [coef[1], 0])


def test_models_that_count_from_one(folder, capsys):
    X = read_features("f").X
    dump_svmlight("from_one", X, read_labels("l"))
    assert main(["train", "from_one", "m", "-q"]) == 0
    model = "[Input]\nmodel=m\n"
    outputs = "[Output]\npredicted_labels=p\n"
    note = "note: from_one has no qids: all rows are one ranking\n"
    output_of(f"{model}test_set=from_one\n{outputs}", capsys, note)
    np.testing.assert_allclose(read_labels("p"), X @ load_model("m").coef)
    message = "tf counts features from zero but the model was trained on a file that .*"
    assert_refused(f"{model}prediction_features=tf\n{outputs}", message, capsys)


def test_trained_models_predict_on_the_command_line(folder, capsys):
    output_of(f"{TRAINING}prediction_features=tf\n[Output]\nmodel=m\npredicted_labels=p\n", capsys)
    assert main(["predict", "m", "tset", "scores"]) == 0
    assert Path("scores").read_bytes() == Path("p").read_bytes()


def test_stopping_early_is_said(folder, capsys):
    text = f"[Parameters]\nmax_iter=1\nepsilon=1e-9\n{TRAINING}[Output]\nmodel=m\n"
    status, _, err = run(text, capsys)
    assert status == 3
    assert err.startswith("ranksvm: warning: not converged")
    assert main(["run", "c.cfg", "--allow-unconverged"]) == 0


def test_standard_streams(folder):
    """The status gives way where a model is written to the standard output."""
    command = [sys.executable, "-m", "ranksvm", "run", "-"]
    text = f"{TRAINING}[Output]\nmodel=-\n"
    process = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0
    assert json.loads(process.stdout)["n_features"] == 4
    assert "converged: objective" in process.stderr


def test_what_is_asked_for(folder):
    Path("c.cfg").write_text("[Input]\nmodel=m\nprediction_features=f\ntest_qids=q\ntest_labels=l")
    config = read_config("c.cfg")
    assert (config.trains, config.predicts, config.measures) == (False, True, True)
    assert config.inputs["prediction_qids"].attribute == "test_qids"
    with pytest.raises(DataError, match="cannot read none"):
        read_config("none")


def test_sets_may_be_tables(folder, capsys):
    X, y, qid = load_svmlight("set", zero_based=True)
    names = [f"f{k}" for k in range(X.shape[1])]
    table = pa.table({"y": y, "qid": qid, **dict(zip(names, X.T, strict=True))})
    parquet.write_table(table.slice(0, 30), "part-1.parquet")
    parquet.write_table(table.slice(30).select(["qid", *names[::-1], "y"]), "part-2.parquet")
    output_of("[Input]\ntrain_set=set\ntest_set=set\n[Output]\npredicted_labels=expected\n", capsys)
    text = "train_set=part-*.parquet\ntest_set=part-*.parquet\n"
    output_of(f"[Input]\n{text}[Output]\nmodel=m\npredicted_labels=p\n", capsys)
    assert Path("p").read_bytes() == Path("expected").read_bytes()
    assert load_model("m").feature_names == names
    parquet.write_table(table.select(["y", "qid", "f2", "f0", "f3", "f1"]), "t.parquet")
    output_of("[Input]\nmodel=m\ntest_set=t.parquet\n[Output]\npredicted_labels=p\n", capsys)
    assert Path("p").read_bytes() == Path("expected").read_bytes()
