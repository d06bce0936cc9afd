"""Rows some at a time are the rows of the whole file."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ranksvm.files.data_source import DataSource
from ranksvm.files.joining import joined
from ranksvm.files.parts import QueryAgainError, of_whole_queries, part_of
from ranksvm.files.rows import CsrArrays, FileRows
from ranksvm.files.source import DataError
from ranksvm.files.svmlight import read_svmlight
from ranksvm.files.svmlight_parts import svmlight_parts


def parts_of(text, part_bytes, zero_based="auto", **options):
    source = DataSource(io.BytesIO(text))
    return list(
        svmlight_parts(source, zero_based=zero_based, part_bytes=part_bytes, n_threads=1, **options)
    )


def silent(note):
    raise AssertionError(note)


def dense(rows):
    return rows.X if isinstance(rows.X, np.ndarray) else rows.X.toarray()


ROW = st.tuples(
    st.sampled_from([0, 1, 2.5]),
    st.dictionaries(st.integers(1, 6), st.sampled_from([1, -2.5, 1e300]), max_size=6),
    st.sampled_from(["", "", "# docid = a", "\n", "\n# nothing\n\n"]),
)


@given(rows=st.lists(ROW, min_size=1, max_size=30), part_bytes=st.integers(1, 300))
def test_parts_make_the_whole(rows, part_bytes):
    lines = []
    for k, (label, features, end) in enumerate(rows):
        listed = " ".join(f"{index}:{value!r}" for index, value in sorted(features.items()))
        lines.append(f"{label:g} qid:{k // 3} {listed} {end}")
    text = "\n".join(lines).encode()
    whole = read_svmlight(io.BytesIO(text), comments=True, n_threads=1)

    parts = parts_of(text, part_bytes, comments=True)
    layouts = {isinstance(part.features, CsrArrays) for part in parts}
    assert len(layouts) == 1
    joint = joined(parts, silent)

    assert joint.labels.tolist() == whole.labels.tolist()
    assert joint.qid.tolist() == whole.qid.tolist()
    assert joint.comments == whole.comments
    assert type(joint.features) is type(whole.features)
    assert_array_equal(dense(joint), dense(whole))


def test_faults_name_the_line_of_the_file():
    text = b"1 qid:1 1:2\n\n# x\n0 qid:1 1:3\n" * 20 + b"1 qid:1 1:x\n"
    for part_bytes in (1, 50, 10_000):
        with pytest.raises(DataError, match="<stream>, line 81, column 9: expected index:value"):
            parts_of(text, part_bytes)


def test_qids_come_in_all_rows_or_none():
    text = b"1 qid:1 1:2\n" * 9 + b"1 1:2\n"
    for part_bytes in (1, 12, 10_000):
        with pytest.raises(DataError, match=r"line 10.* qid"):
            parts_of(text, part_bytes)


def test_where_features_count_from():
    text = b"1 qid:1 1:2\n" * 9 + b"1 qid:1 0:2\n"
    with pytest.raises(DataError, match=r"from line 10 on there is a feature 0: say --zero-based"):
        parts_of(text, 12)
    assert {part.zero_based for part in parts_of(text, 12, True)} == {True}
    back = b"1 qid:1 0:2\n" + b"1 qid:1 1:2\n" * 9
    assert {part.zero_based for part in parts_of(back, 12)} == {True}


@pytest.mark.parametrize(("text", "message"), [(b"", "is empty"), (b"\n# x\n", "holds no rows")])
def test_no_rows(text, message):
    with pytest.raises(DataError, match=message):
        parts_of(text, 10)


def rows_of(qid, features=None, name="rows"):
    qid = None if qid is None else np.asarray(qid)
    n_rows = len(features) if qid is None else len(qid)
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2) if features is None else features
    return FileRows(np.arange(float(n_rows)), qid, None, X, 2, False, name)


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=12), step=st.integers(1, 9))
def test_queries_are_not_cut(sizes, step):
    whole = rows_of(np.repeat(np.arange(len(sizes)), sizes))
    n_rows = len(whole.labels)
    parts = [part_of(whole, k, min(k + step, n_rows)) for k in range(0, n_rows, step)]

    found = list(of_whole_queries(iter(parts)))

    seen = [set(part.qid.tolist()) for part in found]
    assert sum(map(len, seen)) == len(sizes)
    joint = joined(found, silent)
    assert joint.labels.tolist() == whole.labels.tolist()
    assert_array_equal(joint.features, whole.features)


def test_rows_without_queries_are_one():
    parts = [rows_of(None, np.ones((3, 2))) for _ in range(4)]
    (found,) = of_whole_queries(iter(parts))
    assert len(found.labels) == 12


def test_rows_of_a_query_must_be_adjacent():
    whole = rows_of([1, 1, 2, 1, 3])
    assert list(of_whole_queries(iter([whole]))) == [whole]
    with pytest.raises(QueryAgainError, match="query 1 are not adjacent, it comes again in row 4"):
        list(of_whole_queries(iter([part_of(whole, 0, 2), part_of(whole, 2, 5)])))


def test_a_query_id_is_that_of_one_query_in_all_files():
    parts = [rows_of([1, 2], name="a"), rows_of([2, 3], name="b"), rows_of([3], name="c")]
    found = [part.qid.tolist() for part in of_whole_queries(iter(parts))]
    assert found == [[1], [2, 2], [3, 3]]
    parts = [rows_of([1, 2], name="a"), rows_of([2, 1], name="b")]
    with pytest.raises(QueryAgainError, match="b: the rows of query 1 are not adjacent"):
        list(of_whole_queries(iter(parts)))


def test_sparse_parts():
    text = b"1 qid:1 1:2 9:1\n0 qid:1 2:3\n1 qid:2 5:1\n"
    whole = read_svmlight(io.BytesIO(text))
    part = part_of(whole, 1, 3)
    assert isinstance(part.features, CsrArrays)
    assert_array_equal(part.X.toarray(), whole.X.toarray()[1:])
