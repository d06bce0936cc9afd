"""Packed data hold what the files hold, query by query, whatever comes in which order."""

import json
import os

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ranksvm import open_data, pack
from ranksvm.disk import features, packing, reordering
from ranksvm.disk.arrays import npy_header
from ranksvm.disk.text import pack_svmlight
from ranksvm.files import svmlight
from ranksvm.files.atomic import OutputError
from ranksvm.files.source import DataError
from ranksvm.files.svmlight import read_svmlight


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(svmlight, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(svmlight, "_CHUNK_BYTES", 8)
    monkeypatch.setattr(svmlight, "_CHUNKS_PER_THREAD", 1)
    monkeypatch.setattr(features, "BLOCK_BYTES", 64)
    monkeypatch.setattr(reordering, "WINDOW_BYTES", 100)
    monkeypatch.setattr(packing, "_PIECE_ROWS", 3)


def by_first_appearance(ids):
    """The rows in the order of their queries, as these first appear; stable."""
    first = {}
    for one in ids:
        first.setdefault(one, len(first))
    return np.argsort([first[one] for one in ids], kind="stable")


def dense_of(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


@st.composite
def texts(draw):
    """SVMlight text of several files, whose rows agree in whether they have qids."""
    has_qid, named = draw(st.booleans()), draw(st.booleans())
    ids = st.sampled_from(["7", "-3", "1200", "a", "b"] if named else ["7", "-3", "1200"])
    index = st.integers(draw(st.integers(0, 1)), draw(st.integers(1, 12)))
    value = st.sampled_from(["0", "1", "-2.5", "1e-3", "0.1", "12345.678"])
    few = draw(st.booleans())
    rows = st.tuples(
        st.integers(-2, 3),
        ids,
        st.none() | st.sampled_from(["0.5", "2"]),
        st.dictionaries(index, value, max_size=3 if few else 13),
    )
    files = draw(st.lists(st.lists(rows, min_size=1, max_size=12), min_size=1, max_size=3))

    def line(label, qid, cost, row):
        words = [str(label), *([f"qid:{qid}"] if has_qid else [])]
        words += [f"cost:{cost}"] if cost else []
        return " ".join([*words, *(f"{k}:{v}" for k, v in sorted(row.items()))])

    return ["".join(line(*row) + "\n" for row in rows) for rows in files]


@given(texts(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_svmlight_files_are_packed_as_they_are_read(tmp_path_factory, files, dtype, zero_based):
    folder = tmp_path_factory.mktemp("data")
    for number, text in enumerate(files):
        (folder / f"{number}.svm").write_text(text)
    (folder / "all.svm").write_text("".join(files))
    expected = read_svmlight(
        folder / "all.svm", zero_based=zero_based or "auto", dtype=dtype, n_threads=1
    )
    names = [folder / f"{number}.svm" for number in range(len(files))]
    if expected.n_features == 0:
        with pytest.raises(ValueError, match="no features"):
            pack_svmlight(names, folder / "d.rsvm", zero_based=zero_based, dtype=dtype)
        return
    data = pack_svmlight(names, folder / "d.rsvm", zero_based=zero_based, dtype=dtype, n_threads=1)
    order = np.arange(len(expected.labels))
    if expected.qid is not None:
        order = by_first_appearance(expected.qid.tolist())
    assert type(data.X) is type(expected.X)
    assert data.X.dtype == dtype
    assert_array_equal(dense_of(data.X), dense_of(expected.X)[order])
    assert_array_equal(data.y, expected.labels[order])
    assert data.zero_based == expected.zero_based
    assert data.n_nonzero == np.count_nonzero(dense_of(expected.X))
    assert (data.sample_weight is None) == (expected.cost is None)
    if expected.cost is not None:
        assert_array_equal(data.sample_weight, expected.cost[order])
    if expected.qid is None:
        assert data.qid is None
        assert_array_equal(data.query_indptr, [0, len(order)])
    else:
        assert_array_equal(data.ids, expected.qid[order])
        assert_array_equal(
            np.repeat(np.arange(data.n_queries), np.diff(data.query_indptr)),
            np.unique(
                data.query_indptr.searchsorted(np.arange(len(order)), "right"), return_inverse=True
            )[1],
        )
        changes = np.flatnonzero(data.ids[1:] != data.ids[:-1]) + 1
        assert_array_equal(data.query_indptr[1:-1], changes)
    mean, squares = data.design_matrix().column_sums()
    fresh = type(data.design_matrix()).from_array(data.X).column_sums()
    assert_array_equal(mean, fresh.mean)
    assert_array_equal(squares, fresh.squares)


@given(st.data())
def test_blocks_are_packed_as_they_are(tmp_path_factory, data):
    draw = data.draw
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    width, dtype = draw(st.integers(1, 5)), draw(st.sampled_from([np.float32, np.float64]))
    blocks, share = [], draw(st.sampled_from([0.1, 0.5, 0.9]))
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(0, 6))
        X = rng.standard_normal((n, width)).astype(dtype) * (rng.random((n, width)) < share)
        qid = rng.integers(0, 3, n)
        X = scipy.sparse.csr_matrix(X) if draw(st.booleans()) else X
        blocks.append((X, rng.integers(0, 3, n), qid, rng.random(n)))
    X = np.concatenate([dense_of(block[0]) for block in blocks])
    path = tmp_path_factory.mktemp("data") / "d.rsvm"
    if len(X) == 0:
        with pytest.raises(ValueError, match="no rows"):
            pack(iter(blocks), path)
        return
    found = pack(iter(blocks), path)
    y, qid, weight = (np.concatenate([block[k] for block in blocks]) for k in (1, 2, 3))
    order = by_first_appearance(qid.tolist())
    assert isinstance(found.X, np.ndarray) == (2 * np.count_nonzero(X) > X.size)
    assert_array_equal(dense_of(found.X), X[order])
    for ours, theirs in [(found.y, y), (found.qid, qid), (found.sample_weight, weight)]:
        assert_array_equal(ours, theirs[order])


def test_names_of_queries_and_features(tmp_path):
    blocks = [([[1.0, 2.0], [3.0, 4.0]], [0, 1], ["b", "ä\n"]), ([[5.0, 6.0]], [1], ["b"])]
    data = pack(blocks, tmp_path / "d.rsvm", feature_names=["one", "two"])
    assert data.query_names == ["b", "ä\n"]
    assert data.ids.tolist() == ["b", "b", "ä\n"]
    assert data.feature_names == ("one", "two")
    assert_array_equal(data.X, [[1, 2], [5, 6], [3, 4]])


def test_numbers_become_names_once_one_is(tmp_path):
    blocks = [([[1.0]], [0], [7]), ([[2.0]], [1], ["x"]), ([[3.0]], [2], [7])]
    assert pack(blocks, tmp_path / "d").ids.tolist() == ["7", "7", "x"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (([[1.0], [np.nan]], [0, 1]), "block 1, row 1, column 0: X is nan"),
        (
            (scipy.sparse.csr_matrix([[0.0], [np.inf]]), [0, 1]),
            "row 1, column 0: X is inf",
        ),
        (([[1.0, 2.0]], [0]), "block 1 has 2 features, but block 0 has 1"),
        (([[1.0]], [np.nan]), "the y of block 1"),
        (([[1.0]], [0, 1]), "block 1 has 1 rows"),
        (([[1.0]], [0], [1]), "either all rows have query ids, or none"),
        ([[1.0]], "block 1 must be"),
        (([[1.0]], [0], [1, 2]), "the qid of block 1 has length 2"),
    ],
)
def test_malformed_blocks_are_refused(tmp_path, block, message):
    with pytest.raises(ValueError, match=message):
        pack([([[1.0]], [0]), block], tmp_path / "d.rsvm")
    assert list(tmp_path.iterdir()) == []


def test_what_overflows_in_single_precision_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"X is 1e\+300, which is no finite float32"):
        pack([([[1e300]], [0])], tmp_path / "d", dtype=np.float32)


def test_no_blocks(tmp_path):
    with pytest.raises(ValueError, match=r"not the path 'train\.svm'"):
        pack("train.svm", tmp_path / "new.rsvm")
    with pytest.raises(ValueError, match="no blocks"):
        pack([], tmp_path / "d.rsvm")


def test_errors_say_file_line_and_column(tmp_path):
    (tmp_path / "good").write_text("1 qid:1 1:2\n" * 30)
    (tmp_path / "bad").write_text("1 qid:1 1:2\n" * 40 + "1 qid:1 1:nan\n")
    with pytest.raises(DataError, match=r"bad, line 41, column 9"):
        pack_svmlight([tmp_path / "good", tmp_path / "bad"], tmp_path / "d")
    (tmp_path / "bad").write_text("1 qid:1 1:2\n" * 40 + "1 1:3\n")
    with pytest.raises(DataError, match=r"bad, line 41"):
        pack_svmlight([tmp_path / "bad"], tmp_path / "d")
    assert {path.name for path in tmp_path.iterdir()} == {"good", "bad"}


def test_a_folder_that_is_no_packed_data_stays(tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(OutputError, match="holds no packed data"):
        pack([([[1.0]], [0])], tmp_path / "d")
    with pytest.raises(OutputError, match="does not exist"):
        pack([([[1.0]], [0])], tmp_path / "none" / "d")


def test_packed_data_are_replaced(tmp_path):
    for value in (1.0, 2.0):
        pack([([[value]], [0])], tmp_path / "d")
    assert open_data(tmp_path / "d").X[0, 0] == 2.0
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_changed_sources_are_said(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 qid:1 1:2\n0 qid:1 2:1\n")
    pack_svmlight([path], tmp_path / "d")
    path.touch()
    open_data(tmp_path / "d")  # a new time alone is no change
    path.write_text("1 qid:1 1:3\n0 qid:1 2:1\n")
    with pytest.warns(UserWarning, match=r"d is stale: .*a\.svm changed after packing"):
        open_data(tmp_path / "d")
    path.unlink()
    open_data(tmp_path / "d")


def test_headers_are_those_of_numpy(tmp_path):
    for shape in [(3,), (2**40, 136)]:
        (tmp_path / "x").write_bytes(npy_header(np.dtype("<f4"), shape))
        with open(tmp_path / "x", "rb") as file:
            assert np.lib.format.read_magic(file) == (1, 0)
            assert np.lib.format.read_array_header_1_0(file) == (shape, False, np.float32)
            assert file.tell() == 128


def test_meta_is_json(tmp_path):
    pack([([[1.0]], [0])], tmp_path / "d")
    content = json.loads((tmp_path / "d" / "meta.json").read_text())
    assert (content["format"], content["version"], content["layout"]) == (
        "ranksvm data",
        1,
        "dense",
    )
    assert (tmp_path / "d" / "X.npy").exists()
    assert_array_equal(np.load(tmp_path / "d" / "X.npy"), [[1.0]])
