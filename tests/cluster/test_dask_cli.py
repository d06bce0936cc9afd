"""``ranksvm train --scheduler``: models, exit statuses, sentences."""

import gc
import json
import os
import signal
import subprocess
import sys

import distributed
import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from cli.in_process import completed
from ranksvm.cli import cluster as cli_cluster
from ranksvm.dask import ClusterError

RNG = np.random.default_rng(2)
N, D = 120, 4
X = RNG.normal(size=(N, D))
Y = (X[:, 0] + RNG.normal(size=N)).round().clip(-2, 2) + 2.0
QID = np.repeat(np.arange(N // 12), 12)
ENDLESS = ("--loss", "hinge", "--solver", "cutting_planes", "--tol", "1e-14", "--max-iter", "99999")


@pytest.fixture
def parts(tmp_path):
    for k, rows in enumerate(np.split(np.arange(N), 2)):
        path = str(tmp_path / f"{k}.svm")
        dump_svmlight_file(X[rows], Y[rows], path, zero_based=False, query_id=QID[rows])
    return tmp_path


@pytest.fixture
def address(client):
    return client.scheduler.address


def train(folder, address, *arguments, parts=("0.svm", "1.svm")):
    return completed("train", "--scheduler", address, *arguments, *parts, "model.json", cwd=folder)


def sentence(result):
    """Return what was told, which is one line, of a command that wrote no model."""
    assert len(result.stderr.splitlines()) == 1
    assert "model.json" not in os.listdir()
    return result.stderr


def test_the_model_is_that_of_one_machine(parts, address):
    options = ("--tol", "1e-10", "-C", "0.5", "--pair-weight", "gap", "--positive")
    done = train(parts, address, *options)
    assert done.returncode == 0, done.stderr
    assert "converged" in done.stderr
    assert "rounds" in done.stderr
    model = json.loads((parts / "model.json").read_text())
    assert completed("train", *options, "0.svm", "1.svm", "local.json", cwd=parts).returncode == 0
    local = json.loads((parts / "local.json").read_text())
    weights = [np.array(list(one["weights"].values())) for one in (model, local)]
    np.testing.assert_allclose(*weights, rtol=0, atol=1e-9)
    same = {"n_threads": None}
    assert {**model["parameters"], **same} == {**local["parameters"], **same}
    for name in ("n_pairs", "n_queries", "status", "zero_based"):
        assert model["training"][name] == local["training"][name]


def test_processes_of_this_machine(parts):
    done = train(parts, "local:2", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert completed("predict", "model.json", "0.svm", "-", cwd=parts).returncode == 0


def test_not_converged_is_3_and_writes_the_model(parts, address):
    short = train(parts, address, "--max-iter", "1", "--tol", "1e-12", "--verbose")
    assert short.returncode == 3
    assert "iteration        objective" in short.stderr
    assert (parts / "model.json").exists()
    allowed = train(parts, address, "--max-iter", "1", "--tol", "1e-12", "--allow-unconverged")
    assert allowed.returncode == 0


MISTAKES = {
    "no address": ("nonsense", (), "no scheduler of Dask answers at nonsense: missing port"),
    "nobody there": ("tcp://127.0.0.1:9", (), "no scheduler of Dask answers at tcp://127.0.0.1:9"),
    "no number": ("local:two", (), "--scheduler local:N takes a number of processes, not"),
    "kernel": ("local:1", ("--kernel", "rbf"), "--kernel is not for a cluster"),
    "survival": ("local:1", ("--event", "0.svm"), "--event is not for a cluster"),
    "bounds": ("local:1", ("--bounds", "0.svm"), "--bounds is not for a cluster"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_wrong_arguments_are_2(parts, monkeypatch, case):
    monkeypatch.chdir(parts)
    monkeypatch.setattr(cli_cluster, "SECONDS_TO_ANSWER", 0.2)
    address, options, message = MISTAKES[case]
    result = train(parts, address, *options)
    assert result.returncode == 2
    clients = [c for c in gc.get_objects() if type(c) is distributed.Client]
    assert all(c.status in ("running", "closed") for c in clients)
    assert message in sentence(result)


UNREADABLE = {
    "nowhere.svm": (None, "cannot read {path}: No such file"),
    "bad.svm": ("1 qid:1 1:x\n", "{path}, line 1, column 9: expected index:value"),
    "-": (None, "workers read files by their paths, and not standard input"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_parts_are_2(parts, address, monkeypatch, name):
    monkeypatch.chdir(parts)
    text, message = UNREADABLE[name]
    if text is not None:
        (parts / name).write_text(text)
    result = train(parts, address, parts=("0.svm", name))
    assert result.returncode == 2
    assert message.format(path=parts / name) in sentence(result)


def test_a_cluster_that_is_gone_is_no_fault_of_the_program(parts, address, monkeypatch):
    def gone(*_, **__):
        raise ClusterError("the cluster cannot go on: no worker has been there for 45 seconds")

    monkeypatch.chdir(parts)
    monkeypatch.setattr("ranksvm.dask.load", gone)
    result = train(parts, address)
    assert result.returncode == 2
    assert sentence(result).startswith("ranksvm: error: the cluster cannot go on")


def test_an_interruption_leaves_the_old_model(parts):
    """By a terminal, which interrupts the workers, too."""
    (parts / "model.json").write_text("{}")
    before = sorted(os.listdir(parts))
    words = ["train", "--scheduler", "local:1", *ENDLESS, "-v", "--force"]
    command = [sys.executable, "-m", "ranksvm", *words, "0.svm", "1.svm", "model.json"]
    options = {"cwd": parts, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, **options) as process:
        for line in process.stderr:
            if line.split()[:1] == ["3"]:
                break
        os.killpg(process.pid, signal.SIGINT)
        rest = [line for line in process.stderr if "cutting_planes" not in line]
    assert (rest, process.returncode) == (["ranksvm: interrupted\n"], 130)
    assert sorted(os.listdir(parts)) == before
    assert (parts / "model.json").read_text() == "{}"
