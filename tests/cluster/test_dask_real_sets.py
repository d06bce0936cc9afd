"""Named sets: weights within 1e-9 of the local fit; for the hinge, within what gaps allow."""

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from ranksvm import RankSVM, load_svmlight
from ranksvm.dask import DaskRankSVM

NAMED = {
    "diabetes442": 1e-2,
    "wine-2q": 1e-2,
    "lightgbm-lambdarank.train": 1.0,
    "ClueWeb09-webis.F1": 1.0,
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:queries are torn"),
    pytest.mark.filterwarnings("ignore::ranksvm.ConvergenceWarning"),
]
OF_SCIKIT_LEARN = {"diabetes": load_diabetes, "breast cancer": load_breast_cancer}


def standardized(X):
    if hasattr(X, "tocsr"):
        return X
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def on_cluster(X, y, qid):
    """Cut into three, between queries as far as there are some."""
    n = len(y)
    starts = np.append(np.flatnonzero(np.diff(qid)) + 1, n)
    ends = {0, *starts[np.searchsorted(starts, [n // 3, 2 * n // 3])].tolist(), n}
    chunks = tuple(np.diff(sorted(ends)).tolist())
    rows = [da.from_array(X, chunks=(chunks, X.shape[1]))]
    return [*rows, *(da.from_array(v, chunks=(chunks,)) for v in (y, qid))]


def assert_same(X, y, qid, client, C):
    """Compare fits on the cluster with local ones."""
    X = standardized(X)
    rows, parameters = on_cluster(X, y, qid), {"C": C, "client": client}
    local = RankSVM(C, tol=1e-10).fit(X, y, qid)
    model = DaskRankSVM(tol=1e-10, **parameters).fit(*rows)
    assert model.dual_gap_ <= 1e-10
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-10)
    assert np.linalg.norm(model.coef_ - local.coef_) <= within(model, local)
    assert (model.n_pairs_, model.n_queries_) == (local.n_pairs_, local.n_queries_)
    # As far as rounding allows both to go.
    model.set_params(warm_start=True, tol=1e-15).fit(*rows)
    local.set_params(warm_start=True, tol=1e-15, solver="newton").fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
    local = RankSVM(C, tol=1e-5, loss="hinge").fit(X, y, qid)
    model = DaskRankSVM(loss="hinge", tol=1e-3, **parameters).fit(*rows)
    assert model.objective_ == pytest.approx(local.objective_, rel=2e-3)
    assert np.linalg.norm(model.coef_ - local.coef_) <= within(model, local)


def within(*models):
    """Return how far weights may lie apart: each as far from the optimum as its gap allows."""
    return sum(np.sqrt(2 * model.dual_gap_ * model.objective_) for model in models)


@pytest.mark.parametrize("name", NAMED)
def test_real_sets(client, real_file, name):
    assert_same(*load_svmlight(real_file(name)), client, NAMED[name])


@pytest.mark.parametrize("name", OF_SCIKIT_LEARN)
def test_sets_of_scikit_learn(client, name):
    X, y = OF_SCIKIT_LEARN[name](return_X_y=True)
    assert_same(X, y.astype(float), np.arange(len(y)) * 4 // len(y), client, 0.1)
