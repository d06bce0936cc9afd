"""Kernels by name agree with their formulas, and what is no kernel is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import KERNEL_PARAMS

from ranksvm.kernel.kernels import Kernel
from ranksvm.names import KERNELS

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3))


def squared_distances(X, Z):
    return ((X[:, np.newaxis] - Z) ** 2).sum(axis=2)


FORMULAS = {
    "linear": lambda X, Z: X @ Z.T,
    "rbf": lambda X, Z: np.exp(-0.7 * squared_distances(X, Z)),
    "polynomial": lambda X, Z: (0.7 * X @ Z.T + 2) ** 2,
    "poly": lambda X, Z: (0.7 * X @ Z.T + 2) ** 2,
    "sigmoid": lambda X, Z: np.tanh(0.7 * X @ Z.T + 2),
    "laplacian": lambda X, Z: np.exp(-0.7 * np.abs(X[:, np.newaxis] - Z).sum(axis=2)),
}


def make(name):
    return Kernel(name, gamma=0.7, degree=2, coef0=2)


@pytest.mark.parametrize("name", FORMULAS)
def test_named_kernels_are_their_formulas(name):
    np.testing.assert_allclose(make(name).between(X, Z), FORMULAS[name](X, Z), rtol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_function_is_called_with_both_matrices(name):
    np.testing.assert_array_equal(Kernel(FORMULAS[name]).between(X, Z), FORMULAS[name](X, Z))


def test_gamma_is_one_over_the_features_by_default():
    expected = np.exp(-squared_distances(X, Z) / 3)
    np.testing.assert_allclose(Kernel("rbf").between(X, Z), expected, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in KERNELS if "gamma" in KERNELS[name]])
def test_gamma_is_so_for_every_kernel_that_has_one(name):
    positive, others = np.abs(X), np.abs(Z)
    expected = Kernel(name, gamma=1 / 3).between(positive, others)
    np.testing.assert_array_equal(Kernel(name).between(positive, others), expected)


def test_kernels_have_the_parameters_that_they_are_known_for():
    assert {name: set(KERNEL_PARAMS[name]) for name in KERNELS} == {
        name: set(parameters) for name, parameters in KERNELS.items()
    }


def test_scores_are_sums_of_kernel_values():
    many, coef = RNG.normal(size=(2500, 3)), RNG.normal(size=4)
    scores = make("rbf").scores(many, Z, coef)
    np.testing.assert_allclose(scores, FORMULAS["rbf"](many, Z) @ coef, atol=1e-12)
    np.testing.assert_array_equal(make("rbf").scores(many, Z, coef, n_threads=3), scores)
    assert make("rbf").scores(many[:0], Z, coef).shape == (0,)


def test_sparse_rows_and_single_precision_give_the_same():
    expected = make("polynomial").between(X, Z)
    found = make("polynomial").between(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    linear = Kernel("linear").between(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    np.testing.assert_allclose(linear, X @ Z.T, rtol=1e-12)
    single = make("polynomial").between(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["linear", "rbf", "polynomial", "laplacian"])
def test_the_matrix_is_centred_and_keeps_differences(name):
    K, centred = make(name).between(X, X), make(name).matrix(X)
    np.testing.assert_array_equal(centred, centred.T)
    np.testing.assert_allclose(centred.sum(axis=0), 0, atol=1e-12)
    difference = np.zeros(7)
    difference[[2, 5]] = 1, -1
    np.testing.assert_allclose(
        difference @ centred @ difference, difference @ K @ difference, rtol=1e-10
    )


def test_a_precomputed_matrix_is_taken_and_left_as_it_is():
    K = make("rbf").between(X, X)
    before = K.copy()
    found = Kernel("precomputed").matrix(K)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(found, make("rbf").matrix(X))


def test_what_is_semidefinite_once_centred_is_a_kernel():
    """Only differences within queries count: minus the squared distance will do."""
    found = Kernel(lambda X, Z: -squared_distances(X, Z) / 2).matrix(X)
    np.testing.assert_allclose(found, Kernel("linear").matrix(X), atol=1e-12)


def test_asymmetry_within_rounding_is_evened_out():
    K = make("rbf").between(X, X)
    K[2, 4] *= 1 + 1e-14
    found = Kernel("precomputed").matrix(K)
    np.testing.assert_array_equal(found, found.T)


def test_values_that_are_not_finite_are_refused():
    K = make("rbf").between(X, X)
    K[2, 4] = np.nan
    with pytest.raises(ValueError, match="'precomputed' must be finite; rows 2 and 4 have nan"):
        Kernel("precomputed").matrix(K)
    with pytest.raises(ValueError, match="must be finite; rows 0 and 0 have inf"):
        Kernel(lambda X, Z: np.full((7, 7), np.inf)).matrix(X)


def test_a_matrix_that_is_not_symmetric_is_refused():
    K = make("rbf").between(X, X)
    K[4, 2] = 0.5
    with pytest.raises(ValueError, match="not symmetric: rows 2 and 4 have"):
        Kernel("precomputed").matrix(K)


def test_asymmetry_is_found_in_every_block(monkeypatch):
    monkeypatch.setattr("ranksvm.kernel.kernels._BLOCK_ROWS", 2)
    K = make("rbf").between(X, X)
    K[6, 5] = 2
    with pytest.raises(ValueError, match=r"rows 5 and 6 have .*, but rows 6 and 5 have 2"):
        Kernel("precomputed").matrix(K)


def test_a_matrix_that_is_not_semidefinite_is_refused():
    def negative(X, Z):
        return -(X @ Z.T)

    with pytest.raises(ValueError, match=r"'negative' is not positive .* the eigenvalue -"):
        Kernel(negative).matrix(X)
    with pytest.raises(ValueError, match="'sigmoid' is not positive semidefinite"):
        Kernel("sigmoid", gamma=3.0, coef0=-1.0).matrix(X)


def test_singular_matrices_are_taken():
    repeated = np.r_[X, X, X[:1]]
    for name in ("linear", "rbf"):
        assert make(name).matrix(repeated).shape == (15, 15)
    assert not Kernel(lambda X, Z: np.zeros((7, 7))).matrix(X).any()


def test_a_matrix_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"must be a matrix of shape \(7, 7\), not \(7, 4\)"):
        Kernel("precomputed").matrix(make("rbf").between(X, Z))


def test_memory_is_stated_and_refused():
    rows = sparse.csr_matrix((200_000, 3))
    with pytest.raises(ValueError, match=r"200,000 rows takes 640 GB .* max_memory=4 GB; .*Nystr"):
        make("rbf").matrix(rows, max_memory=4e9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gaussian"}, "kernel must be a function or one of .*'rbf'.* not 'gaussian'"),
        ({"kernel": 3}, "kernel must be a function or one of .* not 3"),
        ({"gamma": 0.0}, "gamma must be finite and greater than 0, not 0.0"),
        ({"gamma": "auto"}, "gamma must be a number, None or 'scale', not 'auto'"),
        ({"degree": -1}, "degree must be finite and greater than 0, not -1"),
        ({"coef0": np.nan}, "coef0 must be finite, not nan"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        Kernel(**parameters)


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "laplacian"])
def test_matrix_of_sparse_rows_is_that_of_dense_ones(name):
    rows = RNG.normal(size=(20, 30)) * (RNG.random((20, 30)) < 0.2)
    rows[4] = rows[3]
    kernel = Kernel("sigmoid", gamma=1e-3, coef0=0) if name == "sigmoid" else make(name)
    found = kernel.matrix(sparse.csr_matrix(rows))
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, kernel.matrix(rows), atol=1e-12 * np.abs(found).max())
