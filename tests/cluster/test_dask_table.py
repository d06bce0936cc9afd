"""The table of what works on a cluster, cell by cell: as locally, or refused in a sentence."""

import re
from inspect import signature
from pathlib import Path

import dask.array as da
import numpy as np
import pytest

from ranksvm import RankSVM, RankSVMCV
from ranksvm.dask import DaskRankSVM, DaskRankSVMCV
from ranksvm.names import COUNTINGS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cluster.rst").read_text()
RNG = np.random.default_rng(3)
N, D = 120, 4
X = RNG.normal(size=(N, D))
Y = np.clip((X[:, 0] - X[:, 1] + RNG.normal(size=N)).round(), -2, 2) + 2.0
QID = np.repeat(np.arange(N // 10), 10)
W = 1.0 + QID % 2

WORKS = {
    "``C``, ``tol``, ``max_iter``": [{"C": 0.1, "tol": 1e-8, "max_iter": 99}],
    '``loss="hinge"``': [{"loss": "hinge"}],
    '``pair_weight="gap"``': [{"pair_weight": "gap"}],
    '``pair_weight="gain"``, ``gains``, ``top``': [
        {"pair_weight": "gain", "top": 5},
        {"pair_weight": "gain", "gains": "linear"},
    ],
    "``normalize``": [{"normalize": "queries"}, {"normalize": "pairs"}, {"normalize": None}],
    "``positive``, ``lower_bounds``, ``upper_bounds``": [
        {"positive": True},
        {"lower_bounds": -0.1, "upper_bounds": {1: 0.0}},
    ],
    "``prior``": [{"prior": np.ones(D)}],
    "``l1_ratio``, ``penalty_weights``": [{"l1_ratio": 0.5, "penalty_weights": [1, 2, 1, 2]}],
    "``solver``": [
        {"solver": "newton"},
        {"solver": "trust_region"},
        {"solver": "bundle", "loss": "hinge", "tol": 0.1},
        {"solver": "cutting_planes", "loss": "hinge", "tol": 0.1},
    ],
    "``counting``": [{"counting": name, "tol": 1e-2} for name in COUNTINGS],
}
REFUSED = {
    '``pair_weight="ndcg"``': ({"pair_weight": "ndcg"}, {}, "'ndcg' is not for a cluster"),
    '``solver="row_space"``': ({"solver": "row_space"}, {}, "'row_space' is not for a cluster"),
    "``pairs``, ``pair_weights``, ``margins``": (
        {},
        {"pairs": [[0, 1]], "pair_weights": [1.0], "margins": [1.0]},
        "given pairs are not for a cluster",
    ),
    "survival": ({}, {"y": np.zeros(N, "?,f8")}, "events and times, which are not for a cluster"),
}
NONE = {
    "``group``": {"group": [60, 60]},
    "``eval_set``, ``eval_qid``, ``eval_group``": {
        "eval_set": [],
        "eval_qid": [],
        "eval_group": [],
    },
}
NO_PARAMETERS = {
    "``device``, ``n_threads``, ``n_rounds``": DaskRankSVM,
    (
        "``param_grid``, ``scoring``, ``one_standard_error``, ``average``, ``refit``, ``n_jobs``"
    ): DaskRankSVMCV,
}
ELSEWHERE = {
    "``sample_weight``, ``query_weight``",
    "``warm_start``",
    "``qid``",
    "``verbose``",
    "``Cs``, ``cv``",
    "kernels",
}


def fit(client, parameters, **given):
    columns = {"y": Y, "qid": QID} | given
    parts = {
        name: da.from_array(v, chunks=60) if isinstance(v, np.ndarray) else v
        for name, v in columns.items()
    }
    model = DaskRankSVM(**{"tol": 1e-6} | parameters, client=client)
    return model.fit(da.from_array(X, chunks=(60, D)), **parts)


def cells():
    return dict(
        re.findall(
            r"   \* - (.+)\n     - (.+)\n",
            PAGE.split("What works here")[1].split("What it takes")[0],
        )
    )


def words(text):
    return re.findall(r"``(\w+)", text)


def test_the_table_is_what_is_tested():
    rows = cells()
    del rows["of the rest"]
    assert set(rows) == {*WORKS, *REFUSED, *NONE, *NO_PARAMETERS, *ELSEWHERE}
    assert {name for name, text in rows.items() if text.startswith("refused")} == {
        *REFUSED,
        "kernels",
    }
    missing = {name for name, text in rows.items() if text.startswith("there ")}
    assert missing == {*NONE, *NO_PARAMETERS}


def test_the_table_has_every_argument():
    given = {word for name in cells() for word in words(name)}
    of_fit = set(signature(RankSVM.fit).parameters) - {"self", "X", "y"}
    of_cv = set(signature(RankSVMCV.fit).parameters) - {"self", "X", "y", "groups"}
    wanted = {*RankSVM().get_params(), *RankSVMCV().get_params(), *of_fit, *of_cv}
    assert given == wanted


@pytest.mark.parametrize("cell", WORKS)
def test_it_works_as_locally(client, cell):
    for parameters in WORKS[cell]:
        local = RankSVM(**{"tol": 1e-6} | parameters).fit(X, Y, QID)
        model = fit(client, parameters)
        tol = model.tol
        assert model.objective_ == pytest.approx(local.objective_, rel=2 * tol)
        assert model.dual_gap_ <= tol


@pytest.mark.parametrize("cell", REFUSED)
def test_it_is_refused_in_a_sentence(client, cell):
    parameters, given, message = REFUSED[cell]
    with pytest.raises(ValueError, match=message):
        fit(client, parameters, **given)


@pytest.mark.parametrize("cell", NONE)
def test_there_is_no_such_argument(client, cell):
    assert list(NONE[cell]) == words(cell)
    for name, value in NONE[cell].items():
        with pytest.raises(TypeError, match=f"'{name}'"):
            fit(client, {}, **{name: value})


@pytest.mark.parametrize("cell", NO_PARAMETERS)
def test_there_is_no_such_parameter(cell):
    for name in words(cell):
        with pytest.raises(TypeError, match=f"'{name}'"):
            NO_PARAMETERS[cell](**{name: None})


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
