"""The pairs that are listed are those of the definition."""

import numpy as np
import pytest
from hypothesis import assume, given

import reference
import strategies
from ranksvm.files.svmlight import load_svmlight
from ranksvm.kernel.path.graph import PreferenceGraph
from ranksvm.pairs.queries import QueryGroups


def listed(y, qid=None, graph="full", **options):
    groups = QueryGroups.from_qid(qid, len(y))
    pairs = PreferenceGraph.from_labels(y, groups, graph, **options)
    assert pairs.upper.dtype == pairs.lower.dtype == np.int32
    return list(zip(pairs.upper.tolist(), pairs.lower.tolist(), strict=True))


@given(strategies.rankings(weighted=False))
def test_the_full_graph_has_every_pair(ranking):
    pairs = reference.enumerate_pairs(ranking.y, ranking.qid)
    assume(len(pairs.better))
    assert sorted(listed(ranking.y, ranking.qid)) == sorted(
        zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True)
    )


@given(strategies.rankings(weighted=False))
def test_the_reduced_graph_joins_neighbouring_levels(ranking):
    expected = reference.reduced_pairs(ranking.y, ranking.qid)
    assume(expected)
    assert sorted(listed(ranking.y, ranking.qid, "reduced")) == sorted(expected)


@pytest.mark.parametrize(
    ("name", "full", "reduced"),
    [
        ("mixture", 10_000, 199),
        ("auto-mpg", 75_245, 656),
        ("pima", 134_000, 767),
        ("wdbc", 75_684, 568),
    ],
)
def test_the_counts_of_zapien_et_al(real_file, name, full, reduced):
    """Their Table 1."""
    _, y, _ = load_svmlight(real_file(name))
    assert len(listed(y)) == full
    assert len(listed(y, None, "reduced")) == reduced


@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_no_pair_is_refused(graph):
    with pytest.raises(ValueError, match="no preference pairs to learn from"):
        listed([1, 2, 3], [0, 1, 2], graph)


def test_an_unknown_graph_is_refused():
    with pytest.raises(ValueError, match="graph must be 'full' or 'reduced', not 'small'"):
        listed([0, 1], None, "small")


def test_too_many_pairs_are_refused_before_they_are_listed():
    y = np.arange(3_000_000)
    with pytest.raises(ValueError, match="4,499,998,500,000 preference pairs, which"):
        listed(y, max_memory=1e9)
    assert len(listed(y[:30], None, "reduced", max_memory=1.0)) == 29


def test_values_of_pairs_are_summed_by_row():
    graph = PreferenceGraph.from_labels([0, 2, 1], QueryGroups.from_qid(None, 3))
    by_pair = dict(zip(zip(graph.upper, graph.lower, strict=True), [1.0, 2.0, 4.0], strict=True))
    sums = graph.sum_by_row(np.array([1.0, 2.0, 4.0]), 3)
    expected = [
        -by_pair[1, 0] - by_pair[2, 0],
        by_pair[1, 0] + by_pair[1, 2],
        by_pair[2, 0] - by_pair[1, 2],
    ]
    np.testing.assert_array_equal(sums, expected)
