"""Signs, bounds, priors and zeros, as estimators take them."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cases import make_problem
from ranksvm import (
    RankSVM,
    RankSVMCV,
    SurvivalSVM,
    SurvivalSVMCV,
    load_model,
    ranksvm_grid,
    save_model,
)
from reference import differences, enumerate_pairs, normalize_pairs

X, Y, QID = make_problem(7, n=60, d=4, n_queries=4)
NAMES = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(X, columns=NAMES)
EXACT = {"tol": 1e-9, "n_threads": 1}
PRIOR = np.array([0.5, -1.0, 0.0, 2.0])


def fitted(X=X, **options):
    return RankSVM(**(EXACT | options)).fit(X, Y, QID)


def truth(C=1.0, lower=-np.inf, upper=np.inf, prior=0.0, charged=1.0):
    """Return the optimum within bounds, by another solver on every pair."""
    pairs = normalize_pairs(enumerate_pairs(Y, QID), C, "documents")
    D, weight = differences(pairs, X), pairs.weight

    def objective(w):
        slack, v = np.maximum(1 - D @ w, 0), w - prior
        value = np.sum(charged * v**2) / 2 + weight @ slack**2
        return value, charged * v - 2 * D.T @ (weight * slack)

    start = np.clip(np.zeros(4), lower, upper)
    bounds = np.broadcast_to(np.transpose([lower * np.ones(4), upper * np.ones(4)]), (4, 2))
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    found = minimize(objective, start, jac=True, bounds=bounds, options=options)
    return found.x, found.fun


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"positive": True}, {"lower": 0.0}),
        ({"lower_bounds": -0.1, "upper_bounds": 0.2}, {"lower": -0.1, "upper": 0.2}),
        ({"upper_bounds": [1, 0.1, np.inf, 0]}, {"upper": np.array([1, 0.1, np.inf, 0])}),
        ({"prior": PRIOR}, {"prior": PRIOR}),
        ({"prior": PRIOR, "positive": True}, {"prior": PRIOR, "lower": 0.0}),
        ({"penalty_weights": [9, 1, 0.1, 1]}, {"charged": np.array([9, 1, 0.1, 1])}),
        (
            {"penalty_weights": [0, 1, 1, 1], "lower_bounds": -3, "upper_bounds": 3},
            {"charged": np.array([0, 1, 1, 1]), "lower": -3.0, "upper": 3.0},
        ),
    ],
)
def test_optima_are_those_of_another_solver_on_every_pair(options, same):
    model = fitted(**options)
    coef, value = truth(**same)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.dual_gap_ <= 1e-10


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_bounds_by_name_by_number_and_for_all_are_the_same(loss):
    upper = np.array([0.1, np.inf, 0.0, np.inf])
    options = {"loss": loss, "tol": 1e-4}
    expected = fitted(upper_bounds=upper, **options)
    by_name = fitted(FRAME, upper_bounds={"c": 0, "a": 0.1}, **options)
    by_number = fitted(upper_bounds={2: 0, np.int64(0): 0.1}, **options)
    for model in (by_name, by_number):
        np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert (expected.coef_ <= upper).all()


def test_a_weight_between_equal_bounds_is_fixed():
    model = fitted(lower_bounds={1: 0.7}, upper_bounds={1: 0.7})
    assert model.coef_[1] == 0.7
    coef, value = truth(
        lower=np.array([-np.inf, 0.7, -np.inf, -np.inf]),
        upper=np.array([np.inf, 0.7, np.inf, np.inf]),
    )
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)


def test_more_absolute_values_make_more_zeros_and_nothing_else_is_zero():
    numbers = [np.count_nonzero(fitted(C=0.003, l1_ratio=r).coef_) for r in (0, 0.5, 1)]
    assert numbers[0] == 4
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] < 4
    assert not fitted(C=1e-6, l1_ratio=0.5).coef_.any()


def test_with_absolute_values_weights_stay_at_the_prior_exactly():
    model = fitted(C=1e-6, l1_ratio=0.5, prior=PRIOR)
    np.testing.assert_array_equal(model.coef_, PRIOR)
    assert model.objective_ > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lower_bounds": {"aa": 1}}, r"lower_bounds: X has no feature 'aa' \(did you mean 'a'"),
        ({"upper_bounds": {1: 1}}, "upper_bounds: X has no feature 1"),
        ({"lower_bounds": [0, 1]}, "lower_bounds must have a number for each of the 4 features"),
        ({"lower_bounds": 2, "upper_bounds": 1}, "cannot be at least 2 and at most 1"),
        (
            {"lower_bounds": {"b": 2}, "upper_bounds": {"b": 1}},
            "the weight of feature 'b' cannot be at least 2 and at most 1",
        ),
        ({"lower_bounds": np.nan}, "lower_bounds must be a number, not nan"),
        ({"lower_bounds": {"d": np.nan}}, "lower_bounds of feature 'd' must be a number, not nan"),
        ({"lower_bounds": np.inf}, "lower_bounds must be finite or -inf, not inf"),
        ({"upper_bounds": {"c": -np.inf}}, "upper_bounds of feature 'c' must be finite or inf"),
        ({"positive": True, "upper_bounds": -1}, "positive contradicts upper_bounds: that is -1"),
        (
            {"positive": True, "upper_bounds": {"c": -1}},
            "positive contradicts upper_bounds: that of feature 'c' is -1",
        ),
        ({"positive": 1}, "positive must be True or False, not 1"),
        ({"positive": None}, "positive must be True or False, not None"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number from 0 to 1, not 1.5"),
        ({"l1_ratio": -0.1}, "l1_ratio must be"),
        ({"l1_ratio": np.nan}, "l1_ratio must be"),
        ({"l1_ratio": "0.5"}, "l1_ratio must be"),
        ({"l1_ratio": True}, "l1_ratio must be"),
        ({"penalty_weights": -1}, "penalty_weights must be finite and not negative, not -1"),
        ({"penalty_weights": {"a": np.inf}}, "penalty_weights of feature 'a' must be finite"),
        ({"penalty_weights": 0}, "penalty_weights may be 0 only between finite bounds"),
        (
            {"penalty_weights": {"b": 0}, "positive": True},
            "penalty_weights of feature 'b' may be 0 only between finite bounds",
        ),
        ({"prior": [1, 2, np.inf, 0]}, "prior of feature 'c' must be finite, not inf"),
        ({"prior": "no such file"}, "cannot read no such file"),
        ({"prior": RankSVM()}, r"a fitted ranker is a prior for fit\(X, y, prior=...\)"),
        ({"positive": True, "solver": "bundle"}, "solver='bundle' is for the penalty"),
    ],
)
@pytest.mark.parametrize("ranker", [RankSVM(), RankSVMCV(1, cv=2)], ids=["one C", "many"])
def test_what_cannot_be_is_refused_in_a_sentence(ranker, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(ranker).set_params(**options).fit(FRAME, Y, QID)


def test_clones_pickles_and_searches():
    model = RankSVM(lower_bounds={"a": -1}, upper_bounds=X[0] ** 2, prior=PRIOR, l1_ratio=0.3)
    parameters = clone(model).get_params()
    assert parameters["lower_bounds"] == {"a": -1}
    assert parameters["l1_ratio"] == 0.3
    clone(model).set_params(positive=True).fit(FRAME, Y, QID)
    again = pickle.loads(pickle.dumps(model.fit(FRAME, Y, QID)))
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    np.testing.assert_array_equal(again.fit(FRAME, Y, QID).coef_, model.coef_)
    search = GridSearchCV(
        RankSVM(qid="q"), {"l1_ratio": [0, 0.5], "positive": [False, True]}, cv=2
    ).fit(FRAME.assign(q=QID), Y)
    assert set(search.best_params_) == {"l1_ratio", "positive"}


def test_a_warm_start_may_be_out_of_bounds():
    model = RankSVM(warm_start=True, **EXACT).fit(X, Y, QID)
    model.set_params(lower_bounds=-0.01, upper_bounds=0.01).fit(X, Y, QID)
    expected = fitted(lower_bounds=-0.01, upper_bounds=0.01)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    assert (np.abs(model.coef_) <= 0.01).all()


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_features_that_occur_nowhere_have_weights_that_nothing_moves(l1_ratio):
    n, used = 4000, [5, 70, 71, 3999]
    wide = sp.lil_matrix((60, n))
    wide[:, used] = X
    lower, upper, prior = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n)
    lower[0], upper[1], prior[2], prior[70], lower[3999] = 0.5, -0.25, 3.0, 1.0, 0.1
    some = {"l1_ratio": l1_ratio, "lower_bounds": lower, "upper_bounds": upper, "prior": prior}
    model = fitted(wide.tocsr(), **some)
    assert model.weights_.n_features == n
    expected = np.zeros(n)
    expected[[0, 1, 2]] = 0.5, -0.25, 3.0
    places = [0, 1, 2, 3, *used]
    dense = np.zeros((60, len(places)))
    dense[:, 4:] = X
    narrow = fitted(
        dense,
        l1_ratio=l1_ratio,
        lower_bounds=lower[places],
        upper_bounds=upper[places],
        prior=prior[places],
    )
    assert model.objective_ == pytest.approx(narrow.objective_, rel=1e-9)
    expected[places] = narrow.coef_
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6)
    np.testing.assert_array_equal(model.coef_[:4], [0.5, -0.25, 3.0, 0.0])
    assert model.to_model().training["n_at_bounds"] >= 2


def test_signs_take_no_memory_for_features_that_occur_nowhere():
    n = 1 << 30
    wide = sp.csr_matrix((X[:, :1].ravel(), np.full(60, n - 7), np.arange(61)), (60, n))
    model = RankSVM(positive=True, l1_ratio=0.5, n_threads=1).fit(wide, Y, QID)
    assert len(model.weights_.values) == 1
    assert model.to_model().training["n_at_bounds"] >= n - 1


@pytest.mark.parametrize("scale", [None, "standard", "minmax", "maxabs"])
def test_bounds_and_priors_are_of_the_features_as_they_are(scale):
    wide = X * [1, 100, 0.01, 5]
    asked = {
        "lower_bounds": np.array([-np.inf, -np.inf, 0.3, 0.01]),
        "upper_bounds": np.array([0.1, 1e-3, 0.3, np.inf]),
        "prior": np.array([0.2, 0.0, 1.0, 0.1]),
        "l1_ratio": 0.5,
    }
    grid = {"C": [0.01], "scale": [scale]}
    model = RankSVMCV(param_grid=grid, cv=2, **asked, **EXACT).fit(wide, Y, QID)
    factors = {
        None: np.ones(4),
        "standard": 1 / wide.std(axis=0),
        "minmax": 1 / np.ptp(wide, axis=0),
        "maxabs": 1 / np.abs(wide).max(axis=0),
    }[scale]
    scaled = {name: asked[name] / factors for name in ("lower_bounds", "upper_bounds", "prior")}
    expected = fitted(wide * factors, C=0.01, l1_ratio=0.5, **scaled)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, factors * expected.coef_, atol=1e-5)
    assert model.coef_[2] == 0.3
    assert (asked["lower_bounds"] <= model.coef_).all()
    assert (model.coef_ <= asked["upper_bounds"]).all()


def test_bounds_that_a_scale_takes_beyond_floating_point_are_refused():
    wide = X * [1, 1e200, 1, 1]
    grid = {"C": [1.0], "scale": ["maxabs"]}
    model = RankSVMCV(param_grid=grid, cv=2, upper_bounds={1: 1e200})
    with pytest.raises(ValueError, match="a bound or the prior of feature 1 is too large for its"):
        model.fit(wide, Y, QID)


def test_the_stored_signs_are_those_of_the_bounds():
    grid = {"C": [1.0], "positive": [False], "scale": ["standard"]}
    model = RankSVMCV(param_grid=grid, cv=2, lower_bounds=0).fit(X, Y, QID).to_model()
    assert model.parameters["positive"] is True
    assert model.parameters["scale"] == "standard"


def test_signs_hold_behind_quantiles():
    grid = {"C": [1.0], "scale": ["quantile", "query"]}
    model = RankSVMCV(param_grid=grid, cv=2, upper_bounds={0: 0}).fit(X, Y, QID)
    assert model.coef_[0] <= 0
    assert model.coef_[1:].any()


@pytest.mark.parametrize(
    ("grid", "options", "sentence"),
    [
        ({"scale": ["quantile"]}, {"lower_bounds": -1}, "only the signs carry over"),
        ({"scale": ["query"]}, {"prior": PRIOR}, "only the signs carry over"),
        ({"features": ["splines:4"]}, {"positive": True}, "makes others of the features"),
        ({"features": ["nystroem:9"]}, {"prior": PRIOR}, "makes others of the features"),
        ({"features": ["nystroem:9"]}, {"penalty_weights": {1: 2}}, "makes others of the features"),
        ({"positive": [True]}, {"upper_bounds": -1}, "positive contradicts upper_bounds"),
        ({"l1_ratio": [2]}, {}, "l1_ratio must be a number from 0 to 1, not 2"),
        ({"positive": ["yes"]}, {}, "positive must be True or False, not 'yes'"),
        ({"lower_bounds": [0]}, {}, "param_grid may have C, .*positive, l1_ratio"),
    ],
)
def test_what_cannot_be_asked_behind_maps_or_in_a_grid_is_refused(grid, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        RankSVMCV(param_grid=grid, cv=2, **options).fit(X, Y, QID)


def test_absolute_values_go_with_every_map():
    grid = {"C": [0.1], "features": ["splines:4", "nystroem:20"]}
    model = RankSVMCV(param_grid=grid, cv=2, l1_ratio=0.9).fit(X, Y, QID)
    assert 0 < np.count_nonzero(model.coef_) < len(model.coef_)


def test_ratios_compete():
    options = {"cv": 3, "tol": 1e-6, "n_threads": 1}
    model = RankSVMCV([0.1, 1.0], l1_ratio=[0, 0.5, 1], **options).fit(X, Y, QID)
    table = model.cv_results_
    assert table["param_l1_ratio"].tolist() == [0, 0, 0.5, 0.5, 1, 1]
    for k, ratio in enumerate([0, 0.5, 1]):
        alone = RankSVMCV([0.1, 1.0], l1_ratio=ratio, **options).fit(X, Y, QID)
        np.testing.assert_array_equal(
            table["mean_test_score"][2 * k : 2 * k + 2], alone.cv_results_["mean_test_score"]
        )
    by_grid = RankSVMCV(param_grid={"C": [0.1, 1.0], "l1_ratio": [0, 0.5, 1]}, **options)
    assert by_grid.fit(X, Y, QID).best_params_ == model.best_params_
    assert model.to_model().parameters["l1_ratio"] == model.best_params_["l1_ratio"]
    chosen = RankSVM(C=model.C_, l1_ratio=model.best_params_["l1_ratio"], tol=1e-6, n_threads=1)
    np.testing.assert_array_equal(model.coef_, chosen.fit(X, Y, QID).coef_)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_grid_is_the_path_of_single_fits(loss):
    Cs = [1e-6, 0.001, 0.01, 0.1, 1]
    asked = {"l1_ratio": 0.9, "lower_bounds": {"b": -0.1}, "prior": {"d": 0.1}, "loss": loss}
    asked |= {"tol": 1e-9 if loss == "squared_hinge" else 1e-5, "n_threads": 1}
    path = ranksvm_grid(FRAME, Y, QID, Cs=Cs, **asked)
    for C, coef, value in zip(Cs, path.coefs, path.objectives, strict=True):
        model = fitted(FRAME, C=C, **asked)
        assert value == pytest.approx(model.objective_, rel=2 * asked["tol"])
        np.testing.assert_allclose(coef, model.coef_, atol=10 * np.sqrt(asked["tol"]))
    assert np.count_nonzero(path.coefs[0]) == 1
    with pytest.raises(TypeError, match="ranksvm_grid has no parameter 'conditions'"):
        ranksvm_grid(X, Y, conditions=None)


def test_a_grid_knows_features_that_occur_nowhere():
    wide = sp.csr_matrix(
        (X.ravel(), np.tile([1, 9, 2000, 3000], 60), 4 * np.arange(61)), (60, 3500)
    )
    path = ranksvm_grid(wide, Y, QID, Cs=[0.1], prior={5: 2.0}, **EXACT)
    assert path.coefs[0, 5] == 2.0
    assert path.objectives[0] == pytest.approx(fitted(C=0.1).objective_, rel=1e-8)


def test_survival_and_its_choice_of_C():
    time, event = np.exp(-X[:, 0]), np.arange(60) % 3 > 0
    model = SurvivalSVM(upper_bounds={0: 0.2}, positive=True, l1_ratio=0.1).fit(
        X, event=event, time=time
    )
    assert model.coef_[0] == 0.2
    assert (model.coef_ >= 0).all()
    assert model.dual_gap_ <= 1e-3
    chosen = SurvivalSVMCV([0.1, 1], cv=3, l1_ratio=[0.1, 0.9], positive=True)
    chosen.fit(X, event=event, time=time, prior=model)
    assert (chosen.coef_ >= 0).all()
    assert chosen.best_params_["l1_ratio"] in (0.1, 0.9)


@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_models_say_what_was_asked_for(tmp_path, ending):
    asked = {
        "lower_bounds": {"a": -0.01, "c": 0.0},
        "upper_bounds": 2.0,
        "prior": {"b": 0.5},
        "l1_ratio": 0.25,
        "penalty_weights": {"d": 3.0},
    }
    model = fitted(FRAME, **asked)
    save_model(model, tmp_path / f"m.{ending}")
    stored = load_model(tmp_path / f"m.{ending}")
    assert {name: stored.parameters[name] for name in asked} == asked
    assert "positive" not in stored.parameters
    assert stored.training["n_at_bounds"] == sum(
        [model.coef_[0] == -0.01, model.coef_[2] == 0.0, *(model.coef_ == 2)]
    )
    again = fitted(FRAME, **{name: stored.parameters[name] for name in asked})
    np.testing.assert_array_equal(again.coef_, model.coef_)
    signs = fitted(FRAME, positive=True).to_model().parameters
    assert signs["positive"] is True
    assert "lower_bounds" not in signs
    assert not {"positive", "conditions", "prior"} & set(fitted(FRAME).to_model().parameters)
