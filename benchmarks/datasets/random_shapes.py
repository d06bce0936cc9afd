"""Shapes of data that nobody chose: each number is a set of some kind, size and noise.

Rows are dense, dense with features of unlike scales, of categories or of words; in queries of two
rows up to one ranking; labels have two levels, five, or are distinct.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.datasets.solver_shapes import Data

MOST_STORED, MOST_ROWS = 1e7, 500_000
OF_A_QUERY = (2, 3, 5, 10, 30, 100, 1_000, MOST_ROWS)


def make_random_shape(seed: int) -> Data:
    """Make the data of this number."""
    rng = np.random.default_rng(seed)
    kind = ("dense", "scales", "categories", "words")[rng.integers(4)]
    n_stored = _between(rng, 3e4, MOST_STORED)
    if kind in ("dense", "scales"):
        d = int(_between(rng, 4, 2_000))
        n = int(np.clip(n_stored / d, 100, MOST_ROWS))
        X: Any = rng.standard_normal((n, d))
        X *= 10 ** rng.uniform(-3, 3, d) if kind == "scales" else 1.0
    else:
        d, per_row = int(_between(rng, 50, 200_000)), int(_between(rng, 4, 100))
        per_row = min(per_row, d // 4)
        n = int(np.clip(n_stored / per_row, 100, MOST_ROWS))
        X = _categories(rng, n, d, per_row) if kind == "categories" else _words(rng, n, d, per_row)
    weights = rng.standard_normal(d) * (rng.random(d) < 10 ** rng.uniform(-2, 0))
    utility = (X / X.std(axis=0)) @ weights if isinstance(X, np.ndarray) else X @ weights
    noise = _between(rng, 0.05, 5.0) * max(float(utility.std()), 1e-3)
    utility += noise * rng.standard_normal(n)
    of_a_query = OF_A_QUERY[rng.integers(len(OF_A_QUERY))]
    levels = (2, 5, n)[rng.integers(3)]
    ranks = np.argsort(np.argsort(utility))
    return Data(X, np.floor(levels * (ranks / n)), np.arange(n) // of_a_query)


def random_shapes(count: int) -> dict[str, Callable[[], Data]]:
    """Name so many of them."""
    return {f"random-{seed}": partial(make_random_shape, seed) for seed in range(count)}


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _categories(rng: np.random.Generator, n: int, d: int, fields: int) -> sparse.csr_matrix:
    """One choice for each field; the values are one, or differ."""
    choices = d // fields
    columns = rng.integers(0, choices, (n, fields)) + choices * np.arange(fields)
    values = rng.exponential(size=columns.shape) if rng.integers(2) else np.ones(columns.shape)
    indptr = np.arange(0, columns.size + 1, fields, dtype=np.int32)
    return sparse.csr_matrix((values.ravel(), columns.ravel().astype(np.int32), indptr), (n, d))


def _words(rng: np.random.Generator, n: int, d: int, words: int) -> sparse.csr_matrix:
    """Words by Zipf's law, weighted by their rarity; rows have unit length."""
    ranks = np.minimum(d ** rng.random((n, words)), d) - 1
    columns = rng.permutation(d)[ranks.astype(np.int64)].astype(np.int32)
    indptr = np.arange(0, columns.size + 1, words, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), indptr), (n, d))
    X.sum_duplicates()
    frequency = np.bincount(X.indices, minlength=d)
    X.data *= np.log((1 + n) / (1 + frequency))[X.indices]
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(X.indptr))
    return X
