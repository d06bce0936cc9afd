"""A partition on its worker, and what is made of it and kept beside it.

What is kept is never sent: where a partition comes to another worker, it is made again, the same to
the last bit.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix
from ..pairs.loss_evaluation import LossEvaluation
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import Pairs
from ..pairs.weights import per_query_weight
from .formula import Formula, Recipe
from .rows import Rows
from .sums import FAN

Vector = NDArray[np.float64]

MOST_STORED = 1 << 20  # values in a bundle of partitions, which take some milliseconds
MOST_KEPT = 16  # of a kind: folds of a cross-validation take turns


class At(NamedTuple):
    """Where a loss has been evaluated."""

    recipe: Recipe
    formula: Formula
    weights: bytes


@dataclass
class Labelled:
    """Labels in queries, and pairs of them as they are asked for.

    Attributes
    ----------
    preferences : Preferences
    folds : ndarray of shape (n_queries,), or None
    """

    preferences: Preferences
    folds: NDArray[np.int64] | None = None
    _pairs: dict[Recipe, Pairs] = field(default_factory=dict, repr=False)
    _evaluations: dict[At, LossEvaluation] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pairs": {}, "_evaluations": {}}

    def pairs(self, recipe: Recipe) -> Pairs:
        """Return the pairs that a recipe makes, as they were made last."""
        pairs = self._pairs.get(recipe)
        if pairs is None:
            pairs = recipe.pairs(self.preferences, self.folds)
            _keep(self._pairs, recipe, pairs)
        return pairs

    def evaluation(self, at: At) -> LossEvaluation | None:
        """Return the loss at these weights, if it was the last that was evaluated."""
        return self._evaluations.get(at)

    def keep(self, at: At, evaluation: LossEvaluation) -> None:
        """Keep a loss in the place of the last one of the same pairs."""
        for other in [other for other in self._evaluations if other.recipe == at.recipe]:
            self._evaluations.pop(other, None)
        _keep(self._evaluations, at, evaluation)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    while len(kept) >= MOST_KEPT:
        kept.pop(next(iter(kept)), None)
    kept[key] = value


@dataclass
class Partition(Labelled):
    """Rows with their labels; those of shared queries have none here.

    Attributes
    ----------
    X : ndarray or SciPy CSR matrix
    shared : ndarray of int, or None
        Rows of queries that have rows in other partitions, too; without labels, they make one
        query without pairs.
    """

    X: Any = None
    shared: NDArray[np.intp] | None = None
    _matrix: DesignMatrix | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_matrix": None}

    def __sizeof__(self) -> int:
        X = self.X
        parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        return sum(part.nbytes for part in [*parts, self.preferences.y]) + sys.getsizeof(None)

    @property
    def n_queries(self) -> int:
        """Number of queries that are whole here."""
        return self.preferences.groups.n_queries - (self.shared is not None)

    def matrix(self, offset: Vector | None) -> DesignMatrix:
        """View X, with columns that lie far from zero brought near it.

        By an offset that all partitions share, where queries do; else each by its own.
        """
        if self._matrix is None:
            matrix = matrix_of(self.X)
            self._matrix = matrix.centered() if offset is None else matrix.less(offset)
        return self._matrix


def matrix_of(X: Any) -> DesignMatrix:
    """View X, with a column for each feature in every partition."""
    return DesignMatrix.from_array(X, X.shape[1])


class SharedPart(NamedTuple):
    """The rows of shared queries in a partition, without their features."""

    y: Vector
    ids: NDArray[Any] | None
    sample_weight: Vector | None
    query_weight: Vector | None


@dataclass
class Shared(Labelled):
    """The labels of queries that are larger than a partition, all in one place.

    Attributes
    ----------
    ends : ndarray of shape (n_partitions - 1,)
        Where the rows of the partitions begin, but for the first.
    """

    ends: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def partition_of(
    rows: Rows,
    shared: NDArray[np.bool_] | None,
    folds: NDArray[np.int64] | None,
) -> Partition:
    """Make a partition of rows, of whose queries some are shared, in the order of a survey.

    `folds` are those of its queries, in the same order.
    """
    groups = QueryGroups.from_qid(rows.ids, len(rows.y))
    y, of_shared = rows.y, None
    if shared is not None and shared.any():
        is_shared = groups.per_row(shared)
        of_shared = np.flatnonzero(is_shared)
        folds = _folds_without(groups, is_shared, folds)
        numbers = np.where(is_shared, groups.n_queries, groups.numbers)
        groups = QueryGroups.from_qid(numbers, len(y))
        y = np.where(is_shared, 0.0, y)
        weight = None if rows.query_weight is None else np.where(is_shared, 1.0, rows.query_weight)
    else:
        weight = rows.query_weight
    of_queries = None
    if weight is not None:
        of_queries = per_query_weight(weight, groups) if weight.any() else weight[groups.first_rows]
    preferences = Preferences(y, groups, rows.sample_weight, of_queries)
    return Partition(preferences, folds, X=rows.X, shared=of_shared)


def runs_of(n_stored: Sequence[int]) -> list[slice]:
    """Cut partitions into runs that are worth a task each, by the values that they store.

    A partition that is worth one itself makes a run alone.
    """
    runs: list[slice] = []
    first = in_run = 0
    for k, n in enumerate(n_stored):
        in_run += n
        if k - first == FAN or (k > first and in_run > MOST_STORED):
            runs.append(slice(first, k))
            first, in_run = k, n
    return [*runs, slice(first, len(n_stored))]


def bundle_of(
    rows: Sequence[Rows], folds: Sequence[NDArray[np.int64] | None]
) -> tuple[Partition, ...]:
    """Make partitions of which each step goes through all in one task."""
    pairs = zip(rows, folds, strict=True)
    return tuple(partition_of(of_part, None, of_queries) for of_part, of_queries in pairs)


def _folds_without(
    groups: QueryGroups, is_shared: NDArray[np.bool_], folds: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    if folds is None:
        return None
    numbers = np.where(is_shared, groups.n_queries, groups.numbers)
    within = QueryGroups.from_qid(numbers, len(numbers))
    of_queries: NDArray[np.int64] = np.append(folds, -1)[numbers[within.first_rows]]
    return of_queries


def shared_part(rows: Rows, shared: NDArray[np.bool_]) -> SharedPart:
    """Return what is to be known in one place of the rows of shared queries."""
    groups = QueryGroups.from_qid(rows.ids, len(rows.y))
    places = np.flatnonzero(groups.per_row(shared))
    taken = rows._replace(X=np.zeros((len(rows.y), 0))).taken(places)
    return SharedPart(taken.y, taken.ids, taken.sample_weight, taken.query_weight)


def shared_of(*parts: SharedPart) -> Shared:
    """Put them together, in the order of the partitions."""
    y, ids, sample_weight, query_weight = (
        None if values[0] is None else np.concatenate(values) for values in zip(*parts, strict=True)
    )
    assert y is not None
    groups = QueryGroups.from_qid(ids, len(y))
    of_queries = None if query_weight is None else per_query_weight(query_weight, groups)
    ends = np.cumsum([len(part.y) for part in parts])[:-1]
    return Shared(Preferences(y, groups, sample_weight, of_queries), None, ends=ends)
