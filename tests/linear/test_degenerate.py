"""Problems at the edge of sense: each ends, and says truly how far it got."""

import warnings

import numpy as np
import pytest

import reference
from cases import optimum
from ranksvm import ConvergenceWarning, RankSVM
from ranksvm.names import LOSSES, SOLVERS

rng = np.random.default_rng(0)
NOISE, LEVELS, QUERIES = rng.normal(size=(40, 4)), rng.integers(0, 4, 40), rng.integers(0, 3, 40)
LINE, RANKS = np.arange(12.0)[:, np.newaxis] * [1, -2], np.arange(12)


def pairs_only(lam):
    """The objective ``(1/N) sum of losses + lam |w|^2``, multiplied by C."""
    return {"C": 1 / (2 * lam), "normalize": "pairs"}


# X, y, qid, parameters.
EASY = {
    "separable": (LINE, RANKS, None, {"C": 1e3}),
    "much regularisation": (NOISE, LEVELS, QUERIES, pairs_only(1e6)),
    "one pair": (np.array([[0.0, 1], [2, 3]]), [0, 1], None, {}),
    "one pair, hardly regularised": (np.array([[0.0, 1], [2, 3]]), [0, 1], None, {"C": 1e6}),
    "one pair among rows of their own": (
        NOISE[:8],
        [2, 1, 5, 5, 3, 4, 5, 6],
        [0, 0, 1, 1, 2, 3, 4, 5],
        {},
    ),
    "pairs of equal rows": (np.ones((6, 2)), [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1], {}),
    "duplicate rows": (np.repeat(NOISE[:10], 4, axis=0), LEVELS, None, {}),
    "distinct labels": (NOISE, rng.permutation(40), None, {}),
    "queries of one row": (NOISE, LEVELS, np.r_[np.zeros(15, int), 1:26], {}),
    "constant features": (np.c_[NOISE, np.full((40, 2), 1e3)], LEVELS, QUERIES, {}),
    "nothing but constants": (np.full((40, 2), 3.0), LEVELS, QUERIES, {}),
    "nothing but zeros": (np.zeros((40, 3)), LEVELS, QUERIES, {}),
    "tiny features": (1e-8 * NOISE, LEVELS, QUERIES, {}),
    "tiny features, hardly regularised": (1e-8 * NOISE, LEVELS, QUERIES, {"C": 1e16}),
    "huge features, much regularisation": (1e8 * NOISE, LEVELS, QUERIES, {"C": 1e-16}),
}
HARD = {
    "hardly any regularisation": (NOISE, LEVELS, QUERIES, pairs_only(1e-12)),
    "separable, hardly any regularisation": (LINE, RANKS, None, pairs_only(1e-12)),
    "huge features": (1e8 * NOISE, LEVELS, QUERIES, {}),
    "features of all scales": (NOISE * [1e-8, 1e8, 1, 1], LEVELS, QUERIES, {}),
}

every_loss = pytest.mark.parametrize("loss", LOSSES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


@every_loss
@every_solver
@pytest.mark.parametrize("name", EASY)
def test_easy_ones_are_solved(name, solver, loss):
    X, y, qid, parameters = EASY[name]
    model = RankSVM(loss=loss, solver=solver, tol=1e-6, **parameters).fit(X, y, qid)
    _, value = optimum(loss, X, y, qid, **{"C": 1.0, **parameters})
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-6
    assert value * (1 - 1e-10) <= model.objective_ <= value * (1 + 1e-6 + 1e-10)
    assert model.objective_ * (1 - model.dual_gap_) <= value * (1 + 1e-10)


@every_loss
@every_solver
@pytest.mark.parametrize("name", HARD)
def test_hard_ones_are_solved_or_warned_of(name, solver, loss):
    X, y, qid, parameters = HARD[name]
    model = RankSVM(loss=loss, solver=solver, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, qid)
    _, value = optimum(loss, X, y, qid, **{"C": 1.0, **parameters})
    assert all(warning.category is ConvergenceWarning for warning in caught)
    assert bool(caught) == (model.status_ != "converged")
    assert (model.dual_gap_ <= 1e-3) == (model.status_ == "converged")
    assert np.isfinite(model.coef_).all()
    # The gap owns up to rounding, too.
    rounding = model.dual_gap_ * abs(model.objective_)
    assert abs(model.objective_ - value) <= rounding + 1e-10 * value
    pairs = reference.enumerate_pairs(y, qid)
    pairs = reference.normalize_pairs(pairs, parameters.get("C", 1.0), model.normalize)
    truth = reference.hinge_objective if loss == "hinge" else reference.objective
    assert truth(pairs, X, model.coef_) <= value + 2 * rounding + 1e-10 * value


@every_loss
@every_solver
def test_features_that_say_nothing_get_no_weight(solver, loss):
    X, y, qid, _ = EASY["constant features"]
    model = RankSVM(loss=loss, solver=solver, tol=1e-8).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_[4:], 0, atol=1e-9)
    assert np.all(model.coef_[:4] != 0)


@every_loss
@every_solver
@pytest.mark.parametrize("name", ["nothing but constants", "nothing but zeros"])
def test_nothing_to_learn_from_gives_no_weights(name, solver, loss):
    X, y, qid, _ = EASY[name]
    model = RankSVM(loss=loss, solver=solver).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, 0, atol=1e-12)
    assert model.objective_ == pytest.approx(len(y), rel=1e-12)
    assert model.n_iter_ <= 2


@every_loss
@every_solver
@pytest.mark.parametrize("distance", [0.5, 1.0, 4.0])
def test_one_pair_has_a_solution_in_closed_form(distance, solver, loss):
    X, C = np.array([[0.0, 0.0], [0.6 * distance, 0.8 * distance]]), 3.0
    model = RankSVM(C, loss=loss, normalize="pairs", solver=solver, tol=1e-9)
    model.fit(X, [0, 1])
    z = distance
    slope = min(C * z, 1 / z) if loss == "hinge" else 2 * C * z / (1 + 2 * C * z * z)
    np.testing.assert_allclose(model.coef_, slope * np.array([0.6, 0.8]), rtol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("scale", "C"), [(1e155, 1.0), (1e300, 1.0), (1.0, 1e300), (1e20, 1.0)])
def test_numbers_too_large_end_with_a_warning(solver, scale, C):
    model = RankSVM(C, loss="hinge", solver=solver)
    with pytest.warns(ConvergenceWarning, match="scale X"):
        model.fit(scale * NOISE, LEVELS)
    assert model.status_ == "stalled"
    assert model.dual_gap_ > 1e-3
    assert np.isfinite(model.coef_).all()
