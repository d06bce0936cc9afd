"""Features that occur nowhere: they cost nothing, and change nothing."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ranksvm import (
    RankSVM,
    RankSVMCV,
    dump_svmlight,
    load_model,
    load_svmlight,
    ranksvm_grid,
    save_model,
)
from ranksvm.files.conversion import convert_model
from ranksvm.files.svmlight import read_svmlight
from ranksvm.jobs.features import prepared
from ranksvm.jobs.scoring import predict
from ranksvm.jobs.training import train_on_rows
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.occurring import FEW, SPARE, Columns, FeatureWeights, occurring
from ranksvm.linear.parameters import Parameters
from ranksvm.models import LinearModel
from ranksvm.models.from_estimators import model_of
from ranksvm.plots import CoefficientsDisplay, RegularizationCurveDisplay
from reference import enumerate_pairs, objective
from strategies import examples

MANY = 2_000_000_000
SOLVERS = ["newton", "trust_region", "bundle", "auto"]


def few_columns(seed=0, n=20, k=8, dtype=np.float64):
    """Rows in which every column occurs, once in two rows, with labels and queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) * (rng.random((n, k)) < 0.5)
    X[rng.integers(0, n, k), np.arange(k)] = 1.5
    return csr_matrix(X.astype(dtype)), rng.integers(0, 3, n), np.arange(n) // 10


def spread(X, features, n_features):
    """Give the columns of X the numbers of these features, of so many."""
    parts = X.data, np.asarray(features)[X.indices], X.indptr
    return csr_matrix(parts, shape=(X.shape[0], n_features))


def hashed(n_features=MANY, **kinds):
    X, y, qid = few_columns(**kinds)
    features = np.linspace(3, n_features - 1, X.shape[1]).astype(np.int64)
    return X, spread(X, features, n_features), features, y, qid


@examples(40)
@given(
    features=st.sets(st.integers(0, 4999), min_size=8, max_size=8).map(sorted),
    seed=st.integers(0, 20),
    solver=st.sampled_from(SOLVERS),
    loss=st.sampled_from(["hinge", "squared_hinge"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_training_is_that_of_the_columns_that_occur(features, seed, solver, loss, dtype):
    X, y, qid = few_columns(seed, dtype=dtype)
    expected = RankSVM(loss=loss, solver=solver, n_threads=1).fit(X, y, qid)
    model = RankSVM(loss=loss, solver=solver, n_threads=1).fit(spread(X, features, 5000), y, qid)
    assert model.coef_[features].tobytes() == expected.coef_.tobytes()
    assert np.flatnonzero(model.coef_).tolist() == [
        features[k] for k in np.flatnonzero(expected.coef_)
    ]
    assert model.coef_.shape == (5000,)
    certificate = [(one.objective_, one.dual_gap_, one.n_iter_) for one in (model, expected)]
    assert certificate[0] == certificate[1]


def test_the_certificate_is_that_of_all_features():
    X, y, qid = few_columns()
    features = np.arange(8) * 300
    model = RankSVM(normalize=None, tol=1e-6).fit(spread(X, features, 3000), y, qid)
    everywhere = np.zeros((20, 3000))
    everywhere[:, features] = X.toarray()
    value = objective(enumerate_pairs(y, qid), everywhere, model.coef_)
    assert value == pytest.approx(model.objective_, rel=1e-12)
    dense = RankSVM(normalize=None, tol=1e-6).fit(everywhere, y, qid)
    assert model.objective_ * (1 - model.dual_gap_) <= dense.objective_


def test_all_of_an_estimator_with_billions_of_features():
    X, wide, _, y, qid = hashed()
    narrow = RankSVM().fit(X, y, qid)
    model = RankSVM().fit(wide, y, qid)
    assert model.n_features_in_ == MANY
    np.testing.assert_array_equal(model.predict(wide), narrow.predict(X))
    assert model.score(wide, y, qid) == narrow.score(X, y, qid)
    copy = pickle.dumps(model)
    assert len(copy) < 10_000
    np.testing.assert_array_equal(pickle.loads(copy).predict(wide), narrow.predict(X))
    again = RankSVM(warm_start=True)
    again.weights_ = RankSVM(tol=1e-6).fit(wide, y, qid).weights_
    with pytest.raises(ValueError, match="the previous fit had 2000000000 features, X has 8"):
        again.fit(X, y, qid)
    assert again.fit(wide, y, qid).n_iter_ == 0


def test_a_dense_copy_of_some_weights_is_not_to_be_written_to():
    X, wide, _, y, qid = hashed(5_000_000)
    model = RankSVM().fit(wide, y, qid)
    assert model.coef_ is model.coef_
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0] = 1
    assert len(pickle.dumps(model)) < 10_000
    model.coef_ = 2 * model.coef_
    np.testing.assert_allclose(model.predict(wide), 2 * RankSVM().fit(wide, y, qid).predict(wide))
    narrow = RankSVM().fit(X, y, qid)
    narrow.coef_[:] = 0
    assert not narrow.predict(X).any()


def test_grids_and_folds():
    X, wide, features, y, qid = hashed(3_000_000)
    expected, grid = (ranksvm_grid(rows, y, qid, [0.1, 1, 10]) for rows in (X, wide))
    assert grid.coefs.shape == (3, 3_000_000)
    np.testing.assert_array_equal(grid.coefs[:, features], expected.coefs)
    curve, other = (
        RegularizationCurveDisplay.from_grid(g, rows, y, qid)
        for g, rows in [(expected, X), (grid, wide)]
    )
    np.testing.assert_array_equal(curve.mean, other.mean)
    narrow, model = (RankSVMCV([0.1, 1], cv=2).fit(rows, y, qid) for rows in (X, wide))
    for name, column in narrow.cv_results_.items():
        np.testing.assert_array_equal(model.cv_results_[name], column)
    np.testing.assert_array_equal(model.predict(wide), narrow.predict(X))


@pytest.mark.parametrize("name", ["m.json", "m.safetensors", "m.svmrank"])
@pytest.mark.parametrize("scale", [None, "standard", "minmax", "maxabs"])
def test_files(tmp_path, name, scale):
    X, wide, _, y, qid = hashed()
    dump_svmlight(tmp_path / "narrow", X, y, qid)
    dump_svmlight(tmp_path / "wide", wide, y, qid)
    narrow, rows = read_svmlight(tmp_path / "narrow"), read_svmlight(tmp_path / "wide")
    assert load_svmlight(tmp_path / "wide")[0].shape == (20, MANY)
    expected = train_on_rows(narrow, Parameters(), prepared=prepared(narrow, scale))[1]
    model = train_on_rows(rows, Parameters(), prepared=prepared(rows, scale))[1]
    np.testing.assert_array_equal(predict(model, rows, 1), predict(expected, narrow, 1))
    save_model(model, tmp_path / "m.json")
    convert_model(tmp_path / "m.json", tmp_path / name, to=name[2:])
    loaded = load_model(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 3000
    assert loaded.n_features == MANY
    np.testing.assert_array_equal(predict(loaded, rows, 1), predict(model, rows, 1))
    # Rows that end before the features of the model do.
    short = replace(narrow, n_features=8)
    weights = np.zeros(8)
    weights[3] = dict(zip(*map(list, model.weights.nonzero()), strict=True))[3]
    np.testing.assert_allclose(predict(model, short, 1), X @ weights)


def test_files_of_numbers_alone_have_a_line_for_every_feature(tmp_path):
    weights = {0: -0.5, 70_000: 1e-300, 140_001: 2.5}
    model = LinearModel(FeatureWeights.of_some(weights, 300_000))
    for to in ("weights", "liblinear"):
        save_model(model, tmp_path / "m.json")
        convert_model(tmp_path / "m.json", tmp_path / to, to=to)
        numbers = (tmp_path / to).read_text().split("\n")[-300_001:-1]
        assert {k: float(v) for k, v in enumerate(numbers) if v != "0"} == weights


@examples(60)
@given(st.data())
def test_weights_at_columns(data):
    n = data.draw(st.sampled_from([30, 5000]))
    some = data.draw(st.dictionaries(st.integers(0, n - 1), st.integers(-3, 3), max_size=9))
    weights = FeatureWeights.of_some(some, n)
    m = data.draw(st.integers(1, n))
    chosen = data.draw(st.sets(st.integers(0, m - 1), max_size=9).map(sorted))
    truth = np.array([some.get(k, 0.0) for k in range(m)])
    for columns in (Columns(m), Columns(m, np.array(chosen, dtype=np.int64))):
        expected = truth if columns.features is None else truth[chosen]
        for ours in (weights, FeatureWeights.of(weights.dense)):
            assert ours.at(columns).tolist() == expected.tolist()
    assert dict(zip(*map(list, weights.nonzero()), strict=True)) == {
        k: v for k, v in some.items() if v
    }
    factors = np.arange(1.0, n + 1)
    np.testing.assert_array_equal(weights.times(factors).dense, weights.dense * factors)


def test_ordinary_data_are_left_as_they_are():
    X, _, _ = few_columns()
    for n_features in (8, FEW):
        wide = spread(X, np.arange(8), n_features)
        indptr, indices, columns = occurring(wide.indptr, wide.indices, n_features)
        assert indptr is wide.indptr
        assert indices is wide.indices
        assert columns.features is None
    n = 600
    rows = csr_matrix((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, SPARE * n))
    assert DesignMatrix.from_array(rows).shape == (n, 2 * n)
    rows.resize(n, SPARE * n + 1)
    assert DesignMatrix.from_array(rows).shape == (n, n)
    rows.data[:] = 0
    assert DesignMatrix.from_array(rows).shape == (n, n)  # stored, if only as zeros


@pytest.mark.parametrize("n_features", [3000, 300_000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_places_lead_back_to_features(n_features, dtype):
    rng = np.random.default_rng(0)
    some = rng.choice(n_features, 700, replace=False).astype(dtype)
    stored, indptr = rng.choice(some, 2000), np.arange(0, 2001, 20)
    same, places, columns = occurring(indptr, stored, n_features)
    assert same is indptr
    np.testing.assert_array_equal(columns.features, np.unique(stored))
    np.testing.assert_array_equal(columns.features[places], stored)


def test_unsorted_rows_and_long_numbers():
    X, wide, features, y, qid = hashed()
    expected = RankSVM().fit(wide, y, qid).predict(wide)
    for i in range(20):
        part = slice(wide.indptr[i], wide.indptr[i + 1])
        wide.indices[part], wide.data[part] = wide.indices[part][::-1], wide.data[part][::-1]
    wide.has_sorted_indices = False
    np.testing.assert_allclose(RankSVM().fit(wide, y, qid).predict(wide), expected, rtol=1e-6)
    far = csr_matrix((X.data, features[X.indices] + (1 << 40), X.indptr), shape=(20, 1 << 41))
    assert far.indices.dtype == np.int64
    matrix = DesignMatrix.from_array(far)
    np.testing.assert_array_equal(matrix.columns.features, features + (1 << 40))
    np.testing.assert_allclose(matrix.dot(np.ones(8)), X @ np.ones(8), rtol=1e-14)


@pytest.mark.parametrize("outside", [-1, 5000])
def test_columns_that_are_none(outside):
    indices = np.array([outside, 3], dtype=np.int32)
    with pytest.raises(ValueError, match="a column index lies outside the matrix"):
        DesignMatrix.from_csr(np.array([0, 1, 2], dtype=np.int32), indices, np.ones(2), 5000)


def test_rows_of_nothing():
    wide = csr_matrix((3, 5000))
    model = RankSVM().fit(wide, [0, 1, 2])
    assert not model.coef_.any()
    assert not model.predict(wide).any()


def test_devices():
    X, wide, features, y, qid = hashed(3_000_000)
    model = RankSVM(device="numpy:cpu").fit(wide, y, qid)
    assert model.weights_.columns.features.tolist() == features.tolist()
    expected = RankSVM(device="numpy:cpu").fit(X, y, qid)
    np.testing.assert_array_equal(model.weights_.values, expected.weights_.values)


def test_pictures_and_pipelines():
    X, wide, features, y, qid = hashed(50_000)
    names = [f"x{k}" for k in features]
    narrow = RankSVM().fit(X, y, qid)
    deviations = np.asarray(X.toarray().std(axis=0))
    display = CoefficientsDisplay.from_estimator(RankSVM().fit(wide, y, qid), wide)
    order = np.argsort(-np.abs(narrow.coef_ * deviations), kind="stable")
    assert display.shown_.tolist() == features[order].tolist()
    shown = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert shown == [names[k] for k in order]
    assert display.ax_.get_title("left") == "8 of 50,000 weights are not zero"
    pipeline = make_pipeline(MaxAbsScaler(), RankSVM()).fit(wide, y)
    other = make_pipeline(MaxAbsScaler(), RankSVM()).fit(X, y)
    np.testing.assert_array_equal(model_of(pipeline).predict(wide), model_of(other).predict(X))
