"""What rows weigh as the better and as the worse one of a pair; other tests draw them, too."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import WAYS, make_loss, make_losses, pairs_of
from ranksvm.names import COUNTINGS
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge, "smoothed_hinge": SmoothedHinge}
every_counting = pytest.mark.parametrize("counting", WAYS)
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_gap = pytest.mark.parametrize("pair_weight", [None, "gap"])


def evaluate(loss, y, scores, counting="auto", **weights):
    made = make_loss(LOSSES[loss], y, **WAYS[counting], **weights)
    return made.pairs.n_pairs, made.evaluate(scores)


def assert_close(found, expected, rtol=1e-13):
    """All that two evaluations say, up to the scale of each vector."""
    assert found.value == pytest.approx(expected.value, rel=rtol)
    vectors = [(found.gradient, expected.gradient)]
    if hasattr(found, "hessian_product"):
        v = np.random.default_rng(0).normal(size=len(found.gradient))
        vectors.append((found.hessian_product(v), expected.hessian_product(v)))
    for here, there in vectors:
        np.testing.assert_allclose(here, there, rtol=0, atol=10 * rtol * np.abs(there).max())


def problem(n=100, n_levels=7):
    rng = np.random.default_rng(0)
    return rng.integers(0, n_levels, n).astype(float), rng.normal(size=n), rng


@every_gap
@every_counting
@every_loss
def test_the_same_weights_in_both_roles_are_sample_weights(loss, counting, pair_weight):
    y, scores, rng = problem()
    weight = rng.uniform(0, 2, 100) * rng.integers(0, 2, 100)
    options = {"counting": counting, "pair_weight": pair_weight}
    n_pairs, roles = evaluate(loss, y, scores, better_weight=weight, worse_weight=weight, **options)
    expected, rows = evaluate(loss, y, scores, sample_weight=weight, **options)
    assert n_pairs == expected
    assert roles.value == rows.value
    np.testing.assert_array_equal(roles.gradient, rows.gradient)


@pytest.mark.parametrize("counting", COUNTINGS)
@every_loss
def test_roles_of_weight_one_change_no_bit(loss, counting):
    y, scores, _ = problem()
    n_pairs, roles = evaluate(loss, y, scores, counting, better_weight=np.ones(100))
    expected, plain = evaluate(loss, y, scores, counting)
    assert n_pairs == expected
    assert roles.value == plain.value
    np.testing.assert_array_equal(roles.gradient, plain.gradient)
    if loss != "hinge":
        v = np.arange(100.0)
        np.testing.assert_array_equal(roles.hessian_product(v), plain.hessian_product(v))


@every_gap
@every_counting
@every_loss
@pytest.mark.parametrize("factor", [2.0**-300, 2.0**300])
def test_what_one_role_gains_and_the_other_loses_does_not_matter(
    loss, factor, counting, pair_weight
):
    y, scores, rng = problem()
    better, worse = rng.uniform(0.1, 2, (2, 100))
    options = {"counting": counting, "pair_weight": pair_weight}
    n_pairs, found = evaluate(
        loss, y, scores, better_weight=factor * better, worse_weight=worse / factor, **options
    )
    expected, plain = evaluate(loss, y, scores, better_weight=better, worse_weight=worse, **options)
    assert n_pairs == pytest.approx(expected, rel=1e-13)
    assert_close(found, plain)


@every_counting
@every_loss
@pytest.mark.parametrize("role", ["better_weight", "worse_weight"])
def test_without_a_role_there_are_no_pairs(loss, role, counting):
    y, scores, _ = problem()
    n_pairs, found = evaluate(loss, y, scores, counting, **{role: np.zeros(100)})
    assert n_pairs == 0
    assert isinstance(n_pairs, float)
    assert found.value == 0
    assert not np.any(found.gradient)


@every_counting
@pytest.mark.parametrize("n", [50, 500])
def test_pairs_of_whole_weights_are_counted_exactly(n, counting):
    """As survival times are compared: a censored one is the lesser of no pair."""
    rng = np.random.default_rng(1)
    time, event = rng.integers(0, 40, n).astype(float), rng.integers(0, 2, n)
    scores = 1e3 * rng.normal(size=n)
    comparable = (time[:, np.newaxis] > time) & (event == 1)
    active = comparable & (scores[:, np.newaxis] - scores < 1)
    n_pairs, found = evaluate("hinge", time, scores, counting, worse_weight=event.astype(float))
    assert n_pairs == comparable.sum()
    assert found.offset == active.sum()
    np.testing.assert_array_equal(found.gradient, active.sum(axis=0) - active.sum(axis=1))


def test_a_row_without_roles_is_in_no_pair_and_has_no_level():
    y = np.array([0.0, 1.0, 2.0, 3.0])
    better, worse = np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0])
    pairs = CorePairs(
        Preferences(y, QueryGroups.from_qid(None, 4), better_weight=better, worse_weight=worse)
    )
    assert pairs.n_levels.tolist() == [3]
    assert pairs.n_pairs == 2
    np.testing.assert_array_equal(Hinge(pairs).evaluate(np.zeros(4)).gradient, [2, -1, 0, -1])


@pytest.mark.parametrize("sizes", [[3, 5, 2, 7], [100, 3, 200]])
def test_a_part_has_the_pairs_of_its_queries(sizes):
    n, rng = sum(sizes), np.random.default_rng(2)
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y, scores = rng.integers(0, 4, n).astype(float), rng.normal(size=n)
    groups = QueryGroups.from_qid(qid, n)
    weights = dict(zip(["better_weight", "worse_weight"], rng.uniform(0, 2, (2, n)), strict=True))
    pairs = CorePairs(Preferences(y, groups, **weights))
    whole = SquaredHinge(pairs).evaluate(scores)
    for first, last in ((0, 1), (1, len(sizes))):
        rows = groups.rows(first, last)
        part = pairs.part(first, last)
        np.testing.assert_array_equal(part.preferences.worse_weight, weights["worse_weight"][rows])
        found = SquaredHinge(part).evaluate(scores[rows])
        np.testing.assert_allclose(found.gradient, whole.gradient[rows], rtol=1e-12, atol=1e-13)
        by_labels = CorePairs(part.preferences)
        np.testing.assert_array_equal(by_labels.pairs_per_query, part.pairs_per_query)


@strategies.examples(30)
@given(ranking=strategies.rankings(), seed=st.integers(0, 99))
def test_degrees_and_one_column_at_a_time(ranking, seed):
    M = 2 * reference.laplacian(pairs_of(ranking), ranking.scores)
    V = np.random.default_rng(seed).normal(size=(len(ranking.y), 5))
    for loss in make_losses(SquaredHinge, ranking):
        here = loss.evaluate(ranking.scores)
        np.testing.assert_allclose(here.hessian_diagonal, np.diag(M), rtol=1e-12)
        block = here.hessian_product(V)
        for k in range(5):
            column = here.hessian_product(V[:, k].copy())
            np.testing.assert_allclose(
                block[:, k], column, rtol=1e-12, atol=1e-12 * np.diag(M).max()
            )


@pytest.mark.parametrize(("name", "n_weights"), product(["better_weight", "worse_weight"], [3, 5]))
def test_there_is_a_weight_for_every_row(name, n_weights):
    with pytest.raises(ValueError, match="one row weight per document"):
        make_loss(Hinge, np.arange(4.0), **{name: np.ones(n_weights)})


@every_counting
def test_a_row_without_roles_hides_no_small_differences(counting):
    """Clusters far apart are in order, as far as rows have roles."""
    rng = np.random.default_rng(3)
    y = np.r_[rng.integers(0, 6, 60), 0.0]
    scores = strategies.FAR * (y // 2) + 0.1237 * rng.integers(-24, 24, 61)
    scores[-1] = 1.5 * strategies.FAR
    weights = {"better_weight": 10 ** rng.uniform(-1, 1, 61), "worse_weight": np.ones(61)}
    for weight in weights.values():
        weight[-1] = 0
    value = reference.squared_hinge(reference.enumerate_pairs(y, **weights), scores)
    _, found = evaluate("squared_hinge", y, scores, counting, **weights)
    assert found.value == pytest.approx(value, rel=1e-9)
