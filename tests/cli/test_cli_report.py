"""``ranksvm report``."""

import numpy as np
import pytest

from ranksvm import LinearModel, save_model
from ranksvm.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(LinearModel(np.array([2.0, -1.0]), ["bm25", "price"]), "m.json")
    save_model(LinearModel(np.array([1.0, 1.0]), ["bm25", "clicks"]), "other.json")
    rows = ["2 qid:1 1:3 2:1 #docid = a<b>", "1 qid:1 1:1 2:1 #docid = b"]
    rows += ["0 qid:2 1:3 2:1 #docid = c", "1 qid:2 1:3 2:0 #docid = d"]
    lines = "".join(f"{row}\n" for row in rows)
    tmp_path.joinpath("d.svm").write_text(lines)
    tmp_path.joinpath("d.csv").write_text("label,bm25,price\n1,2,3\n0,1,2\n")
    tmp_path.joinpath("flat.svm").write_text("1 qid:1 1:1\n1 qid:1 1:2\n")
    tmp_path.joinpath("wide.svm").write_text("1 qid:1 7:1\n0 qid:1 1:2\n")
    tmp_path.joinpath("scores").write_text("1\n2\n3\n4\n")
    tmp_path.joinpath("weights.txt").write_text(
        "solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\nnr_feature 2\nbias -1\nw\n1\n-1\n"
    )


def run(capsys, *arguments):
    status = main(["report", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_report_of_files(files, tmp_path, capsys):
    command = "m.json", "d.svm", "r.html", "--train", "d.svm", "--compare", "scores"
    status, out, err = run(capsys, *command)
    assert (status, out) == (0, "")
    assert "r.html: " in err
    page = tmp_path.joinpath("r.html").read_bytes()
    text = page.decode()
    assert "ranksvm report m.json d.svm r.html --train d.svm --compare scores" in text
    assert "a&lt;b&gt;" in text
    assert "bm25 +" in text
    assert "BLAKE2b-128" in text
    assert "Report of m.json" in text
    run(capsys, *command, "--threads", "2", "-q")
    run(capsys, *command)
    assert tmp_path.joinpath("r.html").read_bytes() == page


def test_models_without_names_rows_without_queries_and_stdout(files, capsys):
    status, _, _ = run(capsys, "weights.txt", "d.svm", "r.html", "--compare", "m.json", "-q")
    assert status == 0
    status, out, err = run(capsys, "m.json", "d.csv", "-", "--title", "Mine & yours")
    assert status == 0
    assert "one ranking" in err
    assert out.startswith("<!DOCTYPE html>")
    assert "<h1>Mine &amp; yours</h1>" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["m.json", "flat.svm", "r.html"], "no pairs"),
        (["m.json", "wide.svm", "r.html"], "7 features"),
        (["m.json", "d.svm", "r.html", "--compare", "nothing"], "nothing"),
        (["m.json", "d.csv", "r.html", "--compare", "other.json"], "clicks"),
        (["m.json", "d.svm", "r.html", "--train", "wide.svm"], "7 features"),
        (["m.json", "d.svm", "r.html", "--metrics", "nonsense"], "nonsense"),
        (["m.json", "d.svm", "m.json"], "would overwrite"),
        (["m.json", "d.svm", "no/r.html"], "does not exist"),
        (["d.svm", "d.svm", "r.html"], "d.svm"),
    ],
)
def test_bad_input_is_a_sentence(files, tmp_path, capsys, arguments, message):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
