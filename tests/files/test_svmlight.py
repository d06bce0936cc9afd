"""The SVMlight reader, and what it says about files that it refuses."""

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from ranksvm import _core
from ranksvm.files.svmlight import DataError, read_svmlight

LETOR = b"""# two queries
2 qid:10 1:0.5 3:1.25 # docid = GX000-00-0000000
0 qid:10 2:-1e-3

1 qid:11 1:3 2:4 3:5\r
"""
CUTS = [  # (n_threads, chunk_bytes, piece_bytes)
    (1, 1, 1000),
    (1, 7, 1),
    (2, 1, 30),
    (2, 16, 1000),
    (2, 1 << 20, 17),
]


def parse(text, zero_based=None, n_threads=1, chunk_bytes=1 << 20, piece_bytes=1 << 20, **options):
    reader = new_reader(zero_based, n_threads, chunk_bytes, **options)
    for begin in range(0, len(text), piece_bytes):
        reader.feed(np.frombuffer(text[begin : begin + piece_bytes], dtype=np.uint8))
    return reader.finish()


def new_reader(zero_based=None, n_threads=1, chunk_bytes=1, comments=False, n_features=0):
    line = _core.LineFormat.svmlight
    return _core.SvmlightReader64(line, zero_based, comments, n_features, n_threads, chunk_bytes)


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def read(text, **options):
    return read_svmlight(io.BytesIO(text), **options)


def test_letor_file():
    rows = read(LETOR)
    assert_array_equal(rows.labels, [2, 0, 1])
    assert_array_equal(rows.qid, [10, 10, 11])
    assert rows.qid.dtype == np.int64
    assert rows.cost is None
    expected = [[0.5, 0, 1.25], [0, -1e-3, 0], [3, 4, 5]]
    assert_array_equal(rows.X, expected)
    assert rows.X.flags.c_contiguous
    assert rows.name == "<stream>"


def test_comments_are_kept_on_demand():
    assert read(LETOR).comments is None
    rows = read(LETOR, comments=True)
    assert rows.comments == ["docid = GX000-00-0000000", "", ""]
    assert rows.docids is None  # two rows name no document
    text = "".join(f"{i} 1:1 #docid={name} inc = 1\n" for i, name in enumerate("abc"))
    for cut in CUTS:
        found = parse(text.encode(), None, *cut, comments=True)[-1]
        assert found == ["docid=a inc = 1", "docid=b inc = 1", "docid=c inc = 1"]
    assert read(text.encode(), comments=True).docids == ["a", "b", "c"]
    strange = "1 1:1 # caf\u00e9 # again \u00e9\n".encode() + b"2 #\xff\r\n3"
    assert read(strange, comments=True).comments == ["caf\u00e9 # again \u00e9", "\udcff", ""]


@given(
    blocks=st.lists(st.lists(st.sets(st.integers(0, 3)), min_size=1), min_size=1, max_size=4),
    wide=st.integers(4, 8),
    zero_based=st.sampled_from([None, True]),
    n_features=st.sampled_from([0, 5, 20]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_dense_exactly_if_more_than_half_is_not_zero(blocks, wide, zero_based, n_features, dtype):
    """However the first rows look, and whenever the width or the index base becomes known."""
    rows = [{j for j in row if j > 0} if k == 0 else row for k, b in enumerate(blocks) for row in b]
    rows[-1] = rows[-1] | {wide} if len(blocks) > 2 else rows[-1]
    text = "".join("1 " + " ".join(f"{j}:{j + 0.1}" for j in row) + "\n" for row in rows).encode()
    base = 0 if zero_based or any(0 in row for row in rows) else 1
    X = np.zeros(
        (len(rows), max(n_features, *(max(row, default=base - 1) + 1 - base for row in rows)))
    )
    for i, row in enumerate(rows):
        X[i, [j - base for j in row]] = np.array([j + 0.1 for j in row], dtype=dtype)
    for pieces in (1 << 20, 40, 12):
        kind = _core.SvmlightReader32 if dtype == np.float32 else _core.SvmlightReader64
        reader = kind(_core.LineFormat.svmlight, zero_based, False, n_features, 2, 16)
        for begin in range(0, len(text), pieces):
            reader.feed(np.frombuffer(text[begin : begin + pieces], dtype=np.uint8))
        _, features, d, from_zero, *_ = reader.finish()
        assert (d, from_zero) == (X.shape[1], base == 0)
        if np.count_nonzero(X) > X.size / 2:
            assert features.dtype == dtype
            assert_array_equal(features, X)
        else:
            expected = sparse.csr_matrix(X)
            assert_array_equal(features[0], expected.indptr)
            assert_array_equal(features[1], expected.indices)
            assert_array_equal(features[2], expected.data)
            assert features[2].dtype == dtype


def test_types():
    for text in (LETOR, LETOR + b"1 qid:1 9:1e-3"):
        double, single = read(text), read(text, dtype=np.float32)
        assert (double.X.dtype, single.X.dtype) == (np.float64, np.float32)
        assert_array_equal(dense(single.X), dense(double.X).astype(np.float32))
    assert sparse.isspmatrix_csr(double.X)
    assert np.shares_memory(double.X.indices, double.features.indices)
    with pytest.raises(ValueError, match="dtype must be float64 or float32, not int64"):
        read(LETOR, dtype=np.int64)


def test_values_beyond_single_precision():
    assert dense(read(b"1 1:-3.4e38 2:1e-60", dtype=np.float32).X).tolist() == [
        [np.float32(-3.4e38), 0]
    ]
    with pytest.raises(DataError, match=r"column 3: expected a value of single .*'2:-3\.5e38'"):
        read(b"1 2:-3.5e38", dtype=np.float32)


NUMBER = st.from_regex(r"\A[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\Z")


@given(st.one_of(NUMBER, st.floats(allow_nan=False, allow_infinity=False).map(repr)))
def test_numbers_are_those_of_python(number):
    if np.isinf(float(number)):
        with pytest.raises(DataError, match="expected a label"):
            read(number.encode())
    else:
        label = read(number.encode()).labels[0]
        assert label.tobytes() == np.float64(number).tobytes()


@pytest.mark.parametrize(
    "number",
    [
        "1e-400",
        "-1e-400",
        "2e-324",
        "1e-310",
        "1e-99999999999999999999",
        "0e99999999999",
        "0." + "0" * 400 + "1",
        "1" + "0" * 400 + "e-400",
        "0." + "0" * 400 + "1e401",
        "1.7976931348623157e308",
    ],
)
def test_extreme_numbers(number):
    assert read(number.encode()).labels[0].tobytes() == np.float64(number).tobytes()


@pytest.mark.parametrize(
    "number",
    ["1e400", "-1e400", "1" + "0" * 400, "0.001e312", "1e99999999999999999999", "nan", "-inf"],
)
def test_numbers_out_of_range(number):
    assert_refused(number)


@pytest.mark.parametrize(
    "number",
    ["infinity", "0x1p3", "1_000", "++1", "+-1", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "1,5"],
)
def test_garbled_numbers(number):
    assert_refused(number)


def assert_refused(number):
    with pytest.raises(DataError, match=re.escape(f"found '{number[:40]}")):
        read(number.encode())
    with pytest.raises(DataError, match=re.escape(f"value, found '7:{number[:38]}")):
        read(f"1 7:{number}".encode())


SPACE = st.sampled_from([" ", "\t", "  ", " \t "])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ENTRIES = st.dictionaries(st.integers(1, 60), FINITE, max_size=8)
ROW = st.tuples(FINITE, ENTRIES, st.none() | st.floats(0, 1e300), SPACE, st.booleans())


@given(
    rows=st.lists(ROW, min_size=1, max_size=12),
    qids=st.sampled_from([None, [1, -5, 2**62], ["a", "7", "ü"]]),
    ends=st.sampled_from(["\n", "\r\n", "\n\n# 3:\n \t\n"]),
    last=st.booleans(),
)
def test_reads_what_was_written_by_hand(rows, qids, ends, last):
    """Any layout, any cut into chunks and any number of threads give the same rows."""
    lines, X, y, cost, qid = [], np.zeros((len(rows), 60)), [], [], []
    for i, (label, entries, weight, space, comment) in enumerate(rows):
        tokens = [repr(label)]
        if qids:
            qid.append(str(qids[i % 3]))
            tokens.append(f"qid:{qid[-1]}")
        if weight is not None:
            tokens += ["sid:3", f"cost:{weight}"]
        tokens += [f"{j}:{value!r}" for j, value in entries.items()]
        lines.append(space * (i % 2) + space.join(tokens) + space + "# 5:5" * comment)
        y.append(label)
        cost.append(1.0 if weight is None else weight)
        for j, value in entries.items():
            X[i, j - 1] = value
    text = (ends.join(lines) + ends * last).encode()
    expected = sparse.csr_matrix(X)
    for cut in CUTS:
        labels, features, d, _, costs, queries, _ = parse(text, False, *cut, n_features=200)
        assert_array_equal(labels, y)
        assert_array_equal(features[0], expected.indptr)
        assert_array_equal(features[1], expected.indices)
        assert_array_equal(features[2], expected.data)
        assert d == 200
        d = parse(text, False, *cut)[2]
        assert d == max((j for row in rows for j in row[1]), default=0)
        assert (costs is None) == all(row[2] is None for row in rows)
        assert costs is None or costs.tolist() == cost
        assert (queries is None) == (qids is None)
        if queries is not None:
            assert isinstance(queries[0], np.ndarray) == (qids[0] == 1 or qid[:2] == qid == ["7"])
            assert qid == [str(q) for q, n in zip(*queries, strict=True) for _ in range(n)]


def test_qids():
    assert read(b"1 qid:1\n2 qid:b\n3 qid:007").qid.tolist() == ["1", "b", "007"]
    assert read(b"1 qid:+1\n2 qid:-2\n3 qid:007").qid.tolist() == [1, -2, 7]
    assert read(b"1 qid:9223372036854775808").qid.tolist() == ["9223372036854775808"]
    assert read("1 qid:où:ça".encode()).qid.tolist() == ["où:ça"]
    assert read(b"1 1:5 qid:4 cost:2").qid.tolist() == [4]


@pytest.mark.parametrize(
    ("text", "zero_based", "columns", "n_features"),
    [
        (b"1 1:1 3:1", "auto", [0, 2], 3),
        (b"1 0:1 3:1", "auto", [0, 3], 4),
        (b"1 1:1 3:1", True, [1, 3], 4),
        (b"1 0:0\n1 1:1 3:1", "auto", [0, 2], 3),
        (b"1 0:0\n1 1:1 3:1", True, [1, 3], 4),
        (b"1 0:-0.0\n1 3:1 0:2", "auto", [0, 3], 4),
        (b"1 0:0", "auto", [], 0),
        (b"1", "auto", [], 0),
        (b"1 1:1 5:0", "auto", [0], 5),
        (b"1 2147483646:1", "auto", [2147483645], 2147483646),
        (b"1 0003:1 01:2", "auto", [0, 2], 3),
    ],
)
def test_index_base(text, zero_based, columns, n_features):
    rows = read(text, zero_based=zero_based)
    assert np.unique(sparse.csr_array(rows.X).indices).tolist() == columns
    assert rows.n_features == n_features


@pytest.mark.parametrize(
    ("text", "told", "found"),
    [
        (b"1 1:1", "auto", False),
        (b"1 0:0 1:1", "auto", False),
        (b"1 1:1\n1 0:2", "auto", True),
        (b"1 1:1", True, True),
        (b"1 1:1", False, False),
    ],
)
def test_index_base_is_reported(text, told, found):
    assert read(text, zero_based=told).zero_based is found


def test_no_features():
    assert read(b"1\n2").X.shape == (2, 0)


def test_n_features():
    assert read(LETOR, n_features=5).X.shape == (3, 5)
    with pytest.raises(DataError, match=r"^<stream> has 3 features but n_features=2: raise it"):
        read(LETOR, n_features=2)


LONG = "x" * 50
ERRORS = [
    ("abc 1:2", 1, 1, "expected a label (a finite decimal number), found 'abc'"),
    (" \tqid:3 1:2", 1, 3, "expected a label (a finite decimal number), found 'qid:3'"),
    ("1:2 3:4", 1, 1, "expected a label (a finite decimal number), found '1:2'"),
    ("1 1:1\n\n#\n2  1:1 abc", 4, 8, "expected index:value, found 'abc'"),
    ("1 abc:2", 1, 3, "expected index:value, found 'abc:2'"),
    ("1 2", 1, 3, "expected index:value, found '2'"),
    ("1 :2", 1, 3, "expected index:value, found ':2'"),
    ("1 -1:2", 1, 3, "expected index:value, found '-1:2'"),
    ("1 1.5:2", 1, 3, "expected index:value, found '1.5:2'"),
    ("1 1:1\r 2:1", 1, 3, "expected index:value with a finite decimal value, found '1:1\\x0d'"),
    ("1 1:", 1, 3, "expected index:value with a finite decimal value, found '1:'"),
    ("1 1:nan", 1, 3, "expected index:value with a finite decimal value, found '1:nan'"),
    ("1 1:2:3", 1, 3, "expected index:value with a finite decimal value, found '1:2:3'"),
    ("1 1:1\0", 1, 3, "expected index:value with a finite decimal value, found '1:1\\x00'"),
    ("\0", 1, 1, "expected a label (a finite decimal number), found '\\x00'"),
    ("1 ä:1", 1, 3, "expected index:value, found '\\xc3\\xa4:1'"),
    (f"1 {LONG}", 1, 3, f"expected index:value, found '{LONG[:40]}...'"),
    ("1 2147483647:1", 1, 3, "a feature index of at most 2147483646, found '2147483647:1'"),
    (f"1 {'9' * 30}:1", 1, 3, f"a feature index of at most 2147483646, found '{'9' * 30}:1'"),
    ("1 2:1 1:1 2:3 1:3", 1, 11, "expected each feature at most once in a row, found '2:3'"),
    ("1 1:0 qid:3 sid:2 1:5", 1, 19, "expected each feature at most once in a row, found '1:5'"),
    ("1 qid:", 1, 3, "expected qid:identifier, found 'qid:'"),
    ("1 qid:\x01", 1, 3, "expected qid:identifier, found 'qid:\\x01'"),
    ("1 qid:1 qid:1", 1, 9, "expected at most one qid in a row, found 'qid:1'"),
    ("1 cost:1 cost:1", 1, 10, "expected at most one cost in a row, found 'cost:1'"),
    ("1 sid:1 sid:1", 1, 9, "expected at most one sid in a row, found 'sid:1'"),
    ("1 sid:a", 1, 3, "expected sid:integer, found 'sid:a'"),
    ("1 cost:-1", 1, 3, "expected cost:number, finite and at least 0, found 'cost:-1'"),
    ("1 cost:inf", 1, 3, "expected cost:number, finite and at least 0, found 'cost:inf'"),
    ("1 cost:", 1, 3, "expected cost:number, finite and at least 0, found 'cost:'"),
    ("1 qid:1\n1 qid:1\n  2 1:1\n2 x", 3, 3, "expected a qid, as in the rows before, found none"),
    ("1 1:1\n1 2:1\n2 1:1 qid:3", 3, 7, "expected no qid, as in the rows before, found 'qid:3'"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), ERRORS)
def test_errors(text, line, column, message):
    with pytest.raises(DataError, match=re.escape(message) + "$") as raised:
        read(text.encode() + b"\n")
    assert str(raised.value).startswith(f"<stream>, line {line}, column {column}: expected ")


def test_index_zero_where_indices_count_from_one():
    message = "column 7: expected feature indices from 1, as zero_based is False, found '0:0'"
    with pytest.raises(DataError, match=message):
        read(b"1 1:1 0:0", zero_based=False)


@given(
    st.lists(st.sampled_from([e[0] for e in ERRORS] + ["1 1:1", "2 qid:3", "", "#"]), max_size=9)
)
def test_the_earliest_error_wins(lines):
    """However the text is cut, and however many threads parse it."""
    text = "\n".join(lines).encode()
    outcomes = set()
    for cut in CUTS:
        try:
            outcomes.add(str(parse(text, None, *cut)))
        except ValueError as error:
            outcomes.add(str(error))
    assert len(outcomes) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zero_based": "maybe"}, "zero_based must be True, False or \"auto\", not 'maybe'"),
        ({"n_threads": 0}, "n_threads must be a whole number of at least 1, or negative"),
    ],
)
def test_options_refused(options, message):
    with pytest.raises(ValueError, match=message):
        read(LETOR, **options)


def test_nothing_is_converted_silently():
    with pytest.raises(TypeError):
        new_reader().feed(np.zeros(3))
    for wrong in ({"n_threads": 0}, {"chunk_bytes": 0}, {"n_features": -1}):
        with pytest.raises(ValueError, match="must not be negative"):
            new_reader(**wrong)
