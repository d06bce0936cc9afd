"""Interior-point steps on blocks of pairs: the equations, and optima that other solvers find."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from ranksvm import RankSVM
from ranksvm.linear import composed_solvers
from ranksvm.linear import interior_blocks as blocks
from ranksvm.linear.block_equations import BlockEquations, QueryLaplacian
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.interior_blocks import interior_blocks
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.row_space import have_little_in_common
from ranksvm.linear.solver_choice import SolverChoice
from ranksvm.linear.training import make_problem, progress_of
from ranksvm.pairs.explicit import ExplicitPairs
from ranksvm.pairs.level_blocks import LevelBlocks
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import PlanesFirst, Status
from ranksvm.solvers import progress as progress_module
from ranksvm.threads import in_order


def text(seed, n=60, d=200, queries=3, levels=4):
    """Return sparse rows of unit length, labels and queries."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.06)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-3)
    y = rng.integers(0, levels, n).astype(float)
    qid = rng.integers(0, queries, n)
    qid[:2], y[:2] = 0, (0, 1)
    return X, y, qid


def minimized(X, preferences, *, w0=None, **options):
    parameters = Parameters(**{"loss": "hinge", "tol": 1e-6, "n_threads": 1} | options)
    problem = make_problem(DesignMatrix.from_array(sparse.csr_matrix(X)), preferences, parameters)
    start = np.zeros(problem.objective.size) if w0 is None else w0
    return interior_blocks(problem.objective, start, progress_of(parameters, None))


def weighted_preferences(seed, y, qid, pair_weight):
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight[:2] = 1
    of_queries = rng.uniform(0.5, 2, len(np.unique(qid)))
    return Preferences.from_labels(y, qid, weight, of_queries).weighed(pair_weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 1000))
def test_equations_are_solved(dtype, seed):
    X, y, qid = text(seed, n=30)
    rng = np.random.default_rng(seed)
    preferences = Preferences.from_labels(y, qid)
    listed = ExplicitPairs.of(preferences)
    weights = 10.0 ** rng.uniform(-3, 2, len(listed.better))
    of_pair = dict(zip(zip(listed.better, listed.worse, strict=True), weights, strict=True))
    L, K = listed.sparse_laplacian(weights).toarray(), X @ X.T
    laplacians = []
    for query in LevelBlocks.of(preferences):
        own = [
            np.array([[of_pair[i, j] for j in query.rows[: block.n_worse]] for i in better])
            for block in query.blocks
            for better in (query.rows[block.better],)
        ]
        degree = listed.degree(weights)[query.rows]
        laplacians.append(QueryLaplacian.of(query, own, degree, 1.0, dtype))
    q, r = L @ rng.normal(size=len(y)), rng.normal(size=len(y))
    # Products of matrices look at numbers beside them, too, which may be anything.
    with np.errstate(invalid="ignore"), in_order(1) as ordered:
        matrix = DesignMatrix.from_array(sparse.csr_matrix(X))
        equations = BlockEquations(matrix, laplacians, 1.0, 1, ordered)
        scores = equations.solve(q, r, 1e-9)
        v = q - equations.product(scores)
    np.testing.assert_allclose(v, q - L @ scores, atol=1e-9 * np.abs(L).max())
    expected = np.linalg.solve(np.eye(len(y)) + L @ K, q + L @ r)
    np.testing.assert_allclose(v, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimum_is_that_of_another_solver(C, seed):
    X, y, qid = text(seed)
    preferences = Preferences.from_labels(y, qid)
    result = minimized(X, preferences, C=C)
    assert result.status is Status.CONVERGED
    parameters = Parameters(C=C, loss="hinge", tol=1e-8, n_threads=1, solver="newton")
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    other = problem.minimize(parameters)
    assert result.value * (1 - result.dual_gap) <= other.value
    assert other.value * (1 - other.dual_gap) <= result.value
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    exact = reference.hinge_objective(pairs, X, result.weights)
    assert exact == pytest.approx(result.value, rel=1e-9)


@pytest.mark.parametrize("pair_weight", [None, "gap"])
def test_weights_of_rows_queries_and_gaps(pair_weight):
    X, y, qid = text(5)
    preferences = weighted_preferences(5, y, qid, pair_weight)
    options = {"C": 2.0, "pair_weight": pair_weight}
    result = minimized(X, preferences, **options)
    assert result.status is Status.CONVERGED
    parameters = Parameters(loss="hinge", tol=1e-8, n_threads=1, solver="newton", **options)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    assert result.value == pytest.approx(problem.minimize(parameters).value, rel=2e-6)


def test_every_number_of_threads_gives_the_same():
    X, y, qid = text(6)
    preferences = Preferences.from_labels(y, qid)
    weights = [minimized(X, preferences, n_threads=k).weights for k in (1, 2, 3)]
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


def test_a_start_at_the_optimum_is_the_end():
    X, y, qid = text(7)
    preferences = Preferences.from_labels(y, qid)
    first = minimized(X, preferences)
    again = minimized(X, preferences, w0=first.weights, tol=1e-3)
    assert again.value <= first.value * (1 + 1e-3)
    assert again.dual_gap <= 1e-3


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_they_begin_amid_the_bounds_where_few_steps_lead_nowhere(seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(200, 2000, 0.05, format="csr", random_state=seed)
    X.data[:] = rng.exponential(size=X.nnz)
    utility = X @ rng.normal(size=2000)
    utility += 2 * utility.std() * rng.normal(size=200)
    preferences = Preferences.from_labels(utility, None)
    result = minimized(X, preferences, C=1e3, tol=1e-4)
    assert result.status is Status.CONVERGED
    steps = [line.step for line in result.history[1:]]
    assert sum(steps[:10]) < 1.0
    assert len(steps) < 60
    other = RankSVM(1e3, loss="hinge", solver="row_space", tol=1e-6).fit(X, utility)
    assert result.value * (1 - result.dual_gap) <= other.objective_ <= result.value * (1 + 1e-6)


def counts_beside_dense_features(seed, n=400):
    """Return rows in which a few features are dense, and others count hardly ever, but much."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n, 4 * n))
    np.add.at(counts, (np.repeat(np.arange(n), 6), rng.zipf(1.3, 6 * n) % (4 * n)), 1.0)
    X = np.hstack([rng.normal(size=(n, 10)), counts])
    utility = X @ rng.normal(size=X.shape[1])
    utility += 2 * utility.std() * rng.normal(size=n)
    return sparse.csr_matrix(X), (utility > np.median(utility)).astype(float)


@pytest.mark.parametrize("seed", [0, 3])
def test_where_they_lead_nowhere_from_there_they_end(seed):
    X, y = counts_beside_dense_features(seed)
    result = minimized(X, Preferences.from_labels(y, None), C=1e3, tol=1e-3)
    assert result.status is Status.STALLED
    assert len(result.history) <= 31


def test_they_do_not_begin_where_a_few_features_make_up_all_dot_products():
    X, y = counts_beside_dense_features(0)
    alike, unlike = (DesignMatrix.from_array(each) for each in (sparse.csr_matrix(text(0)[0]), X))
    assert have_little_in_common(alike)
    assert not have_little_in_common(unlike)
    for scale in (0.0, 1e-200, 1e100, 1e200):
        beyond = DesignMatrix.from_array(scale * X)
        assert have_little_in_common(beyond) == (scale != 1e100)
    model = RankSVM(1e3, loss="hinge", solver="row_space", tol=1e-3).fit(X, y)
    assert model.status_ == "converged"
    assert model.history_[0].solver == "trust_region"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e100])
def test_what_is_beyond_floating_point_has_no_false_certificate(scale):
    X, y, qid = text(8)
    result = minimized(scale * X, Preferences.from_labels(y, qid))
    assert 0 <= result.dual_gap <= 1 or not np.isfinite(result.dual_gap)


def test_auto_takes_them_for_long_queries_of_sparse_rows():
    n = 3000
    y, qid = (np.arange(n) % 4).astype(float), np.arange(n) * 3 // n
    X = DesignMatrix.from_array(sparse.random(n, 3 * n, 0.005, format="csr", random_state=0))
    plain = Preferences.from_labels(y, qid)
    with_roles = replace(plain, better_weight=np.ones(n))
    here, listed = (
        choose_solver(X, labels, Parameters(loss="hinge")) for labels in (plain, with_roles)
    )
    assert here.name == listed.name == "row_space"
    assert 0 < here.products.work < 0.25 * listed.products.work


@pytest.mark.parametrize(
    ("listed", "times", "last"),
    [(True, 3.0, "trust_region"), (True, 0.0, "interior_point"), (False, 0.0, "trust_region")],
)
def test_another_solver_goes_on_where_they_come_to_a_stand(monkeypatch, listed, times, last):
    X, y, qid = text(9)
    monkeypatch.setattr(composed_solvers, "DEARER_IN_LIST", times)
    monkeypatch.setattr(composed_solvers, "may_be_listed", lambda _: listed)
    monkeypatch.setattr(composed_solvers, "suits_blocks_of_pairs", lambda *_: True)
    monkeypatch.setattr(blocks, "LEAST_STEP", 1.0)
    parameters = Parameters(loss="hinge", tol=1e-3, n_threads=1, solver="row_space")
    matrix = DesignMatrix.from_array(sparse.csr_matrix(X))
    result = make_problem(matrix, Preferences.from_labels(y, qid), parameters).minimize(parameters)
    assert result.history[0].solver == "interior_point"
    assert result.history[-1].solver == last
    assert {line.solver for line in result.history} == {"interior_point", "trust_region"}
    assert result.status is Status.CONVERGED


@pytest.mark.parametrize("solver", [interior_blocks, composed_solvers.blocks_last])
def test_a_good_start_does_not_end_them(monkeypatch, solver):
    monkeypatch.setattr(progress_module, "PATIENCE", 2)
    X, y, qid = text(1)
    parameters = Parameters(C=10.0, loss="hinge", tol=1e-8, n_threads=1)
    problem = make_problem(
        DesignMatrix.from_array(sparse.csr_matrix(X)), Preferences.from_labels(y, qid), parameters
    )
    near = problem.minimize(Parameters(C=10.0, loss="hinge", tol=1e-7, solver="bundle"))
    result = solver(problem.objective, near.weights, progress_of(parameters, None))
    assert result.history[4].value == result.history[0].value
    assert result.status is Status.CONVERGED
    assert {line.solver for line in result.history} == {"interior_point"}


def test_they_go_on_as_long_as_the_gap_halves_where_equations_are_solved_no_better(monkeypatch):
    X, y, qid = text(1)
    preferences = Preferences.from_labels(y, qid)
    parameters = Parameters(C=1e4, loss="hinge", tol=1e-9, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(sparse.csr_matrix(X)), preferences, parameters)
    monkeypatch.setattr(blocks, "TIGHTEST", 1e-2)  # they are solved hardly better than at first
    results = []
    for less in (0.0, 0.5, 1e9):
        monkeypatch.setattr(blocks, "LESS", less)
        progress = progress_of(parameters, None)
        results.append(interior_blocks(problem.objective, np.zeros(X.shape[1]), progress))
    at_once, halving, on = results
    assert at_once.status is halving.status is Status.STALLED
    assert at_once.n_iter < halving.n_iter < on.n_iter
    assert halving.dual_gap < 0.5 * at_once.dual_gap
    assert on.dual_gap > 0.9 * halving.dual_gap


@pytest.mark.parametrize(("n_queries", "last"), [(9, True), (2000, False)])
def test_of_many_rows_they_go_last(n_queries, last):
    n = 9000
    y, qid = (np.arange(n) % 4).astype(float), np.arange(n) * n_queries // n
    columns = np.random.default_rng(0).integers(0, 2 * n, 20 * n)
    rows = sparse.csr_matrix((np.ones(20 * n), (np.arange(20 * n) // 20, columns)), (n, 2 * n))
    X = DesignMatrix.from_array(rows)
    choice = choose_solver(X, Preferences.from_labels(y, qid), Parameters(loss="hinge"))
    assert choice.name == "trust_region"
    assert (choice.planes.last is not None) == last


@pytest.mark.parametrize("stalls", [False, True])
def test_they_go_on_where_planes_and_products_lead_nowhere(monkeypatch, stalls):
    X, y, qid = text(3)
    parameters = Parameters(C=100.0, loss="hinge", tol=1e-6, n_threads=1)
    preferences = Preferences.from_labels(y, qid)
    problem = make_problem(DesignMatrix.from_array(sparse.csr_matrix(X)), preferences, parameters)
    if stalls:
        monkeypatch.setattr(blocks, "LEAST_STEP", 1.0)
    planes = PlanesFirst(2.0, products=1.0, last=composed_solvers.blocks_last)
    choice = SolverChoice("trust_region", kinks=True, planes=planes)
    progress = progress_of(parameters, None)
    result = choice.minimize(problem.objective, np.zeros(X.shape[1]), progress)
    assert result.status is Status.CONVERGED
    used = [line.solver for line in result.history]
    assert used[0] == "bundle"
    assert "interior_point" in used
    assert ("trust_region" in used[used.index("interior_point") :]) == stalls
