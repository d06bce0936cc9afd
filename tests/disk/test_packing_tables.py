"""Tables are packed as they are read: names, query ids, weights and documents included."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ranksvm import RankSVM, open_data
from ranksvm.disk import ragged, reordering
from ranksvm.files.source import DataError
from ranksvm.files.tables.columns import TableColumns
from ranksvm.jobs.data import Reading, read_data
from ranksvm.jobs.packing import pack_files

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NAMES = ["bm25", "länge", "price"]


def table(n, seed=0, ids=("a", "b", "ä c"), kind=np.float64):
    rng = np.random.default_rng(seed)
    columns = {name: rng.standard_normal(n).astype(kind) for name in NAMES}
    return pa.table(
        {
            **columns,
            "label": rng.integers(0, 3, n),
            "qid": [ids[k] for k in rng.integers(0, len(ids), n)],
            "docid": [f"dö{k}" * (1 + k % 4) for k in range(n)],
            "w": rng.random(n),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(reordering, "WINDOW_BYTES", 100)
    return tmp_path


def write(folder, name, rows):
    parquet.write_table(rows, folder / name)
    return str(folder / name)


WEIGHTED = Reading(TableColumns(weight="w"))


def test_all_columns_come_along_in_the_order_of_queries(folder):
    one = write(folder, "1.parquet", table(40))
    two = write(folder, "2.parquet", table(30, seed=1).select([6, 5, 4, 3, 2, 1, 0]))
    data = pack_files([one, two], folder / "d.rsvm", WEIGHTED)
    whole = pa.concat_tables([table(40), table(30, seed=1)]).to_pydict()
    first = {}
    for one_id in whole["qid"]:
        first.setdefault(one_id, len(first))
    order = np.argsort([first[one_id] for one_id in whole["qid"]], kind="stable")
    assert data.feature_names == tuple(NAMES)
    assert_array_equal(data.X, np.stack([whole[name] for name in NAMES], axis=1)[order])
    for name, values in {
        "label": data.y,
        "qid": data.ids,
        "docid": data.docids,
        "w": data.sample_weight,
    }.items():
        assert list(values) == [whole[name][row] for row in order], name
    assert data.docids[-3:-1] == list(data.docids)[-3:-1]
    with pytest.raises(IndexError):
        data.docids[70]
    model = RankSVM().fit(data)
    again = RankSVM().fit(data.X.copy(), data.y, data.qid, sample_weight=data.sample_weight)
    assert_array_equal(model.coef_, again.coef_)
    assert model.feature_names_in_.tolist() == NAMES


def test_query_ids_that_become_texts_are_texts_throughout(folder):
    numbers, texts = table(20, ids=(7, -3)), table(20, 1, ids=("-3", "x"))
    files = [write(folder, "1.parquet", numbers), write(folder, "2.parquet", texts)]
    data = pack_files(files, folder / "d.rsvm", WEIGHTED)
    expected = [*map(str, numbers["qid"].to_pylist()), *texts["qid"].to_pylist()]
    assert sorted(data.ids) == sorted(expected)
    assert sorted(data.query_names) == ["-3", "7", "x"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.svm"])
def test_sizes_of_queries_beside_the_rows(folder, name):
    lines = "".join(f"{k % 3},{k},{k * k}\n" for k in range(12))
    text = "label,a,b\n" + lines
    if name == "rows.svm":
        text = "".join(f"{k % 3} 1:{k + 1} 2:{k * k + 1}\n" for k in range(12))
    (folder / name).write_text(text)
    (folder / f"{name}.query").write_text("3\n4\n5\n")
    data = pack_files([str(folder / name)], folder / "d.rsvm", Reading())
    assert_array_equal(data.qid, [1] * 3 + [2] * 4 + [3] * 5)
    assert [source.name for source in data.sources] == [
        str(folder / name),
        str(folder / f"{name}.query"),
    ]
    assert not data.zero_based
    assert_array_equal(data.X, read_data(str(folder / name), Reading()).X)


def test_precision(folder):
    single = write(folder, "1.parquet", table(20, kind=np.float32))
    double = write(folder, "2.parquet", table(20))
    assert pack_files([single], folder / "d.rsvm", WEIGHTED).X.dtype == np.float32
    assert pack_files([double, single], folder / "d.rsvm", WEIGHTED).X.dtype == np.float64
    with pytest.raises(DataError, match=r"2\.parquet holds numbers in double.*say --float32"):
        pack_files([single, double], folder / "d.rsvm", WEIGHTED)
    assert open_data(folder / "d.rsvm").X.dtype == np.float64  # what was there stays
    large = table(20).set_column(0, "bm25", pa.array([0.0] * 19 + [1e300]))
    large = write(folder, "3.parquet", large)
    with pytest.raises(DataError, match=r"3\.parquet: row 40 of the data .* too large for float32"):
        pack_files([double, large], folder / "e.rsvm", WEIGHTED, dtype=np.float32)


def test_what_does_not_go_together_is_refused(folder):
    one = write(folder, "1.parquet", table(20))
    (folder / "a.svm").write_text("1 qid:1 1:1\n")
    with pytest.raises(DataError, match=r"1\.parquet is a table, .*a\.svm is not"):
        pack_files([one, str(folder / "a.svm")], folder / "d.rsvm", WEIGHTED)
    other = write(
        folder, "2.parquet", table(20).rename_columns([*"abc", "label", "qid", "docid", "w"])
    )
    with pytest.raises(DataError, match="has the column 'a', unlike the file before"):
        pack_files([one, other], folder / "d.rsvm", WEIGHTED)
    missing = table(20).set_column(0, "bm25", pa.array([0.0] * 19 + [None]))
    bad = write(folder, "3.parquet", missing)
    with pytest.raises(DataError, match=r"3\.parquet, row 20, column 'bm25'"):
        pack_files([one, bad], folder / "d.rsvm", WEIGHTED)
    assert not (folder / "d.rsvm").exists()
    data = pack_files([one], folder / "d.rsvm", WEIGHTED)
    with pytest.raises(DataError, match="is packed already"):
        pack_files([data.path], folder / "e.rsvm", Reading())
    with pytest.raises(DataError, match="is packed: its columns and queries were settled"):
        read_data(data.path, WEIGHTED)
    with pytest.raises(DataError, match="has other features than the model"):
        read_data(data.path, Reading(of_model=NAMES[::-1]))


def test_texts_of_any_letters():
    texts = ["", "a", "äöü", "\ud800", "x\ny", "🙂" * 3]
    lengths, letters = ragged.letters_of(texts)
    mapped = ragged.Texts(np.concatenate([[0], np.cumsum(lengths)]), letters)
    assert [*mapped] == [text.encode("utf-8", "replace").decode() for text in texts]
    assert (len(mapped), mapped[-1], mapped[2:4]) == (6, "🙂" * 3, ["äöü", "?"])
