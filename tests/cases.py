"""Problems and comparisons that several test files use."""

import numpy as np
import pytest
from hypothesis import note

import reference
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.pairs import ArrayPairs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.names import COUNTINGS, SOLVERS
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

# Solvers that take any number of rows.
OF_MANY_ROWS = tuple(name for name in SOLVERS if name != "row_space")

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


def make_pairs(y, groups=None, *, device=None, counting="auto", n_threads=1, **weights):
    """The pairs of labels, by the core or on arrays of a device; one query by default."""
    groups = QueryGroups.from_qid(None, len(y)) if groups is None else groups
    preferences = Preferences(np.asarray(y, dtype=np.float64), groups, **weights)
    if device is not None:
        return ArrayPairs(preferences, device, n_threads)
    return CorePairs(preferences, counting, n_threads)


def make_loss(Loss, y, groups=None, *, margin=1.0, width=None, **options):
    """A loss over the pairs of labels, by the core or on arrays of a device."""
    widths = {} if width is None else {"width": width}
    return Loss(make_pairs(y, groups, **options), margin, **widths)


def linear_objective(X, loss, c, n_threads=1):
    """The objective of rows on the host."""
    return LinearObjective(DesignMatrix.from_array(X), loss, c, n_threads)


def is_member(ranking):
    """Whether each row weighs something, in one of its roles at least, in a query that does."""
    ones = np.ones(len(ranking.y))
    roles = [ones if w is None else w for w in (ranking.better_weight, ranking.worse_weight)]
    weights = [w for w in (ranking.sample_weight, ranking.query_weight) if w is not None]
    return np.all([np.any(roles, axis=0), *weights], axis=0)


def suits_arrays(ranking):
    """Whether arrays can tell the gaps: they round to a small part of the largest."""
    gaps = np.diff(np.unique(ranking.y[is_member(ranking)]))
    return ranking.pair_weight is None or np.all(gaps > 1e-25 * np.sum(gaps))


def make_losses(Loss, ranking, **options):
    """The loss with each way of counting, and on arrays."""
    groups = QueryGroups.from_qid(ranking.qid, len(ranking.y))
    weights = dict(ranking.weights)
    if ranking.query_weight is not None:
        first = groups.indptr[:-1]
        rows = first if groups.order is None else groups.order[first]
        weights["query_weight"] = ranking.query_weight[rows]
    for way, arguments in WAYS.items():
        if "device" in arguments and not suits_arrays(ranking):
            continue
        note(f"{way=}")
        yield make_loss(Loss, ranking.y, groups, **arguments, **weights, **options)


def pairs_of(ranking):
    return reference.enumerate_pairs(ranking.y, ranking.qid, **ranking.weights)


def assert_rows_close(actual, expected, terms, rtol=1e-8):
    """Equal to rtol; rows whose terms cancel are held to the largest sum of absolute terms."""
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-12 * np.max(terms, initial=0))


def absolute_terms(pairs, derivative):
    """Sum over the pairs of each row of the absolute derivatives."""
    rows = np.r_[pairs.better, pairs.worse]
    return np.bincount(rows, np.r_[derivative, derivative], pairs.n_samples)
