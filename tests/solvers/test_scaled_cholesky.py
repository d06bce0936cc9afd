"""Equations of any scale and size, in single and double precision."""

import numpy as np
import pytest

from ranksvm.solvers import cholesky
from ranksvm.solvers.cholesky import ScaledCholesky


def positive_definite(n, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * n, n))
    scale = 10.0 ** rng.uniform(-60, 60, n)
    return A.T @ A, scale


@pytest.mark.parametrize("large", [0, 1000])
@pytest.mark.parametrize("n", [1, 2, 7, 70])
def test_equations_of_any_scale_are_solved(n, large, monkeypatch):
    monkeypatch.setattr(cholesky, "LARGE", large)
    A, scale = positive_definite(n)
    solved = ScaledCholesky.of(A * np.outer(scale, scale)).solve(scale * np.arange(n))
    np.testing.assert_allclose(A @ (scale * solved), np.arange(n), atol=1e-9)


@pytest.mark.parametrize("large", [0, 1000])
def test_single_precision_is_that_of_the_matrix(large, monkeypatch):
    monkeypatch.setattr(cholesky, "LARGE", large)
    A, _ = positive_definite(30)
    factor = ScaledCholesky.of(A.astype(np.float32))
    assert factor.factor.dtype == np.float64
    error = np.linalg.norm(A @ factor.solve(np.ones(30)) - 1)
    assert 1e-8 < error < 1e-3


@pytest.mark.parametrize("large", [0, 1000])
def test_what_is_not_positive_definite_has_no_factor(large, monkeypatch):
    monkeypatch.setattr(cholesky, "LARGE", large)
    A, _ = positive_definite(5)
    for matrix in (np.diag([1.0, -1.0]), np.diag([1.0, np.nan]), np.ones((4, 4)) - 2 * np.eye(4)):
        assert ScaledCholesky.of(matrix) is None
    twice = np.vstack([A, A[:1]])
    twice = np.hstack([twice, twice[:, :1]])  # a column that repeats
    twice[0, 0] *= 1 - 1e-14
    assert ScaledCholesky.of(twice.copy()) is None
    nearly = ScaledCholesky.of(twice.copy(), nearly=True)
    right = np.append(A @ np.ones(5), (A @ np.ones(5))[0])
    np.testing.assert_allclose(twice @ nearly.solve(right), right, rtol=1e-6)
