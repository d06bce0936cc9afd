"""Measures over preference pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError
from ..pairs.columns import finite_column
from ..pairs.core_pairs import CorePairs
from ..pairs.given import GivenPreferences
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.weights import row_weights

Vector = NDArray[np.float64]
LEAST_MARGIN = float(np.nextafter(0.0, 1.0))  # at which tied pairs are active, too


def pairwise_accuracy(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    average: str = "pooled",
    ties: float = 0.5,
    sample_weight: ArrayLike | None = None,
    n_threads: int = 1,
) -> float:
    """Share of the preference pairs that the scores put in the right order.

    Over the pairs (i, j) of a query with ``y_i > y_j``, a pair counts 1 if ``s_i > s_j``, `ties`
    if ``s_i = s_j`` and 0 otherwise (Airola et al. 2011, equation 1, is one minus this). Two sorted
    sweeps: O(m log m).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Relevance labels, larger is better.
    scores : array-like of shape (n_samples,)
        Predicted scores, larger is better.
    qid : array-like of shape (n_samples,), optional
        Query ids, in any order; one query by default.
    average : {"pooled", "query"}, default="pooled"
        "pooled" is the share of all pairs together; "query" the mean of the shares of the queries
        that have pairs.
    ties : float, default=0.5
        What a pair of equal scores counts: 0.5 by convention; SVM^rank counts 0, LIBLINEAR-ranksvm
        1.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; a pair weighs the product of those of its rows.
    n_threads : int, default=1

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If lengths differ, a label or score is not finite, or there is no preference pair.
    """
    if average not in ("pooled", "query"):
        raise InputError(f"average must be 'pooled' or 'query', not {average!r}")
    lost, pairs = lost_pairs(
        y, scores, qid, ties=ties, sample_weight=sample_weight, n_threads=n_threads
    )
    if average == "pooled":
        return float(1 - lost.sum() / pairs.sum())
    has_pairs = pairs > 0
    return float(np.mean(1 - lost[has_pairs] / pairs[has_pairs]))


def lost_pairs(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    ties: float = 0.5,
    sample_weight: ArrayLike | None = None,
    n_threads: int = 1,
) -> tuple[Vector, Vector]:
    """Weigh the pairs of each query that the scores put in the wrong order, and all its pairs.

    Parameters and errors are those of `pairwise_accuracy`; a pair of equal scores is lost by
    ``1 - ties``.

    Returns
    -------
    lost, pairs : ndarray of shape (n_queries,)
    """
    labels, predicted = labels_and_scores(y, scores)
    weights = row_weights("sample_weight", sample_weight, len(labels))
    pairs = _pairs_to_sweep(labels, qid, weights, n_threads)
    swapped = active_pairs(pairs, pairs.sweep(predicted, "hinge", margin=0.0))
    not_right = active_pairs(pairs, pairs.sweep(predicted, "hinge", margin=LEAST_MARGIN))
    return swapped + (1 - ties) * (not_right - swapped), pairs.pairs_per_query


def pairwise_error(
    y: ArrayLike, qid: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Callable[[ArrayLike], float]:
    """Return the function from scores to the share of the pairs in the wrong order; ties are half.

    What all scores of the same rows share is prepared once. Errors are those of `lost_pairs`.
    """
    labels = finite_column(y, "y")
    weights = row_weights("sample_weight", sample_weight, len(labels))
    pairs = _pairs_to_sweep(labels, qid, weights)
    return lambda scores: error_of_pairs(pairs, _scores_for(labels, scores))


def given_accuracy(preferences: GivenPreferences) -> Callable[[Vector], float]:
    """Return the function from scores to the share of given pairs in the right order.

    Ties count half, and all pairs as they weigh; margins do not matter.
    """
    winner, loser, weight = preferences.winner, preferences.loser, preferences.weight

    def accuracy(scores: Vector) -> float:
        ahead = np.take(scores, winner) - np.take(scores, loser)
        return float(np.average(0.5 * (1 + np.sign(ahead)), weights=weight))

    return accuracy


def error_of_pairs(pairs: CorePairs, scores: Vector, tolerance: float = 0.0) -> float:
    """Return the share of the pairs in the wrong order; half of those within the tolerance."""
    margins = (-tolerance, float(np.nextafter(tolerance, np.inf)))
    wrong = [pairs.sweep(scores, "hinge", margin=margin).n_active for margin in margins]
    return float(sum(wrong) / (2 * pairs.n_pairs))


def _pairs_to_sweep(
    labels: Vector, qid: ArrayLike | None, weights: Vector | None, n_threads: int = 1
) -> CorePairs:
    """Return the pairs to sweep: at margin 0 the active ones are those that scores swap.

    At the smallest positive margin they are the tied ones, too.
    """
    groups = QueryGroups.from_qid(qid, len(labels))
    pairs = CorePairs(Preferences(labels, groups, weights), n_threads=n_threads)
    if not pairs.n_pairs > 0:
        raise InputError("no preference pairs: within every query all labels are equal")
    return pairs


def active_pairs(pairs: CorePairs, sweep: _core.Sweep) -> Vector:
    """Return the weight of the active pairs of each query."""
    degree = sweep.degree()  # counts each pair in both its rows
    by_place = degree if pairs.groups.order is None else degree[pairs.groups.order]
    weight: Vector = np.add.reduceat(by_place, pairs.groups.indptr[:-1]) / 2
    return weight


def labels_and_scores(y: ArrayLike, scores: ArrayLike) -> tuple[Vector, Vector]:
    """Return both as vectors of finite float64, of one length.

    Raises
    ------
    ValueError
        Naming the array, the row and what was found there.
    """
    labels = finite_column(y, "y")
    return labels, _scores_for(labels, scores)


def _scores_for(labels: Vector, scores: ArrayLike) -> Vector:
    predicted = finite_column(scores, "scores")
    if len(labels) != len(predicted):
        raise InputError(f"y has length {len(labels)} but scores has length {len(predicted)}")
    return predicted
