"""The page of the P-SWX paper: what it makes of races that ended in different ways."""

import numpy as np
import pytest

from benchmarks import jin_lin_pswx as pswx
from benchmarks.jin_lin_pswx import (
    Result,
    claims,
    contestants,
    data_sets,
    ratios,
    seconds_to_stop,
    shown,
)
from benchmarks.race import FINISHED, OUT_OF_TIME, UNABLE, Curve, Outcome, Point
from benchmarks.report import Page
from benchmarks.systems import registry
from benchmarks.systems.command import Command
from benchmarks.task import Judge, Rows, Task
from ranksvm import dump_svmlight


def make_curve(name, seconds=(), distance=(), status=FINISHED, why="", linear=True, accuracy=0.6):
    trace = [Point(s, k, np.zeros(2)) for k, s in enumerate(seconds)]
    outcome = Outcome(name, "made", status, why, 9.0, 0, trace, linear)
    counts = np.arange(len(seconds))
    accuracies = np.full(len(seconds), accuracy)
    return Curve(outcome, np.array(seconds), counts, np.array(distance), accuracies, accuracies)


def make_result(name="MQ2008", ost=2.0, dcm=1.0, accuracy=0.6):
    labels = [label for label, _, _ in contestants([])]
    curves = {
        label: make_curve(label, (0.1, 1.0), (1e-2, 1e-7), accuracy=accuracy) for label in labels
    }
    curves["DCM"] = make_curve("DCM", (dcm,), (1e-7,))
    curves["OST"] = make_curve("OST", (ost,), (1e-7,))
    curves["P-SWX"] = make_curve("P-SWX", status=UNABLE, why="no GPU")
    curves["XGBoost"] = make_curve("XGBoost", (3.0,), (np.nan,), linear=False)
    curves["LightGBM"] = make_curve("LightGBM", status=OUT_OF_TIME)
    stops = {"DCM": 0.5, "OST": float("nan")}
    return Result(name, 0.5, (100, 5, 10, 20, 300), 1e-9, curves, stops)


def test_races_are_shown_as_they_ended():
    curves = make_result().curves
    assert shown(curves["ranksvm"], 1e-2) == 0.1
    assert shown(curves["ranksvm"], 1e-3) == 1.0
    assert shown(curves["ranksvm"], 1e-8) == "never"
    assert shown(curves["P-SWX"], 1e-3) == "no GPU"
    assert shown(curves["XGBoost"], 1e-3) == 9.0  # all that it took: it has no objective
    assert shown(curves["LightGBM"], 1e-3) == "> 9"


def test_ratios_are_of_those_that_came_near():
    results = [make_result("MQ2008", dcm=6.0), make_result("MQ2007", dcm=1.0)]
    assert ratios(results, "DCM", "OST") == {"MQ2008": 3.0, "MQ2007": 0.5}
    assert ratios(results, "OST", "P-SWX") == {}


def test_claims_are_held_against_what_was_measured():
    trees, gpu, accuracy, ours = claims(
        [make_result("MQ2008", dcm=6.0), make_result("MQ2007", dcm=1.0, accuracy=0.61)]
    )
    assert "on 1 of the 2 sets" in trees
    assert "(3.0 x on MQ2008, 0.5 x on MQ2007)" in trees
    assert gpu.endswith("not run, no GPU.")
    assert "differ by at most 1.00 points, on MQ2007" in accuracy
    assert "2.0 x on MQ2008, 2.0 x on MQ2007. OST is ahead on: none." in ours
    with_gpu = make_result()
    with_gpu.curves["P-SWX"] = make_curve("P-SWX", (0.5,), (1e-7,))
    assert claims([with_gpu])[1].endswith("against OST, 4.0 x on MQ2008.")
    for name in ("OST", "ranksvm"):
        with_gpu.curves[name] = make_curve(name, status=OUT_OF_TIME)
    with_gpu.curves["P-SWX"] = make_curve("P-SWX", status=OUT_OF_TIME)
    assert claims([with_gpu])[2].endswith("none but one came near the optimum.")


def test_the_page_has_all_tables_and_the_figure(tmp_path):
    page = Page("pswx", "P-SWX", tmp_path)
    pswx.write(page, [make_result("MQ2008"), make_result("a folder")])
    text = (tmp_path / "pswx" / "pswx.md").read_text()
    for file in ("data", "near", "exact", "speed-ups", "stops", "accuracy"):
        assert (tmp_path / "pswx" / f"{file}.csv").exists()
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line[:1] == "|"}
    assert "| 80.24" in rows["OST, published"]
    assert "| 0.24 " in rows["OST, published x share"]
    assert "no GPU" in text
    assert (tmp_path / "pswx" / "pswx.png").stat().st_size > 0


def test_commands_of_the_user_take_part():
    mine = Command.from_text("mine=train {data} {model}")
    labels = [label for label, _, _ in contestants([mine])]
    assert labels[-1] == "mine"
    assert {"DCM", "OST, 2 threads", "P-SWX", "ranksvm", "XGBoost"} < set(labels)
    assert len(labels) == len(set(labels))


def test_what_is_no_command_is_refused_in_words(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["jin_lin_pswx", "--command", "train"])
    with pytest.raises(SystemExit):
        pswx.main()
    assert "a command is NAME=COMMAND or NAME:LOSS=COMMAND" in capsys.readouterr().err


def test_a_collection_of_the_user_takes_part(tmp_path):
    folder = tmp_path / "MQ2009"
    folder.mkdir()
    X, y, qid = np.eye(4), np.array([0.0, 1, 0, 2]), np.array([1, 1, 2, 2])
    for part in ("train", "vali", "test"):
        dump_svmlight(folder / f"{part}.txt", X, y, qid)
    (made, own) = data_sets(["MQ2008"], 0.01, folder)
    assert made[:2] == ("MQ2008", 0.01)
    assert own[:2] == ("MQ2009", 1.0)
    np.testing.assert_array_equal(own[2].y, y)


def test_races_are_run_and_judged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pswx, "ENTRIES", (("DCM", 1), ("P-SWX", 1)))
    monkeypatch.setattr(pswx, "PEERS", ())
    ((name, share, train, test),) = data_sets(["MQ2008"], 0.05, None)
    result = pswx.race_all(name, share, train, test, 60.0, [])
    assert result.size[0] == len(train.y)
    assert result.curves["DCM"].distance[-1] <= 2e-6
    assert result.stops.keys() == {"DCM", "P-SWX"}


def test_the_rule_of_the_paper_is_that_of_the_gradient():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    task = Task.from_rows(
        "made", Rows(X, np.round(X[:, 0] + rng.standard_normal(60))), "squared_hinge"
    )
    judge = Judge(task)
    norm = [
        np.linalg.norm(judge.objective.evaluate(w).gradient) for w in (task.start, judge.weights)
    ]
    assert norm[1] <= 1e-5 * norm[0]
    trace = [Point(1.0, 0, task.start), Point(2.0, 1, judge.weights)]
    outcome = Outcome("DCM", "made", FINISHED, "", 2.0, 0, trace)
    assert seconds_to_stop(judge, outcome.judged(judge)) == 2.0
    unfinished = Outcome("DCM", "made", OUT_OF_TIME, "", 2.0, 0, trace[:1])
    assert np.isnan(seconds_to_stop(judge, unfinished.judged(judge)))


def test_the_published_numbers_are_of_systems_here():
    assert set(pswx.PUBLISHED_SYSTEMS) < set(registry())
    assert pswx.PUBLISHED_SECONDS.keys() == pswx.PUBLISHED_ACCURACY.keys() == pswx.SHAPES.keys()
    speedup = {n: s[0] / s[2] for n, s in pswx.PUBLISHED_SECONDS.items()}
    assert speedup["MSLR-WEB30K"] == pytest.approx(20.70, abs=0.01)
