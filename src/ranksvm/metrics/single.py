"""Single metrics of a ranking, each as a number: the mean over queries, as by `evaluate`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .conventions import Conventions
from .evaluation import evaluate

Preset = str | Conventions | None


def _mean(
    name: str,
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None,
    k: int | None = None,
    **options: Any,
) -> float:
    name = name if k is None else f"{name}@{k}"
    return evaluate(y, scores, qid, name, **options).mean[name]


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    preset: Preset = None,
) -> float:
    """Normalised discounted cumulative gain.

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``ndcg`` this is.
    k : int, optional
        Look at the first k ranks alone.

    Returns
    -------
    float
        Between 0 and 1; NaN if no label is above 0.
    """
    return _mean("ndcg", y, scores, qid, k, preset=preset)


def average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    preset: Preset = None,
) -> float:
    """Mean over the relevant documents of the precision at their ranks.

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``map`` this is.
    k : int, optional
        Look at the first k ranks alone.

    Returns
    -------
    float
        Between 0 and 1; NaN if no document is relevant.
    """
    return _mean("map", y, scores, qid, k, preset=preset)


def reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    preset: Preset = None,
) -> float:
    """One by the rank of the first relevant document.

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``mrr`` this is.
    k : int, optional
        Look at the first k ranks alone.

    Returns
    -------
    float
        Between 0 and 1; NaN if no document is relevant.
    """
    return _mean("mrr", y, scores, qid, k, preset=preset)


def expected_reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    *,
    preset: Preset = None,
) -> float:
    """Mean of one by the rank at which a reader is satisfied (Chapelle et al. 2009).

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``err`` this is.
    k : int, optional
        Look at the first k ranks alone.

    Returns
    -------
    float
        Between 0 and 1; NaN if no label is above 0.
    """
    return _mean("err", y, scores, qid, k, preset=preset)


def precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int = 10,
    *,
    preset: Preset = None,
) -> float:
    """Share of the first k ranks that hold relevant documents.

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``p`` this is.
    k : int, default=10
        Look at the first k ranks.

    Returns
    -------
    float
        Between 0 and 1; NaN if no document is relevant.
    """
    return _mean("p", y, scores, qid, k, preset=preset)


def recall(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    k: int = 10,
    *,
    preset: Preset = None,
) -> float:
    """Share of the relevant documents that are in the first k ranks.

    Parameters
    ----------
    y, scores, qid, preset
        As for `evaluate`, whose ``recall`` this is.
    k : int, default=10
        Look at the first k ranks.

    Returns
    -------
    float
        Between 0 and 1; NaN if no document is relevant.
    """
    return _mean("recall", y, scores, qid, k, preset=preset)


def auc(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    preset: Preset = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the pairs of a relevant and an irrelevant document in order; ties are half.

    Parameters
    ----------
    y, scores, qid, preset, sample_weight
        As for `evaluate`, whose ``auc`` this is.

    Returns
    -------
    float
        Between 0 and 1; NaN if no query has both.
    """
    return _mean("auc", y, scores, qid, preset=preset, sample_weight=sample_weight)


def kendall_tau(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    preset: Preset = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Kendall's tau-b of labels and scores; 0 where all scores are equal.

    Parameters
    ----------
    y, scores, qid, preset, sample_weight
        As for `evaluate`, whose ``kendall_tau`` this is.

    Returns
    -------
    float
        Between -1 and 1; NaN if no query has two labels.
    """
    return _mean("kendall_tau", y, scores, qid, preset=preset, sample_weight=sample_weight)
