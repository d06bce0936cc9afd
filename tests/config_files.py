"""Data files to name in config files, and the program that runs these."""

import re
from pathlib import Path

import numpy as np

from ranksvm import dump_svmlight
from ranksvm.cli import rank_svm
from ranksvm.files.treeranksvm import write_features, write_labels, write_qids

TRAINING = "[Input]\ntrain_features=f\ntrain_labels=l\ntrain_qids=q\n"
TEST = "prediction_features=tf\ntest_labels=tl\ntest_qids=tq\n"


def write_data():
    """Write f, l, q and sets to the working directory and, with t before, the same for a test."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal(4)
    for prefix, n in (("", 60), ("t", 30)):
        X = rng.standard_normal((n, 4))
        y = np.round(X @ w + rng.standard_normal(n))
        qid = np.sort(rng.integers(0, 5, n))
        write_features(prefix + "f", X)
        write_labels(prefix + "l", y)
        write_qids(prefix + "q", qid)
        dump_svmlight(prefix + "set", X, y, qid, zero_based=True)
        dump_svmlight(prefix + "set_without_qids", X, y, zero_based=True)


def run(text, capsys):
    """Run a config file; return the exit status, standard output and standard error."""
    Path("c.cfg").write_text(text)
    status = rank_svm(["c.cfg"])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def output_of(text, capsys, said=""):
    """Run a config file without a fault; return the standard output."""
    status, out, err = run(text, capsys)
    assert (status, err) == (0, said)
    return out


def assert_refused(text, message, capsys):
    """One sentence on standard error, exit status 2, and no file written or changed."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.name != "c.cfg"}
    status, out, err = run(text, capsys)
    assert (status, out) == (2, "")
    assert re.fullmatch(f"ranksvm: error: {message}\n", err), err
    assert before == {path: path.read_bytes() for path in Path().iterdir() if path.name != "c.cfg"}
