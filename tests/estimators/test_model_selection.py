"""RankSVMCV: the choice of C, against a fit of its own for every fold and C."""

import doctest
import io
import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from cases import make_problem
from ranksvm import ConvergenceWarning, RankSVM, RankSVMCV, evaluate, pairwise_accuracy
from ranksvm.estimators import rank_svm_cv
from ranksvm.names import LOSSES
from ranksvm.plots import RegularizationCurveDisplay
from ranksvm.progress import FitCounter
from ranksvm.selection.cross_validation import CrossValidation
from ranksvm.selection.folds import make_folds

CS = [10.0, 0.01, 1.0]


# Two folds: some checks have ten rows, too few for five folds with pairs.
@parametrize_with_checks([RankSVMCV(Cs=4, cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    return make_problem(0, n=120, d=5, n_queries=9)


def slow_scores(X, y, qid, Cs, folds, **options):
    """Scores of the folds by a fit on copied rows for each, and explicit pairs."""
    scores = np.empty((len(Cs), len(folds)))
    for k, (train, validation) in enumerate(folds):
        ids = [None, None] if qid is None else [qid[train], qid[validation]]
        for place, C in enumerate(Cs):
            model = RankSVM(C, tol=1e-10, **options).fit(X[train], y[train], ids[0])
            s = X[validation] @ model.coef_
            pairs = reference.enumerate_pairs(y[validation], ids[1])
            right = s[pairs.better] - s[pairs.worse]
            scores[place, k] = np.mean((right > 0) + 0.5 * (right == 0))
    return scores


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
@pytest.mark.parametrize("grouped", [True, False])
def test_scores_are_those_of_separate_fits(problem, loss, normalize, grouped):
    X, y, qid = problem
    ids = [f"query {q}" for q in qid] if grouped else None
    Cs = np.array(CS) * {"documents": 1, "pairs": 120, "queries": 120, None: 0.01}[normalize]
    options = {"loss": loss, "normalize": normalize}
    model = RankSVMCV(Cs, cv=4, tol=1e-10, **options).fit(X, y, ids)
    folds = make_folds(4, y, np.unique(qid, return_inverse=True)[1] if grouped else None)
    expected = slow_scores(X, y, qid if grouped else None, Cs, folds, **options)
    results = model.cv_results_
    splits = np.stack([results[f"split{k}_test_score"] for k in range(4)], axis=1)
    np.testing.assert_allclose(splits, expected, atol=1e-12)
    np.testing.assert_array_equal(results["param_C"], Cs)
    np.testing.assert_allclose(results["mean_test_score"], expected.mean(axis=1))
    np.testing.assert_allclose(results["std_test_score"], expected.std(axis=1))
    np.testing.assert_allclose(results["standard_error"], expected.std(axis=1, ddof=1) / 2)
    assert np.all((results["max_dual_gap"] >= 0) & (results["max_dual_gap"] <= 30e-10))
    assert Cs[model.best_index_] == model.C_
    assert model.best_score_ == results["mean_test_score"].max()
    assert results["rank_test_score"][model.best_index_] == 1
    assert model.n_splits_ == 4


def test_the_model_is_that_of_the_C_chosen(problem):
    X, y, qid = problem
    model = RankSVMCV(CS).fit(X, y, qid)
    expected = RankSVM(model.C_).fit(X, y, np.unique(qid, return_inverse=True)[1])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    assert (model.status_, model.n_iter_) == ("converged", expected.n_iter_)
    assert (model.n_pairs_, model.n_queries_) == (expected.n_pairs_, expected.n_queries_)


def test_without_refit_there_is_a_choice_and_no_model(problem):
    X, y, qid = problem
    model = RankSVMCV(CS, refit=False).fit(X, y, qid)
    assert model.C_ in CS
    with pytest.raises(NotFittedError):
        model.predict(X)


def bits(model):
    table = {name: column for name, column in model.cv_results_.items() if name != "params"}
    return [model.coef_.tobytes(), *(column.tobytes() for column in table.values())]


@pytest.mark.parametrize("loss", LOSSES)
def test_jobs_and_threads_change_nothing(problem, loss):
    X, y, qid = problem
    expected = bits(RankSVMCV(6, loss=loss, n_threads=1).fit(X, y, qid))
    for n_threads, n_jobs in [(4, None), (3, 2), (2, 1), (1, 5)]:
        model = RankSVMCV(6, loss=loss, n_threads=n_threads, n_jobs=n_jobs).fit(X, y, qid)
        assert bits(model) == expected


def test_sparse_and_float32_rows(problem):
    X, y, qid = problem
    expected = RankSVMCV(CS, tol=1e-9).fit(X, y, qid)
    for kind in (csr_matrix, pd.DataFrame, np.asfortranarray):
        model = RankSVMCV(CS, tol=1e-9).fit(kind(X), y, qid)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
        assert model.C_ == expected.C_
    single = RankSVMCV(CS, tol=1e-6).fit(X.astype(np.float32), y, qid)
    np.testing.assert_allclose(single.best_score_, expected.best_score_, atol=0.01)


def test_row_weights_are_the_same_as_repeated_rows(problem):
    X, y, qid = problem
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    folds = [(qid % 3 != k, qid % 3 == k) for k in range(3)]
    repeated = [(train[rows], validation[rows]) for train, validation in folds]
    a = RankSVMCV(CS, cv=folds, tol=1e-10).fit(X, y, qid, sample_weight=weight)
    b = RankSVMCV(CS, cv=repeated, tol=1e-10).fit(X[rows], y[rows], qid[rows])
    for name in ("mean_test_score", "standard_error"):
        np.testing.assert_allclose(a.cv_results_[name], b.cv_results_[name], atol=1e-12)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)


def test_query_weights_count_in_training(problem):
    X, y, qid = problem
    weight = np.array([0, 1, 2, 1, 3, 1, 1, 2, 1])[qid]
    folds = list(GroupKFold(3).split(X, y, qid))
    model = RankSVMCV(CS, cv=folds, tol=1e-10).fit(X, y, qid, query_weight=weight)
    train, validation = folds[1]
    fold = RankSVM(CS[0], tol=1e-10)
    fold.fit(X[train], y[train], qid[train], query_weight=weight[train])
    score = pairwise_accuracy(y[validation], fold.predict(X[validation]), qid[validation])
    assert model.cv_results_["split1_test_score"][0] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("name", ["ndcg@3", "map", "kendall_tau", "pairwise_accuracy"])
def test_scoring_by_name(problem, name):
    X, y, qid = problem
    model = RankSVMCV(CS, cv=3, scoring=name, tol=1e-10).fit(X, y, qid)
    for k, (train, test) in enumerate(make_folds(3, y, np.unique(qid, return_inverse=True)[1])):
        for place, C in enumerate(CS):
            scores = RankSVM(C, tol=1e-10).fit(X[train], y[train], qid[train]).predict(X[test])
            expected = evaluate(y[test], scores, qid[test], name).mean[name]
            score = model.cv_results_[f"split{k}_test_score"][place]
            assert score == pytest.approx(expected, abs=1e-12)
    assert model.score(X, y, qid) == evaluate(y, model.predict(X), qid, name).mean[name]


@pytest.mark.parametrize("normalize", ["documents", "queries", None])
def test_pairs_weighted_by_gaps(problem, normalize):
    X, y, qid = problem
    options = {"pair_weight": "gap", "normalize": normalize, "tol": 1e-10}
    folds = make_folds(3, y, np.unique(qid, return_inverse=True)[1])
    model = RankSVMCV(3, cv=folds, **options).fit(X, y, qid)
    train, test = folds[1]
    for place, C in enumerate(model.Cs_):
        scores = RankSVM(C, **options).fit(X[train], y[train], qid[train]).predict(X[test])
        score = model.cv_results_["split1_test_score"][place]
        assert score == pytest.approx(pairwise_accuracy(y[test], scores, qid[test]), abs=1e-12)
    N = RankSVM(pair_weight="gap").fit(X, y, qid).n_pairs_
    unit = {"documents": 1, "queries": len(y), None: len(y) / N}[normalize]
    np.testing.assert_allclose(model.Cs_, np.array([1e-3, 1, 1e3]) * unit, rtol=1e-12)


def test_scoring_by_a_function(problem):
    X, y, qid = problem
    seen = []

    def worst(labels, scores, ids, sample_weight=None):
        seen.append((len(labels), len(scores), len(ids), sample_weight is None))
        return -pairwise_accuracy(labels, scores, ids, sample_weight=sample_weight)

    model = RankSVMCV(CS, scoring=worst, cv=3).fit(X, y, qid)
    by_name = RankSVMCV(CS, cv=3).fit(X, y, qid)  # pooled, as the function's default
    means = by_name.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(model.cv_results_["mean_test_score"], -means)
    assert CS[means.argmin()] == model.C_
    assert model.score(X, y, qid) == -pairwise_accuracy(y, model.predict(X), qid)
    assert len(seen) == 10
    assert all(n == m == k and unweighted for n, m, k, unweighted in seen)
    weight = np.ones(len(y))
    RankSVMCV(CS, scoring=worst, cv=3).fit(X, y, qid, sample_weight=weight)
    assert not seen[-1][3]


def test_folds_go_at_the_same_time_where_that_is_asked_for(problem):
    X, y, qid = problem
    both = threading.Barrier(2)

    def together(labels, scores, ids):
        both.wait(timeout=60)
        return pairwise_accuracy(labels, scores, ids)

    model = RankSVMCV(CS, scoring=together, cv=2, n_jobs=2, n_threads=1).fit(X, y, qid)
    assert model.cv_results_["mean_test_score"].shape == (3,)


def test_a_failing_function_ends_the_search_at_once(problem):
    X, y, qid = problem
    calls = []

    def broken(labels, scores, ids):
        calls.append(threading.current_thread())
        raise RuntimeError("no score today")

    with pytest.raises(RuntimeError, match="no score today"):
        RankSVMCV(20, scoring=broken, n_threads=2).fit(X, y, qid)
    assert len(calls) <= 5
    assert not any(thread.is_alive() for thread in calls)
    with pytest.raises(ValueError, match="scoring must give a finite number"):
        RankSVMCV(2, scoring=lambda *_: np.nan).fit(X, y, qid)


def test_an_interruption_ends_the_search_at_once(problem):
    X, y, qid = problem
    calls = []

    def interrupt(labels, scores, ids):
        if not calls:
            os.kill(os.getpid(), signal.SIGINT)
        calls.append(threading.current_thread())
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        RankSVMCV(500, scoring=interrupt, tol=1e-9, n_threads=2).fit(X, y, qid)
    for thread in calls:
        thread.join(timeout=60)
    assert len(calls) < 2500


def curve(Cs, scores):
    scores = np.array(scores, dtype=float)
    return CrossValidation(scores, np.array(Cs, dtype=float), np.zeros(scores.shape))


def test_the_best_mean_is_chosen_and_of_equal_ones_the_smallest_C():
    assert curve([1, 2, 3], [[0.5, 0.7], [0.8, 0.6], [0.5, 0.5]]).best() == 1
    assert curve([3, 1, 2], [[0.5, 0.7], [0.7, 0.5], [0.5, 0.5]]).best() == 1


def test_the_one_standard_error_rule():
    result = curve([100, 0.1, 1, 10], [[0.6, 0.9], [0.5, 0.6], [0.6, 0.72], [0.65, 0.9]])
    np.testing.assert_allclose(result.standard_error[3], 0.125)
    assert result.best() == 3
    assert result.best(one_standard_error=True) == 2  # 0.66 >= 0.775 - 0.125 > 0.55
    assert curve([1, 2], [[0.5, 0.5], [0.6, 0.6]]).best(one_standard_error=True) == 1
    with pytest.raises(ValueError, match="needs at least 2 folds"):
        curve([1, 2], [[0.5, np.nan], [0.6, np.nan]]).best(one_standard_error=True)


def test_folds_left_out_do_not_count():
    result = curve([1, 2], [[0.5, np.nan, 0.7], [0.9, np.nan, 0.5]])
    np.testing.assert_allclose(result.mean, [0.6, 0.7])
    np.testing.assert_allclose(result.standard_error, [0.1, 0.2])
    assert result.table()["rank_test_score"].tolist() == [2, 1]


def test_one_standard_error_by_the_estimator(problem):
    X, y, qid = problem
    model = RankSVMCV(9, one_standard_error=True).fit(X, y, qid)
    results = model.cv_results_
    best = results["mean_test_score"].argmax()
    least = results["mean_test_score"][best] - results["standard_error"][best]
    assert model.Cs_[results["mean_test_score"] >= least].min() == model.C_
    assert model.best_score_ == results["mean_test_score"][model.best_index_]


def test_folds_without_pairs_are_left_out_with_a_warning(problem):
    X, y, qid = problem
    y = np.where(qid == 3, 1.0, y)
    folds = [(qid != q, qid == q) for q in range(9)]
    with pytest.warns(UserWarning, match="fold 3 is left out: its validation rows have no") as seen:
        model = RankSVMCV(CS, cv=folds).fit(X, y, qid)
    assert [warning.filename for warning in seen] == [__file__]
    assert np.isnan(model.cv_results_["split3_test_score"]).all()
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()
    with pytest.warns(UserWarning, match="its training rows have no"):
        RankSVMCV(CS, cv=[(qid == 3, qid == 1), *folds[:2]]).fit(X, y, qid)
    weight = np.where(qid == 5, 0.0, 1.0)
    with pytest.warns(UserWarning, match="fold 2 is left out: its validation rows have no"):
        RankSVMCV(CS, cv=[folds[0], folds[1], folds[5]]).fit(X, y, qid, sample_weight=weight)
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ValueError, match="no fold has preference pairs both to train and"),
    ):
        RankSVMCV(CS, cv=[folds[3]]).fit(X, y, qid)


def test_default_grids_weigh_pairs_alike(problem):
    X, y, qid = problem
    n, N = len(y), RankSVM().fit(X, y, qid).n_pairs_
    grid = np.logspace(-3, 3, 5)
    for normalize, unit in [("documents", 1), ("pairs", n), ("queries", n), (None, n / N)]:
        model = RankSVMCV(5, normalize=normalize).fit(X, y, qid)
        np.testing.assert_allclose(model.Cs_, grid * unit, rtol=1e-12)


def test_short_of_the_gap_is_warned_of_once(problem):
    X, y, qid = problem
    with pytest.warns(ConvergenceWarning) as caught:
        RankSVMCV(CS, cv=3, max_iter=1, tol=1e-12, refit=False).fit(X, y, qid)
    assert len(caught) == 1
    assert "9 of 9 trainings of the folds did not converge" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Cs": 0}, "Cs must be at least 1 value of C, not 0"),
        ({"Cs": [1, -1]}, "C must be finite and greater than 0"),
        ({"Cs": "many"}, "Cs must be a list of numbers, not 'many'"),
        ({"cv": 10}, "cv=10 folds need at least 10 queries, found 9"),
        ({"scoring": "luck"}, "there is no metric 'luck'"),
        ({"scoring": "ranking_error"}, "a metric of which more is better, not 'ranking_error'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1, or negative"),
        ({"loss": "hinges"}, "loss must be one of"),
    ],
)
def test_bad_parameters_are_named(problem, change, message):
    with pytest.raises(ValueError, match=message):
        RankSVMCV(**change).fit(*problem)


def test_trainings_are_counted(problem, capsys):
    X, y, qid = problem
    RankSVMCV(CS, cv=3, verbose=1).fit(X, y, qid)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.split(",")[0] for line in captured.err.splitlines()] == [
        f"{k} of 9 trainings" for k in range(1, 10)
    ]
    assert captured.err.endswith(" s\n")
    RankSVMCV(CS, cv=3).fit(X, y, qid)
    assert capsys.readouterr().err == ""


def test_threads_share_a_counter():
    stream = io.StringIO()
    counter = FitCounter(200, stream)
    threads = [threading.Thread(target=lambda: [counter() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.getvalue().count("\n") == 200
    assert "\n200 of 200 trainings" in stream.getvalue()


def test_the_curve_is_drawn(problem):
    X, y, qid = problem
    model = RankSVMCV(CS).fit(X, y, qid)
    display = RegularizationCurveDisplay.from_estimator(model)
    order = np.argsort(CS)
    results = model.cv_results_
    np.testing.assert_array_equal(display.line_.get_xdata(), np.sort(CS))
    np.testing.assert_array_equal(display.line_.get_ydata(), results["mean_test_score"][order])
    segments = display.errorbar_.lines[2][0].get_segments()
    errors = [(upper - lower) / 2 for (_, lower), (_, upper) in segments]
    np.testing.assert_allclose(errors, results["standard_error"][order])
    assert display.chosen_line_.get_xdata() == [model.C_, model.C_]
    assert display.ax_.get_xscale() == "log"
    assert "pairwise accuracy" in display.ax_.get_ylabel()
    again = RegularizationCurveDisplay([1, 10], [0.5, 0.6], [np.nan, np.nan]).plot(ax=display.ax_)
    assert again.figure_ is display.figure_
    assert again.chosen_line_ is None


def test_it_clones_with_all_its_parameters():
    model = RankSVMCV([1.0], cv=3, scoring=pairwise_accuracy, n_jobs=2, qid="query")
    assert clone(model).get_params() == model.get_params()


def test_the_example_in_the_docstring():
    result = doctest.testmod(rank_svm_cv)
    assert (result.attempted, result.failed) == (6, 0)
