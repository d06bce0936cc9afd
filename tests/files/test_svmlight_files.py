"""SVMlight files of any size, compressed ones and streams."""

import bz2
import gzip
import io
import lzma
import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

from ranksvm.files.svmlight import DataError, dump_svmlight, read_svmlight

LETOR = b"""# two queries
2 qid:10 1:0.5 3:1.25 # docid = GX000-00-0000000
0 qid:10 2:-1e-3

1 qid:11 1:3 2:4 3:5\r
"""


def read(text, **options):
    return read_svmlight(io.BytesIO(text), **options)


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def test_a_million_short_rows():
    labels = np.arange(1_000_000) % 7
    rows = read(b"\n".join(b"%d qid:%d 1:%d" % (k % 7, k // 9, k) for k in range(1_000_000)))
    assert_array_equal(rows.labels, labels)
    assert_array_equal(rows.qid, np.arange(1_000_000) // 9)
    assert_array_equal(rows.X[:, 0], np.arange(1_000_000))


def test_many_columns():
    """Rows, longer than the pieces they are read in, of 100,000 features."""
    X = np.random.default_rng(0).integers(1, 1000, (9, 100_000)).astype(float)
    X[1, :99_999] = 0
    X[8] *= np.pi
    lines = [" ".join(f"{j}:{v!r}" for j, v in enumerate(row.tolist(), 1) if v) for row in X]
    rows = read("".join(f"1 {line}\n" for line in lines).encode())
    assert_array_equal(rows.X, X)


@pytest.mark.parametrize(
    ("ending", "compress"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)]
)
def test_files(tmp_path, ending, compress):
    path = tmp_path / f"data.svm{ending}"
    path.write_bytes(compress(LETOR))
    for argument in (path, str(path)):
        rows = read_svmlight(argument)
        assert rows.name == str(path)
        assert_array_equal(rows.X, read(LETOR).X)
    path.write_bytes(compress(LETOR + b"1 qid:1 x"))
    with pytest.raises(DataError, match=f"{path}, line 6, column 9: expected"):
        read_svmlight(path)


def test_members_of_gzip_files(tmp_path):
    """A .gz file may be several, one after the other, and be filled up with zeros."""
    path = tmp_path / "data.svm.gz"
    text = b"".join(b"%d 1:%d 3:0.5\n" % (k % 5, 1 + k) for k in range(400_000))
    cut = len(text) // 3
    members = gzip.compress(text[:cut]) + gzip.compress(b"") + gzip.compress(text[cut:], 1)
    for ending in (b"", bytes(1 << 18)):
        path.write_bytes(members + ending)
        rows = read_svmlight(path)
        assert_array_equal(rows.labels, np.arange(400_000) % 5)
        assert_array_equal(rows.X[:, 0], 1 + np.arange(400_000))
    for broken in (members[:-20], members + b"rest", members[:100] + b"?" + members[101:]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=f"^cannot decompress {path}: "):
            read_svmlight(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=f"^{path} is empty$"):
        read_svmlight(path)


def test_zstandard(tmp_path):
    path = tmp_path / "data.svm.zst"
    dump_svmlight(path, np.eye(3) + 1, [1, 2, 3])
    assert path.read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert_array_equal(read_svmlight(path).X, np.eye(3) + 1)


def test_streams(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LETOR)))
    assert read_svmlight("-").name == "<stdin>"
    path = tmp_path / "data.svm.xz"
    path.write_bytes(lzma.compress(LETOR))
    with lzma.open(path) as file:
        assert len(read_svmlight(file).labels) == 3
    with pytest.raises(DataError, match="is open as text: open it in binary mode"):
        read_svmlight(io.StringIO("1 1:1"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe():
    reading, writing = os.pipe()
    os.write(writing, LETOR)
    os.close(writing)
    assert len(read_svmlight(f"/dev/fd/{reading}").labels) == 3
    os.close(reading)


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "data.svm"
    with pytest.raises(DataError, match=f"^cannot read {path}: No such file or directory$"):
        read_svmlight(path)
    with pytest.raises(DataError, match=f"^cannot read {tmp_path}: Is a directory$"):
        read_svmlight(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=f"^{path} is empty$"):
        read_svmlight(path)
    path.write_bytes(b"# nothing\n\n")
    with pytest.raises(DataError, match=f"^{path} holds no rows$"):
        read_svmlight(path)
    for ending in (".gz", ".bz2", ".xz"):
        broken = tmp_path / f"data.svm{ending}"
        broken.write_bytes(b"1 1:1\n")
        with pytest.raises(DataError, match=f"^cannot decompress {broken}: "):
            read_svmlight(broken)
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "data.zst").write_bytes(b"")
    with pytest.raises(DataError, match=r"needs one of .* compression\.zstd, zstandard"):
        read_svmlight(tmp_path / "data.zst")


@pytest.mark.parametrize("name", ["ClueWeb09-webis.F1", "rcv1-vw-small.test", "protein"])
def test_agrees_with_scikit_learn_on_real_data(tmp_path, real_file, name):
    path = tmp_path / "data.svm"
    path.write_bytes(lzma.decompress(real_file(name).read_bytes()))
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    X.eliminate_zeros()
    for n_threads in (1, 2):
        rows = read_svmlight(path, n_threads=n_threads)
        assert_array_equal(dense(rows.X), X.toarray())
        assert_array_equal(rows.labels, y)
        assert_array_equal(rows.qid, qid)
        assert rows.n_features == X.shape[1]
