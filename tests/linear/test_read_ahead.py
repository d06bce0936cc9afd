"""Reading ahead: every task comes, in its order, and the thread stays so far before it."""

import threading

import numpy as np
import pytest
import scipy.sparse

from ranksvm.linear import read_ahead
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.read_ahead import ReadAhead
from ranksvm.linear.views import SparseArrays
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train


@pytest.fixture
def touched(monkeypatch):
    """What the thread has touched, as numbers; it goes 80 bytes ahead."""
    seen = []
    monkeypatch.setattr(read_ahead, "AHEAD", 80)
    monkeypatch.setattr(read_ahead, "touch", lambda parts: seen.append([p.tolist() for p in parts]))
    return seen


def pieces(n, size):
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def test_the_thread_goes_no_further_than_it_should(touched):
    X = np.arange(24.0).reshape(12, 2)  # 16 bytes a row
    given = []
    for rows in ReadAhead(X).before(pieces(12, 2), lambda rows: rows):
        given.append(rows)
        asked = [part for parts in touched for part in parts]
        assert len(asked) <= rows.stop / 2 + 80 / 32 + 1
    assert given == pieces(12, 2)
    assert touched == [[X[rows].tolist()] for rows in pieces(12, 2)][: len(touched)]


def test_stored_values_of_the_rows_are_read(touched):
    X = scipy.sparse.random(9, 5, 0.5, "csr", random_state=0)
    ahead = ReadAhead(SparseArrays(X.indptr, X.indices, X.data))
    list(ahead.before(pieces(9, 4), lambda rows: rows))
    assert touched  # the last may have been cancelled
    for parts, rows in zip(touched, pieces(9, 4), strict=False):
        assert parts == [X[rows].indices.tolist(), X[rows].data.tolist()]


def test_nothing_is_left_behind_by_who_stops_early_or_fails(touched):
    before = threading.active_count()
    coming = ReadAhead(np.ones((100, 3))).before(pieces(100, 1), lambda rows: rows)
    next(coming)
    coming.close()
    assert threading.active_count() == before
    assert list(ReadAhead(np.ones((0, 3))).before([], lambda rows: rows)) == []


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_training_that_reads_ahead_has_the_same_bits(monkeypatch, n_threads, sparse):
    monkeypatch.setattr(read_ahead, "AHEAD", 1 << 10)
    calls = []
    whole = ReadAhead.before
    monkeypatch.setattr(ReadAhead, "before", lambda *args: calls.append(1) or whole(*args))
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((3000, 6)), rng.integers(0, 3, 3000).astype(float)
    if sparse:
        X[rng.random(X.shape) < 0.6] = 0.0
        X = scipy.sparse.csr_matrix(X)
    preferences = Preferences(y, QueryGroups(np.arange(0, 3001, 10)))
    in_memory = DesignMatrix.from_array(X)
    parameters = Parameters(tol=1e-9, n_threads=n_threads)
    expected = train(in_memory, preferences, parameters)
    assert not calls
    found = train(in_memory.mapped(), preferences, parameters)
    assert calls
    assert found.weights.dense.tobytes() == expected.weights.dense.tobytes()
    assert found.result.dual_gap == expected.result.dual_gap
