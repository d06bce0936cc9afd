from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from ranksvm.pairs.queries import QueryGroups

QIDS = {
    "ints": np.array([7, 7, 3, 3, 3, 9]),
    "unsorted ints": np.array([7, 3, 7, 9, 3, 7]),
    "descending": np.array([9, 9, 5, 5, 5, 1]),
    "floats": np.array([0.5, -1.5, 0.5, 2.0, -1.5, 0.5]),
    "strings": ["b", "a", "b", "c", "a", "b"],
    "numpy strings": np.array(["b", "a", "b", "c", "a", "b"]),
    "tuples": [(1, "x"), (0, "x"), (1, "x"), (1, "y"), (0, "x"), (1, "x")],
    "objects": np.array(["b", 1, "b", (2, 3), 1, "b"], dtype=object),
    "big ints": np.array([2**62, -(2**62), 2**62, 0, -(2**62), 2**62]),
    "Series": pd.Series(["b", "a", "b", "c", "a", "b"], index=[5, 3, 1, 0, 9, 2]),
    "categorical": pd.Series(["b", "a", "b", "c", "a", "b"], dtype="category"),
    "one row each": np.arange(6),
}


def assert_groups(groups, qid, n_samples):
    """Every query is one group, its rows in their order; rows stay put if they can."""
    number = reference.query_index(qid, n_samples)
    order = np.arange(n_samples) if groups.order is None else groups.order
    members = sorted(np.split(order, groups.indptr[1:-1]), key=lambda rows: rows[0])
    assert groups.n_samples == n_samples
    assert groups.n_queries == len(members) == number.max() + 1
    assert groups.indptr.dtype == np.int64
    for q, rows in enumerate(members):
        np.testing.assert_array_equal(rows, np.flatnonzero(number == q))
    assert (groups.order is None) == bool(np.all(np.diff(number) >= 0))


@pytest.mark.parametrize("name", QIDS)
def test_any_qid(name):
    assert_groups(QueryGroups.from_qid(QIDS[name], 6), list(QIDS[name]), 6)


@given(st.integers(1, 30).flatmap(strategies.qids))
def test_any_order(qid):
    n_samples = 4 if qid is None else len(qid)
    assert_groups(QueryGroups.from_qid(qid, n_samples), qid, n_samples)


def test_no_qid_is_one_query():
    groups = QueryGroups.from_qid(None, 5)
    assert groups.n_queries == 1
    assert groups.order is None
    np.testing.assert_array_equal(groups.indptr, [0, 5])


def test_many_queries():
    qid = np.random.default_rng(0).integers(0, 5_000, 40_000)
    assert_groups(QueryGroups.from_qid(qid, len(qid)), qid, len(qid))


def test_wrong_length_names_both():
    with pytest.raises(ValueError, match=r"qid.*\b4\b.*\b6\b"):
        QueryGroups.from_qid([1, 1, 2, 2], 6)


@pytest.mark.parametrize("missing", [np.array([1.0, np.nan, 1.0]), ["a", None, "a"]])
def test_missing_id_names_its_row(missing):
    with pytest.raises(ValueError, match=r"qid.*row 1\b"):
        QueryGroups.from_qid(missing, 3)


def test_groups_are_frozen_and_leave_qid_alone():
    qid = np.array([3, 1, 3, 2])
    groups = QueryGroups.from_qid(qid, 4)
    with pytest.raises(FrozenInstanceError):
        groups.indptr = np.array([0, 4])
    np.testing.assert_array_equal(qid, [3, 1, 3, 2])


def test_different_ids_stay_different():
    assert QueryGroups.from_qid(["a", 1, "1"], 3).n_queries == 3
    assert QueryGroups.from_qid([(1, 2), (1,), (1, 2)], 3).n_queries == 2


@pytest.mark.parametrize("qid", [5, "abc", {"a": 1}, [{}, 1, 2], np.zeros((3, 2))])
def test_what_cannot_be_ids_is_refused(qid):
    with pytest.raises(ValueError, match="qid"):
        QueryGroups.from_qid(qid, 3)
