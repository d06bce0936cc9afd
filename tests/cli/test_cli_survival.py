"""Times of events on the command line."""

import numpy as np
import pytest

from ranksvm import SurvivalSVM, SurvivalSVMCV, concordance_index, dump_svmlight, load_model
from ranksvm.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """DATA with times as labels, a file of events, and what is in them."""
    folder = tmp_path_factory.mktemp("survival")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 4))
    time = np.ceil(9 * np.exp(-X[:, 0]) * rng.exponential(size=90))
    event, qid = rng.random(90) < 0.6, np.repeat([1, 2, 3], 30)
    dump_svmlight(folder / "data.svm", X, time, qid)
    (folder / "events.txt").write_text("".join(f"{seen:d}\n" for seen in event))
    return folder, {"X": X, "event": event, "time": time, "qid": qid}


def run(*arguments):
    return main(list(map(str, arguments)))


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ([], SurvivalSVM()),
        (["--ipcw", "uno", "--tau", 20, "--loss", "hinge"], SurvivalSVM(1, ipcw="uno", tau=20)),
        (["--ipcw", "uno_strata", "-C", 0.1], SurvivalSVM(0.1, ipcw="uno_strata")),
    ],
)
def test_trains_as_the_estimator_does_and_predicts_risk(files, tmp_path, capsys, options, model):
    folder, rows = files
    if "hinge" in options:
        model.set_params(loss="hinge")
    data, events = folder / "data.svm", folder / "events.txt"
    stored, scores = tmp_path / "model.json", tmp_path / "risk.txt"
    assert run("train", data, stored, "--event", events, *options) == 0
    model.fit(**rows)
    n_pairs = f"pair weight {model.n_pairs_:,.1f}" if model.ipcw else f"{model.n_pairs_:.0f} pairs"
    assert n_pairs in capsys.readouterr().err
    np.testing.assert_array_equal(load_model(stored).coef, model.coef_)
    assert run("predict", stored, data, scores) == 0
    risk = np.loadtxt(scores)
    np.testing.assert_allclose(risk, model.predict(rows["X"]), rtol=1e-12)
    expected = concordance_index(rows["event"], rows["time"], risk, qid=rows["qid"])
    for scored in (stored, scores):
        assert run("evaluate", data, scored, "--event", events, "-q") == 0
        assert capsys.readouterr().out == f"concordance index {expected:.6f}\n"


def test_chooses_as_the_estimator_does(files, tmp_path, capsys):
    folder, rows = files
    events = ["--event", folder / "events.txt", "--ipcw", "uno"]
    stored = tmp_path / "model.json"
    assert run("cv", folder / "data.svm", stored, *events, "--Cs", "0.01,1", "--folds", 3) == 0
    model = SurvivalSVMCV([0.01, 1], cv=3, ipcw="uno").fit(**rows)
    np.testing.assert_array_equal(load_model(stored).coef, model.coef_)
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[:2] == ["C", "concordance_index"]
    (chosen,) = (line.split() for line in lines if line.endswith("*"))
    assert float(chosen[0]) == model.C_
    assert float(chosen[1]) == pytest.approx(model.best_score_, abs=1e-6)


def test_trains_with_a_kernel(files, tmp_path):
    folder, _ = files
    events, stored = folder / "events.txt", tmp_path / "model.json"
    assert run("train", folder / "data.svm", stored, "--event", events, "--kernel", "rbf") == 0
    assert load_model(stored).training["n_pairs"] > 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1\n0\n", "events.txt has 2 lines but"),
        ("1\n" * 44 + "2\n" + "1\n" * 45, "line 45: expected 1 for an event or 0 for a"),
        ("1\n" * 89 + "yes\n", "line 90: expected 1 for an event or 0 for a censored row, found"),
        ("0\n" * 90, "no comparable pairs: every row is censored"),
    ],
)
def test_what_is_no_file_of_events_is_refused(files, tmp_path, capsys, lines, message):
    events = tmp_path / "events.txt"
    events.write_text(lines)
    stored = tmp_path / "model.json"
    assert run("train", files[0] / "data.svm", stored, "--event", events) == 2
    assert message in capsys.readouterr().err
    assert not stored.exists()


def test_labels_that_are_no_times_are_refused(files, tmp_path, capsys):
    data = tmp_path / "data.svm"
    dump_svmlight(data, np.ones((90, 1)), np.arange(90.0) - 1)
    events = files[0] / "events.txt"
    assert run("train", data, tmp_path / "model.json", "--event", events) == 2
    assert "with --event, labels are times: time must not be negative; row 0 holds -1" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("train", ["--tau", "3"], "--tau is for times of events: give --event, too"),
        ("cv", ["--ipcw", "uno"], "--ipcw is for times of events: give --event, too"),
        ("train", ["--event", "EVENTS", "--pair-weight", "gap"], "leave out --pair-weight"),
        ("cv", ["--event", "EVENTS", "--metric", "ndcg"], "leave out --metric"),
        ("evaluate", ["--event", "EVENTS", "--per-query", "out.csv"], "there is no --per-query"),
        ("train", ["--event", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_what_does_not_go_together_is_refused(files, tmp_path, capsys, command, options, message):
    events = str(files[0] / "events.txt")
    options = [events if option == "EVENTS" else option for option in options]
    target = events if command == "evaluate" else tmp_path / "model.json"
    assert run(command, files[0] / "data.svm", target, *options) == 2
    assert message in capsys.readouterr().err
