"""The slow truth: every preference pair written out, for up to about 60 rows.

Differences of scores and of rows are taken before anything is summed, and sums that matter are
`math.fsum`, so that these values are right to rounding wherever the scores lie.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum

import numpy as np


@dataclass(frozen=True)
class Pairs:
    """Row `better[p]` is preferred to row `worse[p]`, in query `query[p]`."""

    n_samples: int
    better: np.ndarray
    worse: np.ndarray
    query: np.ndarray
    weight: np.ndarray


def query_index(qid, n_samples):
    """Query number of each row, in order of first appearance."""
    if qid is None:
        return np.zeros(n_samples, dtype=np.int64)
    number = {}
    return np.array([number.setdefault(q, len(number)) for q in qid], dtype=np.int64)


def row_weights(weight, n_samples):
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def enumerate_pairs(
    y,
    qid=None,
    sample_weight=None,
    query_weight=None,
    pair_weight=None,
    better_weight=None,
    worse_weight=None,
):
    """All pairs (i, j) with qid_i = qid_j and y_i > y_j; weights are given row by row."""
    y, n = np.asarray(y), len(y)
    query = query_index(qid, n)
    better, worse = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    of_row, of_query = row_weights(sample_weight, n), row_weights(query_weight, n)
    weight = of_query[better] * of_row[better] * of_row[worse]
    weight = weight * row_weights(better_weight, n)[better] * row_weights(worse_weight, n)[worse]
    if pair_weight == "gap":
        weight = weight * (y[better] - y[worse])
    return Pairs(n, better, worse, query[better], weight)


def reduced_pairs(y, qid=None):
    """(better, worse) of the reduced graph: level by level, by way of the first row of each."""
    y, found = np.asarray(y), []
    query = query_index(qid, len(y))
    for q in np.unique(query):
        levels = [np.flatnonzero((query == q) & (y == label)) for label in np.unique(y[query == q])]
        for lower, upper in pairwise(levels):
            found += [(i, lower[0]) for i in upper] + [(upper[0], j) for j in lower[1:]]
    return found


def normalize_pairs(pairs, C, normalize, sample_weight=None, query_weight=None, **_of_pairs):
    """The pairs with c, as `C` and `normalize` give it, multiplied into their weights.

    Gaps and roles are in the weights of the pairs already.
    """
    of_query = row_weights(query_weight, pairs.n_samples)
    if normalize == "documents":
        n = fsum(row_weights(sample_weight, pairs.n_samples) * of_query)
        c = C * n / fsum(pairs.weight)
    elif normalize == "pairs":
        c = C / fsum(pairs.weight)
    elif normalize == "queries":
        c = C * per_query_share(pairs, of_query)
    else:
        c = C
    return replace(pairs, weight=c * pairs.weight)


def per_query_share(pairs, of_query):
    """1 / (R N_q) for each pair; a query of weight k stands for k equal queries."""
    share = np.zeros(len(pairs.weight))
    repeats = []
    for q in np.unique(pairs.query):
        members = pairs.query == q
        total = fsum(pairs.weight[members])
        if total > 0:
            repeats.append(of_query[pairs.better[members][0]])
            share[members] = repeats[-1] / total
    return share / fsum(repeats)


def slack(pairs, scores, margin=1.0):
    """Violation of each pair: margin - (s_i - s_j), 0 where the pair is not active."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.maximum(0.0, margin - (scores[pairs.better] - scores[pairs.worse]))


def hinge(pairs, scores, margin=1.0):
    return fsum(pairs.weight * slack(pairs, scores, margin))


def squared_hinge(pairs, scores, margin=1.0):
    return fsum(pairs.weight * slack(pairs, scores, margin) ** 2)


def hinge_gradient(pairs, scores, margin=1.0):
    return to_rows(pairs, -pairs.weight * (slack(pairs, scores, margin) > 0))


def squared_hinge_gradient(pairs, scores, margin=1.0):
    return to_rows(pairs, -2 * pairs.weight * slack(pairs, scores, margin))


def smoothed_slopes(pairs, scores, width, margin=1.0):
    """alpha of each pair: how steeply the smoothed hinge falls."""
    return np.minimum(slack(pairs, scores, margin) / width, 1.0)


def smoothed_hinge(pairs, scores, width, margin=1.0):
    violation = slack(pairs, scores, margin)
    rounded = np.where(violation < width, violation**2 / (2 * width), violation - width / 2)
    return fsum(pairs.weight * rounded)


def smoothed_hinge_gradient(pairs, scores, width, margin=1.0):
    return to_rows(pairs, -pairs.weight * smoothed_slopes(pairs, scores, width, margin))


def smoothing(pairs, scores, width, margin=1.0):
    """By how much those slopes fail to be subgradients of the hinge."""
    violation = slack(pairs, scores, margin)
    return fsum(pairs.weight * violation * (1 - smoothed_slopes(pairs, scores, width, margin)))


def to_rows(pairs, derivative):
    """Derivatives in s_i - s_j, one per pair, summed to derivatives in the scores."""
    terms = [[] for _ in range(pairs.n_samples)]
    for i, j, value in zip(pairs.better, pairs.worse, derivative, strict=True):
        terms[i].append(value)
        terms[j].append(-value)
    return np.array([fsum(row) for row in terms])


def laplacian(pairs, scores, margin=1.0):
    """Graph Laplacian of the active pairs, (n, n)."""
    return graph_laplacian(pairs, pairs.weight * (slack(pairs, scores, margin) > 0))


def smoothed_laplacian(pairs, scores, width, margin=1.0):
    """Graph Laplacian of the pairs that curve the smoothed hinge, (n, n)."""
    z = scores[pairs.better] - scores[pairs.worse]
    return graph_laplacian(pairs, pairs.weight * ((margin - width <= z) & (z < margin)))


def graph_laplacian(pairs, weight):
    M = np.zeros((pairs.n_samples, pairs.n_samples))
    np.add.at(M, (pairs.better, pairs.worse), -weight)
    M += M.T
    np.fill_diagonal(M, -M.sum(axis=1))
    return M


def differences(pairs, X):
    """x_i - x_j, one row per pair."""
    X = np.asarray(X, dtype=np.float64)
    return X[pairs.better] - X[pairs.worse]


def objective(pairs, X, w):
    """P(w) = 0.5 |w|^2 + sum of weight * max(0, 1 - (x_i - x_j)'w)^2."""
    violation = np.maximum(0.0, 1 - differences(pairs, X) @ w)
    return 0.5 * fsum(w * w) + fsum(pairs.weight * violation**2)


def objective_gradient(pairs, X, w):
    Z = differences(pairs, X)
    return w - 2 * (pairs.weight * np.maximum(0.0, 1 - Z @ w)) @ Z


def objective_hessian(pairs, X, w):
    Z = differences(pairs, X)
    return np.eye(len(w)) + 2 * (Z.T * (pairs.weight * (Z @ w < 1))) @ Z


def dual_bound(pairs, X, w):
    """Bound min P from below by the best multiple of alpha = 2 weight max(0, 1 - z'w).

    D(t) = t sum(alpha) - t^2 (sum(alpha^2 / (4 weight)) + 0.5 |Z' alpha|^2).
    """
    Z = differences(pairs, X)
    violation = np.maximum(0.0, 1 - Z @ w)
    alpha = 2 * pairs.weight * violation
    quadratic = fsum(pairs.weight * violation**2) + 0.5 * fsum((alpha @ Z) ** 2)
    return fsum(alpha) / (4 * quadratic) * fsum(alpha) if quadratic > 0 else 0.0


def minimize_squared_hinge(pairs, X):
    """The minimiser of `objective`, certified by `dual_bound` to 12 digits."""
    w = np.zeros(np.shape(X)[1])
    for _ in range(100):
        step = np.linalg.solve(objective_hessian(pairs, X, w), -objective_gradient(pairs, X, w))
        value, t = objective(pairs, X, w), 1.0
        while objective(pairs, X, w + t * step) > value and t > 1e-12:
            t /= 2
        w = w + t * step
        value = objective(pairs, X, w)
        if value - dual_bound(pairs, X, w) <= 1e-12 * value:
            return w
    raise AssertionError("the reference did not reach its optimum")


def hinge_objective(pairs, X, w):
    """P(w) = 0.5 |w|^2 + sum of weight * max(0, 1 - (x_i - x_j)'w)."""
    return 0.5 * fsum(w * w) + fsum(pairs.weight * np.maximum(0.0, 1 - differences(pairs, X) @ w))


def minimize_hinge(pairs, X):
    """The minimiser of `hinge_objective`, certified by the dual to 11 digits.

    Interior points of the dual over pairs, ``max sum(alpha) - 0.5 |Z'alpha|^2`` for
    ``0 <= alpha <= weight``, and of the primal with ``Z w >= 1 - above + below``.
    """
    Z = differences(pairs, X)[pairs.weight > 0]
    limit = pairs.weight[pairs.weight > 0]
    w = np.zeros(Z.shape[1])
    alpha, room, above, below = limit / 2, limit / 2, np.ones(len(Z)), np.ones(len(Z))
    for _ in range(100):
        value = hinge_objective(pairs, X, w)
        if value - (fsum(alpha) - 0.5 * fsum((alpha @ Z) ** 2)) <= 1e-11 * value:
            return w
        centre = 0.1 * (alpha @ above + room @ below) / (2 * len(Z))
        curvature = 1 / (above / alpha + below / room)
        residual = 1 - Z @ w + centre / alpha - centre / room
        root = np.sqrt(curvature)
        Q, R = np.linalg.qr(np.r_[root[:, np.newaxis] * Z, np.eye(len(w))])
        dw = np.linalg.solve(R, np.r_[root * residual, alpha @ Z - w] @ Q)
        d_alpha = curvature * (residual - Z @ dw)
        d_above = (centre - above * d_alpha) / alpha - above
        d_below = (centre + below * d_alpha) / room - below
        kept, lost = np.r_[alpha, room, above, below], -np.r_[d_alpha, -d_alpha, d_above, d_below]
        step = 0.99 / np.max(lost / kept, initial=0.99)
        w, alpha, room = w + step * dw, alpha + step * d_alpha, room - step * d_alpha
        above, below = above + step * d_above, below + step * d_below
    raise AssertionError("the reference did not reach its optimum")


def kernel_features(K):
    """Rows whose inner products are those of the kernel matrix K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def optimality_violation(pairs, scores, alpha):
    """How far f = scores is from f_p = 1, or on the wrong side of it, for the multipliers alpha."""
    z = scores[pairs.better] - scores[pairs.worse]
    wrong = np.where(alpha <= 0, 1 - z, np.where(alpha >= 1, z - 1, np.abs(1 - z)))
    return np.max(wrong, initial=0)


def pairwise_accuracy(y, scores, qid=None, *, average="pooled", ties=0.5, sample_weight=None):
    """Weighted share of the pairs whose scores agree with their labels."""
    pairs = enumerate_pairs(y, qid, sample_weight)
    scores = np.asarray(scores)
    better, worse = scores[pairs.better], scores[pairs.worse]
    credit = np.where(better > worse, 1.0, np.where(better == worse, ties, 0.0))

    def share(members):
        return fsum((pairs.weight * credit)[members]) / fsum(pairs.weight[members])

    if average == "pooled":
        return share(slice(None))
    queries = [pairs.query == q for q in np.unique(pairs.query)]
    shares = [share(members) for members in queries if fsum(pairs.weight[members]) > 0]
    return fsum(shares) / len(shares)


def comparable_pairs(event, time, qid=None):
    """(i, j) with an event of i, and that of j later: unknown, if it is censored by then."""
    query = query_index(qid, len(time))
    return [
        (i, j)
        for i in range(len(time))
        for j in range(len(time))
        if query[i] == query[j]
        and event[i]
        and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
    ]


def uncensored(event, time, limit, *, also_then, weight=None):
    """The estimated probability not to be censored before a time, or by then."""
    weight, left = row_weights(weight, len(time)), 1.0
    for t in sorted(set(time)):
        if t < limit or (also_then and t == limit):
            here = time == t
            censored = fsum(weight[here & ~event])
            # Events come before the censorings of the same time.
            at_risk = fsum(weight[time > t]) + censored
            left *= 1 - censored / at_risk if censored else 1
    return left


def concordance_index(event, time, risk, *, weight=None, qid=None, tied_tol=1e-8):
    """Weighted share of the comparable pairs with the greater risk for who has the event."""
    pairs, weight = comparable_pairs(event, time, qid), row_weights(weight, len(time))
    credit = {
        (i, j): 0.5 if abs(risk[i] - risk[j]) <= tied_tol else float(risk[i] > risk[j])
        for i, j in pairs
    }
    return fsum(weight[i] * credit[i, j] for i, j in pairs) / fsum(weight[i] for i, _ in pairs)


def given_pairs(pairs, n_samples, weights=None):
    """Pairs that are given one by one; margins are the `margin` of the functions above."""
    better, worse = np.asarray(pairs).T
    weight = np.ones(len(better)) if weights is None else np.asarray(weights, dtype=np.float64)
    return Pairs(n_samples, better, worse, np.zeros(len(better), dtype=int), weight)


def gains(y, kind="exponential"):
    return np.asarray(y, dtype=np.float64) if kind == "linear" else 2.0 ** np.asarray(y) - 1


def discount(rank, top):
    """That of a rank, which is counted from 1."""
    return 1 / np.log2(1 + rank) if rank <= top else 0.0


def largest_dcg(gain, top):
    return fsum(g * discount(r, top) for r, g in enumerate(sorted(gain, reverse=True), start=1))


def ranks(y, scores, qid=None):
    """The rank of each row in its query; of equal scores the less relevant comes first."""
    query = query_index(qid, len(y))
    key = [(query[i], -scores[i], y[i], i) for i in range(len(y))]
    order = sorted(range(len(y)), key=key.__getitem__)
    rank = np.zeros(len(y), dtype=int)
    for place, i in enumerate(order):
        rank[i] = place + 1 - sum(query < query[i])
    return rank


def top_pairs(y, scores, qid=None, kind="exponential", top=30, by_rank=True, **weights):
    """Pairs that weigh what an exchange changes of nDCG at these ranks, or the gap of gains."""
    pairs, gain, rank = enumerate_pairs(y, qid, **weights), gains(y, kind), ranks(y, scores, qid)
    query = query_index(qid, len(y))
    factor = np.zeros(len(pairs.weight))
    for p, (i, j) in enumerate(zip(pairs.better, pairs.worse, strict=True)):
        largest = largest_dcg(gain[query == query[i]], top)
        change = abs(discount(rank[i], top) - discount(rank[j], top)) if by_rank else 1
        factor[p] = (gain[i] - gain[j]) * change / largest if largest > 0 else 0
    return replace(pairs, weight=factor * pairs.weight)
