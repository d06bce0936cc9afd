"""The graph of a round: what travels with it, how it adds up, and how few rounds there are."""

import dask.array as da
import numpy as np
import pytest
from dask.local import get_sync
from hypothesis import given
from hypothesis import strategies as st

from ranksvm import RankSVM
from ranksvm.cluster import graph as graph_module
from ranksvm.cluster import partition
from ranksvm.cluster.graph import Graph
from ranksvm.cluster.partition import runs_of
from ranksvm.cluster.sums import FAN, Part, Total
from ranksvm.dask import DaskRankSVM

RNG = np.random.default_rng(4)
K, ROWS, D = 11, 20, 4
X = RNG.normal(size=(K * ROWS, D))
Y = (X[:, 0] + RNG.normal(size=K * ROWS)).round()
QID = np.repeat(np.arange(K), ROWS)


def collections():
    return da.from_array(X, chunks=(ROWS, D)), *(da.from_array(v, chunks=ROWS) for v in (Y, QID))


def scaled(number, *, w):
    return Part([{"number": number}], {"vector": number * w})


@pytest.mark.parametrize("n", [1, FAN, FAN + 1, FAN**2 + 1])
@pytest.mark.parametrize("large", [False, True])
def test_a_graph_adds_up_in_its_order(n, large, monkeypatch):
    monkeypatch.setattr(graph_module, "LARGE", 0 if large else 1 << 20)
    numbers, w = RNG.normal(size=n).tolist(), np.array([1.0, 1e16])
    graph = Graph("round")
    last = graph.sum("loss", graph.map("loss", scaled, numbers, w=w))
    assert ("loss-round-0-given" in graph.tasks) is large
    total = Total(get_sync(graph.tasks, last.key))
    assert [of_part["number"] for of_part in total.part.numbers] == numbers
    sums = numbers
    while len(sums) > 1:
        groups = [sums[k : k + FAN] for k in range(0, len(sums), FAN)]
        sums = [sum(group[1:], start=group[0]) for group in groups]
    assert total.array("vector")[0] == sums[0]


@given(st.lists(st.integers(0, 1 << 21), min_size=1, max_size=40))
def test_small_partitions_share_a_task(n_stored):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "MOST_STORED", 1 << 20)
        runs = runs_of(n_stored)
    assert [k for run in runs for k in range(run.start, run.stop)] == list(range(len(n_stored)))
    sizes = [sum(n_stored[run]) for run in runs]
    lengths = [run.stop - run.start for run in runs]
    assert max(lengths) <= FAN
    for size, length in zip(sizes, lengths, strict=True):
        assert length == 1 or size <= 1 << 20
    for k in range(len(runs) - 1):  # each is as long as it can be
        more = sizes[k] + n_stored[runs[k + 1].start]
        assert lengths[k] == FAN or more > 1 << 20


def test_bundles_reach_the_optimum_in_few_rounds(client, monkeypatch):
    local = RankSVM(C=0.1, tol=1e-10).fit(X, Y, QID)
    found = []
    for most in (0, 1 << 20, 1 << 20):
        monkeypatch.setattr(partition, "MOST_STORED", most)
        model = DaskRankSVM(C=0.1, tol=1e-10, solver="newton", client=client).fit(*collections())
        assert model.objective_ == pytest.approx(local.objective_, rel=1e-10)
        np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
        found.append(model.coef_.tobytes())
    assert found[1] == found[2]
    lines = model.history_
    assert lines[0].n_rounds == 3  # what there is; its pairs and columns; the loss at zero
    assert lines[-1].n_rounds <= 3 + len(lines) + 3


def test_the_hinge_takes_newton_steps(client):
    model = DaskRankSVM(loss="hinge", tol=1e-3, client=client).fit(*collections())
    assert {line.solver for line in model.history_} <= {"newton"}
