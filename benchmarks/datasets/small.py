"""A small learning-to-rank set of the shape of one LETOR 4.0 fold."""

import numpy as np

from benchmarks.datasets.web_like import make_web_like


def make_small(
    rows: int = 10_000, queries: int = 470, features: int = 46, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Web-like rows as LETOR publishes them: each feature spans [0, 1] in each query, labels 0, 1, 2.

    Parameters
    ----------
    rows, queries, features : int
        Sizes.
    seed : int
        Equal arguments give equal data.

    Returns
    -------
    X : ndarray of shape (rows, features), float64
    y : ndarray of shape (rows,), float64
    qid : ndarray of shape (rows,), int64, ascending
    """
    X, y, qid = make_web_like(rows, queries, features, seed)
    return span_unit_interval(X, qid), np.maximum(y - 1, 0), qid


def span_unit_interval(X: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Let each feature span [0, 1] in each of the queries 0, 1, ..., in place."""
    starts = np.flatnonzero(np.diff(qid, prepend=-1))
    X -= np.minimum.reduceat(X, starts)[qid]
    span = np.maximum.reduceat(X, starts)[qid]
    return np.divide(X, span, out=X, where=span > 0)
