"""Survival SVMs as scikit-learn estimators, against every comparable pair."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from scipy.sparse import csr_matrix
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
import strategies
from ranksvm import (
    KernelSurvivalSVM,
    RankSVM,
    SurvivalSVM,
    SurvivalSVMCV,
    concordance_index,
    load_model,
    ranksvm_grid,
    save_model,
)
from ranksvm.pairs.survival import Survival


class TimesOfEvents(SurvivalSVM):
    """Takes any numbers for times, all of events, as the checks of scikit-learn give them."""

    def fit(self, X, y):
        self._checked(X, y)
        return super().fit(X, **all_events(y))

    def score(self, X, y):
        return super().score(X, **all_events(y))


def all_events(y):
    time = np.ravel(y)
    return {"time": time - time.min(), "event": np.ones(len(time))}


@pytest.fixture(scope="module")
def problem():
    """X, y and strata; times are tied, and half of them censored."""
    rng = np.random.default_rng(3)
    n = 150
    X = rng.normal(size=(n, 5))
    latest = rng.exponential(size=n)
    time = np.exp(-X[:, 0] + 0.5 * X[:, 1]) * rng.exponential(size=n)
    event, days = time <= latest, np.ceil(10 * np.minimum(time, latest))
    y = np.array(list(zip(event, days, strict=True)), dtype=[("seen", bool), ("days", float)])
    return X, y, np.arange(n) % 4


def listed(y, qid=None, weight=None):
    """The comparable pairs for the slow truth; `weight` is that of the better row."""
    better, worse = np.transpose(reference.comparable_pairs(y["seen"], y["days"], qid))
    query = reference.query_index(qid, len(y))
    of_pairs = np.ones(len(better)) if weight is None else weight[better]
    return reference.Pairs(len(y), better, worse, query[better], of_pairs)


@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
@pytest.mark.parametrize("stratified", [False, True])
def test_minimises_the_sum_over_comparable_pairs(problem, normalize, stratified):
    X, y, strata = problem
    qid = strata if stratified else None
    model = SurvivalSVM(0.1, normalize=normalize, tol=1e-11).fit(X, y, qid)
    pairs = listed(y, qid)
    assert model.n_pairs_ == len(pairs.better)
    pairs = reference.normalize_pairs(pairs, 0.1, normalize)
    w = reference.minimize_squared_hinge(pairs, X)
    assert model.objective_ == pytest.approx(reference.objective(pairs, X, w), rel=1e-10)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("ipcw", ["uno", "uno_strata"])
def test_weights_by_censoring(problem, loss, ipcw):
    X, y, qid = problem
    model = SurvivalSVM(0.3, loss=loss, ipcw=ipcw, tau=12, tol=1e-10).fit(X, y, qid)
    weight = np.zeros(len(y))
    for i in np.flatnonzero(y["seen"] & (y["days"] < 12)):
        known = (qid == qid[i]) | (ipcw == "uno")
        left = reference.uncensored(
            y["seen"][known], y["days"][known], y["days"][i], also_then=False
        )
        weight[i] = left**-2
    pairs = reference.normalize_pairs(listed(y, qid, weight), 0.3, "documents")
    optimum = {
        "squared_hinge": lambda: reference.objective(
            pairs, X, reference.minimize_squared_hinge(pairs, X)
        ),
        "hinge": lambda: reference.hinge_objective(pairs, X, reference.minimize_hinge(pairs, X)),
    }[loss]()
    assert model.objective_ == pytest.approx(optimum, rel=1e-8)


@given(strategies.times(16))
def test_small_problems(case):
    """Wherever there is a pair, there is a certified optimum, the same for any order of rows."""
    assume(reference.comparable_pairs(case.event, case.time, case.qid))
    rng = np.random.default_rng(len(case.time))
    X = rng.normal(size=(len(case.time), 3))
    model = SurvivalSVM(tol=1e-9).fit(X, case.y, case.qid)
    pairs = reference.normalize_pairs(
        reference.enumerate_pairs(
            Survival.of(case.y).labels(), case.qid, better_weight=case.event.astype(float)
        ),
        1.0,
        "documents",
    )
    w = reference.minimize_squared_hinge(pairs, X)
    assert model.objective_ == pytest.approx(reference.objective(pairs, X, w), rel=1e-8)
    back = np.arange(len(X))[::-1]
    qid = None if case.qid is None else np.asarray(case.qid)[back]
    mirrored = SurvivalSVM(tol=1e-9).fit(X[back], case.y[back], qid)
    np.testing.assert_allclose(mirrored.coef_, model.coef_, rtol=1e-6, atol=1e-8)


def test_with_a_linear_kernel(problem):
    X, y, qid = problem
    linear = SurvivalSVM(tol=1e-9, ipcw="uno").fit(X, y, qid)
    model = KernelSurvivalSVM(kernel="linear", tol=1e-9, ipcw="uno").fit(X, y, qid)
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    difference = model.predict(X) - linear.predict(X)
    np.testing.assert_allclose(difference, difference[0], atol=1e-4)
    assert model.score(X, y, qid) == pytest.approx(linear.score(X, y, qid), abs=1e-3)


def test_without_censoring_it_is_a_ranking(problem):
    X, y, qid = problem
    event = np.ones(len(y), dtype=bool)
    model = SurvivalSVM(tol=1e-11).fit(X, event=event, time=y["days"], qid=qid)
    expected = RankSVM(tol=1e-11).fit(X, -y["days"], qid)
    assert model.n_pairs_ == expected.n_pairs_
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


def test_score_is_the_concordance_index(problem):
    X, y, qid = problem
    model = SurvivalSVM().fit(X, y, qid)
    risk = model.predict(X)
    expected = concordance_index(y["seen"], y["days"], risk, qid=qid)
    assert model.score(X, y, qid) == expected > 0.6
    assert model.score(X, event=y["seen"], time=y["days"], qid=qid) == expected
    with pytest.warns(UserWarning, match="trained on 4 queries, but score was given no qid"):
        assert model.score(X, y) == concordance_index(y["seen"], y["days"], risk)


def test_sample_weight_is_the_same_as_repeated_rows(problem):
    X, y, qid = problem
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for ipcw in (None, "uno", "uno_strata"):
        model = SurvivalSVM(ipcw=ipcw, tol=1e-10)
        repeated = model.fit(X[rows], y[rows], qid[rows]).objective_
        weighted = model.fit(X, y, qid, sample_weight=weight).objective_
        assert weighted == pytest.approx(repeated, rel=1e-9)


def test_kinds_of_X_and_strata_agree(problem):
    X, y, qid = problem
    expected = SurvivalSVM().fit(X, y, qid).coef_
    np.testing.assert_allclose(SurvivalSVM().fit(csr_matrix(X), y, qid).coef_, expected, rtol=1e-4)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(stratum=qid)
    model = SurvivalSVM(qid="stratum").fit(frame, y)
    np.testing.assert_array_equal(model.coef_, expected)
    assert model.score(frame, y) == SurvivalSVM().fit(X, y, qid).score(X, y, qid)


def test_the_same_for_any_number_of_threads(problem):
    X, y, qid = problem
    one, two = (SurvivalSVM(ipcw="uno", n_threads=n).fit(X, y, qid).coef_.tolist() for n in (1, 2))
    assert one == two


@pytest.mark.parametrize("model", [SurvivalSVM(), KernelSurvivalSVM()], ids=["linear", "kernel"])
def test_a_stored_model_predicts_risk(problem, model, tmp_path):
    X, y, qid = problem
    model.fit(X, y, qid)
    save_model(model, tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), model.predict(X))


def test_grid_search_and_cross_validation(problem):
    X, y, _ = problem
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), SurvivalSVM()), X, y, cv=folds)
    assert (scores > 0.6).all()
    grid = {"C": [1e-3, 1.0, 1e3]}
    search = GridSearchCV(SurvivalSVM(tol=1e-8), grid, cv=folds).fit(X, y)
    model = SurvivalSVMCV(grid["C"], cv=folds, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-3
    )
    assert search.best_params_["C"] == model.C_
    np.testing.assert_allclose(model.coef_, search.best_estimator_.coef_, rtol=1e-3)
    assert model.score(X, y) == pytest.approx(search.score(X, y), abs=1e-3)


def test_a_grid_of_C(problem):
    X, y, qid = problem
    Cs = [0.1, 10.0]
    grid = ranksvm_grid(X, y, qid, Cs, tol=1e-9, ipcw="uno", tau=15)
    by_name = ranksvm_grid(
        X, qid=qid, Cs=Cs, event=y["seen"], time=y["days"], tol=1e-9, ipcw="uno", tau=15
    )
    np.testing.assert_array_equal(grid.coefs, by_name.coefs)
    for C, coef in zip(Cs, grid.coefs, strict=True):
        model = SurvivalSVM(C, tol=1e-9, ipcw="uno", tau=15).fit(X, y, qid)
        np.testing.assert_allclose(coef, model.coef_, rtol=1e-4)
    with pytest.raises(ValueError, match="ipcw and tau are for times of events"):
        ranksvm_grid(X, y["days"], ipcw="uno")


def test_strata_reach_a_grid_search(problem):
    X, y, qid = problem
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(SurvivalSVM(), {"C": [0.1, 1.0]}, cv=KFold(3)).fit(X, y, qid=qid)
    assert search.best_estimator_.n_queries_ == 4


def test_folds_without_events_are_left_out(problem):
    X, y, _ = problem
    rows = np.arange(len(y))
    censored = ~y["seen"]
    folds = [(rows % 3 != k, rows % 3 == k) for k in range(3)] + [(~censored, censored)]
    with pytest.warns(UserWarning, match="fold 3 is left out: its validation rows have no") as seen:
        SurvivalSVMCV([1.0], cv=folds).fit(X, y)
    assert [warning.filename for warning in seen] == [__file__]


@pytest.mark.parametrize("model", [SurvivalSVM(), KernelSurvivalSVM(), SurvivalSVMCV([1.0], cv=3)])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "survival times lack event and time: give a structured array"),
        ({"y": "censored"}, "no comparable pairs: every row is censored"),
        ({"y": "numbers"}, "y must be an array of the two fields event and time"),
        ({"y": "few"}, "inconsistent numbers of samples"),
        ({"event": [1]}, "survival times are given twice"),
        ({"sample_weight": [1.0]}, "sample_weight has shape"),
        ({"qid": np.arange(150)}, "no"),
    ],
)
def test_what_is_wrong_is_refused(problem, model, change, message):
    X, y, _ = problem
    found = {
        "censored": np.array([(False, days) for days in y["days"]], dtype=y.dtype),
        "numbers": y["days"],
        "few": y[:-1],
    }
    arguments = {"y": y, **change}
    if isinstance(arguments["y"], str):
        arguments["y"] = found[change["y"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folds without pairs
        with pytest.raises(ValueError, match=message):
            model.fit(X, **arguments)
    assert not hasattr(model, "n_pairs_")


@parametrize_with_checks([TimesOfEvents()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
