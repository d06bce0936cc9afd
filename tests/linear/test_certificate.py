"""What the certificate holds, beyond its formulas: drift, rounding, the best multiple."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import reference
import strategies
from ranksvm import KernelRankSVM, RankSVM, ranksvm_grid
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.line import FAR
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences

LOSSES = {
    "hinge": Hinge,
    "squared hinge": SquaredHinge,
    "smoothed": lambda pairs: SmoothedHinge(pairs, width=0.25),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def steep(scale, n=12, d=2):
    """Rows on a huge scale, in an order that they can be given."""
    X = np.random.default_rng(0).normal(size=(n, d)) * scale
    return X, X[:, 0].argsort().argsort()


def exact_objective(X, y, w, c, power):
    X = [[Fraction(float(x)) for x in row] for row in X]
    w = [Fraction(float(v)) for v in w]
    s = [sum(a * b for a, b in zip(row, w, strict=True)) for row in X]
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    loss = sum(max(Fraction(0), 1 - s[i] + s[j]) ** power for i, j in pairs)
    return sum(v * v for v in w) / 2 + Fraction(c) * loss


# --- the value is that of the weights -------------------------------------------------------------


@pytest.mark.parametrize("solver", ["newton", "trust_region", "bundle", "cutting_planes", "auto"])
@pytest.mark.parametrize("scale", [1e6, 1e9])
def test_scores_that_drifted_are_not_what_is_claimed(solver, scale):
    X, y = steep(scale)
    model = RankSVM(loss="hinge", solver=solver).fit(X, y)
    assert exact_objective(X, y, model.coef_, 12 / 66, 1) <= model.objective_
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-3


def test_scores_that_get_very_large_are_computed_afresh():
    X, y = steep(1.0, n=30)
    objective = LinearObjective(
        DesignMatrix.from_array(X), SquaredHinge(CorePairs(Preferences.from_labels(y))), 1.0
    )
    start = objective.evaluate(np.array([3e9, -7e8]))
    line = start.along(-start.weights * (1 - 2**-40))
    there = line.trial(1.0).evaluation
    np.testing.assert_array_equal(there.scores, objective.evaluate(there.weights).scores)
    near = objective.evaluate(np.array([0.3, -7.0])).along(np.array([0.1, 0.2]))
    moved = near.start.scores + 0.5 * near.image
    assert np.abs(moved).max() < FAR
    np.testing.assert_array_equal(near.trial(0.5).evaluation.scores, moved)


def test_training_goes_on_where_drift_led_it_astray(monkeypatch):
    X, y = steep(1.0, n=60, d=3)
    problem = make_problem(
        DesignMatrix.from_array(X), Preferences.from_labels(y), Parameters(tol=1e-6)
    )
    starts, minimize = [], type(problem.choice).minimize

    def astray(choice, objective, start, progress, planes=None):
        starts.append(start)
        if len(starts) == 1:  # scores of other weights
            shifted = objective.X.dot(np.array([1.0, 2.0, 3.0]))
            right = objective.X.dot
            monkeypatch.setattr(objective.X, "full_step", lambda *_, **__: None)
            monkeypatch.setattr(objective.X, "dot", lambda w, n_threads=1: right(w) + 0.1 * shifted)
            result = minimize(choice, objective, start, progress, planes)
            monkeypatch.undo()
            monkeypatch.setattr(type(problem.choice), "minimize", astray)
            return result
        return minimize(choice, objective, start, progress, planes)

    monkeypatch.setattr(type(problem.choice), "minimize", astray)
    result = problem.minimize(Parameters(tol=1e-6))
    assert len(starts) >= 2
    assert str(result.status) == "converged"
    assert result.value == pytest.approx(RankSVM(tol=1e-6).fit(X, y).objective_, rel=1e-6)
    assert [line.iteration for line in result.history] == list(range(len(result.history)))


@every_loss
def test_a_value_counts_pairs_just_beyond_the_kink(loss):
    rng = np.random.default_rng(0)
    X, y = 1e7 * rng.normal(size=(20, 2)), rng.integers(0, 3, 20)
    objective = LinearObjective(
        DesignMatrix.from_array(X), loss(CorePairs(Preferences.from_labels(y))), 10.0
    )
    power = 2 if loss is SquaredHinge else 1
    for _ in range(20):
        w = rng.normal(size=2) * 10 ** rng.uniform(-8, 0)
        truth = exact_objective(X, y, w, 10.0, power)
        upper = objective.upper_value(w)
        assert truth <= upper
        assert upper <= float(truth) * (1 + 1e-4)


@every_loss
@strategies.examples(40)
@given(seed=st.integers(0, 99), size=st.floats(-6, 6), drift=st.sampled_from([0.0, 1e-12, 1e-3]))
def test_what_is_confirmed_without_a_sweep_is_no_less_than_the_truth(loss, seed, size, drift):
    rng = np.random.default_rng(seed)
    X, y = 10**size * rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    objective = LinearObjective(
        DesignMatrix.from_array(X), loss(CorePairs(Preferences.from_labels(y))), 10.0
    )
    w = rng.normal(size=3) * 10 ** (rng.uniform(-2, 0) - size)
    scores = X @ w
    here = objective.at(w, scores + drift * np.abs(scores).max() * rng.uniform(-1, 1, 20))
    truth = exact_objective(X, y, w, 10.0, 2 if isinstance(objective.loss, SquaredHinge) else 1)
    quick, exact = (
        objective.upper_value(w, upper) for upper in (here.quick_upper_loss, here.upper_loss)
    )
    assert truth <= quick
    assert truth <= exact <= float(truth) * (1 + 1e-11)
    assert drift > 0 or quick <= float(truth) * (1 + 1e-9)
    weights, value = here.confirmed(0.0, 0.0)
    assert truth <= value or weights is not w
    assert value <= max(exact, here.value + 1e-3 * here.absolute_gap) * (1 + 1e-15)
    other = objective.with_c(30.0).knowing(here.known)
    passes = objective.n_passes
    assert other.evaluate(w).quick_upper_loss == here.quick_upper_loss
    assert objective.n_passes == passes


def test_no_pass_is_spent_on_a_quick_bound_where_rounding_is_all_that_is_left():
    X, y = steep(1.0)
    objective = LinearObjective(
        DesignMatrix.from_array(X), SquaredHinge(CorePairs(Preferences.from_labels(y))), 1.0
    )
    optimum = RankSVM(normalize=None, tol=1e-12).fit(X, y).coef_
    for w, spent in (np.ones(2), 1), (optimum, 0):
        here = objective.evaluate(w)
        assert here.absolute_gap > 0
        passes = objective.n_passes
        assert np.isfinite(here.quick_upper_loss) == spent
        assert objective.n_passes - passes == spent


# --- the bound ------------------------------------------------------------------------------------


@every_loss
@strategies.examples(40)
@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 6))
def test_the_bound_is_never_negative_and_no_gap_above_one(loss, problem, exponent):
    ranking, X, w = problem
    pairs = CorePairs(Preferences.from_labels(ranking.y, ranking.qid))
    assume(pairs.n_pairs > 0)
    here = LinearObjective(DesignMatrix.from_array(X), loss(pairs), 10.0**exponent).evaluate(w)
    assert 0 <= here.lower_bound <= here.value + here.rounding
    assert 0 <= here.duality_gap <= 1 + here.rounding / here.value


@given(problem=strategies.linear_problems(), exponent=st.integers(-3, 3))
def test_the_bound_is_that_of_the_best_multiple(problem, exponent):
    ranking, X, w = problem
    explicit = reference.enumerate_pairs(ranking.y, ranking.qid)
    assume(explicit.weight.any())
    explicit = replace(explicit, weight=explicit.weight * 10.0**exponent)
    loss = SquaredHinge(CorePairs(Preferences.from_labels(ranking.y, ranking.qid)))
    here = LinearObjective(DesignMatrix.from_array(X), loss, 10.0**exponent).evaluate(w)
    expected = reference.dual_bound(explicit, X, w)
    assert here.lower_bound <= expected * (1 + 1e-12)
    assert here.lower_bound == pytest.approx(expected, rel=1e-6, abs=1e-9 * here.value)


@every_loss
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("with_roles", [False, True])
@pytest.mark.parametrize("counting", ["auto", "merge"])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e4])
def test_the_rounding_of_gradients_is_bounded(loss, weighted, gaps, with_roles, counting, spread):
    rng = np.random.default_rng(0)
    n = 40
    y, scores = rng.normal(size=n).round(1), spread * rng.normal(size=n)
    weight = 10.0 ** rng.uniform(-8, 8, n) if weighted else np.ones(n)
    preferences = Preferences.from_labels(y)
    preferences = replace(
        preferences,
        sample_weight=weight if weighted else None,
        pair_weight="gap" if gaps else None,
    )
    better, worse = np.ones((2, n))
    if with_roles:
        better, worse = 10.0 ** rng.uniform(-4, 4, (2, n)) * rng.integers(0, 2, (2, n))
        preferences = replace(preferences, better_weight=better, worse_weight=worse)
    formula = loss(CorePairs(preferences, counting))
    here = formula.evaluate(scores)
    truth = [Fraction(0)] * n
    s, v, labels, u, z = (
        [Fraction(float(x)) for x in column] for column in (scores, weight, y, better, worse)
    )
    for i in range(n):
        for j in range(n):
            if y[i] > y[j]:
                slope = slope_of(formula, 1 - s[i] + s[j])
                slope *= v[i] * u[i] * v[j] * z[j] * (labels[i] - labels[j] if gaps else 1)
                truth[i] -= slope
                truth[j] += slope
    error = [float(Fraction(g) - t) for g, t in zip(here.gradient, truth, strict=True)]
    length = np.linalg.norm(here.gradient)
    assert np.linalg.norm(error) <= here.gradient_rounding + 2.3e-16 * length
    assert here.gradient_norm == pytest.approx(length, rel=1e-14)
    of_roles = float(max(u) * max(z))
    assert here.gradient_rounding <= 1e-9 * max(spread, 1) * of_roles * np.linalg.norm(
        [float(sum(v)) * float(x) for x in v]
    )


def slope_of(loss, violation):
    if violation <= 0:
        return Fraction(0)
    if isinstance(loss, SmoothedHinge):
        return min(violation / Fraction(loss.width), Fraction(1))
    return 2 * violation if isinstance(loss, SquaredHinge) else Fraction(1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("storage", [np.ascontiguousarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_the_rounding_of_products_is_bounded(scale, storage):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(300, 7)) * 10.0 ** rng.uniform(-6, 6, 7) * scale
    X, w, u = DesignMatrix.from_array(storage(dense)), rng.normal(size=7), rng.normal(size=300)
    scores, bound = X.dot_within(w)
    exact = [[Fraction(float(x)) for x in row] for row in dense]
    for row, score, most in zip(exact, scores, bound, strict=True):
        truth = sum(x * Fraction(float(v)) for x, v in zip(row, w, strict=True))
        assert abs(Fraction(score) - truth) <= Fraction(most)
    assert (bound <= 1e-14 * np.abs(dense) @ np.abs(w)).all()
    product, lengths = X.t_dot(u), np.sqrt(X.column_squares())
    np.testing.assert_allclose(lengths, np.linalg.norm(dense, axis=0), rtol=1e-12)
    for k in range(7):
        truth = sum(row[k] * Fraction(float(v)) for row, v in zip(exact, u, strict=True))
        most = X.rounding_of_sums * lengths[k] * np.linalg.norm(u)
        assert abs(Fraction(product[k]) - truth) <= Fraction(most)


# --- what is claimed ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e7, 1e9])
def test_weights_a_hair_longer_lift_pairs_beyond_the_kink(scale):
    X, y = steep(scale, n=20, d=4)
    model = RankSVM(1e3, loss="hinge", tol=1e-6).fit(X, y)
    assert model.status_ == "converged"
    assert exact_objective(X, y, model.coef_, 1e3 * 20 / 190, 1) <= model.objective_


def test_duplicates_of_sparse_elements_are_summed_in_double():
    rng = np.random.default_rng(0)
    dense, y = rng.normal(size=(40, 3)).astype(np.float32), rng.integers(0, 3, 40)
    # Each element in two parts, whose sum single precision does not hold.
    parts = np.stack([dense, np.full_like(dense, 2.0**-30)], axis=2).reshape(40, 6)
    doubled = sparse.csr_matrix(
        (parts.ravel(), np.tile(np.repeat(np.arange(3), 2), 40), np.arange(0, 241, 6)), (40, 3)
    )
    expected = RankSVM(tol=1e-10).fit(dense.astype(np.float64) + 2.0**-30, y)
    model = RankSVM(tol=1e-10).fit(doubled, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    assert doubled.data.dtype == np.float32
    assert not doubled.has_canonical_format


def test_grids_and_kernels_confirm_what_they_claim():
    X, y = steep(1.0, n=24)
    y = y // 3
    c = {C: C * 24 / sum(int((y > level).sum()) for level in y) for C in (1e-3, 1.0, 1e3)}
    grid = ranksvm_grid(X, y, Cs=list(c), loss="hinge", tol=1e-8)
    for C, coef, objective in zip(c, grid.coefs, grid.objectives, strict=True):
        assert exact_objective(X, y, coef, c[C], 1) <= objective * (1 + 1e-15)
    model = KernelRankSVM(kernel="linear", loss="hinge", tol=1e-8).fit(X, y)
    w = model.dual_coef_ @ X[model.support_]
    assert exact_objective(X, y, w, c[1.0], 1) <= model.objective_ * (1 + 1e-14)
