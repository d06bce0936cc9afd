"""The hinge loss: every solver reaches the optimum of the quadratic programme over all pairs."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import cases
import reference
from cases import OF_MANY_ROWS, make_problem
from places import core_only
from ranksvm import ConvergenceWarning, RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearEvaluation
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.names import COUNTINGS, NORMALIZATIONS, SOLVERS
from ranksvm.pairs.preferences import Preferences

TIGHT = {"loss": "hinge", "tol": 1e-10, "n_threads": 1}

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_normalization = pytest.mark.parametrize("normalize", NORMALIZATIONS)


optimum = partial(cases.optimum, "hinge")
assert_optimal = partial(cases.assert_optimal, known=1e-11)  # as the oracle is


# --- the optimum ----------------------------------------------------------------------------------


def test_the_oracle_agrees_with_a_general_solver():
    X, y, qid = make_problem(2)
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), 1.0, "documents")
    Z = reference.differences(pairs, X)
    dual = minimize(
        lambda alpha: (0.5 * np.sum((alpha @ Z) ** 2) - alpha.sum(), Z @ (alpha @ Z) - 1),
        np.zeros(len(Z)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, limit) for limit in pairs.weight],
        options={"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    w = reference.minimize_hinge(pairs, X)
    assert reference.hinge_objective(pairs, X, w) == pytest.approx(-dual.fun, rel=1e-7)


@every_solver
@every_normalization
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n_queries", [1, 6])
def test_reaches_the_optimum(solver, normalize, C, n_queries, place):
    X, y, qid = make_problem(n_queries, n_queries=n_queries)
    model = place.ranker(C, normalize=normalize, solver=solver, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, C, normalize))


@core_only
@every_solver
@pytest.mark.parametrize("counting", COUNTINGS)
def test_every_counting_reaches_the_optimum(solver, counting, place):
    for seed in range(3):
        X, y, qid = make_problem(seed, n=24, n_queries=2)
        model = place.ranker(solver=solver, counting=counting, **TIGHT).fit(X, y, qid)
        assert_optimal(model, *optimum(X, y, qid, 1.0))


@every_solver
def test_reaches_the_optimum_at_ties_and_kinks(solver, place):
    """Rows on a grid: many pairs share a kink, and the dual has many solutions."""
    for seed in place.seeds(8):
        X, y, qid = make_problem(seed, n=24, d=3)
        X = np.round(X)
        model = place.ranker(10.0, solver=solver, **TIGHT).fit(X, y, qid)
        assert_optimal(model, *optimum(X, y, qid, 10.0))


@every_solver
@every_normalization
def test_reaches_the_weighted_optimum(solver, normalize, place):
    X, y, qid = make_problem(0)
    rng = np.random.default_rng(1)
    weights = {
        "sample_weight": rng.uniform(0, 3, len(y)),
        "query_weight": rng.uniform(0, 3, 3)[qid],
    }
    model = place.ranker(normalize=normalize, solver=solver, **TIGHT).fit(X, y, qid, **weights)
    assert_optimal(model, *optimum(X, y, qid, 1.0, normalize, **weights))


@every_solver
def test_certificates_hold_with_weights(solver, place):
    for seed in place.seeds(20):
        X, y, qid = make_problem(seed, n=10, d=5, n_queries=1)
        weight = np.random.default_rng(seed).uniform(0, 3, len(y))
        model = place.ranker(300.0, solver=solver, **TIGHT | {"tol": 1e-9}).fit(X, y, qid, weight)
        _, value = optimum(X, y, qid, 300.0, sample_weight=weight)
        assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-11)
        assert value * (1 - 1e-11) <= model.objective_


@every_solver
@pytest.mark.parametrize("d", [1, 2, 40])
def test_reaches_the_optimum_with_any_number_of_features(solver, d, place):
    X, y, qid = make_problem(d, d=d)
    model = place.ranker(solver=solver, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, 1.0))


@every_solver
def test_features_of_differing_scales_are_no_obstacle(solver, place):
    for seed in place.seeds(6):
        X, y, qid = make_problem(seed, n=22, d=3, n_queries=2)
        X = X * [0.06, 500.0, 30.0]
        model = place.ranker(0.5, loss="hinge", solver=solver, tol=1e-6).fit(X, y, qid)
        _, value = optimum(X, y, qid, 0.5)
        assert model.status_ == "converged"
        assert value * (1 - 1e-9) <= model.objective_ <= value * (1 + 1e-6)


@every_solver
@every_normalization
def test_integer_weights_are_repetition(solver, normalize, place):
    X, y, qid = make_problem(5, n_queries=4)
    rng = np.random.default_rng(6)
    of_row, of_query = rng.integers(0, 3, len(y)), np.array([0, 1, 3, 2])[qid]
    rows = np.repeat(np.arange(len(y)), of_row * of_query)
    copies = np.concatenate(
        [np.tile(np.arange(k), m) for k, m in zip(of_query, of_row, strict=True)]
    )
    model = place.ranker(normalize=normalize, solver=solver, **TIGHT)
    model.fit(X, y, qid, sample_weight=of_row, query_weight=of_query)
    value, n_pairs, coef = model.objective_, model.n_pairs_, model.coef_
    model.fit(X[rows], y[rows], list(zip(qid[rows], copies, strict=True)))
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert model.n_pairs_ == n_pairs
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)


# --- certificate, history, status -----------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_gap_bounds_the_distance_to_the_optimum(solver, tol, place):
    for seed in place.seeds(4):
        X, y, qid = make_problem(seed, n=30)
        model = place.ranker(10.0, loss="hinge", solver=solver, tol=tol).fit(X, y, qid)
        _, value = optimum(X, y, qid, 10.0)
        assert model.dual_gap_ <= tol
        assert value * (1 - 1e-11) <= model.objective_
        for line in model.history_:
            assert line.value * (1 - line.dual_gap) <= value * (1 + 1e-11)


@every_solver
def test_history_descends_to_the_result(solver, place):
    X, y, qid = make_problem(13, n=50)
    model = place.ranker(100.0, solver=solver, **TIGHT).fit(X, y, qid)
    lines = model.history_
    assert np.all(np.diff([line.value for line in lines]) <= 0)
    assert np.all(np.diff([line.seconds for line in lines]) >= 0)
    assert np.all(np.diff([line.n_products for line in lines]) >= 0)
    assert np.all(np.diff([line.n_evaluations for line in lines]) > 0)
    assert all(line.dual_gap >= 0 for line in lines)
    bounds = [line.value * (1 - line.dual_gap) for line in lines]
    assert np.all(np.diff(bounds) >= -1e-12 * model.objective_)
    assert [line.iteration for line in lines] == list(range(model.n_iter_ + 1))
    assert (lines[-1].value, lines[-1].dual_gap) == (model.objective_, model.dual_gap_)


@every_solver
def test_too_few_iterations_warn_with_the_gap(solver, place):
    X, y, qid = make_problem(14, n=50)
    model = place.ranker(100.0, solver=solver, max_iter=2, **TIGHT)
    with pytest.warns(ConvergenceWarning, match=r"gap.*tol.*max_iter"):
        model.fit(X, y, qid)
    assert model.status_ == "max_iter"
    assert model.n_iter_ == 2
    assert model.dual_gap_ > 1e-10


@every_solver
def test_more_than_floating_point_can_give_ends_all_the_same(solver, place):
    for seed in place.seeds(5):
        X, y, qid = make_problem(seed, n=30)
        model = place.ranker(loss="hinge", solver=solver, tol=0.0)
        with pytest.warns(ConvergenceWarning, match="floating point"):
            model.fit(X, y, qid)
        assert model.status_ == "stalled"
        assert model.dual_gap_ < 1e-8
        assert model.objective_ == pytest.approx(optimum(X, y, qid, 1.0)[1], rel=1e-9)


def test_a_plane_beyond_floating_point_is_no_plane(monkeypatch):
    planes, of_evaluation = [], LinearEvaluation.plane

    def plane(self):
        planes.append(of_evaluation.fget(self))
        return planes[-1] if len(planes) < 5 else planes[-1]._replace(offset=-np.inf)

    monkeypatch.setattr(LinearEvaluation, "plane", property(plane))
    X, y, qid = make_problem(15)
    model = RankSVM(solver="bundle", **TIGHT)
    with pytest.warns(ConvergenceWarning, match="floating point"):
        model.fit(X, y, qid)
    assert model.status_ == "stalled"
    assert len(planes) < 10
    assert 0 < model.dual_gap_ < 1


@every_solver
def test_warm_start_continues(solver, place):
    X, y, qid = make_problem(16, n=50)
    model = place.ranker(loss="hinge", solver=solver, tol=1e-6, warm_start=True).fit(X, y, qid)
    cold, value, coef = model.n_iter_, model.objective_, model.coef_.copy()
    assert cold > 2
    model.fit(X, y, qid)
    assert model.objective_ <= value * (1 + 1e-12)
    assert model.status_ == "converged"
    assert model.n_iter_ < cold or solver == "row_space"  # which begins inside, in any case
    assert np.linalg.norm(model.coef_ - coef) <= 2 * np.sqrt(2e-6 * value)


@every_solver
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("normalize", ["pairs", "queries"])
def test_epsilon_is_a_gap_of_the_objective_divided_by_C(solver, loss, normalize, place):
    X, y, qid = make_problem(17, n=30)
    for epsilon in (1e-1, 1e-3):
        parameters = Parameters(
            C=50.0, loss=loss, solver=solver, normalize=normalize, tol=0.0, epsilon=epsilon
        )
        result = train(
            place.matrix(X, solver), Preferences.from_labels(y, qid), parameters=parameters
        ).result
        gaps = [line.value * line.dual_gap / 50.0 for line in result.history]
        assert str(result.status) == "converged"
        # No sooner and no later.
        assert gaps[-1] <= epsilon * (1 + 1e-12)
        assert all(gap > epsilon for gap in gaps[:-1])


@every_solver
def test_a_callback_ends_the_solution(solver, place):
    X, y, qid = make_problem(18, n=50)
    seen = []

    def callback(line):
        seen.append(line)
        return len(seen) == 3

    parameters = Parameters(C=100.0, loss="hinge", solver=solver, tol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = train(
            place.matrix(X, solver),
            Preferences.from_labels(y, qid),
            parameters=parameters,
            callback=callback,
        )
    assert str(fit.result.status) == "stopped"
    assert fit.result.history[:-1] == seen[:-1]
    assert fit.result.history[-1].iteration == 2
    # The last is confirmed, and rounded up.
    assert fit.result.value == pytest.approx(seen[-1].value, rel=1e-10)
    assert fit.result.n_iter == 2


# --- storage and threads --------------------------------------------------------------------------

STORAGES = {
    "csr": sparse.csr_matrix,
    "fortran": np.asfortranarray,
    "float32": np.float32,
    "float32 csr": lambda X: sparse.csr_matrix(X, dtype=np.float32),
}


@every_solver
@pytest.mark.parametrize("storage", STORAGES)
def test_storage_does_not_matter(solver, storage, place):
    X, y, qid = make_problem(17, n=100)
    X = np.round(8 * X) / 8  # exact in single precision
    model = place.ranker(solver=solver, **TIGHT).fit(X, y, qid)
    value, coef = model.objective_, model.coef_
    model.fit(STORAGES[storage](X), y, qid)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(model.coef_, coef, atol=2 * np.sqrt(2e-10 * value))


@core_only
@pytest.mark.parametrize("solver", OF_MANY_ROWS)
@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix])
@pytest.mark.filterwarnings("ignore::ranksvm.ConvergenceWarning")
def test_any_number_of_threads_gives_the_same_bits(solver, storage, place):
    X, y, qid = make_problem(18, n=20_000, d=20, n_queries=100)
    qid[:9_000] = 0  # a long query
    X = storage(X * (np.abs(X) > 0.5))

    def fit(n_threads):
        model = place.ranker(loss="hinge", solver=solver, max_iter=15, n_threads=n_threads)
        model.fit(X, y, qid)
        return [model.coef_, model.objective_, model.dual_gap_, model.n_iter_]

    one = fit(1)
    assert all(all(map(np.array_equal, one, fit(n_threads))) for n_threads in (2, 3))


# --- the other loss, by planes --------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["bundle", "cutting_planes"])
@every_normalization
def test_planes_reach_the_optimum_of_the_squared_hinge(solver, normalize, place):
    X, y, qid = make_problem(20)
    pairs = reference.enumerate_pairs(y, qid)
    pairs = reference.normalize_pairs(pairs, 1.0, normalize)
    w = reference.minimize_squared_hinge(pairs, X)
    model = place.ranker(normalize=normalize, solver=solver, tol=1e-6).fit(X, y, qid)
    value = reference.objective(pairs, X, w)
    assert model.status_ == "converged"
    assert value * (1 - 1e-12) <= model.objective_ <= value * (1 + 1e-6)
    assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-12)


@pytest.mark.parametrize("solver", ["auto", "newton", "trust_region"])
@pytest.mark.parametrize("C", [1e3, 1e4, 1e5])
def test_millions_of_pairs_that_all_reach_the_margin(C, solver):
    """At the optimum all pairs lie on the kink; just before, all are short of it by rounding."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 10_000)
    X = np.hstack((np.eye(3)[group], rng.normal(size=(len(group), 3))))
    model = RankSVM(loss="hinge", C=C, solver=solver, n_threads=1).fit(X, group == 0)
    assert model.status_ == "converged"
    # The margin of the first group to both others, by their indicators alone.
    assert model.objective_ == pytest.approx(1 / 3, rel=2e-3)
    assert model.n_iter_ <= 100


@pytest.mark.parametrize("C", [1.0, 1e3])
def test_few_pairs_that_decide_do_not_hold_newton_up(C):
    """Narrowing is foreseen: without that, steps are tiny, and planes have to end what it began."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(300, 40)) * (rng.random((300, 40)) < 0.3)
    utility = 0.7 * (X @ rng.normal(size=40)) + 2 * rng.normal(size=300)
    y = np.clip(np.round(utility), 0, 3)
    parameters = Parameters(C=C, loss="hinge", solver="newton", tol=1e-8, n_threads=1)
    result = train(
        DesignMatrix.from_array(X),
        Preferences.from_labels(y, np.arange(300) // 10),
        parameters=parameters,
    ).result
    assert result.status == "converged"
    assert result.solver == "newton"
    assert result.history[-1].n_products <= 110  # it takes some 200 and planes otherwise
