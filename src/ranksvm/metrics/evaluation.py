"""Any number of metrics of one ranking."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.queries import QueryGroups, id_vector
from ..pairs.weights import row_weights
from ..summaries import Tabular
from .conventions import Conventions, conventions_of
from .names import Metric, parse_metrics
from .pairs import labels_and_scores
from .ranking import Ranking

Vector = NDArray[np.float64]
DEFAULT_METRICS = ("pairwise_accuracy", "ndcg@10", "map")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Tabular):
    """Metrics of a ranking, as `evaluate` returns them.

    Attributes
    ----------
    mean : dict of str to float
        By name, the mean over the queries in which the metric is defined; for the metrics that are
        pooled, the value over all pairs together. NaN if it is defined in no query.
    per_query : dict of str to ndarray of shape (n_queries,)
        By name, the value of each query; NaN where it is left out.
    queries : ndarray of shape (n_queries,)
        The ids of the queries, in the order of `per_query`: as they first appear, if the rows of
        each query are adjacent, else ascending. A single 0 if there were no ids.
    """

    mean: dict[str, float]
    per_query: dict[str, Vector]
    queries: NDArray[Any]

    @property
    def _title(self) -> str:
        n = len(self.queries)
        return f"Evaluation of {n} {'query' if n == 1 else 'queries'}"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {
            "metric": list(self.mean),
            "mean": list(self.mean.values()),
            "queries": [self._defined(name) for name in self.mean],
        }

    def _frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the values of each query."""
        return {"query": self.queries, **self.per_query}  # type: ignore[dict-item]

    def _defined(self, name: str) -> int:
        """Return in how many queries a metric is defined."""
        values = self.per_query.get(name)
        return len(self.queries) if values is None else int(np.isfinite(values).sum())


def evaluate(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    preset: str | Conventions | None = None,
    docids: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    n_threads: int = 1,
) -> Evaluation:
    """Measure how well scores order the documents of each query.

    The rows are sorted once, by query and score, whatever the number of metrics: O(n log n).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Relevance labels, larger is better. nDCG and ERR need labels of at least 0.
    scores : array-like of shape (n_samples,)
        Predicted scores, larger is better.
    qid : array-like of shape (n_samples,), optional
        Query ids, in any order; one query by default.
    metrics : str or iterable of str
        Names of metrics; ``@k`` looks at the first k ranks alone. R is the number of relevant
        documents, ``P_i`` the share of them in the first i ranks, ``rel_i`` whether the document at
        rank i is one, ``g_i`` its gain and ``d_i`` its discount.

        =========================== ============================================================
        ``pairwise_accuracy``       share of the preference pairs in the right order
        ``ranking_error``           one minus this (Airola et al. 2011, equation 1)
        ``swapped_pairs``           number of pairs in the wrong order
        ``zero_one_error``          1 if there is such a pair
        ``kendall_tau``             Kendall's tau-b, 0 if all scores are equal
        ``kendall_tau_a``           tau-a: ties count 0, and among all pairs
        ``auc``                     share of the pairs of a relevant and an irrelevant document
                                    in the right order, ties count half
        ``ndcg[@k]``                sum of ``g_i d_i``, divided by that of the best order
        ``mean_ndcg``               mean of nDCG@1 ... nDCG@n, of a query of n documents
        ``map[@k]``                 sum of ``rel_i P_i`` / R
        ``mrr[@k]``                 1 / rank of the first relevant document
        ``err[@k]``                 sum of ``1 / i R_i (1 - R_1) ... (1 - R_(i-1))``, where
                                    ``R_i = (2^y_i - 1) / 2^max_label``
        ``p@k``                     ``P_k``
        ``recall@k``                share of the relevant documents in the first k ranks
        =========================== ============================================================

        The mean of ``pairwise_accuracy_pooled``, ``ranking_error_pooled`` and ``auc_pooled`` is
        over all pairs together.
    preset : str or Conventions, optional
        What programs disagree about - gains, discounts, ties, queries without relevant documents
        ... - by the name of a program in `PRESETS`, or by itself. See `Conventions`.
    docids : sequence of n_samples ids, optional
        Document ids, for conventions that break ties by them.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, to the metrics of pairs, tau and AUC, where a pair weighs the product of those
        of its rows. The metrics of ranks know no weights.
    n_threads : int, default=1
        Threads to use. Results do not depend on it, to the last bit.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If lengths differ, there are no rows, a label or score is not finite, a name is not known,
        a label is out of the range of a metric, or ids that break ties are missing.

    Warns
    -----
    UserWarning
        If a metric is defined in no query, so that its mean is NaN.

    Examples
    --------
    >>> evaluation = evaluate([2, 0, 1, 0], [0.3, 0.1, 0.2, 0.9], ["a", "a", "b", "b"], "ndcg@10")
    >>> round(evaluation.mean["ndcg@10"], 4)
    0.8155
    """
    evaluation = measure(
        y,
        scores,
        qid,
        metrics,
        preset=preset,
        docids=docids,
        sample_weight=sample_weight,
        n_threads=n_threads,
    )
    nowhere = [name for name, value in evaluation.mean.items() if math.isnan(value)]
    if nowhere:
        labels, predicted = labels_and_scores(y, scores)
        warnings.warn(
            f"no query has labels for which {', '.join(nowhere)} would be defined: the mean is "
            f"nan; y holds labels from {labels.min():g} to {labels.max():g}, scores values from "
            f"{predicted.min():g} to {predicted.max():g}, and the labels come first: "
            "evaluate(y, scores)",
            UserWarning,
            stacklevel=2,
        )
    return evaluation


class Measured(NamedTuple):
    """What is measured of some queries, to be put together with that of others.

    Attributes
    ----------
    per_query : dict of str to ndarray of shape (n_queries,)
        As of `Evaluation`.
    pooled : dict of str to ndarray of shape (2, n_queries)
        By the names of metrics that are pooled, the weights of pairs that they are shares of.
    queries : ndarray of shape (n_queries,)
    """

    per_query: dict[str, Vector]
    pooled: dict[str, Vector]
    queries: NDArray[Any]


def measured(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike | None = None,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    preset: str | Conventions | None = None,
    docids: Sequence[Any] | NDArray[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    n_threads: int = 1,
) -> Measured:
    """Measure some queries: what `evaluation_of` makes an evaluation of; else as `evaluate`."""
    asked = parse_metrics(metrics)
    conventions = conventions_of(preset)
    labels, predicted = labels_and_scores(y, scores)
    if not len(labels):
        raise InputError("there are no rows to evaluate")
    if docids is not None and len(docids) != len(labels):
        raise InputError(f"docids has length {len(docids)} but there are {len(labels)} rows")
    qid = None if qid is None else id_vector(qid)
    groups = QueryGroups.from_qid(qid, len(labels))
    ranking = Ranking(
        labels,
        predicted,
        groups,
        conventions,
        sample_weight=row_weights("sample_weight", sample_weight, len(labels)),
        docids=None if docids is None else np.asarray(docids, dtype=object),
        n_threads=n_threads,
    )
    per_query = {name: m.measure.by_query(ranking, m.k) for name, m in asked.items()}
    pooled = {name: m.measure.pooled for name, m in asked.items()}
    weights = {name: np.array(p.weights(ranking)) for name, p in pooled.items() if p is not None}
    return Measured(per_query, weights, _query_ids(qid, groups))


def evaluation_of(parts: Sequence[Measured]) -> Evaluation:
    """Put together what was measured of queries that are different ones, in this order."""
    asked = parse_metrics(parts[0].per_query)
    per_query = {name: np.concatenate([part.per_query[name] for part in parts]) for name in asked}
    pooled = {
        name: np.concatenate([part.pooled[name] for part in parts], axis=1)
        for name in parts[0].pooled
    }
    mean = {name: _mean(m, per_query[name], pooled.get(name)) for name, m in asked.items()}
    return Evaluation(mean, per_query, np.concatenate([part.queries for part in parts]))


def measure(y: ArrayLike, scores: ArrayLike, *arguments: Any, **options: Any) -> Evaluation:
    """Do as `evaluate`, without a warning: where NaN has a meaning, or is refused."""
    return evaluation_of([measured(y, scores, *arguments, **options)])


def _mean(metric: Metric, values: Vector, weights: Vector | None) -> float:
    if metric.measure.pooled is not None and weights is not None:
        return metric.measure.pooled.share(*weights)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _query_ids(qid: NDArray[Any] | None, groups: QueryGroups) -> NDArray[Any]:
    if qid is None:
        return np.zeros(1, dtype=np.int64)
    first = groups.indptr[:-1]
    return qid[first if groups.order is None else groups.order[first]]
