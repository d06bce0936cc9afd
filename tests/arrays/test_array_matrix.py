"""The design matrix on arrays: products like those of explicit rows, however X is stored."""

from math import fsum
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cases import linear_objective, make_loss
from places import LIBRARIES, Place
from ranksvm.arrays import gpus, hessian, placement, query_blocks, rows
from ranksvm.arrays.matrix import ArrayMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.losses import SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups
from ranksvm.pairs.rounding import relative_rounding
from strategies import examples

STORAGES = {
    "dense64": np.array,
    "dense32": lambda X: np.array(X, dtype=np.float32),
    "csr64": sparse.csr_matrix,
    "csr32": lambda X: sparse.csr_matrix(X, dtype=np.float32),
}

every_storage = pytest.mark.parametrize("storage", STORAGES)


@pytest.fixture(scope="module", params=LIBRARIES)
def device(request):
    return Place.named(request.param).device


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    """Several blocks and pieces of rows, and panels of columns, for a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK_BYTES", 200)
        patch.setattr(rows, "PIECE_ROWS", 3)
        patch.setattr(hessian, "PANEL_BYTES", 400)
        yield


def make_rows(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.integers(0, 2, (n, d)) * 10.0 ** rng.integers(-3, 4, d)
    return np.round(1024 * X) / 1024, rng


shapes = {"n": st.integers(1, 30), "d": st.integers(1, 9), "seed": st.integers(0, 10**6)}


@every_storage
@examples(50)
@given(**shapes)
def test_products_are_those_of_the_rows(device, storage, n, d, seed):
    X, rng = make_rows(seed, n, d)
    stored = STORAGES[storage](X)
    dense = (stored.toarray() if sparse.issparse(stored) else stored).astype(np.float64)
    scale = 10.0 ** rng.uniform(-2, 2, d)
    w, u, v = rng.normal(size=d), rng.normal(size=n), rng.normal(size=n)
    plain = placement.copied(stored, device)
    for matrix, Z in [(plain, dense), (plain.scaled(scale), dense * scale)]:
        size = np.abs(Z)
        scores = device.to_host(matrix.dot(w))
        np.testing.assert_allclose(scores, Z @ w, atol=1e-14 * (size @ np.abs(w)).max())
        atol = 1e-14 * (np.abs(u) @ size).max()
        np.testing.assert_allclose(matrix.t_dot(device.asarray(u)), Z.T @ u, atol=atol)
        product, squares = matrix.t_dot_squares(device.asarray(u), device.asarray(v))
        np.testing.assert_allclose(product, Z.T @ u, atol=atol)
        np.testing.assert_allclose(squares, (Z * Z).T @ v, atol=1e-13 * (size**2).sum())
    assert plain.shape == X.shape
    assert plain.n_stored == (stored.nnz if sparse.issparse(stored) else X.size)


@every_storage
@examples(50)
@given(**shapes)
def test_standardization_is_that_of_the_columns(device, storage, n, d, seed):
    X, _ = make_rows(seed, n, d)
    mean, scale = placement.copied(STORAGES[storage](X), device).standardization()
    stored = STORAGES[storage](X)
    dense = (stored.toarray() if sparse.issparse(stored) else stored).astype(np.float64)
    deviation = dense.std(axis=0)
    np.testing.assert_allclose(mean, dense.mean(axis=0), rtol=1e-12, atol=1e-12)
    varies = deviation > 1e-6 * np.abs(mean)
    np.testing.assert_allclose(scale[varies], 1 / deviation[varies], rtol=1e-3)
    np.testing.assert_array_equal(scale[deviation == 0], 1)


@every_storage
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-5), (np.float64, 1e-11)])
def test_hessian_is_that_of_the_core(device, storage, scaled, dtype, atol):
    X, rng = make_rows(3, 400, 12)
    X = STORAGES[storage](X)
    y, groups = rng.integers(0, 5, 400), QueryGroups.from_qid(rng.integers(0, 9, 400), 400)
    core = linear_objective(X, make_loss(SquaredHinge, y, groups), 0.1)
    matrix = placement.copied(X, device)
    expected, w = core.X, rng.normal(size=12) * core.X.standardization()[1] / 12
    if scaled:
        factors = 10.0 ** rng.uniform(-2, 2, 12)
        expected, matrix, w = core.X.scaled(factors), matrix.scaled(factors), w / factors
    there = LinearObjective(matrix, make_loss(SquaredHinge, y, groups, device=device), 0.1)
    H, _ = there.evaluate(w).scaled_hessian(dtype)
    G, _ = LinearObjective(expected, core.loss, 0.1).evaluate(w).scaled_hessian(np.float64)
    unit = np.sqrt(np.diag(G))
    np.testing.assert_allclose(H / np.outer(unit, unit), G / np.outer(unit, unit), atol=atol)
    np.testing.assert_array_equal(H, H.T)


@examples(60)
@given(
    sizes=st.lists(st.sampled_from([1, 2, 3, 17, 20, 40]), min_size=1, max_size=9),
    levels=st.integers(2, 30),
    loss=st.sampled_from(["squared", "smoothed"]),
    weighted=st.sampled_from([(), ("sample_weight",), ("query_weight",), ("pair_weight",)])
    | st.just(("sample_weight", "query_weight", "pair_weight")),
    dtype=st.sampled_from([np.float32, np.float64]),
    mixed=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_pairs_of_short_queries_make_the_same_hessian(
    device, sizes, levels, loss, weighted, dtype, mixed, seed
):
    X, rng = make_rows(seed, sum(sizes), 5)
    X += 1e3 * rng.integers(0, 2, 5)
    n = len(X)
    weights = {
        "sample_weight": rng.integers(0, 4, n) * 1e20,
        "query_weight": rng.integers(0, 3, len(sizes)) * 1e-30,
        "pair_weight": "gap",
    }
    y = rng.integers(0, levels, n) - 1e6
    qid = np.repeat(np.arange(len(sizes)), sizes)
    groups = QueryGroups.from_qid(rng.permutation(qid) if mixed else qid, n)
    Loss, width = (SquaredHinge, None) if loss == "squared" else (SmoothedHinge, 0.7)
    options = {name: weights[name] for name in weighted}
    there = make_loss(Loss, y, groups, width=width, device=device, **options)
    here = there.evaluate(device.asarray(rng.normal(size=n)))
    matrix = placement.copied(X, device)
    shift, scale = X.mean(axis=0), rng.uniform(0.5, 2, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_blocks, "BLOCK_NUMBERS", 1600)
        patch.setattr(hessian, "suits_blocks", lambda layout, d: True)
        of_blocks = matrix.hessian(here, shift, scale, dtype)
        patch.setattr(hessian, "suits_blocks", lambda layout, d: False)
        of_panels = matrix.hessian(here, shift, scale, np.float64)
    rtol = 1e-5 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(of_blocks, of_panels, rtol=0, atol=rtol * np.abs(of_panels).max())


def test_blocks_are_for_short_queries():
    layout = SimpleNamespace(n_samples=3000, splits=range(3))

    def suits(*sizes):
        layout.sizes, layout.longest = np.array(sizes), max(sizes)
        return query_blocks.suits_blocks(layout, 10)

    assert suits(*[50] * 60)
    assert suits(200, *[50] * 56)
    assert not suits(3000)
    assert not query_blocks.suits_blocks(
        SimpleNamespace(n_samples=9000, splits=range(13), sizes=np.array([9000]), longest=9000), 999
    )


def test_float32_storage_keeps_the_digits_of_a_long_sum(device):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, size=(200_000, 2)).astype(np.float32)
    matrix = ArrayMatrix(rows.DenseRows(device, device.asarray(X)))
    u = rng.normal(size=len(X))
    exact = X.astype(np.float64).T @ u
    np.testing.assert_allclose(matrix.t_dot(device.asarray(u)), exact, rtol=1e-11)


@every_storage
def test_sums_over_many_rows_round_little(device, storage, monkeypatch):
    monkeypatch.setattr(rows, "BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(rows, "PIECE_ROWS", 256)
    rng = np.random.default_rng(0)
    X = STORAGES[storage](
        np.where(rng.random((100_000, 3)) < 0.02, rng.normal(size=(100_000, 3)), 0)
    )
    matrix, u = placement.copied(X, device), rng.normal(size=100_000)
    assert matrix.rounding_of_sums < 0.25 * relative_rounding(100_000)
    dense = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
    terms = dense * u[:, np.newaxis]
    exact = [fsum(column) for column in terms.T]
    lost = np.abs(matrix.t_dot(device.asarray(u)) - exact)
    assert np.all(lost <= matrix.rounding_of_sums * np.abs(terms).sum(axis=0))


# --- memory ---------------------------------------------------------------------------------------


def test_too_little_memory_is_told_with_an_estimate(device, monkeypatch):
    monkeypatch.setattr(gpus, "free_memory", lambda device: 1 << 30)
    with pytest.raises(MemoryError, match=r"X takes about 0\.0 GiB.*1\.0 GiB are free.*cpu"):
        placement.copied(sparse.csr_matrix(np.eye(3)), device)
    with pytest.raises(MemoryError, match=r"training 2\.0 GiB more.*fewer rows"):
        placement.copied(np.eye(3), device)


def test_rows_that_do_not_fit_are_streamed(device, monkeypatch):
    X, rng = make_rows(1, 300, 5)
    beside = placement.BYTES_OF_PANELS + 300 * placement.BYTES_PER_ROW
    monkeypatch.setattr(gpus, "free_memory", lambda device: beside + 100)
    with pytest.warns(UserWarning, match="X stays on the host"):
        streamed = placement.copied(X, device)
    held = ArrayMatrix(rows.DenseRows(device, device.asarray(X)))
    assert (held.is_large, streamed.is_large) == (False, True)  # how dear a pass is
    y = rng.integers(0, 4, 300)
    evaluations = [
        LinearObjective(matrix, make_loss(SquaredHinge, y, device=device), 0.01).evaluate(
            np.ones(5) / 100
        )
        for matrix in (held, streamed)
    ]
    held, streamed = ((here.value, here.gradient, here.hessian()) for here in evaluations)
    for a, b in zip(held, streamed, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(a).max())


def test_the_memory_of_a_gpu_is_known(device):
    free = gpus.free_memory(device)
    assert (free is None) == ("cpu" in str(device.device))
    assert free is None or free > 1 << 20
