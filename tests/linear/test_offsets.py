"""Columns that lie far from zero: what is taken off them, and what it leaves of rounding."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.offsets import FAR, N_SAMPLED, column_offsets, sampled_rows

STORAGES = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "csr": sparse.csr_matrix,
}
every_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)


def exact(values):
    return [Fraction(float(value)) for value in np.ravel(values)]


def timestamps(n=40, offset=1e9, seed=0):
    rng = np.random.default_rng(seed)
    start, passed = rng.integers(0, 1000, n), rng.integers(1, 8, n)
    X = np.c_[offset + start, offset + start + passed]
    return X, np.digitize(passed + rng.normal(size=n), [3, 5])


def test_sampled_rows_are_some_of_all():
    for n in (1, 2, 5, N_SAMPLED, 100, 12_345):
        rows = sampled_rows(n)
        assert len(rows) == min(n, N_SAMPLED) == len(set(rows))
        assert rows[0] == 0
        assert rows[-1] == n - 1
    assert len(sampled_rows(0)) == 0


def test_offsets_are_for_columns_that_lie_far_from_zero():
    rng = np.random.default_rng(0)
    near = rng.normal(size=17)
    far, huge, outlier = 1e6 + near, -1e12 + near, 1e6 + near
    outlier[3] = 1e15
    wide = 1e3 * near + 5e3
    constant = np.full(17, 3.0)
    offset = column_offsets(np.c_[near, far, huge, outlier, wide, constant])
    assert offset.tolist() == [0, *np.median([far, huge, outlier], axis=1), 0, 3]
    assert column_offsets(np.c_[near, wide, constant]) is None
    assert column_offsets(np.full((5, 1), 2 * FAR)).tolist() == [2 * FAR]
    assert column_offsets(np.zeros((4, 3))) is None
    assert column_offsets(np.zeros((0, 3))) is None
    assert column_offsets(np.zeros((4, 0))) is None


@every_storage
def test_products_are_those_of_what_is_left(storage):
    X = storage(
        timestamps()[0] if storage is not STORAGES["float32"] else 1e4 + timestamps()[0] % 7
    )
    matrix = DesignMatrix.from_array(X)
    centered = matrix.centered()
    assert centered is not matrix
    assert centered.centered() is centered
    dense = X.toarray() if sparse.issparse(X) else X
    rng = np.random.default_rng(1)
    w, u = rng.normal(size=2), rng.normal(size=len(dense))
    u[-1] = -u[:-1].sum()
    scores, bound = centered.dot_within(w, 2)
    np.testing.assert_array_equal(scores, centered.dot(w))
    # Differences from the first row are exact, whatever was taken off.
    for i in range(1, len(dense)):
        truth = sum(
            (x - a) * v for x, a, v in zip(exact(dense[i]), exact(dense[0]), exact(w), strict=True)
        )
        error = abs(Fraction(scores[i]) - Fraction(scores[0]) - truth)
        assert error <= Fraction(bound[i]) + Fraction(bound[0])
        assert error <= 1e-12
    for k in range(2):
        truth = sum(x * v for x, v in zip(exact(dense[:, k]), exact(u), strict=True))
        drift = sum(exact(u)) * Fraction(float(dense[:, k].mean()))
        assert abs(Fraction(centered.t_dot(u)[k]) - (truth - drift)) <= 1e-9
    squares = ((dense - np.median(dense, axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(centered.column_squares(), squares, rtol=0.2)


@every_storage
def test_views_are_centered_as_what_they_view(storage):
    X = storage(1e4 + timestamps()[0] % 7)
    matrix, rows = DesignMatrix.from_array(X), np.array([3, 1, 7, 7])
    w = np.array([0.5, -2.0])
    whole = matrix.centered().dot(w)
    np.testing.assert_array_equal(matrix.take(rows).centered().dot(w), whole[rows])
    np.testing.assert_array_equal(matrix.take(rows).centered().dot_within(w)[0], whole[rows])
    [view] = matrix.views(rows)
    np.testing.assert_array_equal(view.centered().dot(w), whole[rows])
    scale = np.array([2.0, 0.25])
    np.testing.assert_array_equal(matrix.scaled(scale).centered().dot(w / scale), whole)
    block = matrix.centered().gather((0, 4, rows), (0, 2), np.zeros(2), np.ones(2), np.float64)
    np.testing.assert_allclose(block @ w, whole[rows], atol=1e-9)


def test_what_lies_near_zero_is_left_as_it_is():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for storage in STORAGES.values():
        matrix = DesignMatrix.from_array(storage(X))
        assert matrix.centered() is matrix
        assert matrix.take(np.arange(5)).centered().shape == (5, 3)


def test_in_sparse_rows_only_what_every_row_stores_just_once():
    X, _ = timestamps()
    X = sparse.csr_matrix(np.c_[X, X, np.ones(len(X))])
    for k, row in ((1, 5), (2, 20)):
        X[row, k] = 0  # stored still
    X.data[X.indptr[20] + 2] = 0
    X = sparse.csr_matrix(X)
    doubled = sparse.csr_matrix(
        (
            np.append(X.data, [1e9, -1e9]),
            np.append(X.indices, [3, 3]),
            np.r_[X.indptr[:-1], X.nnz + 2],
        ),
        shape=X.shape,
    )  # two more, of a column that the last row has already
    doubled.data[X.indptr[-2] + 3] = X.data[X.indptr[-2] + 3]
    matrix = DesignMatrix.from_csr(doubled.indptr, doubled.indices, doubled.data, 5).centered()
    moved = matrix.dot(np.eye(5)[0]) - doubled.toarray()[:, 0]
    assert np.ptp(moved) == 0
    assert moved[0] < -1e8
    np.testing.assert_array_equal(matrix.dot(np.eye(5)[3]), doubled @ np.eye(5)[3])
    missing = sparse.csr_matrix(doubled.toarray()[:, :3])
    missing.data[missing.indptr[5]] = 0
    missing.eliminate_zeros()
    matrix = DesignMatrix.from_array(missing).centered()
    np.testing.assert_array_equal(matrix.dot(np.eye(3)[0]), missing @ np.eye(3)[0])


@every_storage
def test_training_sees_small_differences_of_large_numbers(storage):
    if storage is STORAGES["float32"]:
        pytest.skip("single precision does not hold them")
    X, y = timestamps()
    near = RankSVM(loss="hinge", tol=1e-9).fit(X - 1e9, y)
    far = RankSVM(loss="hinge", tol=1e-9).fit(storage(X), y)
    assert far.status_ == "converged"
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-8)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-3)
    assert far.dual_gap_ <= 1e-9
    # Predictions are of X as it is.
    np.testing.assert_allclose(far.predict(X), X @ far.coef_, rtol=1e-12)


@every_storage
def test_some_rows_are_of_columns_that_every_row_stores(storage):
    dense = np.random.default_rng(0).integers(1, 9, (40, 5)).astype(float)
    dense[30, 1] = 0
    expected = [0, 2, 3, 4] if storage is sparse.csr_matrix else range(5)
    for part in (slice(0, 0), slice(0, 9), slice(0, 40)):
        columns, some = DesignMatrix.from_array(storage(dense[part])).some_rows()
        n = len(dense[part])
        kept = [] if n == 0 else range(5) if n < 30 else expected
        np.testing.assert_array_equal(columns, kept)
        np.testing.assert_array_equal(some, dense[sampled_rows(n)][:, columns])
