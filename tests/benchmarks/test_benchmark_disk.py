"""What the benchmark of packed data measures is a training that is certified, cold or in memory."""

import time

import pytest

from benchmarks import disk, growth
from benchmarks.disk import TOL, keep, train_on
from benchmarks.disk_data import blocks_of, reading_rate
from benchmarks.disk_trees import beside_trees, in_time, parts_of, rank
from ranksvm import open_data, pack


@pytest.fixture(params=["dense", "csr"])
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.disk_data.ROWS", 3000)
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
    keep({"what": "trees", "kind": "dense", "gigabytes": 1, "outcome": "more than 5 s"})
    records = growth.last_of_each(growth.json.loads(disk.RECORDS.read_text()))
    assert [record.get("seconds") for record in records] == [5.0, None, 9.0]
    assert growth.row_of_training(records[0])[5:8] == (7, 5.0, pytest.approx(5 / 7))
    assert growth.row_of_other(records[1])[3] == "more than 5 s"


def too_long():
    time.sleep(60)


def dies():
    import os

    os._exit(1)


def takes_too_much():
    return {"outcome": len(bytearray(1 << 33))}


def test_what_ends_badly_is_said():
    memory = 1 << 32
    assert in_time(memory, 1.0, too_long) == {"outcome": "more than 1 s"}
    assert in_time(memory, 60.0, dies) == {"outcome": "died"}
    assert in_time(memory, 60.0, takes_too_much)["outcome"].startswith("MemoryError")


def test_it_is_judged_by_queries_that_it_has_not_seen(path):
    n_trained, n_queries = parts_of(open_data(path), 1.0)
    assert 0 < n_trained < n_queries == open_data(path).n_queries
    found = rank(path, 1.0, 1)
    assert 0.5 < found["pairwise accuracy"] < 1.0
    assert 0.0 < found["nDCG@10"] <= 1.0


@pytest.mark.parametrize("path", ["dense"], indirect=True)
def test_trees_stand_beside_it(path):
    pytest.importorskip("xgboost")
    (_, ours), (_, trees) = beside_trees(path, 1.0, 1, 3.0, 100.0)
    assert ours.keys() == trees.keys()
    assert trees["pairwise accuracy"] > 0.5
    assert not list(path.parent.glob("trees-*"))
