"""``ranksvm explain`` and ``ranksvm plot importance``."""

import numpy as np
import pytest

from ranksvm import LinearModel, save_model
from ranksvm.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["bm25", "price", "unused"]
    save_model(LinearModel(np.array([2.0, -1.0, 0.0]), names), "m.json")
    with open("d.svm", "w") as file:
        file.write("2 qid:1 1:3 2:1 3:7 #docid = a\n1 qid:1 1:1 2:1 3:7 #docid = b\n")
        file.write("0 qid:2 1:3 2:1 3:7 #docid = c\n1 qid:2 1:3 2:0 3:7 #docid = d\n")


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_explain(files, capsys):
    status, out, _ = run(capsys, "explain", "m.json", "d.svm")
    assert status == 0
    assert out == "a: +2\n  bm25  +2\nb: -2\n  bm25  -2\n"


def test_explain_a_query_and_a_pair(files, capsys):
    status, out, _ = run(
        capsys, "explain", "m.json", "d.svm", "--query", "2", "--pair", "2", "1", "--plot", "p.png"
    )
    assert status == 0
    assert out == "d above c: +1\n  price  +1\n"
    with open("p.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"
    status, out, _ = run(capsys, "explain", "m.json", "d.svm", "--plot", "q.svg", "--rows", "1")
    assert status == 0
    assert out.count("\n") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query", "7"], "has no query 7"),
        (["--pair", "1", "3"], "from 1 to 2, not 3"),
        (["--top", "0"], "--top must be at least 1"),
        (["--plot", "p.nonsense"], "the suffix must be one of"),
    ],
)
def test_explain_refuses(files, capsys, options, message):
    status, out, err = run(capsys, "explain", "m.json", "d.svm", *options)
    assert status == 2
    assert message in err
    assert not out


@pytest.mark.parametrize("options", [[], ["--permutation"]])
def test_plot_importance(files, capsys, options):
    status, _, err = run(capsys, "plot", "importance", "m.json", "d.svm", "i.png", *options)
    assert status == 0, err
    with open("i.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"
