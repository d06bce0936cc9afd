"""The hinge with its kink rounded off: its slopes, its band of pairs, and what certifies it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import (
    WAYS,
    absolute_terms,
    assert_rows_close,
    is_member,
    linear_objective,
    make_loss,
    make_losses,
    pairs_of,
)
from ranksvm.names import COUNTINGS
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

MARGINS = [1.0, 0.5, 2.0]
WIDTHS = [1.0, 0.5, 0.25]
NARROW = [2.0**-10, 2.0**-20]

every_counting = pytest.mark.parametrize("counting", WAYS)
few_examples = strategies.examples(40)


def assert_like_the_reference(ranking, width, margin):
    pairs = pairs_of(ranking)
    case = pairs, ranking.scores, width, margin
    slopes = reference.smoothed_slopes(*case)
    gradient = reference.smoothed_hinge_gradient(*case)
    smoothing = reference.smoothing(*case)
    value = reference.hinge(pairs, ranking.scores, margin)
    for loss in make_losses(SmoothedHinge, ranking, margin=margin, width=width):
        evaluation = loss.evaluate(ranking.scores)
        assert evaluation.value == pytest.approx(value, rel=1e-8, abs=1e-300)
        # What is said may not be wrong by more than is said.
        known = evaluation.rounding + evaluation.slack
        terms = absolute_terms(pairs, pairs.weight)
        atol = known + 1e-12 * np.max(terms, initial=0)
        np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-8, atol=atol)
        offset = margin * (pairs.weight @ slopes)
        assert evaluation.offset == pytest.approx(offset, rel=1e-8, abs=known)
        assert abs(evaluation.smoothing - smoothing) <= known + 1e-9 * smoothing


@given(case=strategies.banded_rankings(WIDTHS), margin=st.sampled_from(MARGINS))
def test_value_gradient_and_smoothing(case, margin):
    assert_like_the_reference(*case, margin)


@given(case=strategies.banded_rankings(NARROW, weighted=False), margin=st.sampled_from(MARGINS))
def test_narrow_band(case, margin):
    assert_like_the_reference(*case, margin)


@given(case=strategies.banded_rankings(NARROW), margin=st.sampled_from(MARGINS))
def test_narrow_band_of_weighted_pairs(case, margin):
    assert_like_the_reference(*case, margin)


@every_counting
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("where", ["near", "shifted", "clusters"])
@pytest.mark.parametrize("width", [0.3, 1e-3, 1e-6])
def test_band_in_general_position(width, where, weighted, counting):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 60)
    # Many pairs lie in the band, or close to it.
    scores = rng.integers(-3, 3, 60) - width * rng.uniform(-1, 1, 60)
    scores += strategies.FAR * {"near": 0, "shifted": 1, "clusters": y // 2}[where]
    weight = 10 ** rng.uniform(-1, 1, 60) if weighted else None
    pairs = reference.enumerate_pairs(y, sample_weight=weight)
    assert reference.smoothing(pairs, scores, width) > 0
    loss = make_loss(SmoothedHinge, y, sample_weight=weight, **WAYS[counting], width=width)
    evaluation = loss.evaluate(scores)
    smoothing = reference.smoothing(pairs, scores, width)
    assert (
        abs(evaluation.smoothing - smoothing)
        <= evaluation.rounding + evaluation.slack + 1e-9 * smoothing
    )
    gradient = reference.smoothed_hinge_gradient(pairs, scores, width)
    atol = 1e-15 / width * absolute_terms(pairs, pairs.weight).max()
    np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-9, atol=10 * atol)


@few_examples
@given(ranking=strategies.rankings(), width=st.sampled_from(WIDTHS), seed=st.integers(0, 99))
def test_gradient_is_the_derivative_of_the_smoothed_value(ranking, width, seed):
    scores, direction = np.random.default_rng(seed).normal(size=(2, len(ranking.y)))
    pairs, h = pairs_of(ranking), 1e-6
    ahead, behind = (
        reference.smoothed_hinge(pairs, scores + t * direction, width) for t in (h, -h)
    )
    curved = pairs.weight @ (direction[pairs.better] - direction[pairs.worse]) ** 2
    # A pair at the edge of the band changes its curvature on the way.
    noise = h * curved / width + 1e-9 * (ahead + 1e-300)
    for loss in make_losses(SmoothedHinge, ranking, width=width):
        slope = loss.evaluate(scores).gradient @ direction
        assert slope == pytest.approx((ahead - behind) / (2 * h), rel=1e-6, abs=noise)


@few_examples
@given(case=strategies.banded_rankings([*WIDTHS, *NARROW]), seed=st.integers(0, 99))
def test_gradient_is_an_epsilon_subgradient_of_the_hinge(case, seed):
    ranking, width = case
    pairs = pairs_of(ranking)
    rng = np.random.default_rng(seed)
    moves = [
        10.0**exponent * rng.normal(size=len(ranking.y)) * rng.integers(0, 2, len(ranking.y))
        for exponent in (-6, -2, -1, 0, 0, 1)
    ]
    for loss in make_losses(SmoothedHinge, ranking, width=width):
        here = loss.evaluate(ranking.scores)
        for move in moves:
            scores = ranking.scores + move
            there, move = reference.hinge(pairs, scores), scores - ranking.scores
            tangent = here.value + here.gradient @ move - here.smoothing
            steepness = absolute_terms(pairs, pairs.weight) @ np.abs(move)
            rounding = 10 * here.rounding + 1e-12 * steepness + 1e-8 * width * pairs.weight.sum()
            assert there >= tangent - rounding


@few_examples
@given(
    case=strategies.banded_rankings([*WIDTHS, *NARROW]),
    margin=st.sampled_from(MARGINS),
    columns=st.integers(1, 9),
)
def test_hessian_product_and_diagonal(case, margin, columns):
    ranking, width = case
    V = np.random.default_rng(columns).normal(size=(len(ranking.y), columns))
    pairs = pairs_of(ranking)
    H = reference.smoothed_laplacian(pairs, ranking.scores, width, margin) / width
    terms = absolute_terms(pairs, pairs.weight) * 10 / width
    for loss in make_losses(SmoothedHinge, ranking, margin=margin, width=width):
        evaluation = loss.evaluate(ranking.scores)
        assert_rows_close(evaluation.hessian_product(V), H @ V, terms)
        assert_rows_close(evaluation.hessian_product(V[:, 0].copy()), H @ V[:, 0], terms)
        assert_rows_close(evaluation.hessian_diagonal, np.diag(H), terms)


@few_examples
@given(case=strategies.banded_rankings([*WIDTHS, *NARROW]), single=st.booleans())
def test_half_laplacian_and_its_transpose_are_the_laplacian(case, single):
    ranking, width = case
    n = len(ranking.y)
    pairs = pairs_of(ranking)
    dtype = np.float32 if single else np.float64
    M = reference.smoothed_laplacian(pairs, ranking.scores, width)
    atol = (1e-6 if single else 1e-13) * absolute_terms(pairs, pairs.weight).max()
    for loss in make_losses(SmoothedHinge, ranking, width=width):
        if not isinstance(loss.pairs, CorePairs):
            continue  # M itself does as well there
        evaluation = loss.evaluate(ranking.scores)
        sweep, indptr = evaluation.sweep, evaluation.groups.indptr
        order = sweep.rows()
        N = np.zeros((n, n))
        for query, (begin, end) in enumerate(pairwise(indptr)):
            members = is_member(ranking)[order[begin:end]]
            assert np.all(members[:-1] >= members[1:])
            if loss.pairs.counting != "auto":  # which does not sort short queries
                assert np.all(np.diff(ranking.scores[order[begin:end]][members]) >= 0)
            rows = np.eye(n, dtype=dtype)[begin:end]
            out = np.full_like(rows, -7)
            sweep.half_laplacian(query, query + 1, rows, 0, n, out)
            N[begin:end] = out
            part = np.full_like(rows, -7)
            sweep.half_laplacian(query, query + 1, rows, 0, 1, part)
            np.testing.assert_array_equal(part[:, :1], out[:, :1])
            assert np.all(part[:, 1:] == -7)
        assert sorted(order) == list(range(n))
        np.testing.assert_allclose(
            sweep.half_laplacian_unit * (N + N.T).astype(float),
            M[np.ix_(order, order)],
            rtol=1e-5,
            atol=atol,
        )


@few_examples
@given(case=strategies.banded_rankings([1.0, 2.0**-10]))
def test_wide_or_narrow_the_value_is_that_of_the_hinge(case):
    ranking, width = case
    for loss in make_losses(Hinge, ranking):
        smoothed = loss.smoothed(width)
        assert smoothed.width == width
        expected = loss.evaluate(ranking.scores)
        for other in (smoothed, smoothed.narrowed(1 / 8)):
            value = other.evaluate(ranking.scores).value
            assert value == pytest.approx(expected.value, rel=1e-8, abs=expected.rounding)


def test_smoothing_vanishes_with_the_width():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 4, 50), rng.normal(size=50)
    hinge, smoothed = make_loss(Hinge, y), make_loss(SmoothedHinge, y)
    smoothings = [smoothed.narrowed(10.0**-k).evaluate(scores).smoothing for k in range(4)]
    assert np.all(np.diff(smoothings) < 0)
    # No pair lies this close to its margin, so that the two losses have the same slopes.
    narrow = smoothed.narrowed(1e-9).evaluate(scores)
    assert narrow.smoothing <= narrow.rounding
    np.testing.assert_allclose(narrow.gradient, hinge.evaluate(scores).gradient, atol=1e-5)


@given(
    case=strategies.banded_rankings(WIDTHS),
    margin=st.sampled_from(MARGINS),
    ratio=st.sampled_from([0.5, 0.1]),
)
def test_foreseen_slopes_go_on_as_straight_lines(case, margin, ratio):
    ranking, width = case
    pairs = pairs_of(ranking)
    z = ranking.scores[pairs.better] - ranking.scores[pairs.worse]
    smoothed = (margin - width <= z) & (z < margin)
    slopes = np.where(smoothed, (margin - z) / (ratio * width), z < margin)
    expected = np.zeros(len(ranking.scores))
    np.add.at(expected, pairs.better, -pairs.weight * slopes)
    np.add.at(expected, pairs.worse, pairs.weight * slopes)
    for loss in make_losses(SmoothedHinge, ranking, margin=margin, width=width):
        there = loss.evaluate(ranking.scores)
        foreseen = loss.foreseen(there, ranking.scores, ratio)
        known = (there.rounding + there.slack) / ratio
        atol = known + 1e-11 * np.max(absolute_terms(pairs, pairs.weight), initial=0)
        np.testing.assert_allclose(foreseen.gradient, expected, rtol=1e-8, atol=atol)
        v = np.cos(np.arange(len(expected)))
        product = there.hessian_product(v) / ratio
        np.testing.assert_allclose(foreseen.hessian_product(v), product, rtol=1e-14)


# --- with features --------------------------------------------------------------------------------


def smoothed_objective(problem, c, width):
    ranking, X, _ = problem
    pairs = reference.enumerate_pairs(ranking.y, ranking.qid, ranking.sample_weight)
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    loss = make_loss(
        SmoothedHinge, ranking.y, groups, sample_weight=ranking.sample_weight, width=width
    )
    return linear_objective(X, loss, c), reference.normalize_pairs(pairs, c, None)


@few_examples
@given(
    problem=strategies.linear_problems(),
    width=st.sampled_from(WIDTHS),
    exponent=st.integers(-3, 3),
)
def test_gradient_hessian_and_gap_in_weight_space(problem, width, exponent):
    objective, pairs = smoothed_objective(problem, 10.0**exponent, width)
    _, X, w = problem
    scores, Z, here = X @ w, reference.differences(pairs, X), objective.evaluate(w)
    alpha = pairs.weight * reference.smoothed_slopes(pairs, scores, width)
    scale = 1 + pairs.weight.sum() / width * max(1, np.abs(X).max()) ** 2
    value = reference.hinge_objective(pairs, X, w)
    assert here.value == pytest.approx(value, rel=1e-10, abs=here.rounding)
    np.testing.assert_allclose(here.gradient, w - alpha @ Z, rtol=1e-9, atol=1e-13 * scale)
    M = reference.smoothed_laplacian(pairs, scores, width) / width
    H = np.eye(len(w)) + X.T @ M @ X
    np.testing.assert_allclose(here.hessian_product(w), H @ w, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(here.hessian(), H, rtol=1e-5, atol=1e-6 * np.trace(H))
    # The slopes are dual feasible for the hinge itself, and so is what is less steep.
    steep = np.sum((alpha @ Z) ** 2)
    t = min(1.0, alpha.sum() / steep) if steep > 0 else 1.0
    dual = t * alpha.sum() - 0.5 * t**2 * steep
    noise = 1e-10 * (value + np.sum(w * w) + np.sum((alpha @ Z) ** 2)) + 10 * here.rounding
    assert here.lower_bound == pytest.approx(dual, rel=1e-9, abs=noise)


# --- large inputs ---------------------------------------------------------------------------------

LONG = 9_000


@pytest.fixture(scope="module")
def long_query():
    """A query long enough to be cut into pieces, and the truth from all its pairs."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 5, LONG)
    scores = np.round(8 * (rng.normal(size=LONG) + 0.3 * y)) / 8
    v = rng.normal(size=LONG)
    gradient, product, value, smoothing = np.zeros(LONG), np.zeros(LONG), 0.0, 0.0
    for rows in np.array_split(np.argsort(-y), 100):
        better = y[rows][:, np.newaxis] > y
        violation = np.maximum(0.0, 1 - (scores[rows][:, np.newaxis] - scores)) * better
        alpha = np.minimum(violation / 0.5, 1)
        inside = (violation > 0) & (violation <= 0.5)
        value += violation.sum()
        smoothing += np.sum(violation * (1 - alpha))
        gradient[rows] -= alpha.sum(axis=1)
        gradient += alpha.sum(axis=0)
        product[rows] += inside.sum(axis=1) * v[rows] - inside @ v
        product += inside.sum(axis=0) * v - v[rows] @ inside
    return y, scores, v, value, smoothing, gradient, 2 * product


@every_counting
def test_long_query(long_query, counting):
    y, scores, v, value, smoothing, gradient, product = long_query
    evaluation = make_loss(SmoothedHinge, y, **WAYS[counting], width=0.5, n_threads=2).evaluate(
        scores
    )
    assert evaluation.value == pytest.approx(value, rel=1e-12)
    assert evaluation.smoothing == pytest.approx(smoothing, rel=1e-12)
    np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(evaluation.hessian_product(v), product, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("pair_weight", [None, "gap"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [1.0, 1e-4])
@pytest.mark.parametrize("counting", [name for name in COUNTINGS if name != "pairs"])
def test_any_number_of_threads_gives_the_same_bits(counting, width, weighted, pair_weight):
    rng = np.random.default_rng(3)
    lengths = [20_000, 50, 8_191, 8_192, *[7] * 500]
    n = sum(lengths)
    groups = QueryGroups.from_qid(np.repeat(np.arange(len(lengths)), lengths), n)
    y, scores, V = rng.integers(0, 9, n), rng.normal(size=n), rng.normal(size=(n, 5))
    weight = rng.uniform(0.1, 10, n) if weighted else None

    def everything(n_threads):
        options = {"counting": counting, "width": width, "n_threads": n_threads}
        loss = make_loss(
            SmoothedHinge, y, groups, sample_weight=weight, pair_weight=pair_weight, **options
        )
        here = loss.evaluate(scores)
        numbers = [here.value, here.offset, here.smoothing, here.rounding]
        return [
            *numbers,
            here.gradient,
            here.hessian_diagonal,
            here.hessian_product(V),
            here.sweep.rows(),
        ]

    one = everything(1)
    for n_threads in (2, 3):
        assert all(map(np.array_equal, one, everything(n_threads)))


@pytest.mark.parametrize("lengths", [[9_000, 20, 300], [12] * 60])
def test_explicit_hessian_holds_the_products_with_unit_vectors(lengths):
    rng = np.random.default_rng(4)
    n, d = sum(lengths), 12
    X, y = rng.normal(size=(n, d)), rng.integers(0, 5, n)
    groups = QueryGroups.from_qid(rng.permutation(np.repeat(np.arange(len(lengths)), lengths)), n)
    loss = make_loss(SmoothedHinge, y, groups, width=0.125, n_threads=2)
    here = linear_objective(X, loss, 0.01, n_threads=2).evaluate(rng.normal(size=d) / 3)
    H = np.array([here.hessian_product(e) for e in np.eye(d)])
    np.testing.assert_allclose(here.hessian(), H, rtol=1e-9, atol=1e-9 * np.trace(H))
    single, scale = here.scaled_hessian(np.float32)
    np.testing.assert_allclose(
        single / np.outer(scale, scale), H, rtol=1e-4, atol=1e-6 * np.trace(H)
    )


# --- manners --------------------------------------------------------------------------------------


def test_a_hinge_has_no_second_derivatives():
    here = linear_objective(np.eye(3), make_loss(Hinge, np.arange(3)), 1.0).evaluate(np.ones(3))
    with pytest.raises(TypeError, match="smoothed"):
        here.hessian_product(np.ones(3))


def test_only_a_hinge_is_smoothed():
    objective = linear_objective(np.eye(3), make_loss(SquaredHinge, np.arange(3)), 1.0)
    assert objective.smoothed() is objective
    hinge = linear_objective(np.eye(3), make_loss(Hinge, np.arange(3)), 1.0)
    assert isinstance(hinge.smoothed().loss, SmoothedHinge)


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan])
def test_a_width_is_greater_than_nothing(width):
    with pytest.raises(ValueError, match="width"):
        make_loss(SmoothedHinge, np.arange(4), width=width).evaluate(np.zeros(4))


@pytest.mark.parametrize("counting", [name for name in WAYS if name not in ("pairs", "arrays")])
@pytest.mark.parametrize("n", [40, 1_000, 9_000])
def test_what_is_smoothed_of_pairs_close_to_the_margin_is_known_exactly(n, counting):
    rng, unit, width = np.random.default_rng(n), 2.0**-30, 0.125
    y, k = rng.integers(0, 2, n), rng.integers(-20, 21, n)
    lacking = unit * np.maximum(k[y == 1][:, np.newaxis] + k[y == 0], 0)
    scores = np.where(y == 1, 1 - unit * k, unit * k)
    here = make_loss(SmoothedHinge, y, width=width, **WAYS[counting]).evaluate(scores)
    assert here.slack <= 1e-6 * here.value
    smoothing = float((lacking * (1 - lacking / width)).sum())
    assert abs(here.smoothing - smoothing) <= here.slack + 1e-6 * smoothing
    assert abs(here.offset - lacking.sum() / width) <= here.slack + 1e-6 * here.offset
