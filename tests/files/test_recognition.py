import pytest

from ranksvm import load_table
from ranksvm.files.recognition import kind_of
from ranksvm.files.source import DataError


@pytest.mark.parametrize(
    ("name", "start", "kind"),
    [
        ("rows", b"1 qid:1 1:2\n", "svmlight"),
        ("rows", b"1\tqid:1\t1:2\n", "svmlight"),
        ("rows", b"# made, by hand\n\n-1.5e3 2:1 # a, b\n", "svmlight"),
        ("rows", b"1\n0 1:2\n", "svmlight"),
        ("rows", b"", "svmlight"),
        ("rows.csv", b"1 qid:1 1:2\n", "svmlight"),
        ("rows", b"label,qid,a\n1,2,3\n", "csv"),
        ("rows", b"\xef\xbb\xbflabel\tqid\ta\n", "csv"),
        ("rows.svm", b"label;qid;a\n", "csv"),
        ("rows.csv.gz", b"label\n1\n", "csv"),
        ("rows", b"1,5 qid:1 1:2\n", "svmlight"),
        ("rows", b"PAR1\x15\x04", "parquet"),
        ("rows", b"PAR1,PAR2,label\n1,2,3\n", "csv"),
        ("rows", b"ARROW1\0\0", "arrow"),
        ("rows.csv", b"\xff\xff\xff\xff\x10", "arrow stream"),
    ],
)
def test_kinds(name, start, kind):
    assert kind_of(name, start) == kind


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "a PNG picture"),
        (b"%PDF-1.7\n\0", "a PDF document"),
        (b"PK\x03\x04\x14\0", "a zip archive, as .xlsx"),
        (b"\x89HDF\r\n\x1a\n\0", "an HDF5 file"),
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x80\x04\x95\x10", "a Python pickle"),
        (b"Obj\x01\x04", "an Avro file"),
        (b"\x1f\x8b\x08", "compressed by gzip once more"),
        ("y,a\n1,2\n".encode("utf-16"), "text in UTF-16"),
        ("y,a\n1,2\n".encode("utf-16-le"), "text in UTF-16"),
        ("y,a\n1,2\n".encode("utf-16-be"), "text in UTF-16"),
        (b"name".ljust(257, b"\0") + b"ustar", "a tar archive"),
    ],
)
def test_others_are_refused_by_what_they_are(start, what):
    with pytest.raises(DataError, match=f"^rows.csv is {what}"):
        kind_of("rows.csv", start)


@pytest.mark.parametrize("start", [b"", b"y,a\n"])
def test_names_that_say_what_is_not_so(start):
    with pytest.raises(
        DataError, match=r"rows.parquet is no Parquet file, though its name says so"
    ):
        kind_of("rows.parquet", start)


def test_directories_and_missing_files(tmp_path):
    with pytest.raises(DataError, match=r"is a directory: name the files in it, such as .*\*\.csv"):
        load_table(tmp_path)
    with pytest.raises(DataError, match=r"cannot read .*none.csv: No such file"):
        load_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="no file has a name such as"):
        load_table(str(tmp_path / "*.csv"))
