"""Preference pairs one by one, where they are few enough to be listed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .preferences import Preferences

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExplicitPairs:
    """The list of all pairs that weigh anything, and the matrix D of their differences.

    Attributes
    ----------
    better, worse : ndarray of shape (n_pairs,), int64
        The rows of each pair.
    weight : ndarray of shape (n_pairs,)
    n_samples : int
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    weight: Vector
    n_samples: int

    @classmethod
    def of(cls, preferences: Preferences) -> ExplicitPairs:
        """List the pairs, query by query."""
        groups, y = preferences.groups, preferences.y
        order = np.arange(groups.n_samples) if groups.order is None else groups.order
        better, worse = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for first, last in zip(groups.indptr[:-1], groups.indptr[1:], strict=True):
            rows = order[first:last].astype(np.int64)
            above, below = np.nonzero(y[rows, np.newaxis] > y[rows])
            better.append(rows[above])
            worse.append(rows[below])
        i, j = np.concatenate(better), np.concatenate(worse)
        weight = np.ones(len(i)) if preferences.pair_weight is None else y[i] - y[j]
        if preferences.query_weight is not None:
            weight *= groups.per_row(preferences.query_weight)[i]
        if preferences.sample_weight is not None:
            weight *= preferences.sample_weight[i] * preferences.sample_weight[j]
        some = weight > 0
        return cls(i[some], j[some], weight[some], groups.n_samples)

    def differences(self, scores: Vector) -> Vector:
        """Return ``D s``: for each pair, by how much the better row is ahead."""
        ahead: Vector = scores[self.better] - scores[self.worse]
        return ahead

    def balance(self, slopes: Vector) -> Vector:
        """Return ``D'b``: for each row, the sum over its pairs, those lost taken off."""
        return self._sum(self.better, slopes) - self._sum(self.worse, slopes)

    def degree(self, slopes: Vector) -> Vector:
        """Return for each row the sum over its pairs."""
        return self._sum(self.better, slopes) + self._sum(self.worse, slopes)

    def laplacian(self, slopes: Vector) -> NDArray[np.float64]:
        """Return ``D' diag(b) D``, of shape (n_samples, n_samples)."""
        matrix = np.zeros((self.n_samples, self.n_samples))
        matrix[self.better, self.worse] = -slopes
        matrix[self.worse, self.better] = -slopes
        matrix[np.diag_indices_from(matrix)] = self.degree(slopes)
        return matrix

    def _sum(self, rows: NDArray[np.int64], values: Vector) -> Vector:
        return np.bincount(rows, values, self.n_samples).astype(np.float64, copy=False)
