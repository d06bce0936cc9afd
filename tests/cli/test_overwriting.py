"""No command overwrites what it reads, nor writes two things to one file."""

import os

import pytest

from ranksvm.cli.program import main

ROWS = "1 qid:1 1:1 2:3\n0 qid:1 1:2 2:1\n2 qid:1 1:0 2:4\n" * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "rows").write_text(ROWS)
    (folder / "scores").write_text("1\n2\n3\n" * 3)
    assert main(["train", "-q", str(folder / "rows"), str(folder / "m.json")]) == 0
    (folder / "link").symlink_to("rows")
    os.link(folder / "rows", folder / "hard")
    (folder / "run.cfg").write_text("[Input]\ntrain_set=rows\n[Output]\nmodel=./link\n")
    (folder / "self.cfg").write_text("[Input]\ntrain_set=rows\n[Output]\nmodel=self.cfg\n")
    (folder / "two.cfg").write_text(
        "[Input]\ntrain_set=rows\ntest_set=rows\n[Output]\nmodel=new\npredicted_labels=./new\n"
    )
    return folder


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train rows rows", "MODEL would overwrite DATA"),
        ("train rows ./rows", "MODEL would overwrite DATA"),
        ("train rows link", "MODEL would overwrite DATA"),
        ("train link rows", "MODEL would overwrite DATA"),
        ("train rows hard", "MODEL would overwrite DATA"),
        ("train rows new.svg --plot ./new.svg", "--plot would overwrite MODEL"),
        ("train rows - --plot -", "--plot would overwrite MODEL"),
        ("predict m.json rows rows", "SCORES would overwrite DATA"),
        ("predict m.json rows m.json", "SCORES would overwrite MODEL"),
        ("evaluate rows scores --per-query rows", "--per-query would overwrite DATA"),
        ("evaluate rows m.json --per-query m.json", "--per-query would overwrite SCORES|MODEL"),
        ("evaluate rows m.json --compare scores --per-query scores", "overwrite --compare"),
        ("cv rows rows", "MODEL would overwrite DATA"),
        ("cv rows --table rows", "--table would overwrite DATA"),
        ("cv rows new.json --table new.json", "--table would overwrite MODEL"),
        ("cv rows --table new.csv --plot new.csv", "--plot would overwrite --table"),
        ("path rows rows", "OUT would overwrite DATA"),
        ("path rows --validation scores --plot scores", "--plot would overwrite --validation"),
        ("info m.json --weights m.json", "--weights would overwrite MODEL"),
        ("convert m.json ./m.json", "TARGET would overwrite SOURCE"),
        ("plot coefficients m.json m.json", "OUT would overwrite MODEL"),
        ("plot coefficients m.json rows --data rows", "--data"),
        ("plot scores rows scores scores", "OUT would overwrite SCORES|MODEL"),
        ("plot ndcg rows scores m.json rows", "OUT would overwrite DATA"),
        ("plot queries rows scores m.json m.json", "OUT would overwrite SCORES|MODEL"),
        ("run run.cfg", "run.cfg, line 4: model would overwrite train_set"),
        ("run self.cfg", "self.cfg, line 4: model would overwrite the config file"),
        ("run two.cfg", "two.cfg, line 6: predicted_labels would overwrite model"),
    ],
)
def test_nothing_is_overwritten(folder, monkeypatch, capsys, command, message):
    monkeypatch.chdir(folder)
    before = content(folder)
    assert main(command.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.endswith(": name another file\n")
    assert content(folder) == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("train rows other", "other exists and is no model: name another file to write, or say"),
        ("train rows rows2 other", "other exists and is no model"),
        ("cv rows rows2 other", "other exists and is no model"),
        ("cv rows scores", "scores exists and is no model"),
        ("path rows other", "a table must end in .csv or .json"),
        ("path rows other.csv", "other.csv exists and is no table of a path"),
        ("path rows m.json", "m.json exists and is no table of a path"),
        ("predict m.json rows other", "other exists and is no file of scores"),
        ("predict m.json rows rows2 other", "other exists and is no file of scores"),
        ("predict m.json rows m2.json", "m2.json exists and is no file of scores"),
    ],
)
def test_what_the_command_never_writes_is_not_replaced(
    folder, monkeypatch, capsys, command, message
):
    monkeypatch.chdir(folder)
    for name in ("other", "other.csv", "rows2"):
        (folder / name).write_text(ROWS)
    (folder / "m2.json").write_bytes((folder / "m.json").read_bytes())
    before = content(folder)
    assert main(command.split()) == 2
    assert message in capsys.readouterr().err
    assert content(folder) == before


@pytest.mark.parametrize(
    "command",
    [
        "train rows m.json",
        "train rows other --force",
        "train rows empty",
        "cv rows m.json --Cs 1,2 --folds 3",
        "path rows path.csv",
        "predict m.json rows scores",
        "predict m.json rows one",
        "predict m.json rows top",
        "predict m.json rows other --force",
        "predict m.json rows top --top 1",
    ],
)
def test_what_the_command_writes_is_replaced(folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    (folder / "other").write_text(ROWS)
    (folder / "empty").write_text("")
    (folder / "one").write_text("-1e-5")
    (folder / "top").write_text("qid,rank,row,score\n1,1,0,0.5\n")
    (folder / "path.csv").write_text("lambda,n_zero,n_between\n1,2,3\n")
    output = folder / command.split()[3 if command.startswith("predict") else 2]
    before = output.read_bytes()
    assert main([*command.split(), "-q"]) == 0
    assert output.read_bytes() != before or output.name in ("m.json", "scores")


def test_devices_are_read_and_written_at_once(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["train", "-q", "rows", os.devnull]) == 0


def test_the_standard_input_may_be_the_file(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with open("rows", "rb") as rows:
        stream, before = os.dup(0), content(folder)
        os.dup2(rows.fileno(), 0)
        try:
            assert main(["train", "-", "rows"]) == 2
        finally:
            os.dup2(stream, 0)
            os.close(stream)
    assert "MODEL would overwrite DATA" in capsys.readouterr().err
    assert content(folder) == before
