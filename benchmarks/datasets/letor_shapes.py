"""
Made data of the shapes of the six LETOR sets of Jin and Lin (2014), Table 1.

The table prints two levels for MQ2007 and MSLR-WEB10K, which are kept here, though these sets are
published with three and five. The "-list" sets order the documents of each query completely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.datasets.small import span_unit_interval
from benchmarks.datasets.web_like import LABEL_SHARES, grades, make_documents
from benchmarks.task import Rows

TEST_SHARE = 1 / 3  # of the training queries, as in the folds of LETOR


class LetorShape(NamedTuple):
    """
    A line of the table, and what the rest of the data is drawn by.

    Attributes
    ----------
    rows, features, levels, queries : int
    pairs : int
        Preference pairs, which the made data have but approximately.
    largest : int
        Documents of the largest query.
    spread : float
        Standard deviation of the logarithms of the sizes of queries.
    noise : float
        What the features do not explain of a label, as for `make_documents`; such that a linear
        ranker is about as accurate as in the paper, or, on the lists, somewhat less.
    shares : tuple of float
        Shares of the labels 0, 1, ...; () for a complete order.
    scaled : bool
        Whether each feature spans [0, 1] in each query, as LETOR 4.0 is published.
    """

    rows: int
    features: int
    levels: int
    queries: int
    pairs: int
    largest: int
    spread: float
    noise: float
    shares: tuple[float, ...]
    scaled: bool


SHAPES = {
    "MQ2007-list": LetorShape(
        743_790, 46, 1_268, 1_017, 285_943_893, 1_268, 0.23, 0.25, (), scaled=True
    ),
    "MQ2008-list": LetorShape(
        540_679, 46, 1_831, 471, 323_151_792, 1_831, 0.21, 0.3, (), scaled=True
    ),
    "MSLR-WEB10K": LetorShape(
        723_421, 136, 2, 6_000, 31_783_391, 809, 0.64, 3.3, (0.5, 0.5), scaled=False
    ),
    "MSLR-WEB30K": LetorShape(
        2_270_296, 136, 5, 18_919, 101_312_036, 1_251, 0.47, 3.8, LABEL_SHARES, scaled=False
    ),
    "MQ2007": LetorShape(42_158, 46, 2, 1_017, 246_015, 147, 0.4, 1.6, (0.85, 0.15), scaled=True),
    "MQ2008": LetorShape(9_630, 46, 3, 471, 52_325, 121, 0.6, 0.8, (0.76, 0.14, 0.1), scaled=True),
}


def make_letor_like(name: str, scale: float = 1.0, seed: int = 0) -> tuple[Rows, Rows]:
    """
    Make data of the shape of `SHAPES[name]`: training rows, and test rows of other queries.

    Parameters
    ----------
    name : str
    scale : float
        Share of the queries; these keep their sizes, so that rows and pairs shrink likewise.
    seed : int
        Equal arguments give equal data.

    Returns
    -------
    train, test : Rows
        X float32 in C order, labels float64, queries 0, 1, ... in turn; a third as many queries to
        test on.
    """
    shape = SHAPES[name]
    rng = np.random.default_rng(seed)
    queries = max(round(shape.queries * scale), 1)
    n_train = round(shape.rows * queries / shape.queries)
    n_test_queries = max(round(queries * TEST_SHARE), 1)
    n_test = round(shape.rows * n_test_queries / shape.queries)
    sizes = np.concatenate(
        [
            query_sizes(rng, n_train, queries, shape.largest, shape.spread),
            query_sizes(rng, n_test, n_test_queries, shape.largest, shape.spread),
        ]
    )
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X, utility = make_documents(rng, qid, shape.features, shape.noise, np.float32)
    if shape.scaled:
        span_unit_interval(X, qid)
    y = grades(utility, shape.shares, n_train) if shape.shares else places(utility, qid)
    return Rows(X[:n_train], y[:n_train], qid[:n_train]), Rows(
        X[n_train:], y[n_train:], qid[n_train:]
    )


def query_sizes(
    rng: np.random.Generator, rows: int, queries: int, largest: int, spread: float
) -> np.ndarray:
    """Draw log-normal sizes with this sum, of which the largest is as large as this, if it can."""
    largest = min(largest, rows - queries + 1)
    draws = rng.lognormal(sigma=spread, size=queries)
    sizes = np.clip(np.rint(draws * (rows / draws.sum())).astype(np.int64), 1, largest)
    top = int(sizes.argmax())
    sizes[top] = largest
    while excess := int(sizes.sum()) - rows:
        movable = sizes > 1 if excess > 0 else sizes < largest
        movable[top] = False
        moved = rng.permutation(np.flatnonzero(movable))[: abs(excess)]
        sizes[moved] -= np.sign(excess)
    return sizes


def places(utility: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Return the place of each row in its query, from the least useful, 0, upwards."""
    order = np.lexsort((utility, qid))
    starts = np.flatnonzero(np.diff(qid, prepend=-1))
    labels = np.empty(len(qid))
    labels[order] = np.arange(len(qid)) - starts[qid]
    return labels
