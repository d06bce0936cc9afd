"""Choices that end in the mean of what the folds cannot tell apart."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from cases import make_problem
from ranksvm import (
    RankSVM,
    RankSVMCV,
    dump_svmlight,
    load_model,
    open_data,
    pack,
    report,
    save_model,
)
from ranksvm.cli import main

# Folds that tell little: several are level with the best, of different maps.
OPTIONS = {"cv": 3, "scoring": "ndcg@10", "n_threads": 1}
GRID = [
    {"C": [0.1, 1.0], "scale": ["standard"]},
    {"C": [0.1, 1.0], "scale": ["quantile"], "features": [None, "nystroem:20"]},
]


def noisy(seed):
    X, y, qid = make_problem(3, n=160, d=4, n_queries=16)
    y = y + np.random.default_rng(seed).normal(scale=6, size=len(y))
    return np.maximum(X, 0), np.clip(np.round(y), 0, 4), qid


@pytest.fixture(scope="module")
def problem():
    return noisy(4)


@pytest.fixture(scope="module")
def model(problem):
    found = RankSVMCV(param_grid=GRID, average=True, **OPTIONS).fit(*problem)
    assert len(found.members_) > 2
    assert any(one.name == "joined maps" for one in found.maps_)
    return found


def level_in_table(table):
    """Return the places of what is level with the best, from what the table says."""
    scores = np.column_stack([table[f"split{k}_test_score"] for k in range(3)])
    best = int(np.argmax(table["mean_test_score"]))
    differences = scores[best] - scores
    errors = differences.std(axis=1, ddof=1) / np.sqrt(3)
    return np.flatnonzero(differences.mean(axis=1) <= errors / 2)


def test_the_members_are_those_that_the_table_says(model):
    level = level_in_table(model.cv_results_)
    params = [model.cv_results_["params"][place] for place in level]
    assert sorted(map(str, params)) == sorted(str(one["params"]) for one in model.members_)
    assert model.members_[0]["params"] == model.best_params_
    assert sum(one["share"] for one in model.members_) == pytest.approx(1)
    gaps = [one["dual_gap"] for one in model.members_]
    assert model.dual_gap_ == max(gaps) <= model.tol
    worst = model.members_[int(np.argmax(gaps))]
    assert (model.objective_, model.status_) == (worst["objective"], worst["status"])


def test_the_choice_itself_is_that_without_a_mean(problem, model):
    alone = RankSVMCV(param_grid=GRID, **OPTIONS).fit(*problem)
    assert alone.best_params_ == model.best_params_
    assert alone.best_score_ == model.best_score_
    for name, column in alone.cv_results_.items():
        np.testing.assert_array_equal(column, model.cv_results_[name])
    assert [one["params"] for one in alone.members_] == [alone.best_params_]
    assert not np.array_equal(alone.predict(problem[0]), model.predict(problem[0]))


def test_a_mean_over_values_of_C_has_weights_of_the_features():
    X, y, qid = noisy(3)
    model = RankSVMCV([0.1, 0.3, 1.0, 3.0], average=True, tol=1e-8, **OPTIONS).fit(X, y, qid)
    assert len(model.members_) > 1
    assert model.maps_ == ()
    expected = 0
    for one in model.members_:
        scores = RankSVM(C=one["params"]["C"], tol=1e-8).fit(X, y, qid).predict(X)
        means = np.array([scores[qid == q].mean() for q in qid])
        expected = expected + one["share"] * scores / np.sqrt(np.mean((scores - means) ** 2))
    np.testing.assert_allclose(X @ model.coef_, expected, atol=1e-3)


def test_only_the_short_list_ends_in_a_mean_unasked(problem):
    assert RankSVMCV().average == "auto"
    auto = RankSVMCV(param_grid="auto", **OPTIONS).fit(*problem)
    asked = RankSVMCV(param_grid="auto", average=True, **OPTIONS).fit(*problem)
    np.testing.assert_array_equal(auto.coef_, asked.coef_)
    assert len(auto.members_) > 1
    for options in ({"average": False}, {"one_standard_error": True}):
        single = RankSVMCV(param_grid="auto", **options, **OPTIONS).fit(*problem)
        assert len(single.members_) == 1


def test_it_is_saved_cloned_and_pickled_whole(problem, model, tmp_path):
    X, y, qid = problem
    scores = model.predict(X)
    for name in ("m.json", "m.safetensors"):
        save_model(model, tmp_path / name)
        loaded = load_model(tmp_path / name)
        np.testing.assert_array_equal(loaded.predict(X), scores)
        assert loaded.training["members"] == model.members_
        assert "objective" not in loaded.training
        assert loaded.training["dual_gap"] == model.dual_gap_
        assert f"; the mean of {len(model.members_)}" in str(loaded)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), scores)
    again = clone(model).fit(X, y, qid)
    np.testing.assert_array_equal(again.predict(X), scores)
    np.testing.assert_allclose(model.predict(scipy.sparse.csr_matrix(X)), scores, atol=1e-12)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_sparse_and_packed_rows_and_threads_do_not_matter(problem, model, tmp_path, n_threads):
    X, y, qid = problem
    options = {**OPTIONS, "n_threads": n_threads, "param_grid": GRID, "average": True}
    np.testing.assert_array_equal(RankSVMCV(**options).fit(X, y, qid).coef_, model.coef_)
    of_sparse = RankSVMCV(**options).fit(scipy.sparse.csr_matrix(X), y, qid)
    assert [one["params"] for one in of_sparse.members_] == [
        one["params"] for one in model.members_
    ]
    np.testing.assert_allclose(of_sparse.predict(X), model.predict(X), atol=1e-2)
    order = np.argsort(qid, kind="stable")  # in which rows are packed
    in_order = X[order], y[order], qid[order]
    pack([in_order], tmp_path / "d")
    packed = RankSVMCV(**options).fit(open_data(tmp_path / "d"))
    of_rows = RankSVMCV(**options).fit(*in_order)
    np.testing.assert_allclose(packed.predict(X), of_rows.predict(X), atol=1e-2)
    assert len(packed.members_) == len(of_rows.members_) > 1


def test_what_it_cannot_keep_is_refused(problem):
    with pytest.raises(ValueError, match="one_standard_error chooses the simplest"):
        RankSVMCV(average=True, one_standard_error=True).fit(*problem)
    with pytest.raises(ValueError, match="average must be 'auto', True or False, not 'yes'"):
        RankSVMCV(average="yes").fit(*problem)
    for more in ({"positive": True}, {"prior": np.ones(4)}, {"upper_bounds": 1.0}):
        with pytest.raises(ValueError, match="keeps no bounds and no prior of the weights"):
            RankSVMCV([0.1, 1.0], average=True, **more).fit(*problem)
    RankSVMCV([0.1, 1.0], average=True, l1_ratio=0.5, **OPTIONS).fit(*problem)


def test_the_report_says_what_is_certified(problem, model):
    page = str(report(model, *problem).html)
    assert f"The model is the mean of {len(model.members_)} rankers" in page
    assert "The mean itself minimises nothing." in page
    assert "Members of the mean" in page


def test_the_command_line_writes_the_same_mean(problem, tmp_path, capsys):
    X, y, qid = problem
    dump_svmlight(tmp_path / "d.svm", X, y, qid)
    model = RankSVMCV(param_grid="auto", **OPTIONS).fit(X, y, qid)
    command = ["cv", tmp_path / "d.svm", tmp_path / "m.json", "--auto", "--folds", 3]
    command += ["--metric", "ndcg@10", "--threads", 1]
    assert main(list(map(str, command))) == 0
    shown = capsys.readouterr()
    n = len(model.members_)
    assert shown.out.count(" *\n") == n
    assert f"what is chosen is the mean of {n}; see --no-average" in shown.err
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_allclose(loaded.predict(X), model.predict(X), atol=1e-9)
    params = [one["params"] for one in model.members_]
    assert [one["params"] for one in loaded.training["members"]] == params
    assert loaded.training["n_samples"] == len(X)
    assert main(["info", str(tmp_path / "m.json")]) == 0
    assert f"\nmember {n}      C=" in capsys.readouterr().out
    assert main([*map(str, command), "--no-average"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count(" *\n") == 1
    assert "see --no-average" not in shown.err
    assert "members" not in json.loads((tmp_path / "m.json").read_text())["training"]


def test_without_the_short_list_there_is_no_mean_to_leave_out(problem, tmp_path, capsys):
    X, y, qid = problem
    dump_svmlight(tmp_path / "d.svm", X, y, qid)
    assert main(["cv", str(tmp_path / "d.svm"), "--no-average"]) == 2
    assert "--no-average is for --auto" in capsys.readouterr().err
