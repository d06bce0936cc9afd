"""Scaling for training, and weights for features as they are."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ranksvm import RankSVM, RankSVMCV, dump_svmlight, load_model, save_model
from ranksvm.cli import main
from ranksvm.files.rows import CsrArrays
from ranksvm.files.svmlight import read_svmlight
from ranksvm.models.scaling import scale_factors

SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler}
SCALES = sorted(SCALERS)


@st.composite
def matrices(draw):
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    values = st.sampled_from([-3.0, -1.0, 0.0, 0.0, 0.5, 1.0, 7.0])
    X = np.array(draw(st.lists(values, min_size=n * d, max_size=n * d))).reshape(n, d)
    return (X + draw(st.sampled_from([0.0, 0.1, 1e6]))) * 10.0 ** draw(st.integers(-8, 100))


@given(matrices(), st.sampled_from(SCALES), st.booleans())
def test_factors_are_those_of_scikit_learn(X, scale, sparse):
    scaler = SCALERS[scale]().fit(X)
    expected = scaler.scale_ if scale == "minmax" else 1 / scaler.scale_
    factors = scale_factors(csr_matrix(X) if sparse else X, scale)
    np.testing.assert_allclose(factors, expected, rtol=1e-9)


@given(matrices(), st.sampled_from(SCALES), st.integers(-200, 200))
def test_units_do_not_matter(X, scale, exponent):
    X, unit = X / np.abs(X).max(initial=1e-300), 2.0**exponent
    factors = scale_factors(X, scale)
    constant = np.all(X[0] == X, axis=0) if scale != "maxabs" else np.all(X == 0, axis=0)
    expected = np.where(constant, 1.0, factors / unit)
    np.testing.assert_allclose(scale_factors(X * unit, scale), expected, rtol=1e-9)


@pytest.mark.parametrize(("value", "scale"), [(1e308, "minmax"), (1e-320, "maxabs")])
def test_what_cannot_be_scaled_is_refused(value, scale):
    with pytest.raises(ValueError, match="feature 2 of rows cannot be scaled"):
        scale_factors(np.array([[1.0, value], [2.0, -value]]), scale, name="rows", first=1)


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    X, y = load_wine(return_X_y=True)
    qid = np.arange(len(y)) % 7
    X = np.where(np.quantile(X, 0.3, axis=0) < X, X, 0.0)
    path = tmp_path_factory.mktemp("scaling") / "wine.svm"
    dump_svmlight(path, X, y, qid)
    return path, X, y, qid


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("sparse", [False, True])
def test_training_with_scale_is_the_pipeline(wine, tmp_path, scale, sparse):
    path, X, y, qid = wine
    if sparse:  # few entries, so that they are trained on as they are stored
        X = np.hstack([X, np.eye(len(X), 40)])
        path = tmp_path / "sparse.svm"
        dump_svmlight(path, X, y, qid)
        assert isinstance(read_svmlight(path).features, CsrArrays)
    assert main(["train", str(path), str(tmp_path / "m"), "--scale", scale, "--tol", "1e-10"]) == 0
    model = load_model(tmp_path / "m")
    scaler = SCALERS[scale]()
    pipeline = make_pipeline(scaler, RankSVM(tol=1e-10)).fit(X, y, ranksvm__qid=qid)
    factors = scaler.scale_ if scale == "minmax" else 1 / scaler.scale_
    np.testing.assert_allclose(model.coef / factors, pipeline[-1].coef_, rtol=1e-5, atol=1e-9)
    shift = model.predict(X) - pipeline.predict(X)
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)
    assert model.training["objective"] == pytest.approx(pipeline[-1].objective_, rel=1e-9)
    assert model.parameters["scale"] == scale


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [StandardScaler(with_std=False)],
        [MinMaxScaler((-1, 3))],
        [RobustScaler()],
        [MaxAbsScaler(), "passthrough", StandardScaler()],
        [],
    ],
    ids=str,
)
def test_a_pipeline_is_saved_for_features_as_they_are(wine, tmp_path, scalers):
    _, X, y, qid = wine
    names = [f"f{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    pipeline = make_pipeline(*scalers, RankSVM(C=2.0)).fit(frame, y, ranksvm__qid=qid)
    save_model(pipeline, tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    shift = model.predict(X) - pipeline.predict(frame)
    np.testing.assert_allclose(shift, shift[0], atol=1e-9)
    assert model.feature_names == names
    assert model.parameters["C"] == 2.0


def test_searches_are_saved_as_what_they_found(wine, tmp_path):
    _, X, y, _ = wine
    pipeline = make_pipeline(StandardScaler(), RankSVM())
    search = GridSearchCV(pipeline, {"ranksvm__C": [0.1, 1.0]}, cv=KFold(3, shuffle=True)).fit(X, y)
    chosen = make_pipeline(StandardScaler(), RankSVMCV([0.1, 1.0], cv=3)).fit(X, y)
    for model, C in [(search, search.best_params_["ranksvm__C"]), (chosen, chosen[-1].C_)]:
        save_model(model, tmp_path / "model.json")
        stored = load_model(tmp_path / "model.json")
        shift = stored.predict(X) - model.predict(X)
        np.testing.assert_allclose(shift, shift[0], atol=1e-9)
        assert stored.parameters["C"] == C


@pytest.mark.parametrize("step", [PCA(2), MinMaxScaler(clip=True)])
def test_a_pipeline_that_does_more_is_refused(wine, tmp_path, step):
    _, X, y, _ = wine
    pipeline = make_pipeline(step, RankSVM()).fit(X, y)
    with pytest.raises(ValueError, match="holds weights, and maps of features that it knows, but"):
        save_model(pipeline, tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_deviations_come_from_blocks(monkeypatch, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4)) * [1, 1e-6, 0, 1e5] + [0, 0, 3, 1e6]
    whole = scale_factors(kind(X), "standard")
    monkeypatch.setattr("ranksvm.models.scaling.BLOCK_VALUES", 50)
    np.testing.assert_allclose(scale_factors(kind(X), "standard"), whole, rtol=1e-12)
