import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import reference
import strategies
from cases import linear_objective, make_loss
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

STORAGES = {
    "dense64": np.array,
    "dense32": lambda X: np.array(X, dtype=np.float32),
    "csr64": sparse.csr_matrix,
    "csr32": lambda X: sparse.csr_matrix(X, dtype=np.float32),
    "csr_array64": sparse.csr_array,
}

every_storage = pytest.mark.parametrize("storage", STORAGES)


def of_problem(problem, c, place, storage="dense64"):
    """The objective, and its pairs with c multiplied in; the largest gap counts as one."""
    ranking, X, _ = problem
    weights = {"sample_weight": ranking.sample_weight, "pair_weight": ranking.pair_weight}
    if ranking.pair_weight == "gap":
        c /= np.ptp(ranking.y) or 1
    pairs = reference.enumerate_pairs(ranking.y, ranking.qid, **weights)
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    loss = make_loss(SquaredHinge, ranking.y, groups, **weights, device=place.device)
    objective = LinearObjective(place.matrix(STORAGES[storage](X)), loss, c)
    return objective, reference.normalize_pairs(pairs, c, None)


@every_storage
@strategies.examples(30)
@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 3))
def test_value_gradient_and_hessian_product(problem, exponent, storage, place):
    objective, pairs = of_problem(problem, 10.0**exponent, place, storage)
    _, X, w = problem
    evaluation = objective.evaluate(w)
    assert evaluation.value == pytest.approx(reference.objective(pairs, X, w), rel=1e-10)
    gradient = reference.objective_gradient(pairs, X, w)
    H = reference.objective_hessian(pairs, X, w)
    # Terms of up to this size may cancel.
    scale = 1 + 2 * pairs.weight.sum() * max(1, np.abs(X @ w).max()) * max(1, np.abs(X).max()) ** 2
    np.testing.assert_allclose(evaluation.gradient, gradient, rtol=1e-9, atol=1e-13 * scale)
    p = np.linspace(-1, 1, len(w))
    np.testing.assert_allclose(evaluation.hessian_product(p), H @ p, rtol=1e-9, atol=1e-13 * scale)
    np.testing.assert_allclose(evaluation.hessian(), H, rtol=1e-5, atol=1e-6 * np.trace(H))


@given(problem=strategies.linear_problems(), seed=st.integers(0, 99))
def test_gradient_is_the_derivative_of_the_value(problem, seed, place):
    objective, _ = of_problem(problem, 0.5, place)
    w, direction = np.random.default_rng(seed).normal(size=(2, objective.size))
    h = 1e-6
    ahead, behind = objective.evaluate(w + h * direction), objective.evaluate(w - h * direction)
    gradient = objective.evaluate(w).gradient
    noise = 1e-6 * np.abs(gradient) @ np.abs(direction) + 1e-9 * ahead.value
    assert gradient @ direction == pytest.approx(
        (ahead.value - behind.value) / (2 * h), rel=5e-6, abs=noise
    )


# --- the certificate ------------------------------------------------------------------------------


@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 3))
def test_duality_gap_is_that_of_the_multipliers(problem, exponent, place):
    objective, pairs = of_problem(problem, 10.0**exponent, place)
    _, X, w = problem
    value = reference.objective(pairs, X, w)
    assume(value > 0)
    gap = (value - reference.dual_bound(pairs, X, w)) / value
    assert objective.evaluate(w).duality_gap == pytest.approx(gap, rel=1e-6, abs=1e-8)


@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 2))
def test_no_point_is_better_by_more_than_the_gap(problem, exponent, place):
    objective, pairs = of_problem(problem, 10.0**exponent, place)
    _, X, w = problem
    assume(pairs.weight.any())
    optimum = reference.objective(pairs, X, reference.minimize_squared_hinge(pairs, X))
    here = objective.evaluate(w)
    # A bound far below the value is known no more exactly than the value.
    assert here.value * (1 - here.duality_gap) <= optimum + 1e-12 * here.value


@strategies.examples(50)
@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 2))
def test_duality_gap_vanishes_at_the_optimum(problem, exponent, place):
    objective, pairs = of_problem(problem, 10.0**exponent, place)
    assume(pairs.weight.any())
    best = reference.minimize_squared_hinge(pairs, problem[1])
    here = objective.evaluate(best)
    # Value and bound allow for rounding several times, the bound for that of the slope, too.
    plane = here.plane
    rounding = here.rounding + plane.noise * float(plane.grain @ np.abs(plane.slope))
    assert 0 <= here.duality_gap <= 1e-11 + 8 * rounding / here.value


@given(problem=strategies.linear_problems())
def test_hinge_gap_bounds_the_distance_to_any_better_point(problem, place):
    ranking, X, w = problem
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    loss = make_loss(Hinge, ranking.y, groups, device=place.device)
    objective = LinearObjective(place.matrix(X), loss, 0.1)
    here = objective.evaluate(w)
    others = [objective.evaluate(t * w).value for t in (0, 0.25, 0.5, 0.9, 1.1, 2, 4)]
    assert here.value * (1 - here.duality_gap) <= min(others) + 1e-12 * here.value + 1e-15


# --- the explicit Hessian -------------------------------------------------------------------------

SHAPES = {
    "one long query, few levels": ([700], 3, 12),
    "one long query, distinct labels": ([700], 700, 12),
    "many short queries": ([5] * 120, 3, 40),
    "queries of every length": ([1, 2, 3, 30, 300, 7, 90, 1, 64], 5, 24),
    "more features than rows": ([20, 30], 4, 80),
    "one feature": ([40, 50], 4, 1),
    "longer than a block of rows": ([9_000, 20_000, 50], 4, 20),
}


def hessian_case(shape, scaled):
    lengths, n_levels, d = SHAPES[shape]
    rng = np.random.default_rng(len(lengths))
    n = sum(lengths)
    X = rng.normal(size=(n, d)) * rng.integers(0, 2, (n, d))
    if scaled:
        X = X * 10.0 ** rng.uniform(-4, 4, d) + 10.0 ** rng.uniform(-4, 4, d)
    qid = rng.permutation(np.repeat(np.arange(len(lengths)), lengths))
    w = rng.normal(size=d) / (X.std(axis=0) + 1e-300) / np.sqrt(d)
    return X, rng.integers(0, n_levels, n), QueryGroups.from_qid(qid, n), w


def centred(X):
    """X less the mean of each column, which no Hessian depends on, in double precision."""
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    return dense - dense.mean(axis=0)


@every_storage
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pair_weight", [None, "gap"])
@pytest.mark.parametrize("shape", SHAPES)
def test_hessian_holds_the_products_with_unit_vectors(
    shape, pair_weight, weighted, scaled, storage, place
):
    X, y, groups, w = hessian_case(shape, scaled)
    X = STORAGES[storage](X)
    weight = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else None
    options = {"sample_weight": weight, "pair_weight": pair_weight, "n_threads": 2}
    there = make_loss(SquaredHinge, y, groups, **options, device=place.device)
    H = LinearObjective(place.matrix(X), there, 0.01, n_threads=2).evaluate(w).hessian()
    loss = make_loss(SquaredHinge, y, groups, **options)
    here = linear_objective(centred(X), loss, 0.01, n_threads=2).evaluate(w)
    columns = np.array([here.hessian_product(e) for e in np.eye(len(w))])
    # A Hessian is used with its diagonal scaled to one.
    unit = np.sqrt(np.diag(columns))
    np.testing.assert_allclose(H / np.outer(unit, unit), columns / np.outer(unit, unit), atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_any_number_of_threads_gives_the_same_bits(shape):
    X, y, groups, w = hessian_case(shape, scaled=True)

    def everything(n_threads):
        objective = linear_objective(
            X, make_loss(SquaredHinge, y, groups, n_threads=n_threads), 1, n_threads
        )
        here = objective.evaluate(w)
        product = here.hessian_product(here.gradient)
        return here.value, here.gradient, product, here.hessian(), here.duality_gap

    one = everything(1)
    for n_threads in (2, 3):
        assert all(map(np.array_equal, one, everything(n_threads)))


@every_storage
def test_inputs_are_left_alone(storage, place):
    X, y, groups, w = hessian_case("queries of every length", scaled=False)
    X = STORAGES[storage](X)
    arrays = [w, y, *([X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr])]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    loss = make_loss(SquaredHinge, y, groups, device=place.device)
    here = LinearObjective(place.matrix(X), loss, 1.0).evaluate(w)
    here.hessian_product(here.gradient)
    here.hessian()
    assert all(map(np.array_equal, arrays, copies))


@pytest.mark.parametrize("loss", [SquaredHinge, Hinge])
@pytest.mark.parametrize("sizes", [[3, 5, 2], [80, 90, 200], [5, 90, 200]])
def test_queries_without_rows_add_nothing(loss, sizes):
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    X, w = rng.standard_normal((starts[-1], 6)), rng.standard_normal(6)
    y = rng.integers(0, 4, starts[-1]).astype(np.float64)

    def here(starts):
        of_loss = make_loss(loss, y, QueryGroups(starts))
        return linear_objective(X, of_loss, 0.1).smoothed().evaluate(w)

    some, more = here(starts), here(np.repeat(starts, 3))
    assert more.value == some.value
    for name in ("gradient", "hessian", "hessian_product"):
        values = [getattr(at, name) for at in (some, more)]
        arguments = (w,) if name == "hessian_product" else ()
        values = [each(*arguments) if callable(each) else each for each in values]
        np.testing.assert_array_equal(*values)
