"""The judgement of the automatic choice: what fails, what is stopped, and what is counted."""

import json
import math
import pickle

import numpy as np
import pytest

from benchmarks import auto
from benchmarks.auto import AUTO, CONVERGED, Case, Outcome
from benchmarks.datasets.small import make_small
from benchmarks.datasets.solver_shapes import Data, make_few_rows, make_short_queries

SETTINGS = {"loss": "squared_hinge", "C": 1.0, "tol": 1e-6}


@pytest.fixture(scope="module")
def small():
    return Data(*make_small(rows=400, queries=20, features=6))


def make_case(data="wine", loss="hinge", **seconds):
    outcomes = {name: Outcome(CONVERGED, value, 1e-7) for name, value in seconds.items()}
    return Case(data, loss, 1.0, 1e-3, "pass", 0.5, outcomes)


def test_a_case_is_judged_by_the_best_that_converged():
    case = make_case(auto=1.0, newton=0.5, bundle=2.0)
    assert (case.best, case.ratio, case.verdict) == ("newton", 2.0, "slower than newton")
    case.outcomes["newton"] = Outcome("stopped", 0.5)
    assert (case.best, case.ratio, case.verdict) == ("bundle", 0.5, "")
    case.outcomes["bundle"] = Outcome("ended", 0.5)
    assert case.best == ""
    assert math.isnan(case.ratio)
    assert case.verdict == ""


def test_the_slack_is_a_share_and_a_constant():
    assert make_case(auto=0.021, newton=0.001).verdict == ""
    assert make_case(auto=0.022, newton=0.001).verdict == "slower than newton"
    assert make_case(auto=1.51, newton=1.0).verdict == ""


def test_what_does_not_converge_or_takes_too_long_fails():
    case = make_case(auto=11.0, newton=11.0)
    assert case.verdict == "over 10 s"
    case.outcomes[AUTO] = Outcome("stalled", 0.1)
    assert case.verdict == "stalled"
    assert make_case("text-like-64000x47236", auto=14.0).verdict == ""
    assert make_case("text-like-64000x47236", "squared_hinge", auto=14.0).verdict == "over 10 s"


def test_all_solvers_take_their_turn(small):
    outcomes = auto.compare(small, SETTINGS, 60.0)
    assert list(outcomes) == [AUTO, *auto.RIVALS]
    assert outcomes[AUTO].converged
    assert outcomes[AUTO].gap <= 1e-6
    assert outcomes[AUTO].passes > 1


def test_a_solver_is_stopped_in_time(small):
    outcome = auto.forked(small, "newton", SETTINGS | {"tol": 1e-12}, 0.0)
    assert outcome.status == "stopped"


def test_turns_and_work_are_counted(small):
    outcome = auto.solve(small, "newton", SETTINGS, 60.0)
    name, iterations = outcome.how.split()
    assert name == "newton"
    # The first iteration is the start, and a last step may go by the Hessian of the one before.
    assert int(iterations) - 2 <= outcome.products <= int(iterations) - 1
    assert outcome.passes >= 3 * outcome.products


def test_sets_of_data_may_go_to_other_processes():
    shapes = auto.GENERATED | auto.random_shapes(1) | auto.unlike_shapes(1)
    assert pickle.loads(pickle.dumps(shapes)).keys() == shapes.keys()


def test_cases_are_written_with_their_verdicts(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(auto, "Page", lambda name, title: _Page(name, title, tmp_path))
    monkeypatch.setattr(auto, "GENERATED", {"tiny": lambda: make_few_rows(30, 5)})
    monkeypatch.delenv("RANKSVM_DATA", raising=False)
    arguments = ["auto", "--skip-primitives", "--Cs", "1", "--tols", "1e-3", "--losses", "hinge"]
    monkeypatch.setattr("sys.argv", arguments)
    assert auto.main() == 0
    (case,) = json.loads((tmp_path / "auto" / "auto.json").read_text())
    assert (case["data"], case["verdict"]) == ("tiny", "")
    assert set(case["outcomes"]) == {AUTO, *auto.RIVALS}
    printed = capsys.readouterr().out
    assert "real data skipped" in printed
    assert printed.index("Cases that fail: 0 of 1") < printed.index("All cases")


def test_what_begins_too_late_is_skipped(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["auto", "--only", "few-rows", "--max-seconds", "-1"])
    assert list(auto.all_cases(auto.parse_arguments())) == []
    few_rows = sum(name.startswith("few-rows") for name in auto.GENERATED)
    assert capsys.readouterr().out.count("the time is over") == few_rows > 1


def test_short_queries_are_sparse_and_graded():
    X, y, qid = make_short_queries(30, 10)
    assert X.shape == (300, 280)
    assert (np.diff(X.indptr) == 14).all()
    assert set(np.bincount(qid)) == {10}
    assert len(set(y)) > 2


_Page = auto.Page
