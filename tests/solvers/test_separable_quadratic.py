"""Models with kinks and bounds, minimised: where each coordinate by itself gains nothing more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.linear.penalties import ElasticNet
from ranksvm.solvers.separable_quadratic import SeparableQuadratic


def problem(seed: int, size: int, rank: int, ridge: float, spread: int) -> SeparableQuadratic:
    """Return a model with kinks, bounds, or both, of a matrix of this rank at least."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(rank, size)) * 10.0 ** rng.integers(-spread, spread + 1, size)
    F += rng.choice([0.0, 3.0]) * rng.normal(size=(rank, 1))  # strongly coupled
    A = F.T @ F
    A[np.diag_indices(size)] *= 1 + 1e-10
    sides = seed % 3
    penalty = ElasticNet(
        lasso=np.full(size, rng.uniform(0, 20) if seed % 4 else 0.0),
        ridge=np.full(size, ridge),
        prior=rng.normal(size=size) * (seed % 2),
        lower=np.full(size, [-np.inf, 0.0, -1.0][sides]),
        upper=np.full(size, [np.inf, np.inf, 0.5][sides]),
    )
    gradient = F.T @ (10 * rng.normal(size=rank))
    return SeparableQuadratic(A, gradient, penalty.nearest(rng.normal(size=size)), penalty)


def residual(model: SeparableQuadratic, x: np.ndarray) -> float:
    """Return how far x is from where each coordinate would go by itself, in units of the model."""
    unit = np.diag(model.hessian) + model.penalty.ridge + 1e-300
    slope = model.gradient + model.hessian @ (x - model.weights)
    away = model.penalty.proximal(x - slope / unit, 1 / unit) - x
    scale = np.abs(model.gradient / np.sqrt(unit)).max() + 1e-300
    return float(np.abs(away * np.sqrt(unit)).max() / scale)


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 30),
    more=st.integers(0, 20),
    ridge=st.sampled_from([0.0, 1e-3, 1.0]),
    spread=st.integers(0, 4),
)
def test_no_coordinate_gains_at_the_minimum(seed, size, more, ridge, spread):
    model = problem(seed, size, size + more, ridge, spread)
    x = model.minimizer()
    assert np.isfinite(model.penalty.value(x))
    assert residual(model, x) < 1e-6


@given(seed=st.integers(0, 10_000), size=st.integers(2, 30), rank=st.integers(1, 5))
def test_a_singular_matrix_leads_down_all_the_same(seed, size, rank):
    model = problem(seed, size, rank, 0.0, 2)
    x = model.minimizer()
    assert model._rise(model.weights, x, model.gradient) <= 0


def test_circles_end_in_a_descent():
    """Active sets alone do not find all of these."""
    models = [problem(seed, 100, 40, 0.0, 0) for seed in range(1, 40, 4)]
    assert not all(model._active_set()[1] for model in models)
    assert max(residual(model, model.minimizer()) for model in models) < 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_kinks_and_bounds_are_met_exactly(seed):
    model = problem(seed, 40, 60, 1.0, 1)
    model = SeparableQuadratic(model.hessian, 1e-3 * model.gradient, model.weights, model.penalty)
    x, penalty = model.minimizer(), model.penalty
    held = (x == penalty.prior) | (x == penalty.lower) | (x == penalty.upper)
    slope = model.gradient + model.hessian @ (x - model.weights)
    smooth = (
        slope + penalty.lasso * np.sign(x - penalty.prior) + penalty.ridge * (x - penalty.prior)
    )
    unit = np.sqrt(np.diag(model.hessian))
    assert (
        np.abs(smooth / unit)[~held].max(initial=0.0) <= 1e-8 * np.abs(model.gradient / unit).max()
    )
