"""Model files: exact, readable, and nothing in them is executed."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from ranksvm import RankSVM, load_model, save_model
from ranksvm.files.source import DataError
from ranksvm.models import LinearModel


@given(
    coef=arrays(
        np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)
    )
)
def test_round_trip_is_exact(tmp_path_factory, coef):
    path = tmp_path_factory.mktemp("model") / "model.json"
    save_model(LinearModel(coef), path)
    # A weight of -0.0 is not mentioned in the file and comes back as 0.0, the same number.
    np.testing.assert_array_equal(load_model(path).coef, coef)


def test_estimators_save_names_parameters_and_certificate(tmp_path):

    X = pd.DataFrame({"bm25": [0.0, 1.0, 2.0], "größe": [1.0, 0.0, 1.0]})
    model = RankSVM(C=2).fit(X, [0, 1, 2])
    save_model(model, tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text("utf-8"))
    assert content["weights"] == dict(zip(X.columns, model.coef_.tolist(), strict=True))
    assert content["parameters"]["C"] == 2
    assert content["training"]["status"] == "converged"
    assert content["training"]["dual_gap"] == model.dual_gap_
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.predict(np.ascontiguousarray(X)), model.predict(X))


def test_weights_can_be_written_by_hand(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(
        '{"format": "ranksvm linear model", "format_version": 1, "n_features": 4,'
        ' "weights": {"2": 1, "4": -0.5}}'
    )
    assert load_model(path).coef.tolist() == [0, 1, 0, -0.5]


GOOD = {
    "format": "ranksvm linear model",
    "format_version": 1,
    "n_features": 2,
    "weights": {"1": 1.0},
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "m.json is not a model file: it is empty"),
        ("{", "m.json, line 1, column 2: not JSON: Expecting property name"),
        ("[1, 2]", r"is not a model file: it begins with '\[1, 2\]'"),
        ('{"a":' * 100_000, "m.json: nested too deeply"),
        (
            json.dumps({**GOOD, "training": 1}).replace("1}", "[" * 33 + "]" * 33 + "}"),
            "too deeply",
        ),
        ("\x00\x01", r"not a model file: it begins with '\\x00\\x01'"),
        (json.dumps(GOOD)[:-1] + ', "weights": {}}', "'weights' is given twice: remove one"),
        ({**GOOD, "format": "other"}, '"format" must be'),
        (
            {**GOOD, "format_version": 99},
            "format version 99; this program reads versions 1 to 3",
        ),
        ({**GOOD, "n_features": 0}, '"n_features" must be a positive whole number, not 0'),
        ({**GOOD, "n_features": True}, '"n_features" must be'),
        ({**GOOD, "weights": [1]}, '"weights" must give a number'),
        ({**GOOD, "weights": {"3": 1}}, "has no feature '3'"),
        ({**GOOD, "weights": {"0": 1}}, "has no feature '0'$"),
        ({**GOOD, "feature_names": ["a", "b"]}, "has no feature '1': it knows them by name"),
        ({**GOOD, "weights": {"-1": 1}}, "has no feature '-1'"),
        ({**GOOD, "weights": {"1": "1"}}, "the weight of '1' must be a number, not '1'"),
        ({**GOOD, "weights": {"1": float("nan")}}, "the weight of '1' must be a number"),
        ({**GOOD, "weights": {"1": 10**400}}, "the weight of '1' must be a number"),
        ({**GOOD, "weights": {"9" * 5000: 1}}, "has no feature '999"),
        ({**GOOD, "feature_names": ["a"]}, '"feature_names" must list 2 names'),
        ({**GOOD, "feature_names": ["a", "a"]}, '"feature_names" must be texts, each another'),
        ({**GOOD, "feature_names": [[], {}]}, '"feature_names" must be texts, each another'),
        ({**GOOD, "parameters": []}, '"parameters" must give a value for each name'),
        ({**GOOD, "training": "x"}, '"training" must give a value for each name'),
        ('{"n_features": ' + "9" * 5000 + "}", "a number has thousands of digits"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, content, message):
    path = tmp_path / "m.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DataError, match=message):
        load_model(path)


def test_a_missing_file_gets_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*No such file"):
        load_model(tmp_path / "none.json")


def test_a_model_of_another_width_is_refused():
    with pytest.raises(ValueError, match="X has 3 features but the model has 2"):
        LinearModel(np.ones(2)).predict(np.ones((1, 3)))


def test_what_parameters_and_training_hold_comes_back(tmp_path):
    training = {"path": "/data/\udce9t\ud800", "rows": np.arange(2), "x": (np.float32(0.5), np.inf)}
    for name in ("m.json", "m.safetensors"):
        save_model(LinearModel(np.ones(1), ["\udc80"], {1: True}, training), tmp_path / name)
        loaded = load_model(tmp_path / name)
        assert loaded.feature_names == ["\udc80"]
        assert loaded.parameters == {"1": True}
        assert loaded.training == {"path": training["path"], "rows": [0, 1], "x": [0.5, None]}


def test_what_no_model_file_can_hold_is_refused(tmp_path):
    deep = {}
    for _ in range(40):
        deep = {"a": deep}
    for training, message in [
        ({"a": {1}}, "a model file holds numbers and texts, and no set"),
        (deep, "must not be nested so deeply"),
    ]:
        for name in ("m.json", "m.safetensors"):
            with pytest.raises(ValueError, match=message):
                save_model(LinearModel(np.ones(1), training=training), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_byte_order_mark_is_no_harm(tmp_path):
    (tmp_path / "m").write_text(json.dumps(GOOD), "utf-8-sig")
    assert load_model(tmp_path / "m").coef.tolist() == [1, 0]


@pytest.mark.parametrize("weights", [{"2147483647": -2, "7": 0.5}, {}])
def test_weights_of_some_features_take_no_memory_for_the_others(tmp_path, weights):
    content = {**GOOD, "n_features": 2147483647, "weights": weights}
    (tmp_path / "m").write_text(json.dumps(content))
    rows = csr_matrix(([3.0, 1.0], ([0, 1], [6, 2147483646])), shape=(2, 2147483647))
    expected = [3 * weights.get("7", 0), weights.get("2147483647", 0)]
    for name in ("m", "m.json", "m.safetensors"):
        model = load_model(tmp_path / "m")
        save_model(model, tmp_path / name)
        assert (tmp_path / name).stat().st_size < 1000
        model = load_model(tmp_path / name)
        assert len(model.weights.values) == len(weights)
        assert model.predict(rows).tolist() == expected


def test_of_two_numbers_of_a_feature_the_last_counts(tmp_path):
    (tmp_path / "m").write_text(json.dumps({**GOOD, "weights": {"2": 1, "1": 3, "02": 5}}))
    assert load_model(tmp_path / "m").coef.tolist() == [3, 5]


@pytest.mark.parametrize("kind", [list, np.asfortranarray, pd.DataFrame, csr_matrix, np.float32])
def test_models_score_rows_of_any_kind(kind):
    X = np.array([[1, 2, 0], [0, 4, 8]])
    model = LinearModel(np.array([1.0, -0.5, 0.25]))
    assert model.predict(kind(X)).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="X has 2 features but the model has 3"):
        model.predict(kind(X[:, :2]))
