"""Models as search engines have them, read back."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import RankSVM, export_model, load_model
from ranksvm.files.source import DataError
from ranksvm.models import LinearModel

WEIGHTS = arrays(np.float64, st.integers(1, 6), elements=st.floats(-10, 10)).filter(np.any)


@settings(max_examples=50)
@given(WEIGHTS, st.sampled_from(["solr", "elasticsearch", "opensearch", "ranklib"]))
def test_what_engines_have_is_read_back(weights, to):
    weights = np.where(np.abs(weights) < 1e-30, 0.0, weights)
    weights[0] = weights[0] or 1.0
    names = [f"feature {k}" for k in range(len(weights))]
    with TemporaryDirectory() as folder:
        export_model(LinearModel(weights, names), Path(folder, "model"), to)
        back = load_model(Path(folder, "model"))
    if to == "ranklib":
        np.testing.assert_array_equal(back.coef, weights[: len(back.coef)])
        assert not weights[len(back.coef) :].any()
    else:
        found = dict(zip(back.feature_names, back.coef, strict=True))
        assert found == {n: w for n, w in zip(names, weights, strict=True) if w}


@pytest.mark.parametrize("to", ["solr", "elasticsearch"])
def test_normalisers_are_read_back_into_the_weights(tmp_path, to):
    X, y = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RankSVM()).fit(X * 40 + np.arange(10), y)
    path, names = tmp_path / "model", [f"attribute(f{k})" for k in range(10)]
    export_model(pipeline, path, to, feature_names=names, scaling="normalizers")
    expected = pipeline[-1].coef_ / pipeline[0].scale_
    np.testing.assert_allclose(load_model(path).coef, expected, rtol=1e-15)


HOSTILE = [
    ('{"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"}', "not linear"),
    ('{"class": "org.apache.solr.ltr.model.LinearModel"}', "no params"),
    (
        '{"class": "org.apache.solr.ltr.model.LinearModel", "params": {"weights": {}},'
        ' "features": [{"name": "a"}]}',
        "lacks a weight for the feature 'a'",
    ),
    ('{"model": {"model": {"type": "model/xgboost+json"}}}', "'model/xgboost+json', not linear"),
    ('{"model": {"model": {"type": "model/linear", "definition": "{"}}}', "not JSON"),
    ('{"model": {"model": {"type": "model/linear", "definition": {"a": true}}}}', "'True' for 'a'"),
    ('{"model": {"model": {"type": "model/linear", "definition": {}}}}', "no weights"),
    (
        '{"model": {"model": {"type": "model/linear", "definition": {"a": 1}, '
        '"feature_normalizers": {"a": {"standard": {"standard_deviation": 0}}}}}}',
        "divides by 0",
    ),
    ("## Coordinate Ascent\n0:1", "line 2: expected index:weight"),
    ("## Coordinate Ascent\n1:1 1:2", "found '1:2'"),
    ("## Coordinate Ascent\n1:nan", "found '1:nan'"),
    ("## Coordinate Ascent\n", "before the weights"),
]


@pytest.mark.parametrize(("text", "message"), HOSTILE)
def test_bad_models_of_engines_are_refused(tmp_path, text, message):
    path = tmp_path / "model"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        load_model(path)
