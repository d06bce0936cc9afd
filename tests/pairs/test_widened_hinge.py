"""The squared hinge with the derivatives of a part of it, and what certifies these."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import absolute_terms, linear_objective, make_loss, make_losses, pairs_of
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.queries import QueryGroups

WIDTHS = [1.0, 2.0, 7.5, 1e4]
MARGINS = [1.0, 0.5, 2.0]

some_width = st.sampled_from(WIDTHS)


@given(ranking=strategies.rankings(), width=some_width, margin=st.sampled_from(MARGINS))
def test_value_gradient_smoothing_and_hessian(ranking, width, margin):
    pairs, scores = pairs_of(ranking), ranking.scores
    slack = np.maximum(0.0, margin - (scores[pairs.better] - scores[pairs.worse]))
    slopes = 2 * slack / width
    smoothing = pairs.weight @ (slack - slopes / 2) ** 2
    offset = pairs.weight @ (margin * slopes - slopes**2 / 4)
    terms = absolute_terms(pairs, pairs.weight * (1 + slack + np.abs(scores).max(initial=0)))
    H = 2 / width * reference.laplacian(pairs, scores, margin)
    v = np.cos(np.arange(len(scores)))
    for loss in make_losses(SquaredHinge, ranking, margin=margin, width=width):
        here = loss.evaluate(scores)
        assert here.value == pytest.approx(
            pairs.weight @ slack**2, rel=1e-8, abs=here.rounding + 1e-300
        )
        known = here.rounding + 1e-9 * here.value
        assert here.smoothing == pytest.approx(smoothing, rel=1e-8, abs=known)
        assert here.offset == pytest.approx(offset, rel=1e-8, abs=2 * known / width)
        atol = 1e-12 * np.max(terms, initial=0) + here.gradient_rounding
        expected = reference.squared_hinge_gradient(pairs, scores, margin) / width
        np.testing.assert_allclose(here.gradient, expected, rtol=1e-8, atol=atol)
        np.testing.assert_allclose(here.hessian_product(v), H @ v, rtol=1e-9, atol=atol)


@given(ranking=strategies.rankings(), width=some_width, seed=st.integers(0, 99))
def test_gradient_is_an_epsilon_subgradient(ranking, width, seed):
    pairs, rng = pairs_of(ranking), np.random.default_rng(seed)
    for loss in make_losses(SquaredHinge, ranking, width=width):
        here = loss.evaluate(ranking.scores)
        for size in (1e-3, 0.3, 10):
            scores = ranking.scores + size * rng.normal(size=len(ranking.y))
            there, move = reference.squared_hinge(pairs, scores), scores - ranking.scores
            tangent = here.value + here.gradient @ move - here.smoothing
            rounding = 10 * here.rounding + here.gradient_rounding * np.linalg.norm(move)
            assert there >= tangent - rounding - 1e-9 * there


@given(problem=strategies.linear_problems(), width=some_width, exponent=st.integers(-3, 3))
def test_bound_and_best_multiple_do_not_depend_on_the_width(problem, width, exponent):
    ranking, X, w = problem
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    loss = make_loss(SquaredHinge, ranking.y, groups, sample_weight=ranking.sample_weight)
    here = linear_objective(X, loss, 10.0**exponent).evaluate(w)
    wide = here.narrowed(width)
    assert wide.width == width
    assert wide.value == here.value
    assert wide.lower_bound <= here.lower_bound * (1 + 1e-12)
    # What rounding takes off the bound counts by the square of the multiple.
    noise = 1e-9 * here.value + 10 * width**2 * here.rounding
    assert wide.lower_bound == pytest.approx(here.lower_bound, abs=noise)
    if here.lower_bound > 1e6 * noise:
        assert wide.dual.multiple == pytest.approx(width * here.dual.multiple, rel=1e-5)
    # What the gap is made of: the part of the weights, and that of the width.
    of_the_gradient = wide.value - wide.distance - wide.smoothing
    assert of_the_gradient <= wide.lower_bound + noise + 1e-9 * wide.distance


def test_no_width_is_below_1():
    loss = make_loss(SquaredHinge, np.arange(4), width=4.0)
    assert loss.narrowed(0.5).smoothing_width == 2.0
    assert loss.narrowed(0.1).smoothing_width == 1.0
    whole = make_loss(SquaredHinge, np.arange(4))
    assert whole.narrowed(0.1) is whole
