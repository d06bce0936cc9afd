"""RankSVM on a GPU, by each library that sees one: the optimum of the core."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from places import GPUS, Place
from ranksvm import RankSVM
from ranksvm.arrays import gpus, placement
from ranksvm.arrays.libraries import library_of, on_gpu, to_host


@pytest.fixture(scope="module", params=GPUS)
def place(request):
    """A GPU; skipped, with what the library says, where it sees none."""
    return Place.named(request.param)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = np.round(64 * rng.normal(size=(3000, 9))) / 64 * (rng.random((3000, 9)) < 0.7)
    y = np.floor(X @ rng.normal(size=9) + rng.normal(size=3000))
    qid = np.sort(rng.zipf(1.5, 3000) % 400)  # one long query, many of a row or two
    return X, y, qid


def of_library(X, place):
    """Rows as an array of the library, on the GPU."""
    library = place.name.partition(":")[0]
    module = pytest.importorskip(library)
    if not sparse.issparse(X):
        return (
            module.asarray(X, device=place.device.device)
            if library == "torch"
            else module.asarray(X)
        )
    if library == "cupy":
        return pytest.importorskip("cupyx.scipy.sparse").csr_matrix(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that sparse tensors are young
        parts = [place.device.asarray(part) for part in (X.indptr, X.indices, X.data)]
        return module.sparse_csr_tensor(*parts, X.shape)


KINDS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_matrix,
    "float32 csr": lambda X: sparse.csr_matrix(X, dtype=np.float32),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("solver", ["auto", "newton", "trust_region"])
def test_the_optimum_is_that_of_the_core(problem, place, kind, loss, solver):
    X, y, qid = problem
    tol = 1e-12 if loss == "squared_hinge" else 1e-8
    core = RankSVM(loss=loss, solver=solver, tol=tol).fit(X, y, qid)
    there = of_library(KINDS[kind](X), place)
    held = RankSVM(loss=loss, solver=solver, tol=tol).fit(there, y, qid)
    copied = RankSVM(loss=loss, solver=solver, tol=tol, device=place.name).fit(
        KINDS[kind](X), y, qid
    )
    for model in (held, copied):
        assert model.status_ == "converged"
        # No lower bound may lie above a value, wherever either was found.
        assert core.objective_ * (1 - core.dual_gap_) <= model.objective_
        assert model.objective_ * (1 - model.dual_gap_) <= core.objective_
        np.testing.assert_allclose(model.coef_, core.coef_, rtol=1e4 * tol**0.5, atol=1e-12)
    scores = held.predict(there)
    assert library_of(scores) == place.name.partition(":")[0]
    assert on_gpu(scores)
    np.testing.assert_allclose(to_host(scores), X @ held.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_dense_rows_give_the_same_bits_twice(problem, place, kind, loss):
    X, y, qid = problem
    there = of_library(KINDS[kind](X), place)
    one, two = (RankSVM(loss=loss, tol=1e-8).fit(there, y, qid) for _ in range(2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.objective_ == two.objective_


def test_all_that_is_given_may_be_on_the_gpu(problem, place):
    X, y, qid = problem
    weight = np.linspace(0.5, 2, len(y))
    expected = RankSVM(tol=1e-12).fit(X, y, qid, weight)
    model = RankSVM(tol=1e-12).fit(*(of_library(a, place) for a in (X, y, qid, weight)))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    score = model.score(*(of_library(a, place) for a in (X, y, qid)))
    assert score == pytest.approx(expected.score(X, y, qid), abs=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_signs_bounds_priors_and_zeros(problem, place, loss):
    X, y, qid = problem
    options = {"loss": loss, "tol": 1e-8, "l1_ratio": 0.5, "positive": True}
    upper, prior = np.linspace(0.01, 1, 9), np.linspace(-1, 1, 9)
    core = RankSVM(upper_bounds=upper, prior=prior, **options).fit(X, y, qid)
    upper, prior, there = (of_library(a, place) for a in (upper, prior, X))
    model = RankSVM(upper_bounds=upper, prior=prior, **options).fit(there, y, qid)
    assert model.objective_ == pytest.approx(core.objective_, rel=3e-8)
    np.testing.assert_allclose(model.coef_, core.coef_, atol=1e-3)


def test_rows_on_a_gpu_come_back_for_the_core(problem, place):
    X, y, qid = problem
    there = of_library(X, place)
    core = RankSVM(device="cpu", tol=1e-12).fit(there, y, qid)
    np.testing.assert_array_equal(core.coef_, RankSVM(tol=1e-12).fit(X, y, qid).coef_)


def test_rows_that_do_not_fit_are_streamed_or_refused(problem, place, monkeypatch):
    X, y, qid = problem
    expected = RankSVM(tol=1e-12).fit(X, y, qid)
    beside = placement.BYTES_OF_PANELS + len(X) * placement.BYTES_PER_ROW
    monkeypatch.setattr(gpus, "free_memory", lambda device: beside + 100)
    with pytest.warns(UserWarning, match="X stays on the host"):
        model = RankSVM(tol=1e-12, device=place.name).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    monkeypatch.setattr(gpus, "free_memory", lambda device: beside - 1)
    with pytest.raises(MemoryError, match=r"too little memory on .*free some"):
        RankSVM(device=place.name).fit(X, y, qid)
