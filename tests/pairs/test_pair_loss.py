import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import WAYS, absolute_terms, assert_rows_close, make_loss, make_losses, pairs_of
from ranksvm.names import COUNTINGS
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

MARGINS = [1.0, 0.5, 2.0]

every_counting = pytest.mark.parametrize("counting", WAYS)
every_loss = pytest.mark.parametrize("Loss", [SquaredHinge, Hinge])


@given(ranking=strategies.rankings(), margin=st.sampled_from(MARGINS))
def test_squared_hinge_value_and_gradient(ranking, margin):
    pairs = pairs_of(ranking)
    value = reference.squared_hinge(pairs, ranking.scores, margin)
    gradient = reference.squared_hinge_gradient(pairs, ranking.scores, margin)
    terms = 2 * pairs.weight * reference.slack(pairs, ranking.scores, margin)
    for loss in make_losses(SquaredHinge, ranking, margin=margin):
        evaluation = loss.evaluate(ranking.scores)
        assert evaluation.value == pytest.approx(value, rel=1e-8, abs=1e-300)
        assert_rows_close(evaluation.gradient, gradient, absolute_terms(pairs, terms))


@given(ranking=strategies.rankings(), margin=st.sampled_from(MARGINS))
def test_hinge_value_and_gradient(ranking, margin):
    pairs = pairs_of(ranking)
    value = reference.hinge(pairs, ranking.scores, margin)
    gradient = reference.hinge_gradient(pairs, ranking.scores, margin)
    for loss in make_losses(Hinge, ranking, margin=margin):
        evaluation = loss.evaluate(ranking.scores)
        assert evaluation.value == pytest.approx(value, rel=1e-8, abs=1e-300)
        assert_rows_close(evaluation.gradient, gradient, absolute_terms(pairs, pairs.weight))


@given(ranking=strategies.rankings(), margin=st.sampled_from(MARGINS), width=st.integers(1, 20))
def test_hessian_product(ranking, margin, width):
    V = np.random.default_rng(width).normal(size=(len(ranking.y), width))
    M = 2 * reference.laplacian(pairs_of(ranking), ranking.scores, margin)
    terms = np.abs(M).sum(axis=1)
    for loss in make_losses(SquaredHinge, ranking, margin=margin):
        evaluation = loss.evaluate(ranking.scores)
        product = evaluation.hessian_product(V)
        assert product.shape == V.shape
        assert_rows_close(product, M @ V, terms)
        vector = evaluation.hessian_product(V[:, 0].copy())
        assert vector.shape == V[:, 0].shape
        assert_rows_close(vector, M @ V[:, 0], terms)


@given(ranking=strategies.rankings())
def test_laplacian_is_symmetric_and_positive_semidefinite(ranking):
    n = len(ranking.y)
    for loss in make_losses(SquaredHinge, ranking):
        M = loss.evaluate(ranking.scores).hessian_product(np.eye(n))
        rounding = 1e-12 * np.abs(M).max()
        np.testing.assert_allclose(M, M.T, rtol=1e-10, atol=rounding)
        np.testing.assert_allclose(M @ np.ones(n), 0, atol=n * rounding)
        assert np.linalg.eigvalsh((M + M.T) / 2).min() >= -n * rounding


@every_loss
@given(ranking=strategies.rankings(weighted=False), shift=st.integers(-(10**6), 10**6))
def test_shifting_a_query_changes_nothing(ranking, shift, Loss):
    query = reference.query_index(ranking.qid, len(ranking.y))
    shifted = ranking.scores + shift * np.array([1.0, -0.5, 0.25, 0, 2] * 5)[query]
    for loss in make_losses(Loss, ranking):
        here, there = loss.evaluate(ranking.scores), loss.evaluate(shifted)
        assert there.value == pytest.approx(here.value, rel=1e-9, abs=1e-300)
        scale = np.abs(here.gradient).max()
        np.testing.assert_allclose(there.gradient, here.gradient, rtol=1e-9, atol=1e-9 * scale)


@every_loss
@given(ranking=strategies.rankings())
def test_gradient_of_a_query_sums_to_zero(ranking, Loss):
    query = reference.query_index(ranking.qid, len(ranking.y))
    for loss in make_losses(Loss, ranking):
        gradient = loss.evaluate(ranking.scores).gradient
        total, gross = np.bincount(query, gradient), np.bincount(query, np.abs(gradient))
        assert np.all(np.abs(total) <= 1e-11 * gross)


@given(ranking=strategies.rankings(), seed=st.integers(0, 99))
def test_gradient_is_the_derivative_of_the_value(ranking, seed):
    scores, direction = np.random.default_rng(seed).normal(size=(2, len(ranking.y)))
    h = 1e-6
    for loss in make_losses(SquaredHinge, ranking):
        ahead, behind = loss.evaluate(scores + h * direction), loss.evaluate(scores - h * direction)
        gradient = loss.evaluate(scores).gradient
        noise = 1e-6 * np.abs(gradient) @ np.abs(direction) + 1e-9 * ahead.value
        assert gradient @ direction == pytest.approx(
            (ahead.value - behind.value) / (2 * h), rel=5e-6, abs=noise
        )


@given(ranking=strategies.rankings(weighted=False))
def test_number_of_pairs(ranking):
    n_pairs = next(make_losses(SquaredHinge, ranking)).pairs.n_pairs
    assert n_pairs == len(pairs_of(ranking).weight)
    assert not isinstance(n_pairs, float)


@given(ranking=strategies.rankings())
def test_number_of_pairs_is_weighted(ranking):
    n_pairs = next(make_losses(SquaredHinge, ranking)).pairs.n_pairs
    assert n_pairs == pytest.approx(pairs_of(ranking).weight.sum(), rel=1e-10)


def test_number_of_pairs_needs_64_bits():
    assert make_loss(SquaredHinge, np.arange(200_000)).pairs.n_pairs == 200_000 * 199_999 // 2


@every_loss
@given(ranking=strategies.rankings(max_samples=10, weighted=False), data=st.data())
def test_integer_weights_are_repeated_rows(ranking, data, Loss):
    ranking = replace(ranking, pair_weight=data.draw(strategies.pair_weights(ranking.y)))
    n = len(ranking.y)
    repeats = data.draw(strategies.integers(n, 0, 3).filter(np.any))
    rows = np.repeat(np.arange(n), repeats)
    qid = reference.query_index(ranking.qid, n)
    repeated = replace(ranking, y=ranking.y[rows], scores=ranking.scores[rows], qid=qid[rows])
    weighted = replace(ranking, sample_weight=repeats.astype(float))
    for one, other in zip(make_losses(Loss, weighted), make_losses(Loss, repeated), strict=True):
        assert one.pairs.n_pairs == pytest.approx(other.pairs.n_pairs, rel=1e-12)
        here, there = one.evaluate(weighted.scores), other.evaluate(repeated.scores)
        assert here.value == pytest.approx(there.value, rel=1e-10, abs=1e-300)
        summed = np.bincount(rows, there.gradient, n)
        assert_rows_close(here.gradient, summed, np.abs(summed))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@given(y=strategies.labels(20), seed=st.integers(0, 999))
def test_scores_in_general_position(y, seed, offset):
    scores = offset + np.random.default_rng(seed).normal(size=20)
    pairs = reference.enumerate_pairs(y)
    value = reference.squared_hinge(pairs, scores)
    gradient = reference.squared_hinge_gradient(pairs, scores)
    for counting in WAYS:
        evaluation = make_loss(SquaredHinge, y, **WAYS[counting]).evaluate(scores)
        assert evaluation.value == pytest.approx(value, rel=1e-10, abs=1e-300)
        np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-10, atol=1e-10)


@every_counting
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", [1 / 8, 0.1237])
def test_small_value_of_clusters_far_apart(unit, weighted, counting):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 60)
    scores = strategies.FAR * (y // 2) + rng.integers(-24, 24, 60) * unit
    weight = 10 ** rng.uniform(-1, 1, 60) if weighted else None
    pairs = reference.enumerate_pairs(y, sample_weight=weight)
    evaluation = make_loss(SquaredHinge, y, sample_weight=weight, **WAYS[counting]).evaluate(scores)
    assert evaluation.value == pytest.approx(reference.squared_hinge(pairs, scores), rel=1e-8)
    gradient = reference.squared_hinge_gradient(pairs, scores)
    np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-8)


# --- large inputs, where work is split and other sorts are used ---------------------------------


def eighths(seed, n, n_levels):
    """Labels and scores k / 8, ties and negative zeros included; n_levels = n: all distinct."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) if n_levels == n else rng.integers(0, n_levels, n)
    return y, -(rng.integers(-400, 400, n) - 200 * y // max(n_levels - 1, 1)) / 8


def exact_sums(y, scores, z):
    """Value, gradient and Laplacian product in integers, level by level: O(levels n log n)."""
    k = (8 * scores).astype(np.int64)
    value, gradient, product = 0, np.zeros_like(k), np.zeros_like(k)
    for level in np.unique(y):
        side = np.flatnonzero(y == level)
        for others, sign in ((np.flatnonzero(y > level), 1), (np.flatnonzero(y < level), -1)):
            # The active partners of a row are a prefix of the sorted others.
            order = others[np.argsort(sign * k[others])]
            sums = [np.r_[0, np.cumsum(term[order])] for term in (k**0, k, k * k, z)]
            end = np.searchsorted(sign * k[order], sign * k[side] + 8)
            count, first, second, partners = (total[end] for total in sums)
            reach = sign * k[side] + 8
            gradient[side] += 2 * sign * (reach * count - sign * first)
            product[side] += z[side] * count - partners
            value += int(np.sum(reach**2 * count - 2 * reach * sign * first + second))
    return value / 64 / 2, gradient / 8, product


@pytest.mark.parametrize("counting", [name for name in WAYS if name != "pairs"])
@pytest.mark.parametrize(("n", "n_levels"), [(2_200, 2_200), (20_000, 40), (150_000, 3)])
def test_large_query(n, n_levels, counting):
    y, scores = eighths(n, n, n_levels)
    z = np.random.default_rng(1).integers(-9, 9, n)
    value, gradient, product = exact_sums(y, scores, z)
    evaluation = make_loss(SquaredHinge, y, **WAYS[counting], n_threads=2).evaluate(scores)
    assert evaluation.value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(
        evaluation.gradient, gradient, rtol=1e-9, atol=1e-12 * np.abs(gradient).max()
    )
    np.testing.assert_allclose(
        evaluation.hessian_product(z.astype(float)), 2 * product, rtol=1e-9, atol=1e-6
    )


@pytest.mark.parametrize("counting", [name for name in WAYS if name != "pairs"])
@pytest.mark.parametrize("n", [40, 1_000, 9_000])
def test_pairs_that_all_but_reach_the_margin_lose_nothing_to_rounding(n, counting):
    rng, unit = np.random.default_rng(n), 2.0**-34
    y, k = rng.integers(0, 2, n), rng.integers(-20, 21, n)
    lacking = np.maximum(k[y == 1][:, np.newaxis] + k[y == 0], 0)
    gradient = np.zeros(n)
    gradient[y == 1], gradient[y == 0] = -lacking.sum(axis=1), lacking.sum(axis=0)
    value = int((lacking**2).sum()) * unit**2
    here = make_loss(SquaredHinge, y, **WAYS[counting]).evaluate(
        np.where(y == 1, 1 - unit * k, unit * k)
    )
    assert abs(here.value - value) <= here.rounding
    assert abs(here.offset - (2 * int(lacking.sum()) * unit - value)) <= 2 * here.rounding
    off = np.linalg.norm(here.gradient - 2 * unit * gradient)
    assert off <= here.gradient_rounding
    if counting != "arrays":
        assert here.rounding <= 1e-4 * value
        assert here.gradient_rounding <= 1e-6 * here.gradient_norm


def large_rankings(name):
    rng = np.random.default_rng(5)
    if name == "queries":
        n = 60_000
        return rng.integers(0, 5, n), QueryGroups.from_qid(rng.integers(0, 3_000, n), n)
    return rng.permutation(50_000) if name == "distinct" else rng.integers(0, 5, 50_000), None


def evaluate_with(n_threads, y, groups, counting, weights):
    rng = np.random.default_rng(6)
    scores, V = rng.normal(size=len(y)), rng.normal(size=(len(y), 9))
    options = {**WAYS[counting], "n_threads": n_threads}
    if weights != "none":
        options["sample_weight"] = rng.uniform(0.1, 10, len(y))
    if weights == "gaps":
        options["pair_weight"] = "gap"
        y = y / 10
    if weights == "roles":
        options["better_weight"] = rng.uniform(0.1, 10, len(y))
        options["worse_weight"] = rng.integers(0, 2, len(y)).astype(float)
    loss = make_loss(SquaredHinge, y, groups, **options)
    evaluation = loss.evaluate(scores)
    return [
        evaluation.value,
        evaluation.gradient,
        evaluation.hessian_product(V[:, 0].copy()),
        evaluation.hessian_product(V),
    ]


@pytest.mark.parametrize("weights", ["none", "rows", "gaps", "roles"])
@pytest.mark.parametrize(
    ("name", "counting"),
    [
        ("distinct", "merge"),
        ("distinct", "tree"),
        ("distinct", "auto"),
        ("few", "levels"),
        ("few", "joachims"),
        *itertools.product(["queries"], COUNTINGS),
    ],
)
def test_any_number_of_threads_gives_the_same_bits(name, counting, weights):
    y, groups = large_rankings(name)
    one = evaluate_with(1, y, groups, counting, weights)
    for n_threads in (2, 3):
        other = evaluate_with(n_threads, y, groups, counting, weights)
        assert all(map(np.array_equal, one, other))


@every_counting
@pytest.mark.parametrize("weights", ["rows", "gaps", "roles"])
def test_countings_agree_on_many_queries(weights, counting):
    y, groups = large_rankings("queries")
    expected = evaluate_with(2, y, groups, "pairs", weights)
    actual = evaluate_with(2, y, groups, counting, weights)
    for value, truth in zip(actual, expected, strict=True):
        np.testing.assert_allclose(value, truth, rtol=1e-9, atol=1e-9 * np.abs(truth).max())


# --- manners --------------------------------------------------------------------------------------


@every_counting
def test_inputs_are_left_alone(counting):
    y, scores = eighths(3, 500, 500)
    qid = np.random.default_rng(0).integers(0, 7, 500)
    weight, query_weight, V = np.full(500, 2.0), np.full(7, 3.0), np.ones((500, 3))
    inputs = [y, scores, qid, weight, query_weight, V]
    copies = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    loss = make_loss(
        SquaredHinge,
        y,
        QueryGroups.from_qid(qid, 500),
        sample_weight=weight,
        query_weight=query_weight,
        **WAYS[counting],
    )
    loss.evaluate(scores).hessian_product(V)
    assert all(map(np.array_equal, inputs, copies))


@every_counting
def test_an_evaluation_outlives_the_next(counting):
    y, scores = eighths(3, 200, 5)
    loss = make_loss(SquaredHinge, y, **WAYS[counting])
    first, z = loss.evaluate(scores), np.arange(200.0)
    gradient, product = first.gradient.copy(), first.hessian_product(z).copy()
    loss.evaluate(-scores).hessian_product(z)
    np.testing.assert_array_equal(first.gradient, gradient)
    np.testing.assert_array_equal(first.hessian_product(z), product)


@every_loss
def test_unknown_counting_is_refused(Loss):
    with pytest.raises(ValueError, match="guess"):
        make_loss(Loss, np.arange(4), counting="guess")


@every_loss
@given(ranking=strategies.rankings(), reach=st.floats(1e-9, 1e3), seed=st.integers(0, 99))
def test_no_scores_within_a_reach_lose_more_than_is_foreseen(Loss, ranking, reach, seed):
    moves = np.random.default_rng(seed).choice([-1, -0.5, 1], len(ranking.y))
    for loss in make_losses(Loss, ranking):
        value = loss.evaluate(ranking.scores).value
        there = loss.evaluate(ranking.scores + reach * moves)
        most = loss.most_within(value, reach)
        assert there.value <= most * (1 + 1e-8) + there.rounding + 1e-300
        all_active = loss.evaluate(0 * ranking.scores).value
        assert loss.most_within(all_active, 0.0) == pytest.approx(all_active)
