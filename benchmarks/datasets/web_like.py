"""Dense data with the shape and the unevenness of web search collections (LETOR, MSLR-WEB)."""

import numpy as np

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
    query_effects = QUERY_EFFECT * rng.standard_normal((queries, N_FACTORS))
    loadings = _unit_columns(rng.standard_normal((N_FACTORS, features)))
    relevance = _unit_columns(rng.standard_normal((N_FACTORS, 1)))[:, 0]
    scales = np.exp(rng.uniform(-4, 10, features))

    X = np.empty((rows, features))
    utility = LABEL_NOISE * rng.standard_normal(rows)
    for start in range(0, rows, BLOCK_ROWS):
        block = slice(start, min(start + BLOCK_ROWS, rows))
        factors = rng.standard_normal((block.stop - start, N_FACTORS)) + query_effects[qid[block]]
        utility[block] += factors @ relevance
        rng.standard_normal(out=X[block])
        X[block] = _three_kinds(0.8 * factors @ loadings + 0.6 * X[block]) * scales
    cuts = np.quantile(utility, np.cumsum(LABEL_SHARES)[:-1])
    return X, np.searchsorted(cuts, utility).astype(np.float64), qid


def _three_kinds(values: np.ndarray) -> np.ndarray:
    """Turn the first third of the columns into counts and the second third into log-normals."""
    third = values.shape[1] // 3
    counts, log_normals = values[:, :third], values[:, third : 2 * third]
    counts[:] = np.ceil(np.expm1(np.maximum(counts - ZERO_BELOW, 0)))
    np.exp(log_normals, out=log_normals)
    return values


def _unit_columns(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=0)
