"""Products that several trainings share, against those of each by itself."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ranksvm import RankSVMCV, _core
from ranksvm.linear import shared_products
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.in_step import InStep
from ranksvm.linear.shared_products import SharedProducts
from ranksvm.linear.stored import Stored
from ranksvm.pairs.rounding import relative_rounding


def sparse_rows(n, d, seed, dtype=np.float64, density=0.3):
    return sparse.random(n, d, density, "csr", dtype=dtype, random_state=seed)


def core_of(X):
    kind = _core.CsrMatrix32 if X.dtype == np.float32 else _core.CsrMatrix64
    return kind(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])


def shared(X, steps, n_threads=1):
    stored = DesignMatrix.from_array(X)._products
    assert isinstance(stored, Stored)
    return SharedProducts(stored, steps, n_threads)


@given(
    n=st.integers(0, 30),
    d=st.integers(1, 20),
    n_vectors=st.integers(0, 14),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([np.float32, np.float64]),
    squares=st.booleans(),
)
def test_products_of_several_vectors(n, d, n_vectors, seed, dtype, squares):
    X = sparse_rows(n, d, seed, dtype)
    vectors = list(np.random.default_rng(seed).normal(size=(n_vectors, d)))
    core, dense = core_of(X), X.toarray().astype(np.float64)
    products = core.dots(vectors, squares)
    assert products.shape == (n_vectors, n)
    expected = np.array(vectors).reshape(n_vectors, d) @ (dense**2 if squares else dense).T
    np.testing.assert_allclose(products, expected, rtol=1e-12, atol=1e-14)
    alone = [core.dots([vector], squares)[0] for vector in vectors]
    np.testing.assert_array_equal(products, np.reshape(alone, products.shape))


def test_many_rows_on_several_threads():
    X = sparse_rows(5000, 300, 0)
    vectors = list(np.random.default_rng(0).normal(size=(9, 300)))
    core = core_of(X)
    one = core.dots(vectors)
    np.testing.assert_array_equal(core.dots(vectors, n_threads=3), one)
    np.testing.assert_allclose(one, (X @ np.transpose(vectors)).T, rtol=1e-12, atol=1e-12)


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(ValueError, match="does not fit"):
        core_of(sparse_rows(4, 3, 0)).dots([np.ones(3), np.ones(4)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_gets_its_own(dtype):
    X, steps = sparse_rows(60, 40, 1, dtype), InStep(2)
    both, dense = shared(X, steps, n_threads=2), X.toarray().astype(np.float64)

    def go(seed):
        rng = np.random.default_rng(seed)
        w, u, v = rng.normal(size=40), rng.normal(size=60), rng.random(60)
        with steps.member():
            products = both.dot(w, 1), both.t_dot(u, 1), both.t_dot_squares(u, v, 1)
        np.testing.assert_allclose(products[0], dense @ w, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(products[1], u @ dense, rtol=1e-12, atol=1e-13)
        squares = np.stack([u @ dense, v @ dense**2], axis=1)
        np.testing.assert_allclose(products[2], squares, rtol=1e-12, atol=1e-13)
        return products

    with ThreadPoolExecutor(7) as pool:
        together = list(pool.map(go, range(7)))
    for seed, products in enumerate(together):
        for one, other in zip(products, go(seed), strict=True):
            np.testing.assert_array_equal(one, other)


def test_sums_of_the_transpose_are_as_exact_as_said():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.normal(size=(5000, 3)) * 10.0 ** rng.integers(-8, 8, (5000, 3)))
    u = rng.normal(size=5000)
    view = shared(X, InStep())
    terms = X.toarray().astype(np.longdouble) * u[:, None]
    bound = relative_rounding(view.rows_in_a_sum) * np.abs(terms).sum(axis=0)
    assert (np.abs(view.t_dot(u, 1) - terms.sum(axis=0)) <= bound).all()


def some_text(n=120, d=60):
    rng = np.random.default_rng(3)
    X = sparse_rows(n, d, 3, density=0.2)
    return X, np.round(X @ rng.normal(size=d) + rng.normal(size=n), 1)


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(shared_products, "SHARED", range(1, 1 << 20))
    monkeypatch.setattr(shared_products, "LEAST_COLUMNS", 1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_folds_that_share_choose_as_those_that_do_not(small_is_large, monkeypatch, loss):
    X, y = some_text()
    fits = [
        RankSVMCV(6, cv=4, loss=loss, n_jobs=n_jobs, n_threads=n_threads).fit(X, y)
        for n_jobs, n_threads in ((None, 1), (None, 2), (1, 1), (3, 2))
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(
            fit.cv_results_["mean_test_score"], fits[0].cv_results_["mean_test_score"]
        )
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)
    monkeypatch.setattr(shared_products, "SHARED", range(0))
    alone = RankSVMCV(6, cv=4, loss=loss).fit(X, y)
    assert alone.C_ == fits[0].C_
    np.testing.assert_allclose(
        alone.cv_results_["mean_test_score"], fits[0].cv_results_["mean_test_score"], atol=0.02
    )


def test_folds_share_passes(small_is_large, monkeypatch):
    sizes = []
    dots = Stored.dots

    def counted(self, vectors, n_threads, **options):
        sizes.append(len(vectors))
        return dots(self, vectors, n_threads, **options)

    all_there, member = Barrier(4, timeout=60), InStep.member

    @contextmanager
    def together(self):
        with member(self):
            all_there.wait()
            yield

    monkeypatch.setattr(InStep, "member", together)
    monkeypatch.setattr(Stored, "dots", counted)
    RankSVMCV(5, cv=4, n_threads=1, n_jobs=4).fit(*some_text())
    assert np.mean(sizes) > 2


def test_what_is_dense_small_or_centered_is_not_shared(monkeypatch):
    monkeypatch.setattr(shared_products, "LEAST_COLUMNS", 1)
    steps, X = InStep(), sparse_rows(30, 10, 0)
    plain = DesignMatrix.from_array(X)
    assert plain.in_step(steps) is plain
    monkeypatch.setattr(shared_products, "SHARED", range(1, 1 << 20))
    assert plain.in_step(steps) is not plain
    dense = DesignMatrix.from_array(X.toarray())
    assert dense.in_step(steps) is dense
    everywhere = sparse.csr_matrix(np.arange(300.0).reshape(30, 10) + 1e6)
    centered = DesignMatrix.from_array(everywhere).centered()
    assert centered.in_step(steps) is centered
    unshared = DesignMatrix.from_array(everywhere).in_step(steps).centered()
    np.testing.assert_array_equal(unshared.dot(np.ones(10)), centered.dot(np.ones(10)))
