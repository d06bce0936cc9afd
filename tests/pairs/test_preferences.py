"""Preferences of some of the rows."""

import numpy as np
import pytest

import reference
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.preferences import Preferences


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_queries", [1, 4])
def test_those_of_some_rows_are_the_pairs_among_them(n_queries, weighted):
    rng = np.random.default_rng(n_queries)
    y, qid = rng.integers(0, 4, 30), rng.integers(0, n_queries, 30)
    weights = (rng.random(30), rng.random(n_queries)[qid]) if weighted else (None, None)
    rows = rng.permutation(30)[:17]
    some = CorePairs(Preferences.from_labels(y, qid, *weights).of_rows(rows))
    of_rows = [None if weight is None else weight[rows] for weight in weights]
    pairs = reference.enumerate_pairs(y[rows], qid[rows], *of_rows)
    assert some.n_pairs == pytest.approx(pairs.weight.sum(), rel=1e-14)
    scores = rng.normal(size=17)
    gradient = some.sweep(scores, "hinge", 1.0).gradient
    np.testing.assert_allclose(gradient, reference.hinge_gradient(pairs, scores), atol=1e-13)
