"""Penalties, and the bounds of multiples of dual points, against rational arithmetic."""

from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

import strategies
from adversary.penalty import Coordinate, ExactPenalty
from ranksvm.linear.conditions import Conditions
from ranksvm.linear.dual_curve import DualCurve
from ranksvm.linear.occurring import Columns
from ranksvm.linear.penalties import SQUARED_NORM, ElasticNet
from ranksvm.pairs.dual_ray import DualRay
from strategies import examples

vectors = st.integers(1, 5).flatmap(
    lambda d: st.tuples(*(strategies.integers(d, -64, 64).map(lambda v: v / 8) for _ in range(3)))
)


@given(vectors)
def test_the_gap_is_that_of_fenchel_and_young(wuv):
    w, u, v = wuv
    gap = SQUARED_NORM.gap(w, u)
    assert gap == pytest.approx(SQUARED_NORM.value(w) + SQUARED_NORM.conjugate(u) - w @ u)
    assert gap >= 0
    # The conjugate is the largest of u'v - R(v), where u is the gradient.
    assert u @ v - SQUARED_NORM.value(v) <= SQUARED_NORM.conjugate(u) + 1e-12
    assert SQUARED_NORM.gap(w, SQUARED_NORM.gradient(w)) == 0


@given(vectors)
def test_derivatives(wuv):
    w, p, _ = wuv
    h = 1e-4
    ahead, here, behind = (SQUARED_NORM.value(w + t * p) for t in (h, 0, -h))
    assert SQUARED_NORM.gradient(w) @ p == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    curved = p @ (SQUARED_NORM.curvature(w) * p)
    assert curved == pytest.approx((ahead - 2 * here + behind) / h**2, abs=1e-3)


def test_near_the_optimum_nothing_cancels():
    w = np.array([1e8, 1.0])
    assert SQUARED_NORM.gap(w, w + np.array([0.0, 1e-9])) == pytest.approx(0.5e-18, rel=1e-6)


# --- kinks, bounds and priors ---------------------------------------------------------------------

COLUMNS = {d: Columns(d) for d in range(1, 6)}


@dataclass(frozen=True)
class Case:
    """Conditions, what they come to in floating point and exactly, and two vectors."""

    penalty: ElasticNet
    exact: ExactPenalty
    w: np.ndarray
    u: np.ndarray
    scale: float


def eighths(d, low=-16, high=16):
    return strategies.integers(d, low, high).map(lambda v: v / 8)


@st.composite
def bounds(draw, d):
    """Lower and upper ones, some infinite, some equal."""
    low, high = np.sort([draw(eighths(d)), draw(eighths(d))], axis=0)
    kind = draw(strategies.integers(d, 0, 4))
    lower = np.select([kind == 0, kind == 1], [-np.inf, -np.inf], low)
    return lower, np.select([kind == 0, kind == 2, kind == 3], [np.inf, np.inf, low], high)


@st.composite
def cases(draw, ratios=(0.0, 0.25, 1 - 2.0**-20, 1.0)):
    d = draw(st.integers(1, 5))
    lower, upper = draw(bounds(d))
    charged = draw(eighths(d, 0, 16))
    free = np.isfinite(lower) & np.isfinite(upper)
    scale = draw(st.sampled_from([2.0**-60, 1.0, 2.0**60]))
    conditions = Conditions(
        lower=scale * lower,
        upper=scale * upper,
        prior=scale * draw(eighths(d)) * draw(strategies.integers(d, 0, 1)),
        l1_ratio=draw(st.sampled_from(ratios)),
        penalty_weights=np.where(free, charged, np.maximum(charged, 0.125)),
    )
    penalty = conditions.penalty(COLUMNS[d])
    if not isinstance(penalty, ElasticNet):
        penalty = ElasticNet(
            np.zeros(d), np.ones(d), *(np.full(d, v) for v in (0, -np.inf, np.inf))
        )
    exact = ExactPenalty(conditions, d)
    w = scale * draw(eighths(d)) * draw(strategies.integers(d, 0, 1))
    u = draw(eighths(d)) * draw(st.sampled_from([1.0, scale, 2.0**-30]))
    return Case(penalty, exact, penalty.nearest(w), u, scale)


@given(cases())
def test_values_are_exact_within_the_bounds_and_infinite_beyond(case):
    assert case.penalty.value(case.w) == pytest.approx(float(case.exact.value(case.w)), rel=1e-14)
    for w in (case.w - 1e30, case.w + 1e30):
        beyond = case.exact.value(w) is None
        assert np.isinf(case.penalty.value(w)) == beyond


@given(cases())
def test_the_conjugate_is_the_largest_difference(case):
    """By rational arithmetic, which is itself compared with every weight that may be largest."""
    u = case.u if case.exact.reach([mpq(x) for x in case.u]) == 1 else np.zeros_like(case.u)
    terms = case.penalty.conjugate_terms(u)
    for k, mine in enumerate(case.exact.coordinates):
        pull = mpq(float(u[k]))
        exact = mine.conjugate(pull)
        tried = [mine.prior + mpq(case.scale) * mpq(x, 4) for x in range(-12, 13)]
        ends = [b for b in (mine.lower, mine.upper) if b is not None]
        found = [pull * x - mine.value(x) for x in [*map(mine.clip, tried), *ends]]
        assert max(found) <= exact
        assert abs(exact - mpq(terms.value[k])) <= mpq(terms.size[k]) / 2**50
        assert mine.clip(mpq(terms.slope[k])) == mpq(terms.slope[k])


@given(cases())
def test_what_has_no_conjugate_is_told_by_the_reach(case):
    low, high = case.penalty.reach
    value = case.penalty.conjugate_terms(case.u).value
    is_within = (low <= case.u) & (case.u <= high)
    assert np.array_equal(np.isfinite(value), is_within)


@given(cases())
def test_the_gap_is_that_of_fenchel_and_young_with_kinks(case):
    w, u = case.w, case.u
    gap = case.penalty.gap(w, u)
    if not np.isfinite(case.penalty.conjugate_terms(u).value).all():
        assert gap == np.inf
        return
    t = case.penalty.maximizer(u)
    exact = case.exact.value(w) + case.exact.conjugate([mpq(float(x)) for x in u])
    exact -= sum(mpq(float(a)) * mpq(float(b)) for a, b in zip(w, u, strict=True))
    # Only the distance to the maximizer is rounded, never the terms themselves.
    noise = (np.abs(u) + case.penalty.lasso) * (np.abs(w - t) + np.abs(t - case.penalty.prior))
    assert exact >= 0
    assert abs(mpq(gap) - exact) <= exact / 2**40 + mpq(float(noise.sum())) / 2**50


@given(cases())
def test_the_gap_vanishes_at_the_maximizer(case):
    w = case.penalty.maximizer(case.u)
    if np.isfinite(w).all():
        assert case.penalty.gap(w, case.u) == 0


def test_near_the_optimum_nothing_cancels_beside_a_large_prior():
    prior, w = np.array([1e8, -1e8]), np.array([1e8 + 1, -1e8])
    infinite = np.full(2, np.inf)
    penalty = ElasticNet(np.zeros(2), np.ones(2), prior, -infinite, infinite)
    u = np.array([1 + 1e-9, 0.0])
    assert penalty.gap(w, u) == pytest.approx(0.5e-18, rel=1e-6)


@given(cases(), st.integers(-40, 40))
def test_a_proximal_step_is_the_best(case, exponent):
    step = np.full_like(case.w, 2.0**exponent)
    z = case.u * case.scale
    x = case.penalty.proximal(z, step)
    nearby = [mpq(case.scale) * mpq(k, 8) for k in range(-24, 25)]
    for mine, here, centre in zip(case.exact.coordinates, x, map(mpq, z), strict=True):

        def cost(x, mine=mine, centre=centre):
            return mine.value(x) + (x - centre) ** 2 / (2 * mpq(step[0]))

        here = mpq(float(here))
        least = min(map(cost, {mine.clip(y) for y in [mine.prior, centre, *nearby]}))
        assert mine.clip(here) == here
        assert cost(here) <= least + cost(here) / 2**40 + mpq(2) ** -1000


@given(cases(), st.data())
def test_the_slope_is_that_ahead(case, data):
    p = case.scale * data.draw(eighths(len(case.w), -8, 8))
    slope, here = case.penalty.slope(case.w, p), case.exact.value(case.w)
    h = mpq(2) ** -30
    ahead = case.exact.value([mpq(x) + h * mpq(y) for x, y in zip(case.w, p, strict=True)])
    if ahead is None:
        assert slope == np.inf
        return
    curved = float(np.sum(case.penalty.ridge * p**2)) * float(h) / 2
    size = float(np.abs(p) @ (case.penalty.lasso + case.penalty.ridge * 8 * case.scale))
    assert slope == pytest.approx(float((ahead - here) / h) - curved, abs=1e-12 * size)


@given(cases(), st.data())
def test_on_a_face_the_penalty_is_a_parabola(case, data):
    w, d = case.w, len(case.w)
    towards = case.penalty.nearest(w + case.scale * data.draw(eighths(d)))
    face = case.penalty.face(w, towards)
    far = w + case.scale * data.draw(eighths(d, -80, 80))
    x = np.clip(far, face.low, face.high)
    assert case.penalty.value(x) < np.inf
    assert (np.clip(w, face.low, face.high) == w).all()
    side = (towards == w) & (case.penalty.lasso > 0) & (w == case.penalty.prior)
    x = np.where(side, w, x)  # at a kink, and going nowhere
    step = x - w
    rise = case.penalty.value(x) - case.penalty.value(w)
    parabola = face.gradient @ step + 0.5 * step @ (case.penalty.curvature(w) * step)
    size = case.penalty.value(x) + case.penalty.value(w)
    assert rise == pytest.approx(parabola, rel=1e-9, abs=1e-12 * size)


@given(cases(), st.integers(-30, 30))
def test_weights_that_are_multiplied_cost_the_same(case, exponent):
    factors = 2.0 ** (exponent + np.arange(len(case.w)))
    assert case.penalty.scaled(factors).value(case.w / factors) == case.penalty.value(case.w)


# --- multiples of a dual point --------------------------------------------------------------------


@dataclass(frozen=True)
class ExactCurve:
    """``D(t) = t linear - t^2 quadratic - R*(t u)`` in rational numbers."""

    exact: ExactPenalty
    ray: DualRay
    u: list

    @classmethod
    def of(cls, curve, exact, u):
        return cls(exact, curve.ray, [mpq(float(x)) for x in u])

    def at(self, t):
        conjugate = self.exact.conjugate([t * x for x in self.u])
        return t * mpq(self.ray.linear) - t * t * mpq(self.ray.quadratic) - conjugate

    def bends(self):
        """Where the curve passes from one parabola to another, up to the largest multiple."""
        largest = [mine.reach(x) for mine, x in zip(self.exact.coordinates, self.u, strict=True)]
        largest += [mpq(self.ray.largest) if np.isfinite(self.ray.largest) else None]
        end = min((t for t in largest if t is not None), default=None)
        found = {mpq(0)} | ({end} if end is not None else set())
        for mine, x in zip(self.exact.coordinates, self.u, strict=True):
            rooms = [b - mine.prior for b in (mine.lower, mine.upper, mine.prior) if b is not None]
            for side in (-1, 1):
                ends = [(mine.ridge * room + side * mine.lasso) / x for room in rooms if x]
                found |= {t for t in ends if t > 0 and (end is None or t < end)}
        return sorted(found), end

    def largest(self):
        """The largest value, by the vertex of each of the parabolas; None if there is none."""
        points, end = self.bends()
        if end is None:
            points.append(points[-1] + 1)
        values = [self.at(t) for t in points]
        for k, (low, high) in enumerate(pairwise(points)):
            middle = (low + high) / 2
            a, b, c = (self.at(t) for t in (low, middle, high))
            curvature = a - 2 * b + c
            if curvature < 0:
                t = middle + (a - c) / (2 * curvature) * (high - low) / 2
                is_last = end is None and k == len(points) - 2
                if low < t and (t < high or is_last):
                    values.append(self.at(t))
        return max(values)


@st.composite
def curves(draw):
    """A curve without noise, and its truth; the largest value is finite."""
    case = draw(cases())
    linear = draw(st.integers(0, 64)) / 8 * case.scale
    quadratic = draw(st.integers(1, 64)) / 64 * case.scale
    largest = draw(st.sampled_from([1.0, np.inf]))
    ray = DualRay(linear, quadratic, largest)
    curve = case.penalty.dual(ray, case.u, np.zeros_like(case.u))
    return case, curve, ExactCurve.of(curve, case.exact, case.u)


@examples(200)
@given(curves())
def test_the_best_multiple_is_found_and_its_bound_is_one(found):
    case, curve, exact = found
    best, t = exact.largest(), mpq(curve.multiple)
    size = abs(exact.at(t)) + t * mpq(curve.ray.linear) + t * t * mpq(curve.ray.quadratic)
    terms = case.penalty.conjugate_terms(curve.multiple * case.u)
    size += mpq(float(terms.size.sum()))
    bound = mpq(curve.bound)
    assert bound <= max(exact.at(t), 0)
    assert exact.at(t) <= best
    assert bound >= best - (best + size) / 10**12


@examples(200)
@given(curves(), st.data())
def test_a_bound_is_one_of_every_point_within_the_noise(found, data):
    case, curve, _ = found
    d = len(case.u)
    noise = data.draw(eighths(d, 0, 16)) * data.draw(st.sampled_from([2.0**-40, 1.0]))
    noisy = replace(curve, noise=noise)
    u = case.u + noise * data.draw(eighths(d, -8, 8))
    exact = ExactCurve.of(curve, case.exact, u)
    t = mpq(noisy.multiple)
    if t * mpq(1) <= case.exact.reach([t * x for x in exact.u]) or noisy.bound > 0:
        assert mpq(noisy.bound) <= max(exact.at(t), 0)


def test_of_absolute_values_alone_a_multiple_that_is_small_enough_is_a_bound():
    infinite = np.full(2, np.inf)
    penalty = ElasticNet(np.ones(2), np.zeros(2), np.zeros(2), -infinite, infinite)
    curve = penalty.dual(DualRay(3.0, 0.5, np.inf), np.array([2.0, -8.0]), np.zeros(2))
    assert curve.multiple == pytest.approx(1 / 8)
    assert curve.bound == pytest.approx(3 / 8 - 0.5 / 64)
    # With a bound below, the second coordinate has a conjugate whatever it is.
    positive = replace(penalty, lower=np.zeros(2))
    curve = positive.dual(DualRay(3.0, 0.5, np.inf), np.array([2.0, -8.0]), np.zeros(2))
    assert curve.multiple == pytest.approx(1 / 2)
    assert curve.bound == pytest.approx(3 / 2 - 0.5 / 4)


def test_where_rounding_decides_about_a_kink_the_bound_holds():
    """A ridge of next to nothing: an ulp of u beyond the lasso is worth a lot."""
    ridge = 2.0**-60
    infinite = np.array([np.inf])
    penalty = ElasticNet(np.ones(1), np.array([ridge]), np.zeros(1), -infinite, infinite)
    u = np.array([1 / 3])
    curve = DualCurve(DualRay(1e-12, 0.0, np.inf), penalty, u, np.zeros(1))
    coordinate = Coordinate(mpq(1), mpq(ridge), mpq(0), None, None)
    exact = SimpleNamespace(conjugate=lambda u: coordinate.conjugate(u[0]))
    at_best = ExactCurve.of(curve, exact, u).at(mpq(curve.multiple))
    assert 0 < mpq(curve.bound) <= at_best
