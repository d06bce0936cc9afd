"""What steps tell of a Hessian, against the matrices of the formula and the optimum itself."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.solvers.secants import LEFT, MOST, Secants


@dataclass
class Point:
    """Of a quadratic function with this Hessian, whose minimum is zero."""

    weights: np.ndarray
    hessian: np.ndarray

    @property
    def gradient(self):
        return self.hessian @ self.weights

    @property
    def distance(self):
        return self.gradient @ np.linalg.solve(self.hessian, self.gradient)


def positive(seed, d, spread=1.0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, 2 * d)) * 10 ** rng.uniform(-spread, spread, 2 * d)
    return A @ A.T + np.eye(d)


@given(st.integers(0, 1000), st.integers(1, 8), st.integers(0, MOST + 3))
def test_the_inverse_is_that_of_the_formula(seed, d, n_steps):
    H, inverse = positive(seed, d), np.linalg.inv(positive(seed + 1, d))
    rng = np.random.default_rng(seed)
    secants, B, identity = Secants(), inverse, np.eye(d)
    steps = rng.standard_normal((n_steps, d))
    for k, s in enumerate(steps):
        # A point that is as far from the minimum as before: nothing of the way is left out.
        before = Point(-0.5 * s, H)
        secants.add(before, Point(before.weights + s, H))
        if n_steps - k > MOST:
            continue
        y, length = H @ s, s @ H @ s
        side = identity - np.outer(s, y) / length
        B = side @ B @ side.T + np.outer(s, s) / length
    g = rng.standard_normal(d)
    expected = B @ g
    found = secants.solve(lambda v: inverse @ v, g)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_steps_end_as_soon_as_those_of_conjugate_gradients():
    H = positive(0, 6, spread=0.2)
    metric, secants = np.diag(H), Secants()
    point = Point(np.random.default_rng(1).standard_normal(6), H)
    first = point.distance
    for _ in range(6):
        p = -secants.solve(lambda v: v / metric, point.gradient)
        there = Point(point.weights - (p @ point.gradient) / (p @ H @ p) * p, H)
        secants.add(point, there)
        point = there
    assert point.distance < 1e-18 * first


@pytest.mark.parametrize("left", [0.5 * LEFT, 2 * LEFT])
def test_steps_that_leave_little_tell_nothing(left):
    before, g = Point(np.ones(3), np.diag([1.0, 2.0, 3.0])), np.array([1.0, 1.0, 2.0])
    secants = Secants()
    secants.add(before, Point(np.sqrt(left) * before.weights, before.hessian))
    assert np.array_equal(secants.solve(np.copy, g), g) is (left < LEFT)
    secants.forget()
    np.testing.assert_array_equal(secants.solve(np.copy, g), g)
