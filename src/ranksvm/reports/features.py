"""What the features of rows are like: means, spreads, ranges, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.occurring import Columns, occurring
from ..records import record

Vector = NDArray[np.float64]

_BLOCK = 8192  # rows at a time


@record
class FeatureSummary:
    """Numbers of each feature that occurs; all others are zero everywhere.

    Attributes
    ----------
    columns : Columns
        Which features these are.
    mean, deviation, low, high : ndarray of shape (n_columns,)
    n_zero : ndarray of shape (n_columns,)
        In how many rows each is zero.
    """

    columns: Columns
    mean: Vector
    deviation: Vector
    low: Vector
    high: Vector
    n_zero: Vector

    @classmethod
    def of(cls, X: Any) -> FeatureSummary:
        """Go through rows, an array or a CSR matrix."""
        if not hasattr(X, "tocsr"):
            return _of_dense(X)
        _, _, columns = occurring(X.indptr, X.indices, X.shape[1])
        return _of_sparse(columns.only(X), columns)

    @property
    def n_constant(self) -> int:
        """How many features have one value everywhere."""
        unseen = self.columns.n_features - len(self.columns)
        return unseen + int((self.low == self.high).sum())

    def places(self, features: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the columns of features, -1 for those that do not occur."""
        if self.columns.features is None:
            return features
        found = np.searchsorted(self.columns.features, features)
        found = np.minimum(found, len(self.columns) - 1)
        return np.where(self.columns.features[found] == features, found, -1)


def _of_dense(X: NDArray[Any]) -> FeatureSummary:
    n = len(X)
    blocks = [X[start : start + _BLOCK] for start in range(0, n, _BLOCK)]
    total = sum(block.sum(axis=0, dtype=np.float64) for block in blocks)
    mean = np.asarray(total / n)
    squares, n_zero = np.zeros_like(mean), np.zeros_like(mean)
    for block in blocks:
        apart = block - mean
        squares += np.einsum("ij,ij->j", apart, apart)
        n_zero += len(block) - np.count_nonzero(block, axis=0)
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    return FeatureSummary(Columns(X.shape[1]), mean, np.sqrt(squares / n), low, high, n_zero)


def _of_sparse(X: Any, columns: Columns) -> FeatureSummary:
    n, d = X.shape
    stored = np.bincount(X.indices, minlength=d)
    values = X.data.astype(np.float64)
    mean = np.bincount(X.indices, values, minlength=d) / n
    apart = np.bincount(X.indices, (values - mean[X.indices]) ** 2, minlength=d)
    deviation = np.sqrt((apart + (n - stored) * mean**2) / n)
    nonzero = np.bincount(X.indices, values != 0, minlength=d)
    low, high = (
        np.asarray(end.toarray(), dtype=np.float64).ravel()
        for end in (X.min(axis=0), X.max(axis=0))
    )
    return FeatureSummary(columns, mean, deviation, low, high, n - nonzero)
