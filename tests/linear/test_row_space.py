"""Training in the space of the rows: the dot products, the steps, the certificate at X itself."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import reference
from ranksvm import RankSVM, _core, ranksvm_grid
from ranksvm.linear import feature_space
from ranksvm.linear import interior_point as interior_points
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.dot_products import DotProducts
from ranksvm.linear.feature_space import FeatureSpace
from ranksvm.linear.interior_point import interior_point
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.row_space import MOST_ROWS, RowSpace, gram_matrix
from ranksvm.linear.training import make_problem
from ranksvm.names import LOSSES
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.explicit import ExplicitPairs, ListedSquaredHinge
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from ranksvm.solvers import Progress, Status

STORAGES = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "csr": sparse.csr_matrix,
}
SHAPES_NEXT_TO_NOTHING = [(60, 40, 0), (120, 130, 0), (120, 130, 3)]  # and digits of the scales
every_storage = pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def wide_data(n=25, d=80, seed=0, scales=1.0, levels=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, (n, d)) * (rng.random((n, d)) < 0.08) * scales
    y = rng.integers(0, levels, n).astype(float)
    y[:2] = 0, 1
    return X, y


def fitted(X, y, **options):
    return RankSVM(**{"solver": "row_space", "tol": 1e-8, "n_threads": 1} | options).fit(X, y)


def exact_value(model, X, y, C, loss):
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y), C, "documents")
    value = reference.objective if loss == "squared_hinge" else reference.hinge_objective
    return value(pairs, np.asarray(X.todense() if sparse.issparse(X) else X, float), model.coef_)


@every_storage
def test_dot_products_are_those_of_rows_less_their_mean(storage):
    X, _ = wide_data(d=300)
    Z = X - X.mean(axis=0)
    for n_threads in (1, 3):
        gram = gram_matrix(DesignMatrix.from_array(storage(X)), n_threads)
        np.testing.assert_allclose(gram, Z @ Z.T, atol=1e-11 * np.abs(Z @ Z.T).max())


def test_dot_products_of_views_of_sparse_rows():
    rng = np.random.default_rng(2)
    X = rng.integers(-8, 9, (40, 90)) * (rng.random((40, 90)) < 0.05)
    X[:, 7] = 1e6 + np.arange(40)  # stored by all, and shifted
    X[:, 9] = 3.0
    rows, scale = rng.permutation(40)[:31], rng.uniform(0.5, 2, 90)
    Z = (X * scale)[rows]
    Z -= Z.mean(axis=0)
    view = DesignMatrix.from_array(sparse.csr_matrix(X.astype(float))).scaled(scale).centered()
    grams = [gram_matrix(view.take(rows), n_threads) for n_threads in (1, 3)]
    np.testing.assert_array_equal(*grams)
    np.testing.assert_array_equal(grams[0], grams[0].T)
    np.testing.assert_allclose(grams[0], Z @ Z.T, atol=1e-11 * np.abs(Z @ Z.T).max())


@every_storage
def test_coordinates_keep_lengths_and_differences_of_scores(storage):
    X, _ = wide_data()
    X[5], X[7] = X[3], X[3]
    rows = RowSpace(DesignMatrix.from_array(storage(X)))
    assert rows.rank == len(X) - 3  # the mean, and two that come again
    w = np.random.default_rng(1).normal(size=X.shape[1])
    y = rows.from_weights(w)
    there = rows.projected(w)
    assert np.linalg.norm(there) == pytest.approx(np.linalg.norm(y), rel=1e-10)
    assert np.linalg.norm(there) < np.linalg.norm(w)
    np.testing.assert_allclose(np.diff(X @ there), np.diff(X @ w), atol=1e-9)


def weighed_pairs(pairs, rng):
    """Pairs amid interior-point steps."""
    low = rng.uniform(0.5, 10.0, len(pairs.better))
    upper, n = pairs.weight, pairs.n_samples
    weighed = _core.ListedPairs(
        pairs.better, pairs.worse, n, np.ones(1), upper, 0.5 * upper, low, low
    )
    weighed.weigh(np.zeros(n), 0.0)
    return weighed


@pytest.mark.parametrize("n_pairs", [30, 600, 2000])
@pytest.mark.parametrize("n_alike", [0, 1, 20, 60])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_scores_move_as_equations_say_however_rows_depend_on_each_other(n_alike, n_pairs, scale):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 200))
    X[:n_alike] = (X[20 : 20 + n_alike] + X[40 : 40 + n_alike]) / 2 if n_alike < 60 else X[0]
    Z = scale * (X - X.mean(axis=0))
    better = rng.integers(0, 60, n_pairs)
    worse = (better + rng.integers(1, 60, n_pairs)) % 60
    pairs = ExplicitPairs(better, worse, np.ones(n_pairs), 60)
    weighed = weighed_pairs(pairs, rng)
    balance = pairs.balance(rng.normal(size=n_pairs))
    found = []
    for n_threads in (1, 3):
        equations = DotProducts(Z @ Z.T).factorized(pairs, weighed, n_threads)
        assert (len(equations.dots.basis.others) > 0) is (n_alike > 0)
        found.append(equations.solve(balance))
    np.testing.assert_array_equal(*found)
    # By a factor of Z Z', as (I + F'MF) y = F'b and u = F y.
    U, S, _ = np.linalg.svd(Z)
    F = U[:, : len(S)] * S
    M = pairs.sparse_laplacian(weighed.weights).toarray()
    scores = F @ np.linalg.solve(np.eye(len(S)) + F.T @ M @ F, F.T @ balance)
    close = {"atol": 1e-7 * np.abs(scores).max()}
    np.testing.assert_allclose(found[0] - found[0].mean(), scores - scores.mean(), **close)


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_rows_that_come_again_with_other_labels_take_no_more_steps(C):
    """Slopes of such pairs are at their bounds, and others are the harder to tell the larger C."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1000))[rng.integers(0, 300, 600)]
    y = rng.integers(0, 3, 600)
    model = RankSVM(C, loss="hinge", solver="row_space", tol=1e-6).fit(X, y)
    assert model.status_ == "converged"
    assert {line.solver for line in model.history_} == {"interior_point"}
    assert model.n_iter_ < 40


@every_storage
@every_loss
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_optimum_as_elsewhere(storage, loss, C, seed):
    X, y = wide_data(seed=seed)
    if seed:
        X[4:8] = X[3]
    X = storage(X)
    here = fitted(X, y, C=C, loss=loss)
    there = fitted(X, y, C=C, loss=loss, solver="newton")
    assert here.status_ == "converged"
    assert here.objective_ * (1 - here.dual_gap_) <= there.objective_
    assert there.objective_ * (1 - there.dual_gap_) <= here.objective_
    assert exact_value(here, X, y, C, loss) <= here.objective_ * (1 + 1e-12)


@every_loss
def test_scales_and_offsets(loss):
    rng = np.random.default_rng(3)
    X, y = wide_data(scales=10.0 ** rng.uniform(-3, 3, 80))
    model = fitted(X + 10.0 ** rng.uniform(-2, 4, 80), y, loss=loss, C=1e-4, tol=1e-5)
    assert model.status_ == "converged"
    other = fitted(X, y, loss=loss, C=1e-4, tol=1e-5)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-4)


@pytest.mark.parametrize(
    ("solver", "n", "d", "digits"),
    [
        *(
            (solver, *shape)
            for solver in ("newton", "row_space")
            for shape in SHAPES_NEXT_TO_NOTHING
        ),
        ("trust_region", 120, 130, 0),
    ],
)
def test_squared_hinge_that_is_next_to_nothing_is_minimised_pair_by_pair(solver, n, d, digits):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-digits, digits, d)
    y = np.round(X @ (rng.standard_normal(d) / X.std(axis=0))).clip(-3, 3)
    model = fitted(X, y, solver=solver, C=1e6, tol=1e-9)
    assert model.status_ == "converged"
    assert exact_value(model, X, y, 1e6, "squared_hinge") <= model.objective_ * (1 + 1e-12)


def test_planes_follow_interior_points_that_stall_close_to_the_end_where_features_are_many():
    rng = np.random.default_rng(2)
    F = rng.standard_normal((60, 10))
    X = F @ rng.standard_normal((10, 9_000)) + 0.5 * rng.standard_normal((60, 9_000))
    X = np.exp(X / np.abs(X).std() / 2) * 10 ** rng.uniform(0, 3, 9_000)
    y = np.floor(4 * np.argsort(np.argsort(F[:, 0])) / 60)
    model = fitted(X, y, loss="hinge", C=1e3, tol=1e-6, solver="auto")
    assert model.status_ == "converged"
    assert "interior_point" in {line.solver for line in model.history_}
    assert {line.solver for line in model.history_} <= {"interior_point", "bundle"}
    assert exact_value(model, X, y, 1e3, "hinge") <= model.objective_ * (1 + 1e-12)


def test_steps_that_rounding_stops_give_way_to_pairs_soon():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2_000))
    y = np.floor(5 * rng.random(200))
    model = fitted(X, y, C=1e4, tol=1e-9)
    assert model.status_ == "converged"
    gaps = [line.dual_gap for line in model.history_]
    idle = [k for k in range(3, len(gaps)) if gaps[k - 3] <= 1e-4 and gaps[k] > 0.5 * gaps[k - 3]]
    assert len(idle) <= 1
    assert exact_value(model, X, y, 1e4, "squared_hinge") <= model.objective_ * (1 + 1e-12)


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("digits", [3, 4])
def test_interior_points_or_newton_steps_do_where_scales_of_dense_features_differ(digits, C):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 130)) * 10 ** rng.uniform(-digits, digits, 130)
    y = np.round(X @ (rng.standard_normal(130) / X.std(axis=0))).clip(-3, 3)
    model = fitted(X, y, loss="hinge", C=C, tol=1e-3, max_iter=150)
    assert model.status_ == "converged"
    names = list(dict.fromkeys(line.solver for line in model.history_))
    assert names in (["interior_point"], ["interior_point", "newton"])
    assert exact_value(model, X, y, C, "hinge") <= model.objective_ * (1 + 1e-12)
    there = fitted(X, y, loss="hinge", C=C, tol=1e-3, solver="newton")
    assert model.objective_ * (1 - model.dual_gap_) <= there.objective_


def pairs_of_two(n, d, digits, seed):
    """Queries of two rows each, that can be ranked, and features of scales that lie far apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-digits, digits, d)
    return X, np.arange(n) % 2, np.arange(n) // 2


def exact_value_of_two(w, X, C, power):
    """The objective for queries of two rows, without any rounding."""
    X, w = (np.vectorize(Fraction, otypes=[object])(part) for part in (X, w))
    lacking = (max(1 - row @ w, 0) for row in X[1::2] - X[::2])
    return w @ w / 2 + 2 * Fraction(C) * sum(part**power for part in lacking)


@pytest.mark.parametrize(
    ("loss", "C", "n", "d", "digits", "seed", "tol"),
    [
        ("hinge", 300.0, 60, 60, 5, 1, 1e-5),
        ("hinge", 300.0, 60, 60, 6, 2, 1e-5),
        ("hinge", 300.0, 60, 90, 6, 0, 1e-5),
        ("hinge", 300.0, 200, 300, 6, 0, 1e-3),
        ("squared_hinge", 1e4, 60, 90, 6, 0, 1e-5),
        ("squared_hinge", 1e4, 60, 90, 6, 1, 1e-5),
        ("squared_hinge", 1e4, 60, 180, 6, 1, 1e-5),
    ],
)
def test_what_can_be_ranked_is_certified_however_far_scales_differ(
    loss, C, n, d, digits, seed, tol
):
    """Scores are known to so little that its loss alone would be more than the gap."""
    X, y, qid = pairs_of_two(n, d, digits, seed)
    model = RankSVM(C, loss=loss, tol=tol, n_threads=1).fit(X, y, qid)
    assert model.status_ == "converged"
    value = exact_value_of_two(model.coef_, X, C, 1 if loss == "hinge" else 2)
    assert model.objective_ * (1 - model.dual_gap_) <= value <= model.objective_ * (1 + 1e-12)


def by_interior_points(n, d, digits, of_a_query, C, tol):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-digits, digits, d)
    preferences = Preferences.from_labels(rng.integers(0, 3, n), np.arange(n) // of_a_query)
    parameters = Parameters(C, "hinge", solver="row_space", n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    return interior_point(problem.objective, np.zeros(d), Progress(tol))


def test_interior_points_make_way_once_rounding_is_all_that_is_left(monkeypatch):
    cases = [
        (60, 60, 4, 20, 1.0, 1e-12),
        (60, 60, 3, 20, 1e4, 1e-13),
        (60, 90, 5, 20, 1.0, 1e-13),
        (200, 300, 4, 2, 300.0, 1e-13),
    ]

    def n_steps():
        results = [by_interior_points(*case) for case in cases]
        assert all(result.status is Status.STALLED for result in results)
        assert max(result.dual_gap for result in results) < 1e-4
        return sum(len(result.history) for result in results)

    soon = n_steps()
    monkeypatch.setattr(interior_points, "IDLE", 10**6)
    assert soon < 0.7 * n_steps()


def test_short_steps_may_be_many():
    result = by_interior_points(60, 60, 4, 60, 1e4, 1e-8)
    assert sum(line.step < 0.9 for line in result.history) > 20
    assert result.dual_gap < 1e-4


def test_steps_in_single_precision_that_lead_nowhere_are_few():
    result = by_interior_points(60, 58, 5, 60, 1.0, 1e-8)
    assert result.status is Status.CONVERGED
    assert len(result.history) < 30


@every_loss
@pytest.mark.parametrize("scale", [1e-170, 1e-5, 1.0, 1e5, 1e100])
def test_two_rows(loss, scale):
    X = scale * np.array([[3.0, 0, 0, 1], [0, 4.0, 0, 1]])
    model = fitted(X, [0, 1], loss=loss, normalize=None)
    square = 25.0 * scale * scale  # the only pair: P(t) = t^2 / (2 square) + phi(t)
    expected = 1 / (1 + 2 * square) if loss == "squared_hinge" else None
    if 1e-10 < scale < 1e10:
        if expected is None:
            expected = 0.5 / square if square > 1 else 1 - 0.5 * square
        else:
            expected = 1 / (1 + 2 * square)
        assert model.objective_ == pytest.approx(expected, rel=1e-6)
    assert 0 <= model.dual_gap_ <= 1


@every_loss
def test_queries_and_weights(loss):
    X, y = wide_data(n=30)
    rng = np.random.default_rng(4)
    qid = rng.integers(0, 4, 30)
    weight = rng.integers(0, 3, 30).astype(float)
    weight[:4] = 1
    options = {"loss": loss, "normalize": "queries", "pair_weight": "gap", "C": 10.0, "tol": 1e-8}
    here, there = (
        RankSVM(solver=solver, n_threads=1, **options).fit(X, y, qid=qid, sample_weight=weight)
        for solver in ("row_space", "newton")
    )
    assert here.status_ == "converged"
    assert here.objective_ == pytest.approx(there.objective_, rel=1e-7)


@every_loss
def test_every_number_of_threads_gives_the_same(loss):
    X, y = wide_data(n=40, d=3000)
    weights = [fitted(X, y, loss=loss, n_threads=k).coef_ for k in (1, 2, 3)]
    assert np.array_equal(weights[0], weights[1])
    assert np.array_equal(weights[0], weights[2])


@every_loss
def test_weights_outside_the_space_are_no_start(loss):
    X, y = wide_data()
    model = RankSVM(solver="row_space", loss=loss, tol=1e-8, warm_start=True, n_threads=1)
    model.coef_ = np.full(80, 10.0)
    expected = fitted(X, y, loss=loss).objective_
    assert model.fit(X, y).objective_ == pytest.approx(expected, rel=1e-7)


@every_loss
def test_a_grid_makes_the_dot_products_once(loss, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "ranksvm.linear.row_space.gram_matrix", lambda *of: calls.append(of) or gram_matrix(*of)
    )
    X, y = wide_data()
    grid = ranksvm_grid(X, y, Cs=[0.1, 1, 10], loss=loss, solver="row_space", n_threads=1)
    assert len(calls) == 1
    assert set(grid.statuses) == {"converged"}


def test_auto_takes_it_where_rows_are_few():
    def chosen(n, d, **options):
        X = DesignMatrix.from_array(np.zeros((n, d), dtype=np.float32))
        return choose_solver(X, Preferences.from_labels(np.zeros(n)), Parameters(**options)).name

    assert chosen(50, 5000) == chosen(50, 5000, loss="hinge") == "row_space"
    assert chosen(5000, 50) == "newton"
    assert chosen(50, 5000, solver="newton") == "newton"


def test_too_many_rows_are_refused_by_name():
    X = sparse.csr_matrix((MOST_ROWS + 1, 3))
    with pytest.raises(ValueError, match=r"at most 8,192 rows on the host"):
        fitted(X, np.arange(MOST_ROWS + 1))


def test_history_names_it():
    X, y = wide_data()
    assert fitted(X, y).history_[-1].solver == "row_space"
    assert fitted(X, y, loss="hinge", tol=1e-3).history_[-1].solver == "interior_point"


@pytest.mark.parametrize("pair_weight", [None, "gap"])
@pytest.mark.parametrize("with_roles", [False, True])
def test_explicit_pairs_are_those_of_the_reference(with_roles, pair_weight):
    rng = np.random.default_rng(5)
    y, qid = rng.integers(0, 4, 20).astype(float), rng.integers(0, 3, 20)
    groups = QueryGroups.from_qid(qid, 20)
    weight = rng.integers(0, 3, 20).astype(float)
    u, z = rng.integers(0, 3, (2, 20)).astype(float) if with_roles else np.ones((2, 20))
    roles = (u, z) if with_roles else (None, None)
    listed = ExplicitPairs.of(Preferences(y, groups, weight, None, pair_weight, *roles))
    u, z = weight * u, weight * z
    found = dict(zip(zip(listed.better, listed.worse, strict=True), listed.weight, strict=True))
    expected = {
        (i, j): u[i] * z[j] * (y[i] - y[j] if pair_weight else 1)
        for i in range(20)
        for j in range(20)
        if qid[i] == qid[j] and y[i] > y[j] and u[i] * z[j] > 0
    }
    assert found == expected
    s, b = rng.normal(size=20), rng.random(len(listed.weight))
    D = np.zeros((len(b), 20))
    D[np.arange(len(b)), listed.better] = 1
    D[np.arange(len(b)), listed.worse] = -1
    np.testing.assert_allclose(listed.differences(s), D @ s)
    np.testing.assert_allclose(listed.balance(b), D.T @ b, atol=1e-14)
    np.testing.assert_allclose(
        listed.sparse_laplacian(b).toarray(), D.T @ (b[:, None] * D), atol=1e-14
    )


def test_a_laplacian_of_pairs_that_repeat_adds_them_up():
    better, worse, b = np.array([0, 0, 2]), np.array([1, 1, 0]), np.array([1.0, 2.0, 4.0])
    listed = ExplicitPairs(better, worse, np.ones(3), 4)
    expected = [[7, -3, -4, 0], [-3, 3, 0, 0], [-4, 0, 4, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(listed.sparse_laplacian(b).toarray(), expected)
    weighed = weighed_pairs(listed, np.random.default_rng(0))
    laplacian = listed.sparse_laplacian(weighed.weights).toarray()
    matrix = np.full((4, 4), 8.0)
    weighed.add_laplacian(matrix)
    np.testing.assert_allclose(np.tril(matrix), np.tril(8 + laplacian), rtol=1e-15)
    with pytest.raises(ValueError, match="one row and column for each row"):
        weighed.add_laplacian(np.zeros((4, 3)))


@pytest.mark.parametrize("lacking", [1.0, 1e-3, 1e-7, 0.0])
def test_a_small_squared_hinge_is_known_to_its_last_digits(lacking):
    """Pairs that all but keep the margin, as fractions have it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 40).astype(float)
    scores = y * (1 - lacking) + 1e-3 * lacking * rng.random(40)
    preferences = Preferences(y, QueryGroups.from_qid(None, 40), None, None, None)
    loss = SquaredHinge(CorePairs(preferences, "auto", 1))
    listed = ListedSquaredHinge.of(loss).evaluate(scores)
    s = [Fraction(score) for score in scores]
    slack = {(i, j): max(1 - s[i] + s[j], 0) for i in range(40) for j in range(40) if y[i] > y[j]}
    value, slopes = sum(part**2 for part in slack.values()), sum(slack.values())
    assert abs(Fraction(listed.value) - value) <= Fraction(listed.rounding)
    assert listed.rounding <= 1e-13 * float(slopes) + 1e-25
    gradient = np.zeros(40)
    for (i, j), part in slack.items():
        gradient[[i, j]] += -2 * float(part), 2 * float(part)
    assert np.linalg.norm(listed.gradient - gradient) <= 1e-14 * (1 + 40 * float(slopes))
    of_each = 1e-15 * (1 + float(slopes))  # the dual point is that of slopes as they are rounded
    assert abs(listed.offset + listed.quadratic - 2 * float(slopes)) <= of_each * len(slack)
    plain = loss.evaluate(scores)
    np.testing.assert_allclose(listed.gradient, plain.gradient, atol=2 * plain.gradient_rounding)


def test_what_a_squared_hinge_leaves_is_certified_pair_by_pair():
    X, y = few_rows()
    weak = fitted(X, y, loss="squared_hinge", C=1000.0, tol=1e-7)
    assert weak.status_ == "converged"
    assert weak.dual_gap_ <= 1e-7
    assert weak.objective_ >= exact_value(weak, X, y, 1000.0, "squared_hinge") * (1 - 1e-14)


def few_rows():
    """Rows that can be put in order, with hardly any loss left at the optimum."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 5000))
    return X, rng.integers(0, 5, 100).astype(float)


def few_pairs(n=90, d=40, of_a_query=3, seed=0):
    """More rows than features, in queries so short that pairs are hardly more than these."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 9, (n, d)) * (rng.random((n, d)) < 0.3) * 10.0 ** rng.uniform(-2, 2, d)
    X[:, -2], X[:, -1] = X[:, 0], 5.0  # nothing new, and nothing at all
    y = np.tile(np.arange(of_a_query), n // of_a_query)
    qid = rng.permutation(np.repeat(np.arange(n // of_a_query), of_a_query))
    return X, y[np.argsort(np.argsort(qid, kind="stable"))].astype(float), qid


@every_storage
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("of_a_query", [9, 45])  # blocks with hardly any pairs, and full ones
def test_more_rows_than_features_have_equations_of_these(storage, in_order, of_a_query):
    X, y, qid = few_pairs(of_a_query=of_a_query)
    qid = np.sort(qid) if in_order else qid
    preferences = Preferences.from_labels(y, qid)
    assert (preferences.groups.order is None) == in_order
    pairs = ExplicitPairs.of(preferences)
    space = FeatureSpace(
        RowSpace.of(DesignMatrix.from_array(storage(X))), pairs, preferences.groups
    )
    assert space.is_finite
    assert space.stored is None
    weights = np.random.default_rng(0).random(len(pairs.better))
    stored = storage(X).toarray() if sparse.issparse(storage(X)) else storage(X).astype(float)
    D = stored[pairs.better] - stored[pairs.worse]
    expected = D.T @ (weights[:, np.newaxis] * D)
    np.testing.assert_allclose(
        space.equations(weights), expected, atol=1e-12 * np.abs(expected).max()
    )
    scale = np.sqrt(np.diag(expected))[:-1]  # the last column is constant
    in_single = space.equations(weights, np.float32)[:-1, :-1] / np.outer(scale, scale)
    np.testing.assert_allclose(in_single, expected[:-1, :-1] / np.outer(scale, scale), atol=1e-5)
    balance = pairs.balance(weights)
    np.testing.assert_allclose(space.coordinates(balance), D.T @ weights, rtol=1e-8, atol=1e-8)
    w = np.random.default_rng(1).normal(size=X.shape[1])
    np.testing.assert_allclose(pairs.differences(space.scores(w)), D @ w, rtol=1e-8, atol=1e-8)


def test_interior_points_of_more_rows_than_a_matrix_has():
    X, y, qid = few_pairs(n=MOST_ROWS + 4, d=5, of_a_query=2)
    here, there = (
        RankSVM(C=10.0, loss="hinge", solver=solver, tol=1e-6).fit(X, y, qid)
        for solver in ("row_space", "newton")
    )
    assert here.status_ == there.status_ == "converged"
    assert here.history_[-1].solver == "interior_point"
    assert here.objective_ * (1 - here.dual_gap_) <= there.objective_
    assert there.objective_ * (1 - there.dual_gap_) <= here.objective_
    with pytest.raises(ValueError, match="at most 8,192 rows"):
        RankSVM(solver="row_space").fit(X, y, qid)
    with pytest.raises(ValueError, match="at most 8,192 rows"):  # pairs are too many
        RankSVM(loss="hinge", solver="row_space").fit(X, y)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("of_a_query", [9, 45])
def test_equations_of_features_add_up_by_blocks_and_panels(in_order, of_a_query, monkeypatch):
    X, y, qid = few_pairs(n=270, of_a_query=of_a_query)
    qid = np.sort(qid) if in_order else qid
    preferences = Preferences.from_labels(y, qid)
    pairs = ExplicitPairs.of(preferences)
    whole = FeatureSpace(RowSpace.of(DesignMatrix.from_array(X)), pairs, preferences.groups)
    weights = np.random.default_rng(0).random(len(pairs.better))
    expected = whole.equations(weights)
    monkeypatch.setattr(feature_space, "BLOCK_BYTES", 0)
    monkeypatch.setattr(feature_space, "LEAST_ROWS", 20)
    monkeypatch.setattr(feature_space, "LEAST_COLUMNS", 3)
    close = {"rtol": 0, "atol": 1e-13 * np.abs(expected).max()}
    found = whole.equations(weights)
    assert not np.array_equal(found, expected)  # rounded otherwise
    np.testing.assert_allclose(found, expected, **close)
    np.testing.assert_array_equal(np.tril(found, -13), np.triu(found, 13).T)
    shared = replace(whole, rows=replace(whole.rows, n_threads=2))
    np.testing.assert_array_equal(shared.equations(weights), found)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equations_in_single_precision_give_way_where_they_do_not_serve(loss, monkeypatch):
    X, y, qid = few_pairs(of_a_query=9)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y, qid), Parameters(1e3, loss)
    ).objective
    problem = replace(problem, rows=RowSpace.of(problem.X))
    w0, kinds = np.zeros(problem.size), []
    equations = FeatureSpace.equations

    def noted(self, weights, dtype=np.float64):
        kinds.append(dtype)
        return equations(self, weights, dtype)

    monkeypatch.setattr(FeatureSpace, "equations", noted)
    here = interior_point(problem, w0, Progress(tol=1e-4))
    assert set(kinds) == {np.float32}
    monkeypatch.setattr(interior_points, "SOLVED", 0.0)
    kinds.clear()
    there = interior_point(problem, w0, Progress(tol=1e-9))
    assert kinds[0] is np.float32
    assert set(kinds[1:]) == {np.float64}
    assert str(here.status) == str(there.status) == "converged"
    assert here.value * (1 - here.dual_gap) <= there.value <= here.value * (1 + 1e-9)


@every_storage
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_interior_points_where_pairs_are_few(storage, C):
    X, y, qid = few_pairs()
    here, there = (
        RankSVM(C=C, loss="hinge", solver=solver, tol=1e-7, n_threads=1).fit(storage(X), y, qid)
        for solver in ("row_space", "newton")
    )
    assert here.status_ == "converged"
    assert here.history_[-1].solver == "interior_point"
    assert here.objective_ * (1 - here.dual_gap_) <= there.objective_
    assert there.objective_ * (1 - there.dual_gap_) <= here.objective_
    pairs = reference.normalize_pairs(reference.enumerate_pairs(y, qid), C, "documents")
    stored = storage(X).toarray() if sparse.issparse(storage(X)) else storage(X).astype(float)
    exact = reference.hinge_objective(pairs, stored, here.coef_)
    assert exact <= here.objective_ * (1 + 1e-12)


@pytest.mark.parametrize(("far", "additions"), [(0.0, 1 << 30), (1e4, 1 << 30), (1e4, 1)])
def test_interior_points_by_what_sparse_rows_store(far, additions, monkeypatch):
    monkeypatch.setattr(feature_space, "ADDITIONS", additions)  # few make blocks of 256 rows
    rng = np.random.default_rng(0)
    X, y, qid = few_pairs(n=300, d=200)
    X = X * (rng.random(X.shape) < 0.02)
    X[:, 0] = far + rng.random(300)
    matrix = DesignMatrix.from_array(sparse.csr_matrix(X)).centered()
    preferences = Preferences.from_labels(y, qid)
    pairs = ExplicitPairs.of(preferences)
    space = FeatureSpace(RowSpace.of(matrix), pairs, preferences.groups)
    assert space.stored is not None
    weights, D = rng.random(len(pairs.better)), X[pairs.better] - X[pairs.worse]
    expected = D.T @ (weights[:, np.newaxis] * D)
    found = space.equations(weights)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    scale = np.sqrt(np.diag(expected))
    scale[scale == 0] = 1.0
    in_single = space.equations(weights, np.float32) / np.outer(scale, scale)
    np.testing.assert_allclose(in_single, expected / np.outer(scale, scale), atol=1e-5)
    on_three = FeatureSpace(RowSpace.of(matrix, 3), pairs, preferences.groups)
    assert np.array_equal(on_three.equations(weights), found)
    here = RankSVM(C=1e3, loss="hinge", solver="row_space", tol=1e-6)
    here.fit(sparse.csr_matrix(X), y, qid)
    there = RankSVM(C=1e3, loss="hinge", solver="row_space", tol=1e-6).fit(X, y, qid)
    assert here.status_ == there.status_ == "converged"
    assert here.history_[-1].solver == there.history_[-1].solver == "interior_point"
    assert here.objective_ * (1 - here.dual_gap_) <= there.objective_
    assert there.objective_ * (1 - there.dual_gap_) <= here.objective_


def test_every_number_of_threads_gives_the_same_interior_points():
    X, y, qid = few_pairs(n=2400, d=30)
    options = {"loss": "hinge", "solver": "row_space", "tol": 1e-6}
    one, three = (RankSVM(**options, n_threads=k).fit(X, y, qid).coef_ for k in (1, 3))
    assert np.array_equal(one, three)


@pytest.mark.parametrize(("of_a_query", "name"), [(3, "row_space"), (1000, "newton")])
def test_auto_takes_interior_points_where_pairs_are_few(of_a_query, name):
    X = DesignMatrix.from_array(np.zeros((3000, 300), dtype=np.float32))
    preferences = Preferences.from_labels(np.zeros(3000), np.arange(3000) // of_a_query)
    assert choose_solver(X, preferences, Parameters(loss="hinge")).name == name
    assert choose_solver(X, preferences, Parameters()).name == "newton"


@every_loss
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("of_a_query", [9, 45])
@pytest.mark.filterwarnings("ignore::ranksvm.ConvergenceWarning")
def test_numbers_beyond_single_precision_are_no_hindrance(loss, storage, of_a_query):
    X, y, qid = few_pairs(of_a_query=of_a_query)
    for scale in (1e-150, 1e-40, 1.0, 1e40, 1e150):
        for C in (1e-40, 1e45):
            for solver in ("auto", "row_space"):
                model = RankSVM(C, loss=loss, solver=solver, max_iter=300)
                model.fit(storage(X * scale), y, qid)
                assert 0 <= model.dual_gap_ <= 1
                assert np.isfinite(model.objective_)
