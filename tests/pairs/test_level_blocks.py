"""Pairs as dense blocks of levels, against the list of all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.pairs.explicit import ExplicitPairs
from ranksvm.pairs.level_blocks import MOST_IN_BLOCKS, LevelBlocks, may_be_blocks
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups


def preferences_of(seed, n=40, *, pair_weight=None, weighted=True):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 4, n).astype(float), rng.integers(0, 3, n)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    of_queries = rng.integers(0, 3, 3).astype(float)[: len(np.unique(qid))] if weighted else None
    groups = QueryGroups.from_qid(qid, n)
    return Preferences(y, groups, weight, of_queries, pair_weight)


def in_pairs(queries):
    """Yield the rows and the weight of each pair, in the order of the blocks."""
    for query in queries:
        for block in query.blocks:
            better, worse = query.rows[block.better], query.rows[: block.n_worse]
            weight = np.broadcast_to(block.weight, block.shape)
            for (i, j), value in np.ndenumerate(weight):
                yield (better[i], worse[j]), value


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_the_list_goes_query_by_query_and_row_by_row(rows):
    y, qid = (np.array([row[k] for row in rows], dtype=np.int64) for k in (0, 1))
    preferences = Preferences.from_labels(y, qid)
    listed = ExplicitPairs.of(preferences)
    expected = [
        (i, j)
        for query in dict.fromkeys(sorted(qid.tolist()))
        for i in np.flatnonzero(qid == query)
        for j in np.flatnonzero(qid == query)
        if y[i] > y[j]
    ]
    assert list(zip(listed.better, listed.worse, strict=True)) == expected


@given(st.integers(0, 1000), st.sampled_from([None, "gap"]), st.booleans())
def test_they_are_the_pairs_of_the_list(seed, pair_weight, weighted):
    preferences = preferences_of(seed, pair_weight=pair_weight, weighted=weighted)
    queries = LevelBlocks.of(preferences)
    listed = ExplicitPairs.of(preferences)
    pairs = zip(listed.better.tolist(), listed.worse.tolist(), strict=True)
    expected = dict(zip(pairs, listed.weight.tolist(), strict=True))
    found = list(in_pairs(queries))
    assert len(found) == len(expected) == sum(query.n_pairs for query in queries)
    assert dict(found) == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_list(weighted):
    preferences = preferences_of(1, weighted=weighted)
    listed, v = ExplicitPairs.of(preferences), np.random.default_rng(0).normal(size=40)
    balance, degree, sums = np.zeros((3, 40))
    for query in LevelBlocks.of(preferences):
        of_query = np.zeros((3, len(query.rows)))
        for block in query.blocks:
            block.add_sums(*of_query[:2])
            weight = np.array(np.broadcast_to(block.weight, block.shape))
            block.add_partners(weight, v[query.rows], of_query[2])
        balance[query.rows], degree[query.rows], sums[query.rows] = of_query
    np.testing.assert_allclose(balance, listed.balance(listed.weight), atol=1e-12)
    np.testing.assert_allclose(degree, listed.degree(listed.weight), atol=1e-12)
    expected = listed.sparse_laplacian(listed.weight) @ v
    np.testing.assert_allclose(degree * v - sums, expected, atol=1e-12)


def test_who_may_be_in_blocks():
    n = int((2 * MOST_IN_BLOCKS) ** 0.5)
    assert may_be_blocks(Preferences.from_labels(np.arange(n)))
    assert not may_be_blocks(Preferences.from_labels(np.arange(n + 1)))
    y, groups = np.arange(3.0), QueryGroups.from_qid(None, 3)
    assert not may_be_blocks(Preferences(y, groups, better_weight=np.ones(3)))
