"""Kernel models that cannot be saved, and files that are none: each gets a sentence."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import make_problem
from ranksvm import (
    KernelModel,
    KernelRankSVM,
    KernelRankSVMPathCV,
    RankSVM,
    convert_model,
    load_model,
    save_model,
)
from ranksvm.files.source import DataError
from ranksvm.kernel.kernels import Kernel
from ranksvm.models.from_estimators import linear_model_of

MODELS = Path(__file__).parent / "models"
FORMS = ["json", "safetensors"]


def test_kernels_without_a_name_cannot_be_saved(tmp_path):
    X, y, qid = make_problem(6)

    def similarity(X, Z):
        return X @ Z.T

    for kernel, rows, message in [
        (similarity, X, "cannot hold the kernel 'similarity': it is a function; pickle the model"),
        ("precomputed", X @ X.T, "cannot hold the kernel 'precomputed': there are no rows to take"),
    ]:
        for estimator in (KernelRankSVM(kernel=kernel), KernelRankSVMPathCV(kernel=kernel, cv=3)):
            with pytest.raises(ValueError, match=message):
                save_model(estimator.fit(rows, y, qid), tmp_path / "m.json")
    assert os.listdir(tmp_path) == []


def test_what_a_file_cannot_hold_is_not_saved(tmp_path):
    rbf, ones = Kernel("rbf", 1.0), np.ones((2, 3))
    for model, message in [
        (KernelModel(rbf, ones, np.ones(3)), r"has 2 support vectors but .* of shape \(3,\)"),
        (KernelModel(rbf, ones[:0], np.ones(0)), "has 0 support vectors"),
        (KernelModel(rbf, ones, np.array([1, np.nan])), "the dual coefficients .* must be finite"),
        (KernelModel(rbf, ones * np.inf, np.ones(2)), "the support vectors .* must be finite"),
        (
            KernelModel(rbf, sparse.csr_matrix(ones * np.inf), np.ones(2)),
            "the support vectors .* must be finite",
        ),
        (KernelModel(rbf, ones, np.ones(2), np.ones(2)), r"3 features but a scale of shape \(2,\)"),
        (KernelModel(rbf, ones, np.ones(2), np.full(3, np.inf)), "the scale .* must be finite"),
        (
            KernelModel(rbf, ones, np.ones(2), feature_names=["a", "a", "b"]),
            "two features of the model have the name 'a'",
        ),
        (
            KernelModel(rbf, ones, np.ones(2), feature_names=["a"]),
            "the model has 3 features but 1 feature names",
        ),
    ]:
        for form in FORMS:
            with pytest.raises(ValueError, match=message):
                save_model(model, tmp_path / f"m.{form}")
    X, y, _ = make_problem(7)
    pipeline = make_pipeline(StandardScaler(), KernelRankSVM()).fit(X, y)
    with pytest.raises(ValueError, match="a KernelRankSVM has no weights of features, which the"):
        save_model(pipeline, tmp_path / "m.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("form", ["liblinear", "svmrank", "weights"])
def test_forms_that_hold_weights_are_refused(tmp_path, form):
    message = f"{form} files hold weights of features, but .*kernel1.json ranks by the kernel 'rbf'"
    with pytest.raises(ValueError, match=message):
        convert_model(MODELS / "kernel1.json", tmp_path / "m", to=form)
    assert os.listdir(tmp_path) == []


# --- hostile files --------------------------------------------------------------------------------

GOOD = {
    "format": "ranksvm kernel model",
    "format_version": 1,
    "n_features": 2,
    "kernel": {"name": "rbf", "gamma": 0.5},
    "dual_coef": [1.0, -1.0],
    "support_vectors": [[0.0, 1.0], [2.0, 3.0]],
}
NAN = float("nan")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "has format version 2; this program reads version 1"),
        ({"format": ["ranksvm kernel model"]}, '"format" must be "ranksvm linear model" or "'),
        ({"n_features": 1 << 31}, '"n_features" must be a positive whole number, not 2147483648'),
        ({"n_features": 3}, 'of "support_vectors" must have 3 numbers, one for each feature, not'),
        ({"kernel": None}, '"kernel" must have a "name", one of linear, rbf, .*, not None'),
        ({"kernel": {"name": "precomputed"}}, "one of linear, rbf, .*, not 'precomputed'"),
        ({"kernel": {"name": ["rbf"]}}, r"one of linear, rbf, .*, not \['rbf'\]"),
        ({"kernel": {"name": "rbf"}}, 'the kernel rbf has gamma: "kernel" must give just these'),
        ({"kernel": {"name": "linear", "gamma": 1}}, "the kernel linear has no parameters: "),
        (
            {"kernel": {"name": "rbf", "gamma": "1"}},
            "gamma of the kernel must be a number, not '1'",
        ),
        ({"kernel": {"name": "rbf", "gamma": True}}, "gamma of the kernel must be a number, not T"),
        ({"kernel": {"name": "rbf", "gamma": 10**400}}, "gamma of the kernel must be a number"),
        ({"kernel": {"name": "rbf", "gamma": -1}}, "gamma must be finite and greater than 0, not"),
        ({"dual_coef": 1}, '"dual_coef" must be a list of numbers, not 1'),
        ({"dual_coef": [1.0, "2"]}, "\"dual_coef\" must have numbers only, not '2'"),
        ({"dual_coef": [1.0, NAN]}, '"dual_coef" must have numbers only, not nan'),
        ({"dual_coef": [1.0]}, "has 2 support vectors but 1 dual coefficients"),
        ({"support_vectors": []}, '"support_vectors" must be lists of numbers, or all dictio'),
        ({"support_vectors": {"1": 1}}, '"support_vectors" must be lists of numbers, or all d'),
        ({"support_vectors": [[0, 1], {"1": 1}]}, '"support_vectors" must be lists of numbers'),
        ({"support_vectors": [1, 2]}, 'of "support_vectors" must be a list of numbers, not 1'),
        ({"support_vectors": [[0, 1], [1]]}, "must have 2 numbers, one for each feature, not 1"),
        ({"support_vectors": [[0, 1], [1, None]]}, "must have numbers only, not None"),
        ({"support_vectors": [[0, 1], [1, False]]}, "must have numbers only, not False"),
        ({"support_vectors": [[0, 1], [1, 10**400]]}, "must have numbers only, not 1000"),
        ({"support_vectors": [{}, {"3": 1}]}, "the model has no feature '3'"),
        ({"support_vectors": [{}, {"0": 1}]}, "the model has no feature '0'"),
        ({"support_vectors": [{}, {"1": "1"}]}, "the value of '1' must be a number, not '1'"),
        ({"support_vectors": [{}, {"1": 1, "01": 2}]}, "gives a feature twice, as 1 and as 01"),
        ({"scale": [1.0]}, '"scale" must have 2 numbers, one for each feature, not 1'),
        ({"scale": None}, '"scale" must be a list of numbers, not None'),
        ({"feature_names": ["a"]}, '"feature_names" must list 2 names'),
        ({"training": []}, '"training" must give a value for each name'),
    ],
)
def test_bad_json_gets_a_sentence(tmp_path, change, message):
    path = tmp_path / "m.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(DataError, match=message) as refusal:
        load_model(path)
    assert str(refusal.value).startswith(str(path))


METADATA = {
    "format": "ranksvm kernel model",
    "format_version": "1",
    "n_features": "2",
    "kernel": '{"name": "rbf", "gamma": 0.5}',
}
DENSE = {"dual_coef": np.array([1.0, -1.0]), "support_vectors": np.array([[0.0, 1.0], [2.0, 3.0]])}
SPARSE = {
    "dual_coef": np.array([1.0, -1.0]),
    "values": np.array([5.0, 6.0, 7.0]),
    "indptr": np.array([0, 2, 3]),
    "indices": np.array([0, 1, 1], np.int32),
}


@pytest.mark.parametrize(
    ("tensors", "metadata", "message"),
    [
        (DENSE, {"n_features": "3"}, "2 dual coefficients and 3 features: the shapes of its"),
        (DENSE, {"n_features": '"2"'}, "\"n_features\" must be a positive whole number, not '2'"),
        (DENSE, {"n_features": "2.0"}, '"n_features" must be a positive whole number, not 2.0'),
        (DENSE, {"kernel": "{"}, '"kernel" in "__metadata__", line 1, column 2: not JSON'),
        (DENSE, {"kernel": '"rbf"'}, '"kernel" must have a "name"'),
        (
            DENSE | {"x": np.ones(2)},
            {},
            'must hold the tensors, "dual_coef", "support_vectors"; it',
        ),
        (DENSE | {"scale": np.ones(3)}, {}, "the shapes of its tensors do not go together"),
        (DENSE | {"scale": np.array([1, NAN])}, {}, 'the numbers of "scale" must be finite'),
        (DENSE | {"dual_coef": np.ones(3)}, {}, "3 dual coefficients and 2 features: the shapes"),
        (DENSE | {"dual_coef": np.ones(2, np.float32)}, {}, "must be F64, not 'F32'"),
        (DENSE | {"support_vectors": np.ones(4)}, {}, r"two positive whole numbers, not \[4\]"),
        (DENSE | {"support_vectors": np.ones((0, 2))}, {}, "two positive whole numbers, not"),
        (DENSE | {"support_vectors": np.full((2, 2), np.inf)}, {}, "must be finite"),
        ({"dual_coef": np.ones(2)}, {}, '"dual_coef", "values", "indptr", "indices"; it holds'),
        (SPARSE | {"indices": np.array([0, 1, 1])}, {}, '"indices" must be I32, not'),
        (SPARSE | {"indices": np.array([0, 2, 1], np.int32)}, {}, '"indices" must be less than 2'),
        (SPARSE | {"indices": np.array([0, -1, 1], np.int32)}, {}, '"indices" must be less than 2'),
        (SPARSE | {"indices": np.array([1, 0, 1], np.int32)}, {}, "ascend in each support vector"),
        (SPARSE | {"indices": np.array([1, 1, 1], np.int32)}, {}, "ascend in each support vector"),
        (SPARSE | {"indptr": np.array([0, 2, 4])}, {}, '"indptr" must rise from 0 to the 3 of'),
        (SPARSE | {"indptr": np.array([1, 2, 3])}, {}, '"indptr" must rise from 0 to the 3 of'),
        (SPARSE | {"indptr": np.array([0, 1 << 62, 3])}, {}, '"indptr" must rise from 0'),
        (SPARSE | {"indptr": np.array([0, -5, 3])}, {}, '"indptr" must rise from 0'),
        (SPARSE | {"indptr": np.array([0, 1, 2, 3])}, {}, "the shapes of its tensors do not"),
        (SPARSE | {"values": np.ones(2)}, {}, '"indptr" must rise from 0 to the 3 of "indices"'),
        (SPARSE | {"values": np.array([1, np.inf, 1])}, {}, '"values" must be finite'),
    ],
)
def test_bad_tensors_get_a_sentence(tmp_path, tensors, metadata, message):
    path = tmp_path / "m"
    safetensors.numpy.save_file(tensors, path, metadata={**METADATA, **metadata})
    with pytest.raises(DataError, match=message) as refusal:
        load_model(path)
    assert str(path) in str(refusal.value)


def test_good_tensors_are_read(tmp_path):
    for tensors, expected in ((DENSE, [[0, 1], [2, 3]]), (SPARSE, [[5, 6], [0, 7]])):
        safetensors.numpy.save_file(tensors, tmp_path / "m", metadata=METADATA)
        model = load_model(tmp_path / "m")
        vectors = model.support_vectors
        assert (vectors if tensors is DENSE else vectors.toarray()).tolist() == expected


def test_gaps_and_overlaps_of_tensors_are_refused(tmp_path):
    def written(begin, data):
        tensor = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
        vectors = {"dtype": "F64", "shape": [1, 2], "data_offsets": [begin, begin + 16]}
        header = json.dumps(
            {"__metadata__": METADATA, "support_vectors": vectors, "dual_coef": tensor}
        ).encode()
        (tmp_path / "m").write_bytes(struct.pack("<Q", len(header)) + header + data)

    written(8, struct.pack("<3d", 1, 2, 3))
    model = load_model(tmp_path / "m")
    assert (model.dual_coef.tolist(), model.support_vectors.tolist()) == ([1], [[2, 3]])
    for begin in (0, 7, 16):
        written(begin, struct.pack("<4d", 1, 2, 3, 4))
        with pytest.raises(DataError, match=r"data_offsets of .* must be \[\d+, \d+\], as its sh"):
            load_model(tmp_path / "m")
    written(8, struct.pack("<4d", 1, 2, 3, 4))
    message = "2 support_vectors take 24 bytes but 32 follow|1 dual_coef, 2 support_vectors take 24"
    with pytest.raises(DataError, match=message):
        load_model(tmp_path / "m")


def test_values_that_overflow_are_refused():
    model = KernelModel(Kernel("polynomial", 1.0, 9.0, 0.0), np.full((1, 1), 1e200), np.ones(1))
    with pytest.raises(ValueError, match="the kernel 'polynomial' must be finite"):
        model.predict([[1e200]])


def test_a_model_of_another_width_is_refused():
    model = KernelModel(Kernel("rbf", 1.0), np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="X has 3 features but the model has 2"):
        model.predict(np.ones((1, 3)))
    assert model.predict(np.ones((0, 2))).shape == (0,)


def test_linear_models_have_weights_and_others_not(tmp_path):
    X, y, qid = make_problem(8)
    estimator = RankSVM().fit(X, y, qid)
    assert linear_model_of(estimator).coef is estimator.coef_
    with pytest.raises(ValueError, match="a KernelRankSVM has no weights of features: it ranks by"):
        linear_model_of(KernelRankSVM().fit(X, y, qid))
