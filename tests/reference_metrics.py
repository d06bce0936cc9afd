"""The slow truth of the metrics: every pair, and every order that ties allow."""

import itertools
from dataclasses import replace
from math import fsum, log2

import numpy as np

from reference import query_index, row_weights


def evaluate(y, scores, qid, name, conventions, *, docids=None, sample_weight=None):
    """Values of a metric by query, in order of first appearance, and their mean."""
    y, scores = np.asarray(y, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    weight, query = row_weights(sample_weight, len(y)), query_index(qid, len(y))
    base, _, depth = name.partition("@")
    parts = []
    for q in range(query.max() + 1):
        rows = np.flatnonzero(query == q)
        if base in METRICS_OF_PAIRS:
            parts.append(METRICS_OF_PAIRS[base](y[rows], scores[rows], weight[rows], conventions))
        else:
            k = int(depth) if depth else None
            value = metric_of_ranks(base, y[rows], scores[rows], k, conventions, docids, rows)
            parts.append((value, 1.0))
    values = [a / b if b else np.nan for a, b in parts]
    if base.endswith("_pooled"):
        if conventions.no_pairs is not None:
            pairs_alone = replace(conventions, no_pairs=None)
            mean = evaluate(y, scores, qid, name, pairs_alone, sample_weight=sample_weight)[1]
            return values, mean
        total = fsum(b for _, b in parts)
        return values, fsum(a for a, _ in parts) / total if total else np.nan
    defined = [value for value in values if not np.isnan(value)]
    return values, fsum(defined) / len(defined) if defined else np.nan


def counted_pairs(better, worse, scores, weight, ties):
    """Weight of the pairs (i, j) that count as right, and of all."""
    v = weight[better] * weight[worse]
    z = scores[better] > scores[worse]
    tied = scores[better] == scores[worse]
    return fsum(v * np.where(tied, ties, z)), fsum(v)


def pairs_right(y, scores, weight, conventions):
    right, total = counted_pairs(*np.nonzero(y[:, None] > y), scores, weight, conventions.pair_ties)
    if not total and conventions.no_pairs is not None:
        return conventions.no_pairs, 1.0
    return right, total


def pairs_wrong(y, scores, weight, conventions):
    right, total = pairs_right(y, scores, weight, conventions)
    return total - right, total


def swapped_pairs(y, scores, weight, conventions):
    pairs = np.nonzero(y[:, None] > y)
    right, total = counted_pairs(*pairs, scores, weight, conventions.pair_ties)
    return total - right, 1.0


def zero_one_error(y, scores, weight, conventions):
    wrong, total = pairs_wrong(y, scores, weight, conventions)
    return float(wrong > 1e-12 * total), float(total > 0)


def auc(y, scores, weight, conventions):
    relevant = y >= conventions.threshold
    return counted_pairs(*np.nonzero(relevant[:, None] & ~relevant), scores, weight, 0.5)


def kendall_tau(y, scores, weight, conventions, variant="b"):
    i, j = np.triu_indices(len(y), 1)
    v = weight[i] * weight[j]
    agreement = fsum(v * np.sign(y[i] - y[j]) * np.sign(scores[i] - scores[j]))
    if variant == "a":
        return agreement, fsum(v)
    in_y, in_scores = fsum(v * (y[i] != y[j])), fsum(v * (scores[i] != scores[j]))
    if in_y and not in_scores:
        return 0.0, 1.0
    return agreement, np.sqrt(in_y) * np.sqrt(in_scores)


def kendall_tau_a(y, scores, weight, conventions):
    return kendall_tau(y, scores, weight, conventions, "a")


METRICS_OF_PAIRS = {
    "pairwise_accuracy": pairs_right,
    "pairwise_accuracy_pooled": pairs_right,
    "ranking_error": pairs_wrong,
    "ranking_error_pooled": pairs_wrong,
    "swapped_pairs": swapped_pairs,
    "zero_one_error": zero_one_error,
    "auc": auc,
    "auc_pooled": auc,
    "kendall_tau": kendall_tau,
    "kendall_tau_a": kendall_tau_a,
}


def metric_of_ranks(base, y, scores, k, c, docids, rows):
    """One query: the mean over every order of the documents that the ties allow."""
    relevant = y >= c.threshold
    by_gain = base in ("ndcg", "mean_ndcg", "err")
    if not (y > 0 if by_gain else relevant).any() and (
        c.empty is None or base not in ("mrr", "err", "p")
    ):
        return np.nan if c.empty is None else c.empty
    if base == "map" and c.ties == "threshold":
        return fsum(relevant[scores >= s].mean() for s in scores[relevant]) / relevant.sum()
    measure = {
        "ndcg": ndcg,
        "mean_ndcg": mean_ndcg,
        "map": average_precision,
        "mrr": reciprocal_rank,
        "err": expected_reciprocal_rank,
        "p": precision,
        "recall": recall,
    }[base]
    values = [measure(y[order], k, c) for order in orders(y, scores, c, docids, rows)]
    return fsum(values) / len(values)


def orders(y, scores, c, docids, rows):
    n = range(len(y))
    if c.ties == "order":
        return [sorted(n, key=lambda i: (-scores[i], i))]
    if c.ties == "pessimistic":
        return [sorted(n, key=lambda i: (-scores[i], y[i]))]
    if c.ties == "docid":
        return [sorted(n, key=lambda i: (scores[i], docids[rows[i]]), reverse=True)]
    blocks = [np.flatnonzero(scores == s).tolist() for s in sorted(set(scores), reverse=True)]
    choices = itertools.product(*(itertools.permutations(block) for block in blocks))
    return [list(itertools.chain(*choice)) for choice in choices]


def dcg(y, k, c):
    total = 0.0
    for rank, label in enumerate(y[:k], 1):
        discount = log2(1 + rank) if c.discount == "log2" else max(1, log2(rank))
        total += (label if c.gain == "linear" else 2.0**label - 1) / discount
    return total


def ndcg(y, k, c):
    if k is not None and len(y) < k and c.short_queries == "zero":
        return 0.0
    return dcg(y, k, c) / dcg(sorted(y, reverse=True), k, c)


def mean_ndcg(y, k, c):
    return fsum(ndcg(y, depth, c) for depth in range(1, len(y) + 1)) / len(y)


def average_precision(y, k, c):
    relevant = y >= c.threshold
    terms = [relevant[: i + 1].mean() for i in range(len(y[:k])) if relevant[i]]
    n = relevant.sum()
    return fsum(terms) / (min(n, k) if k and c.map_divisor == "possible" else n)


def reciprocal_rank(y, k, c):
    return next((1 / rank for rank, label in enumerate(y[:k], 1) if label >= c.threshold), 0.0)


def expected_reciprocal_rank(y, k, c):
    total, reached = 0.0, 1.0
    for rank, label in enumerate(y[:k], 1):
        stops = (2.0**label - 1) / 2.0**c.max_label
        total += reached * stops / rank
        reached *= 1 - stops
    return total


def precision(y, k, c):
    depth = min(k, len(y)) if c.short_queries == "cut" else k
    return (y[:k] >= c.threshold).sum() / depth


def recall(y, k, c):
    relevant = y >= c.threshold
    return relevant[:k].sum() / relevant.sum()


def randomization_test(a, b):
    """The exact two-sided p-value, by all choices of signs."""
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    observed = abs(fsum(d)) - 1e-12 * fsum(np.abs(d))
    signs = itertools.product([-1, 1], repeat=len(d))
    return np.mean([abs(fsum(d * np.array(s))) >= observed for s in signs])
