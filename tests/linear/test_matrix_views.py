"""Views of X are the matrices that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from cases import make_problem
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.linear.stored import Stored
from ranksvm.linear.training import make_problem as formulate
from ranksvm.pairs.preferences import Preferences


@st.composite
def views(draw):
    """A view as a DesignMatrix and as an array, and a generator of numbers."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    dense = dense.astype(draw(st.sampled_from([np.float32, np.float64])))
    kind = draw(st.sampled_from([np.asarray, csr_matrix]))
    view, array = DesignMatrix.from_array(kind(dense)), dense.astype(np.float64)
    for step in draw(st.lists(st.sampled_from(["take", "scaled"]), max_size=3)):
        if step == "take":
            rows = rng.integers(0, len(array), draw(st.integers(1, 10)))
            view, array = view.take(rows), array[rows]
        else:
            scale = 10.0 ** rng.integers(-3, 4, d)
            view, array = view.scaled(scale), array * scale
    return view, array, rng


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_take_every_column_into_account(kind, dtype):
    rng = np.random.default_rng(0)
    for d in range(1, 50):
        X = rng.integers(1, 9, (5, d)).astype(dtype)  # sums of whole numbers are exact
        w, u = rng.integers(1, 9, d).astype(float), rng.integers(1, 9, 5).astype(float)
        matrix = DesignMatrix.from_array(kind(X))
        np.testing.assert_array_equal(matrix.dot(w), X @ w)
        np.testing.assert_array_equal(matrix.t_dot(u), X.T @ u)


@given(views())
def test_products_of_views(case):
    view, array, rng = case
    n, d = array.shape
    w, u, v = rng.normal(size=d), rng.normal(size=n), rng.normal(size=n)
    close = {"rtol": 1e-10, "atol": 1e-10 * (1 + np.abs(array).max() ** 2)}
    assert view.shape == (n, d)
    np.testing.assert_allclose(view.dot(w, 2), array @ w, **close)
    np.testing.assert_allclose(view.t_dot(u, 2), array.T @ u, **close)
    first, squares = view.t_dot_squares(u, v, 2)
    np.testing.assert_allclose(first, array.T @ u, **close)
    np.testing.assert_allclose(squares, (array**2).T @ v, **close)


@given(views())
def test_views_that_share_a_product(case):
    view, array, rng = case
    n, d = array.shape
    parts = [rng.permutation(n)[: rng.integers(1, n + 1)] for _ in range(2)]
    u, w = rng.normal(size=d), rng.normal(size=d)
    seen = view.views(*parts)
    for weights in (w, w.copy(), u, w):
        for part, rows in zip(seen, parts, strict=True):
            np.testing.assert_array_equal(part.dot(weights), view.dot(weights)[rows])
    w[0] += 1
    np.testing.assert_array_equal(seen[0].dot(w), view.dot(w)[parts[0]])
    v = rng.normal(size=len(parts[1]))
    np.testing.assert_array_equal(seen[1].t_dot(v), view.take(parts[1]).t_dot(v))


@given(views())
def test_blocks_of_views(case):
    view, array, rng = case
    n, d = array.shape
    order = rng.permutation(n)
    first, last = np.sort(rng.integers(0, n + 1, 2)).tolist()
    shift, scale = rng.normal(size=d), rng.uniform(0.5, 2, d)
    for rows, expected in [
        ((first, last, order), array[order[first:last]]),
        ((first, last, None), array[first:last]),
    ]:
        expected = (expected - shift) * scale
        for dtype, rtol in [(np.float64, 1e-10), (np.float32, 1e-5)]:
            block = view.gather(rows, (0, d), shift, scale, dtype)
            assert block.dtype == dtype
            atol = rtol * (1 + np.abs(array).max())
            np.testing.assert_allclose(block, expected, rtol=rtol, atol=atol)
            among = np.full((len(expected) + 2, d), 7.0, dtype)
            view.gather(rows, (0, d), shift, scale, dtype, among[1:-1])
            np.testing.assert_array_equal(among[1:-1], block)
            np.testing.assert_array_equal(among[[0, -1]], 7.0)


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_a_block_has_to_fit_where_it_goes(kind):
    X = DesignMatrix.from_array(kind(np.ones((4, 3))))
    for shape in ((3, 2), (2, 2), (2, 3)):
        with pytest.raises(ValueError, match="out is of another shape"):
            X.gather((0, 3, None), (0, 3), np.zeros(3), np.ones(3), np.float64, np.empty(shape))
    with pytest.raises(TypeError):
        X.gather((0, 3, None), (0, 3), np.zeros(3), np.ones(3), np.float32, np.empty((3, 3)))


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("solver", ["newton", "trust_region", "bundle"])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_training_on_a_view_is_training_on_its_rows(loss, solver, kind):
    X, y, qid = make_problem(3, n=60)
    rows = np.random.default_rng(0).permutation(60)[:45]
    parameters = Parameters(loss=loss, solver=solver, tol=1e-8)
    scale = np.array([1.0, 2.0, 0.5, 3.0])
    view = DesignMatrix.from_array(kind(X)).take(rows).scaled(scale)
    copy = DesignMatrix.from_array(X[rows] * scale)
    seen = train(view, Preferences.from_labels(y[rows], qid[rows]), parameters=parameters).result
    copied = train(copy, Preferences.from_labels(y[rows], qid[rows]), parameters=parameters).result
    assert seen.value == pytest.approx(copied.value, rel=2e-8)
    distance = 2 * np.sqrt(2e-8 * copied.value)  # strongly convex
    assert np.linalg.norm(seen.weights - copied.weights) <= distance


def test_parts_share_the_product_that_comes_with_a_bound(monkeypatch):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30, 4)), rng.normal(size=4)
    first, second = np.arange(20), np.arange(20, 30)
    seen, unseen = DesignMatrix.from_array(X).views(first, second)
    seen.dot_within(w)
    monkeypatch.setattr(Stored, "dot", None)
    np.testing.assert_array_equal(unseen.dot(w), DesignMatrix.from_array(X).dot_within(w)[0][20:])
    with pytest.raises(TypeError):
        unseen.dot(2 * w)


def test_rarity_is_of_the_values_that_columns_store():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < [1.0, 0.5, 0.3, 0.2, 0.1, 0.0])
    stored = (X != 0).sum(axis=0)
    values = [stored[k] for k in range(6) for _ in range(stored[k])]
    expected = np.exp(np.mean(np.log(values))) / np.maximum(stored, 1)
    matrix = DesignMatrix.from_array(csr_matrix(X))
    np.testing.assert_allclose(matrix.rarity(), expected)
    np.testing.assert_allclose(matrix.scaled(np.arange(1.0, 7.0)).rarity(), expected)
    np.testing.assert_allclose(matrix.take(np.arange(5)).remembering().rarity(), expected)
    assert DesignMatrix.from_array(X).rarity() is None
    np.testing.assert_array_equal(DesignMatrix.from_array(csr_matrix((3, 2))).rarity(), [1, 1])


@pytest.mark.parametrize(
    ("n", "d", "exponent"),
    [(2, 9, 0), (2, 8, 1 / 4), (6, 6, 1 / 4), (12, 6, 1 / 6), (40, 6, 1 / 20), (61, 6, 0)],
)
def test_restraint_is_for_sparse_rows_that_are_hardly_more_than_features(n, d, exponent):
    rng = np.random.default_rng(n)
    X = csr_matrix(rng.normal(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.2, 1.0, d)))
    preferences = Preferences.from_labels(rng.normal(size=n))
    objective = formulate(DesignMatrix.from_array(X), preferences, Parameters()).objective
    np.testing.assert_allclose(
        objective.restraint, objective.X.rarity() ** exponent if exponent else 1.0
    )
    dense = DesignMatrix.from_array(X.toarray())
    assert formulate(dense, preferences, Parameters()).objective.restraint == 1.0
