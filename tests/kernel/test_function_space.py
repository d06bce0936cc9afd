"""The objective over all functions of a kernel agrees with explicit matrices and pairs."""

import numpy as np
import pytest

import reference
from cases import make_loss, make_problem, optimum
from ranksvm import _core
from ranksvm.kernel import training
from ranksvm.kernel.factor import KernelFactor
from ranksvm.kernel.function_space import FunctionObjective
from ranksvm.kernel.kernels import Kernel
from ranksvm.kernel.matrix import KernelMatrix
from ranksvm.kernel.training import most_columns, train_kernel
from ranksvm.linear.parameters import Parameters
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

LOSSES = {"squared_hinge": SquaredHinge, "hinge": Hinge}
every_loss = pytest.mark.parametrize("loss", LOSSES)
KERNEL = Kernel("rbf", gamma=0.5)


@pytest.fixture
def over_all_functions(monkeypatch):
    """Let small problems go the way of large ones, after a few columns of the factor."""
    monkeypatch.setattr(training, "_LEAST_ROWS", 2)
    monkeypatch.setattr(training, "_RANK_PER_ROW", 1e-9)
    monkeypatch.setattr(training, "_HARD", np.inf)


def matrix_of(factor):
    n = factor.n_samples
    return np.stack([factor.matrix().dot(unit) for unit in np.eye(n)], axis=1)


@pytest.mark.parametrize("n", [1, 2, 511, 512, 513, 1100])
def test_products_are_those_of_the_whole_matrix(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A = A + A.T
    matrices = [
        KernelMatrix(lambda rows, columns: A[rows][:, columns], n, 0.0, n_threads)
        for n_threads in (1, 2, 3)
    ]
    v = rng.normal(size=n)
    products = [K.dot(v) for K in matrices]
    np.testing.assert_allclose(products[0], A @ v, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(products[0], products[1])
    np.testing.assert_array_equal(products[0], products[2])
    np.testing.assert_allclose(matrices[0].trace, A.trace())


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (4, 8), (5, 17), (64, 33), (6, 0)])
def test_a_tile_is_multiplied_from_both_sides(shape):
    rng = np.random.default_rng(0)
    tile, left, right = rng.normal(size=shape), rng.normal(size=shape[0]), rng.normal(size=shape[1])
    by_row, by_column = _core.tile_products(tile, left, right)
    np.testing.assert_allclose(by_row, tile @ right, rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_column, left @ tile, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="an element for each row and each column"):
        _core.tile_products(tile, np.append(left, 0.0), right)


def test_holds_differences_from_the_anchor():
    X, *_ = make_problem(0, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    K, a = KERNEL.between(X, X), factor.anchor
    expected = K - K[:, [a]] - K[[a]] + K[a, a]
    np.testing.assert_allclose(matrix_of(factor), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n_columns", [0, 5, 1000])
def test_leading_columns_are_scores_of_functions_of_their_pivots(n_columns):
    X, *_ = make_problem(0, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    factor.refine(1e-3)
    leading = factor.leading(n_columns)
    np.testing.assert_array_equal(leading.features, factor.features[:, : len(leading.pivots)])
    t = np.random.default_rng(1).normal(size=len(leading.pivots))
    scores = matrix_of(factor) @ leading.coef(t)
    np.testing.assert_allclose(scores, leading.features @ t, rtol=0, atol=1e-6)


@every_loss
def test_value_gradient_and_bound(loss):
    X, y, qid = make_problem(0, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    K, c = matrix_of(factor), 0.3
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), c, None)
    of_pairs = make_loss(LOSSES[loss], y, QueryGroups.from_qid(qid, len(y)))
    objective = FunctionObjective(factor.matrix(), of_pairs, c)
    beta = 0.1 * np.random.default_rng(2).normal(size=len(y))
    there = objective.evaluate(beta)
    value = 0.5 * beta @ K @ beta + getattr(reference, loss)(pairs, K @ beta)
    assert there.value == pytest.approx(value, rel=1e-12)
    assert value <= objective.upper_value(beta) <= value * (1 + 1e-10)
    coef, scores = there.gradient
    np.testing.assert_allclose(scores, K @ coef, rtol=0, atol=1e-10)
    assert there.distance == pytest.approx(0.5 * coef @ K @ coef, rel=1e-10)
    _, least = optimum(loss, reference.kernel_features(K), y, qid, c, None)
    assert 0 < there.lower_bound <= least


def test_the_slope_along_a_line_is_its_derivative():
    X, y, qid = make_problem(1, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    of_pairs = make_loss(SquaredHinge, y, QueryGroups.from_qid(qid, len(y)))
    objective = FunctionObjective(factor.matrix(), of_pairs, 0.3)
    rng = np.random.default_rng(0)
    there, p = objective.evaluate(rng.normal(size=60)), rng.normal(size=60)
    line = there.along(p, objective.K.dot(p))
    h = 1e-6
    values = [line.trial(step).evaluation.value for step in (-h, h)]
    assert line.slope == pytest.approx((values[1] - values[0]) / (2 * h), rel=1e-6)


@every_loss
@pytest.mark.parametrize("normalize", ["documents", "queries"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_reaches_the_optimum(loss, normalize, C, over_all_functions):
    X, y, qid = make_problem(2, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    parameters = Parameters(C=C, loss=loss, normalize=normalize, tol=1e-6, n_threads=1)
    fit = train_kernel(factor, Preferences.from_labels(y, qid), parameters=parameters)
    K = KERNEL.between(X, X)
    _, value = optimum(loss, reference.kernel_features(K), y, qid, C, normalize)
    assert fit.result.status == "converged"
    assert fit.result.history[0].solver == "newton_cg"
    assert 0 <= fit.result.dual_gap <= 1e-6
    assert value * (1 - 1e-12) <= fit.result.value
    assert fit.result.value * (1 - fit.result.dual_gap) <= value * (1 + 1e-12)
    beta = np.zeros(len(y))
    beta[fit.support] = fit.dual_coef
    assert abs(beta.sum()) <= 1e-9
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, normalize)
    there = 0.5 * beta @ K @ beta + getattr(reference, loss)(pairs, K @ beta)
    assert there <= fit.result.value <= there * (1 + 1e-9)


@pytest.mark.parametrize(
    "kernel", [Kernel("rbf", gamma=1e-3), Kernel("linear"), Kernel("rbf", gamma=1e3)]
)
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_the_bound_holds_at_extremes(kernel, C, over_all_functions):
    X, y, qid = make_problem(3, n=40)
    X[20:] = X[:20]
    factor = KernelFactor(kernel, X, np.inf)
    fit = train_kernel(
        factor, Preferences.from_labels(y, qid), parameters=Parameters(C=C, n_threads=1)
    )
    K = kernel.between(X, X)
    _, value = optimum("squared_hinge", reference.kernel_features(K), y, qid, C)
    assert value * (1 - 1e-8) <= fit.result.value
    assert fit.result.value * (1 - fit.result.dual_gap) <= value * (1 + 1e-8)


def test_what_stalls_over_all_functions_goes_on_by_columns(over_all_functions):
    X, y, qid = make_problem(4, n=60)
    factor = KernelFactor(KERNEL, X, np.inf)
    parameters = Parameters(loss="hinge", tol=1e-13, n_threads=1)
    fit = train_kernel(factor, Preferences.from_labels(y, qid), parameters=parameters)
    solvers = [line.solver for line in fit.result.history]
    assert solvers[0] == "newton_cg" != solvers[-1]
    assert fit.result.dual_gap <= 1e-11
    assert [line.iteration for line in fit.result.history] == list(range(len(solvers)))


def test_planes_solve_what_smoothing_finds_hard(over_all_functions, monkeypatch):
    monkeypatch.setattr(training, "_HARD", 10)
    X, y, qid = make_problem(6, n=60)
    for C, solver in ((9.0, "newton_cg"), (11.0, "bundle")):
        factor = KernelFactor(KERNEL, X, np.inf)
        fit = train_kernel(
            factor,
            Preferences.from_labels(y, qid),
            parameters=Parameters(C=C, loss="hinge", n_threads=1),
        )
        assert fit.result.history[0].solver == solver


def test_notes_say_how_far_the_work_is(over_all_functions):
    X, y, qid = make_problem(6, n=60)
    notes = []
    factor = KernelFactor(KERNEL, X, np.inf)
    train_kernel(
        factor,
        Preferences.from_labels(y, qid),
        parameters=Parameters(n_threads=1),
        note=notes.append,
    )
    assert notes[-1] == "kernel matrix: 0 of 60 rows"
    factor = KernelFactor(KERNEL, X, np.inf)
    factor.refine(1e-3, note=notes.append)
    assert "factor of the kernel: 0 columns" in notes[1]


def test_threads_do_not_change_a_bit(over_all_functions):
    X, y, qid = make_problem(5, n=1200)
    fits = []
    for n_threads in (1, 3):
        factor = KernelFactor(KERNEL, X, np.inf, n_threads)
        fits.append(
            train_kernel(
                factor, Preferences.from_labels(y, qid), parameters=Parameters(n_threads=n_threads)
            )
        )
    np.testing.assert_array_equal(fits[0].dual_coef, fits[1].dual_coef)
    assert fits[0].result.value == fits[1].result.value


def test_a_matrix_is_used_where_it_has_room_and_is_worth_it():
    parameters = Parameters(n_threads=1)
    assert most_columns(10_000, parameters, 4e9) == 1732
    assert most_columns(500, parameters, 4e9) is None
    assert most_columns(10_000, parameters, 4e8) is None
    assert most_columns(10_000, Parameters(solver="trust_region"), 4e9) is None
