"""Dense data with the shape and the unevenness of web search collections (LETOR, MSLR-WEB)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

LABEL_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)
N_FACTORS = 20
QUERY_EFFECT = 0.5
LABEL_NOISE = 1.3
ZERO_BELOW = -0.273  # the 40 % quantile of a feature before it takes its kind
BLOCK_ROWS = 8192


def make_web_like(
    rows: int = 144_000, queries: int = 1_200, features: int = 136, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Documents of many queries, described by features of three kinds on wildly different scales.

    Every document has 20 Gaussian latent factors, shifted by an effect of its query. Each feature
    mixes them with noise of its own and is then a count (40 % zeros), a log-normal or a Gaussian
    number, in equal shares, multiplied by exp(U(-4, 10)). The label is a noisy linear function of
    the same factors, cut at the quantiles that give 52 / 32 / 13 / 2 / 1 % of the labels 0 .. 4.
    The rows are made in blocks, so that the peak memory is little more than `X`.

    Parameters
    ----------
    rows, queries, features : int
        Sizes. The queries share the rows unevenly, about ``rows / queries`` each.
    seed : int
        Equal arguments give equal data.

    Returns
    -------
    X : ndarray of shape (rows, features), float64
    y : ndarray of shape (rows,), float64
    qid : ndarray of shape (rows,), int64, ascending
    """
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.multinomial(rows - queries, rng.dirichlet(np.full(queries, 4.0)))
    qid = np.repeat(np.arange(queries), sizes)
    X, utility = make_documents(rng, qid, features)
    return X, grades(utility, LABEL_SHARES), qid


def make_documents(
    rng: np.random.Generator,
    qid: np.ndarray,
    features: int,
    label_noise: float = LABEL_NOISE,
    dtype: DTypeLike = np.float64,
) -> tuple[np.ndarray, np.ndarray]:
    """
    Documents of the queries 0, 1, ... in `qid`, and how useful each is: (X, utility).

    `label_noise` is the standard deviation of what the features do not explain of the utility,
    where that of the rest, within a query, is 1.
    """
    query_effects = QUERY_EFFECT * rng.standard_normal((qid[-1] + 1, N_FACTORS))
    return mixed(rng, qid, query_effects, Mixing.drawn(rng, features), label_noise, dtype)


class Mixing(NamedTuple):
    """How latent factors become features and relevance."""

    loadings: np.ndarray
    relevance: np.ndarray
    scales: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator, features: int) -> "Mixing":
        """Draw one."""
        loadings = _unit_columns(rng.standard_normal((N_FACTORS, features)))
        relevance = _unit_columns(rng.standard_normal((N_FACTORS, 1)))[:, 0]
        return cls(loadings, relevance, np.exp(rng.uniform(-4, 10, features)))


def mixed(
    rng: np.random.Generator,
    qid: np.ndarray,
    query_effects: np.ndarray,
    mixing: Mixing,
    label_noise: float,
    dtype: DTypeLike,
) -> tuple[np.ndarray, np.ndarray]:
    """Documents of queries with these effects, as `make_documents` makes them."""
    loadings, relevance, scales = mixing
    rows, features = len(qid), len(scales)
    X = np.empty((rows, features), dtype)
    utility = label_noise * rng.standard_normal(rows)
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, min(start + BLOCK_ROWS, rows))
        factors = rng.standard_normal((block.stop - start, N_FACTORS)) + query_effects[qid[block]]
        utility[block] += factors @ relevance
        noise = rng.standard_normal((block.stop - start, features))
        X[block] = _three_kinds(0.8 * factors @ loadings + 0.6 * noise) * scales
    return X, utility


def web_like_blocks(
    n_blocks: int, rows: int = 72_000, queries: int = 600, features: int = 136, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """
    Rows of the same kind as those of `make_web_like`, block by block, for as many as a disk holds.

    All blocks have the same mixing, scales and cuts of the labels, and queries of their own.
    """
    rng = np.random.default_rng(seed)
    mixing = Mixing.drawn(rng, features)
    cuts = None
    for block in range(n_blocks):
        sizes = 1 + rng.multinomial(rows - queries, rng.dirichlet(np.full(queries, 4.0)))
        qid = np.repeat(np.arange(queries), sizes)
        effects = QUERY_EFFECT * rng.standard_normal((queries, N_FACTORS))
        X, utility = mixed(rng, qid, effects, mixing, LABEL_NOISE, np.float64)
        if cuts is None:
            cuts = np.quantile(utility, np.cumsum(LABEL_SHARES)[:-1])
        yield X, np.searchsorted(cuts, utility).astype(np.float64), qid + block * queries


def grades(utility: np.ndarray, shares: Sequence[float], n_train: int | None = None) -> np.ndarray:
    """Cut utilities into labels 0, 1, ... that have these shares among the first `n_train`."""
    cuts = np.quantile(utility[:n_train], np.cumsum(shares)[:-1])
    return np.searchsorted(cuts, utility).astype(np.float64)


def _three_kinds(values: np.ndarray) -> np.ndarray:
    """Turn the first third of the columns into counts and the second third into log-normals."""
    third = values.shape[1] // 3
    counts, log_normals = values[:, :third], values[:, third : 2 * third]
    counts[:] = np.ceil(np.expm1(np.maximum(counts - ZERO_BELOW, 0)))
    np.exp(log_normals, out=log_normals)
    return values


def _unit_columns(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=0)
