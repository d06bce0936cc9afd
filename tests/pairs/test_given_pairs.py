import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import absolute_terms, assert_rows_close
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.given import GivenArrayPairs
from ranksvm.pairs.given import given_preferences
from ranksvm.pairs.given_pairs import GivenPairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge

EPSILON = np.finfo(np.float64).eps
WIDTHS = [0.125, 1.0, 3.0]


def preferences_of(ranking):
    return given_preferences(ranking.pairs, len(ranking.scores), ranking.weights, ranking.margins)


def make_losses(Loss, ranking, **options):
    """The loss by the core, on some threads, and on arrays."""
    preferences = preferences_of(ranking)
    device = ArrayDevice.named("numpy:cpu")
    for pairs in (
        GivenPairs(preferences),
        GivenPairs(preferences, n_threads=3),
        GivenArrayPairs(preferences, device),
    ):
        yield Loss(pairs, preferences.common_margin, **options)


def truth_of(ranking):
    """The explicit pairs, and the margin of each."""
    pairs = reference.given_pairs(ranking.pairs, len(ranking.scores), ranking.weights)
    return pairs, 1.0 if ranking.margins is None else ranking.margins


rankings = given(ranking=strategies.given_rankings())


@rankings
def test_squared_hinge(ranking):
    pairs, margin = truth_of(ranking)
    slack = reference.slack(pairs, ranking.scores, margin)
    value = reference.squared_hinge(pairs, ranking.scores, margin)
    gradient = reference.squared_hinge_gradient(pairs, ranking.scores, margin)
    offset = np.sum(pairs.weight * slack * (2 * margin - slack))
    for loss in make_losses(SquaredHinge, ranking):
        there = loss.evaluate(ranking.scores)
        assert there.value == pytest.approx(value, rel=1e-14, abs=1e-300)
        assert abs(there.value - value) <= there.rounding
        assert there.quadratic == there.value
        terms = absolute_terms(pairs, 2 * pairs.weight * slack)
        assert_rows_close(there.gradient, gradient, terms)
        assert there.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-9)
        off = np.linalg.norm(there.gradient - gradient)
        assert off <= there.gradient_rounding + EPSILON * there.gradient_norm
        assert abs(there.offset - offset) <= 2 * there.rounding + EPSILON * abs(offset)


@rankings
def test_hinge(ranking):
    pairs, margin = truth_of(ranking)
    slack = reference.slack(pairs, ranking.scores, margin)
    value = reference.hinge(pairs, ranking.scores, margin)
    gradient = reference.hinge_gradient(pairs, ranking.scores, margin)
    for loss in make_losses(Hinge, ranking):
        there = loss.evaluate(ranking.scores)
        assert there.value == pytest.approx(value, rel=1e-14, abs=1e-300)
        assert_rows_close(there.gradient, gradient, absolute_terms(pairs, pairs.weight))
        offset = np.sum((pairs.weight * margin)[slack > 0])
        assert there.offset == pytest.approx(offset, rel=1e-13, abs=1e-300)


@given(ranking=strategies.given_rankings(), width=st.sampled_from(WIDTHS))
def test_smoothed_hinge(ranking, width):
    pairs, margin = truth_of(ranking)
    at = (pairs, ranking.scores, width, margin)
    slopes = reference.smoothed_slopes(*at)
    for loss in make_losses(SmoothedHinge, ranking, width=width):
        there = loss.evaluate(ranking.scores)
        assert there.value == pytest.approx(
            reference.hinge(pairs, ranking.scores, margin), rel=1e-13, abs=1e-300
        )
        terms = absolute_terms(pairs, pairs.weight * slopes)
        assert_rows_close(there.gradient, reference.smoothed_hinge_gradient(*at), terms)
        assert there.smoothing == pytest.approx(reference.smoothing(*at), rel=1e-12, abs=1e-12)
        offset = np.sum(pairs.weight * slopes * margin)
        assert there.offset == pytest.approx(offset, rel=1e-12, abs=1e-300)
        v = np.random.default_rng(0).normal(size=(len(ranking.scores), 3))
        z = ranking.scores[pairs.better] - ranking.scores[pairs.worse]
        curves = (margin - z > 0) & (margin - z <= width)
        M = reference.graph_laplacian(pairs, pairs.weight * curves) / width
        assert_rows_close(there.hessian_product(v), M @ v, np.abs(M).sum(axis=1))


@given(ranking=strategies.given_rankings(), n_columns=st.integers(1, 20))
def test_hessian(ranking, n_columns):
    pairs, margin = truth_of(ranking)
    M = 2 * reference.laplacian(pairs, ranking.scores, margin)
    v = np.random.default_rng(n_columns).normal(size=(len(ranking.scores), n_columns))
    terms = np.abs(M).sum(axis=1)
    for loss in make_losses(SquaredHinge, ranking):
        there = loss.evaluate(ranking.scores)
        assert_rows_close(there.hessian_product(v), M @ v, terms)
        assert_rows_close(there.hessian_product(v[:, 0].copy()), M @ v[:, 0], terms)
        assert_rows_close(there.hessian_diagonal, np.diag(M), terms)


@given(ranking=strategies.given_rankings(), seed=st.integers(0, 99))
def test_gradient_is_the_derivative_of_the_value(ranking, seed):
    scores, direction = np.random.default_rng(seed).normal(size=(2, len(ranking.scores)))
    h = 1e-6
    for loss in make_losses(SquaredHinge, ranking):
        ahead, behind = loss.evaluate(scores + h * direction), loss.evaluate(scores - h * direction)
        gradient = loss.evaluate(scores).gradient
        noise = 1e-6 * np.abs(gradient) @ np.abs(direction) + 1e-9 * ahead.value
        assert gradient @ direction == pytest.approx(
            (ahead.value - behind.value) / (2 * h), rel=5e-6, abs=noise
        )


@rankings
def test_a_widened_loss_is_that_of_larger_margins(ranking):
    pairs, margin = truth_of(ranking)
    for loss in make_losses(Hinge, ranking):
        there = loss.widened(0.25).evaluate(ranking.scores)
        value = reference.hinge(pairs, ranking.scores, margin + 0.5)
        assert there.value == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_weights_of_any_scale(scale):
    preferences = given_preferences([[0, 1], [1, 2], [2, 0]], 3, [scale, 2 * scale, 0.5 * scale])
    there = SquaredHinge(GivenPairs(preferences)).evaluate(np.zeros(3))
    assert there.value == pytest.approx(3.5 * scale)
    assert there.gradient_norm == pytest.approx(scale * np.linalg.norm([1, 2, -3]))
    assert 0 < there.gradient_rounding < 1e-13 * there.gradient_norm


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(0)
    n = 5000
    winner = rng.integers(0, n, 200_000) ** 2 // n  # some rows have most pairs
    pairs = np.stack([winner, (winner + rng.integers(1, n, len(winner))) % n], axis=1)
    given = given_preferences(
        pairs, n, rng.uniform(0, 2, len(pairs)), rng.uniform(0.1, 2, len(pairs))
    )
    scores, v = rng.normal(size=n), rng.normal(size=(n, 9))
    one, three = (
        SquaredHinge(GivenPairs(given, n_threads), 0.0).evaluate(scores) for n_threads in (1, 3)
    )
    assert one.value == three.value
    assert one.rounding == three.rounding
    np.testing.assert_array_equal(one.gradient, three.gradient)
    np.testing.assert_array_equal(one.hessian_product(v), three.hessian_product(v))


@pytest.mark.parametrize("weights", [None, [3.0, 0.5, 1.0, 0.0]])
def test_same_pairs_are_added_up_unless_margins_differ(weights):
    pairs = [[2, 1], [0, 1], [2, 1], [1, 2]]
    distinct = GivenPairs(given_preferences(pairs, 4, weights)).distinct
    given = list(zip(distinct.winner, distinct.loser, distinct.weight, strict=True))
    if weights is None:
        assert given == [(0, 1, 1), (1, 2, 1), (2, 1, 2)]
    else:
        assert given == [(0, 1, 0.5), (2, 1, 4)]
    apart = GivenPairs(given_preferences(pairs, 4, weights, [1.0, 1.0, 2.0, 1.0])).distinct
    assert list(apart.margin) == ([1, 1, 1, 2] if weights is None else [1, 1, 2])


def test_number_of_pairs_counts_each_as_often_as_it_is_given():
    pairs = GivenPairs(given_preferences([[0, 1], [0, 1], [1, 2]], 3, qid=[7, 7, 7]))
    assert pairs.n_pairs == 3
    assert isinstance(pairs.n_pairs, int)
    weighted = GivenPairs(
        given_preferences([[0, 1], [2, 3], [2, 3]], 4, [1, 2, 4], None, [5, 5, 6, 6])
    )
    assert weighted.n_pairs == 7.0
    assert list(weighted.pairs_per_query) == [1, 6]


def test_components():
    given = given_preferences([[0, 3], [5, 3], [1, 4]], 7)
    assert len(set(given.components().tolist())) == 4
    assert len(set(given.components()[[0, 3, 5]].tolist())) == 1
    assert given.components()[1] == given.components()[4]


def test_those_of_some_rows():
    given = given_preferences([[0, 3], [3, 1], [4, 0]], 5, [1, 2, 3], [0.5, 1, 2], list("aaaaa"))
    some = given.of_rows(np.array([4, 0, 3]))
    assert list(some.winner) == [1, 0]
    assert list(some.loser) == [2, 1]
    assert list(some.weight) == [1, 3]
    assert list(some.margin) == [0.5, 2]
    assert some.groups.n_samples == 3


BAD = {
    "pairs is empty": ([],),
    "shape (n_pairs, 2)": ([0, 1],),
    r"not (2, 3)": ([[0, 1, 2], [1, 2, 3]],),
    "pair 1 is (2, 4), but X has the rows 0 to 3": ([[0, 1], [2, 4]],),
    "pair 1 is (-1, 2)": ([[0, 1], [-1, 2]],),
    "pair 0 is (0.5, 2)": ([[0.5, 2]],),
    "pair 0 is (nan, 2)": ([[np.nan, 2]],),
    "pair 1 is (2, 2), but a row cannot be preferred to itself": ([[0, 1], [2, 2]],),
    "pair_weights must be finite and not negative; pair 1 has -1": ([[0, 1], [1, 2]], [1, -1]),
    "pair_weights must be finite and not negative; pair 0 has nan": ([[0, 1]], [np.nan]),
    "all pair_weights are zero": ([[0, 1]], [0]),
    "pair_weights has shape (3,) but there are 1 pairs": ([[0, 1]], [1, 2, 3]),
    "margins must be finite and greater than 0; pair 1 has inf": (
        [[0, 1], [1, 0]],
        None,
        [1, np.inf],
    ),
    "margins must be finite and greater than 0; pair 0 has 0": ([[0, 1]], None, 0),
    "pair 1 is of the rows 1 and 2, which belong to different queries": (
        [[0, 1], [1, 2]],
        None,
        None,
        [1, 1, 2, 2],
    ),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_is_wrong_is_said_in_a_sentence(sentence):
    pairs, *more = BAD[sentence]
    with pytest.raises(ValueError) as error:
        given_preferences(pairs, 4, *more)
    assert sentence in str(error.value)


def test_pairs_are_called_as_wanted():
    with pytest.raises(ValueError, match=r"^line 12 is \(1, 1\)"):
        given_preferences([[0, 1], [1, 1]], 4, name_of=lambda pair: f"line {pair + 11}")


def test_scores_have_to_be_finite():
    preferences = given_preferences([[0, 1]], 2)
    for pairs in (
        GivenPairs(preferences),
        GivenArrayPairs(preferences, ArrayDevice.named("numpy:cpu")),
    ):
        with pytest.raises(ValueError, match="scores must be finite"):
            pairs.sweep(np.array([0.0, np.nan]), "hinge", 1.0)
