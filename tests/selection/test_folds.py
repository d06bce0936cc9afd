"""Folds: whole queries, evenly shared, and labels spread alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, PredefinedSplit

from ranksvm.selection.folds import make_folds


def assert_partition(folds, n):
    for train, validation in folds:
        assert np.array_equal(np.sort(np.r_[train, validation]), np.arange(n))
    assert np.array_equal(np.sort(np.concatenate([v for _, v in folds])), np.arange(n))


@given(st.lists(st.integers(1, 30), min_size=2, max_size=12), st.integers(2, 6), st.randoms())
def test_queries_stay_whole_and_are_shared_evenly(sizes, n_folds, random):
    n_folds = min(n_folds, len(sizes))
    query = np.repeat(np.arange(len(sizes)), sizes)
    random.shuffle(query)
    folds = make_folds(n_folds, np.zeros(len(query)), query)
    assert len(folds) == n_folds
    assert_partition(folds, len(query))
    rows = []
    for train, validation in folds:
        assert not set(query[train]) & set(query[validation])
        rows.append(len(validation))
    assert min(rows) > 0
    assert max(rows) - min(rows) <= max(sizes)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=40), st.integers(2, 6))
def test_each_fold_of_a_global_ranking_has_the_labels_of_the_whole(labels, n_folds):
    n_folds, y = min(n_folds, len(labels)), np.array(labels, dtype=float)
    folds = make_folds(n_folds, y, None)
    assert_partition(folds, len(y))
    for level in np.unique(y):
        counts = [np.sum(y[validation] == level) for _, validation in folds]
        assert max(counts) - min(counts) <= 1


def test_splitters_are_given_the_queries():
    query = np.repeat([2, 0, 1, 3], [3, 4, 2, 5])
    y = np.arange(14.0)
    for splitter in [GroupKFold(2), LeaveOneGroupOut()]:
        folds = make_folds(splitter, y, query)
        expected = list(splitter.split(y, y, query))
        assert len(folds) == len(expected)
        for fold, parts in zip(folds, expected, strict=True):
            assert all(map(np.array_equal, fold, parts))


def test_folds_as_given():
    y, number = np.arange(6.0), np.array([0, 1, 1, 0, -1, 1])
    masks = [(number != k, number == k) for k in range(2)]
    expected = list(PredefinedSplit(number).split())
    for cv in [masks, PredefinedSplit(number), iter(expected)]:
        for fold, parts in zip(make_folds(cv, y, None), expected, strict=True):
            assert all(map(np.array_equal, fold, parts))


@pytest.mark.parametrize(
    ("cv", "query", "message"),
    [
        (1, None, "cv must be at least 2 folds, not 1"),
        (5, None, "cv=5 folds need at least 5 rows, found n_samples=4"),
        (3, np.array([0, 0, 1, 1]), "cv=3 folds need at least 3 queries, found 2"),
        ("five", None, "cv"),
    ],
)
def test_impossible_folds_are_refused(cv, query, message):
    with pytest.raises(ValueError, match=message):
        make_folds(cv, np.zeros(4), query)
