"""The explicit Hessian of sparse rows against explicit pairs, and against that of dense blocks."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import make_loss, make_losses, make_pairs, pairs_of
from ranksvm.linear import hessian, sparse_hessian
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

WIDTH = 0.5
by_documents = patch.object(hessian, "OF_BLOCKS", 0)
by_blocks = patch.object(hessian, "OF_BLOCKS", 1 << 40)
every_loss = pytest.mark.parametrize("smoothed", [False, True])


def losses(make, smoothed, *arguments, **options):
    if smoothed:
        return make(SmoothedHinge, *arguments, width=WIDTH, **options)
    return make(SquaredHinge, *arguments, **options)


def stored(dense, rng, values=np.float64, indices=np.int32):
    """Rows as CSR, their values in any order, some as a sum of two, and some zeros among them."""
    columns, parts = [], []
    for row in dense:
        column = np.flatnonzero((row != 0) | (rng.random(len(row)) < 0.1))
        column = rng.permutation(np.r_[column, column[rng.random(len(column)) < 0.2]])
        columns.append(column)
        parts.append(row[column] / np.bincount(column, minlength=len(row))[column])
    indptr = np.cumsum([0, *map(len, columns)], dtype=indices)
    column = np.concatenate(columns).astype(indices)
    return DesignMatrix.from_csr(
        indptr, column, np.concatenate(parts).astype(values), dense.shape[1]
    )


def sparse_numbers(rng, n, d, share=0.3):
    """Eighths, so that halves of them are exact in single precision; some rows are empty."""
    filled = rng.random((n, d)) < share * rng.integers(0, 2, (n, 1))
    return filled * rng.integers(-16, 17, (n, d)) / 8


@every_loss
@given(
    ranking=strategies.rankings(),
    d=st.integers(1, 20),
    seed=st.integers(0, 99),
    values=st.sampled_from([np.float32, np.float64]),
    indices=st.sampled_from([np.int32, np.int64]),
)
def test_against_explicit_pairs(smoothed, ranking, d, seed, values, indices):
    rng = np.random.default_rng(seed)
    n, pairs = len(ranking.y), pairs_of(ranking)
    dense, scale = sparse_numbers(rng, n, d), rng.uniform(0.5, 2, d)
    X = stored(dense, rng, values, indices)
    M = (
        reference.smoothed_laplacian(pairs, ranking.scores, WIDTH) / WIDTH
        if smoothed
        else 2 * reference.laplacian(pairs, ranking.scores)
    )
    Z = dense * scale
    # Terms of all pairs; in the sums of two windows, those below the band cancel.
    everything = reference.graph_laplacian(pairs, pairs.weight) / WIDTH
    rounding = 1e-12 * (np.abs(Z).T @ np.abs(everything) @ np.abs(Z)).max(initial=0)
    for loss in losses(make_losses, smoothed, ranking):
        if not isinstance(loss.pairs, CorePairs):
            continue
        here = loss.evaluate(ranking.scores)
        with by_documents:
            found = X.hessian(here, rng.normal(size=d), scale, np.float32)
        np.testing.assert_allclose(found, Z.T @ M @ Z, rtol=1e-8, atol=rounding)


@st.composite
def mixtures(draw):
    """Short and long queries, and weights of every kind."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 10, 64, 65, 90]), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = sum(sizes)
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y = rng.integers(0, draw(st.sampled_from([1, 2, 5, 100])), n).astype(float)
    weights = {}
    if draw(st.booleans()):
        weights["sample_weight"] = rng.integers(0, 3, n) * draw(st.sampled_from([1.0, 0.7]))
    if draw(st.booleans()):
        weights["pair_weight"] = "gap"
    if draw(st.booleans()):
        weights["better_weight"] = rng.integers(0, 2, n) * draw(st.sampled_from([1.0, 0.7]))
    if draw(st.booleans()):
        weights["worse_weight"] = rng.integers(0, 3, n) * draw(st.sampled_from([1.0, 0.3]))
    loss = losses(make_loss, draw(st.booleans()), y, QueryGroups.from_qid(qid, n), **weights)
    return loss.evaluate(rng.integers(-16, 17, n) / 8), rng


@given(mixture=mixtures(), d=st.integers(1, 70), share=st.sampled_from([0.02, 0.3, 1.0]))
def test_like_blocks_on_any_number_of_threads(mixture, d, share):
    here, rng = mixture
    n = len(here.gradient)
    dense, scale = sparse_numbers(rng, n, d, share), rng.uniform(0.5, 2, d)
    rows = rng.integers(0, n, n)
    X = stored(dense, rng).scaled(scale).take(rows).scaled(scale)

    def found(n_threads, dtype=np.float32):
        return X.hessian(here, dense.mean(axis=0), scale, dtype, n_threads)

    with by_documents:
        one = found(1)
        for n_threads in (2, 3):
            np.testing.assert_array_equal(found(n_threads), one)
        # A few documents and columns at a time.
        with patch.multiple(
            sparse_hessian, STEP=1, LEAST_SUMS=0, SUMS_PER_ROW=0, LEAST_WIDTH=1, MOST_BYTES=0
        ):
            np.testing.assert_array_equal(found(2), one)
    with by_blocks:
        np.testing.assert_allclose(
            one, found(1, np.float64), rtol=1e-9, atol=1e-11 * (1 + np.abs(one).max())
        )


@every_loss
@pytest.mark.parametrize("every", [1, 3])
def test_threads_share_queries_in_the_same_parts(smoothed, every):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 8, 100)
    n = sizes.sum()
    groups = QueryGroups(np.concatenate([[0], np.cumsum(sizes)]))
    loss = losses(make_loss, smoothed, rng.integers(0, 3, n).astype(float), groups)
    here, X = loss.evaluate(rng.normal(size=n)), stored(sparse_numbers(rng, n, 9, 0.9), rng)
    sweep, pairs = hessian.core_sweep(here)

    def found(n_threads):
        return sparse_hessian.sparse_product(
            X.sparse_rows(), X.n_stored, here, int(pairs.n_levels.max()), sweep, n_threads, every
        )

    parts = sparse_hessian._parts(here, 9, 16, X.n_stored, 3)
    assert len(parts) == sparse_hessian.PARTS
    assert parts[0][0] == 0
    assert parts[-1][1] == len(sizes)
    one = found(1)
    for n_threads in (2, 3):
        np.testing.assert_array_equal(found(n_threads), one)
    with patch.object(sparse_hessian, "MOST_BYTES", 0):
        assert len(sparse_hessian._parts(here, 9, 16, X.n_stored, 3)) == 1
        np.testing.assert_allclose(found(1), one, rtol=1e-12, atol=1e-12 * np.abs(one).max())


@given(mixture=mixtures(), every=st.integers(1, 4))
def test_one_in_so_many_queries(mixture, every):
    here, rng = mixture
    dense = sparse_numbers(rng, len(here.gradient), 9)
    X = stored(dense, rng)
    chosen = np.arange(here.groups.n_queries) % every == 0
    is_chosen = here.groups.per_row(chosen)[:, np.newaxis]
    sweep, pairs = hessian.core_sweep(here)
    levels = int(pairs.n_levels.max(initial=1))

    def found(X, every):
        return sparse_hessian.sparse_product(
            X.sparse_rows(), X.n_stored, here, levels, sweep, 2, every
        )

    with patch.object(sparse_hessian, "STEP", 1):
        some = found(X, every)
    # Queries of rows without values add nothing.
    others = found(stored(dense * is_chosen, rng), 1)
    np.testing.assert_allclose(some, others, rtol=1e-12, atol=1e-12 * (1 + np.abs(others).max()))


def test_offsets_are_taken_off():
    rng = np.random.default_rng(0)
    n, d = 100, 6
    dense = sparse_numbers(rng, n, d)
    dense[:, 2] = 1e9 + rng.integers(0, 9, n)
    order = np.argsort(rng.random((n, d)), axis=1)
    indices = order.ravel().astype(np.int32)
    values = np.take_along_axis(dense, order, axis=1).ravel()
    X = DesignMatrix.from_csr(np.arange(0, n * d + 1, d, dtype=np.int32), indices, values, d)
    here = SquaredHinge(make_pairs(rng.integers(0, 3, n))).evaluate(rng.normal(size=n))
    near = dense - np.array([0, 0, 1e9, 0, 0, 0])
    with by_documents:
        found = X.centered().hessian(here, dense.mean(axis=0), np.ones(d), np.float32)
    expected = near.T @ here.hessian_product(near)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_huge_and_tiny_columns_are_scaled_before_they_are_multiplied():
    rng = np.random.default_rng(0)
    n, d = 30, 4
    dense, size = sparse_numbers(rng, n, d), 10.0 ** np.array([-200, -3, 3, 200])
    here = SquaredHinge(make_pairs(rng.integers(0, 3, n))).evaluate(rng.normal(size=n))
    with by_documents:
        found = stored(dense * size, rng).hessian(here, np.zeros(d), 1 / size, np.float32)
    expected = dense.T @ here.hessian_product(dense)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_few_stored_values_decide():
    rng = np.random.default_rng(0)
    here = SquaredHinge(make_pairs(rng.integers(0, 3, 40))).evaluate(rng.normal(size=40))
    with patch.object(hessian, "sparse_product", wraps=hessian.sparse_product) as product:
        for n_stored, by_product in ((40 * 16 // hessian.OF_BLOCKS, 1), (40 * 16, 0)):
            column = np.arange(n_stored, dtype=np.int32) % 16
            indptr = (np.arange(41, dtype=np.int32) * n_stored) // 40
            X = DesignMatrix.from_csr(indptr, column, np.ones(n_stored), 16)
            X.hessian(here, np.zeros(16), np.ones(16), np.float32)
            assert product.call_count == by_product
            product.reset_mock()


def test_arrays_that_do_not_fit_are_refused():
    here = SquaredHinge(make_pairs(np.arange(5.0))).evaluate(np.zeros(5))
    csr = stored(np.eye(5), np.random.default_rng(0)).sparse_rows()

    def start(
        scale=csr.scale,
        rows=None,
        columns=(0, 8),
        result=np.zeros((5, 8)),  # noqa: B008
        queries=(0, 1, 1),
    ):
        return csr.core.hessian(here.sweep, None, scale, rows, *columns, result, *queries)

    assert not start().advance(5)
    with pytest.raises(ValueError, match="one row per document"):
        start(rows=np.zeros(4, dtype=np.int64))
    with pytest.raises(ValueError, match="no such row"):
        start(rows=np.full(5, 5))
    with pytest.raises(ValueError, match="no such columns"):
        start(columns=(0, 9))
    with pytest.raises(ValueError, match="for each column"):
        start(result=np.zeros((5, 4)))
    with pytest.raises(ValueError, match="fit the matrix"):
        start(scale=np.ones(4))
    with pytest.raises(ValueError, match="every must be positive"):
        start(queries=(0, 1, 0))
    for queries in ((-1, 1, 1), (1, 0, 1), (0, 2, 1)):
        with pytest.raises(ValueError, match="no such queries"):
            start(queries=queries)
