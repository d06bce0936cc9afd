"""The Cholesky factor of a kernel agrees with the matrix of its values, as far as it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ranksvm.kernel.factor import EXACT, KernelFactor
from ranksvm.kernel.kernels import Kernel
from strategies import integers

KERNELS = {
    "linear": Kernel("linear"),
    "rbf": Kernel("rbf", gamma=0.3),
    "narrow": Kernel("rbf", gamma=100.0),
    "smooth": Kernel("rbf", gamma=1e-4),
    "laplacian": Kernel("laplacian", gamma=0.3),
    "polynomial": Kernel("polynomial", gamma=0.3, degree=2),
    "cosine": Kernel("cosine"),
    "function": Kernel(lambda X, Z: np.exp(X @ Z.T / 4)),
    "distances": Kernel(lambda X, Z: -np.sqrt(((X[:, np.newaxis] - Z) ** 2).sum(axis=2))),
}
# Distances of rows are known up to the rounding of their squares, and gamma magnifies it.
ROUNDING = dict.fromkeys(KERNELS, 1e-14) | {"narrow": 1e-12}
every_kernel = pytest.mark.parametrize("name", KERNELS)


def rows_with_duplicates(n=60, d=3):
    X = np.random.default_rng(n).normal(size=(n, d))
    X[n // 2 :] = X[: n - n // 2]
    X[-1] = 0
    return X


def between_differences(K, anchor):
    return K - K[:, [anchor]] - K[[anchor]] + K[anchor, anchor]


def remainder_matrix(factor, K):
    return between_differences(K, factor.anchor) - factor.features @ factor.features.T


@every_kernel
@pytest.mark.parametrize("remainder", [0.5, 1e-2, 1e-5, EXACT])
def test_differs_from_the_kernel_matrix_by_a_small_semidefinite_remainder(name, remainder):
    X = rows_with_duplicates()
    K = KERNELS[name].between(X, X)
    factor = KernelFactor(KERNELS[name], X, np.inf)
    factor.refine(remainder * factor.scale)
    E = remainder_matrix(factor, K)
    rounding = ROUNDING[name] * np.abs(K).max()
    np.testing.assert_allclose(E.diagonal(), factor.remainder, rtol=0, atol=rounding)
    assert factor.remainder.max() <= remainder * factor.scale
    assert np.linalg.eigvalsh(E)[0] >= -10 * rounding
    assert len(set(factor.pivots)) == len(factor.pivots) == factor.features.shape[1]
    assert np.all(factor.remainder[factor.pivots] == 0)
    assert np.all(np.triu(factor.features[factor.pivots], 1) == 0)


def test_refining_keeps_the_columns_and_exceeds_no_block():
    X = np.random.default_rng(0).normal(size=(700, 4))
    factor = KernelFactor(Kernel("rbf", gamma=0.3), X, np.inf)
    factor.refine(1e-2)
    before = factor.features
    factor.refine(EXACT)
    assert factor.features.shape[1] > before.shape[1] + 128
    np.testing.assert_array_equal(factor.features[:, : before.shape[1]], before)
    E = remainder_matrix(factor, pairwise_kernels(X, metric="rbf", gamma=0.3))
    assert np.abs(E).max() <= 2e-14


def test_smooth_kernels_need_few_columns():
    X = np.random.default_rng(0).normal(size=(500, 3))
    factor = KernelFactor(Kernel("rbf", gamma=0.01), X, np.inf)
    factor.refine(1e-4)
    assert factor.features.shape[1] < 50


@every_kernel
def test_coefficients_give_the_scores_and_the_norm(name):
    X = rows_with_duplicates()
    K = KERNELS[name].between(X, X)
    factor = KernelFactor(KERNELS[name], X, np.inf)
    factor.refine(1e-4 * factor.scale)
    g = np.random.default_rng(1).normal(size=len(X))
    w = factor.features.T @ (g - g.mean())
    support, beta = factor.dual_coef(w)
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).max()
    differences = (K[:, support] @ beta) - (factor.features @ w)
    assert np.ptp(differences) <= 1e-10 * np.ptp(factor.features @ w)
    assert beta @ K[np.ix_(support, support)] @ beta == pytest.approx(w @ w, rel=1e-8)


@every_kernel
@pytest.mark.parametrize("remainder", [0.5, 1e-3, EXACT])
def test_what_is_left_out_is_computed_and_bounded(name, remainder):
    X = rows_with_duplicates()
    K = KERNELS[name].between(X, X)
    factor = KernelFactor(KERNELS[name], X, np.inf)
    factor.refine(remainder * factor.scale)
    for seed in range(10):
        g = np.random.default_rng(seed).normal(size=len(X)) * (np.arange(len(X)) % 3 > 0)
        g[1] -= g.sum()
        expected = g @ remainder_matrix(factor, K) @ g
        rounding = ROUNDING[name] * np.abs(K).max() * np.abs(g).sum() ** 2
        assert abs(factor.left_out(g) - expected) <= rounding
        assert factor.left_out(g) >= expected - 0.1 * rounding
        assert factor.bound(g) >= expected - rounding
        assert factor.bound(2 * np.abs(g)) == pytest.approx(4 * factor.bound(g))


@given(integers(36, -4, 4), st.sampled_from([1e-150, 1.0, 1e150]))
def test_any_matrix_of_a_kernel_at_any_scale(numbers, scale):
    A = numbers.reshape(12, 3)
    K = A @ A.T * scale
    factor = KernelFactor(Kernel("precomputed"), K, np.inf)
    factor.refine(EXACT * factor.scale)
    assert factor.features.shape[1] <= 3
    np.testing.assert_allclose(remainder_matrix(factor, K), 0, atol=1e-12 * scale)


def test_a_constant_kernel_has_no_features():
    factor = KernelFactor(Kernel("rbf"), np.ones((5, 2)), np.inf)
    factor.refine(0.0)
    assert factor.features.shape == (5, 0)


def test_sparse_rows():
    X = rows_with_duplicates() * (np.random.default_rng(0).uniform(size=(60, 3)) < 0.5)
    for Z in (sparse.csr_matrix(X), sparse.csr_array(X)):
        factor = KernelFactor(Kernel("rbf"), Z, np.inf)
        factor.refine(1e-12)
        E = remainder_matrix(factor, pairwise_kernels(X, metric="rbf"))
        assert np.abs(E).max() <= 2e-12


def test_threads_do_not_change_a_bit():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    factors = [KernelFactor(Kernel("rbf"), X, np.inf, n_threads) for n_threads in (1, 2, 5)]
    g = np.random.default_rng(1).normal(size=3000)
    for factor in factors:
        factor.refine(1e-4)
    for factor in factors[1:]:
        np.testing.assert_array_equal(factor.features, factors[0].features)
        assert factor.left_out(g - g.mean()) == factors[0].left_out(g - g.mean())


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Kernel(lambda X, Z: X @ Z.T + X[:, :1]), "is not symmetric: rows "),
        (Kernel("sigmoid", gamma=3.0, coef0=-2.0), "'sigmoid' is not positive semidefinite"),
        (Kernel("polynomial", degree=3, coef0=-5.0), "'polynomial' is not positive semidefinite"),
        (Kernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), "must be finite"),
        (Kernel(lambda X, Z: X), "must be a matrix of shape"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        KernelFactor(kernel, np.random.default_rng(0).normal(size=(20, 3)), np.inf)


def test_memory_is_refused_before_it_is_taken():
    X = np.random.default_rng(0).normal(size=(400, 10))
    factor = KernelFactor(Kernel("rbf", gamma=1.0), X, 16 * 400 * 300)
    with pytest.raises(ValueError, match=r"rank of 256 and needs .* for 400 rows, .*Nystroem"):
        factor.refine(1e-10)
    with pytest.raises(ValueError, match=r"kernel matrix of 400 rows takes 0.00256 GB"):
        KernelFactor(Kernel("sigmoid"), X, 1e6)


@pytest.mark.parametrize(("gamma", "is_enough"), [(0.01, True), (1.0, False)])
def test_foresees_that_columns_will_be_too_few(gamma, is_enough):
    """Where it gives up, twice as many columns as it may take are too few indeed."""
    X = np.random.default_rng(0).normal(size=(2000, 6))
    factor, most = KernelFactor(Kernel("rbf", gamma=gamma), X, np.inf), 600
    assert factor.refine(1e-3, most, foresees=True) is is_enough
    assert len(factor.pivots) < most
    if not is_enough:
        assert not factor.refine(1e-3, 2 * most)
        assert len(factor.pivots) >= 2 * most


def test_does_not_give_up_on_rows_that_repeat():
    """Their remainder falls all at once, with the last column."""
    X = np.repeat(np.random.default_rng(0).normal(size=(500, 6)), 4, axis=0)
    factor = KernelFactor(Kernel("rbf", gamma=10.0), X, np.inf)
    assert factor.refine(1e-3, 600, foresees=True)
    assert len(factor.pivots) == 499
