"""The minimum of a model of cutting planes: by its small dual, exactly."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from ranksvm import _core
from ranksvm.solvers import CuttingPlanes
from ranksvm.solvers.cutting_planes import MAX_AGE
from strategies import examples

EPS = np.finfo(float).eps
KINDS = ["random", "duplicated", "collinear", "scaled planes", "scaled features", "offsets", "few"]

few_examples = examples(60)


def make_planes(kind, seed, n=20, d=6):
    """Slopes A and offsets b; most have something to say about the minimum."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, d)), rng.uniform(0, 1, n)
    if kind == "duplicated":
        rows = rng.integers(0, n // 3, n)
        A, b = A[rows], b[rows] - rng.integers(0, 2, n)
    elif kind == "collinear":
        A = np.outer(rng.normal(size=n), A[0]) + np.outer(rng.integers(0, 2, n), A[1])
    elif kind == "scaled planes":
        size = 10.0 ** rng.uniform(-4, 4, n)
        A, b = size[:, np.newaxis] * A, size * b
    elif kind == "scaled features":
        A = A * 10.0 ** np.linspace(-4, 4, d)
    elif kind == "offsets":
        b = b * 10.0 ** rng.uniform(-4, 4, n)
    elif kind == "few":
        A[:, 2:] = 0
    return A, b


def make_qp(G, b, warm=False):
    qp = _core.SimplexQp()
    for k in range(len(b)):
        qp.add(np.ascontiguousarray(G[k, : k + 1]), b[k])
        if warm:
            qp.solve()
    qp.solve()
    return qp


def rounding(G, b, weights):
    """What rounding of the products alone makes of the objective."""
    return 256 * EPS * np.max(np.abs(G) @ weights + np.abs(b))


def assert_solved(G, b, qp):
    """Feasible, of the objective that it tells, and with no element that promises more."""
    weights = qp.weights
    assert np.all(weights >= 0)
    assert weights.sum() == pytest.approx(1, abs=1e-14)
    noise = rounding(G, b, weights)
    objective = 0.5 * weights @ G @ weights - b @ weights
    assert qp.objective == pytest.approx(objective, rel=1e-12, abs=noise)
    gradient = G @ weights - b
    # This bounds how far the objective is from its minimum.
    gap = weights @ gradient - gradient.min()
    assert gap <= 1e-9 * abs(objective) + noise


every_kind = st.sampled_from(KINDS)
seeds = st.integers(0, 10**6)


@example(kind="scaled planes", seed=985, n=3, d=3)  # a weight that shrinks from 1 to 4e-5
@given(kind=every_kind, seed=seeds, n=st.integers(1, 40), d=st.integers(1, 8))
def test_the_solution_meets_the_optimality_conditions(kind, seed, n, d):
    A, b = make_planes(kind, seed, max(n, 3), max(d, 3))
    G = A @ A.T
    assert_solved(G, b, make_qp(G, b))


@given(kind=every_kind, seed=seeds, n=st.integers(3, 40))
def test_a_warm_start_leads_to_the_same_objective(kind, seed, n):
    A, b = make_planes(kind, seed, n)
    G = A @ A.T
    cold, warm = make_qp(G, b), make_qp(G, b, warm=True)
    assert_solved(G, b, warm)
    noise = rounding(G, b, warm.weights)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9, abs=noise)
    weights = warm.weights
    warm.solve()
    np.testing.assert_allclose(warm.weights, weights, atol=1e-9)


@few_examples
@given(seed=seeds)
def test_features_of_any_scale_in_their_turn(seed):
    """One plane after another at the minimum of those before, as a solver adds them."""
    rng = np.random.default_rng(seed)
    n, d = 40, 3
    Z = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 3, d)
    A, b, w = np.zeros((1, d)), np.zeros(1), np.zeros(d)
    qp = make_qp(A @ A.T, b)
    for _ in range(15):
        active = Z @ w < 1
        A, b = np.r_[A, [-(active @ Z)]], np.r_[b, active.sum()]
        qp.add(np.ascontiguousarray(A @ A[-1]), b[-1])
        qp.solve()
        assert_solved(A @ A.T, b, qp)
        w = -qp.weights @ A


@few_examples
@given(kind=every_kind, seed=seeds, factor=st.sampled_from([1e-4, 0.5, 1.0, 30.0, 1e4]))
def test_scaling_follows_the_planes(kind, seed, factor):
    A, b = make_planes(kind, seed)
    qp = make_qp(A @ A.T, b)
    qp.scale(factor)
    qp.solve()
    A, b = factor * A, factor * b
    assert_solved(A @ A.T, b, qp)
    noise = rounding(A @ A.T, b, qp.weights)
    fresh = make_qp(A @ A.T, b)
    assert qp.objective == pytest.approx(fresh.objective, rel=1e-9, abs=noise)


@few_examples
@given(kind=every_kind, seed=seeds)
def test_elements_without_weight_are_not_missed(kind, seed):
    A, b = make_planes(kind, seed)
    qp = make_qp(A @ A.T, b)
    before, weights = qp.objective, qp.weights
    kept = np.flatnonzero((weights > 0) | (np.arange(len(b)) % 3 == 0))
    qp.keep(kept)
    assert len(qp) == len(kept)
    np.testing.assert_array_equal(qp.weights, weights[kept])
    G = A[kept] @ A[kept].T
    qp.solve()
    assert_solved(G, b[kept], qp)
    noise = rounding(G, b[kept], qp.weights)
    assert qp.objective == pytest.approx(before, rel=1e-9, abs=noise)
    # What comes next finds its products with those that are left.
    a = np.ones(A.shape[1])
    qp.add(np.append(A[kept] @ a, a @ a), 2.0)
    qp.solve()
    A, b = np.r_[A[kept], [a]], np.append(b[kept], 2.0)
    assert_solved(A @ A.T, b, qp)


def test_slopes_that_nearly_depend_on_each_other():
    A = np.array(
        [
            [0.2123, -125.4, -1.777],
            [0.1521, 502.3, -1.369],
            [0.1808, 246.6, 3.728],
            [0.1857, -12.49, -18.76],
        ]
    )
    b = np.array([4.446, 3.714, 4.221, 3.771])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        G = A[order] @ A[order].T
        assert_solved(G, b[order], make_qp(G, b[order]))


def test_a_single_element_has_all_the_weight():
    qp = _core.SimplexQp()
    qp.solve()
    assert len(qp) == len(qp.weights) == 0
    qp.add(np.array([4.0]), 3.0)
    qp.solve()
    assert qp.weights.tolist() == [1.0]
    assert qp.objective == -1.0


def test_two_elements_share_the_weight():
    qp = make_qp(np.diag([1.0, 3.0]), np.zeros(2))
    np.testing.assert_allclose(qp.weights, [0.75, 0.25], rtol=1e-15)
    assert qp.objective == pytest.approx(0.375, rel=1e-15)


def test_wrong_shapes_are_refused():
    qp = make_qp(np.eye(3), np.arange(3.0))
    for products in (np.ones(3), np.ones(5), np.ones(0)):
        with pytest.raises(ValueError, match="one product per element"):
            qp.add(products, 1.0)
    for elements in ([1, 0], [0, 0], [0, 3], [-1, 2]):
        with pytest.raises(ValueError, match="ascend"):
            qp.keep(np.array(elements))
    for products in (np.ones(4, np.float32), np.ones((4, 1)), [1.0] * 4):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            qp.add(products, 1.0)
    assert len(qp) == 3
    assert_solved(np.eye(3), np.arange(3.0), qp)


# --- the model in weight space --------------------------------------------------------------------


def model_value(A, b, w):
    return 0.5 * w @ w + max(0.0, np.max(A @ w + b))


def model_of(A, b):
    planes = CuttingPlanes(A.shape[1])
    for slope, offset in zip(A, b, strict=True):
        planes.add(slope, offset)
    return planes


def minimum_by_slsqp(A, b):
    """A point of a value that is the minimum of the model, or slightly above."""
    d = A.shape[1]
    start = np.zeros(d + 1)
    start[d] = max(0.0, b.max())
    rows = {"type": "ineq", "fun": lambda x: x[d] - A @ x[:d] - b, "jac": lambda x: np.c_[-A, ones]}
    ones = np.ones(len(A))
    solution = minimize(
        lambda x: 0.5 * x[:d] @ x[:d] + x[d],
        start,
        jac=lambda x: np.append(x[:d], 1.0),
        constraints=[rows],
        bounds=[(None, None)] * d + [(0, None)],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return solution.x[:d]


@few_examples
@given(kind=st.sampled_from(["random", "duplicated", "collinear", "few"]), seed=seeds)
def test_bound_and_minimizer_are_those_of_the_model(kind, seed):
    A, b = make_planes(kind, seed, n=12, d=4)
    planes = model_of(A, b)
    found = model_value(A, b, planes.minimizer)
    expected = model_value(A, b, minimum_by_slsqp(A, b))
    assert planes.lower_bound <= expected + 1e-14
    assert planes.lower_bound == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert found == pytest.approx(planes.lower_bound, rel=1e-9, abs=1e-12)


@given(kind=every_kind, seed=seeds)
def test_the_bound_is_nowhere_above_the_model(kind, seed):
    A, b = make_planes(kind, seed)
    planes = model_of(A, b)
    rng = np.random.default_rng(seed)
    others = planes.minimizer + rng.normal(size=(20, A.shape[1])) * 10.0 ** rng.uniform(-6, 2)
    least = min(model_value(A, b, w) for w in [planes.minimizer, 0 * planes.minimizer, *others])
    assert planes.lower_bound <= least + 1e-9 * abs(least) + 1e-15


def test_a_model_below_zero_is_zero():
    planes = model_of(np.eye(3), np.full(3, -1.0))
    assert planes.lower_bound == 0
    assert planes.minimizer.tolist() == [0, 0, 0]


def test_more_planes_never_lower_the_bound():
    A, b = make_planes("random", 0, n=200)
    planes, bounds = CuttingPlanes(A.shape[1]), []
    for slope, offset in zip(A, b, strict=True):
        planes.add(slope, offset)
        bounds.append(planes.lower_bound)
    assert np.all(np.diff(bounds) >= -1e-14)


def test_planes_out_of_use_are_dropped_and_not_missed():
    A, b = make_planes("random", 1, n=100)
    order = np.argsort(b)
    planes = CuttingPlanes(A.shape[1])
    for k in order:
        planes.add(A[k], b[k])
    assert len(planes) < len(b) - MAX_AGE
    everything = make_qp(*gram(A, b))
    assert planes.lower_bound == pytest.approx(-everything.objective, rel=1e-12)
    before = planes.lower_bound
    # A plane that says nothing stays for a time and leaves the bound as it is.
    for k in range(3 * MAX_AGE):
        planes.add(np.ones(A.shape[1]) * k, -1e6)
        assert planes.lower_bound == pytest.approx(before, rel=1e-12)
    assert len(planes) <= A.shape[1] + 1 + 2 * MAX_AGE


def gram(A, b):
    A, b = np.r_[np.zeros((1, A.shape[1])), A], np.append(0.0, b)
    return A @ A.T, b


@few_examples
@given(kind=every_kind, seed=seeds, factor=st.sampled_from([1e-3, 0.1, 7.0, 1e3]))
def test_rescaled_planes_are_those_of_a_rescaled_risk(kind, seed, factor):
    A, b = make_planes(kind, seed)
    planes, fresh = model_of(A, b), model_of(factor * A, factor * b)
    planes.rescale(factor)
    G, offsets = gram(factor * A, factor * b)
    noise = 256 * EPS * np.abs(G).max()
    everything = -make_qp(G, offsets).objective
    assert planes.lower_bound <= everything * (1 + 1e-9) + noise
    # Planes that had been dropped are missed here; and planes of very different lengths are true
    # bounds, but not always the tightest.
    if len(planes) == len(b) and "scaled" not in kind:
        assert planes.lower_bound == pytest.approx(fresh.lower_bound, rel=1e-9, abs=noise)
    here = model_value(factor * A, factor * b, planes.minimizer)
    assert planes.lower_bound <= here * (1 + 1e-9) + noise


def test_any_number_of_threads_gives_the_same_bits():
    A, b = make_planes("random", 2, n=40, d=20_000)
    models = [CuttingPlanes(A.shape[1], n_threads) for n_threads in (1, 2, 3)]
    for slope, offset in zip(A, b, strict=True):
        for planes in models:
            planes.add(slope, offset)
    for planes in models[1:]:
        assert planes.lower_bound == models[0].lower_bound
        assert np.array_equal(planes.minimizer, models[0].minimizer)


def test_the_bound_allows_for_inexact_slopes():
    rng = np.random.default_rng(0)
    for _ in range(30):
        d, grain = 4, 10.0 ** rng.uniform(-3, 1, 4)
        told, exact = CuttingPlanes(d), CuttingPlanes(d)
        for _ in range(6):
            slope, offset, noise = rng.normal(size=d), rng.uniform(0, 2), rng.uniform(0, 0.1)
            told.add(slope, offset, noise, grain)
            exact.add(slope + noise * grain * rng.choice([-1, 1], d), offset)
        assert told.lower_bound <= exact.lower_bound
        told.rescale(2.0)
        exact.rescale(2.0)
        assert told.lower_bound <= exact.lower_bound
