"""Problems and comparisons that several test files use."""

import numpy as np
import pytest
from hypothesis import note

import reference
from ranksvm.arrays.device import ArrayDevice
from ranksvm.pairs.losses import COUNTINGS
from ranksvm.pairs.queries import QueryGroups

# Every way of finding the active pairs, by the arguments of a loss.
WAYS = {name: {"counting": name} for name in COUNTINGS}
WAYS["arrays"] = {"device": ArrayDevice.named("numpy:cpu")}


def make_problem(seed, n=30, d=4, n_queries=3, n_levels=4):
    """Noisy labels that no scoring function can satisfy; rows of queries are mixed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = X @ rng.normal(size=d) + rng.normal(size=n)
    y = np.floor(n_levels * np.argsort(np.argsort(latent)) / n)
    return X, y, rng.integers(0, n_queries, n)


def optimum(loss, X, y, qid, C, normalize="documents", **weights):
    """The minimiser and the minimum, by explicit pairs."""
    pairs = reference.enumerate_pairs(y, qid, **weights)
    pairs = reference.normalize_pairs(pairs, C, normalize, **weights)
    if loss == "hinge":
        w = reference.minimize_hinge(pairs, X)
        return w, reference.hinge_objective(pairs, X, w)
    w = reference.minimize_squared_hinge(pairs, X)
    return w, reference.objective(pairs, X, w)


def assert_optimal(model, w, value, known=0.0):
    """Optimal to its tolerance; w itself is, to the relative gap `known`."""
    assert model.status_ == "converged"
    assert 0 <= model.dual_gap_ <= model.tol
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    # |w - w*|^2 <= 2 (P - P*), as P is strongly convex.
    radius = np.sqrt(2 * model.tol * value) + np.sqrt(2 * known * value)
    assert np.linalg.norm(model.coef_ - w) <= radius + 1e-9


def make_losses(Loss, ranking, **options):
    """The loss with each way of counting, and on arrays."""
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    weights = dict(ranking.weights)
    if ranking.query_weight is not None:
        first = groups.indptr[:-1]
        rows = first if groups.order is None else groups.order[first]
        weights["query_weight"] = ranking.query_weight[rows]
    for way, arguments in WAYS.items():
        note(f"{way=}")
        yield Loss(ranking.y, groups, **arguments, **weights, **options)


def pairs_of(ranking):
    return reference.enumerate_pairs(ranking.y, ranking.qid, **ranking.weights)


def assert_rows_close(actual, expected, terms, rtol=1e-8):
    """Equal to rtol; rows whose terms cancel are held to the largest sum of absolute terms."""
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-12 * np.max(terms, initial=0))


def absolute_terms(pairs, derivative):
    """Sum over the pairs of each row of the absolute derivatives."""
    rows = np.r_[pairs.better, pairs.worse]
    return np.bincount(rows, np.r_[derivative, derivative], pairs.n_samples)
