"""Peers of other packages and of the user, on tasks whose optimum is certified."""

import os
import signal
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks import peers
from benchmarks.peers import by_query
from benchmarks.race import FAILED, FINISHED, OUT_OF_TIME, race
from benchmarks.systems import registry
from benchmarks.systems.command import Command
from benchmarks.systems.peer_pairs_sklearn import bytes_per_pair, transformed_pairs
from benchmarks.task import Judge, Rows, Task
from ranksvm import RankSVM
from reference import enumerate_pairs

TREES = ("LightGBM", "XGBoost")
OTHER_OBJECTIVES = ("XGBoost, gblinear", "logistic regression on pairs", *TREES)


def make_rows(seed=0, n=150, d=5, queries=6, levels=3, weights_seed=9):
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(weights_seed).standard_normal(d)
    X = rng.standard_normal((n, d))
    utility = X @ truth + rng.standard_normal(n)
    y = np.clip(np.round(utility) + 1, 0, levels - 1) if levels else utility
    return Rows(X, y, np.sort(rng.integers(queries, size=n)) if queries > 1 else None)


def make_task(loss="squared_hinge", C=20.0, **kwargs):
    test = make_rows(seed=1, **kwargs)
    return Task.from_rows("small", make_rows(**kwargs), loss, C=C, test=test)


def able(name, task):
    system = registry()[name]
    if why := system.unable(task):
        pytest.skip(f"{name}: {why}")
    return system


def run(system, task):
    told = []
    system.run(task, lambda iteration, weights, **more: told.append((iteration, weights, more)))
    return told


@pytest.mark.parametrize(
    ("name", "loss", "kind"),
    [
        ("scikit-survival", "squared_hinge", {"queries": 1, "levels": 0}),
        ("dlib", "hinge", {"levels": 2}),
    ],
)
def test_peers_with_conditions_get_there(name, loss, kind):
    task = make_task(loss, **kind)
    system, judge = able(name, task), Judge(task)
    told = run(system, task)
    iterations = [iteration for iteration, _, _ in told]
    assert iterations == sorted(iterations)
    assert all(more["seconds"] > 0 for _, _, more in told)
    assert judge.gap <= judge.distance(told[-1][1]) <= 1e-5


@pytest.mark.parametrize(
    ("name", "loss", "kind", "why"),
    [
        ("scikit-survival", "squared_hinge", {"queries": 2, "levels": 0}, "takes one query"),
        ("scikit-survival", "squared_hinge", {"queries": 1}, "takes ties for pairs"),
        ("scikit-survival", "hinge", {}, "does not minimise the hinge loss"),
        ("dlib", "hinge", {"levels": 3}, "takes two levels of labels"),
        ("LightGBM", "hinge", {"levels": 0}, "takes labels 0 to 30"),
    ],
)
def test_peers_say_what_they_do_not_take(monkeypatch, name, loss, kind, why):
    monkeypatch.setattr(peers, "find_spec", lambda module: module)
    assert registry()[name].unable(make_task(loss, **kind)) == why


def test_peers_that_are_missing_say_so(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda module: None)
    assert registry()["dlib"].unable(make_task("hinge")) == "dlib-bin is not installed"
    assert registry()["XGBoost"].unable(make_task("hinge")) == "xgboost is not installed"


def test_queries_longer_than_lightgbm_takes_are_refused(monkeypatch):
    monkeypatch.setattr("benchmarks.systems.peer_lightgbm.LARGEST_QUERY", 10)
    task = make_task(queries=3)
    if registry()["LightGBM"].unable(replace(task, qid=np.arange(150) // 10)) == "":
        assert registry()["LightGBM"].unable(task) == "takes 10 rows a query"


@pytest.mark.parametrize("name", OTHER_OBJECTIVES)
def test_peers_of_other_objectives_order_test_rows(name, tmp_path):
    task = make_task()
    outcome = race(able(name, task), task, 120.0, tmp_path)
    assert (outcome.status, outcome.why) == (FINISHED, "")
    assert outcome.linear == (name not in TREES and "gblinear" not in name)
    (accuracy,) = outcome.judged(Judge(task)).pairwise_accuracy
    assert accuracy > 0.7
    if not outcome.linear:
        assert outcome.trace[0].weights.shape == (len(task.test.y),)
        assert np.isnan(outcome.judged(Judge(task)).distance).all()


@pytest.mark.parametrize("name", TREES)
def test_scores_of_models_without_weights_are_judged(name):
    task = make_task()
    system = able(name, task)
    ((_, scores, _),) = run(system, task)
    judge = Judge(task)
    test = task.test
    pairs = enumerate_pairs(test.y, test.qid)
    gaps = scores[pairs.better] - scores[pairs.worse]
    expected = np.mean(gaps > 0) + np.mean(gaps == 0) / 2
    verdict = judge.verdict_of_scores(scores)
    assert verdict.pairwise_accuracy == pytest.approx(expected)
    # Rows in another order of queries are the same rows.
    shuffled = np.random.default_rng(0).permutation(len(task.y))
    ordered, _ = by_query(Rows(task.X[shuffled], task.y[shuffled], task.qid[shuffled]))
    assert (np.diff(ordered.qid) >= 0).all()
    for query in np.unique(task.qid):
        rows = task.X[task.qid == query]
        same = ordered.X[ordered.qid == query]
        np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(same, axis=0))


@pytest.mark.parametrize("format", ["dense", "csr"])
def test_pairs_are_transformed_one_by_one(format):
    rows = make_rows()
    given = rows._replace(X=sparse.csr_matrix(rows.X)) if format == "csr" else rows
    differences, signs = transformed_pairs(given)
    differences = differences.toarray() if format == "csr" else differences
    pairs = enumerate_pairs(rows.y, rows.qid)
    expected = rows.X[pairs.better] - rows.X[pairs.worse]
    order, other = np.lexsort(expected.T), np.lexsort((signs[:, None] * differences).T)
    np.testing.assert_allclose((signs[:, None] * differences)[other], expected[order])
    assert set(signs) == {-1.0, 1.0}
    assert abs(signs.sum()) <= 1


def test_too_many_pairs_are_refused(monkeypatch):
    task = make_task()
    n_pairs = len(enumerate_pairs(task.y, task.qid).better)
    assert bytes_per_pair(task.X) == 40
    monkeypatch.setattr("benchmarks.systems.peer_pairs_sklearn.MOST_BYTES", 40 * n_pairs - 1)
    assert registry()["LinearSVC on pairs"].unable(task) == "its pairs take 0 GB"
    monkeypatch.setattr("benchmarks.systems.peer_pairs_sklearn.MOST_BYTES", 40 * n_pairs)
    assert registry()["LinearSVC on pairs"].unable(task) == ""


TRAINER = """\
#!{python} -E
import sys
import numpy as np
from ranksvm import RankSVM, convert_model, load_svmlight, save_model
C, data, model = sys.argv[1:]
X, y, qid = load_svmlight(data)
fitted = RankSVM(C=float(C), normalize=None, tol=1e-9).fit(X, y, qid)
save_model(fitted, model + ".json")
convert_model(model + ".json", model, to="{form}")
"""


def make_script(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(params=["liblinear", "svmrank"])
def trainer(request, tmp_path):
    text = TRAINER.format(python=sys.executable, form=request.param)
    return make_script(tmp_path / "my trainer", text)


def test_a_command_of_the_user_joins_the_race(trainer, tmp_path):
    task = make_task()
    X = sparse.csr_matrix(np.hstack([task.X, np.zeros((len(task.y), 2))]))  # never in the file
    task = replace(task, X=X, test=None)
    command = Command.from_text(f"mine=  '{trainer}' {{C}} {{data}} {{model}}")
    assert (command.name, command.losses) == ("mine", ("hinge", "squared_hinge"))
    assert command.unable(task) == ""
    outcome = race(command, task, 300.0, tmp_path)
    assert (outcome.status, outcome.why) == (FINISHED, "")
    curve = outcome.judged(Judge(task))
    assert curve.outcome.trace[-1].weights.shape == (7,)
    assert curve.distance[-1] <= 1e-8
    assert curve.iterations.tolist() == [1]


def test_a_command_with_a_tolerance_is_run_by_tenths(tmp_path):
    model = "solver_type L2R_L2LOSS_RANKSVM\\nnr_class 2\\nnr_feature 2\\nbias -1\\nw\\n%s\\n%s\\n"
    script = make_script(tmp_path / "told", f"#!/bin/sh\nprintf '{model}' $1 $2 > $4\n")
    command = Command("told", f"{script} {{tol}} {{C_rank}} {{data}} {{model}}")
    task = make_task()
    told = run(command, task)
    assert [iteration for iteration, _, _ in told] == list(range(1, 10))
    tolerances = [weights[0] for _, weights, _ in told]
    assert tolerances == pytest.approx([10.0**-k for k in range(1, 10)])
    assert told[0][1][1] == pytest.approx(6 * task.c)


def test_rows_are_given_to_commands_by_query(tmp_path):
    rows = make_rows()
    shuffled = np.random.default_rng(0).permutation(len(rows.y))
    task = Task.from_rows("shuffled", Rows(*(part[shuffled] for part in rows)), "hinge")
    keep = "import sys, shutil; shutil.copy(sys.argv[1], sys.argv[2])"
    script = make_script(
        tmp_path / "keep",
        f"#!{sys.executable} -E\n{keep}\nopen(sys.argv[3], 'w').write("
        "'solver_type L2R_L2LOSS_RANKSVM\\nnr_class 2\\nnr_feature 1\\nbias -1\\nw\\n2.5\\n')\n",
    )
    told = run(Command("keep", f"{script} {{data}} {tmp_path}/kept {{model}}"), task)
    ((iteration, weights, more),) = told
    assert (iteration, weights.tolist()) == (1, [2.5, 0, 0, 0, 0])
    assert more["seconds"] > 0
    qids = [int(line.split()[1][4:]) for line in Path(tmp_path, "kept").read_text().splitlines()]
    assert qids == sorted(qids)
    assert set(qids) == set(range(1, 7))


@pytest.mark.parametrize(
    "text", ["train {data} {model}", "=train {data} {model}", "mine:log=train {data} {model}", ""]
)
def test_what_is_no_command_is_refused(text):
    with pytest.raises(ValueError, match="a command is NAME=COMMAND or NAME:LOSS=COMMAND"):
        Command.from_text(text)


def test_commands_with_other_fields_are_refused():
    with pytest.raises(ValueError, match=r"has 'c' in it: the fields are \{data\}"):
        Command.from_text("mine=train -c {c} {data} {model}")
    with pytest.raises(ValueError, match=r"must say where \{data\} and \{model\} belong"):
        Command.from_text("mine=train {data}")
    with pytest.raises(ValueError, match="No closing quotation"):
        Command.from_text("mine=train ' {data} {model}")


def test_commands_fail_in_words(tmp_path):
    task = make_task("hinge")
    absent = Command.from_text("mine:hinge=no-such-program {data} {model}")
    assert absent.unable(task) == "no-such-program is not installed"
    assert absent.unable(make_task()) == "does not minimise the squared_hinge loss"
    failing = Command("failing", "sh -c 'echo first; echo wrong data >&2; exit 3' {data} {model}")
    outcome = race(failing, task, 60.0, tmp_path)
    assert (outcome.status, outcome.why) == (
        FAILED, "RuntimeError: sh ended with 3: wrong data"
    )  # fmt: skip
    silent = race(Command("silent", "true {data} {model}"), task, 60.0, tmp_path)
    assert silent.why == "RuntimeError: the command wrote no model"


def test_a_command_ends_with_its_time(tmp_path):
    text = f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n"
    script = make_script(tmp_path / "sleeper", text)
    outcome = race(Command("sleeper", f"{script} {{data}} {{model}}"), make_task(), 3.0, tmp_path)
    assert outcome.status == OUT_OF_TIME
    pid = int(Path(tmp_path, "pid").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists() and "Z" in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the command outlived its race")


def test_the_library_is_a_peer_of_its_own_estimator():
    task = make_task()
    told = run(registry()["ranksvm"], task)
    model = RankSVM(task.c, normalize=None, tol=1e-8).fit(task.X, task.y, task.qid)
    assert Judge(task).value(told[-1][1]) == pytest.approx(model.objective_, rel=1e-5)
