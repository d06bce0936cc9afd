"""What the benchmark of packed data measures is a training that is certified, cold or in memory."""

import pytest

from benchmarks.disk import TOL, blocks_of, reading_rate, train_on
from ranksvm import open_data, pack


@pytest.fixture(params=["dense", "csr"])
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.disk.ROWS", 3000)
    pack(blocks_of(request.param, 0.006), tmp_path / "d.rsvm")
    return tmp_path / "d.rsvm"


def test_it_measures_what_it_says(path):
    assert open_data(path).shape[0] % 3000 == 0
    assert reading_rate(path) > 0
    mapped = train_on(path, "squared_hinge", 1, None, False)
    held = train_on(path, "squared_hinge", 1, None, True)
    assert mapped["bits"] == held["bits"]
    assert mapped["gap"] <= TOL
    assert mapped["passes"] < held["passes"]
    assert mapped["bytes_of_X"] > 5e6
