import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from ranksvm.linear.penalties import SQUARED_NORM

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
