"""Steps by conjugate gradients against a plain loop and a dense solution of the same model."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.solvers.conjugate_gradients import (
    BY_ENERGY,
    FARTHER,
    MOST_DIRECTIONS,
    ModelStep,
    _Way,
    conjugate_gradients,
)


@dataclass
class Model:
    """A quadratic model whose Hessian is ``I + X'X``; counts the products with X."""

    X: np.ndarray
    gradient: np.ndarray
    n_images: int = 0
    smoothing: float = 0.0

    @property
    def hessian(self):
        return np.eye(self.X.shape[1]) + self.X.T @ self.X

    def image(self, p):
        self.n_images += 1
        return self.X @ p

    def hessian_product(self, p, image):
        return p + self.X.T @ image


def make_model(seed, n=40, d=15, spread=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-spread, spread, d)
    return Model(X, rng.standard_normal(d) * np.linalg.norm(X, axis=0))


def metric_of(model):
    return np.diag(model.hessian)


def by_metric(model, metric, *limits):
    return conjugate_gradients(model, lambda gradient: gradient / metric, *limits)


def plain_products(model, metric, accuracy, of_energy=None):
    """How many products textbook conjugate gradients need to leave so much, of energy as well."""
    of_energy = max(accuracy, BY_ENERGY) if of_energy is None else of_energy
    r = -model.gradient
    z = r / metric
    p, n, energy = z, 0, r @ z
    norm = np.linalg.norm(r)
    while np.linalg.norm(r) > accuracy * norm or r @ z > of_energy * energy:
        product = model.hessian @ p
        alpha = (r @ z) / (p @ product)
        after = r - alpha * product
        p = after / metric + (after @ (after / metric)) / (r @ z) * p
        r, z, n = after, after / metric, n + 1
    return n


@pytest.mark.parametrize("accuracy", [0.5, 0.1, 1e-3, 1e-8])
@pytest.mark.parametrize("seed", range(5))
def test_step_leaves_as_little_as_asked_for(seed, accuracy):
    model = make_model(seed)
    step, n_products = by_metric(model, metric_of(model), accuracy, 500)
    left = -(model.gradient + model.hessian @ step.step)
    norm = np.linalg.norm(model.gradient)
    assert np.linalg.norm(left) <= accuracy * norm * (1 + 1e-5)
    np.testing.assert_allclose(step.residual, left, atol=1e-9 * norm)
    np.testing.assert_allclose(step.image, model.X @ step.step, atol=1e-9 * norm)
    assert step.step @ model.gradient < 0
    assert model.n_images == n_products


@pytest.mark.parametrize("accuracy", [0.5, 0.1])
@pytest.mark.parametrize("seed", range(10))
def test_features_of_any_scale_count(seed, accuracy):
    model = make_model(seed)
    model.X += np.linalg.norm(model.X, axis=0) * np.ones((40, 1))  # they have much in common
    metric, least = metric_of(model), max(accuracy, 0.25)
    step, n_products = by_metric(model, metric, accuracy, 500)
    assert n_products >= plain_products(model, metric, np.inf, least)
    energy, left = (g @ (g / metric) for g in (model.gradient, step.residual))
    assert left <= least * energy * (1 + 1e-9)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 0.03, 1e-4]))
def test_never_takes_more_products_than_without_blending(seed, accuracy):
    model = make_model(seed)
    _, n_products = by_metric(model, metric_of(model), accuracy, 500)
    assert n_products <= max(plain_products(model, metric_of(model), accuracy), 1)


def test_blending_saves_products():
    models = [make_model(seed, n=300, d=80, spread=0.5) for seed in range(10)]
    blended = [by_metric(m, np.ones(80), 1e-3, 500)[1] for m in models]
    plain = [plain_products(m, np.ones(80), 1e-3) for m in models]
    assert sum(blended) < sum(plain)


def test_steps_far_enough_are_the_solution():
    model = make_model(3)
    step, _ = by_metric(model, metric_of(model), 1e-12, 500)
    np.testing.assert_allclose(
        step.step, -np.linalg.solve(model.hessian, model.gradient), rtol=1e-6
    )


def test_most_products_end_the_search():
    model = make_model(4)
    step, n_products = by_metric(model, np.ones(15), 1e-12, 3)
    assert n_products == model.n_images == 3
    np.testing.assert_allclose(step.image, model.X @ step.step, rtol=1e-9)


@given(st.integers(0, 10**6))
def test_a_blend_leaves_no_more_than_what_is_reached(seed):
    rng = np.random.default_rng(seed)
    way = _Way(rng.standard_normal(4))
    norms = [np.linalg.norm(way.residual)]
    for _ in range(2 * MOST_DIRECTIONS):
        way.turn(rng.standard_normal(4), rng.standard_normal(3))
        way.go(rng.uniform(-1, 1), rng.standard_normal(4))
        norms += [np.linalg.norm(way.residual), np.linalg.norm(way.blended)]
        assert norms[-1] <= min(norms) * (1 + 1e-12)


@pytest.mark.parametrize("n", [1, MOST_DIRECTIONS, MOST_DIRECTIONS + 1, 3 * MOST_DIRECTIONS])
def test_steps_are_those_that_leave_what_is_left(n):
    rng = np.random.default_rng(n)
    hessian, X, gradient = rng.normal(size=(5, 5)), rng.normal(size=(3, 5)), rng.normal(size=5)
    way = _Way(gradient)
    for _ in range(n):
        direction = rng.normal(size=5)
        way.turn(direction, X @ direction)
        way.go(rng.uniform(0, 0.3), hessian @ direction)
    for step in (way.reached(), way.blend()):
        np.testing.assert_allclose(step.residual, -gradient - hessian @ step.step, atol=1e-12)
        np.testing.assert_allclose(step.image, X @ step.step, atol=1e-12)


def test_flatness_is_what_the_model_leaves_of_the_slope():
    model = make_model(0)
    step, _ = by_metric(model, metric_of(model), 0.8, 100)
    slope = (model.gradient + model.hessian @ step.step) @ step.step
    assert step.flatness(model.gradient) == pytest.approx(slope / (model.gradient @ step.step))
    tiny = ModelStep(1e-200 * step.step, step.image, 1e-200 * step.residual)
    assert tiny.flatness(1e-200 * model.gradient) == 0


@pytest.mark.parametrize("seed", range(5))
def test_what_is_wanted_is_reached_where_few_products_lead_there(seed):
    model = make_model(seed, n=400, spread=0.0)
    _, n_enough = by_metric(model, metric_of(model), 0.5, 500)
    step, n_products = by_metric(model, metric_of(model), 0.5, 500, 0.01)
    assert np.linalg.norm(step.residual) <= 0.01 * np.linalg.norm(model.gradient)
    assert n_enough < n_products <= n_enough + FARTHER


@pytest.mark.parametrize("seed", range(5))
def test_what_is_wanted_from_afar_costs_no_product(seed):
    model = make_model(seed, n=60, d=50)
    _, n_enough = by_metric(model, np.ones(50), 0.5, 500)
    _, n_products = by_metric(model, np.ones(50), 0.5, 500, 1e-12)
    assert n_products == n_enough


def test_the_error_of_a_model_is_what_the_gradient_differs_by():
    model = make_model(0)
    step, _ = by_metric(model, metric_of(model), 0.3, 100)
    for length in (0.5, 1.0, 2.0):
        there = model.gradient + length * model.hessian @ step.step
        assert step.error(length, model.gradient, there) == pytest.approx(0.0, abs=1e-12)
        off = 0.1 * np.linalg.norm(model.gradient) * np.eye(15)[3]
        assert step.error(length, model.gradient, there + off) == pytest.approx(0.1)


def test_the_inverse_hessian_leaves_nothing_to_the_second_product():
    model = make_model(7)
    step, n_products = conjugate_gradients(
        model, lambda gradient: np.linalg.solve(model.hessian, gradient), 1e-8, 100
    )
    assert n_products == 1
    np.testing.assert_allclose(step.step, -np.linalg.solve(model.hessian, model.gradient))


def test_that_of_a_part_of_the_rows_takes_fewer_products_than_a_diagonal():
    model = make_model(8, n=4000, d=60, spread=0.0)
    model.X = model.X @ np.random.default_rng(9).standard_normal((60, 60))  # which are correlated
    inverse = np.linalg.inv(np.eye(60) + 20 * model.X[::20].T @ model.X[::20])
    _, n_products = conjugate_gradients(model, inverse.__matmul__, 1e-3, 100)
    assert 3 * n_products < by_metric(model, metric_of(model), 1e-3, 100)[1]
