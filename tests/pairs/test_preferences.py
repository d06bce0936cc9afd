"""Preferences of some of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from ranksvm.pairs import explicit, preferences
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.explicit import ExplicitPairs, may_be_listed
from ranksvm.pairs.preferences import Preferences

labels_of_queries = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1)


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


@given(labels_of_queries)
def test_pairs_are_counted_where_few_differ(rows):
    y, qid = np.array(rows).T
    some = Preferences.from_labels(y, qid)
    n_pairs = len(reference.enumerate_pairs(y, qid).weight)
    assert n_pairs <= some.most_pairs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preferences, "MANY_PAIRS", 0)
        patch.setattr(preferences, "FAR_MORE", np.inf)
        patch.setattr(Preferences, "_share_that_differs", lambda self: 0.0)
        assert Preferences.from_labels(y, qid).most_pairs == n_pairs


@given(labels_of_queries)
def test_the_list_of_long_queries_is_that_of_short_ones(rows):
    y, qid = np.array(rows).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explicit, "BLOCK", 1)
        listed = ExplicitPairs.of(Preferences.from_labels(y, qid))
    pairs = reference.enumerate_pairs(y, qid)
    found = sorted(zip(listed.better.tolist(), listed.worse.tolist(), strict=True))
    assert found == sorted(zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True))
    by_query = Preferences.from_labels(y, qid).groups.numbers[listed.better]
    assert (np.diff(by_query) >= 0).all()


@pytest.mark.parametrize("n_queries", [1, 3])
def test_few_pairs_among_many_rows_may_be_listed(n_queries):
    qid = np.random.default_rng(0).integers(0, n_queries, 30_000)
    for n_better, are_few in ((0, True), (5, True), (100, True), (15_000, False)):
        y = np.zeros(len(qid))
        y[:: len(qid) // n_better if n_better else len(qid) + 1] = 1
        y[0] = n_better > 0
        some = Preferences.from_labels(y, qid)
        assert may_be_listed(CorePairs(some)) == are_few
        if are_few:
            assert some.most_pairs == len(ExplicitPairs.of(some).better)
        else:
            assert some.most_pairs == some.groups.most_pairs
