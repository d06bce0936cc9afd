"""The SVMlight writer: what it writes is read back the same, here and elsewhere."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ranksvm.files.atomic import OutputError
from ranksvm.files.svmlight import dump_svmlight, load_svmlight, read_svmlight

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def random_data(density, n=40, d=7):
    rng = np.random.default_rng(0)
    X = sparse.random(n, d, density, format="csr", random_state=rng)
    return X, rng.integers(0, 5, n).astype(float), np.sort(rng.integers(0, 6, n))


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("density", [0.2, 0.9])
def test_agrees_with_scikit_learn(tmp_path, zero_based, density):
    X, y, qid = random_data(density)
    theirs, ours = tmp_path / "theirs.svm", tmp_path / "ours.svm"
    dump_svmlight_file(X, y, str(theirs), query_id=qid, zero_based=zero_based, comment="hello")
    dump_svmlight(ours, X, y, qid, zero_based=zero_based, comments=[f"row {i}" for i in qid])
    for path in (theirs, ours):
        X1, y1, qid1 = load_svmlight_file(
            str(path), n_features=7, query_id=True, zero_based=zero_based
        )
        X2, y2, qid2 = load_svmlight(path, n_features=7, zero_based=zero_based)
        assert sparse.issparse(X2) == (density < 0.5)
        assert_array_equal(X1.toarray(), X2.toarray() if sparse.issparse(X2) else X2)
        assert_array_equal(y1, y2)
        assert_array_equal(qid1, qid2)


@given(
    X=st.lists(st.lists(FINITE, min_size=3, max_size=3), min_size=1, max_size=6),
    data=st.data(),
    dtype=st.sampled_from([np.float32, np.float64]),
    make=st.sampled_from([np.asarray, np.asfortranarray, sparse.csr_array, sparse.coo_matrix]),
)
def test_round_trip(tmp_path_factory, X, data, dtype, make):
    with np.errstate(over="ignore"):
        X = np.nan_to_num(np.array(X).astype(dtype))
    same_length = {"min_size": len(X), "max_size": len(X)}
    y = data.draw(st.lists(FINITE, **same_length))
    cost = data.draw(st.none() | st.lists(st.floats(0, 1e300), **same_length))
    letters = st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters=" #")
    word = st.text(letters, min_size=1).filter(lambda w: not re.fullmatch("[+-]?[0-9]+", w))
    qid = data.draw(
        st.none()
        | st.lists(st.integers(-(2**63), 2**63 - 1), **same_length)
        | st.lists(word, **same_length)
    )
    path = tmp_path_factory.mktemp("svmlight") / "data.svm"
    dump_svmlight(path, make(X), y, qid, cost=cost)
    rows = read_svmlight(path, n_features=3, dtype=dtype)
    assert_array_equal(sparse.csr_array(rows.X).toarray(), X)
    assert rows.labels.tolist() == y
    assert (None if qid is None else rows.qid.tolist()) == qid
    assert (None if cost is None else rows.cost.tolist()) == cost


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_writes_compressed_files(tmp_path, ending):
    path = tmp_path / f"data.svm{ending}"
    dump_svmlight(path, np.eye(2), [1, 2])
    assert_array_equal(load_svmlight(path)[0].toarray(), np.eye(2))
    assert not path.read_bytes().startswith(b"1 ")


def test_text_as_written(tmp_path, capsysbinary, monkeypatch):
    monkeypatch.setattr("ranksvm.files.svmlight_writer._ENTRIES_PER_BLOCK", 2)
    X = np.array([[0.1, 0, 1e-7], [0, 0, 0], [1e22, -2, 0]])
    dump_svmlight("-", X, [1, 0.5, -3], ["a", "b", "b"], cost=[1, 2, 0.5], comments=["x", "", "é"])
    expected = "1 qid:a cost:1 1:0.1 3:1e-07 # x\n0.5 qid:b cost:2 # \n"
    expected += "-3 qid:b cost:0.5 1:1e+22 2:-2 # é\n"
    assert capsysbinary.readouterr().out == expected.encode()
    dump_svmlight("-", X.astype(np.float32), [1, 2, 3], zero_based=True)
    assert capsysbinary.readouterr().out == b"1 0:0.1 2:1e-07\n2\n3 0:1e+22 1:-2\n"


def test_leaves_its_arguments_alone(tmp_path):
    X = sparse.csr_matrix(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    dump_svmlight(tmp_path / "data.svm", X, [1])
    assert (tmp_path / "data.svm").read_text() == "1 1:2 3:5\n"
    assert X.indices.tolist() == [2, 0, 2]


BAD = float("nan")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2]), r"X must be a matrix, found shape \(2,\)"),
        (([[1], [2]], [1]), r"y has length 1 but X has 2 rows"),
        (([[1], [2]], [1, BAD]), "y must be finite; row 1 holds nan"),
        (([[1], [BAD]], [1, 2]), "X holds values that are not finite"),
        (([[1], [2]], [1, 2], [3]), "qid has length 1 but X has 2 rows"),
        (([[1], [2]], [1, 2], ["a", "b c"]), "qid of row 1 must be a word .* found 'b c'"),
        (([[1], [2]], [1, 2], ["a", ""]), "qid of row 1 must be a word .* found ''"),
        (([[1], [2]], [1, 2], ["a#", "a"]), "qid of row 0 must be a word .* found 'a#'"),
    ],
)
def test_data_that_cannot_be_written(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        dump_svmlight(tmp_path / "data.svm", *arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"cost": [1, -2]}, r"cost must not be negative, found -2\.0"),
        ({"cost": [1]}, r"cost has length 1 but X has 2 rows"),
        ({"comments": ["a"]}, "comments has length 1 but X has 2 rows"),
        ({"comments": ["a", "b\nc"]}, "the comment of row 1 must be one line"),
    ],
)
def test_columns_that_cannot_be_written(tmp_path, columns, message):
    with pytest.raises(ValueError, match=message):
        dump_svmlight(tmp_path / "data.svm", np.eye(2), [1, 2], **columns)
    assert not list(tmp_path.iterdir())


def test_output_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="a file name is needed, not a directory"):
        dump_svmlight(tmp_path, np.eye(2), [1, 2])
