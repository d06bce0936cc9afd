"""Weights of the top through every face: docs/top_of_the_list.rst says what goes together."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from cases import make_problem
from ranksvm import (
    KernelRankSVM,
    RankSVM,
    RankSVMCV,
    SurvivalSVM,
    dump_svmlight,
    evaluate,
    load_model,
    ranksvm_grid,
)
from ranksvm.names import LOSSES, SOLVERS

X, Y, QID = make_problem(5, n=120, n_queries=8)
TOP = {"top": 5, "tol": 1e-6, "n_threads": 1}
WEIGHTS = ("gain", "ndcg")

every_weight = pytest.mark.parametrize("pair_weight", WEIGHTS)


def objective(pair_weight, **options):
    return RankSVM(pair_weight=pair_weight, **(TOP | options)).fit(X, Y, QID).objective_


@every_weight
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "cutting_planes"])
def test_losses_and_solvers(pair_weight, loss, solver):
    # Their optima of the first round differ within its gap; that of the second follows from ranks.
    found = objective(pair_weight, loss=loss, solver=solver, tol=1e-9, n_rounds=2)
    expected = objective(pair_weight, loss=loss, solver="newton", tol=1e-9, n_rounds=2)
    assert found == pytest.approx(expected, rel=1e-6)


@every_weight
@pytest.mark.parametrize("device", [None, "numpy:cpu"])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_matrix, np.asfortranarray])
def test_storage_and_arrays(pair_weight, device, stored):
    model = RankSVM(pair_weight=pair_weight, device=device, **TOP).fit(stored(X), Y, QID)
    assert model.objective_ == pytest.approx(objective(pair_weight), rel=1e-5)


@every_weight
def test_weights_of_rows_and_queries_that_are_whole_numbers_repeat_queries(pair_weight):
    of_query = np.array([1, 2, 1, 3, 1, 1, 2, 1])
    model = RankSVM(pair_weight=pair_weight, normalize="pairs", **TOP)
    weighted = model.fit(X, Y, QID, query_weight=of_query[QID]).objective_
    rows = np.concatenate([np.flatnonzero(q == QID) for q in range(8) for _ in range(of_query[q])])
    sizes = np.repeat(np.bincount(QID), of_query)
    repeated = model.fit(X[rows], Y[rows], np.repeat(np.arange(len(sizes)), sizes)).objective_
    assert weighted == pytest.approx(repeated, rel=1e-5)


@every_weight
def test_a_query_counts_as_often_as_it_weighs(pair_weight):
    plain, doubled = (
        RankSVM(pair_weight=pair_weight, **TOP).fit(X, Y, QID, query_weight=weight).objective_
        for weight in (None, np.full(120, 2.0))
    )
    twice = RankSVM(C=2, pair_weight=pair_weight, **TOP).fit(X, Y, QID).objective_
    assert doubled > plain
    if pair_weight == "gain":
        assert doubled == pytest.approx(twice, rel=1e-5)


@every_weight
def test_grids_and_cross_validation(pair_weight):
    grid = ranksvm_grid(X, Y, QID, Cs=[0.1, 1.0], pair_weight=pair_weight, **TOP)
    assert grid.objectives[1] == pytest.approx(objective(pair_weight), rel=1e-5)
    model = RankSVMCV([0.1, 1.0], cv=3, pair_weight=pair_weight, scoring="ndcg@5", **TOP)
    model.fit(X, Y, QID)
    assert model.objective_ == pytest.approx(objective(pair_weight, C=model.C_), rel=1e-9)
    assert RankSVMCV(5, cv=3, pair_weight=pair_weight, normalize=None).fit(X, Y, QID).C_ > 0


@every_weight
def test_the_linear_kernel_is_the_linear_ranker(pair_weight):
    model = KernelRankSVM(kernel="linear", pair_weight=pair_weight, **TOP).fit(X, Y, QID)
    assert model.objective_ == pytest.approx(objective(pair_weight), rel=1e-4)
    assert model.dual_gap_ <= model.tol
    if pair_weight == "ndcg":
        assert model.history_[-1].round == 2


@every_weight
def test_commands_and_config_files(pair_weight, tmp_path):
    dump_svmlight(tmp_path / "data", X, Y, QID)
    options = ["--pair-weight", pair_weight, "--top", "5", "--rounds", "4", "--gains", "linear"]
    command = [sys.executable, "-m", "ranksvm"]
    of_command = [*command, "train", "data", "m.json", *options, "--tol", "1e-6", "-q"]
    subprocess.run(of_command, cwd=tmp_path, check=True)
    (tmp_path / "c").write_text(
        f"[Input]\ntrain_set=data\n[Parameters]\npair_weight={pair_weight}\ntop=5\nn_rounds=4\n"
        "gains=linear\nloss=squared_hinge\nnormalize=documents\nC=1\ntol=1e-6\nverbose=False\n"
        "[Output]\nmodel=m\n"
    )
    subprocess.run([*command, "run", "c"], cwd=tmp_path, check=True)
    model = RankSVM(pair_weight=pair_weight, gains="linear", n_rounds=4, **TOP).fit(X, Y, QID)
    for name in ("m.json", "m"):
        loaded = load_model(tmp_path / name)
        assert loaded.training["objective"] == pytest.approx(model.objective_, rel=1e-6)
        assert loaded.parameters["pair_weight"] == pair_weight
        assert loaded.parameters["n_rounds"] == 4


@every_weight
def test_given_pairs_have_weights_of_their_own(pair_weight):
    with pytest.raises(ValueError, match="given pairs have their own pair_weights"):
        RankSVM(pair_weight=pair_weight).fit(X, pairs=[[0, 1]])


@every_weight
def test_times_of_events_have_no_gains(pair_weight, tmp_path):
    assert "pair_weight" not in SurvivalSVM().get_params()
    dump_svmlight(tmp_path / "data", X, Y, QID)
    (tmp_path / "e").write_text("1\n" * 120)
    command = [sys.executable, "-m", "ranksvm", "train", "data", "m", "--event", "e"]
    process = subprocess.run(
        [*command, "--pair-weight", pair_weight], cwd=tmp_path, capture_output=True, text=True
    )
    assert process.returncode == 2
    assert "leave out --pair-weight" in process.stderr


def test_the_best_round_on_the_first_validation_set_is_kept():
    seen, unseen = QID < 4, QID >= 4
    model = RankSVM(C=100, pair_weight="ndcg", n_rounds=8, **TOP)
    sets = [(X[unseen], Y[unseen]), (X[seen], Y[seen])]
    model.fit(X[seen], Y[seen], QID[seen], eval_set=sets, eval_qid=[QID[unseen], QID[seen]])
    results = model.evals_result_
    assert list(results) == ["valid_0", "valid_1"]
    values = results["valid_0"]["ndcg@5"]
    kept = int(np.argmax(values))
    assert len(values) == len(results["valid_1"]["ndcg@5"]) == min(kept + 3, 8)
    found = evaluate(Y[unseen], model.predict(X[unseen]), QID[unseen], "ndcg@5").mean["ndcg@5"]
    assert found == pytest.approx(values[kept])
    rounds = {line.round for line in model.history_}
    assert rounds == set(range(len(values)))
    again = RankSVM(C=100, pair_weight="ndcg", n_rounds=kept + 1, **TOP)
    again.fit(X[seen], Y[seen], QID[seen])
    assert again.objective_ == model.objective_
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_validation_by_linear_gains():
    options = {"pair_weight": "ndcg", "gains": "linear", **TOP}
    model = RankSVM(**options).fit(X, 600 * Y, QID, eval_set=[(X, 600 * Y)], eval_qid=[QID])
    assert len(model.evals_result_["valid_0"]["ndcg@5"]) >= 1
    with pytest.raises(ValueError, match="takes labels up to 1000, but row"):
        model.set_params(gains="exponential").fit(X, 600 * Y, QID)


def test_a_query_without_relevant_rows_weighs_nothing():
    y = np.where(QID == 0, 0.0, Y)
    some = QID != 0
    model = RankSVM(pair_weight="ndcg", **TOP)
    without = model.fit(X[some], Y[some], QID[some]).objective_
    assert model.fit(X, y, QID).objective_ == pytest.approx(without, rel=0.2)
    assert model.fit(X, y, QID).n_queries_ == 8


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gains": "square"}, "gains must be one of 'exponential', 'linear', not 'square'"),
        ({"top": 0}, "top must be a whole number of at least 1, not 0"),
        ({"n_rounds": 0}, "n_rounds must be a whole number of at least 1, not 0"),
        ({"pair_weight": "dcg"}, "pair_weight must be one of None, 'gap', 'gain', 'ndcg'"),
    ],
)
def test_what_is_out_of_range_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        RankSVM(**options).fit(X, Y, QID)
