"""Write every kind of file, and be killed at every step of it: run by test_kill.

Prints for each file in how many steps it was written, and "whole" if what a kill left was always
the old content, until it was always the new.
"""

import contextlib
import gzip
import io
import os
import signal
import sys

import numpy as np

from ranksvm import LinearModel, convert_model, dump_svmlight, save_model, write_trec_run
from ranksvm.cli import main as main_of_cli
from ranksvm.cli import rank_svm
from ranksvm.files.scores import write_scores
from ranksvm.files.table import save_table
from ranksvm.files.treeranksvm import write_features, write_qids
from ranksvm.plots.figures import save_figure

MODEL = LinearModel(np.arange(1.0, 6.0), list("abcde"), {"C": 1.0}, {"status": "converged"})
X, Y, QID = np.eye(6), np.array([0.0, 1, 2, 0, 1, 2]), np.array([1, 1, 1, 2, 2, 2])
CONFIG = """\
[Parameters]
threads=1
[Input]
train_set=set
test_set=set
[Output]
model=model
predicted_labels=predicted
"""


def run_config(_):
    with contextlib.redirect_stdout(io.StringIO()):
        rank_svm(["c.cfg"])


def evaluate(path):
    with contextlib.redirect_stdout(io.StringIO()):
        main_of_cli(["evaluate", "set", "scores", "--metrics", "map", "--per-query", path])


class Picture:
    """What is written of a figure, without the time that drawing takes."""

    savefig = staticmethod(lambda file, **_: file.write(b"<svg/>"))


WRITES = {
    "m.json": lambda path: save_model(MODEL, path),
    "m.json.gz": lambda path: save_model(MODEL, path),
    "m.safetensors": lambda path: save_model(MODEL, path),
    "m.liblinear": lambda path: convert_model("m.json", path, "liblinear"),
    "m.svmrank": lambda path: convert_model("m.json", path, "svmrank"),
    "scores": lambda path: write_scores(path, Y),
    "data.svm": lambda path: dump_svmlight(path, X, Y, QID),
    "features": lambda path: write_features(path, X),
    "qids": lambda path: write_qids(path, QID),
    "run": lambda path: write_trec_run(path, QID, list("abcdef"), Y),
    "table.csv": lambda path: save_table({"a": Y, "b": QID}, path),
    "table.json": lambda path: save_table({"a": Y, "b": QID}, path),
    "plot.svg": lambda path: save_figure(Picture, path),
    "per-query": evaluate,
    "model": run_config,
    "predicted": run_config,
}
STEPS = {"open", "write", "writelines", "flush", "fsync", "close", "__exit__", "chmod", "replace"}


def content(path):
    with open(path, "rb") as file:
        text = file.read()
    return gzip.decompress(text) if path.endswith(".gz") and text != b"old" else text


def killed_at(last, path):
    """Tell whether there is a step `last`, before which a fork that writes is killed."""
    steps = 0

    def step(frame, event, function):
        nonlocal steps
        if event == "c_call" and function.__name__ in STEPS:
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        sys.setprofile(step)
        WRITES[path](path)
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def main():
    os.chdir(sys.argv[1])
    dump_svmlight("set", X, Y, QID, zero_based=True)
    with open("c.cfg", "w") as file:
        file.write(CONFIG)
    for path, write in WRITES.items():
        write(path)
        new, left, killed = content(path), [], True
        while killed:
            with open(path, "wb") as file:
                file.write(b"old")
            killed = killed_at(len(left) + 1, path)
            left.append(content(path))
        write(path)  # others are made of it
        whole = left == sorted(left, key=new.__eq__) and set(left) == {b"old", new}
        sys.stdout.write(f"{path} {len(left)} {'whole' if whole else 'torn'}\n")
        sys.stdout.flush()


main()
