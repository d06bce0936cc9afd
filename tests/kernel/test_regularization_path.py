"""The path's solution is the optimum at every lambda, and says where it comes from."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import reference
import strategies
from cases import make_problem
from ranksvm import RankSVM, RegularizationPath, _core, pairwise_accuracy, regularization_path
from ranksvm.files.svmlight import load_svmlight
from ranksvm.kernel.kernels import Kernel

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", gamma=0.5),
    Kernel("rbf", gamma=1e-3),
    Kernel("polynomial", degree=2, gamma=1.0),
    Kernel("laplacian", gamma=1.0),
]


def follow(X, y, qid=None, kernel=KERNELS[1], **options):
    parameters = {
        "kernel": kernel.kernel,
        "gamma": kernel.gamma,
        "degree": kernel.degree,
        "coef0": kernel.coef0,
    }
    return regularization_path(X, y, qid, **parameters, **options)


def pairs_of(path, lam):
    """The pairs of the path, each of which weighs 1 / lambda."""
    n_pairs, n_samples = len(path.graph), len(path.gammas[0])
    zeros = np.zeros(n_pairs, dtype=int)
    weight = np.full(n_pairs, 1 / lam)
    return reference.Pairs(n_samples, path.graph.upper, path.graph.lower, zeros, weight)


def assert_optimal(path, K, lam, accuracy=1e-8):
    """The conditions of optimality and the duality gap, with every pair written out."""
    pairs, alpha, coef = pairs_of(path, lam), path.multipliers_at(lam), path.coef_at(lam)
    assert np.min(alpha) >= -1e-9
    assert np.max(alpha) <= 1 + 1e-9
    np.testing.assert_allclose(
        reference.to_rows(pairs, alpha), lam * coef, atol=1e-9 * max(1, np.max(np.abs(coef * lam)))
    )
    alpha = np.where(alpha < 1e-9, 0, np.where(alpha > 1 - 1e-9, 1, alpha))
    scores = K @ coef
    assert reference.optimality_violation(pairs, scores, alpha) <= accuracy
    return pairs, coef


def random_lambdas(path, rng, n):
    """Between any two breakpoints, at breakpoints, and above the first."""
    below = rng.integers(0, len(path.lambdas), n)
    above = np.maximum(below - 1, 0)
    share = rng.choice([0, 0.3, rng.random()], n)
    between = path.lambdas[above] ** share * path.lambdas[below] ** (1 - share)
    return np.r_[between.clip(path.lambdas[-1]), 2 * path.lambdas[0]]


@pytest.mark.parametrize("graph", ["full", "reduced"])
@strategies.examples(40)
@given(
    problem=strategies.linear_problems(),
    kernel=st.sampled_from(KERNELS),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_solution_is_the_optimum(graph, problem, kernel, seed):
    """Ties, repeated rows, several queries; against interior points on the features of K."""
    ranking, X, _ = problem
    assume(len(reference.enumerate_pairs(ranking.y, ranking.qid).better))
    path = follow(X, ranking.y, ranking.qid, kernel, graph=graph)
    assume(path.lambdas[0] > 0)
    assert path.status == "lambda_min"
    assert path.lambdas[-1] == pytest.approx(1e-3 * path.lambdas[0], rel=1e-12)
    assert path.violation <= 2e-9
    K = kernel.matrix(X)
    Phi = reference.kernel_features(K)
    for lam in random_lambdas(path, np.random.default_rng(seed), 3):
        note(f"{lam=}")
        pairs, coef = assert_optimal(path, K, lam)
        best = reference.minimize_hinge(pairs, Phi)
        value = reference.hinge_objective(pairs, Phi, best)
        assert reference.hinge_objective(pairs, Phi, Phi.T @ coef) <= value * (1 + 1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_certified_solutions_agree(kernel):
    """The linear RankSVM on features whose inner products are the kernel."""
    X, y, qid = make_problem(3, n=50)
    X, y, qid = np.r_[X, X[:10]], np.r_[y, y[5:15]], np.r_[qid, qid[:10]]
    path, K = follow(X, y, qid, kernel), kernel.matrix(X)
    Phi = reference.kernel_features(K)
    for lam in random_lambdas(path, np.random.default_rng(0), 5):
        pairs, coef = assert_optimal(path, K, lam)
        model = RankSVM(C=1 / lam, loss="hinge", normalize=None, tol=1e-8).fit(Phi, y, qid)
        value = reference.hinge_objective(pairs, Phi, Phi.T @ coef)
        assert value <= model.objective_ * (1 + 1e-8)
        assert value >= model.objective_ * (1 - model.dual_gap_ - 1e-8)
        distance = np.linalg.norm(Phi.T @ coef - model.coef_)
        assert distance <= np.sqrt(2 * (model.dual_gap_ + 1e-8) * value)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_the_scale_of_the_kernel_is_that_of_lambda(scale):
    X, y, qid = make_problem(4)
    K = KERNELS[1].matrix(X)
    path = regularization_path(K, y, qid, kernel="precomputed")
    scaled = regularization_path(scale * K, y, qid, kernel="precomputed")
    assert len(scaled.lambdas) == len(path.lambdas)
    np.testing.assert_allclose(scaled.lambdas / scale, path.lambdas, rtol=1e-6)
    np.testing.assert_allclose(scaled.gammas, path.gammas, atol=1e-6)


@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_narrow_kernels_free_most_rows(graph):
    """Few rows are left that free pairs do not join, with two labels, many, and repeated rows."""
    rng = np.random.default_rng(16)
    X = np.repeat(rng.normal(size=(44, 3)), np.r_[np.ones(38, int), np.full(6, 2)], axis=0)
    kernel = Kernel("rbf", gamma=20.0)
    K = kernel.matrix(X)
    for y in (np.arange(50) % 2, rng.integers(0, 4, 50)):
        path = follow(X, y, kernel=kernel, graph=graph)
        assert path.status == "lambda_min"
        assert path.n_free.max() > 30
        assert path.violation <= 2e-9
        for lam in random_lambdas(path, rng, 20):
            assert_optimal(path, K, lam)


# --- what is known of real data -------------------------------------------------------------------


def load_standardized(path):
    X, y, _ = load_svmlight(path)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("name", ["mixture", "auto-mpg", "pima", "wdbc"])
def test_the_reduced_graphs_of_zapien_et_al(real_file, name):
    X, y = load_standardized(real_file(name))
    path = regularization_path(X, y, kernel="rbf", graph="reduced")
    K = Kernel("rbf").matrix(X)
    assert path.violation <= 2e-9
    for lam in random_lambdas(path, np.random.default_rng(0), 20):
        assert_optimal(path, K, lam)


def test_the_full_graph_of_the_mixture(real_file):
    """10,000 pairs, of which no more than 199 can be independent."""
    X, y = load_standardized(real_file("mixture"))
    path = regularization_path(X, y, kernel="rbf", gamma=1.0)
    K = Kernel("rbf", gamma=1.0).matrix(X)
    assert path.violation <= 2e-9
    assert len(path.lambdas) > 15_000
    for lam in random_lambdas(path, np.random.default_rng(0), 20):
        assert_optimal(path, K, lam)


# --- what a path says of itself -------------------------------------------------------------------


def test_sets_and_events_tell_the_same_story():
    X, y, qid = make_problem(5)
    path = follow(X, y, qid)
    assert len(path.event_pairs) == len(path.event_sets) == len(path.lambdas) - 1
    assert np.all(np.diff(path.lambdas) <= 0)
    sets = np.ones(len(path.graph), dtype=int)
    for t, (pair, now) in enumerate(zip(path.event_pairs, path.event_sets, strict=True)):
        assert (sets[pair] == 2) != (now == 2), "a pair goes between a bound and the free pairs"
        sets[pair] = now
        sizes = path.n_zero[t], path.n_one[t], path.n_free[t]
        np.testing.assert_array_equal(np.bincount(sets, minlength=3), sizes)
    assert (path.n_zero[-1], path.n_one[-1], path.n_free[-1]) == sizes
    np.testing.assert_array_equal(path.n_zero + path.n_one + path.n_free, len(path.graph))


def test_the_first_lambda_is_where_the_first_pair_reaches_its_margin():
    X, y, qid = make_problem(6)
    path = follow(X, y, qid)
    pairs = reference.enumerate_pairs(y, qid)
    K = KERNELS[1].matrix(X)
    scores = K @ reference.to_rows(pairs, np.ones(len(pairs.better)))
    first = np.max(scores[pairs.better] - scores[pairs.worse])
    assert path.lambdas[0] == pytest.approx(first, rel=2e-9)
    np.testing.assert_array_equal(path.multipliers_at(first * 1.01), 1)
    assert path.n_free[0] == 1


def test_coefficients_times_lambda_are_linear_between_breakpoints():
    X, y, qid = make_problem(7)
    path = follow(X, y, qid)
    widths = path.lambdas[:-1] - path.lambdas[1:]
    t = int(np.argmax(widths))
    lams = np.linspace(path.lambdas[t], path.lambdas[t + 1], 5)
    gammas = path.coef_at(lams) * lams[:, np.newaxis]
    np.testing.assert_allclose(gammas[0], path.gammas[t], atol=1e-13)
    np.testing.assert_allclose(gammas[-1], path.gammas[t + 1], atol=1e-13)
    np.testing.assert_allclose(np.diff(gammas, n=2, axis=0), 0, atol=1e-12)


def test_predictions_are_kernel_sums_for_one_lambda_or_many():
    X, y, qid = make_problem(8)
    new = make_problem(9, n=11)[0]
    path = follow(X, y, qid)
    lams = path.lambdas[[0, 5, -1]] * [1.5, 1, 1]
    scores = path.predict(new, lams)
    assert scores.shape == (11, 3)
    assert path.coef_at(lams).shape == (3, 30)
    for lam, column in zip(lams, scores.T, strict=True):
        expected = KERNELS[1].between(new, X) @ path.coef_at(lam)
        np.testing.assert_allclose(path.predict(new, lam), expected, rtol=1e-12)
        np.testing.assert_allclose(column, expected, rtol=1e-9, atol=1e-12)


def test_a_precomputed_kernel_gives_the_same_path():
    X, y, qid = make_problem(10)
    new = make_problem(9, n=11)[0]
    path = follow(X, y, qid)
    K = KERNELS[1].between(X, X)
    same = regularization_path(K, y, qid, kernel="precomputed")
    np.testing.assert_array_equal(same.lambdas, path.lambdas)
    np.testing.assert_array_equal(same.gammas, path.gammas)
    np.testing.assert_array_equal(
        same.predict(KERNELS[1].between(new, X), 1.0), path.predict(new, 1.0)
    )


def test_paths_repeat_to_the_last_bit():
    X, y, qid = make_problem(11)
    np.testing.assert_array_equal(follow(X, y, qid).gammas, follow(X, y, qid).gammas)


# --- validation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_validation_errors_are_those_of_the_predictions(kernel):
    X, y, qid = make_problem(12)
    new_X, new_y, new_qid = make_problem(13, n=25)
    new_X = np.r_[new_X, new_X[:5]]
    new_y, new_qid = np.r_[new_y, new_y[5:10]], np.r_[new_qid, new_qid[:5]]
    path = follow(X, y, qid, kernel)
    errors = path.validation_errors(new_X, new_y, new_qid)
    assert errors.shape == path.lambdas.shape
    # Equal rows have equal scores, up to the rounding of the two matrix products.
    for lam, error in zip(path.lambdas[::7], errors[::7], strict=True):
        scores = np.round(path.predict(new_X, lam), 9)
        assert error == pytest.approx(1 - pairwise_accuracy(new_y, scores, new_qid), abs=0.02)


def test_validation_takes_any_metric():
    X, y, qid = make_problem(12)
    path = follow(X, y, qid)

    def metric(labels, scores, queries):
        assert queries is qid
        return np.sum(labels * scores)

    found = path.validation_errors(X, y, qid, metric=metric)
    np.testing.assert_allclose(found, path.predict(X, path.lambdas).T @ y, rtol=1e-9)


def test_validation_rows_are_checked():
    X, y, qid = make_problem(12)
    path = follow(X, y, qid)
    with pytest.raises(ValueError, match="X has 3 features but the path was trained with 4"):
        path.validation_errors(X[:, :3], y, qid)
    with pytest.raises(ValueError, match=r"y has length 29 but there are 30 rows"):
        path.validation_errors(X, y[:29], qid)
    with pytest.raises(ValueError, match="no preference pairs: within every query"):
        path.validation_errors(X, np.zeros(30))


# --- nothing to follow, and what is refused -------------------------------------------------------


@dataclass
class Case:
    X: list
    y: list
    qid: list | None = None


CANCELLED = {
    "equal rows": Case([[1.0], [1.0]], [0, 1]),
    "zero kernel": Case([[0.0], [0.0], [0.0]], [0, 1, 1]),
    "opposite queries": Case([[0.0], [1.0], [0.0], [1.0]], [0, 1, 1, 0], [0, 0, 1, 1]),
}


@pytest.mark.parametrize("case", CANCELLED.values(), ids=CANCELLED)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_nothing_happens_where_differences_cancel(case, kernel):
    path = follow(case.X, case.y, case.qid, kernel)
    assert path.lambdas.tolist() == [0.0]
    assert path.status == "lambda_min"
    np.testing.assert_allclose(np.ptp(path.predict(case.X, [1e-6, 1.0]), axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(path.multipliers_at(0.5), 1)
    assert path.validation_errors([[0.0], [1.0]], [0, 1]).shape == (1,)


def test_one_pair():
    path = regularization_path([[0.0], [2.0]], [0, 1])
    np.testing.assert_allclose(path.lambdas, [4, 0.004], rtol=2e-9)
    np.testing.assert_allclose(path.coef_at(8.0), [-1 / 8, 1 / 8])
    np.testing.assert_allclose(path.coef_at([4.0, 1.0, 0.01]), [[-0.25, 0.25]] * 3, rtol=1e-8)
    assert path.predict([[3.0]], 1.0) == pytest.approx(1.5, rel=1e-8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"graph": "small"}, "graph must be 'full' or 'reduced'"),
        ({"kernel": "gaussian"}, "kernel must be a function or one of"),
        ({"lambda_min_ratio": 0.0}, "lambda_min_ratio must be finite and greater than 0"),
        (
            {"lambda_min_ratio": 2.0},
            "lambda_min_ratio must be below 1, where the path begins",
        ),
        ({"lambda_min": -1.0}, "lambda_min must be finite and greater than 0"),
        ({"max_events": 0}, "max_events must be a whole number of at least 1"),
        ({"max_support": -1}, "max_support must be a whole number of at least 0"),
        ({"max_memory": 0}, "max_memory must be a number of bytes above 0"),
        ({"max_memory": 1e4}, r"337 preference pairs, which take .* max_memory=1e-05 GB"),
        ({"max_memory": 1.4e4}, r"kernel matrix of 30 rows takes .* max_memory=1.4e-05 GB"),
        ({"qid": [0] * 29}, "qid has length 29 but there are 30 rows"),
        ({"y": np.zeros(30)}, "no preference pairs to learn from"),
    ],
)
def test_arguments_are_checked(options, message):
    X, y, _ = make_problem(14)
    with pytest.raises(ValueError, match=message):
        regularization_path(X, **{"y": y, **options})


def test_a_path_too_long_for_memory_is_refused():
    X, y, _ = make_problem(14)
    with pytest.raises(ValueError, match=r"of 30 rows at .* events, and has come"):
        regularization_path(X, y, kernel="rbf", max_memory=40_000)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf, [[1.0]], 1e-9])
def test_lambdas_are_checked(lam):
    X, y, qid = make_problem(14)
    with pytest.raises(ValueError, match="lam must be positive, finite and at least"):
        follow(X, y, qid).coef_at(lam)


def test_the_binding_checks_its_arrays():
    K, rows, margin = np.eye(3), np.zeros(2, np.int32), np.ones(2)
    make = _core.RegularizationPath
    assert make(K, rows + 1, rows, margin).lam > 0
    for arguments, message in [
        ((np.ones((3, 2)), rows, rows, margin), "K must be square"),
        ((K, rows, rows[:1], margin), "one element for each pair"),
        ((K, rows + 3, rows, margin), "a pair names a row that K lacks"),
        ((K, rows, rows - 1, margin), "a pair names a row that K lacks"),
        ((K, rows, rows, 0 * margin), "margins must be positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(*arguments)
    with pytest.raises(TypeError):
        make(K, rows.astype(np.int64), rows, margin)
    with pytest.raises(ValueError, match="lambda_min must not be negative"):
        make(K, rows + 1, rows, margin).advance(-1.0, 1)


def test_a_path_of_what_is_no_kernel_ends():
    """`Kernel` refuses such matrices; the core goes round in circles, notices, and stops."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(12, 12))
    upper, lower = np.nonzero(np.tri(12, k=-1))
    margin = 1 + 1e-9 * rng.uniform(size=len(upper))
    K = (A + A.T) / 2 + 2 * np.eye(12)
    path = _core.RegularizationPath(K, upper.astype(np.int32), lower.astype(np.int32), margin)
    lambdas = path.advance(1e-3 * path.lam, 10_000)[0]
    assert path.stuck
    assert np.all(lambdas[-1000:] == path.lam)


def test_the_result_is_a_regularization_path():
    X, y, qid = make_problem(14)
    assert isinstance(follow(X, y, qid), RegularizationPath)
