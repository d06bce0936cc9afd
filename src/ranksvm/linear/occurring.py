"""The features that occur: those of which some row stores a value.

Words that are hashed to features leave most of billions of numbers unused. To the penalty of a
weight the loss adds nothing where the column is empty, ``(X'g)_k = 0``, so that the weight is zero
at the optimum, exactly. Where most features occur nowhere, the columns of a matrix are those that
do, numbered anew: all vectors of a training are as long as there are of these, and value, bound and
gap are those of the problem with all features. It is worth looking where features are many beside
the stored values: a row of text has a hundred words or so of ten thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lazy import cached_property
from ..records import record

Vector = NDArray[np.float64]

SPARE = 2  # features for each that occurs, beyond which only those that occur have columns
# Features for each stored value, up to which nobody looks for those that occur.
IN_TRAINING = 0.25
IN_SCORING = 16.0  # where a vector of all features is needed once
MARKED = 4  # likewise, up to which there is a mark for each feature
FEW = 1024  # features that are kept in any case


@record
class Columns:
    """Which features the columns of a matrix are.

    Attributes
    ----------
    n_features : int
    features : ndarray of shape (n_columns,), or None
        Of each column, ascending; None for a column for each feature.
    """

    n_features: int
    features: NDArray[np.integer] | None = None

    def __len__(self) -> int:
        return self.n_features if self.features is None else len(self.features)

    def feature(self, places: Any) -> Any:
        """Return which features the columns at these places are."""
        return places if self.features is None else self.features[places]

    def only(self, X: Any) -> Any:
        """Return a matrix of SciPy, in CSR form, with these columns alone."""
        if self.features is None:
            return X
        places = np.searchsorted(self.features, X.indices)
        return type(X)((X.data, places, X.indptr), shape=(X.shape[0], len(self)))

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of columns, the last dimension, as those of all features, zero elsewhere.

        Zeros take no memory before they are written to.
        """
        if self.features is None:
            return values
        everywhere: NDArray[np.float64] = np.zeros((*values.shape[:-1], self.n_features))
        everywhere[..., self.features] = values
        return everywhere


def occurring(
    indptr: NDArray[Any], indices: NDArray[Any], n_features: int, spare: float = IN_TRAINING
) -> tuple[NDArray[Any], NDArray[Any], Columns]:
    """Give numbers to the columns that occur, if these are few among many features.

    Parameters
    ----------
    indptr, indices : ndarray
        Of the matrix.
    n_features : int
    spare : float, default=0.25
        How many features for each stored value are not yet many.

    Returns
    -------
    indptr, indices : ndarray
        As they were, or in the numbers of the columns that occur.
    columns : Columns
    """
    n_stored = int(indptr[-1]) if len(indptr) else 0
    unchanged = indptr, indices, Columns(n_features)
    if n_features <= max(spare * len(indices), FEW) or not 0 < n_stored <= len(indices):
        return unchanged
    stored = indices[:n_stored]
    if stored.min() < 0 or stored.max() >= n_features:
        return unchanged  # for the core to refuse
    features = _features_of(stored, n_features)
    if n_features <= SPARE * len(features):
        return unchanged
    return indptr, _places(features, stored, n_features), Columns(n_features, features)


def _features_of(stored: NDArray[Any], n_features: int) -> NDArray[np.integer]:
    """Return which features occur, ascending."""
    if n_features > MARKED * len(stored):
        return np.unique(stored)
    occurs = np.zeros(n_features, dtype=bool)
    occurs[stored] = True
    return np.flatnonzero(occurs).astype(stored.dtype)


def _places(
    features: NDArray[np.integer], stored: NDArray[Any], n_features: int
) -> NDArray[np.integer]:
    """Return the place of each stored feature among those that occur."""
    kind = np.int32 if len(stored) < 1 << 31 else np.int64
    if n_features > MARKED * len(stored):
        return np.searchsorted(features, stored).astype(kind)
    place_of_each = np.empty(n_features, dtype=kind)
    place_of_each[features] = np.arange(len(features), dtype=kind)
    places: NDArray[np.integer] = place_of_each[stored]
    return places


@record
class FeatureWeights:
    """A weight for each feature, zero for those that have no column.

    Attributes
    ----------
    columns : Columns
    values : ndarray of shape (n_columns,)
        The weights of these.
    """

    columns: Columns
    values: Vector

    @classmethod
    def of(cls, weights: FeatureWeights | Vector) -> FeatureWeights:
        """Return weights, given as they are, or as a vector of all features."""
        if isinstance(weights, FeatureWeights):
            return weights
        return cls(Columns(len(weights)), weights)

    @classmethod
    def of_some(cls, weights: dict[int, float], n_features: int) -> FeatureWeights:
        """Return the weights of some features, counted from zero; the others are zero."""
        features = np.array(sorted(weights), dtype=np.int64)
        values = np.array([weights[k] for k in features.tolist()], dtype=np.float64)
        columns = Columns(n_features, features)
        if n_features > max(SPARE * len(features), FEW):
            return cls(columns, values)
        return cls.of(columns.spread(values))

    @classmethod
    def added(cls, several: Sequence[FeatureWeights]) -> FeatureWeights:
        """Return the sum of weights of the same features."""
        first = several[0].columns
        if all(one.columns is first for one in several):
            return cls(first, np.sum([one.values for one in several], axis=0))
        return cls.of(np.sum([one.dense for one in several], axis=0))

    @classmethod
    def concatenated(cls, several: Sequence[FeatureWeights]) -> FeatureWeights:
        """Return weights of features and then of others."""
        values = np.concatenate([one.values for one in several])
        sizes = [one.n_features for one in several]
        if all(one.columns.features is None for one in several):
            return cls.of(values)
        firsts = np.cumsum([0, *sizes[:-1]])
        features = [
            first + one.columns.feature(np.arange(len(one.columns)))
            for first, one in zip(firsts, several, strict=True)
        ]
        return cls(Columns(sum(sizes), np.concatenate(features)), values)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.columns.n_features

    @cached_property
    def dense(self) -> Vector:
        """The weights of all features; not to be written to, unless all have columns."""
        dense = self.columns.spread(self.values)
        if self.columns.features is not None:
            dense.flags.writeable = False
        return dense

    def at(self, columns: Columns) -> Vector:
        """Return the weights of the columns of a matrix, which may lack the last features."""
        ours, theirs = self.columns.features, columns.features
        if columns is self.columns:
            return self.values
        if theirs is None:
            return self.dense[: columns.n_features]
        if ours is None:
            chosen: Vector = self.values[theirs]
            return chosen
        if not len(ours):
            return np.zeros(len(theirs))
        places = np.minimum(np.searchsorted(ours, theirs), len(ours) - 1)
        found: Vector = np.where(ours[places] == theirs, self.values[places], 0.0)
        return found

    def times(self, factors: ArrayLike) -> FeatureWeights:
        """Multiply the weights by a factor, or by one for each feature."""
        given: Vector = np.asarray(factors, dtype=np.float64)
        features = self.columns.features
        factors = given if features is None or given.ndim == 0 else given[features]
        return FeatureWeights(self.columns, self.values * factors)

    def nonzero(self) -> tuple[NDArray[np.integer], Vector]:
        """Return the features whose weights are not zero, ascending, and these."""
        places = np.flatnonzero(self.values)
        return self.columns.feature(places), self.values[places]

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureWeights, (self.columns, self.values)  # without a dense copy
