"""The formulas of the metrics, each a function of a `Ranking` and a depth k; values by query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from .ranking import Ranking

Vector = NDArray[np.float64]


class Depth(Enum):
    """Whether the name of a metric ends in ``@k``."""

    NEVER = "never"
    OPTIONAL = "optional"
    ALWAYS = "always"


@dataclass(frozen=True)
class Measure:
    """A metric without its depth."""

    by_query: Callable[[Ranking, int | None], Vector]
    depth: Depth = Depth.NEVER
    greater_is_better: bool = True
    pooled: Pooled | None = None


@dataclass(frozen=True)
class Pooled:
    """A share of the pairs of all queries together.

    Attributes
    ----------
    weights : callable
        Of a ranking, the weight of some pairs of each query, and that of all its pairs.
    of_others : bool, default=False
        Whether the share is that of the other pairs.
    """

    weights: Callable[[Ranking], tuple[Vector, Vector]]
    of_others: bool = False

    def share(self, some: Vector, of_all: Vector) -> float:
        """Return the share, by these weights; NaN where there are no pairs."""
        share = float(_ratio(np.array([some.sum()]), np.array([of_all.sum()]), None)[0])
        return 1 - share if self.of_others else share


def _ratio(numerator: Vector, denominator: Vector, otherwise: float | None) -> Vector:
    """Divide; where the denominator is 0 the value is `otherwise`, NaN for None."""
    result = np.full(len(numerator), np.nan if otherwise is None else float(otherwise))
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


# Pairs


def _lost(r: Ranking) -> Vector:
    return r.swapped_pairs + (1 - r.conventions.pair_ties) * r.tied_pairs


def _ranking_error(r: Ranking, k: int | None = None) -> Vector:
    """Share of the pairs that are out of order (Airola et al. 2011, equation 1)."""
    value = r.conventions.no_pairs
    return _ratio(_lost(r), r.pairs, None if value is None else 1 - value)


def _lost_of_all(r: Ranking) -> tuple[Vector, Vector]:
    return _lost(r), r.pairs


def _zero_one_error(r: Ranking, k: int | None) -> Vector:
    """1 if a pair is out of order."""
    error = _ranking_error(r)
    rounding = 1e-12  # of sums of weights
    return np.where(np.isnan(error), error, error > rounding)


def _concordance(r: Ranking) -> Vector:
    """Weight of the pairs in order, less that of the pairs out of order."""
    return r.pairs - 2 * r.swapped_pairs - r.tied_pairs


def _all_pairs(weights: Vector, squares: Vector) -> Vector:
    """Weight of all pairs of documents, from the sums of their weights and squared weights."""
    return np.maximum(weights**2 - squares, 0) / 2


def _kendall_tau_a(r: Ranking, k: int | None) -> Vector:
    """(concordant - discordant) / all pairs (Kendall 1938)."""
    return _ratio(_concordance(r), _all_pairs(r.total(r.weight), r.total(r.weight**2)), None)


def _kendall_tau(r: Ranking, k: int | None) -> Vector:
    """Tau-b: (concordant - discordant) / sqrt(pairs untied in y * pairs untied in s).

    0 where all scores are equal (Kendall 1945).
    """
    squares = np.zeros(len(r.order))
    squares[r.score_blocks] = np.add.reduceat(r.weight, r.score_blocks) ** 2
    untied = _all_pairs(r.total(r.weight), r.total(squares))
    tau = _ratio(_concordance(r), np.sqrt(r.pairs) * np.sqrt(untied), 0.0)
    return np.where(r.pairs > 0, np.clip(tau, -1, 1), np.nan)


def _auc(r: Ranking, k: int | None) -> Vector:
    """Share of the pairs of a relevant and an irrelevant document that are in order."""
    return _ratio(*r.relevant_pairs, None)


# Ranks


def _unless_empty(r: Ranking, values: Vector, empty: NDArray[np.bool_]) -> Vector:
    """Leave out queries without relevant documents, if the conventions do."""
    return np.where(empty, np.nan, values) if r.conventions.empty is None else values


def _ndcg(r: Ranking, k: int | None) -> Vector:
    """DCG@k = sum of gain * discount over the first k ranks, divided by that of the best order."""
    ideal = r.total(r.ideal_gains * r.discounts, k)
    values = _ratio(r.total(r.averaged(r.gains) * r.discounts, k), ideal, r.conventions.empty)
    if k is not None and r.conventions.short_queries == "zero":
        values[(r.sizes < k) & (ideal > 0)] = 0
    return values


def _mean_ndcg(r: Ranking, k: int | None) -> Vector:
    """Mean of nDCG@1, nDCG@2, ... nDCG@n, of a query of n documents."""
    ideal = r.ideal_gains * r.discounts
    largest = np.repeat(np.maximum(ideal[r.starts], np.finfo(float).tiny), r.sizes)
    best = r.running_total(ideal / largest)
    reached = r.running_total(r.averaged(r.gains) * r.discounts / largest)
    each = np.divide(reached, best, out=np.zeros_like(best), where=best > 0)
    return _ratio(r.total(each), np.where(ideal[r.starts] > 0, r.sizes, 0.0), r.conventions.empty)


def _precision_at_relevant(r: Ranking) -> Vector:
    """Return the precision at each place that is relevant, else 0; the mean over ties."""
    hits = r.hits
    if not r.has_blocks:
        precision: Vector = r.relevant * hits / r.rank
        return precision
    in_block = r.block_total(r.relevant)
    if r.conventions.ties == "threshold":
        ends = r.block_starts + r.block_sizes - 1
        behind: Vector = r.relevant * r.per_place(hits[ends] / r.rank[ends])
        return behind
    # A place of the block is relevant with probability in_block / size, and then the places before
    # it hold the others evenly (McSherry and Najork 2008).
    before = (hits - r.relevant)[r.block_starts]
    nth = np.arange(len(hits)) - r.per_place(r.block_starts)
    others = (in_block - 1) / np.maximum(r.block_sizes - 1, 1)
    expected = r.per_place(before + 1) + nth * r.per_place(others)
    mean: Vector = r.per_place(in_block / r.block_sizes) * expected / r.rank
    return mean


def _average_precision(r: Ranking, k: int | None) -> Vector:
    """Mean over the relevant documents of the precision at their ranks; 0 beyond rank k."""
    divisor = r.n_relevant
    if k is not None and r.conventions.map_divisor == "possible":
        divisor = np.minimum(divisor, k)
    return _ratio(r.total(_precision_at_relevant(r), k), divisor, r.conventions.empty)


def _precision(r: Ranking, k: int | None) -> Vector:
    """Share of the first k ranks that hold relevant documents."""
    assert k is not None
    depth = np.minimum(k, r.sizes) if r.conventions.short_queries == "cut" else k
    return _unless_empty(r, r.total(r.averaged(r.relevant), k) / depth, r.n_relevant == 0)


def _recall(r: Ranking, k: int | None) -> Vector:
    """Share of the relevant documents in the first k ranks."""
    return _ratio(r.total(r.averaged(r.relevant), k), r.n_relevant, r.conventions.empty)


def _reciprocal_rank(r: Ranking, k: int | None) -> Vector:
    """1 / rank of the first relevant document; 0 beyond rank k."""
    reached = (r.hits == r.relevant).astype(np.float64)
    return _unless_empty(r, _cascade(r, r.relevant, reached, k), r.n_relevant == 0)


def _expected_reciprocal_rank(r: Ranking, k: int | None) -> Vector:
    """Mean of 1 / rank at which a reader stops (Chapelle et al. 2009, equation 4).

    The sum over ranks i <= k of ``1 / i * R_i * product over j < i of (1 - R_j)``.
    """
    top = r.conventions.max_label
    r.require_gains("ERR", top)
    stops = (np.exp2(r.labels) - 1) / np.exp2(top)
    log_survival = np.log1p(-stops)
    reached = np.exp(r.running_total(log_survival) - log_survival)
    return _unless_empty(r, _cascade(r, stops, reached, k), r.total(stops) == 0)


def _cascade(r: Ranking, stops: Vector, reached: Vector, k: int | None) -> Vector:
    """Mean of 1 / rank at which a reader stops, who stops at a place with probability `stops`.

    reached : ndarray of shape (n_samples,)
        The probability to reach each place.
    """
    ends = stops * reached
    if r.has_blocks:
        least = np.minimum.reduceat(stops, r.block_starts)
        mixed = least < np.maximum.reduceat(stops, r.block_starts)
        depth = len(stops) if k is None else k
        mixed &= (reached[r.block_starts] > 0) & (r.rank[r.block_starts] <= depth)
        begins, sizes = r.block_starts[mixed], r.block_sizes[mixed]
        for size in np.unique(sizes):
            places = begins[sizes == size, np.newaxis] + np.arange(size)
            ends[places] = reached[places[:, :1]] * expected_stops(stops[places], depth)
    return r.total(ends / r.rank, k)


def expected_stops(stops: Vector, depth: int) -> Vector:
    """Probability to stop at each of the first places, in a random order of the documents.

    With q = 1 - stops, the first j of n documents are passed with probability
    ``m_j = e_j(q) / binomial(n, j)``, where e_j is the elementary symmetric polynomial.

    Parameters
    ----------
    stops : ndarray of shape (n_blocks, n)
        The probability to stop at each document of some blocks.
    depth : int
        Further places are left at 0, and so are those that are reached with probability below
        1e-18.

    Returns
    -------
    ndarray of shape (n_blocks, n)
    """
    n, survival = stops.shape[1], 1 - np.sort(stops, axis=1)
    # m_j <= mean(q)^j, by Maclaurin's inequality.
    mean = np.clip(survival.mean(axis=1).max(), 1e-18, 1 - 1e-15)
    depth = min(depth, n, int(np.log(1e-18) / np.log(mean)) + 1)
    # passed holds m_0, m_1 ... of the first documents alone: 1 as long as none of them stops. A
    # further document is among the first j of `count` with probability j / count.
    passed = np.ones((len(stops), depth + 1))
    j = np.arange(1.0, depth + 1)
    n_never = int(np.count_nonzero(survival == 1, axis=1).min())
    for count in range(n_never + 1, n + 1):
        last = min(depth, count)
        change = passed[:, :last] * survival[:, count - 1 : count]
        change -= passed[:, 1 : last + 1]
        change *= j[:last] / count
        passed[:, 1 : last + 1] += change
    result = np.zeros_like(stops)
    result[:, :depth] = passed[:, :-1] - passed[:, 1:]
    return result


MEASURES = {
    "pairwise_accuracy": Measure(lambda r, k: 1 - _ranking_error(r)),
    "pairwise_accuracy_pooled": Measure(
        lambda r, k: 1 - _ranking_error(r), pooled=Pooled(_lost_of_all, of_others=True)
    ),
    "ranking_error": Measure(_ranking_error, greater_is_better=False),
    "ranking_error_pooled": Measure(
        _ranking_error, greater_is_better=False, pooled=Pooled(_lost_of_all)
    ),
    "swapped_pairs": Measure(lambda r, k: _lost(r), greater_is_better=False),
    "zero_one_error": Measure(_zero_one_error, greater_is_better=False),
    "kendall_tau": Measure(_kendall_tau),
    "kendall_tau_a": Measure(_kendall_tau_a),
    "auc": Measure(_auc),
    "auc_pooled": Measure(_auc, pooled=Pooled(lambda r: r.relevant_pairs)),
    "ndcg": Measure(_ndcg, Depth.OPTIONAL),
    "mean_ndcg": Measure(_mean_ndcg),
    "map": Measure(_average_precision, Depth.OPTIONAL),
    "mrr": Measure(_reciprocal_rank, Depth.OPTIONAL),
    "err": Measure(_expected_reciprocal_rank, Depth.OPTIONAL),
    "p": Measure(_precision, Depth.ALWAYS),
    "recall": Measure(_recall, Depth.ALWAYS),
}
