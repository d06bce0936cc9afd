"""Linear models: a weight for each feature, or for each that maps make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..linear.design_matrix import DesignMatrix
from ..linear.features import two_dimensional
from ..linear.occurring import IN_SCORING, FeatureWeights
from ..summaries import Tabular
from .columns import columns_of
from .maps import FeatureMap
from .maps.chains import applied, require_chain

_MAPPED_ROWS = 4096  # at a time


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LinearModel(Tabular):
    """A linear ranker: weights, and how they came about.

    Parameters
    ----------
    weights : ndarray of shape (n_features,), or FeatureWeights
    feature_names, parameters, training, maps
        As below.

    Attributes
    ----------
    weights : FeatureWeights
        Without the features that occurred nowhere, where these are most. Behind maps, of what they
        make of the features.
    feature_names : list of str or None
    parameters : dict
        What the model was trained with.
    training : dict
        What training reported: objective, dual_gap, status and the like; and, as "fingerprint",
        which data it saw (`ranksvm.jobs.fingerprint.fingerprint`).
    maps : tuple of FeatureMap
        What is done to features first, one after the other (`ranksvm.models.maps`).

    Raises
    ------
    ValueError
        If a map, or the weights, do not take what the map before makes.
    """

    weights: FeatureWeights
    feature_names: list[str] | None
    parameters: dict[str, Any]
    training: dict[str, Any]
    maps: tuple[FeatureMap, ...]

    def __init__(
        self,
        weights: FeatureWeights | NDArray[np.float64],
        feature_names: list[str] | None = None,
        parameters: dict[str, Any] | None = None,
        training: dict[str, Any] | None = None,
        maps: Sequence[FeatureMap] = (),
    ) -> None:
        vars(self).update(
            weights=FeatureWeights.of(weights),
            feature_names=feature_names,
            parameters={} if parameters is None else parameters,
            training={} if training is None else training,
            maps=tuple(maps),
        )
        self._require_chain()

    @property
    def _title(self) -> str:
        mapped = "".join(f" behind {one.name}" for one in self.maps)
        n_nonzero = int(np.count_nonzero(self.weights.values))
        n = self.weights.n_features
        members = self.training.get("members")
        mean = f"; the mean of {len(members)}" if isinstance(members, list) else ""
        return f"Linear ranker of {n} features{mapped}, {n_nonzero} of them with a weight{mean}"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the weights that are not zero, from the largest absolute value down."""
        features, values = self.weights.nonzero()
        order = np.argsort(-np.abs(values), kind="stable")
        names = None if self.maps else self.feature_names
        places = features[order].tolist()
        titles = places if names is None else [names[place] for place in places]
        return {"feature": titles, "weight": values[order].tolist()}

    @property
    def coef(self) -> NDArray[np.float64]:
        """The weights of all features, of shape (n_features,)."""
        return self.weights.dense

    def to_model(self) -> LinearModel:
        """Return the model itself, as estimators return what they have learned."""
        return self

    @property
    def n_features(self) -> int:
        """How many features there are, before the maps."""
        return self.maps[0].n_inputs if self.maps else self.weights.n_features

    @property
    def needs_queries(self) -> bool:
        """Whether features are mapped within queries."""
        return any(one.needs_queries for one in self.maps)

    def _require_chain(self) -> None:
        require_chain(self.maps, self.weights.n_features)

    def predict(
        self, X: Any, n_threads: int = 1, *, qid: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Score rows: higher is better.

        Parameters
        ----------
        X : array-like, sparse matrix or DesignMatrix of shape (n_samples, n_features)
            Of a data frame, if the model has feature names, the columns of these names, in any
            order and among others. A DesignMatrix is for models without maps.
        n_threads : int, default=1
        qid : array-like of shape (n_samples,), optional
            Query ids, for models that map features within queries.

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        ValueError
            If X has not as many features as the model, or lacks one of those that it names, or a
            value or score is not finite.
        """
        if self.maps:
            scores = self._mapped_scores(X, n_threads, qid)
        else:
            scores = _weighted(_viewed(X, self.feature_names), self.weights, n_threads)
        bad = np.flatnonzero(~np.isfinite(scores))
        if len(bad):
            raise InputError(
                f"X must be finite, and not too large; the score of row {bad[0]} is "
                f"{scores[bad[0]]}"
            )
        return scores

    def mapped(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Return what the maps make of rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), float64
        qid : array-like of shape (n_samples,), optional

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, number of weights)
        """
        return applied(self.maps, X, qid)

    def _mapped_scores(self, X: Any, n_threads: int, qid: ArrayLike | None) -> NDArray[np.float64]:
        if self.needs_queries and qid is None:
            raise InputError(
                "the model maps features within queries: give qid, the query of each row"
            )
        X = two_dimensional(columns_of(X, self.feature_names)).astype(np.float64, copy=False)
        if X.shape[1] != self.n_features:
            raise InputError(f"X has {X.shape[1]} features but the model has {self.n_features}")
        _require_finite(X)
        step = max(X.shape[0], 1) if self.needs_queries else _MAPPED_ROWS
        parts = [np.empty(0)]
        for start in range(0, X.shape[0], step):
            rows = self.mapped(X[start : start + step], qid)
            parts.append(_weighted(_viewed(rows, None), self.weights, n_threads))
        return np.concatenate(parts)


def _viewed(X: Any, names: list[str] | None) -> DesignMatrix:
    if isinstance(X, DesignMatrix):
        return X
    X = two_dimensional(columns_of(X, names))
    X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
    return DesignMatrix.from_array(X, IN_SCORING)


def _weighted(X: DesignMatrix, weights: FeatureWeights, n_threads: int) -> NDArray[np.float64]:
    found = X.columns.n_features
    if found != weights.n_features:
        raise InputError(f"X has {found} features but the model has {weights.n_features}")
    with np.errstate(over="ignore", invalid="ignore"):
        return X.dot(weights.at(X.columns), n_threads)


def _require_finite(X: Any) -> None:
    bad = np.argwhere(~np.isfinite(X)) if isinstance(X, np.ndarray) else ~np.isfinite(X.data)
    if isinstance(X, np.ndarray) and len(bad):
        row, feature = bad[0]
        raise InputError(f"X must be finite; row {row} has {X[row, feature]} in column {feature}")
    if not isinstance(X, np.ndarray) and bad.any():
        raise InputError(f"X must be finite; it stores {X.data[bad][0]}")
