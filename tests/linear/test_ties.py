"""Rows that pairs at the kink tie together, against explicit pairs and dense algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearEvaluation
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.ties import Ties, tied
from ranksvm.linear.training import make_problem
from ranksvm.pairs.given import GivenPreferences
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Progress, trust_region
from ranksvm.solvers.smoothing import Continuation


def components_of_pairs(queries, scores, margin):
    """Connect rows of a query that lie a margin apart: the component and level of each."""
    n = len(scores)
    component, level = np.full(n, -1), np.zeros(n)
    for first in range(n):
        if component[first] >= 0:
            continue
        component[first], stack = first, [first]
        while stack:
            i = stack.pop()
            for j in np.flatnonzero((queries == queries[i]) & (component < 0)):
                apart = scores[j] - scores[i]
                if abs(abs(apart) - margin) < 1e-6:
                    component[j], level[j] = first, level[i] + np.sign(apart)
                    stack.append(j)
    return component, level


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-3, 3), st.sampled_from([0.0, 0.3, 0.45])),
        min_size=1,
        max_size=25,
    ),
    margin=st.sampled_from([1.0, 0.25, 30.0]),
    seed=st.integers(0, 9),
)
def test_ties_are_those_of_explicit_pairs(rows, margin, seed):
    queries, levels, shifts = (np.array(part) for part in zip(*rows, strict=True))
    rng = np.random.default_rng(seed)
    scores = margin * (levels + shifts) + 1e-9 * margin * rng.random(len(rows))
    component, level = components_of_pairs(queries, scores / margin, 1.0)
    connected = np.bincount(component)[component] > 1
    found = Ties.find(queries, scores, 0.1 * margin, margin)
    if not connected.any():
        assert found is None
        return
    assert found is not None
    assert sorted(found.rows) == list(np.flatnonzero(connected))
    for i, row in enumerate(found.rows):
        same = component[found.rows] == component[row]
        np.testing.assert_array_equal(found.component == found.component[i], same)
        np.testing.assert_array_equal(
            (found.level - found.level[i])[same], (level[found.rows] - level[row])[same]
        )


def test_rows_without_a_partner_a_margin_away_are_not_tied():
    assert Ties.find(np.zeros(3, dtype=int), np.array([0.0, 0.5, 2.2]), 0.1, 1.0) is None
    assert Ties.find(np.arange(3), np.array([0.0, 1.0, 2.0]), 0.1, 1.0) is None
    assert Ties.find(np.zeros(0, dtype=int), np.zeros(0), 0.1, 1.0) is None


def wide_text(n=600, d=1_800, words=120):
    """Documents of three queries, some words frequent and most rare, which weights can order."""
    rng = np.random.default_rng(0)
    columns = np.minimum(rng.exponential(d / 6, (n, words)).astype(int), d - 1)
    places = np.repeat(np.arange(n), words), columns.ravel()
    X = sparse.csr_matrix((np.ones(n * words), places), (n, d))
    X.data = 1 + np.log(X.data)
    X = sparse.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    utility = X @ rng.standard_normal(d) + 0.05 * rng.standard_normal(n)
    return X, np.floor(4 * np.argsort(np.argsort(utility)) / n), np.arange(n) % 3


def least_value(C):
    """The optimum of the hinge, by another solver to the last digits but two."""
    X, y, qid = wide_text()
    model = RankSVM(loss="hinge", C=C, solver="row_space", tol=1e-8).fit(X, y, qid)
    assert model.status_ == "converged"
    return model.objective_


def minima(X, preferences, C=100.0, **parameters):
    """Go a wide way; return its minima with their limits."""
    parameters = Parameters(loss="hinge", C=C, solver="trust_region", **parameters)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    found = []

    def limit(self, minimum, original=Continuation.limit):
        there = original(self, minimum)
        if there is not None:
            found.append((minimum, there))
        return there

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Continuation, "limit", limit)
        patch.setattr(LinearEvaluation, "tied", lambda *_: (None, 0))
        trust_region(problem.objective.smoothed(), np.zeros(X.shape[1]), Progress(1e-4))
    return found


@pytest.fixture(scope="module")
def way():
    X, y, qid = wide_text()
    return X, minima(X, Preferences.from_labels(y, qid))


def test_the_step_is_the_shortest_that_ties_rows(way):
    X, found = way
    here, limit = found[-1]
    step, n_products = tied(here, limit)
    assert 0 < n_products <= 100
    rows = np.flatnonzero(here.loss.hessian_diagonal)
    queries = here.objective.loss.pairs.groups.numbers[rows]
    ties = Ties.find(queries, limit.scores[rows], here.width, 1.0)
    rows = rows[ties.rows]
    moved = ties.level - X[rows] @ (here.weights + step)
    np.testing.assert_allclose(ties.centred(moved), 0.0, atol=1e-4 * np.abs(moved).max())
    of_means = np.stack([ties.centred(column) for column in X[rows].toarray().T], axis=1)
    wanted = ties.centred(ties.level - here.scores[rows])
    shortest = np.linalg.lstsq(of_means, wanted, rcond=None)[0]
    assert np.linalg.norm(step - shortest) <= 1e-3 * np.linalg.norm(shortest)


def test_ties_are_near_the_optimum_long_before_limits_are(way):
    _, found = way
    value = least_value(100.0)
    excess = [
        (limit.value / value - 1, here.tied(limit)[0].value / value - 1)
        for here, limit in found
        if limit.value < 1.5 * value
    ]
    assert all(there >= -1e-7 for both in excess for there in both)
    assert any(by_ties < 0.1 * of_limit for of_limit, by_ties in excess if of_limit > 1e-3)


def test_ties_end_the_way_sooner_and_their_products_count(monkeypatch):
    X, y, qid = wide_text()
    preferences = Preferences.from_labels(y, qid)
    parameters = Parameters(loss="hinge", C=50.0, solver="trust_region", tol=1e-3)
    numbers = []

    def counted(self, limit, original=LinearEvaluation.tied):
        there, n = original(self, limit)
        numbers.append(n)
        return there, n

    def products():
        problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
        result = problem.minimize(parameters)
        assert str(result.status) == "converged"
        return result

    monkeypatch.setattr(LinearEvaluation, "tied", counted)
    result = products()
    value = least_value(50.0)
    assert value * (1 - 1e-7) <= result.value <= value * (1 + 1e-3)
    n_products = [line.n_products for line in result.history]
    assert numbers
    assert sum(numbers) <= n_products[-1]
    monkeypatch.setattr(LinearEvaluation, "tied", lambda *_: (None, 0))
    assert n_products[-1] < products().history[-1].n_products


def test_any_number_of_threads_ties_to_the_same_bits(monkeypatch):
    X, y, qid = wide_text()
    ties = []

    def watched(self, limit, original=LinearEvaluation.tied):
        there, n_products = original(self, limit)
        ties.append((there is not None, n_products))
        return there, n_products

    monkeypatch.setattr(LinearEvaluation, "tied", watched)
    options = {"loss": "hinge", "C": 50.0, "solver": "trust_region"}
    one, *more = (RankSVM(n_threads=n, **options).fit(X, y, qid) for n in (1, 2, 3))
    assert any(is_tied for is_tied, _ in ties)
    for other in more:
        np.testing.assert_array_equal(other.coef_, one.coef_)
        assert (other.objective_, other.dual_gap_) == (one.objective_, one.dual_gap_)


def test_only_pairs_of_labels_are_tied(way):
    _, found = way
    assert tied(*found[-1])[0] is not None
    X, y, qid = wide_text()
    winner, loser = np.flatnonzero(y == 3)[:40], np.flatnonzero(y == 0)[:40]
    groups, ones = Preferences.from_labels(y, qid).groups, np.ones(40)
    both = (rows.astype(np.uint32) for rows in (winner, loser))
    others = minima(X, GivenPreferences(*both, groups, ones, ones, has_queries=False))
    assert others
    assert all(tied(*other) == (None, 0) for other in others)
