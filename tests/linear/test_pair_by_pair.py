"""What goes on pair by pair, where Newton steps on a smoothed hinge have come to a stand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import reference
from ranksvm import RankSVM
from ranksvm.linear.composed_solvers import pair_by_pair
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Progress, Status, newton

C = 100.0


def rows(d):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, d)) * (rng.random((60, d)) < 0.5)
    return X, rng.integers(0, 3, 60), np.arange(60) // 4


def stalled(X, y, qid, tol, loss="hinge"):
    """Return a smoothed objective, a result of two steps that says "stalled", and the record."""
    parameters = Parameters(loss=loss, C=C, tol=tol, solver="newton")
    preferences = Preferences.from_labels(y, qid)
    objective = make_problem(DesignMatrix.from_array(X), preferences, parameters).objective
    progress, smoothed = Progress(tol, max_iter=2), objective.smoothed()
    result = newton(smoothed, np.zeros(objective.size), progress)
    assert result.status is Status.MAX_ITER
    progress.max_iter = 1000
    return smoothed, replace(result, status=Status.STALLED), progress


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_a_hinge_goes_on_by_interior_points_of_the_features(storage):
    X, y, qid = rows(12)
    objective, result, progress = stalled(storage(X), y, qid, 1e-9)
    ended = pair_by_pair(newton, objective, result, progress)
    assert ended.status is Status.CONVERGED
    assert ended.history[-1].solver == "interior_point"
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    exact = reference.hinge_objective(pairs, X, ended.weights)
    assert exact <= ended.value <= exact * (1 + 1e-12)
    other = RankSVM(C, loss="hinge", tol=1e-9, solver="bundle").fit(X, y, qid)
    assert ended.value * (1 - 1e-9) <= other.objective_ <= ended.value * (1 + 1e-9)


@pytest.mark.parametrize(("d", "tol"), [(80, 1e-9), (12, 0.2)], ids=["few rows", "a loose gap"])
def test_it_does_not_where_rows_are_few_or_the_rest_is_for_planes(d, tol):
    objective, result, progress = stalled(*rows(d), 1e-9)
    progress.tol = tol
    assert pair_by_pair(newton, objective, result, progress) is result
