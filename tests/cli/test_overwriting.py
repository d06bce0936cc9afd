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
