"""Penalties with kinks and bounds, by proximal steps, against explicit pairs."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import reference
from cases import make_problem
from ranksvm.arrays.placement import design_matrix
from ranksvm.linear.conditions import Conditions
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.grid import solve_grid
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import Fit, train_once
from ranksvm.linear.training import make_problem as make_training
from ranksvm.pairs.given import GivenPreferences
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.survival import Survival

D = 12
CONDITIONS = {
    "positive": Conditions(lower=0.0),
    "box": Conditions(lower=-0.05, upper=0.1),
    "away from zero": Conditions(lower=0.1, upper=0.3),
    "elastic net": Conditions(l1_ratio=0.5),
    "lasso": Conditions(l1_ratio=1.0),
    "prior": Conditions(prior=np.linspace(-1, 1, D)),
    "all": Conditions(
        lower=-0.3,
        upper=np.linspace(0, 1, D),
        prior=np.linspace(-1, 1, D),
        l1_ratio=0.7,
        penalty_weights=10.0 ** np.linspace(-3, 3, D),
    ),
}
every_condition = pytest.mark.parametrize("name", CONDITIONS)
every_solver = pytest.mark.parametrize("solver", ["newton", "row_space", "trust_region"])
every_loss = pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])


def fit(X, y, qid, conditions, **settings) -> Fit:
    settings = {"tol": 1e-7, "normalize": None, "C": 0.1, "n_threads": 1} | settings
    parameters = Parameters(conditions=conditions, **settings)
    return train_once(DesignMatrix.from_array(X), Preferences.from_labels(y, qid), parameters)


def objective(X, y, qid, conditions, loss, w, C=0.1) -> float:
    """Return P(w) from every pair."""
    pairs = reference.enumerate_pairs(y, qid)
    z = np.maximum(0, 1 - (X[pairs.better] - X[pairs.worse]) @ w)
    v, r = w - conditions.prior, conditions.l1_ratio
    penalty = np.sum(conditions.penalty_weights * (r * np.abs(v) + (1 - r) * v**2 / 2))
    return penalty + C * (z**2 if loss == "squared_hinge" else z) @ pairs.weight


@every_loss
@every_solver
@every_condition
def test_what_is_claimed_is_true_of_explicit_pairs(name, solver, loss):
    X, y, qid = make_problem(3, d=D)
    conditions = CONDITIONS[name]
    tol = 1e-7 if loss == "squared_hinge" else 1e-5
    result = fit(X, y, qid, conditions, solver=solver, loss=loss, tol=tol).result
    w = result.weights
    assert str(result.status) == "converged"
    assert (w >= conditions.lower).all()
    assert (w <= conditions.upper).all()
    true = objective(X, y, qid, conditions, loss, w)
    assert true <= result.value
    assert true == pytest.approx(result.value, rel=1e-9)
    bound = result.value * (1 - result.dual_gap)
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1e-3, 1e-1):
        other = np.clip(w + scale * rng.normal(size=D), conditions.lower, conditions.upper)
        assert objective(X, y, qid, conditions, loss, other) >= bound


@every_solver
@pytest.mark.parametrize("name", ["positive", "box", "away from zero"])
def test_bounds_against_scipy(name, solver):
    X, y, qid = make_problem(5, d=D)
    conditions = CONDITIONS[name]
    result = fit(X, y, qid, conditions, solver=solver, tol=1e-10).result
    rest = np.clip(np.zeros(D), conditions.lower, conditions.upper)
    theirs = minimize(
        lambda w: objective(X, y, qid, conditions, "squared_hinge", w),
        rest,
        bounds=[(conditions.lower, conditions.upper)] * D,
        options={"ftol": 1e-14, "gtol": 1e-9, "maxfun": 10**6},
    )
    assert result.value <= theirs.fun * (1 + 1e-10)
    assert result.value == pytest.approx(theirs.fun, rel=1e-6)


@every_loss
@pytest.mark.parametrize("name", ["positive", "elastic net", "lasso"])
def test_solvers_agree(name, loss):
    X, y, qid = make_problem(7, d=D)
    fits = [
        fit(X, y, qid, CONDITIONS[name], solver=solver, loss=loss, tol=1e-6).result
        for solver in ("newton", "row_space", "trust_region")
    ]
    assert fits[0].value == pytest.approx(fits[1].value, rel=2e-6)
    assert fits[0].value == pytest.approx(fits[2].value, rel=2e-6)


@every_loss
@every_condition
def test_few_rows_have_the_optimum_of_products(name, loss):
    X, y, qid = make_problem(8, n=10, d=D)
    few, products = (
        fit(X, y, qid, CONDITIONS[name], solver=solver, loss=loss, C=10.0, tol=1e-6).result
        for solver in ("auto", "trust_region")
    )
    assert set(few.solver.split(", ")) <= {"interior_point", "proximal_row_space"}
    assert few.value * (1 - few.dual_gap) <= products.value
    assert few.value <= products.value * (1 + 1e-6)


@pytest.mark.parametrize("stored", [np.asarray, np.float32, sparse.csr_matrix])
def test_some_columns_of_what_is_seen_through_views(stored):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(40, 7)), 1).astype(np.float32).astype(np.float64)
    X[X < 0.3] = 0
    X[:, 3] = 1e6 + np.arange(40)
    rows, some, scale = rng.permutation(40)[:30], np.array([0, 3, 6]), np.full(7, 2.0)
    view = DesignMatrix.from_array(stored(X)).centered().scaled(scale).take(rows)
    w = np.array([1.0, -2.0, 0.5])
    everywhere = np.zeros(7)
    everywhere[some] = w
    u = rng.normal(size=30)
    assert view.restricted(some).dot(w) == pytest.approx(view.dot(everywhere), rel=1e-12)
    assert view.restricted(some).t_dot(u) == pytest.approx(view.t_dot(u)[some], rel=1e-12)


@every_solver
@pytest.mark.parametrize(
    "conditions",
    [
        Conditions(l1_ratio=1.0, lower=0.0),
        Conditions(l1_ratio=1.0, upper=0.1),
        Conditions(l1_ratio=1.0, lower=-1e200, upper=1e200),
        Conditions(penalty_weights=0.0, lower=-1e3, upper=1e3),
        Conditions(l1_ratio=1e-300),
        Conditions(prior=np.linspace(-1e8, 1e8, D), l1_ratio=0.5),
    ],
)
def test_a_lasso_without_squares_and_extremes_are_certified(conditions, solver):
    X, y, qid = make_problem(9, n=80, d=D)
    result = fit(X, y, qid, conditions, solver=solver, tol=1e-6).result
    assert str(result.status) == "converged"
    true = objective(X, y, qid, conditions, "squared_hinge", result.weights)
    assert result.value * (1 - 2e-6) <= true <= result.value * (1 + 1e-14)


@every_solver
@pytest.mark.parametrize("l1_ratio", [0.5, 0.9, 1.0])
def test_zeros_are_exact(l1_ratio, solver):
    X, y, qid = make_problem(1, d=30)
    w = fit(X, y, qid, Conditions(l1_ratio=l1_ratio), solver=solver, C=1e-3).result.weights
    assert (w == 0).any()
    assert not ((w != 0) & (np.abs(w) < 1e-9)).any()


@every_solver
def test_sparse_rows_with_more_features_than_rows(solver):
    rng = np.random.default_rng(0)
    X = sparse.random(60, 300, 0.1, "csr", random_state=rng)
    y = rng.integers(0, 4, 60).astype(float)
    result = fit(X, y, None, Conditions(l1_ratio=0.9), solver=solver, tol=1e-5, C=1.0).result
    assert str(result.status) == "converged"
    dense = objective(
        X.toarray(), y, None, Conditions(l1_ratio=0.9), "squared_hinge", result.weights, 1.0
    )
    assert dense <= result.value


@every_loss
@every_solver
def test_threads_change_nothing(solver, loss):
    X, y, qid = make_problem(2, n=400, d=40)
    for name in ("positive", "elastic net"):
        one, two = (
            fit(X, y, qid, CONDITIONS[name], solver=solver, loss=loss, n_threads=n, tol=1e-4)
            for n in (1, 2)
        )
        assert np.array_equal(one.result.weights, two.result.weights)
        assert one.result.value == two.result.value


@pytest.mark.parametrize("name", ["positive", "elastic net"])
def test_samples_go_first_in_one_long_query(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 4))
    y = X @ rng.normal(size=4) + rng.normal(size=len(X))
    result = fit(X, y, None, CONDITIONS[name], normalize="documents", tol=1e-3).result
    assert result.solver == "samples"
    exact = fit(X, y, None, CONDITIONS[name], normalize="documents", solver="newton").result
    assert exact.value <= result.value <= exact.value / (1 - 1e-3)
    assert ((result.weights == 0) == (exact.weights == 0)).all()


@pytest.mark.parametrize("name", ["positive", "elastic net", "all"])
def test_along_a_grid_each_is_as_good_as_by_itself(name):
    X, y, qid = make_problem(4, n=300, d=D)
    Cs = np.logspace(-4, 1, 8)
    of_each = [
        Parameters(C=C, normalize=None, tol=1e-6, conditions=CONDITIONS[name], n_threads=1)
        for C in Cs
    ]
    training = make_training(
        DesignMatrix.from_array(X), Preferences.from_labels(y, qid), of_each[0]
    )
    for place, result in solve_grid(training, of_each):
        alone = fit(X, y, qid, CONDITIONS[name], C=Cs[place], tol=1e-9).result
        assert result.dual_gap <= 1e-6
        assert result.value == pytest.approx(alone.value, rel=2e-6)


def test_pairs_that_are_given():
    X, y, _ = make_problem(6, d=D)
    pairs = reference.enumerate_pairs(y, None)
    rows = pairs.better.astype(np.uint32), pairs.worse.astype(np.uint32)
    given = GivenPreferences(*rows, Preferences.from_labels(y, None).groups, has_queries=False)
    parameters = Parameters(
        C=0.1, normalize=None, tol=1e-8, conditions=CONDITIONS["elastic net"], n_threads=1
    )
    result = train_once(DesignMatrix.from_array(X), given, parameters).result
    ranked = fit(X, y, None, CONDITIONS["elastic net"], tol=1e-8).result
    assert result.value == pytest.approx(ranked.value, rel=1e-7)
    assert np.allclose(result.weights, ranked.weights, atol=1e-5)


@every_condition
def test_roles_of_rows_in_pairs(name):
    """Times of events, of which some are censored: censored rows are never the better ones."""
    X, _, _ = make_problem(8, d=D)
    rng = np.random.default_rng(0)
    time, event = rng.exponential(size=len(X)), rng.random(len(X)) < 0.6
    preferences = Survival.of(event=event, time=time).preferences()
    parameters = Parameters(C=0.1, normalize=None, tol=1e-7, conditions=CONDITIONS[name])
    result = train_once(DesignMatrix.from_array(X), preferences, parameters).result
    better, worse = np.nonzero(event[:, None] & (time[:, None] < time))
    w, conditions = result.weights, CONDITIONS[name]
    z = np.maximum(0, 1 - (X[better] - X[worse]) @ w)
    v, r = w - conditions.prior, conditions.l1_ratio
    penalty = np.sum(conditions.penalty_weights * (r * np.abs(v) + (1 - r) * v**2 / 2))
    assert str(result.status) == "converged"
    assert penalty + 0.1 * np.sum(z**2) == pytest.approx(result.value, rel=1e-9)


@every_loss
@pytest.mark.parametrize("solver", ["newton", "trust_region"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_arrays_of_a_device(layout, solver, loss):
    X, y, qid = make_problem(10, n=100, d=D)
    conditions, preferences = CONDITIONS["all"], Preferences.from_labels(y, qid)
    parameters = Parameters(C=0.1, loss=loss, solver=solver, conditions=conditions, tol=1e-5)
    there = train_once(design_matrix(layout(X), "numpy:cpu"), preferences, parameters).result
    here = train_once(DesignMatrix.from_array(layout(X)), preferences, parameters).result
    assert str(there.status) == "converged"
    assert there.value == pytest.approx(here.value, rel=2e-5)


@pytest.mark.parametrize("solver", ["bundle", "cutting_planes"])
def test_solvers_for_the_squared_norm_alone_say_so(solver):
    X, y, qid = make_problem(0)
    with pytest.raises(ValueError, match=r"is for the penalty 0\.5 \|w\|\^2 alone"):
        fit(X, y, qid, Conditions(lower=0.0), solver=solver, loss="hinge")
