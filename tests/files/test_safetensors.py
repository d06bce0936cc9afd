"""The binary form of models: exact, checked byte by byte, whole or not at all."""

import gzip
import json
import lzma
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from ranksvm import LinearModel, RankSVM, convert_model, load_model, save_model
from ranksvm.files.model import is_model_file
from ranksvm.files.source import DataError
from ranksvm.models.maps.chains import parts_of

MODELS = Path(__file__).parent / "models"
SCORES_OF_VERSION_3 = [-1.1150158082528077, 1.404825440166728, 1.4286846428702524]
SCORES_OF_VERSION_2 = [0.030440787088474294, -0.8082478057082211, -0.23089941665102431]
METADATA = {"format": "ranksvm linear model", "format_version": "1"}
WEIGHTS = struct.pack("<2d", 0.5, -2.0)


def tensor(**changes):
    return {"dtype": "F64", "shape": [2], "data_offsets": [0, 16], **changes}


def layout(header, data=WEIGHTS, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


GOOD = {"__metadata__": METADATA, "weights": tensor()}


@given(
    coef=arrays(
        np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)
    ),
    named=st.booleans(),
    training=st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), st.text())),
)
def test_round_trip_is_exact(tmp_path_factory, coef, named, training):
    path = tmp_path_factory.mktemp("model") / "m.safetensors"
    names = [f"größe {k}" for k in range(len(coef))] if named else None
    save_model(LinearModel(coef, names, {"C": 1.5, "normalize": None}, training), path)
    loaded = load_model(path)
    assert loaded.coef.tobytes() == coef.tobytes()
    assert loaded.coef.flags.writeable
    assert loaded.coef.flags.aligned
    assert loaded.feature_names == names
    assert loaded.parameters == {"C": 1.5, "normalize": None}
    assert loaded.training == training


def test_both_forms_hold_the_same(tmp_path):
    model = RankSVM(C=2).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 2])
    for name in ("m.json", "m.safetensors", "M.SAFETENSORS", "m.json.gz", "m.safetensors.xz"):
        save_model(model, tmp_path / name)
    for name in ("n.json.bz2", "n.safetensors.gz"):
        convert_model(tmp_path / "m.json", tmp_path / name)
    assert lzma.decompress((tmp_path / "m.safetensors.xz").read_bytes())[8:9] == b"{"
    assert gzip.decompress((tmp_path / "n.safetensors.gz").read_bytes())[8:9] == b"{"
    one, *others = [load_model(path) for path in tmp_path.iterdir()]
    for other in others:
        np.testing.assert_array_equal(other.coef, one.coef)
        assert (other.parameters, other.training) == (one.parameters, one.training)
    assert all(map(is_model_file, tmp_path.iterdir()))


def test_the_form_is_told_by_the_content(tmp_path):
    save_model(LinearModel(np.array([1.0, 2.0])), tmp_path / "m.safetensors")
    os.rename(tmp_path / "m.safetensors", tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").coef.tolist() == [1, 2]


@pytest.mark.parametrize("length", range(0x70, 0x490, 8))
def test_a_header_of_any_length_is_no_pickle(tmp_path, length):
    """The first byte of some lengths is that of pickles."""
    text = json.dumps(GOOD).encode()
    (tmp_path / "m").write_bytes(layout(text + b" " * (max(0, length - len(text)))))
    assert load_model(tmp_path / "m").coef.tolist() == [0.5, -2]


def test_the_layout_is_that_of_the_format(tmp_path):
    save_model(LinearModel(np.array([1.0, 2.0, 4.0])), tmp_path / "m.safetensors")
    content = (tmp_path / "m.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    header = json.loads(content[8 : 8 + length])
    assert header["weights"] == {"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}
    assert all(isinstance(value, str) for value in header["__metadata__"].values())
    assert struct.unpack("<3d", content[8 + length :]) == (1, 2, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (layout(GOOD, length=1 << 63), "bytes 1 to 8: the header cannot be 9223372036854775808"),
        (layout(GOOD, length=200_000_000), "the header cannot be 200000000 bytes long"),
        (layout(GOOD, length=1000), "bytes 1 to 8: the header cannot be 1000 bytes long, in a"),
        (layout(GOOD, length=1), "the header cannot be 1 bytes long"),
        (layout(GOOD)[:-1], "2 weights take 16 bytes but 15 follow the header, from byte"),
        (layout(GOOD) + b"x", "2 weights take 16 bytes but 17 follow"),
        (layout(b'{"a":' * 100_000), "header from byte 9 on: nested too deeply"),
        (
            layout(b'{"weights": 1, "weights": 2}'),
            "from byte 9 on: 'weights' is given twice: remove one",
        ),
        (layout(b'{"weights": \xff}'), "from byte 9 on: not UTF-8 text, from byte 13 on"),
        (layout({"__metadata__": METADATA}), "must hold one tensor, .weights.; it holds none"),
        (layout({**GOOD, "bias": tensor()}), "it holds 'bias', 'weights'"),
        (layout({**GOOD, "__metadata__": {"format": 1}}), "must give a text for each name"),
        (layout({**GOOD, "__metadata__": []}), "must give a text for each name"),
        (layout({**GOOD, "weights": 1}), "must have a dtype, a shape and data_offsets"),
        (layout({**GOOD, "weights": tensor(dtype="F32")}), "must be F64, not 'F32'"),
        (layout({**GOOD, "weights": tensor(shape=[1, 2])}), "one positive whole number, not"),
        (layout({**GOOD, "weights": tensor(shape=[-2])}), "one positive whole number, not"),
        (layout({**GOOD, "weights": tensor(shape=[0], data_offsets=[0, 0])}), "one positive"),
        (layout({**GOOD, "weights": tensor(shape=[True])}), "one positive whole number, not"),
        (layout({**GOOD, "weights": tensor(shape=[1 << 62])}), "one positive whole number, not"),
        (layout({**GOOD, "weights": tensor(data_offsets=[8, 24])}), r"must be \[0, 16\], as its"),
        (layout({**GOOD, "weights": tensor(data_offsets=[0, 1 << 70])}), r"must be \[0, 16\]"),
        (layout({**GOOD, "weights": tensor(data_offsets=[16, 0])}), r"must be \[0, 16\]"),
        (layout({**GOOD, "weights": tensor(data_offsets=[0.0, 16.0])}), r"must be \[0, 16\]"),
        (layout(GOOD, struct.pack("<2d", 1, np.nan)), "feature 2 must be a number, not nan"),
        (layout(GOOD, struct.pack("<2d", -np.inf, 1)), "feature 1 must be a number, not -inf"),
        (layout({"weights": tensor()}), '"format" must be "ranksvm linear model"'),
        (
            layout({**GOOD, "__metadata__": {**METADATA, "format_version": "4"}}),
            "has format version 4; this program reads versions 1 to 3: use the version",
        ),
        (
            layout({**GOOD, "__metadata__": {**METADATA, "feature_names": "[1, 2]"}}),
            '"feature_names" must be texts',
        ),
        (
            layout({**GOOD, "__metadata__": {**METADATA, "feature_names": '["a"]'}}),
            '"feature_names" must list 2 names',
        ),
        (
            layout({**GOOD, "__metadata__": {**METADATA, "training": "{"}}),
            '"training" in "__metadata__", line 1, column 2: not JSON: Expecting',
        ),
        (
            layout({**GOOD, "__metadata__": {**METADATA, "parameters": "[]"}}),
            '"parameters" must give a value for each name',
        ),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, content, message):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as refusal:
        load_model(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    for model, message in [
        (LinearModel(np.array([1.0, np.nan])), "the weight of feature 2 is nan, not finite"),
        (LinearModel(np.ones(2), ["a", "a"]), "two features of the model have the name 'a'"),
        (LinearModel(np.ones(2), ["a"]), "has 2 weights but 1 feature names"),
    ]:
        for name in ("m.json", "m.safetensors"):
            with pytest.raises(ValueError, match=message):
                save_model(model, tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_names_that_take_too_much_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("ranksvm.files.safetensors._MAX_HEADER", 100)
    with pytest.raises(ValueError, match=r"more than a safetensors file holds .*save it as JSON"):
        save_model(LinearModel(np.ones(1)), tmp_path / "m.safetensors")
    assert os.listdir(tmp_path) == []


def test_the_safetensors_package_reads_what_is_written(tmp_path):
    coef, names = np.array([0.1, -0.0, 5e-324, -1e308]), ["größe", "b", '"', "\n"]
    model = LinearModel(coef, names, {"C": 1.5}, {"status": "converged"})
    save_model(model, tmp_path / "m.safetensors")
    with safetensors.safe_open(tmp_path / "m.safetensors", framework="numpy") as file:
        assert list(file.keys()) == ["weights"]
        weights, metadata = file.get_tensor("weights"), file.metadata()
    assert weights.tobytes() == coef.tobytes()
    assert weights.dtype == np.float64
    assert {key: metadata.pop(key) for key in METADATA} == METADATA
    assert {key: json.loads(value) for key, value in metadata.items()} == {
        "feature_names": names,
        "parameters": {"C": 1.5},
        "training": {"status": "converged"},
    }


@given(
    coef=arrays(
        np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)
    ),
    parameters=st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), st.text())),
)
def test_what_the_safetensors_package_writes_is_read(tmp_path_factory, coef, parameters):
    path = tmp_path_factory.mktemp("m") / "m"
    names = [f"größe {k}" for k in range(len(coef))]
    more = {"feature_names": json.dumps(names), "parameters": json.dumps(parameters)}
    safetensors.numpy.save_file({"weights": coef}, path, metadata={**METADATA, **more, "a": "b"})
    model = load_model(path)
    assert model.coef.tobytes() == coef.tobytes()
    assert (model.feature_names, model.parameters) == (names, parameters)


def test_what_the_safetensors_package_writes_otherwise_is_refused(tmp_path):
    path = tmp_path / "m"
    safetensors.numpy.save_file({"weights": np.ones(2, np.float32)}, path, metadata=METADATA)
    with pytest.raises(DataError, match="the dtype of \"weights\" must be F64, not 'F32'"):
        load_model(path)


@pytest.mark.parametrize("name", ["version1.json", "version1.safetensors"])
def test_models_of_version_1_are_read_and_written(tmp_path, name):
    """A file that was written once is read, and written again, to the last byte."""
    model = load_model(MODELS / name)
    assert model.coef.tolist() == [0.25, 0, -1.5, 0]
    assert model.feature_names == ["bm25", "age", "größe", "clicks"]
    assert model.parameters == {"C": 2.0, "loss": "squared_hinge", "normalize": "documents"}
    assert model.training == {
        "objective": 12.5,
        "dual_gap": 2.1e-05,
        "status": "converged",
        "n_samples": 178,
        "zero_based": False,
    }
    require_unchanged(model, tmp_path, name)


@pytest.mark.parametrize("name", ["occurring1.json", "occurring1.safetensors"])
def test_models_of_version_1_with_few_features_are_read_and_written(tmp_path, name):
    """Where most of the features occurred nowhere."""
    model = load_model(MODELS / name)
    assert model.n_features == 10**9
    rows = sparse.csr_matrix(([2.0, 4.0, 8.0], ([0, 0, 1], [3, 999_999_998, 5])), (2, 10**9))
    assert model.predict(rows).tolist() == [2.0 * 0.25 - 4.0 * 1.5, 0.0]
    require_unchanged(model, tmp_path, name)


@pytest.mark.parametrize("name", ["version2.json", "version2.safetensors"])
def test_models_of_version_2_are_read_and_written(tmp_path, name):
    """Those with maps."""
    model = load_model(MODELS / name)
    kinds = ["affine", "query", "quantiles", "splines", "nystroem"]
    assert [one.name for one in model.maps] == kinds
    assert model.feature_names == ["bm25", "größe"]
    scores = model.predict([[1.0, 2.0], [2.0, 0.5], [3.0, 1.0]], qid=[1, 1, 1])
    np.testing.assert_allclose(scores, SCORES_OF_VERSION_2, rtol=1e-12)
    require_unchanged(model, tmp_path, name)


@pytest.mark.parametrize("name", ["version3.json", "version3.safetensors"])
def test_models_of_version_3_are_read_and_written(tmp_path, name):
    """Those with maps side by side."""
    model = load_model(MODELS / name)
    assert [one.name for one in parts_of(model.maps)] == ["quantiles", "nystroem"]
    assert [one["share"] for one in model.training["members"]] == [0.5, 0.5]
    scores = model.predict([[1.0, 2.0], [2.0, 0.5], [3.0, 1.0]])
    np.testing.assert_allclose(scores, SCORES_OF_VERSION_3, rtol=1e-12)
    require_unchanged(model, tmp_path, name)


def require_unchanged(model, tmp_path, name):
    save_model(model, tmp_path / name)
    # Where this fails, the format has changed: give it a new version, and keep these files.
    assert (tmp_path / name).read_bytes() == (MODELS / name).read_bytes()
