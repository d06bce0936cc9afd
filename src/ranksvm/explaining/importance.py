"""What a ranking loses without a feature, measured on rows with labels.

A linear ranker without feature k, or with its values shuffled within each query, has the scores
``s - f_k(x_k)``, or these with another row's ``f_k``: nothing is trained again, nor is X gone
through again. Without a feature means that its weight is zero, and the others stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics import parse_metric
from ..metrics.bootstrap import bootstrap_interval
from ..metrics.evaluation import measure
from ..pairs.queries import QueryGroups
from ..summaries import Tabular
from .contributions import additive_model, feature_scores, names_of

Vector = NDArray[np.float64]

KINDS = ("drop", "permutation")


@dataclass(frozen=True, eq=False, repr=False)
class FeatureImportance(Tabular):
    """How much of a metric is lost without each feature.

    Attributes
    ----------
    importance : ndarray of shape (n_features,)
        The mean loss over the queries.
    low, high : ndarray of shape (n_features,)
        An interval for it, by the bootstrap over queries.
    by_query : ndarray of shape (n_queries, n_features)
    feature_names : list of str
    metric : str
    baseline : float
        The mean of the metric with all features.
    kind : {"drop", "permutation"}
    """

    importance: Vector
    low: Vector
    high: Vector
    by_query: NDArray[np.float64]
    feature_names: list[str]
    metric: str
    baseline: float
    kind: str

    @property
    def _title(self) -> str:
        return f"{self.metric} lost of {self.baseline:.6g}, by {self.kind}"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        order = self.order().tolist()
        return {
            "feature": [self.feature_names[k] for k in order],
            "lost": self.importance[order].tolist(),
            "from": self.low[order].tolist(),
            "to": self.high[order].tolist(),
        }

    def order(self) -> NDArray[np.int64]:
        """Return the features from the most important on, equal ones in their order."""
        return np.argsort(-self.importance, kind="stable")


def feature_importance(
    model: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    metric: str = "ndcg@10",
    kind: str = "drop",
    n_repeats: int = 5,
    n_bootstraps: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> FeatureImportance:
    """Measure what each feature is worth to a ranking.

    Parameters
    ----------
    model : LinearModel, or fitted estimator, pipeline or search
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Relevance labels.
    qid : array-like of shape (n_samples,), optional
    metric : str, default="ndcg@10"
        One that `evaluate` measures query by query.
    kind : {"drop", "permutation"}, default="drop"
        Without the feature, or with its values shuffled within each query, `n_repeats` times.
    n_repeats : int, default=5
    n_bootstraps : int, default=1000
        Samples of queries, with replacement, that the intervals come from.
    confidence : float, default=0.95
    seed : int, default=0
        Of what is drawn.

    Returns
    -------
    FeatureImportance

    Raises
    ------
    ValueError
        If an argument is malformed, the metric is none of queries, or the model is none of single
        features.
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if n_repeats < 1:
        raise InputError(f"n_repeats must be at least 1, not {n_repeats}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, not {confidence!r}")
    parse_metric(metric)
    if metric.endswith("_pooled"):
        raise InputError(f"the metric {metric} is one of all queries together, not of each")
    ranker = additive_model(model)
    added = feature_scores(ranker, X, qid)
    generator = np.random.default_rng(seed)
    n_shuffles = 0 if kind == "drop" else n_repeats
    lost, baseline = losses(added.sum(axis=1), added, y, qid, metric, n_shuffles, generator)
    low, high = bootstrap_interval(lost, n_bootstraps, confidence, generator)
    mean = np.nanmean(lost, axis=0)
    return FeatureImportance(mean, low, high, lost, names_of(ranker), metric, baseline, kind)


def losses(
    scores: Vector,
    added: NDArray[np.float64],
    y: ArrayLike,
    qid: ArrayLike | None,
    metric: str,
    n_shuffles: int = 0,
    generator: np.random.Generator | None = None,
) -> tuple[NDArray[np.float64], float]:
    """Return what queries lose of a metric without each of some features.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    added : ndarray of shape (n_samples, n_features)
        What each of the features adds to them.
    y, qid, metric
        As for `feature_importance`.
    n_shuffles : int, default=0
        How often values are shuffled within queries; 0 is for leaving them out.
    generator : numpy Generator, optional
        Of the shuffles.

    Returns
    -------
    lost : ndarray of shape (n_queries, n_features)
    baseline : float
        The mean of the metric with all features.

    Raises
    ------
    ValueError
        If the metric is defined for no query.
    """
    groups = QueryGroups.from_qid(qid, len(added))

    def measured(scores: Vector) -> Vector:
        found: Vector = measure(y, scores, qid, metric).per_query[metric]
        return found

    baseline = measured(scores)
    if np.isnan(baseline).all():
        raise InputError(
            f"{metric} is defined for no query, whose labels are all alike to it; choose another "
            "metric"
        )
    lost = np.zeros((len(baseline), added.shape[1]))
    for k in np.flatnonzero(added.any(axis=0)).tolist():
        without = scores - added[:, k]
        if generator is None or n_shuffles == 0:
            lost[:, k] = baseline - measured(without)
            continue
        for _ in range(n_shuffles):
            shuffled = without + _shuffled(added[:, k], groups, generator)
            lost[:, k] += (baseline - measured(shuffled)) / n_shuffles
    return lost, float(np.nanmean(baseline))


def _shuffled(values: Vector, groups: QueryGroups, generator: np.random.Generator) -> Vector:
    shuffled = values.copy()
    for q in range(groups.n_queries):
        rows = groups.rows(q, q + 1)
        shuffled[rows] = generator.permutation(values[rows])
    return shuffled
