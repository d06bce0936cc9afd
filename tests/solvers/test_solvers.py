from functools import partial

import numpy as np
import pytest
from scipy import sparse

import cases
import reference
from cases import assert_optimal, make_problem
from places import core_only
from ranksvm import ConvergenceWarning, RankSVM, load_svmlight
from ranksvm.names import COUNTINGS

SOLVERS = ["newton", "trust_region"]
NORMALIZATIONS = ["documents", "pairs", "queries", None]
TIGHT = {"tol": 1e-10, "n_threads": 1}

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_normalization = pytest.mark.parametrize("normalize", NORMALIZATIONS)


optimum = partial(cases.optimum, "squared_hinge")


# --- the optimum ----------------------------------------------------------------------------------


@every_solver
@every_normalization
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n_queries", [1, 6])
def test_reaches_the_optimum(solver, normalize, C, n_queries, place):
    X, y, qid = make_problem(n_queries, n_queries=n_queries)
    model = place.ranker(C, normalize=normalize, solver=solver, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, C, normalize))
    assert model.n_pairs_ == len(reference.enumerate_pairs(y, qid).weight)
    assert model.n_queries_ == n_queries


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
    pairs = reference.enumerate_pairs(y, qid, **weights)
    assert model.n_pairs_ == pytest.approx(pairs.weight.sum())


@every_solver
@pytest.mark.parametrize("d", [1, 2, 40])
def test_reaches_the_optimum_with_any_number_of_features(solver, d, place):
    X, y, qid = make_problem(d, d=d)
    model = place.ranker(solver=solver, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, 1.0, "documents"))


@every_solver
def test_reaches_the_optimum_with_raw_features(solver, place):
    X, y, qid = make_problem(8, n=50)
    X = X * [1e-4, 1e-1, 1e2, 1e5] + [0, 1, -1e3, 1e5]
    model = place.ranker(solver=solver, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, 1.0, "documents"))


@every_solver
def test_reaches_the_optimum_where_all_pairs_can_be_ordered(solver, place):
    X = np.arange(12.0)[:, np.newaxis] * [1, -2]
    model = place.ranker(1e3, solver=solver, **TIGHT | {"tol": 1e-9}).fit(X, np.arange(12))
    assert_optimal(model, *optimum(X, np.arange(12), None, 1e3, "documents"))
    assert model.score(X, np.arange(12)) == 1


@every_solver
def test_features_that_say_nothing_get_no_weight(solver, place):
    X, y, qid = make_problem(3)
    constant_and_missing = np.c_[X, np.full(len(y), 7.0), np.zeros(len(y))]
    model = place.ranker(solver=solver, **TIGHT).fit(constant_and_missing, y, qid)
    np.testing.assert_allclose(model.coef_[4:], 0, atol=1e-12)
    np.testing.assert_allclose(model.coef_[:4], optimum(X, y, qid, 1.0, "documents")[0], atol=1e-4)


@core_only
@pytest.mark.parametrize("counting", COUNTINGS)
def test_every_counting_reaches_the_optimum(counting, place):
    X, y, qid = make_problem(4)
    model = place.ranker(counting=counting, **TIGHT).fit(X, y, qid)
    assert_optimal(model, *optimum(X, y, qid, 1.0, "documents"))


# --- what weights, order and labels mean ----------------------------------------------------------


@every_solver
@every_normalization
def test_integer_sample_weight_is_repeated_rows(solver, normalize, place):
    X, y, qid = make_problem(5)
    repeats = np.random.default_rng(6).integers(0, 4, len(y))
    repeats[qid == 2] = 0
    rows = np.repeat(np.arange(len(y)), repeats)
    model = place.ranker(normalize=normalize, solver=solver, **TIGHT)
    weighted = model.fit(X, y, qid, sample_weight=repeats)
    value, n_pairs, coef = weighted.objective_, weighted.n_pairs_, weighted.coef_
    repeated = model.fit(X[rows], y[rows], qid[rows])
    assert repeated.objective_ == pytest.approx(value, rel=1e-9)
    assert repeated.n_pairs_ == n_pairs
    np.testing.assert_allclose(repeated.coef_, coef, atol=1e-4)


@every_solver
@every_normalization
def test_integer_query_weight_is_repeated_queries(solver, normalize, place):
    X, y, qid = make_problem(7, n_queries=4)
    repeats = np.array([0, 1, 3, 2])[qid]
    rows = np.repeat(np.arange(len(y)), repeats)
    copy = np.concatenate([np.arange(k) for k in repeats])
    model = place.ranker(normalize=normalize, solver=solver, **TIGHT)
    weighted = model.fit(X, y, qid, query_weight=repeats)
    value, n_pairs, coef = weighted.objective_, weighted.n_pairs_, weighted.coef_
    repeated = model.fit(X[rows], y[rows], list(zip(qid[rows], copy, strict=True)))
    assert repeated.objective_ == pytest.approx(value, rel=1e-9)
    assert repeated.n_pairs_ == n_pairs
    assert repeated.n_queries_ == 6
    np.testing.assert_allclose(repeated.coef_, coef, atol=1e-4)


@every_solver
def test_order_of_rows_does_not_matter(solver, place):
    X, y, qid = make_problem(9, n=60)
    model = place.ranker(solver=solver, tol=1e-12)
    coef = model.fit(X, y, qid).coef_
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(y))
        np.testing.assert_allclose(model.fit(X[rows], y[rows], qid[rows]).coef_, coef, rtol=1e-6)
    rows = np.argsort(qid, kind="stable")
    names = [f"query {q}" for q in qid[rows]]
    np.testing.assert_allclose(model.fit(X[rows], y[rows], names).coef_, coef, rtol=1e-6)


@every_solver
def test_labels_enter_through_their_order_only(solver, place):
    X, y, qid = make_problem(10)
    model = place.ranker(solver=solver)
    coef = model.fit(X, y, qid).coef_
    for labels in (y.astype(int), 1e-150 * y, 1e150 * (y - 1), np.exp(y), y + 1e9 * qid):
        np.testing.assert_array_equal(model.fit(X, labels, qid).coef_, coef)


@every_solver
def test_queries_without_pairs_change_nothing_but_the_row_count(solver, place):
    X, y, qid = make_problem(11)
    alone = np.r_[X, X[:5]], np.r_[y, [1, 1, 1, 1, 1]], np.r_[qid, [7, 7, 7, 8, 9]]
    for normalize in ("pairs", "queries", None):
        model = place.ranker(normalize=normalize, solver=solver, **TIGHT)
        w, value = optimum(X, y, qid, 1.0, normalize)
        assert_optimal(model.fit(*alone), w, value)
        assert model.n_queries_ == 6


# --- certificate, history, status -----------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_gap_bounds_the_distance_to_the_optimum(solver, tol, place):
    X, y, qid = make_problem(12, n=50)
    model = place.ranker(10.0, solver=solver, tol=tol).fit(X, y, qid)
    _, value = optimum(X, y, qid, 10.0, "documents")
    assert model.dual_gap_ <= tol
    assert value * (1 - 1e-12) <= model.objective_
    assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-12)


@every_solver
def test_history_descends_to_the_result(solver, place):
    X, y, qid = make_problem(13, n=50)
    model = place.ranker(100.0, solver=solver, **TIGHT).fit(X, y, qid)
    values = [line.value for line in model.history_]
    seconds = [line.seconds for line in model.history_]
    assert np.all(np.diff(values) <= 0)
    assert np.all(np.diff(seconds) >= 0)
    assert [line.iteration for line in model.history_] == list(range(model.n_iter_ + 1))
    last = model.history_[-1]
    assert (last.value, last.dual_gap) == (model.objective_, model.dual_gap_)
    assert last.n_products >= model.n_iter_


@every_solver
def test_too_few_iterations_warn_with_the_gap(solver, place):
    X, y, qid = make_problem(14, n=50)
    model = place.ranker(100.0, solver=solver, max_iter=1, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match="gap.*tol.*max_iter"):
        model.fit(X, y, qid)
    assert model.status_ == "max_iter"
    assert model.n_iter_ == 1
    assert model.dual_gap_ > 1e-10


@every_solver
def test_more_than_floating_point_can_give_ends_all_the_same(solver, place):
    X, y, qid = make_problem(15, n=50)
    model = place.ranker(solver=solver, tol=0.0, max_iter=200)
    with pytest.warns(ConvergenceWarning, match="gap"):
        model.fit(X, y, qid)
    assert model.status_ == "stalled"
    assert model.dual_gap_ < 1e-12
    assert model.objective_ == pytest.approx(optimum(X, y, qid, 1.0, "documents")[1], rel=1e-12)


@every_solver
def test_warm_start_continues(solver, place):
    X, y, qid = make_problem(16, n=50)
    model = place.ranker(solver=solver, warm_start=True, **TIGHT).fit(X, y, qid)
    coef = model.coef_.copy()
    assert model.n_iter_ > 0
    model.fit(X, y, qid)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, coef)


NO_PAIRS = {
    "equal labels": ([1, 1, 1, 1], None, None),
    "one row per query": ([1, 2, 3, 4], [1, 2, 3, 4], None),
    "one label per query": ([1, 1, 2, 2], ["a", "a", "b", "b"], None),
    "weights that leave no pair": ([1, 2, 2, 2], None, [0, 1, 1, 1]),
}


@every_solver
@pytest.mark.parametrize("name", NO_PAIRS)
def test_no_pairs_at_all_is_an_error(name, solver, place):
    y, qid, weight = NO_PAIRS[name]
    with pytest.raises(ValueError, match=r"no preference pairs.*label.*check y, qid"):
        place.ranker(solver=solver).fit(np.eye(4), y, qid, sample_weight=weight)


# --- storage and threads --------------------------------------------------------------------------

STORAGES = {
    "csr": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
    "float32": np.float32,
    "float32 csr": lambda X: sparse.csr_matrix(X, dtype=np.float32),
}


@every_solver
@pytest.mark.parametrize("storage", STORAGES)
def test_storage_does_not_matter(solver, storage, place):
    X, y, qid = make_problem(17, n=200)
    X = np.round(8 * X) / 8  # exact in single precision
    model = place.ranker(solver=solver, tol=1e-12)
    coef = model.fit(X, y, qid).coef_
    other = STORAGES[storage](X)
    np.testing.assert_allclose(model.fit(other, y, qid).coef_, coef, rtol=1e-6)
    assert model.coef_.dtype == model.predict(other).dtype == np.float64
    np.testing.assert_allclose(model.predict(other), X @ model.coef_, rtol=1e-10, atol=1e-12)


@core_only
@every_solver
@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix])
def test_any_number_of_threads_gives_the_same_bits(solver, storage, place):
    X, y, qid = make_problem(18, n=50_000, d=40, n_queries=500)
    X = storage(X * (np.abs(X) > 0.5))

    def coef(n_threads):
        return place.ranker(solver=solver, tol=1e-6, n_threads=n_threads).fit(X, y, qid).coef_

    one = coef(1)
    assert all(np.array_equal(one, coef(n_threads)) for n_threads in (2, 3))


@every_solver
def test_inputs_are_left_alone(solver, place):
    X, y, qid = make_problem(19)
    inputs = [X, y, qid, np.full(len(y), 2.0), np.full(len(y), 3.0)]
    copies = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    place.ranker(solver=solver).fit(*inputs)
    assert all(map(np.array_equal, inputs, copies))


# --- a real data set ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def protein(real_file):
    """45,730 rows, 9 raw features over 8 orders of magnitude, 15,026 levels in one query."""
    return load_svmlight(real_file("protein"))


@every_solver
@pytest.mark.parametrize("storage", [np.ascontiguousarray, sparse.csr_matrix])
def test_protein(protein, solver, storage, place):
    X, y, qid = protein
    assert X.shape == (45_730, 9)

    def fit(n_threads):
        model = place.ranker(1e-4, normalize=None, solver=solver, tol=1e-10, n_threads=n_threads)
        return model.fit(storage(X), y, qid)

    one = fit(1)
    assert one.n_pairs_ == 1_045_462_101
    assert one.objective_ == pytest.approx(84301.134305333, rel=1e-10)
    if place.device is None:  # the libraries of arrays have threads of their own
        assert np.array_equal(one.coef_, fit(2).coef_)


def test_raw_features_send_no_step_to_and_fro(protein):
    X, y, qid = protein
    options = {"normalize": None, "solver": "trust_region", "tol": 1e-9}
    models = [RankSVM(C, **options).fit(X, y, qid) for C in (1e-5, 1e-4, 1e-3)]
    assert {model.status_ for model in models} == {"converged"}
    # The way depends on rounding: now and then it is twice as long.
    assert sorted(len(model.history_) for model in models)[1] < 100


def test_planes_from_far_away_do_not_hold_up_the_end(protein):
    X, y, qid = protein
    for tol in (1e-3, 1e-4):
        model = RankSVM(1e4, loss="hinge", tol=tol).fit(X, y, qid)
        assert model.status_ == "converged"
        assert model.dual_gap_ <= tol


def test_newton_goes_beyond_a_width_at_which_rounding_ends_its_steps(protein):
    X, y, qid = protein
    for tol in (1e-3, 1e-4):
        model = RankSVM(1e3, loss="hinge", solver="newton", tol=tol).fit(X, y, qid)
        assert model.status_ == "converged"
        assert {iteration.solver for iteration in model.history_} == {"newton"}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("scale", "C"), [(1e155, 1.0), (1e300, 1.0), (1.0, 1e300), (1e20, 1.0)])
def test_numbers_too_large_end_with_a_warning(solver, scale, C, place):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)) * scale, rng.integers(0, 3, 60)
    with pytest.warns(ConvergenceWarning, match="scale X"):
        model = place.ranker(C, solver=solver).fit(X, y)
    assert model.status_ == "stalled"
    assert model.dual_gap_ > 0.99
    assert np.isfinite(model.coef_).all()


def test_steps_go_farther_where_the_last_one_led_where_its_model_foretold():
    X = sparse.random(400, 300, density=0.1, random_state=0, format="csr")
    y = np.random.default_rng(0).standard_normal(400)
    model = RankSVM(0.01, solver="trust_region", tol=1e-9, n_threads=1).fit(X, y)
    assert model.n_iter_ <= 3  # 5 by steps that are but as exact as progress asks for
