"""What the benchmark of packed data measures is a training that is certified, cold or in memory."""

import pytest

from benchmarks import disk, growth
from benchmarks.disk import TOL, blocks_of, keep, reading_rate, train_on
from ranksvm import open_data, pack


@pytest.fixture(params=["dense", "csr"])
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.disk.ROWS", 3000)
    pack(blocks_of(request.param, 0.006), tmp_path / "d.rsvm")
    return tmp_path / "d.rsvm"


@pytest.mark.parametrize("size", [0.003, 1.0])  # half of them, all
def test_it_measures_what_it_says(path, size):
    assert open_data(path).shape[0] % 3000 == 0
    assert reading_rate(path) > 0
    mapped = train_on(path, size, "squared_hinge", 1, None, False)
    held = train_on(path, size, "squared_hinge", 1, None, True)
    assert mapped["bits"] == held["bits"]
    assert mapped["gap"] <= TOL
    assert mapped["passes"] < held["passes"]
    assert mapped["bytes_of_X"] == pytest.approx(
        min(size * 1e9, open_data(path).bytes_of_X), rel=0.1
    )


def test_the_figure_shows_the_last_record_of_each(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "RECORDS", tmp_path / "records.json")
    of_all = {"kind": "dense", "rate": 1e3, "loss": "hinge", "bytes_of_X": 1e9, "bytes": 1e6}
    for size, seconds in [(2, 9.0), (1, 4.0), (1, 5.0)]:
        found = {"gigabytes": size, "seconds": seconds, "passes": 7, "rows": 10}
        keep({"what": "mapped", **of_all, **found, "bits": b""})
    keep({"what": "trees", "kind": "dense", "gigabytes": 1, "limit": 5.0})
    records = growth.last_of_each(growth.json.loads(disk.RECORDS.read_text()))
    assert [record.get("seconds") for record in records] == [5.0, None, 9.0]
    assert growth.row_of_training(records[0])[5:8] == (7, 5.0, pytest.approx(5 / 7))
    assert growth.row_of_other(records[1])[3] == "more than 5"
