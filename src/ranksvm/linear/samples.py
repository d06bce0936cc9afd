"""A sample of the rows of long queries: nearly the same objective, for a fraction of the work.

Where a query has far more rows than there are features, some of these say nearly all about how its
loss curves. With ``N_q`` pairs in query q and ``n_q`` among its rows in the sample, the objective
of the sample is (:eq:`sample`)::

    P_S(w) = R(w) + c * sum over q of  N_q / n_q * (loss of the pairs of q in the sample),

whose expectation is P, and whose Hessian is that of P but for a relative error of about the square
root of the number of features by that of rows. Its minimum is a start, and its Hessian makes the
steps from there: see `ranksvm.solvers.newton`. No certificate comes from a sample.

Rows are drawn one from each of as many equal stretches of a query, so that they stand for it in
whatever order it comes, and depend on its length alone. Short queries are in the sample as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import Pairs
from .matrix import Matrix

Indices = NDArray[np.int64]

LONG_QUERY = 1 << 13  # rows
LEAST_ROWS, ROWS_PER_FEATURE = 20_000, 1000
ONE_OF, ONE_OF_FEWER = 50, 25  # rows, of a sample and of one with a sample of its own
MOST_LEAST = 10  # times the least sample: what the latter has at most for that
LARGEST_SHARE, NUMBERS_PER_ROW = 0.125, 2  # in shares and rows of all data
SEED = 20141


class Sample(NamedTuple):
    """Some rows, and their pairs, which weigh as much in each query as all of its pairs do.

    A large one may have a sample of its own.
    """

    X: Matrix
    pairs: Pairs
    sample: Sample | None = None


def sample_sizes(X: Matrix, preferences: AnyPreferences) -> tuple[int, ...]:
    """Say how many rows of long queries to draw for a sample, and for a sample of that, if it pays.

    The Hessian of so many rows for each feature is right to a few hundredths, and steps by it bring
    the gap down a thousandfold. A sample has to be a small part of the rows, those of short queries
    included, and of the stored values, since it is dense; and to take but little memory. Of given
    pairs, a few rows would hardly have any. One whose queries are long enough to be sampled again
    costs less, so that it may be larger.
    """
    n, d = X.shape
    if not isinstance(preferences, Preferences):
        return ()
    of_queries = np.diff(preferences.groups.indptr)
    of_queries = of_queries[of_queries >= LONG_QUERY]
    n_long = int(of_queries.sum())
    n_short = n - n_long
    least = max(LEAST_ROWS, ROWS_PER_FEATURE * d)
    sizes: tuple[int, ...] = (max(least, n_long // max(ONE_OF, d)),)
    larger = max(sizes[0], min(n_long // ONE_OF_FEWER, MOST_LEAST * least))
    is_large = least + n_short <= LARGEST_SHARE * (larger + n_short)
    if is_large and larger * of_queries.min() >= LONG_QUERY * n_long:
        sizes = (larger, least)
    n_copied = sizes[0] + n_short
    most_numbers = min(LARGEST_SHARE * X.n_stored, NUMBERS_PER_ROW * n)
    pays = n_copied <= LARGEST_SHARE * n and n_copied * d <= most_numbers
    return sizes if pays else ()


def draw_sample(X: Matrix, pairs: Pairs, sizes: Sequence[int]) -> Sample | None:
    """Draw about so many rows of long queries; None of no sizes, or where they cannot be copied.

    Parameters
    ----------
    X : Matrix
    pairs : Pairs
        The preference pairs of all rows.
    sizes : sequence of int
        Rows of the sample, of the sample of that, and so on.
    """
    if not sizes:
        return None
    n_rows, *smaller = sizes
    everything = pairs.preferences
    assert isinstance(everything, Preferences)
    places, indptr = sampled_places(everything.groups, n_rows)
    order = everything.groups.order
    rows = places if order is None else order[places].astype(np.int64)
    some = X.copied(rows)
    if some is None:
        return None
    preferences = replace(everything.rows(rows, QueryGroups(indptr)), query_weight=None)
    drawn = some.pairs(preferences, "auto", pairs.n_threads).pairs_per_query
    share = np.divide(pairs.pairs_per_query, drawn, out=np.zeros_like(drawn), where=drawn > 0)
    scaled = replace(preferences, query_weight=share)
    scaled_pairs = some.pairs(scaled, "auto", pairs.n_threads)
    return Sample(some, scaled_pairs, draw_sample(some, scaled_pairs, smaller))


def sampled_places(groups: QueryGroups, n_rows: int) -> tuple[Indices, Indices]:
    """Return the places of a sample in ascending order, and where in it each query begins."""
    sizes = np.diff(groups.indptr)
    is_long = sizes >= LONG_QUERY
    share = min(n_rows / max(int(sizes[is_long].sum()), 1), 1.0)
    drawn = np.where(is_long, np.maximum(np.rint(share * sizes), 2), sizes).astype(np.int64)
    parts = [
        start + (_one_of_each_stretch(size, n) if n < size else np.arange(size))
        for start, size, n in zip(groups.indptr[:-1], sizes, drawn, strict=True)
    ]
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(drawn)])


def _one_of_each_stretch(size: int, n: int) -> Indices:
    """Cut ``range(size)`` into n stretches, and return a random number of each."""
    edges = np.arange(n + 1, dtype=np.int64) * size // n
    # The raw numbers of the generator stay what they are in every version of NumPy.
    random = np.random.PCG64(SEED).random_raw(n) >> np.uint64(32)
    offset: Indices = (random * np.diff(edges).astype(np.uint64) >> np.uint64(32)).astype(np.int64)
    return edges[:-1] + offset
