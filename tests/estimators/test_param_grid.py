"""Weights of pairs, scales and features chosen together with C."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cases import make_problem
from ranksvm import QueryScaler, RankSVM, RankSVMCV, dump_svmlight, load_model, save_model
from ranksvm.cli import main
from ranksvm.models.maps import NystroemMap, QuantileMap, QueryMap, SplineMap
from ranksvm.selection import contest
from ranksvm.selection.cross_validation import cross_validate

CS = [0.01, 1.0]


@pytest.fixture(scope="module")
def problem():
    X, y, qid = make_problem(3, n=160, d=4, n_queries=16)
    return X * [1, 10, 0.1, 1], np.clip(np.round(y), 0, 4), qid


def test_all_combinations_compete(problem):
    grid = {"C": CS, "pair_weight": [None, "ndcg"], "scale": [None, "standard"]}
    model = RankSVMCV(param_grid=grid, cv=4, scoring="ndcg@5").fit(*problem)
    table = model.cv_results_
    assert len(table["params"]) == len(table["mean_test_score"]) == len(model.Cs_) == 8
    of_each = {
        tuple(params[name] for name in ("C", "pair_weight", "scale")): score
        for params, score in zip(table["params"], table["mean_test_score"], strict=True)
    }
    assert len(of_each) == 8
    plain = RankSVMCV(CS, cv=4, scoring="ndcg@5", pair_weight="ndcg").fit(*problem)
    scores = [of_each[C, "ndcg", None] for C in CS]
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], scores)
    assert model.best_score_ == max(of_each.values())
    assert of_each[tuple(model.best_params_[n] for n in ("C", "pair_weight", "scale"))] == (
        model.best_score_
    )


@pytest.mark.parametrize(
    ("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_scales_go_into_the_weights(problem, scale, scaler):
    X, y, qid = problem
    model = RankSVMCV(param_grid={"C": [1.0], "scale": [scale]}, tol=1e-9).fit(X, y, qid)
    scaled = RankSVM(tol=1e-9).fit(scaler.fit_transform(X), y, qid)
    np.testing.assert_allclose(
        model.coef_,
        scaled.coef_ / scaler.scale_ if scale == "standard" else scaled.coef_ * scaler.scale_,
        rtol=1e-4,
    )
    assert model.maps_ == ()
    assert model.score(X, y, qid) == pytest.approx(scaled.score(scaler.transform(X), y, qid))


@pytest.mark.parametrize("storage", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ({"scale": ["quantile"]}, [QuantileMap]),
        ({"scale": ["query"]}, [QueryMap]),
        ({"scale": ["minmax"], "features": ["splines:4"]}, [None, SplineMap]),
        ({"features": ["nystroem:20"]}, [None, NystroemMap]),
    ],
)
def test_maps_are_kept_and_saved(problem, tmp_path, storage, settings, kinds):
    X, y, qid = problem
    X = storage(X)
    model = RankSVMCV(param_grid={"C": CS, **settings}, cv=3).fit(X, y, qid)
    assert [type(one) for one in model.maps_][-1] is kinds[-1]
    assert len(model.maps_) == len(kinds)
    scores = model.predict(X, qid=qid)
    assert model.score(X, y, qid) > 0.5
    save_model(model, tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_allclose(loaded.predict(X, qid=qid), scores, rtol=1e-12, atol=1e-12)
    assert loaded.parameters["C"] == model.C_


def test_features_scaled_within_queries_are_those_of_the_transformer(problem):
    X, y, qid = problem
    model = RankSVMCV(param_grid={"C": [1.0], "scale": ["query"]}, tol=1e-9).fit(X, y, qid)
    scaled = QueryScaler().fit(X).transform(X, qid=qid)
    plain = RankSVM(tol=1e-9).fit(scaled, y, qid)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-4)
    with pytest.raises(ValueError, match="the model maps features within queries: give qid"):
        model.predict(X)


def test_of_those_that_are_hardly_worse_the_first_is_chosen(problem):
    grid = [{"scale": ["standard"]}, {"scale": ["quantile"], "pair_weight": [None, "ndcg"]}]
    options = {"param_grid": grid, "cv": 4, "one_standard_error": True}
    model = RankSVMCV(CS, **options).fit(*problem)
    table = model.cv_results_
    best = np.argmax(table["mean_test_score"])
    least = table["mean_test_score"][best] - table["standard_error"][best]
    assert model.best_index_ == np.flatnonzero(table["mean_test_score"] >= least)[0]


def test_the_grid_that_needs_no_thought(problem, tmp_path, capsys):
    X, y, qid = problem
    model = RankSVMCV(2, param_grid="auto", cv=3, scoring="ndcg@10").fit(X, y, qid)
    assert len(model.Cs_) == 8
    assert model.dual_gap_ <= 1e-3 < model.cv_results_["max_dual_gap"].max() <= 0.1
    dump_svmlight(tmp_path / "d.svm", X, y, qid)
    stored, table = tmp_path / "m.json", tmp_path / "t.csv"
    command = ["cv", tmp_path / "d.svm", stored, "--auto", "--Cs", 2, "--folds", 3]
    command += ["--metric", "ndcg@10", "--table", table, "--plot", tmp_path / "p.png"]
    assert main(list(map(str, command))) == 0
    shown = capsys.readouterr().out
    assert f"{model.best_score_:.6f}" in shown
    assert "features=nystroem" in shown
    assert len(table.read_text().splitlines()) == 9
    assert (tmp_path / "p.png").stat().st_size > 1000
    np.testing.assert_allclose(
        load_model(stored).predict(X, qid=qid), model.predict(X, qid=qid), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize(("sign", "ends"), [(1, [1e2, 1e3, 1e4]), (-1, [1e-2, 1e-3, 1e-4])])
def test_what_is_best_at_an_end_goes_on(problem, sign, ends):
    def spread(y, scores, qid):
        return sign * np.std(scores)

    X, y, qid = problem
    model = RankSVMCV(param_grid="auto", cv=3, scoring=spread, refit=False).fit(X, y, qid)
    assert len(model.Cs_) == 4 * 3 + 3 == len(model.cv_results_["params"])
    chosen = dict(model.best_params_)
    of_chosen = [
        one["C"] for one in model.cv_results_["params"] if {**one, "C": 0} == {**chosen, "C": 0}
    ]
    np.testing.assert_allclose(of_chosen, [0.1, 1, 10, *ends])
    assert model.C_ == of_chosen[-1] == model.Cs_[model.best_index_]


def test_beyond_an_end_folds_go_on_from_where_they_ended(problem, monkeypatch):
    starts = []

    def noted(*args, **options):
        starts.append(options["starts"])
        return cross_validate(*args, **options)

    monkeypatch.setattr(contest, "cross_validate", noted)
    for sign in (1, -1):
        RankSVMCV(
            param_grid="auto", cv=3, scoring=partial(_spread, sign), refit=False, n_threads=1
        ).fit(*problem)
    up, down = starts[: len(starts) // 2], starts[len(starts) // 2 :]
    assert [sorted(one or {}) for one in up[-3:]] == [[0, 1, 2]] * 3
    assert not any(down)
    assert len({one[0].tobytes() for one in up[-3:]}) > 1


def _spread(sign, y, scores, qid):
    return sign * np.std(scores)


def test_folds_of_the_short_list_have_two_rounds_and_the_model_all(problem):
    X, y, qid = problem
    options = {"cv": 3, "scoring": "ndcg@5", "n_threads": 1}
    grid = [{"scale": ["quantile"], "pair_weight": ["ndcg"], "n_rounds": [2]}]
    two = RankSVMCV([1.0], param_grid=grid, tol=0.1, **options).fit(X, y, qid)
    auto = RankSVMCV([1.0], param_grid="auto", n_rounds=4, **options).fit(X, y, qid)
    params = [
        one["scale"] == "quantile" and not one["features"] for one in auto.cv_results_["params"]
    ]
    place = params.index(True)
    for fold in range(3):
        name = f"split{fold}_test_score"
        assert auto.cv_results_[name][place] == two.cv_results_[name][0]
    if auto.best_params_["pair_weight"] == "ndcg":
        assert max(line.round for line in auto.history_) == 3


def test_values_of_C_that_are_given_are_all(problem):
    def spread(y, scores, qid):
        return np.std(scores)

    model = RankSVMCV(CS, param_grid="auto", cv=3, scoring=spread, refit=False).fit(*problem)
    assert len(model.Cs_) == 4 * len(CS)


def test_the_choice_is_the_same_for_any_number_of_threads(problem):
    one, two = (
        RankSVMCV(param_grid="auto", cv=3, scoring="ndcg@5", n_threads=k).fit(*problem)
        for k in (1, 2)
    )
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_features_are_mapped_once(problem, tmp_path, monkeypatch):
    X, y, qid = problem
    dump_svmlight(tmp_path / "d.svm", X, y, qid)
    fitted, made = NystroemMap.fitted, []

    def counted(X, n_components):
        made.append(n_components)
        return fitted(X, n_components)

    monkeypatch.setattr(NystroemMap, "fitted", counted)
    command = ["cv", tmp_path / "d.svm", tmp_path / "m.json", "--auto", "--Cs", 1, "--folds", 3]
    assert main(list(map(str, command))) == 0
    assert len(made) == 1


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"gamma": [1]}, "param_grid may have C, loss, pair_weight, .*, not 'gamma'"),
        ({"pair_weight": ["ndgc"]}, "pair_weight must be one of .*, not 'ndgc'"),
        ({"scale": ["quantiles"]}, "scale must be None or one of .*, not 'quantiles'"),
        ({"features": ["pca"]}, "features must be nystroem or splines, .* not 'pca'"),
        ("best", "param_grid must give lists of values by name, or be 'auto', not 'best'"),
        ([], "param_grid is empty"),
        ({"C": [-1]}, "C"),
    ],
)
def test_what_is_none_of_it_is_refused(problem, grid, message):
    with pytest.raises(ValueError, match=message):
        RankSVMCV(param_grid=grid).fit(*problem)


def test_a_scale_beside_the_choice_among_scales_is_refused(tmp_path, problem, capsys):
    dump_svmlight(tmp_path / "d.svm", *problem)
    assert main(["cv", str(tmp_path / "d.svm"), "--auto", "--scale", "minmax"]) == 2
    assert "--auto tries several of each: leave out --scale" in capsys.readouterr().err
