"""Passes over the pairs of a level in interior-point steps, against their formulas in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm._core import InteriorPairs

SHARE, MARGIN = 0.3, 1.5


def problem(seed, scale=1.0, weighted=True, n_better=None, n_worse=None):
    """Return pairs of the better rows from some row on, their bounds, and scores with ties."""
    rng = np.random.default_rng(seed)
    n_better, n_worse = n_better or rng.integers(1, 9), n_worse or rng.integers(1, 30)
    first = n_worse + rng.integers(0, 3)
    upper = scale * rng.uniform(0.5, 2, (n_better, n_worse) if weighted else (1, 1))
    pairs = InteriorPairs(first, n_better, n_worse, upper, MARGIN, SHARE, 0.2 * scale)
    scores = rng.integers(-3, 4, (3, first + n_better)) / 2
    return pairs, np.broadcast_to(upper, (n_better, n_worse)), scores, first


def sums_of(values, first, size, sign=-1):
    """Return by row what better rows get of the numbers of pairs, and worse ones with a sign."""
    n_better, n_worse = values.shape
    sums = np.zeros(size)
    sums[first : first + n_better] = values.sum(axis=1)
    sums[:n_worse] += sign * values.sum(axis=0)
    return sums


class Truth:
    """The same point as an array of each number."""

    def __init__(self, upper, first, scale):
        self.upper, self.first = upper, first
        self.slopes = SHARE * upper
        self.room = upper - self.slopes
        self.low, self.high = 0.2 * scale / self.slopes, 0.2 * scale / self.room
        self.weights = 1 / (self.low / self.slopes + self.high / self.room)

    def lacking(self, scores):
        n_better, n_worse = self.upper.shape
        ahead = scores[self.first : self.first + n_better, None] - scores[:n_worse]
        return MARGIN - ahead

    def step(self, scores, low, high):
        """Return the step to scores where products of the steps and these are made up for."""
        slopes = self.weights * (self.lacking(scores) + low - high)
        low = low - self.low * (1 + slopes / self.slopes)
        high = high - self.high * (1 - slopes / self.room)
        return SimpleNamespace(slopes=slopes, low=low, high=high)

    def aimed(self, towards, scores, product):
        bend = self.step(towards, 0, 0)
        low = product / self.slopes - bend.slopes * bend.low / self.slopes
        high = product / self.room + bend.slopes * bend.high / self.room
        return self.step(scores, low, high)

    def fastest(self, step):
        ways = (
            -step.slopes / self.slopes,
            step.slopes / self.room,
            -step.low / self.low,
            -step.high / self.high,
        )
        return np.max(ways)


@given(seed=st.integers(0, 1000), power=st.sampled_from([-120, 0, 60]), weighted=st.booleans())
def test_passes_do_what_formulas_say(seed, power, weighted):
    check(seed, 10.0**power, weighted)


@pytest.mark.parametrize("n_worse", [511, 512, 513, 1500])
def test_worse_rows_may_be_many(n_worse):
    check(0, 1.0, weighted=False, n_better=3, n_worse=n_worse)
    check(1, 1.0, weighted=True, n_better=3, n_worse=n_worse)


def check(seed, scale, weighted, **sizes):
    pairs, upper, (here, towards, there), first = problem(seed, scale, weighted, **sizes)
    truth, n = Truth(upper, first, scale), len(here)
    balance, degree, of_products, of_aim = np.zeros((4, n))
    close = {"rtol": 1e-9, "atol": 1e-10 * scale * n}

    pairs.weigh(here, balance, degree)
    weights = truth.weights
    np.testing.assert_allclose(pairs.weights, weights, rtol=1e-12)
    np.testing.assert_allclose(balance, sums_of(weights * truth.lacking(here), first, n), **close)
    np.testing.assert_allclose(degree, sums_of(weights, first, n, 1), **close)

    fastest, change = pairs.bend(towards, of_products, of_aim)
    bend = truth.step(towards, 0, 0)
    assert fastest == pytest.approx(truth.fastest(bend), rel=1e-9)
    expected = (bend.slopes * (bend.low - bend.high)).sum()
    assert change == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale)
    products = weights * bend.slopes * (bend.low / truth.slopes + bend.high / truth.room)
    np.testing.assert_allclose(of_products, sums_of(products, first, n), **close)
    aim = weights * (1 / truth.slopes - 1 / truth.room)
    np.testing.assert_allclose(of_aim, sums_of(aim, first, n), rtol=1e-9, atol=1e-10 * n)

    product = 0.1 * scale
    step = truth.aimed(towards, there, product)
    found = pairs.fastest(towards, there, product)
    assert found == pytest.approx(truth.fastest(step), rel=1e-9)

    part, balance, degree = 0.9 / max(found, 0.9), np.zeros(n), np.zeros(n)
    slopes, products = pairs.move(towards, there, product, part, balance, degree)
    moved = truth.slopes + part * step.slopes
    assert slopes == pytest.approx(moved.sum(), rel=1e-9)
    low, high = truth.low + part * step.low, truth.high + part * step.high
    assert products == pytest.approx((moved * low + (upper - moved) * high).sum(), rel=1e-9)
    np.testing.assert_allclose(balance, sums_of(moved, first, n), **close)
    np.testing.assert_allclose(degree, sums_of(moved, first, n, 1), **close)


def test_a_step_of_no_number_is_told():
    pairs, _, (here, towards, there), _ = problem(3)
    balance, degree = np.zeros((2, len(here)))
    pairs.weigh(here, balance, degree)
    pairs.move(towards, there, np.nan, 1.0, balance, degree)
    assert np.isnan(balance).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1, 3, np.ones((1, 1)), 1.0, 0.5, 1.0), "worse rows come before"),
        ((3, 1, 3, np.ones((1, 2)), 1.0, 0.5, 1.0), "one for each pair"),
        ((3, 1, 3, np.ones((1, 1)), 1.0, 1.0, 1.0), "between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        InteriorPairs(*arguments)


def test_vectors_that_are_too_short_are_refused():
    pairs, _, (here, *_), _ = problem(4)
    with pytest.raises(ValueError, match="one number for each row"):
        pairs.weigh(here[:-1], np.zeros_like(here), np.zeros_like(here))
