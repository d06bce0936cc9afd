"""A sample of the rows: nearly the same objective, for a fraction of the work.

Where there are far more rows than features, some of these say nearly all about how the loss curves.
With ``N_q`` pairs in query q and ``n_q`` among its rows in the sample, the objective of the sample
is (:eq:`sample`)::

    P_S(w) = R(w) + c * sum over q of  N_q / (p_q n_q) * (loss of the pairs of q in the sample),

whose expectation is P, and whose Hessian is that of P but for a relative error of about the square
root of the number of features by that of rows. Its minimum is a start, and its Hessian makes the
steps from there: see `ranksvm.solvers.samples_first`. No certificate comes from a sample.

Each row of a query is drawn by chance, by a seed that is always the same; the likelier, the more of
its pairs curve the loss. Queries of less than 1,024 rows are drawn as a whole, likewise, with the
chance ``p_q``, which is 1 for others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import Pairs
from .costs import Costs
from .design_matrix import DesignMatrix
from .matrix import Matrix
from .parameters import Parameters

Indices = NDArray[np.int64]
Vector = NDArray[np.float64]

WHOLE, LONG_QUERY = 1 << 10, 1 << 13  # rows of a query that are drawn together, fewer than so many
LONG, SOME_LONG = 0.8, 0.2  # share of rows in long queries
LEAST_ROWS, ENOUGH_ROWS, MANY_ROWS = 2_000, 5_000, 20_000
ROWS_PER_FEATURE, LEAST_PER_FEATURE, MOST_PER_FEATURE = 50, 16, 100
ONE_OF, ONE_OF_MANY = 12, 50
TIGHT = 1e-4  # a gap
LARGEST_SHARE, FEW_NUMBERS = 0.2, 1 << 22  # of rows and stored values; or so many numbers
STEP_IN_PRODUCTS, LITTLE = 2.2, 0.38  # what a step on a sample costs at most, and on a larger one
PRODUCTS = 2  # of a corrected step
OF_FEW_ROWS, MOST_RARE = 16.0, 0.2  # rows that a column is of, as good as; how many such columns
WORK_OF_THREADS, FEATURES_OF_ROW = 1 << 24, 16  # multiplications; what a row costs for each feature
SEED, TINY = 20141, float(np.finfo(np.float64).tiny)


class Sample(NamedTuple):
    """Some rows, and their pairs, which weigh as much in each query as all of its pairs do.

    Attributes
    ----------
    X : Matrix
    pairs : Pairs
    n_rows : int
        About how many were to be drawn.
    """

    X: Matrix
    pairs: Pairs
    n_rows: int

    def threads(self, n_threads: int) -> int:
        """Return how many of so many threads are worth starting for a Hessian."""
        n, d = self.X.shape
        return n_threads if n * d * (d + FEATURES_OF_ROW) >= WORK_OF_THREADS else 1


def sample_size(
    X: Matrix, preferences: AnyPreferences, costs: Costs, parameters: Parameters
) -> int:
    """Say how many rows to draw for a sample; 0 if none pays.

    So many for each feature make a Hessian that conjugate gradients need but a few products with
    that of all rows to correct; more make a better start, where they cost little. A sample has to
    be a small part of the rows, and of the stored values, since it is dense, unless these are few
    numbers; a Newton step on it has to cost no more than few products with the Hessian of all, and
    of a loss without kinks, with such products, less than one by the exact Hessian. With kinks,
    steps are so many more, and those on the sample so much cheaper, that this hardly matters.

    Rows of short queries tell less. So most rows have to be of long ones where rows are sparse or
    passes dear; and with few long ones, the sample needs more rows for each feature, above all of a
    loss without kinks, whose exact steps are few, and for a tight gap, to which a sample leads only
    with many products. Of given pairs, a few rows would hardly have any.
    """
    n, d = X.shape
    if not isinstance(preferences, Preferences):
        return 0
    most_numbers = max(LARGEST_SHARE * X.n_stored, FEW_NUMBERS)
    of_queries = np.diff(preferences.groups.indptr)
    n_long = int(of_queries[of_queries >= LONG_QUERY].sum())
    kinks, per_feature = parameters.loss == "hinge", LEAST_PER_FEATURE
    if n_long < LONG * n:
        if costs.is_large or not costs.is_dense:
            return 0
        is_easy = (kinks and parameters.tol >= TIGHT) or n_long >= SOME_LONG * n
        per_feature = ROWS_PER_FEATURE if is_easy else MOST_PER_FEATURE
    of_rows, of_many = min(n // ONE_OF, MANY_ROWS), n // max(ONE_OF_MANY, d)
    least = max(LEAST_ROWS, min(of_rows, ENOUGH_ROWS))
    for n_rows, most in (
        (max(ROWS_PER_FEATURE * d, of_rows), LITTLE),
        (ROWS_PER_FEATURE * d, STEP_IN_PRODUCTS),
        (LEAST_PER_FEATURE * d, STEP_IN_PRODUCTS),
    ):
        size = max(least, n_rows, of_many)
        is_small = size <= LARGEST_SHARE * n and size * d <= most_numbers
        fits = is_small and size >= per_feature * d
        step = costs.of_rows(size).newton(1, kinks=False)
        corrected = step + PRODUCTS * costs.product + costs.evaluation
        pays = costs.is_large or kinks or corrected <= costs.newton(1, kinks=False)
        if fits and pays and step <= most * costs.product:
            return size
    return 0


def draw_sample(
    X: Matrix, pairs: Pairs, n_rows: int, activity: Vector | None = None
) -> Sample | None:
    """Draw about so many rows; None if none are, or where they are not on the host.

    Half of them are drawn alike, and half by how much of the curvature of the loss is theirs, since
    few rows have it where a few are better than all others, and near the optimum, where most pairs
    keep the margin. In the pairs of the sample, a row weighs the more the less likely it was drawn.

    Parameters
    ----------
    X : Matrix
    pairs : Pairs
        The preference pairs of all rows.
    n_rows : int
    activity : array of shape (n_samples,), optional
        The diagonal of the Hessian of the loss by the scores; by default the number of pairs of a
        row, which is that of the squared hinge at zero, weights aside.
    """
    if n_rows == 0 or not isinstance(pairs, CorePairs):
        return None
    everything = pairs.preferences
    activity = pairs_of_rows(pairs) if activity is None else activity
    places, indptr, chance, of_query = sampled_places(everything.groups, n_rows, activity)
    if len(places) == 0:  # as where activity is beyond floating point
        return None
    order = everything.groups.order
    rows = places if order is None else order[places].astype(np.int64)
    some = X.copied(rows)
    if some is None:
        return None
    is_drawn = np.diff(indptr) > 0
    first = indptr[:-1][is_drawn]
    groups = QueryGroups(np.append(first, len(rows)))
    preferences = replace(everything.rows(rows, groups), query_weight=None)
    if np.ptp(chance) > 0:
        own = preferences.sample_weight
        weight = 1 / chance if own is None else own / chance
        preferences = replace(preferences, sample_weight=weight)
    drawn = some.pairs(preferences, "auto", pairs.n_threads).pairs_per_query
    stands_for = pairs.pairs_per_query[is_drawn] / of_query[is_drawn]
    share = np.divide(stands_for, drawn, out=np.zeros_like(drawn), where=drawn > 0)
    scaled = replace(preferences, query_weight=share)
    return Sample(some, some.pairs(scaled, "auto", pairs.n_threads), n_rows)


def tells_of_all(X: Matrix) -> bool:
    """Say whether so many rows tell how all columns vary, most of them at least.

    One of a few rows alone, as of a rare word or category, may be of hardly any or of none in a
    sample. Of how many rows a column is, as good as, its moments tell: ``(sum x^2)^2 / sum x^4``.
    """
    assert isinstance(X, DesignMatrix)  # a copy on the host
    n, d = X.shape
    mean, one = X.t_dot(np.ones(n)) / n, np.ones(d)
    n_rare, width = 0, max(FEW_NUMBERS // n, 1)
    for first in range(0, d, width):
        columns = first, min(first + width, d)
        values = X.gather((0, n, None), columns, mean, one, np.float64)
        with np.errstate(all="ignore"):
            squares = (values / np.abs(values).max(axis=0)) ** 2
            n_rows = squares.sum(axis=0) ** 2 / (squares * squares).sum(axis=0)
        n_rare += int((n_rows < OF_FEW_ROWS).sum())
    return n_rare <= MOST_RARE * d


def pairs_of_rows(pairs: CorePairs) -> Vector:
    """Return of each row how many of its query have another label."""
    groups = pairs.groups
    sizes, ends = np.diff(groups.indptr), np.cumsum(pairs.n_levels, dtype=np.int64)
    level = pairs.ranks + np.repeat(ends - pairs.n_levels, sizes)
    others: Vector = np.repeat(sizes, sizes) - np.bincount(level)[level].astype(np.float64)
    if groups.order is None:
        return others
    by_row = np.empty_like(others)
    by_row[groups.order] = others
    return by_row


def sampled_places(
    groups: QueryGroups, n_rows: int, activity: Vector
) -> tuple[Indices, Indices, Vector, Vector]:
    """Return the places of a sample in ascending order, where in it each query begins, and chances.

    These are how likely each of the places was drawn, and each query, if as a whole; others are 1.
    """
    sizes = np.diff(groups.indptr)
    active = activity if groups.order is None else activity[groups.order]
    of_active = active / max(float(active.sum()), TINY)
    chance = np.minimum(0.5 * n_rows * (of_active + 1 / max(len(active), 1)), 1.0)
    # The raw numbers of the generator stay what they are in every version of NumPy.
    random = np.random.PCG64(SEED).random_raw(len(chance)) * 2.0**-64
    of_query, is_short = np.ones(len(sizes)), sizes < WHOLE
    if is_short.any():
        query = np.repeat(np.arange(len(sizes)), sizes)
        of_rows = np.bincount(query, chance, len(sizes))
        np.divide(of_rows, sizes, out=of_query, where=is_short & (sizes > 0))
        chance = np.where(is_short[query], of_query[query], chance)
        random = np.where(is_short[query], random[groups.indptr[query]], random)
    places = np.flatnonzero(random < chance)
    return places, np.searchsorted(places, groups.indptr), chance[places], of_query
