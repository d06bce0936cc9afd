"""Shapes that suit one solver and not another: few long rows, many short ones, one huge ranking."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import LABEL_SHARES, grades, make_web_like

FIELDS, CHOICES = 14, 20  # of a row of categories


class Data(NamedTuple):
    """Rows to rank."""

    X: Any
    y: np.ndarray
    qid: np.ndarray | None


def make_few_rows(rows: int, features: int) -> Data:
    """Dense rows, fewer than features, as of gene expression: five levels in one ranking."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    utility = X[:, :20].sum(axis=1) + 2 * rng.standard_normal(rows)
    return Data(X, grades(utility, LABEL_SHARES), None)


def make_one_ranking(rows: int, features: int = 10) -> Data:
    """Dense rows of one ranking in which each label is different."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    return Data(X, X @ rng.standard_normal(features) + rng.standard_normal(rows), None)


def make_rare_positives(rows: int, features: int, positives: int) -> Data:
    """Dense rows of one ranking, a few of which are better than all others, as of alarms."""
    X, y, _ = make_one_ranking(rows, features)
    return Data(X, (y > np.partition(y, -positives - 1)[-positives - 1]).astype(np.float64), None)


def make_categories(rows: int, fields: int, choices: int) -> Data:
    """Rows of categories in one ranking in which each label is different."""
    rng = np.random.default_rng(0)
    X, utility = _of_categories(rng.geometric(0.2, (rows, fields)) - 1, choices, rng)
    return Data(X, utility, None)


def make_rare_categories(rows: int, fields: int, choices: int, of_a_query: int) -> Data:
    """Rows of categories, a few of them frequent and most rare, with two labels in queries."""
    rng = np.random.default_rng(0)
    X, utility = _of_categories(rng.zipf(1.3, (rows, fields)) - 1, choices, rng)
    y = (utility > np.median(utility)).astype(np.float64)
    return Data(X, y, np.arange(rows) // of_a_query)


def _of_categories(
    chosen: NDArray[np.int64], choices: int, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Return rows with an indicator of what is chosen of each field, the last one or beyond."""
    rows, fields = chosen.shape
    columns = (chosen.clip(max=choices - 1) + choices * np.arange(fields)).astype(np.int32)
    indptr = np.arange(0, columns.size + 1, fields, dtype=np.int32)
    values = np.ones(columns.size)
    X = sparse.csr_matrix((values, columns.ravel(), indptr), (rows, fields * choices))
    return X, X @ rng.standard_normal(X.shape[1]) + 2 * rng.standard_normal(rows)


def make_short_queries(queries: int = 5_000, of_a_query: int = 10) -> Data:
    """Rows of 14 categories of 20 choices each, with a number beside each, in short queries."""
    rng = np.random.default_rng(0)
    rows = queries * of_a_query
    chosen = rng.integers(0, CHOICES, (rows, FIELDS))
    columns = (chosen + CHOICES * np.arange(FIELDS)).astype(np.int32)
    values = np.where(np.arange(FIELDS) % 2, rng.exponential(size=columns.shape), 1.0)
    indptr = np.arange(0, columns.size + 1, FIELDS, dtype=np.int32)
    X = sparse.csr_matrix((values.ravel(), columns.ravel(), indptr), (rows, FIELDS * CHOICES))
    X.sort_indices()
    utility = X @ rng.standard_normal(X.shape[1]) + 3 * rng.standard_normal(rows)
    return Data(X, grades(utility, LABEL_SHARES), np.repeat(np.arange(queries), of_a_query))


def make_binary_queries(
    is_sparse: bool, queries: int, of_a_query: int, features: int, noise: float = 0.5
) -> Data:
    """Rows of ten categories, or dense ones, in short queries: two levels."""
    rng = np.random.default_rng(0)
    rows = queries * of_a_query
    X: Any = rng.standard_normal((rows, features))
    if is_sparse:
        columns = rng.integers(0, features // 10, (rows, 10)) + features // 10 * np.arange(10)
        indptr = np.arange(0, columns.size + 1, 10, dtype=np.int32)
        values, columns = np.ones(columns.size), columns.ravel().astype(np.int32)
        X = sparse.csr_matrix((values, columns, indptr), (rows, features))
    utility = X @ rng.standard_normal(features)
    utility += noise * features**0.5 * rng.standard_normal(rows)
    y = (utility > np.median(utility)).astype(np.float64)
    return Data(X, y, np.repeat(np.arange(queries), of_a_query))


def make_wide_text(rows: int = 8_000, features: int = 120_000, queries: int = 4) -> Data:
    """Long documents of a large vocabulary in a few queries, with four levels."""
    X, similarity = make_text_like(rows, features, words=172)
    return Data(X, grades(similarity, (0.55, 0.25, 0.15, 0.05)), np.arange(rows) * queries // rows)


def _text(rows: int = 64_000) -> Data:
    return Data(*make_text_like(rows), None)


def _web() -> Data:
    return Data(*make_web_like())


def make_graded(n: int, d: int, rows_of_query: int) -> Data:
    """Dense rows of queries with four levels of relevance and features of different scales.

    With hardly more rows than features, nearly all pairs can be ranked, as those of embeddings.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    scores = X[:, :20].sum(axis=1) + rng.normal(size=n)
    y = np.digitize(scores / scores.std(), [-0.7, 0.0, 0.7]).astype(float)
    return Data(X, y, np.arange(n) // rows_of_query)


def make_on_the_margin(rows: int) -> Data:
    """Rows of three groups, one of which is better: at the optimum, all pairs reach the margin."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, rows)
    X = np.hstack((np.eye(3)[group], rng.standard_normal((rows, 3))))
    return Data(X, (group == 0).astype(np.float64), None)


def make_columns_and_products() -> Data:
    """Columns of breast cancer as they are, and their products, so that scales differ by far."""
    X, y = load_breast_cancer(return_X_y=True)
    first, second = np.triu_indices(X.shape[1])
    return Data(np.hstack((X, X[:, first] * X[:, second])), y.astype(np.float64), None)


def make_far_scales(rows: int, features: int, digits: float) -> Data:
    """Dense rows in pairs that can all be ranked, by features of scales that lie far apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features)) * 10 ** rng.uniform(-digits, digits, features)
    row = np.arange(rows)
    return Data(X, (row % 2).astype(np.float64), row // 2)


def make_binary(rows: int, features: int) -> Data:
    """Dense rows of one query with two noisy labels; up to twice as many as features divide."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    score = X @ rng.standard_normal(features) / features**0.5 + rng.standard_normal(rows)
    return Data(X, (score > np.median(score)).astype(np.float64), None)


GENERATED: dict[str, Callable[[], Data]] = {
    "few-rows-200x20000": partial(make_few_rows, 200, 20_000),
    "few-rows-500x10000": partial(make_few_rows, 500, 10_000),
    "few-rows-500x5000": partial(make_few_rows, 500, 5_000),
    "few-rows-1000x10000": partial(make_few_rows, 1_000, 10_000),
    "few-pairs-3000x1600": partial(make_binary_queries, True, 300, 10, 1_600),
    "few-pairs-dense-1100x800": partial(make_binary_queries, False, 110, 10, 800),
    "few-pairs-dense-15000x330": partial(make_binary_queries, False, 3_000, 5, 330),
    "nearly-separable-400x600": partial(make_graded, 400, 600, 20),
    "nearly-separable-1800x600": partial(make_graded, 1_800, 600, 20),
    "nearly-separable-900x600-one-query": partial(make_graded, 900, 600, 900),
    "binary-2000x1500-one-query": partial(make_binary, 2_000, 1_500),
    "dense-queries-60000x64": partial(make_binary_queries, False, 2_000, 30, 64, 2.0),
    "dense-queries-500000x30": partial(make_binary_queries, False, 100_000, 5, 30, 2.0),
    "dense-queries-12000x800": partial(make_binary_queries, False, 400, 30, 800, 2.0),
    "wide-text-8000x120000": make_wide_text,
    "wide-text-20000x60000-one-query": partial(make_wide_text, 20_000, 60_000, 1),
    "short-queries-50000x280": make_short_queries,
    "web-like-144000x136": _web,
    "text-like-64000x47236": _text,
    "text-like-20000x47236": partial(_text, 20_000),
    "one-ranking-300000x40": partial(make_one_ranking, 300_000, 40),
    "categories-300000x100": partial(make_categories, 300_000, 10, 10),
    "rare-categories-60000x48000": partial(make_rare_categories, 60_000, 8, 6_000, 20),
    "rare-positives-300000x40": partial(make_rare_positives, 300_000, 40, 300),
    "few-positives-50000x100": partial(make_rare_positives, 50_000, 100, 5),
    "few-positives-60000x50": partial(make_rare_positives, 60_000, 50, 10),
    "on-the-margin-10000x6": partial(make_on_the_margin, 10_000),
    "columns-and-products-569x495": make_columns_and_products,
    "far-scales-200x300": partial(make_far_scales, 200, 300, 5.0),
    "far-scales-940x950": partial(make_far_scales, 940, 950, 3.0),
    "one-ranking-2000000x10": partial(make_one_ranking, 2_000_000),
    "one-ranking-5000000x10": partial(make_one_ranking, 5_000_000),
}
HUGE = tuple(name for name in GENERATED if name.endswith("000000x10"))
