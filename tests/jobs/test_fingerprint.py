"""Fingerprints of training data: the same for the same data, another for other data."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from ranksvm import dump_svmlight, load_model, save_model
from ranksvm.files.svmlight import read_svmlight
from ranksvm.jobs.fingerprint import SAMPLED_ROWS, _nonzero, fingerprint
from ranksvm.models import LinearModel

VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-300])


@given(X=arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=VALUES))
def test_dense_and_sparse_are_the_same(X):
    y, qid = np.arange(len(X)) % 3, np.arange(len(X)) // 2
    expected = fingerprint(X, y, qid)
    assert fingerprint(csr_matrix(X), y, qid) == expected
    assert fingerprint(np.asfortranarray(X), y.astype(np.float32), qid.astype(str)) == expected
    assert expected["n_nonzero"] == np.count_nonzero(X)
    stored = np.arange(X.size)[::-1].reshape(X.shape)  # zeros stored, columns backwards
    backwards = csr_matrix(
        (
            X[:, ::-1].ravel(),
            stored.ravel() % max(1, X.shape[1]),
            np.arange(len(X) + 1) * X.shape[1],
        ),
        shape=X.shape,
    )
    assert fingerprint(backwards, y, qid) == expected


def test_files_have_the_fingerprint_of_their_content(tmp_path):
    X, y, qid = np.eye(4), np.array([0.0, 1, 0, 2]), np.array([1, 1, 2, 2])
    dump_svmlight(tmp_path / "d", X, y, qid)
    rows = read_svmlight(tmp_path / "d")
    assert fingerprint(rows.features, rows.labels, rows.qid) == fingerprint(X, y, qid)


@pytest.mark.parametrize("most", [1, 7, 1 << 22])
def test_rows_are_looked_at_in_any_pieces(most, monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, (30, 5)).astype(float)
    expected = fingerprint(X, np.zeros(30))
    monkeypatch.setattr("ranksvm.jobs.fingerprint._MOST_VALUES", most)
    assert fingerprint(X, np.zeros(30)) == expected
    assert fingerprint(csr_matrix(X), np.zeros(30)) == expected


def test_pieces_are_of_what_is_stored():
    indices = np.linspace(0, 2**31 - 2, 2000).astype(np.int64)
    X = csr_matrix((np.ones(2000), indices, np.arange(2001)), shape=(2000, 2**31))
    with patch("ranksvm.jobs.fingerprint._nonzero", wraps=_nonzero) as looked_at:
        fingerprint(X, np.zeros(2000))
    assert looked_at.call_count == 1


def test_known_value():
    """Models hold fingerprints, so that they must not change."""
    found = fingerprint(np.array([[1.0, 0.0], [0.5, 2.0]]), [0, 1], ["a", "b"])
    assert found == {"n_samples": 2, "n_features": 2, "n_nonzero": 3, "blake2b": "bbbe65f1bfb7dcc0"}


def test_other_data_have_others():
    rng = np.random.default_rng(0)
    X, y, qid = rng.standard_normal((50, 3)), rng.integers(0, 3, 50), np.arange(50) // 10
    seen = [fingerprint(X, y, qid), fingerprint(X, y), fingerprint(X[:-1], y[:-1], qid[:-1])]
    for row in (0, 20, 49):
        other = X.copy()
        other[row, 1] += 1e-12
        seen.append(fingerprint(other, y, qid))
        seen.append(fingerprint(X, y + (np.arange(50) == row), qid))
        seen.append(fingerprint(X, y, qid + 100 * (np.arange(50) == row)))
    assert len({found["blake2b"] for found in seen}) == len(seen)


def test_the_last_row_of_many_counts():
    X = np.ones((SAMPLED_ROWS * 3 + 1, 1))
    before = fingerprint(X, np.zeros(len(X)))
    X[-1] = 2
    assert fingerprint(X, np.zeros(len(X))) != before


@pytest.mark.parametrize("name", ["m.json", "m.safetensors"])
def test_models_keep_them(tmp_path, name):
    mark = fingerprint(np.eye(2), [0, 1])
    save_model(LinearModel(np.ones(2), training={"fingerprint": mark}), tmp_path / name)
    assert load_model(tmp_path / name).training["fingerprint"] == mark
