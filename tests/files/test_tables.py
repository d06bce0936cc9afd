import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from pyarrow import csv, feather, ipc, parquet

from ranksvm import RankSVM, load_svmlight, load_table
from ranksvm.files.data_source import DataSource
from ranksvm.files.source import DataError
from ranksvm.files.svmlight import dump_svmlight
from ranksvm.files.tables import formats

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def table_of(X, y, qid, **further):
    columns = {f"f{k + 1}": X[:, k] for k in range(X.shape[1])}
    return pa.table({"label": y, "qid": qid, **columns, **further})


def write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=7)
    elif path.suffix == ".feather":
        feather.write_feather(table, path, chunksize=5)
    elif path.suffix == ".stream":
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        csv.write_csv(table, path, csv.WriteOptions(delimiter=delimiter))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, rng.integers(0, 3, 60).astype(float), np.repeat(np.arange(6), 10)


KINDS = (".parquet", ".feather", ".stream", ".csv", ".tsv")


@settings(deadline=None, max_examples=25)
@given(
    X=npst.arrays(np.float64, (12, 2), elements=NUMBERS.filter(bool)),
    y=npst.arrays(np.float64, 12, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    qid=npst.arrays(np.int64, 12, elements=st.integers(-3, 3)),
    kind=st.sampled_from(KINDS),
)
def test_every_format_gives_the_same_rows(tmp_path_factory, X, y, qid, kind):
    folder = tmp_path_factory.mktemp("rows")
    dump_svmlight(folder / "rows.svm", X, y, qid)
    if kind in (".csv", ".tsv"):  # pyarrow writes numbers of which some digits are lost
        text = "\n".join(
            [
                "label,qid,f1,f2",
                *(
                    f"{t!r},{q},{a!r},{b!r}"
                    for t, q, (a, b) in zip(y.tolist(), qid, X.tolist(), strict=True)
                ),
            ]
        )
        (folder / f"rows{kind}").write_text(text.replace(",", "\t" if kind == ".tsv" else ","))
    else:
        write(table_of(X, y, qid), folder / f"rows{kind}")

    expected, labels, queries = load_svmlight(folder / "rows.svm")
    found = load_table(folder / f"rows{kind}")

    assert found.X.tobytes() == expected.tobytes()
    assert found.X.flags.c_contiguous
    assert found.y.tobytes() == labels.tobytes()
    assert found.qid.tolist() == queries.tolist()
    assert found.qid.dtype == queries.dtype
    assert found.feature_names == ["f1", "f2"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_fit(tmp_path, problem, kind):
    X, y, qid = problem
    X = np.round(X, 3)
    dump_svmlight(tmp_path / "rows.svm", X, y, qid)
    write(table_of(X, y, qid), tmp_path / f"rows{kind}")
    expected = RankSVM().fit(*load_svmlight(tmp_path / "rows.svm"))
    found = RankSVM().fit(*load_table(tmp_path / f"rows{kind}")[:3])
    assert found.coef_.tobytes() == expected.coef_.tobytes()


@pytest.mark.parametrize("kind", [".parquet", ".feather", ".stream"])
def test_single_precision_stays(tmp_path, problem, kind):
    X, y, qid = problem
    path = tmp_path / f"rows{kind}"
    write(table_of(X.astype(np.float32), y, qid), path)
    assert load_table(path).X.dtype == np.float32
    assert (X.astype(np.float32) == load_table(path).X).all()
    assert load_table(path, dtype="f8").X.dtype == np.float64
    write(table_of(X.astype(np.float32), y, qid, more=qid), path)
    assert load_table(path).X.dtype == np.float64


def test_wide_and_long_tables_are_filled_in_blocks(tmp_path):
    rng = np.random.default_rng(1)
    for shape in [(3, 700), (5000, 9), (1, 1)]:
        X = rng.normal(size=shape)
        path = tmp_path / "rows.parquet"
        write(table_of(X, np.zeros(len(X)), np.zeros(len(X), int)), path)
        assert (load_table(path).X == X).all()


def test_numbers_of_every_type(tmp_path):
    columns = {
        "label": pa.array([True, False]),
        "qid": pa.array(["a", "b"]).dictionary_encode(),
        "small": pa.array([-1, 2], pa.int8()),
        "large": pa.array([2**63, 3], pa.uint64()),
        "half": pa.array(np.array([0.5, 2], np.float16)),
        "truth": pa.array([True, False]),
        "decimal": pa.array(["1.25", "2.50"]).cast(pa.decimal128(5, 2)),
    }
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    table = load_table(tmp_path / "rows.parquet")
    assert table.X.tolist() == [[-1, 2.0**63, 0.5, 1, 1.25], [2, 3, 2, 0, 2.5]]
    assert table.y.tolist() == [1, 0]
    assert table.qid.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1", "2", "2"], [1, 2, 2]),
        (["1", "02", "x"], ["1", "02", "x"]),
        (["01", "2", "2"], ["01", "2", "2"]),
        (["9" * 30, "1", "1"], ["9" * 30, "1", "1"]),
        ([1.0, 2.0, 2.0], [1, 2, 2]),
        ([1.5, 2.0, 2.0], ["1.5", "2.0", "2.0"]),
    ],
)
def test_query_ids(tmp_path, ids, expected):
    table = pa.table({"y": [0, 1, 2], "qid": ids, "a": [1.0, 2.0, 3.0]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert load_table(tmp_path / "rows.parquet").qid.tolist() == expected


def test_columns_of_usual_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",Relevance,QUERY,DocID,a\n0,1,x,d1,5\n1,2,x,d2,6\n")
    table = load_table(path)
    assert table.y.tolist() == [1, 2]
    assert table.qid.tolist() == ["x", "x"]
    assert table.docids == ["d1", "d2"]
    assert table.feature_names == ["a"]


def test_columns_that_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("t,seen,g,w,f1,f2,x\n3,1,p,2,5,6,a\n4,0,p,1,7,8,b\n")
    named = {"label": "t", "event": "seen", "qid": "g", "weight": "w"}
    table = load_table(path, **named, drop=["x"])
    assert table.event.tolist() == [True, False]
    assert table.sample_weight.tolist() == [2, 1]
    assert table.feature_names == ["f1", "f2"]
    assert load_table(path, **named, features=["f2"]).X.tolist() == [[6], [8]]
    assert load_table(path, **named, features=["f*"]).X.tolist() == [[5, 6], [7, 8]]
    assert load_table(path, features=["f*"]).y is None


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.csv", "rows"])
def test_what_is_compressed_is_told_by_its_content(tmp_path, name):
    text = b"\xef\xbb\xbflabel,qid,a\n1,1,2\n0,1,3\n"
    for compress in (gzip.compress, bz2.compress, lzma.compress, bytes):
        (tmp_path / "rows").write_bytes(compress(text))
        assert load_table(tmp_path / "rows").X.tolist() == [[2], [3]]


def test_compressed_rows_of_svmlight_under_another_name(tmp_path):
    (tmp_path / "rows.csv").write_bytes(gzip.compress(b"1 qid:1 1:2\n0 qid:1 1:3\n"))
    assert load_table(tmp_path / "rows.csv").X.tolist() == [[2], [3]]


def test_streams(tmp_path, problem):
    path = tmp_path / "rows.parquet"
    write(table_of(*problem), path)
    expected = load_table(path).X
    assert (expected == load_table(io.BytesIO(path.read_bytes())).X).all()
    write(table_of(*problem), tmp_path / "rows.csv")
    content = io.BytesIO((tmp_path / "rows.csv").read_bytes())
    assert load_table(content).X.shape == expected.shape


CSV_FAULTS = [
    ("y,a\n1,2\n2,x\n", {}, "row 2, column 'a': expected a number, found 'x'"),
    ("y,a\n1,2\n2\n", {}, "row 2: expected 2 columns, got 1"),
    ("y,a\n1,2\n2,\n", {}, "row 2, column 'a': the value is missing"),
    ("y,a\n1,2\n2,inf\n", {}, "row 2, column 'a': expected a finite number, found inf"),
    ("y,a\n1,2\n2,NaN\n", {}, "row 2, column 'a': the value is missing"),
    ("y,a\n,2\n", {}, "row 1, column 'y': the value is missing"),
    ("1,2\n3,4\n", {}, "has no header"),
    ("y,a\n", {}, "holds no rows"),
    ("y,a,a\n1,2,3\n", {}, "has the column 'a' twice"),
    ("y,label,a\n1,2,3\n", {}, "has the columns 'y' and 'label'"),
    ("y,a\n1,2\n", {"qid": "foo"}, "has no column 'foo', to be the query ids"),
    ("y,a\n1,2\n", {"label": "a", "qid": "a"}, "cannot be both the label and the query ids"),
    ("y,a\n1,2\n", {"drop": ["A"]}, r"has no column 'A' \(did you mean a\?\)"),
    ("y,a\n1,2\n", {"label": "y", "features": ["y"]}, "the column 'y' cannot be a feature, too"),
    ("y,a\n1,2\n", {"features": ["a"], "drop": ["a"]}, "not both"),
    ("y,a\n1,2\n", {"drop": ["a"]}, "has no features"),
    ("y,a,e\n1,2,3\n", {"event": "e"}, "row 1, column 'e': expected 1 or 0, found '3'"),
    ("y,a,w\n1,2,-3\n", {"weight": "w"}, "row 1, column 'w': a weight must not be negative"),
    ("y,qid,a\n1,2,3\n2,,4\n", {}, "row 2, column 'qid': the id is missing"),
    ("y;a\n1,5;2\n", {}, "row 1, column 'y': expected a number, found '1,5'"),
    ("\n\ny,a\n1,2\n3,z", {}, "row 2, column 'a': expected a number, found 'z'"),
    ("y,ü\n1,2\n".encode("latin-1"), {}, "names of columns must be UTF-8"),
]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("text", "given", "message"), CSV_FAULTS)
def test_faults_of_csv(tmp_path, text, given, message, n_threads):
    path = tmp_path / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message) as error:
        load_table(path, **given, n_threads=n_threads)
    assert str(error.value).startswith(str(path)) or "not both" in message


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["x", "y"]), "the column 'a' holds texts, no numbers: leave it out, by --drop"),
        (pa.array(["x", "y"]).dictionary_encode(), "holds categories.*one-hot"),
        (pa.array([0, 1], pa.timestamp("s")), "holds dates or times"),
        (pa.array([[1.0], [2.0]]), "holds 'list<"),
        (pa.array([1.0, None]), "row 2, column 'a': the value is missing"),
        (pa.array([None, None]), "row 1, column 'a': the value is missing"),
        (pa.array([1.0, np.nan]), "row 2, column 'a': expected a finite number, found nan"),
        (pa.array([1.0, -np.inf]), "row 2, column 'a': expected a finite number, found -inf"),
    ],
)
def test_faults_of_columns(tmp_path, column, message):
    parquet.write_table(pa.table({"y": [0, 1], "a": column}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=message):
        load_table(tmp_path / "rows.parquet")


def test_sums_that_overflow_are_no_fault(tmp_path):
    parquet.write_table(pa.table({"y": [0, 1], "a": [1.7e308, 1.7e308]}), tmp_path / "rows.pq")
    assert load_table(tmp_path / "rows.pq").X.tolist() == [[1.7e308], [1.7e308]]


def test_numbers_that_single_precision_does_not_hold(tmp_path):
    columns = {"label": [1.0, 0.0], "a": [1.0, 2.0], "b": [0.5, -1e300]}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    assert load_table(tmp_path / "rows.parquet").X[1, 1] == -1e300
    message = "row 2, column 'b': expected a finite number, found -1e.300, too large for single"
    with pytest.raises(DataError, match=message):
        load_table(tmp_path / "rows.parquet", dtype="f4")


@pytest.mark.parametrize("kind", [".parquet", ".feather", ".stream"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_some_columns_in_another_order(tmp_path, kind, n_threads):
    X = np.random.default_rng(2).normal(size=(40, 8))
    order = [5, 1, 7, 0, 2, 6]
    qid, docids = np.arange(40) // 9, [f"d{k}" for k in range(40)]
    frame = {f"f{k}": X[:, k] for k in range(8)}
    path = tmp_path / f"rows{kind}"
    write(pa.table({"qid": qid, **frame, "docid": docids, "y": X[:, 4]}), path)
    found = load_table(path, features=[f"f{k}" for k in order], n_threads=n_threads)
    np.testing.assert_array_equal(found.X, X[:, order])
    np.testing.assert_array_equal(found.y, X[:, 4])
    np.testing.assert_array_equal(found.qid, qid)
    assert list(found.docids) == docids


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.stream"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_more_rows_than_were_expected(tmp_path, monkeypatch, name, n_threads):
    monkeypatch.setattr(formats, "_CSV_BLOCK", 4096)
    monkeypatch.setattr(DataSource, "start", b"label,a,b\n1,1,1" + b"0" * 999 + b"\n")
    y, X = np.arange(3000.0), np.arange(6000.0).reshape(3000, 2)
    lines = "\n".join(f"{t:g},{a:g},{b:g}" for t, (a, b) in zip(y, X, strict=True))
    text = f"label,a,b\n{lines}\n"
    path = tmp_path / name
    if name == "rows.stream":
        monkeypatch.undo()
        write(pa.table({"label": y, "a": X[:, 0], "b": X[:, 1]}), path)
    else:
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    found = load_table(path, n_threads=n_threads)
    assert (found.X == X).all()
    assert (found.y == y).all()
    assert found.X.base is None


def test_missing_values_are_counted_over_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_BATCH_ROWS", 3)
    table = pa.table({"y": range(10), "a": [*range(7), None, 8, 9]})
    for name, writer in [("r.parquet", parquet.write_table), ("r.feather", feather.write_feather)]:
        writer(table, tmp_path / name)
        with pytest.raises(DataError, match=r"row 8, column 'a': the value is missing"):
            load_table(tmp_path / name)


@pytest.mark.parametrize("kind", [".parquet", ".feather", ".stream"])
def test_damaged_tables(tmp_path, problem, kind):
    path = tmp_path / f"rows{kind}"
    write(table_of(*problem), path)
    whole = path.read_bytes()
    for n_bytes in {4, 9, len(whole) // 2, len(whole) - 9}:
        path.write_bytes(whole[:n_bytes])
        with pytest.raises(DataError, match="rows"):
            load_table(path)


def test_pyarrow_is_named_where_it_is_absent(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("y,a\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"rows.csv is a table.*pip install 'ranksvm\[tables\]'"):
        load_table(tmp_path / "rows.csv")
