"""Optima over pairs whose rows have roles, by every solver, against explicit pairs."""

import itertools

import numpy as np
import pytest

import reference
from cases import make_problem, optimum
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import Problem, weighted_pairs
from ranksvm.names import LOSSES
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

SOLVERS = [
    *itertools.product(LOSSES, ["newton", "trust_region", "row_space"]),
    ("hinge", "bundle"),
    ("hinge", "cutting_planes"),
]


def minimize(X, y, qid, parameters, **weights):
    """What the solvers find, and the number of pairs."""
    preferences = Preferences(y, QueryGroups.from_qid(qid, len(y)), **weights)
    pairs, c, n_pairs = weighted_pairs(preferences, parameters, CorePairs)
    loss = (Hinge if parameters.loss == "hinge" else SquaredHinge)(pairs)
    matrix = DesignMatrix.from_array(X)
    choice = choose_solver(matrix, preferences, parameters)
    rows = choice.rows(matrix, 1)
    problem = Problem(LinearObjective(matrix, loss, c, rows=rows), n_pairs, choice)
    return problem.minimize(parameters), n_pairs


def roles_of(kind, y):
    rng = np.random.default_rng(0)
    if kind == "survival":
        return {"worse_weight": rng.integers(0, 2, len(y)).astype(float)}
    weights = rng.uniform(0, 2, (3, len(y))) * rng.integers(0, 3, (3, len(y)))
    names = ("better_weight", "worse_weight", "sample_weight")
    return dict(zip(names, weights, strict=True))


@pytest.mark.parametrize(("loss", "solver"), SOLVERS)
@pytest.mark.parametrize("normalize", ["documents", "queries"])
@pytest.mark.parametrize("kind", ["survival", "any"])
@pytest.mark.parametrize("d", [4, 60])
def test_optimum_is_that_of_the_explicit_pairs(d, kind, normalize, loss, solver):
    X, y, qid = make_problem(12, n=40, d=d)
    weights = roles_of(kind, y)
    parameters = Parameters(loss=loss, solver=solver, normalize=normalize, tol=1e-8, n_threads=1)
    result, n_pairs = minimize(X, y, qid, parameters, **weights)
    w, value = optimum(loss, X, y, qid, 1.0, normalize, **weights)
    assert n_pairs == pytest.approx(reference.enumerate_pairs(y, qid, **weights).weight.sum())
    assert 0 <= result.dual_gap <= 1e-8
    assert result.value == pytest.approx(value, rel=1e-8)
    assert result.value * (1 - result.dual_gap) <= value * (1 + 1e-10)
    assert np.linalg.norm(result.weights - w) <= 1e-3 * np.linalg.norm(w)


def test_rows_of_one_role_alone_make_no_pairs():
    X, y, qid = make_problem(13)
    with pytest.raises(ValueError, match="no preference pairs to learn from"):
        minimize(X, y, qid, Parameters(), better_weight=np.where(y > 0, 0.0, 1.0))
