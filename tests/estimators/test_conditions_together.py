"""Conditions on weights through every face: docs/conditions.rst says what goes together."""

import numpy as np
import pytest
import scipy.sparse as sp

from cases import make_problem
from ranksvm import KernelRankSVM, KernelSurvivalSVM, RankSVM, RankSVMCV, SurvivalSVM, ranksvm_grid
from ranksvm.linear.composed_solvers import PROXIMAL_SOLVERS
from ranksvm.names import LOSSES, SOLVERS

X, Y, QID = make_problem(5, n=120, n_queries=8)
TIME, EVENT = np.exp(-X[:, 0]), np.arange(120) % 3 > 0
PAIRS = np.c_[np.arange(60), np.arange(60, 120)]
EXACT = {"C": 0.1, "tol": 1e-6, "n_threads": 1}
ASKED = {
    "signs": {"positive": True},
    "bounds": {"lower_bounds": -0.05, "upper_bounds": [0.1, 0.0, np.inf, 0.02]},
    "prior": {"prior": {0: 0.3, 2: -0.2}},
    "penalties": {"penalty_weights": [0.5, 2, 1, 1]},
    "sparse": {"l1_ratio": 0.7},
    "lasso": {"l1_ratio": 1.0},
    "all": {"positive": True, "upper_bounds": 0.2, "prior": {0: 0.3}, "l1_ratio": 0.5},
}
TIMES = {"X": X, "event": EVENT, "time": TIME}

everything = pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)


def fitted(asked, X=X, y=Y, qid=QID, rows=None, **options):
    return RankSVM(**(EXACT | asked | options)).fit(X, y, qid, **(rows or {}))


def assert_same(model, other):
    """The same optimum, each to its gap; and so nearly the same weights."""
    assert model.objective_ == pytest.approx(other.objective_, rel=3e-6)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=0.02)
    assert max(model.dual_gap_, other.dual_gap_) <= 1e-6


@everything
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_matrix, np.asfortranarray, np.float32])
@pytest.mark.parametrize("device", [None, "numpy:cpu"])
def test_losses_storage_and_arrays(asked, loss, stored, device):
    rounded = X.astype(np.float32).astype(np.float64)
    options = {"loss": loss, "normalize": "queries"}
    expected = fitted(asked, rounded, **options)
    assert_same(fitted(asked, stored(rounded), device=device, **options), expected)


@everything
@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers(asked, solver):
    if solver in ("auto", *PROXIMAL_SOLVERS):
        assert_same(fitted(asked, solver=solver), fitted(asked))
    else:
        with pytest.raises(ValueError, match=f"solver='{solver}' is for the penalty"):
            fitted(asked, solver=solver)


@everything
def test_weights_that_are_whole_numbers_repeat_rows(asked):
    weight = 1 + np.arange(120) % 3
    weighted = fitted(asked, rows={"sample_weight": weight}, normalize="pairs")
    repeated = np.repeat(np.arange(120), weight)
    assert_same(weighted, fitted(asked, X[repeated], Y[repeated], QID[repeated], normalize="pairs"))


@everything
@pytest.mark.parametrize("pair_weight", ["gap", "gain", "ndcg"])
def test_weights_of_pairs(asked, pair_weight):
    options = {"pair_weight": pair_weight, "top": 5, "n_rounds": 2}
    model = fitted(asked, **options)
    assert model.dual_gap_ <= 1e-6
    grid = ranksvm_grid(X, Y, QID, Cs=[0.1], tol=1e-6, n_threads=1, **asked, **options)
    assert grid.objectives[0] == pytest.approx(model.objective_, rel=3e-6)


@everything
def test_given_pairs(asked):
    better = Y[PAIRS[:, 0]] >= Y[PAIRS[:, 1]]
    pairs = np.where(better[:, None], PAIRS, PAIRS[:, ::-1])
    rows = {"pairs": pairs, "pair_weights": np.full(60, 2.0), "margins": np.full(60, 1.5)}
    model = fitted(asked, y=None, qid=None, rows=rows)
    twice = {"pairs": np.r_[pairs, pairs], "margins": np.full(120, 1.5)}
    assert_same(model, fitted(asked, y=None, qid=None, rows=twice))


@everything
def test_survival(asked):
    model = SurvivalSVM(**(EXACT | asked)).fit(**TIMES)
    grid = ranksvm_grid(X, event=EVENT, time=TIME, Cs=[0.1], tol=1e-6, n_threads=1, **asked)
    assert grid.objectives[0] == pytest.approx(model.objective_, rel=3e-6)
    complete = SurvivalSVM(**(EXACT | asked)).fit(X, event=np.ones(120), time=TIME)
    assert_same(complete, fitted(asked, y=-TIME, qid=None))


@everything
def test_cross_validation(asked):
    model = RankSVMCV([0.01, 0.1], cv=3, tol=1e-6, n_threads=1, **asked).fit(X, Y, QID)
    assert_same(model, fitted(asked, C=model.C_))


@everything
def test_warm_starts(asked):
    model = RankSVM(warm_start=True, **(EXACT | asked)).fit(-X, Y, QID)
    assert_same(model.fit(X, Y, QID), fitted(asked))


@everything
def test_threads_change_nothing(asked):
    np.testing.assert_array_equal(fitted(asked, n_threads=3).coef_, fitted(asked).coef_)


def test_kernels_have_no_weights_of_features():
    for ranker in (KernelRankSVM(), KernelSurvivalSVM()):
        assert not {"positive", "l1_ratio", "prior"} & set(ranker.get_params())
