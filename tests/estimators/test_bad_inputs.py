"""What is wrong is refused in a sentence that names it, wherever it comes in."""

import warnings

import numpy as np
import pytest

import bad_inputs
from ranksvm import (
    KernelRankSVM,
    KernelRankSVMPathCV,
    KernelSurvivalSVM,
    RankSVM,
    RankSVMCV,
    SurvivalSVM,
    SurvivalSVMCV,
    concordance_index,
    dump_svmlight,
    evaluate,
    load_model,
    load_svmlight,
    metrics,
    paired_randomization_test,
    pairwise_accuracy,
    ranksvm_grid,
    regularization_path,
    save_model,
    write_trec_run,
)

X, Y, QID = bad_inputs.problem()
ONES = np.ones(bad_inputs.N)
LINEAR, KERNEL = RankSVM().fit(X, Y, QID), KernelRankSVM().fit(X, Y, QID)

LABELLED = {"X": X, "y": Y}
WEIGHTED = {**LABELLED, "sample_weight": ONES, "query_weight": ONES}
EVENT = (np.arange(bad_inputs.N) % 3 < 2).astype(np.float64)
SURVIVAL = {"X": X, "event": EVENT, "time": Y, "sample_weight": ONES, "query_weight": ONES}
SCORED = {"y": Y, "scores": X[:, 0]}
ENTRIES = {
    "RankSVM": (RankSVM().fit, WEIGHTED),
    "RankSVMCV": (RankSVMCV([1.0], cv=2).fit, WEIGHTED),
    "KernelRankSVM": (KernelRankSVM().fit, WEIGHTED),
    "KernelRankSVMPathCV": (KernelRankSVMPathCV(gammas=[0.5], cv=2).fit, LABELLED),
    "ranksvm_grid": (ranksvm_grid, WEIGHTED),
    "regularization_path": (regularization_path, LABELLED),
    "SurvivalSVM": (SurvivalSVM().fit, SURVIVAL),
    "SurvivalSVMCV": (SurvivalSVMCV([1.0], cv=2).fit, SURVIVAL),
    "KernelSurvivalSVM": (KernelSurvivalSVM().fit, SURVIVAL),
    "concordance_index": (
        concordance_index,
        {"event": EVENT, "time": Y, "risk": X[:, 0], "sample_weight": ONES},
    ),
    "score": (LINEAR.score, {**LABELLED, "sample_weight": ONES}),
    "kernel score": (KERNEL.score, LABELLED),
    "evaluate": (evaluate, {**SCORED, "sample_weight": ONES}),
    "pairwise_accuracy": (pairwise_accuracy, {**SCORED, "sample_weight": ONES}),
    "ndcg": (metrics.ndcg, SCORED),
    "auc": (metrics.auc, {**SCORED, "sample_weight": ONES}),
    "dump_svmlight": (dump_svmlight, {**LABELLED, "cost": ONES}),
    "write_trec_run": (write_trec_run, {"scores": Y}),
    "predict": (LINEAR.predict, {"X": X}),
    "kernel predict": (KERNEL.predict, {"X": X}),
    "LinearModel": (LINEAR.to_model().predict, {"X": X}),
    "KernelModel": (KERNEL.to_model().predict, {"X": X}),
    "paired_randomization_test": (paired_randomization_test, {"a": Y, "b": X[:, 0]}),
}
# One number is a weight that all rows have, and a file may have no features.
RIGHT = {
    ("sample_weight", "a_number"),
    ("sample_weight", "a_truth"),
    ("query_weight", "a_number"),
    ("query_weight", "a_truth"),
    ("dump_svmlight", "no_features"),
}


def rest_of(name, path):
    """Return the arguments that are not tried."""
    if name == "dump_svmlight":
        return {"path": path}
    if name == "write_trec_run":
        return {"path": path, "qid": QID, "docids": np.arange(bad_inputs.N)}
    _, good = ENTRIES[name]
    return {"qid": QID} if "y" in good else {}


def outcome(function, arguments):
    """Return the sentence of a refusal, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**arguments)
        except (ValueError, TypeError) as error:
            return str(error)
    return None


@pytest.mark.parametrize(
    ("name", "column"),
    [(name, column) for name, (_, good) in ENTRIES.items() for column in good],
)
def test_bad_columns_are_refused_by_name(tmp_path, name, column):
    function, good = ENTRIES[name]
    arguments = {**rest_of(name, tmp_path / "f"), **good}
    assert outcome(function, arguments) is None
    table = bad_inputs.features if column == "X" else bad_inputs.columns
    for kind, bad in table(good[column]).items():
        if RIGHT & {(name, kind), (column, kind)}:
            continue
        message = outcome(function, {**arguments, column: bad})
        assert message is not None, kind
        if column != "X":  # of which scikit-learn says much
            named = (column, "numbers of samples", "scores")
            assert any(word in message for word in named), (kind, message)


SQUARE = np.random.default_rng(1).normal(size=(bad_inputs.N, bad_inputs.N))  # a feature a row


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("lower_bounds", {"a_number", "minus_inf", "list_of_minus_inf"}),
        ("upper_bounds", {"a_number", "inf", "list_of_inf"}),
        ("prior", {"a_number"}),
        ("penalty_weights", {"a_number"}),
    ],
)
def test_bad_numbers_of_features_are_refused_by_name(name, right):
    good = np.zeros(bad_inputs.N) if name != "penalty_weights" else ONES
    for kind, bad in bad_inputs.columns(good).items():
        ranker = RankSVM(**{name: bad})
        message = outcome(ranker.fit, {"X": SQUARE, "y": Y})
        assert (message is None) == (kind in right), (kind, message)
        known = (name, "cannot read", "Complex data")
        assert message is None or any(word in message for word in known), (kind, message)


@pytest.mark.parametrize("kind", ["none", "nan", "NA", "NaT"])
def test_missing_ids_are_refused_by_name(tmp_path, kind):
    qid = bad_inputs.with_value(QID, bad_inputs.VALUES[kind])
    path, docids = tmp_path / "f", np.arange(bad_inputs.N)
    for refused in (
        lambda: RankSVM().fit(X, Y, qid),
        lambda: evaluate(Y, X[:, 0], qid),
        lambda: dump_svmlight(path, X, Y, qid),
        lambda: write_trec_run(path, qid, docids, Y),
        lambda: write_trec_run(path, QID, bad_inputs.with_value(docids, qid[3]), Y),
    ):
        with pytest.raises(ValueError, match=r"^(qid|docids) is missing in row 3"):
            refused()
    masked = np.ma.masked_array(QID, np.arange(bad_inputs.N) == 3)
    with pytest.raises(ValueError, match=r"^qid is missing in row 3"):
        RankSVM().fit(X, Y, masked)


@pytest.mark.parametrize("C", [None, "1", np.nan, np.inf, 0, -1, [1], True, 1j, {}])
def test_bad_values_of_C_are_refused_by_name(C):
    for train in (RankSVM(C).fit, KernelRankSVM(C).fit):
        with pytest.raises((ValueError, TypeError), match="C must be"):
            train(X, Y, QID)


@pytest.mark.parametrize("path", [None, 5, 1.5, [], {}, "", ".", "no such file"])
def test_bad_paths_are_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    for read in (load_model, load_svmlight):
        with pytest.raises((ValueError, TypeError, OSError), match=r"\w+ .*\w"):
            read(path)
    if path != "no such file":
        with pytest.raises((ValueError, TypeError, OSError), match=r"\w+ .*\w"):
            save_model(LINEAR, path)
