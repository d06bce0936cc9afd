"""The pages of the benchmarks: what runs, fails or takes too long, and what becomes of figures."""

import os
import time
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from benchmarks import all as run_all
from benchmarks import publish
from benchmarks.airola_fig1 import CONTESTANTS, Run, cell, draw, slope_of
from benchmarks.race import FINISHED, OUT_OF_TIME, UNABLE


@pytest.fixture
def make_script(tmp_path, monkeypatch):
    """A function that makes a script of benchmarks of its code, and returns its command."""

    def make(code):
        path = tmp_path / "benchmarks" / "script.py"
        path.parent.mkdir()
        path.write_text(code)
        monkeypatch.chdir(tmp_path)
        return "script"

    return make


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


def test_tables_become_a_section(make_script):
    command = make_script("print('\\n## a table\\n\\n| x |')")
    result = run_all.run(f"{command} --rows 10", 60)
    assert result.trouble == ""
    assert result.section() == f"## {command} --rows 10\n\n### a table\n\n| x |"


def test_a_page_of_its_own_is_linked(make_script, tmp_path):
    page = tmp_path / "fig1" / "fig1.md"
    result = run_all.run(make_script(f"print('Written: {page}')"), 60)
    assert result.row(tmp_path)[0].endswith("(fig1/fig1.md)")
    assert result.section() == ""


def test_a_failure_is_shown(make_script):
    result = run_all.run(make_script("print('so far')\nraise ValueError('too bad')"), 60)
    assert result.trouble == "failed with exit status 1"
    assert "so far" in result.section()
    assert "ValueError: too bad" in result.section()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at /proc")
def test_out_of_time_leaves_the_output_and_no_process(make_script):
    code = (
        "import subprocess, sys, time\n"
        "sleeper = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "left, kept = (subprocess.Popen(sleeper, start_new_session=own) for own in (False, True))\n"
        "print(left.pid, kept.pid, flush=True)\n"
        "try:\n"
        "    time.sleep(600)\n"
        "finally:\n"
        "    kept.kill()\n"
    )
    result = run_all.run(make_script(code), 5)
    assert result.trouble == "stopped after 5 s"
    pids = [int(pid) for pid in result.output.split()]
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(pids) == 2
    assert not any(map(is_alive, pids))


def test_nothing_runs_once_the_time_for_all_is_over():
    assert run_all.run("no_such_script", -1.0).trouble.startswith("not run")


def test_the_page_tells_of_all(tmp_path):
    results = [
        run_all.Result("good", 1.0, "## a table"),
        run_all.Result("bad", 2.0, trouble="stopped after 2 s"),
    ]
    run_all.write(tmp_path / "index.md", "the machine", results)
    text = (tmp_path / "index.md").read_text()
    assert text.index("the machine") < text.index("[`good`](#good)") < text.index("### a tab")
    assert "**stopped after 2 s**" in text


def test_every_command_is_a_script():
    assert all(find_spec(f"benchmarks.{run_all.first(command)}") for command in run_all.COMMANDS)


def test_figures_are_copied_with_their_machine(tmp_path, monkeypatch, capsys):
    docs, folder = tmp_path / "docs", tmp_path / "build"
    (folder / "fig1").mkdir(parents=True)
    docs.mkdir()
    Image.new("RGB", (30, 20), "red").save(folder / "fig1" / "fig1.png")
    (folder / "fig1" / "fig1.md").write_text("# Title\n\nthe machine\n\nmore\n")
    figures = (".. figure:: benchmarks/fig1/fig1.png\n", ".. figure:: benchmarks/none/none.png\n")
    for page, figure in zip(("benchmarks.rst", "conditions.rst"), figures, strict=True):
        (docs / page).write_text(figure)
    monkeypatch.setattr(publish, "DOCS", docs)
    monkeypatch.setattr(publish, "FOLDER", folder)
    assert publish.main() == 1
    with Image.open(docs / "benchmarks" / "fig1" / "fig1.png") as picture:
        assert picture.size == (30, 20)
        assert picture.convert("RGB").getpixel((3, 4)) == (255, 0, 0)
    assert (docs / "benchmarks" / "fig1" / "machine.txt").read_text() == "the machine.\n"
    assert "none.png" in capsys.readouterr().out


def make_runs(contestant, exponent, stopped_at):
    return [
        Run(
            rows, contestant, FINISHED if rows < stopped_at else OUT_OF_TIME, "", rows**exponent,
            10, rows**exponent / 10, 1.0, 0.2, 1e-4,
        )
        for rows in (1000, 2000, 4000, 8000)
        if rows <= stopped_at
    ]  # fmt: skip


def test_slopes_are_those_of_what_ended():
    runs = make_runs("TreeRSVM", 1.0, 10_000) + make_runs("PairRSVM", 2.0, 8000)
    runs[-1] = Run(8000, "PairRSVM", OUT_OF_TIME, "", 20.0, 10, 6.4e6, 1.0, 0.2, 1.0)
    assert slope_of(runs, "TreeRSVM", "seconds") == pytest.approx(1)
    assert slope_of(runs, "PairRSVM", "seconds") == pytest.approx(2)
    # An iteration costs what it costs, stopped or not.
    assert slope_of(runs, "PairRSVM", "seconds_per_iteration") == pytest.approx(2)
    assert np.isnan(slope_of(runs, "PRSVM", "seconds"))


def test_cells_say_what_came_of_a_run():
    stopped = Run(8000, "PRSVM", OUT_OF_TIME, "", 20.0, 10, 2.0, 1.0, 0.2, 1.0)
    unable = Run(8000, "PRSVM", UNABLE, "its pairs", 0.0, 0, 2.0, 1.0, 0.2, 1.0)
    assert cell(stopped, "seconds") == "> 20"
    assert cell(stopped, "iterations") == 10
    assert cell(unable, "seconds") == "unable: its pairs"
    assert cell(None, "seconds") is None


def test_the_figure_draws_what_is_known(tmp_path):
    runs = [run for name in CONTESTANTS for run in make_runs(name, 1.5, 4000)]
    figure = draw(runs)
    figure.savefig(tmp_path / "fig1.png")
    cost, seconds, error = figure.axes
    labelled = [line for line in seconds.lines if not line.get_label().startswith("_")]
    assert {line.get_label() for line in labelled} == set(CONTESTANTS)
    assert all(list(line.get_xdata()) == [1000, 2000, 4000] for line in labelled)
    hollow = [line for line in cost.lines if line.get_markerfacecolor() == "white"]
    assert hollow
    # The error of what was stopped is no error of the method.
    assert all(max(line.get_xdata()) == 2000 for line in error.lines)
