"""Reading ahead: every task comes, in its order, and the thread stays so far before it."""

import threading
import time

import numpy as np
import pytest
import scipy.sparse

from ranksvm.linear import read_ahead
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.read_ahead import ReadAhead
from ranksvm.linear.rounds import train
from ranksvm.linear.stored import SparseArrays
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups


@pytest.fixture
def touched(monkeypatch):
    """What the thread has touched, as numbers; it goes three pieces of 32 bytes ahead."""
    seen = []
    monkeypatch.setattr(read_ahead, "PIECE", 32)
    monkeypatch.setattr(read_ahead, "N_AHEAD", 3)
    monkeypatch.setattr(read_ahead, "touch", lambda parts: seen.append([p.tolist() for p in parts]))
    return seen


def runs(n_queries, size):
    return [(first, min(first + size, n_queries)) for first in range(0, n_queries, size)]


def test_the_thread_goes_no_further_than_it_should(touched):
    X = np.arange(26.0).reshape(13, 2)  # 16 bytes a row
    indptr = np.array([0, 1, 3, 6, 10, 13])
    given = []
    for run in ReadAhead(X).before(runs(5, 1), indptr):
        given.append(run)
        assert len(touched) <= -(-indptr[len(given)] // 2) + 3
    assert given == runs(5, 1)
    pieces = [[X[first : first + 2].tolist()] for first in range(0, 13, 2)]
    order = [pieces.index(piece) for piece in touched]
    assert order == sorted(set(order))  # the end may cancel some of the last ones


def test_all_is_read_that_comes_before_the_last_block(touched):
    X = np.arange(20.0).reshape(10, 2)
    coming = ReadAhead(X).before(runs(10, 1), np.arange(11))
    for _ in range(10):
        next(coming)
    for _ in range(500):
        if len(touched) == 5:
            break
        time.sleep(0.01)
    assert touched == [[X[first : first + 2].tolist()] for first in range(0, 10, 2)]
    coming.close()


def test_stored_values_of_the_rows_are_read(touched):
    X = scipy.sparse.random(9, 5, 0.5, "csr", random_state=0)
    ahead = ReadAhead(SparseArrays(X.indptr, X.indices, X.data))
    list(ahead.before(runs(9, 4), np.arange(10)))
    for row, parts in enumerate(touched):  # a row to a piece; the last may be left out
        assert parts == [X[row].indices.tolist(), X[row].data.tolist()]


def test_nothing_is_left_behind_by_who_stops_early(touched):
    before = threading.active_count()
    coming = ReadAhead(np.ones((100, 3))).before(runs(100, 1), np.arange(101))
    next(coming)
    coming.close()
    assert threading.active_count() == before
    assert list(ReadAhead(np.ones((0, 3))).before([], np.zeros(1, int))) == []


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_training_that_reads_ahead_has_the_same_bits(monkeypatch, n_threads, sparse):
    monkeypatch.setattr(read_ahead, "PIECE", 1 << 10)
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
