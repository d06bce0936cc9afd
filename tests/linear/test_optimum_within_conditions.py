"""Training with bounds, priors and absolute values against solvers of others on explicit pairs."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
import reference_conditions as truth
import strategies
from cases import make_problem
from ranksvm.arrays.placement import design_matrix
from ranksvm.linear.conditions import Conditions
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.names import LOSSES, NORMALIZATIONS
from ranksvm.pairs.given import given_preferences
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from strategies import examples

every_loss = pytest.mark.parametrize("loss", LOSSES)
EXACT = {"tol": 1e-10, "n_threads": 1}


def eighths(d, low=-16, high=16):
    return strategies.integers(d, low, high).map(lambda v: v / 8)


@st.composite
def conditions(draw, d, unit=1.0):
    """Bounds that are equal, exclude zero or the prior, or leave a side; some weights are free."""
    low, high = np.sort([draw(eighths(d)), draw(eighths(d))], axis=0)
    kind = draw(strategies.integers(d, 0, 5))
    lower = np.select([kind == 0, kind == 1, kind == 2], [-np.inf, -np.inf, 0.0], low)
    upper = np.select([kind == 0, kind == 2, kind == 3], [np.inf, np.inf, low], high)
    upper = np.maximum(lower, upper)
    charged = draw(eighths(d, 0, 16))
    is_bounded = np.isfinite(lower) & np.isfinite(upper)
    ratio = draw(st.sampled_from([0.0, 0.25, 0.9, 1.0]))
    return Conditions(
        lower=unit * lower,
        upper=unit * upper,
        prior=unit * draw(eighths(d)) * draw(strategies.integers(d, 0, 1)),
        l1_ratio=ratio,
        penalty_weights=np.where(is_bounded, charged, np.maximum(charged, 0.125))
        / unit ** (1 + (ratio == 0)),
    )


@st.composite
def weights_of_rows(draw, n):
    """Of none, or some rows, those of the first pair always among them."""
    values = draw(strategies.integers(n, -10, 10))
    found = np.where(values < -7, 0.0, 10.0 ** (values / 5))
    found[:2] = 1.0
    return draw(st.sampled_from([None, found]))


@st.composite
def problems(draw):
    """Rows that may repeat, in queries, with weights and roles, at any scale, and conditions."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 4))
    y, qid = draw(strategies.integers(n, 0, 3)), draw(strategies.integers(n, 0, 2))
    y[:2], qid[:2] = (0, 1), 0
    pool = draw(strategies.integers(6 * d, -8, 8)).reshape(6, d) / 4
    names = ("sample_weight", "better_weight", "worse_weight")
    weights = {name: draw(weights_of_rows(n)) for name in names}
    scale = draw(st.sampled_from([1.0, 1e-6, 1e6]))
    X = scale * pool[draw(strategies.integers(n, 0, 5))]
    C = draw(st.sampled_from([1e-2, 1.0, 1e2]))
    return X, y.astype(float), qid, weights, draw(conditions(d, 1 / scale)), C


def weighed_pairs(X, y, qid, C, normalize="documents", **weights):
    """Differences of the pairs that weigh anything, and their weights with c."""
    pairs = reference.enumerate_pairs(y, qid, **weights)
    pairs = reference.normalize_pairs(pairs, C, normalize, **weights)
    kept = pairs.weight > 0
    return reference.differences(pairs, X)[kept], pairs.weight[kept]


def best_of_others(Z, g, asked, loss):
    found = [truth.minimize_by_clarabel(Z, g, asked, loss)]
    if loss == "squared_hinge" and asked.l1_ratio == 0:
        found.append(truth.minimize_by_lbfgsb(Z, g, asked))
    return min(truth.objective(Z, g, asked, loss, w) for w in found)


def assert_optimal(fit, Z, g, asked, loss, close=1e-8):
    """The value is that of the weights and the least, the bound is one, weights are in bounds."""
    w, value, gap = fit.weights.dense, fit.result.value, fit.result.dual_gap
    at_weights = truth.objective(Z, g, asked, loss, w)
    assert at_weights * (1 - 1e-12) <= value <= at_weights * (1 + max(1e-8, gap)) + 1e-250
    best = best_of_others(Z, g, asked, loss)
    assert value <= best * (1 + close) + 1e-250
    assert value * (1 - gap) <= best * (1 + 1e-10)


def slack_of(fit):
    """How far above the optimum a value may be, relative to that, by its gap."""
    gap = fit.result.dual_gap
    return max(1e-8, gap / (1 - gap) * (1 + 1e-9) if gap < 1 else np.inf)


def assert_conditions_of_optimality(fit, Z, g, asked):
    """No weight alone can bring the squared hinge down by more than the gap says.

    Going t along a slope f that curves by at most h brings it down by ``f t - h t^2 / 2``.
    """
    w, value = fit.weights.dense, fit.result.value
    gap = value * max(fit.result.dual_gap, 1e-14)
    slope, room, curvature = truth.falls(Z, g, asked, w)
    falling = (slope < 0) & (room > 0)
    vertex = np.divide(-slope, curvature, out=np.full_like(slope, np.inf), where=curvature > 0)
    step = np.where(falling, np.minimum(vertex, room), 0.0)
    gain = -slope * step - curvature * step**2 / 2
    assert (gain <= gap).all()


@every_loss
@examples(60)
@given(problem=problems())
def test_the_optimum_is_that_of_other_solvers(loss, problem):
    X, y, qid, weights, asked, C = problem
    Z, g = weighed_pairs(X, y, qid, C, **weights)
    preferences = Preferences(y, QueryGroups.from_qid(qid, len(y)), **weights)
    parameters = Parameters(C=C, loss=loss, conditions=asked, **EXACT)
    fit = train(DesignMatrix.from_array(X), preferences, parameters)
    # Where kinks of the hinge and of the penalty meet, steps may stall, and the gap says so.
    if loss == "squared_hinge":
        assert fit.result.dual_gap <= 1e-8
    assert_optimal(fit, Z, g, asked, loss, slack_of(fit))
    if loss == "squared_hinge":
        assert_conditions_of_optimality(fit, Z, g, asked)


KINDS = {
    "signs": Conditions(lower=np.array([0.0, 0.0, -np.inf, 0.0])),
    "far bounds": Conditions(lower=1.0, upper=2.0),
    "fixed": Conditions(lower=0.25, upper=0.25),
    "prior": Conditions(prior=np.array([1.0, -1.0, 0.5, 0.0])),
    "lasso": Conditions(l1_ratio=1.0, penalty_weights=3.0),
    "zeros": Conditions(l1_ratio=1.0, penalty_weights=1e6),
    "elastic net": Conditions(l1_ratio=0.5),
    "signed lasso": Conditions(lower=0.0, l1_ratio=1.0),
    "free of charge": Conditions(
        lower=-1.0, upper=1.0, penalty_weights=np.array([0.0, 0.0, 1.0, 1.0]), l1_ratio=0.5
    ),
    "all": Conditions(
        lower=np.array([-np.inf, 0.0, 0.1, -1.0]),
        upper=np.array([0.1, np.inf, 0.1, 1.0]),
        prior=np.array([1.0, -1.0, 0.5, 0.0]),
        l1_ratio=0.7,
        penalty_weights=np.array([1.0, 2.0, 0.0, 0.0]),
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_loss
@pytest.mark.parametrize(
    ("kind", "normalize"),
    [(kind, "documents") for kind in KINDS] + [("all", how) for how in NORMALIZATIONS[1:]],
)
def test_every_kind_of_condition(loss, kind, normalize):
    X, y, qid = make_problem(3, n=40)
    weights = {"sample_weight": np.arange(40) % 3 / 2, "worse_weight": np.arange(40) % 2 + 0.5}
    Z, g = weighed_pairs(X, y, qid, 0.5, normalize, **weights)
    preferences = Preferences(y, QueryGroups.from_qid(qid, len(y)), **weights)
    parameters = Parameters(C=0.5, loss=loss, normalize=normalize, conditions=KINDS[kind], **EXACT)
    fit = train(DesignMatrix.from_array(X), preferences, parameters)
    assert fit.result.dual_gap <= 1e-9
    assert_optimal(fit, Z, g, KINDS[kind], loss)
    if kind == "zeros":
        assert not fit.weights.dense.any()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].l1_ratio < 1])
def test_interior_points_of_few_rows(kind):
    """They leave to others what is not charged, and what they do not find."""
    X, y, qid = make_problem(8, n=30)
    Z, g = weighed_pairs(X, y, qid, 0.5)
    asked = {"loss": "hinge", "solver": "row_space", "conditions": KINDS[kind], **EXACT}
    preferences = Preferences.from_labels(y, qid)
    fit = train(DesignMatrix.from_array(X), preferences, Parameters(C=0.5, **asked))
    assert fit.result.dual_gap <= 1e-9
    assert_optimal(fit, Z, g, KINDS[kind], "hinge")


@pytest.mark.parametrize("C", [1e-3, 1.0])
@pytest.mark.parametrize(
    "asked",
    [
        Conditions(lower=0.0),
        Conditions(l1_ratio=0.5),
        Conditions(lower=0.05, upper=1.0, prior=0.1),
        Conditions(lower=0.0, penalty_weights=np.logspace(-2, 2, 90)),
        Conditions(upper=0.0, l1_ratio=0.3, prior=np.linspace(-1, 1, 90)),
    ],
    ids=["signs", "elastic net", "between", "charged", "near"],
)
def test_interior_points_take_few_steps_where_rows_are_few(asked, C):
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(30, 90)), rng.integers(0, 4, 30)
    preferences = Preferences.from_labels(y)
    parameters = Parameters(C=C, loss="hinge", conditions=asked, **EXACT)
    fit = train(DesignMatrix.from_array(X), preferences, parameters)
    assert fit.result.dual_gap <= 1e-9
    assert {line.solver for line in fit.result.history} == {"interior_point"}
    assert_optimal(fit, *weighed_pairs(X, y, None, C), asked, "hinge")


@every_loss
@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize(
    "asked",
    [Conditions(lower=0.0), Conditions(l1_ratio=0.5), Conditions(lower=-0.01, upper=0.02)],
    ids=["signs", "elastic net", "tight"],
)
def test_newton_steps_do_not_go_in_circles_where_rows_are_few(loss, asked, C):
    """By way of the dual; what that leaves, where most weights are at bounds, by the Hessian."""
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(60, 180)), rng.integers(0, 4, 60)
    parameters = Parameters(C=C, loss=loss, solver="newton", conditions=asked, n_threads=1)
    fit = train(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    assert fit.result.dual_gap <= parameters.tol
    assert {line.solver for line in fit.result.history} == {"proximal_newton"}
    assert len(fit.result.history) <= 60


@every_loss
@every_kind
def test_given_pairs(loss, kind):
    rng = np.random.default_rng(5)
    X, winner = rng.normal(size=(20, 4)), rng.integers(0, 18, 80)
    pairs = np.stack([winner, (winner + rng.integers(1, 4, 80)) % 20], axis=1)
    weights, margins = rng.choice([0.0, 1.0, 2.5, 1e-3], 80), rng.choice([1e-2, 0.5, 1.0, 3.0], 80)
    kept = weights > 0
    Z = ((X[pairs[:, 0]] - X[pairs[:, 1]]) / margins[:, np.newaxis])[kept]
    g = (0.3 * weights * margins ** (1 if loss == "hinge" else 2))[kept]
    parameters = Parameters(C=0.3, loss=loss, normalize=None, conditions=KINDS[kind], **EXACT)
    preferences = given_preferences(pairs, len(X), weights=weights, margins=margins)
    fit = train(DesignMatrix.from_array(X), preferences, parameters)
    assert fit.result.dual_gap <= 1e-8
    assert_optimal(fit, Z, g, KINDS[kind], loss)


@every_loss
@every_kind
@pytest.mark.parametrize("form", ["csr", "float32", "arrays"])
def test_every_form_of_rows_has_the_same_optimum(loss, kind, form):
    X, y, qid = make_problem(4, n=30)
    X = X.astype(np.float32).astype(np.float64)
    preferences = Preferences.from_labels(y, qid)
    parameters = Parameters(loss=loss, conditions=KINDS[kind], **EXACT)
    expected = train(DesignMatrix.from_array(X), preferences, parameters)
    stored = {"csr": sp.csr_matrix, "float32": np.float32}.get(form, np.asarray)(X)
    rows = design_matrix(stored, "numpy:cpu" if form == "arrays" else None)
    fit = train(rows, preferences, parameters)
    assert fit.result.dual_gap <= 1e-8
    assert fit.result.value == pytest.approx(expected.result.value, rel=1e-8)


@every_loss
@pytest.mark.parametrize("kind", ["signs", "elastic net", "all"])
def test_threads_do_not_matter(loss, kind):
    X, y, qid = make_problem(5, n=200, n_queries=9)
    preferences = Preferences.from_labels(y, qid)
    one, two = (
        train(
            DesignMatrix.from_array(X),
            preferences,
            Parameters(loss=loss, conditions=KINDS[kind], tol=1e-8, n_threads=n),
        )
        for n in (1, 2)
    )
    assert np.array_equal(one.weights.dense, two.weights.dense)
    assert one.result.value == two.result.value


def test_features_that_occur_nowhere_cost_what_they_must():
    """Their weights stay as near to the prior as bounds let them."""
    X, y, qid = make_problem(6, n=30)
    asked = replace(KINDS["all"], penalty_weights=np.array([1.0, 2.0, 0.0, 3.0]))
    X = X * [1, 1, 1, 0]
    Z, g = weighed_pairs(X, y, qid, 1.0)
    far = replace(asked, prior=np.array([1.0, -1.0, 0.5, 4.0]))
    fit = train(
        DesignMatrix.from_array(sp.csr_matrix(X)),
        Preferences.from_labels(y, qid),
        Parameters(conditions=far, **EXACT),
    )
    assert fit.weights.dense[3] == 1.0
    assert_optimal(fit, Z, g, far, "squared_hinge")
