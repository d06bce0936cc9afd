"""The table of what works on a cluster, cell by cell: as locally, or refused in a sentence."""

import re
from pathlib import Path

import dask.array as da
import numpy as np
import pytest

from ranksvm import RankSVM
from ranksvm.dask import DaskRankSVM

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cluster.rst").read_text()
RNG = np.random.default_rng(3)
N, D = 120, 4
X = RNG.normal(size=(N, D))
Y = np.clip((X[:, 0] - X[:, 1] + RNG.normal(size=N)).round(), -2, 2) + 2.0
QID = np.repeat(np.arange(N // 10), 10)
W = 1.0 + QID % 2

WORKS = {
    '``loss="hinge"``': [{"loss": "hinge"}],
    '``pair_weight="gap"``': [{"pair_weight": "gap"}],
    '``pair_weight="gain"``': [{"pair_weight": "gain", "top": 5}],
    "bounds and signs": [{"positive": True}, {"lower_bounds": -0.1, "upper_bounds": {1: 0.0}}],
    "a prior": [{"prior": np.ones(D)}],
    "``l1_ratio``, ``penalty_weights``": [{"l1_ratio": 0.5, "penalty_weights": [1, 2, 1, 2]}],
    "``normalize``": [{"normalize": "queries"}, {"normalize": "pairs"}, {"normalize": None}],
}
REFUSED = {
    '``pair_weight="ndcg"``': ({"pair_weight": "ndcg"}, {}, "'ndcg' is not for a cluster"),
    '``solver="row_space"``': ({"solver": "row_space"}, {}, "'row_space' is not for a cluster"),
    "given pairs": ({}, {"pairs": [[0, 1]]}, "given pairs are not for a cluster"),
    "survival": ({}, {"y": np.zeros(N, "?,f8")}, "events and times, which are not for a cluster"),
}
ELSEWHERE = {"sample and query weights", "``warm_start``", "kernels"}


def fit(client, parameters, **given):
    columns = {"y": Y, "qid": QID} | given
    parts = {
        name: da.from_array(v, chunks=60) if isinstance(v, np.ndarray) else v
        for name, v in columns.items()
    }
    model = DaskRankSVM(**{"tol": 1e-6} | parameters, client=client)
    return model.fit(da.from_array(X, chunks=(60, D)), **parts)


def test_the_table_is_what_is_tested():
    rows = dict(re.findall(r"   \* - (.+)\n     - (.+)\n", PAGE))
    del rows["of the rest"]
    assert set(rows) == {*WORKS, *REFUSED, *ELSEWHERE}
    assert {name for name, text in rows.items() if text.startswith("refused")} == {
        *REFUSED,
        "kernels",
    }


@pytest.mark.parametrize("cell", WORKS)
def test_it_works_as_locally(client, cell):
    for parameters in WORKS[cell]:
        local = RankSVM(**{"tol": 1e-6} | parameters).fit(X, Y, QID)
        model = fit(client, parameters)
        assert model.objective_ == pytest.approx(local.objective_, rel=2e-6)
        assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("cell", REFUSED)
def test_it_is_refused_in_a_sentence(client, cell):
    parameters, given, message = REFUSED[cell]
    with pytest.raises(ValueError, match=message):
        fit(client, parameters, **given)


def test_weights_and_warm_starts_work(client):
    local = RankSVM(tol=1e-6).fit(X, Y, QID, sample_weight=W, query_weight=W)
    model = fit(client, {}, sample_weight=W, query_weight=W)
    assert model.objective_ == pytest.approx(local.objective_, rel=2e-6)
    warm = model.set_params(warm_start=True)
    columns = (da.from_array(v, chunks=60) for v in (Y, QID, W, W))
    assert warm.fit(da.from_array(X, chunks=(60, D)), *columns).n_iter_ == 0


def test_there_is_no_kernel():
    with pytest.raises(TypeError, match="kernel"):
        DaskRankSVM(kernel="rbf")
