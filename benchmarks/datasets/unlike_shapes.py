"""Shapes of data whose features are alike in nothing, as those that are collected for years.

Rows are of features that depend on each other, from neighbours to a few that all others are made
of; of counts, or with outliers; repeated; or of a few dense features beside many that count what is
rare. Queries are as long as each other, one ranking, or of any length, and relevant rows may be
few.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.datasets.solver_shapes import Data

Floats = NDArray[np.float64]

MOST_ROWS, DENSE = 300_000, 10  # features beside those that count
FIRST = 100_000  # numbers beyond those of the random shapes
BESIDE_DENSE = 5  # the kind in which counts stand beside dense features


def make_unlike_shape(number: int) -> Data:
    """Make the data of this number."""
    rng = np.random.default_rng(FIRST + number)
    kind = number % (len(KINDS) + 1)
    if kind == BESIDE_DENSE:
        X, weights = _counts_beside_dense(rng)
    else:
        d = int(_between(rng, 5, 600))
        n = int(np.clip(_between(rng, 1e5, 8e6) / d, 150, MOST_ROWS))
        X = KINDS[kind - (kind > BESIDE_DENSE)](rng, n, d)
        weights = rng.standard_normal(d) * (rng.random(d) < 10 ** rng.uniform(-1, 0))
        weights /= np.maximum(X.std(axis=0), 1e-9)
    utility = X @ weights
    noise = _between(rng, 0.05, 4) * max(float(utility.std()), 1e-9)
    utility = utility + noise * rng.standard_normal(len(utility))
    return Data(X, _labels(rng, utility), _queries(rng, len(utility)))


def unlike_shapes(count: int) -> dict[str, Callable[[], Data]]:
    """Name so many of them."""
    return {f"unlike-{number}": partial(make_unlike_shape, number) for number in range(count)}


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _falling_spectrum(rng: np.random.Generator, n: int, d: int) -> Floats:
    scales = np.arange(1, d + 1) ** -rng.uniform(0.5, 2.5)
    scaled: Floats = rng.standard_normal((n, d)) * scales
    turned: Floats = scaled @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    return turned


def _low_rank(rng: np.random.Generator, n: int, d: int) -> Floats:
    rank = max(2, d // 8)
    few: Floats = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return few + _between(rng, 1e-3, 0.3) * rng.standard_normal((n, d))


def _counts(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.poisson(np.exp(rng.normal(rng.uniform(-2, 4, d), 1, (n, d)))).astype(np.float64)


def _outliers(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.standard_t(1.8, (n, d))


def _repeated(rng: np.random.Generator, n: int, d: int) -> Floats:
    few = rng.standard_normal((max(n // 20, 20), d))
    return few[rng.integers(0, len(few), n)]


def _neighbours(rng: np.random.Generator, n: int, d: int) -> Floats:
    X = rng.standard_normal((n, d))
    for k in range(1, d):
        X[:, k] = 0.97 * X[:, k - 1] + 0.25 * X[:, k]
    return X


KINDS: tuple[Callable[[np.random.Generator, int, int], Floats], ...]
KINDS = (_falling_spectrum, _low_rank, _counts, _outliers, _repeated, _neighbours)


def _counts_beside_dense(rng: np.random.Generator) -> tuple[Any, Floats]:
    n, d = int(_between(rng, 2_000, 60_000)), int(_between(rng, 1_000, 60_000))
    of_row = int(_between(rng, 3, 30))
    dense = sparse.csr_matrix(rng.standard_normal((n, DENSE)))
    columns = rng.zipf(1.3, n * of_row) % d
    indptr = np.arange(0, n * of_row + 1, of_row)
    counts = sparse.csr_matrix((np.ones(n * of_row), columns, indptr), (n, d))
    counts.sum_duplicates()
    weights = rng.standard_normal(DENSE + d)
    weights[DENSE:] *= rng.random(d) < 0.1
    return sparse.csr_matrix(sparse.hstack([dense, counts])), weights


def _labels(rng: np.random.Generator, utility: Floats) -> Floats:
    n = len(utility)
    levels = (2, 5, n)[rng.integers(3)]
    ranks = np.argsort(np.argsort(utility)) / n
    if levels == 2:
        return (ranks > rng.uniform(0.5, 0.99)).astype(np.float64)
    return np.asarray(np.floor(levels * ranks ** rng.uniform(0.5, 3)))


def _queries(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    kind = rng.integers(3)
    if kind == 0:
        return np.zeros(n, dtype=np.int64)
    if kind == 1:
        return np.arange(n) // int(_between(rng, 2, 300))
    sizes = np.clip((5 * rng.pareto(0.8, n)).astype(np.int64), 1, n // 3 + 1)
    return np.repeat(np.arange(n), sizes)[:n]
