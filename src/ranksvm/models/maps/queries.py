r"""Features within their query: from the least value there, 0, to the greatest, 1.

:math:`(x_{ik} - \min_q) / (\max_q - \min_q)` over the rows of the query q of row i, and 0 where
all of them are equal, as the features of LETOR are published. It depends on which other rows there
are: to score rows, all those that compete must be given together.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...pairs.queries import QueryGroups
from ...records import record
from .base import MAX_MEMORY, FeatureMap, Matrix, Vector, densified, is_sparse


@record
class QueryMap(FeatureMap):
    """Each feature from 0 to 1 within each query.

    Attributes
    ----------
    n_features : int
    """

    n_features: int

    name: ClassVar[str] = "query"
    FIELDS: ClassVar[dict[str, type]] = {"n_features": int}
    keeps_features: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.n_features < 1:
            raise InputError("n_features must be at least 1")

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return self.n_features

    @property
    def needs_queries(self) -> bool:
        """Yes."""
        return True

    @property
    def description(self) -> str:
        """What the map does."""
        return f"{self.n_features} features from 0 to 1 within each query"

    @property
    def domain(self) -> tuple[Vector, Vector]:
        """From 0 to 1, as what follows sees them."""
        return np.zeros(self.n_features), np.ones(self.n_features)

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says; sparse ones stay sparse where none is negative."""
        groups = QueryGroups.from_qid(qid, X.shape[0])
        if is_sparse(X) and X.data.min(initial=0.0) < 0:
            X = densified(X, max_memory)
        return _of_stored(X, groups) if is_sparse(X) else _of_rows(X, groups)


def _of_rows(X: Matrix, groups: QueryGroups) -> Matrix:
    mapped = np.empty(X.shape)
    for q in range(groups.n_queries):
        rows = groups.rows(q, q + 1)
        of_query = X[rows]
        low = of_query.min(axis=0)
        mapped[rows] = _between(of_query, low, of_query.max(axis=0))
    return mapped


def _between(values: Any, low: Any, high: Any) -> Any:
    """Return ``(values - low) / (high - low)``, 0 where there is nothing between; no overflow."""
    values, low, high = values / 2, low / 2, high / 2
    spread = high - low
    return np.divide(values - low, spread, out=np.zeros_like(values), where=spread > 0)


def _of_stored(X: Any, groups: QueryGroups) -> Any:
    """Map sparse rows without negative values: what is not stored is the least, 0."""
    X = X.copy()
    X.sum_duplicates()
    sizes = np.diff(groups.indptr)
    query = np.repeat(groups.numbers, np.diff(X.indptr))
    cell = query * np.int64(X.shape[1]) + X.indices
    _, place, count = np.unique(cell, return_inverse=True, return_counts=True)
    high = _extremes(np.maximum, X.data, place, len(count), -np.inf)
    low = _extremes(np.minimum, X.data, place, len(count), np.inf)
    size = np.empty(len(count))
    size[place] = sizes[query]
    low = np.where(count < size, 0.0, low)
    X.data = _between(X.data, low[place], high[place])
    return X


def _extremes(
    ufunc: np.ufunc, values: Vector, place: NDArray[np.integer], n: int, start: float
) -> Vector:
    found = np.full(n, start)
    ufunc.at(found, place, values)
    return found
