"""Whatever the partitions are: the optimum of the local fit."""

from typing import NamedTuple

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ranksvm import RankSVM
from ranksvm.cluster import torn
from ranksvm.dask import DaskRankSVM

pytestmark = pytest.mark.filterwarnings("ignore:queries are torn")
RNG = np.random.default_rng(21)


class Ranking(NamedTuple):
    X: object
    y: np.ndarray
    qid: np.ndarray

    def taken(self, order):
        return Ranking(self.X[order], self.y[order], self.qid[order])


def ranking(n_queries=30, size=12, d=7):
    n = n_queries * size
    X = RNG.normal(size=(n, d)) * np.logspace(-1, 2, d)
    X[:, 0] += 1e6  # far from zero
    y = np.clip((X[:, 1] / X[:, 1].std() + RNG.normal(size=n)).round(), -2, 2)
    return Ranking(X, y, np.repeat(np.arange(n_queries), size))


def on_cluster(rows, chunks, sparse=False):
    """Return X, y and qid as collections with chunks of so many rows."""
    chunks = tuple(chunks)
    X = da.from_array(rows.X, chunks=(chunks, rows.X.shape[1]))
    if sparse:
        X = X.map_blocks(csr_matrix, dtype=rows.X.dtype)
    return X, *(da.from_array(v, chunks=(chunks,)) for v in (rows.y, rows.qid))


def even(n, k):
    return np.diff(np.linspace(0, n, k + 1).astype(int)).tolist()


PLAIN = ranking()
N = len(PLAIN.y)
SHUFFLED = PLAIN.taken(RNG.permutation(N))
HUGE = PLAIN._replace(qid=np.where(PLAIN.qid < 20, 0, PLAIN.qid))
ONE = PLAIN._replace(qid=np.zeros(N, dtype=int))
SPARSE = PLAIN._replace(X=np.where(RNG.random(PLAIN.X.shape) < 0.8, 0.0, PLAIN.X))
LAYOUTS = {
    "sorted": (PLAIN, [120, 120, 120], False),
    "shuffled": (SHUFFLED, even(N, 4), False),
    "torn": (PLAIN, [100, 130, 130], False),
    "empty partition": (PLAIN, [120, 0, 240, 0], False),
    "huge query": (HUGE, even(N, 4), False),
    "one query": (ONE, even(N, 3), False),
    "one partition": (PLAIN, [N], False),
    "more partitions than queries": (PLAIN.taken(slice(36)), [4] * 9, False),
    "sparse": (SPARSE, [120, 110, 130], True),
}


SHARED = ("huge query", "one query")


CASES = [(layout, "squared_hinge") for layout in LAYOUTS] + [("torn", "hinge"), ("sparse", "hinge")]


@pytest.mark.parametrize(("layout", "loss"), CASES)
def test_the_optimum_is_that_of_the_local_fit(client, layout, loss, monkeypatch):
    rows, chunks, sparse = LAYOUTS[layout]
    if layout in SHARED:
        monkeypatch.setattr(torn, "LEAST_SHARED", 1)
    tol = 1e-10 if loss == "squared_hinge" else 1e-3
    local = RankSVM(C=0.1, loss=loss, tol=1e-10).fit(*rows)
    model = DaskRankSVM(C=0.1, loss=loss, tol=tol).fit(*on_cluster(rows, chunks, sparse))
    assert model.status_ == "converged"
    assert model.dual_gap_ <= tol
    assert (model.n_pairs_, model.n_queries_) == (local.n_pairs_, local.n_queries_)
    assert model.objective_ == pytest.approx(local.objective_, rel=max(tol, 1e-10))
    assert model.objective_ * (1 - model.dual_gap_) <= local.objective_
    assert local.objective_ * (1 - local.dual_gap_) <= model.objective_
    most = 2 * sum(one.dual_gap_ * one.objective_ for one in (model, local))
    assert np.square(model.coef_ - local.coef_).sum() <= 2 * most
    if loss == "squared_hinge" and layout not in SHARED:
        np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
