"""Model files of kernel rankers: they predict to the last bit as the estimator that they are of."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.model_selection import GridSearchCV

from cases import make_problem
from ranksvm import (
    KernelModel,
    KernelRankSVM,
    KernelRankSVMPathCV,
    convert_model,
    load_model,
    save_model,
)
from ranksvm.kernel.kernels import Kernel
from ranksvm.names import KERNELS

MODELS = Path(__file__).parent / "models"
FORMS = ["json", "safetensors"]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def assert_same(one, other):
    """Equal to the last bit."""
    assert one.kernel == other.kernel
    assert one.dual_coef.tobytes() == other.dual_coef.tobytes()
    assert one.support_vectors.shape == other.support_vectors.shape
    assert isinstance(one.support_vectors, np.ndarray) == isinstance(
        other.support_vectors, np.ndarray
    )
    if isinstance(one.support_vectors, np.ndarray):
        assert one.support_vectors.tobytes() == other.support_vectors.tobytes()
    else:
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(
                getattr(one.support_vectors, part), getattr(other.support_vectors, part)
            )
    assert (one.scale is None) == (other.scale is None)
    if one.scale is not None:
        assert one.scale.tobytes() == other.scale.tobytes()
    assert one.feature_names == other.feature_names
    assert (one.parameters, one.training) == (other.parameters, other.training)


# --- round trips ----------------------------------------------------------------------------------


@st.composite
def models(draw):
    n_support, n_features = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    vectors = draw(arrays(np.float64, (n_support, n_features), elements=FLOATS))
    if draw(st.booleans()):
        vectors = sparse.csr_matrix(vectors * draw(arrays(np.int8, vectors.shape)).astype(bool))
    name = draw(st.sampled_from(sorted(KERNELS)))
    positive = st.floats(min_value=5e-324, allow_infinity=False)
    numbers = {"gamma": positive, "degree": positive, "coef0": FLOATS}
    named = draw(st.booleans())
    scaled = draw(st.booleans())
    return KernelModel(
        Kernel(name, **{key: draw(numbers[key]) for key in KERNELS[name]}),
        vectors,
        draw(arrays(np.float64, n_support, elements=FLOATS)),
        draw(arrays(np.float64, n_features, elements=FLOATS)) if scaled else None,
        [f"größe {k}" for k in range(n_features)] if named else None,
        {"C": 1.5, "normalize": None},
        draw(st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), st.text()))),
    )


@given(model=models(), form=st.sampled_from(FORMS), other=st.sampled_from(FORMS))
def test_round_trips_are_exact(tmp_path_factory, model, form, other):
    folder = tmp_path_factory.mktemp("model")
    save_model(model, folder / f"m.{form}")
    loaded = load_model(folder / f"m.{form}")
    assert_same(loaded, model)
    convert_model(folder / f"m.{form}", folder / f"n.{other}")
    assert_same(load_model(folder / f"n.{other}"), model)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (kernel, kind)
        for kernel in sorted(KERNELS)
        for kind in (np.asarray, sparse.csr_matrix, sparse.csr_array)
        if kind is np.asarray or "chi2" not in kernel  # scikit-learn has no chi2 of sparse rows
    ],
)
def test_a_model_predicts_as_its_estimator(tmp_path, kernel, kind, form):
    X, y, qid = make_problem(0, n=70, d=6)
    X = np.where(X > 0, X, 0.0)
    options = {} if kernel != "sigmoid" else {"gamma": 1e-7, "coef0": 0.0}
    estimator = KernelRankSVM(kernel=kernel, **options).fit(kind(X[:50]), y[:50], qid[:50])
    save_model(estimator, tmp_path / f"m.{form}")
    model = load_model(tmp_path / f"m.{form}")
    for rows in (kind(X), X, np.asfortranarray(X), sparse.csc_matrix(X)):
        if sparse.issparse(rows) and "chi2" in kernel:
            continue
        expected = estimator.predict(rows)
        assert model.predict(rows).tobytes() == expected.tobytes()
        assert model.predict(rows, n_threads=3).tobytes() == expected.tobytes()
    assert isinstance(model.support_vectors, np.ndarray) == (kind is np.asarray)


def test_rows_are_scored_by_threads_in_blocks(tmp_path):
    X, y, qid = make_problem(1, n=60)
    estimator = KernelRankSVM().fit(X, y, qid)
    save_model(estimator, tmp_path / "m")
    many = np.tile(X, (60, 1)) + np.arange(3600)[:, np.newaxis] / 3600
    model, expected = load_model(tmp_path / "m"), estimator.predict(many)
    for n_threads in (1, 2, 5):
        assert model.predict(many, n_threads).tobytes() == expected.tobytes()


def test_sparse_rows_in_no_order_and_given_twice(tmp_path):
    X, y, qid = make_problem(2)
    values, indices, indptr = [], [], [0]
    for row in X:
        values += [*row[::-1], 0.5]
        indices += [3, 2, 1, 0, 2]
        indptr.append(len(values))
    odd = sparse.csr_matrix((values, indices, indptr), X.shape)
    estimator = KernelRankSVM(gamma=0.3).fit(odd, y, qid)
    for form in FORMS:
        save_model(estimator, tmp_path / f"m.{form}")
        model = load_model(tmp_path / f"m.{form}")
        assert model.predict(odd).tobytes() == estimator.predict(odd).tobytes()


def test_what_the_file_tells_of_an_estimator(tmp_path):
    X, y, qid = make_problem(3)
    frame = pd.DataFrame(X, columns=["bm25", "größe", "age", "x"])
    estimator = KernelRankSVM(2.0, loss="hinge", tol=1e-6).fit(frame, y, qid)
    save_model(estimator, tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text("utf-8"))
    assert content["kernel"] == {"name": "rbf", "gamma": 0.25}
    assert content["dual_coef"] == estimator.dual_coef_.tolist()
    assert content["support_vectors"] == estimator.support_vectors_.tolist()
    assert content["feature_names"] == list(frame.columns)
    assert (content["parameters"]["C"], content["parameters"]["loss"]) == (2.0, "hinge")
    assert content["training"] == {
        "objective": estimator.objective_,
        "dual_gap": estimator.dual_gap_,
        "status": "converged",
        "n_iter": estimator.n_iter_,
        "n_passes": estimator.history_[-1].n_passes,
        "n_pairs": estimator.n_pairs_,
        "n_queries": 3,
    }
    model = load_model(tmp_path / "m.json")
    assert model.predict(frame).tobytes() == estimator.predict(frame).tobytes()


def test_a_support_vector_is_a_line(tmp_path):
    vectors = sparse.csr_matrix([[0.0, 0.5, 0.0], [-1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    model = KernelModel(Kernel("polynomial", 1, 2, -0.5), vectors, np.array([1.0, 2.0, -3.0]))
    save_model(model, tmp_path / "m.json")
    lines = (tmp_path / "m.json").read_text().splitlines()
    assert ' "kernel": {"name": "polynomial", "gamma": 1.0, "degree": 2.0, "coef0": -0.5},' in lines
    begin = lines.index(' "support_vectors": [')
    assert lines[begin + 1 : begin + 4] == ['  {"2": 0.5},', '  {"1": -1.0, "3": 2.0},', "  {}"]


def test_a_model_written_by_hand(tmp_path):
    (tmp_path / "m").write_text(
        '{"format": "ranksvm kernel model", "format_version": 1, "n_features": 2,'
        ' "kernel": {"name": "rbf", "gamma": 0.5}, "dual_coef": [1, -2],'
        ' "support_vectors": [{"b": 1}, {"b": 2, "a": 1}], "feature_names": ["a", "b"]}'
    )
    scores = load_model(tmp_path / "m").predict([[1, 1]])
    np.testing.assert_allclose(scores, [np.exp(-0.5) - 2 * np.exp(-0.5)])


def test_a_scale_comes_before_the_kernel(tmp_path):
    X, y, qid = make_problem(4)
    scale = np.array([0.1, 3.0, 1e-3, -2.0])
    estimator = KernelRankSVM().fit(X * scale, y, qid)
    for kind in (np.asarray, sparse.csr_matrix):
        model = KernelModel(Kernel("rbf"), estimator.support_vectors_, estimator.dual_coef_, scale)
        save_model(model, tmp_path / "m")
        scores = load_model(tmp_path / "m").predict(kind(X))
        assert scores.tobytes() == estimator.predict(kind(X * scale)).tobytes()


def test_the_best_of_a_search_and_of_a_path_are_saved(tmp_path):
    X, y, _ = make_problem(5, n=60)
    search = GridSearchCV(KernelRankSVM(), {"gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    save_model(search, tmp_path / "m")
    assert load_model(tmp_path / "m").predict(X).tobytes() == search.predict(X).tobytes()
    for rows in (X, sparse.csr_matrix(X)):
        path = KernelRankSVMPathCV(gammas=[0.1, 1.0], cv=3).fit(rows, y)
        save_model(path, tmp_path / "p")
        model = load_model(tmp_path / "p")
        assert model.parameters == {"lambda": path.lambda_, "loss": "hinge", "graph": "full"}
        assert model.kernel.gamma == path.gamma_
        np.testing.assert_allclose(model.predict(rows), path.predict(rows), atol=1e-9)


@pytest.mark.parametrize("name", ["kernel1.json", "kernel1.safetensors"])
def test_models_of_version_1_are_read_and_written(tmp_path, name):
    """A file that was written once is read, and written again, to the last byte."""
    model = load_model(MODELS / name)
    assert model.kernel == Kernel("rbf", 0.5)
    assert model.dual_coef.tolist() == [0.25, -1.5, 1.25]
    assert model.support_vectors.toarray().tolist() == [[1, 0, 0], [0, 0, 0], [0, 2.5, -0.125]]
    assert model.scale.tolist() == [1, 0.5, 4]
    assert model.feature_names == ["bm25", "größe", "clicks"]
    assert model.parameters == {"C": 2.0, "loss": "hinge"}
    assert model.training == {"status": "converged", "zero_based": False}
    rows = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    distances = rows[:, None] * [1, 0.5, 4] - [[1, 0, 0], [0, 0, 0], [0, 2.5, -0.125]]
    scores = np.exp(-0.5 * (distances**2).sum(axis=2)) @ [0.25, -1.5, 1.25]
    np.testing.assert_allclose(model.predict(rows), scores, rtol=1e-12)
    require_unchanged(model, tmp_path, name)


@pytest.mark.parametrize("name", ["dense1.json", "dense1.safetensors"])
def test_dense_models_of_version_1_are_read_and_written(tmp_path, name):
    model = load_model(MODELS / name)
    assert model.kernel == Kernel("polynomial", 0.5, 2, 1.0)
    rows, vectors = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([[0.5, 0.25], [-1.0, 3.0]])
    scores = (0.5 * rows @ vectors.T + 1) ** 2 @ [0.25, -1.5]
    np.testing.assert_allclose(model.predict(rows), scores, rtol=1e-12)
    require_unchanged(model, tmp_path, name)


def require_unchanged(model, tmp_path, name):
    save_model(model, tmp_path / name)
    # Where this fails, the format has changed: give it a new version, and keep these files.
    assert (tmp_path / name).read_bytes() == (MODELS / name).read_bytes()


def test_the_safetensors_package_reads_and_writes_the_same(tmp_path):
    model = load_model(MODELS / "kernel1.safetensors")
    with safetensors.safe_open(MODELS / "kernel1.safetensors", framework="numpy") as file:
        metadata, tensors = (
            file.metadata(),
            dict(zip(file.keys(), map(file.get_tensor, file.keys()), strict=True)),
        )
    assert set(tensors) == {"dual_coef", "scale", "values", "indptr", "indices"}
    assert tensors["indices"].tolist() == [0, 1, 2]
    safetensors.numpy.save_file(tensors, tmp_path / "m", metadata=metadata)
    assert_same(load_model(tmp_path / "m"), model)
