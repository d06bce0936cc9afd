"""Short queries go pair by pair, in any mixture with queries that are counted by order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from cases import make_pairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

LOSSES = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "smoothed_hinge": lambda pairs: SmoothedHinge(pairs, width=0.5),
}
every_loss = pytest.mark.parametrize("make", LOSSES.values(), ids=LOSSES)


@st.composite
def mixtures(draw):
    """Queries of a few rows up to just more than a short one has; weights of every kind."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 5, 10, 31, 63, 64, 65, 90]), max_size=6))
    sizes.append(draw(st.sampled_from([2, 10, 64])))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = sum(sizes)
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y = rng.integers(0, draw(st.sampled_from([1, 2, 5, 100])), n).astype(float)
    scores = rng.integers(-16, 17, n) / 8 * draw(st.sampled_from([1.0, 1e6]))
    scores += draw(st.sampled_from([0.0, 1e6]))
    weights = {}
    if draw(st.booleans()):
        weights["sample_weight"] = rng.integers(0, 3, n) * draw(st.sampled_from([1.0, 0.7]))
    if draw(st.booleans()):
        weights["query_weight"] = rng.integers(0, 3, len(sizes)) * 0.3
    if draw(st.booleans()):
        weights["pair_weight"] = "gap"
    if draw(st.booleans()):
        weights["better_weight"] = rng.integers(0, 2, n) * draw(st.sampled_from([1.0, 0.7]))
    if draw(st.booleans()):
        weights["worse_weight"] = rng.integers(0, 3, n) * draw(st.sampled_from([1.0, 0.3]))
    return y, QueryGroups.from_qid(qid, n), scores, weights


def results(make, mixture, counting, n_threads=1):
    y, groups, scores, weights = mixture
    pairs = make_pairs(y, groups, counting=counting, n_threads=n_threads, **weights)
    evaluation = make(pairs).evaluate(scores)
    V = np.random.default_rng(0).normal(size=(len(y), 5))
    found = [evaluation.value, evaluation.offset, evaluation.smoothing, evaluation.gradient]
    if not isinstance(make(pairs), Hinge):
        found += [evaluation.hessian_diagonal, evaluation.hessian_product(V)]
        found += [evaluation.hessian_product(V[:, 0].copy())]
    return evaluation, [np.asarray(part) for part in found]


@every_loss
@strategies.examples(60)
@given(mixture=mixtures())
def test_like_merge(make, mixture):
    evaluation, found = results(make, mixture, "auto")
    other, expected = results(make, mixture, "merge")
    known = evaluation.rounding + evaluation.slack + other.rounding + other.slack
    for here, there in zip(found, expected, strict=True):
        atol = known + 1e-11 * np.abs(there).max(initial=0)
        np.testing.assert_allclose(here, there, rtol=0, atol=atol)


@every_loss
@strategies.examples(20)
@given(mixture=mixtures())
def test_threads_change_no_bit(make, mixture):
    one, two = (results(make, mixture, "auto", n_threads)[1] for n_threads in (1, 2))
    for here, there in zip(one, two, strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("spread", [1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_of_the_gradient_is_bounded(offset, spread, gaps):
    rng = np.random.default_rng(1)
    for n in (2, 10, 40, 64):
        y, scores = rng.integers(0, 5, n).astype(float), offset + spread * rng.normal(size=n)
        pairs = make_pairs(y, sample_weight=rng.random(n), pair_weight="gap" if gaps else None)
        evaluation = SquaredHinge(pairs).evaluate(scores)
        exact = exact_gradient(y, scores, pairs.preferences.sample_weight, gaps)
        error = [Fraction(g) - e for g, e in zip(evaluation.gradient.tolist(), exact, strict=True)]
        assert sum(e**2 for e in error) <= Fraction(evaluation.gradient_rounding) ** 2
        assert evaluation.gradient_rounding <= 1e-13 * np.abs(evaluation.gradient).max() + 1e-12


def exact_gradient(y, scores, weight, gaps):
    """The gradient of the squared hinge of one query, without rounding."""
    s, u = [Fraction(x) for x in scores.tolist()], [Fraction(x) for x in weight.tolist()]
    gradient = [Fraction(0)] * len(y)
    for i, j in zip(*np.nonzero(y[:, np.newaxis] > y), strict=True):
        slack = 1 - (s[i] - s[j])
        if slack > 0:
            slope = 2 * slack * u[i] * u[j] * (Fraction(y[i] - y[j]) if gaps else 1)
            gradient[i] -= slope
            gradient[j] += slope
    return gradient
