"""Scoring the rows of files with models, and measuring the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..files.rows import FileRows
from ..linear.occurring import IN_SCORING
from ..models import LinearModel, Model
from ..pairs.given import GivenPreferences
from .features import require_queries
from .rows import design_matrix, require_unchanged, widened

Vector = NDArray[np.float64]


def predict(model: Model, rows: FileRows, n_threads: int) -> Vector:
    """Score rows that fit the model; features that they end before are zero.

    Rows without queries are refused by a model that maps features within queries.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    scores = _scores(model, rows, n_threads)
    require_unchanged(rows)
    return scores


def _scores(model: Model, rows: FileRows, n_threads: int) -> Vector:
    if isinstance(model, LinearModel) and model.maps:
        if model.needs_queries:
            require_queries(rows)
        return model.predict(widened(rows.X, model.n_features), n_threads, qid=rows.qid)
    if isinstance(model, LinearModel):
        X = design_matrix(rows, IN_SCORING)
        return X.dot(model.weights.at(X.columns), n_threads)
    is_sparse = not isinstance(model.support_vectors, np.ndarray)
    return model.predict(widened(rows.X, model.n_features, is_sparse), n_threads)


def performance(
    labels: Vector, scores: Vector, qid: ArrayLike | None, cost: Vector | None, n_threads: int
) -> str:
    """Return a table of pairwise accuracy and ranking error, pooled and as a mean of queries.

    Raises
    ------
    ValueError
        If there is no preference pair.
    """
    from ..metrics import lost_pairs

    lost, pairs = lost_pairs(labels, scores, qid, sample_weight=cost, n_threads=n_threads)
    pooled, by_query = lost.sum() / pairs.sum(), (lost[pairs > 0] / pairs[pairs > 0]).mean()
    return (
        f"{'':20} {'all pairs':>12} {'query mean':>12}\n"
        f"{'pairwise accuracy':20} {1 - pooled:12.6f} {1 - by_query:12.6f}\n"
        f"{'ranking error':20} {pooled:12.6f} {by_query:12.6f}\n"
    )


def performance_of_pairs(given: GivenPreferences, scores: Vector) -> str:
    """Return a table of pairwise accuracy and ranking error for pairs that are given."""
    from ..metrics.pairs import given_accuracy

    accuracy = given_accuracy(given)(scores)
    return (
        f"{'':20} {'given pairs':>12}\n"
        f"{'pairwise accuracy':20} {accuracy:12.6f}\n"
        f"{'ranking error':20} {1 - accuracy:12.6f}\n"
    )
