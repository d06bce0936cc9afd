"""The plain files of TreeRankSVM: what is written is read back, and what is wrong is told."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from ranksvm.files.source import DataError
from ranksvm.files.svmlight import read_svmlight
from ranksvm.files.treeranksvm import (
    read_features,
    read_labels,
    read_qids,
    write_features,
    write_labels,
    write_qids,
)


def dense(rows):
    return rows.X.toarray() if sparse.issparse(rows.X) else rows.X


FINITE = st.floats(allow_nan=False, allow_infinity=False)
LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters=" #")


@given(
    X=st.lists(st.lists(FINITE | st.just(0.0), min_size=3, max_size=3), min_size=1, max_size=6),
    make=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_features_round_trip(tmp_path_factory, X, make):
    path = tmp_path_factory.mktemp("features") / "f"
    write_features(path, make(np.array(X)))
    rows = read_features(path)
    assert rows.zero_based
    assert rows.qid is None
    X_read = np.zeros((len(X), 3))
    X_read[:, : rows.n_features] = dense(rows)
    assert_array_equal(X_read, X)


@given(labels=st.lists(FINITE, min_size=1, max_size=20))
def test_labels_round_trip(tmp_path_factory, labels):
    path = tmp_path_factory.mktemp("labels") / "l"
    write_labels(path, labels)
    assert_array_equal(read_labels(path), labels)


@given(
    qid=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1)
    | st.lists(
        st.text(LETTERS, min_size=1).filter(lambda word: not re.fullmatch("[+-]?[0-9]+", word)),
        min_size=1,
    )
)
def test_qids_round_trip(tmp_path_factory, qid):
    path = tmp_path_factory.mktemp("qids") / "q"
    write_qids(path, qid)
    assert read_qids(path).tolist() == qid


entries = st.dictionaries(st.integers(0, 10**6), FINITE, max_size=5).map(
    lambda row: [f"{index}:{row[index]!r}" for index in sorted(row)] or ["0:0"]
)


@given(
    rows=st.lists(entries, min_size=1, max_size=8),
    layout=st.lists(
        st.tuples(
            st.sampled_from(["", " ", "\t "]),
            st.sampled_from([" ", "  ", "\t"]),
            st.sampled_from(["", " ", "\r", " # 9:9 0:0", "#x"]),
            st.sampled_from(["", "\n", " \r\n", "# 5:1\n", "\t# -1:x qid:3\n"]),
        ),
        min_size=8,
        max_size=8,
    ),
)
def test_features_are_svmlight_without_labels(tmp_path_factory, rows, layout):
    """Blanks, comments and lines that are no rows change nothing."""
    folder = tmp_path_factory.mktemp("layout")
    text = "".join(
        after + before + between.join(row) + end + "\n"
        for row, (before, between, end, after) in zip(rows, layout, strict=False)
    )
    (folder / "f").write_text(text, newline="")
    (folder / "s").write_text("".join("0 " + " ".join(row) + "\n" for row in rows))
    ours, theirs = read_features(folder / "f"), read_svmlight(folder / "s", zero_based=True)
    assert ours.n_features == theirs.n_features
    assert_array_equal(ours.labels, theirs.labels)
    for one, other in zip(ours.features, theirs.features, strict=True):
        assert_array_equal(one, other)


@given(
    rows=st.lists(
        st.lists(st.integers(0, 120), min_size=1, max_size=4, unique=True), min_size=1, max_size=6
    )
)
def test_descending_indices_are_found(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("descending") / "f"
    path.write_text("".join(" ".join(f"{index}:1" for index in row) + "\n" for row in rows))
    descents = [
        (line, place)
        for line, row in enumerate(rows)
        for place in range(1, len(row))
        if row[place] < row[place - 1]
    ]
    if not descents:
        assert len(read_features(path).labels) == len(rows)
        return
    line, place = descents[0]
    column = 1 + sum(len(f"{index}:1 ") for index in rows[line][:place])
    before, found = rows[line][place - 1 : place + 1]
    expected = (
        f"f, line {line + 1}, column {column}: expected a feature above {before}, as features must "
        f"ascend, found '{found}:1'"
    )
    with pytest.raises(DataError, match=re.escape(expected)):
        read_features(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f is empty"),
        ("\n# 0:1\n", "f holds no rows"),
        ("0:1\n# x\n  0:1 2:y\n", "f, line 3, column 7: expected index:value with a finite"),
        ("0:1 1:nan", "f, line 1, column 5: .* found '1:nan'"),
        ("0:1\n1:-inf", "f, line 2, column 1: .* found '1:-inf'"),
        ("0:1 1:1e999", "f, line 1, column 5: .* found '1:1e999'"),
        ("0:1\n1:1 1:2", "f, line 2, column 5: expected each feature at most once .*'1:2'"),
        ("-1:1", "f, line 1, column 1: expected index:value, found '-1:1'"),
        ("1.5 0:1", "f, line 1, column 1: expected index:value, found '1.5'"),
        ("99999999999:1", "f, line 1, column 1: expected a feature index of at most"),
        ("0:1\x00", r"f, line 1, column 1: .* found '0:1\\x00'"),
        ("0:1 qid:3 4:1", "f, line 1, column 5: expected index:value, found 'qid:3'"),
        ("0:1 sid:3", "f, line 1, column 5: expected index:value, found 'sid:3'"),
        ("cost:3 0:1", "f, line 1, column 1: expected index:value, found 'cost:3'"),
        ("0:1\n \r 0:1", r"f, line 2, column 2: expected index:value, found '\\x0d'"),
    ],
)
def test_bad_features_are_refused(tmp_path, text, message):
    (tmp_path / "f").write_text(text, newline="")
    with pytest.raises(DataError, match=message):
        read_features(tmp_path / "f")


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("1\n2 3\n", 2, "2 3"),
        ("# a\n\n 1 qid:3", 3, "1 qid:3"),
        ("1 0:1", 1, "1 0:1"),
        ("nan", 1, "nan"),
        ("1\n-inf", 2, "-inf"),
        ("1\n1e999 # big", 2, "1e999"),
        ("1_0", 1, "1_0"),
        ("0x10", 1, "0x10"),
        ("1,5", 1, "1,5"),
        ("1\n2\x00\n", 2, "2\\x00"),
        ("é", 1, "\\xc3\\xa9"),
        ("x" * 60, 1, "x" * 40 + "..."),
    ],
)
def test_bad_labels_are_refused(tmp_path, text, line, found):
    (tmp_path / "l").write_text(text, "utf-8")
    column = 2 if found == "1 qid:3" else 1
    expected = (
        f"l, line {line}, column {column}: expected one label (a finite decimal number) per line, "
        "found "
    )
    with pytest.raises(DataError, match=re.escape(f"{expected}'{found}'") + "$"):
        read_labels(tmp_path / "l")


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [("1\n\n1 2", 3, "1 2"), ("a b", 1, "a b"), ("1\n2\x00", 2, "2\\x00"), ("1\r2", 1, "1\\x0d2")],
)
def test_bad_qids_are_refused(tmp_path, text, line, found):
    (tmp_path / "q").write_text(text, newline="")
    expected = (
        f"q, line {line}, column 1: expected one query id (an integer or a word) per line, found "
    )
    with pytest.raises(DataError, match=re.escape(f"{expected}'{found}'") + "$"):
        read_qids(tmp_path / "q")


@pytest.mark.parametrize("read", [read_labels, read_qids])
@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("# 1\n\n", "holds no rows")])
def test_files_without_rows_are_refused(tmp_path, read, text, message):
    (tmp_path / "x").write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "x")
    with pytest.raises(DataError, match="No such file"):
        read(tmp_path / "none")


def test_blanks_and_comments(tmp_path):
    (tmp_path / "x").write_text("# numbers\r\n\r\n  1 # one\r\n\t2\n3#three", newline="")
    assert read_labels(tmp_path / "x").tolist() == [1.0, 2.0, 3.0]
    assert read_qids(tmp_path / "x").tolist() == [1, 2, 3]


def test_the_manual(tmp_path):
    """The examples of TreeRankSVM's manual."""
    (tmp_path / "f").write_text("0:0.43 3:0.12 9284:0.2\n0:0\n")
    rows = read_features(tmp_path / "f")
    assert rows.n_features == 9285
    assert rows.X.indices.tolist() == [0, 3, 9284]
    assert rows.X.indptr.tolist() == [0, 3, 3]
    (tmp_path / "l").write_text("1\n-1\n1\n")
    assert read_labels(tmp_path / "l").tolist() == [1, -1, 1]
    (tmp_path / "q").write_text("1\n1\n1\n2\n2\n")
    assert read_qids(tmp_path / "q").tolist() == [1, 1, 1, 2, 2]


def test_compressed_files_are_read(tmp_path):
    with gzip.open(tmp_path / "f.gz", "wb") as file:
        file.write(b"0:1\n3:2\n")
    assert read_features(tmp_path / "f.gz").n_features == 4


@pytest.mark.parametrize(
    ("write", "value", "message"),
    [
        (write_features, [[np.nan]], "X holds values that are not finite"),
        (write_features, [1.0], "X must be a matrix"),
        (write_labels, [1.0, np.inf], "labels must be finite; row 1 holds inf"),
        (write_qids, ["a b"], "qid of row 0 must be a word"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, write, value, message):
    (tmp_path / "x").write_text("old")
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "x", value)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"
