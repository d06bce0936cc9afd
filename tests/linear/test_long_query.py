"""The part of one long query in an explicit Hessian: by small steps, and by few columns."""

from itertools import product

import numpy as np
import pytest

from ranksvm.linear import hessian, long_query
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

N, D = 3000, 35


def evaluation(loss, pair_weight, weighted, spread):
    rng = np.random.default_rng(N)
    y = rng.integers(0, 700, N).astype(float)
    weight, *roles = rng.integers(0, 3, (3, N)).astype(float) if weighted else [None] * 3
    groups = QueryGroups.from_qid(None, N)
    if weighted != "roles":
        roles = None, None
    pairs = CorePairs(Preferences(y, groups, weight, None, pair_weight, *roles))
    made = SquaredHinge(pairs) if loss == "squared_hinge" else Hinge(pairs).smoothed(0.3)
    return made.evaluate(spread * rng.standard_normal(N))


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(
    ("pair_weight", "weighted"),
    [(None, False), (None, True), ("gap", True), (None, "roles"), ("gap", "roles")],
)
# All rows enter before the first is multiplied; some do; or few at a time.
@pytest.mark.parametrize("spread", [0.0, 1.0, 100.0])
def test_steps_and_columns_do_not_matter(loss, pair_weight, weighted, spread, monkeypatch):
    X = DesignMatrix.from_array(np.random.default_rng(0).standard_normal((N, D)))
    here = evaluation(loss, pair_weight, weighted, spread)
    Z = X.gather((0, N, None), (0, D), np.zeros(D), np.ones(D), np.float64)
    expected = Z.T @ here.hessian_product(Z)

    def found(n_threads):
        return X.hessian(here, np.zeros(D), np.ones(D), np.float64, n_threads)

    monkeypatch.setattr(hessian, "BLOCK_BYTES", 1)  # blocks of 256 rows
    for step_blocks, sums in product([1, 4], [0, 1 << 25]):
        monkeypatch.setattr(long_query, "STEP_BLOCKS", step_blocks)
        monkeypatch.setattr(long_query, "LEAST_SUMS", sums)
        monkeypatch.setattr(long_query, "SUMS_PER_ROW", 0)
        by_one = found(1)
        np.testing.assert_allclose(by_one, expected, rtol=0, atol=1e-12 * N * N)
        np.testing.assert_array_equal(by_one, found(3))


def test_rows_that_are_needed_have_entered():
    sweep = evaluation("squared_hinge", None, False, 1.0).sweep
    walk = sweep.walk64(0, 2)
    none, some, result = np.empty((0, 2)), np.ones((5, 2)), np.empty((5, 2))
    with pytest.raises(ValueError, match="must have come"):
        walk(0, some, 0, none, 0, none, result)
    with pytest.raises(ValueError, match="as wide as the sums"):
        walk(0, some[:, :1].copy(), 0, none, 0, none, result)
    with pytest.raises(ValueError, match="no such positions"):
        walk(N, some, 0, none, 0, none, result)


def test_one_sweep_stays_and_others_are_made_again(monkeypatch):
    here = evaluation("squared_hinge", None, False, 1.0)
    made, sweep = [], CorePairs.sweep
    monkeypatch.setattr(
        CorePairs, "sweep", lambda *args, **kwargs: made.append(1) or sweep(*args, **kwargs)
    )
    loss, v = SquaredHinge(here.pairs), np.arange(N, dtype=float)
    first, second = loss.evaluate(v / N), loss.evaluate(3 * v / N)
    of_second = second.hessian_product(v)
    assert len(made) == 2
    of_first = first.hessian_product(v)
    assert len(made) == 3
    np.testing.assert_array_equal(first.hessian_product(v), of_first)
    assert len(made) == 3
    np.testing.assert_array_equal(second.hessian_product(v), of_second)
    assert not np.array_equal(of_first, of_second)
