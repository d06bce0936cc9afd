r"""What each feature adds to a score.

Where every map acts on single features, scores are :math:`\sum_k f_k(x_k)`: one curve for each
feature says all that the model has learnt. What maps within queries is left out of the curves: they
are functions of what these make of the features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .linear import LinearModel
from .maps import JoinedMap
from .maps.base import MAX_MEMORY, densified
from .maps.chains import domain_of, parts_of, sources_of

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_TAIL = 0.01  # of the values at each end, which curves leave out


def split_at_queries(model: LinearModel) -> tuple[LinearModel, LinearModel]:
    """Return a model of the maps up to the last within queries, and one of the others.

    Raises
    ------
    ValueError
        If a map is not one of single features, or maps within queries beside others that do not.
    """
    require_additive(model)
    places = [place for place, one in enumerate(model.maps) if one.needs_queries]
    if any(isinstance(model.maps[place], JoinedMap) for place in places):
        raise InputError(
            "the features have no curves: values within the query are mapped beside others"
        )
    end = places[-1] + 1 if places else 0
    first, rest = model.maps[:end], model.maps[end:]
    ones = np.ones(first[-1].n_outputs if first else model.n_features)
    return LinearModel(ones, maps=first), LinearModel(model.weights, maps=rest)


def require_additive(model: LinearModel) -> None:
    """Refuse models with a map that is not one of single features."""
    for one in parts_of(model.maps):
        if not one.is_additive:
            raise InputError(
                f"the scores are no sum of what each feature adds: the map {one.name} takes all of "
                "them at once"
            )


def contributions(model: LinearModel, X: Any, qid: ArrayLike | None = None) -> Matrix:
    """Return what each feature adds to the score of each row.

    Parameters
    ----------
    model : LinearModel
        With maps of single features only.
    X : ndarray or CSR matrix of shape (n_samples, n_features), float64
    qid : array-like of shape (n_samples,), optional
        For models that map within queries.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Rows sum to the scores.
    """
    from scipy.sparse import csr_matrix

    weights = model.weights.dense
    sources = sources_of(model.maps, model.n_features)
    shape = len(weights), model.n_features
    by_feature = csr_matrix((weights, sources, np.arange(len(weights) + 1)), shape)
    added = model.mapped(X, qid) @ by_feature
    return np.asarray(added if isinstance(added, np.ndarray) else added.toarray())


def effect_curves(
    model: LinearModel, X: Any = None, qid: ArrayLike | None = None, n_points: int = 201
) -> tuple[Matrix, Matrix]:
    """Return values of each feature, evenly spaced, and what these add to a score.

    Parameters
    ----------
    model : LinearModel
        With maps of single features, or within queries, only.
    X : ndarray or CSR matrix of shape (n_samples, n_features), float64, optional
        Rows whose values the curves span, but for one in a hundred at each end; by default, what
        the first map knows of the features.
    qid : array-like of shape (n_samples,), optional
        For models that map within queries.
    n_points : int, default=201

    Returns
    -------
    values, effects : ndarray of shape (n_points, n_features)

    Raises
    ------
    ValueError
        If a map takes all features at once, or neither X nor a map tells what values there are.
    """
    first, rest = split_at_queries(model)
    low, high = _domain(first, rest) if X is None else _seen(first.mapped(X, qid))
    _require_finite(low, high)
    values = np.linspace(low, high, n_points)
    return values, contributions(rest, values)


def _require_finite(low: Vector, high: Vector) -> None:
    """Refuse features that are so large that from one end of a curve to the other overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(~np.isfinite(high - low))
    if len(bad):
        k = int(bad[0])
        raise InputError(
            f"feature {k + 1} goes from {low[k]:g} to {high[k]:g}, too far for a curve in floating "
            "point; scale the features"
        )


def _seen(X: Any) -> tuple[Vector, Vector]:
    dense = densified(X, MAX_MEMORY)
    with np.errstate(over="ignore", invalid="ignore"):  # between values far apart
        low, high = np.quantile(dense, [_TAIL, 1 - _TAIL], axis=0)
    narrow = low == high
    return (
        np.where(narrow, dense.min(axis=0), low),
        np.where(narrow, dense.max(axis=0), high),
    )


def _domain(first: LinearModel, rest: LinearModel) -> tuple[Vector, Vector]:
    """Return the least and the greatest value of each feature, as far as maps know them."""
    if first.maps:
        zeros = np.zeros(rest.n_features)
        return zeros, zeros + 1
    known = domain_of(rest.maps)
    if known is None:
        raise InputError(
            "the model does not know what values its features have: give the rows to draw"
        )
    return known
