"""Several files are one, with the queries of each told apart."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ranksvm.files.joining import joined, of_layout
from ranksvm.files.rows import CsrArrays, FileRows
from ranksvm.files.source import DataError

FILES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5)


def rows_of(qid, name="a", features=None):
    n_rows = len(qid)
    features = np.ones((n_rows, 2)) if features is None else features
    width = features.n_features if isinstance(features, CsrArrays) else features.shape[1]
    return FileRows(np.zeros(n_rows), np.asarray(qid), None, features, width, False, name)


def n_again(files):
    """Count the ids that come again in another file, and not at its beginning to go on."""
    again = set()
    for k, ids in enumerate(files):
        before = {one for earlier in files[:k] for one in earlier}
        runs = [one for place, one in enumerate(ids) if place == 0 or one != ids[place - 1]]
        goes_on = k > 0 and ids[0] == files[k - 1][-1]
        again |= before.intersection(runs[1:] if goes_on else runs)
    return len(again)


@given(files=FILES, as_text=st.booleans())
@example(files=[[1, 2], [3, 1], [1]], as_text=False)
@example(files=[[1], [1], [2, 1]], as_text=True)
def test_queries(files, as_text):
    kind = str if as_text else int
    notes = []
    parts = [rows_of(list(map(kind, ids)), f"f{k}") for k, ids in enumerate(files)]
    found = joined(parts, notes.append).qid
    assert found.tolist() == [kind(one) for ids in files for one in ids]
    again = n_again(files)
    assert len(notes) == (again > 0)
    assert again == 0 or notes[0].startswith(f"note: {again} qid")


def test_numbers_and_words_are_told_apart_as_words():
    found = joined([rows_of([1, 2]), rows_of(["2", "x"], "b")], None)
    assert found.qid.tolist() == ["1", "2", "2", "x"]


@given(
    dense=st.lists(st.booleans(), min_size=2, max_size=4),
    widths=st.lists(st.integers(1, 4), min_size=4, max_size=4),
    share=st.sampled_from([0.1, 0.4, 0.6, 1.0]),
)
def test_features_of_every_layout(dense, widths, share):
    rng = np.random.default_rng(0)
    parts, blocks = [], []
    for k, (is_dense, width) in enumerate(zip(dense, widths, strict=False)):
        X = rng.normal(size=(3, width)) * (rng.random((3, width)) < share)
        blocks.append(np.pad(X, [(0, 0), (0, 4 - width)]))
        parts.append(rows_of([k] * 3, f"f{k}", of_layout(X, is_dense)))
    width = max(part.n_features for part in parts)
    expected = np.vstack(blocks)[:, :width]
    found = joined(parts, None)
    assert parts == []
    X = found.X.toarray() if isinstance(found.features, CsrArrays) else found.X
    np.testing.assert_array_equal(X, expected)


def test_layouts():
    X = np.array([[0.0, 1.0], [2.0, 0.0]], np.float32)
    sparse = of_layout(X, dense=False)
    assert isinstance(sparse, CsrArrays)
    assert sparse.values.dtype == np.float32
    assert of_layout(sparse, dense=False) is sparse
    assert (of_layout(sparse, dense=True) == X).all()
    assert (csr_matrix(X).indices == sparse.indices).all()


def test_files_of_different_kinds():
    bare = FileRows(np.zeros(1), None, None, np.ones((1, 2)), 2, False, "bare")
    for parts in ([rows_of([1]), bare], [bare, rows_of([1])]):
        with pytest.raises(DataError, match="a has qids, but bare has none"):
            joined(parts, None)
