"""What rankers share as scikit-learn estimators: queries, validation, scores."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..arrays.libraries import to_host
from ..errors import InputError
from ..linear.features import numeric_features
from ..pairs.columns import finite_column, finite_numbers
from ..pairs.queries import ids_from_sizes
from ..pairs.query_columns import query_column, warn_of_query_column, without_column
from .packed_data import refuse_packed
from .rows import KINDS

if TYPE_CHECKING:
    from ..models import Model

Vector = NDArray[np.float64]


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: anything that ranks, however it has been trained."""

    # With metadata routing enabled, qid reaches fit and score without further requests.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    qid: str | None

    # What `validate_data` makes of X.
    _kinds: ClassVar[dict[str, Any]] = KINDS

    @abstractmethod
    def predict(self, X: Any) -> Vector:
        """Score rows: higher is better; scores compare within a query."""

    def score(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Pairwise accuracy of the predictions: see `pairwise_accuracy`, pooled, ties one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,) or str, optional
            As for `fit`; by default the column that `fit` took the ids from.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Between 0 and 1.

        Warns
        -----
        UserWarning
            If there are no query ids, though the model was trained on several queries.
        """
        self._require_fitted()
        ids = self._query_ids(X, qid)
        self._warn_of_one_query(ids, "score was given no qid")
        return self._score(X, y, ids, sample_weight)

    def _require_fitted(self) -> None:
        """Refuse to rank without a model, as after choosing one without training it."""
        if not hasattr(self, "n_queries_") and hasattr(self, "cv_results_"):
            raise NotFittedError(
                f"this {type(self).__name__} has chosen, but not trained, a model, since "
                "refit=False: set refit=True, or train one with best_index_ of cv_results_"
            )
        check_is_fitted(self, "n_queries_")

    def _score(self, X: Any, y: ArrayLike, ids: Any, sample_weight: ArrayLike | None) -> float:
        y, scores, ids, sample_weight = map(to_host, (y, self._scores(X, ids), ids, sample_weight))
        labels = finite_column(y, "y")
        if len(labels) != len(scores):
            raise InputError(f"y has length {len(labels)} but X has {len(scores)} rows")
        from ..selection.scoring import DEFAULT_SCORING, scorer

        measure = scorer(getattr(self, "scoring", DEFAULT_SCORING), labels, ids, sample_weight)
        return measure(scores)

    def _scores(self, X: Any, ids: Any) -> Any:
        """Return scores of rows, for the queries of these ids, if that matters."""
        return self.predict(X)

    def _warn_of_one_query(self, ids: Any, lacking: str, stacklevel: int = 3) -> None:
        """Warn of rows without query ids for a ranker that was trained on several queries."""
        if ids is None and self.n_queries_ > 1:
            warnings.warn(
                f"the model was trained on {self.n_queries_} queries, but {lacking}: all rows are "
                "taken for one query",
                UserWarning,
                stacklevel=stacklevel,
            )

    def _features(self, X: Any) -> Any:
        """Return rows to score, checked, without the column of query ids."""
        self._require_fitted()
        if self.qid_column_ is not None:
            X = without_column(X, self.qid_column_)
        return validate_data(self, numeric_features(to_host(X)), reset=False, **self._kinds)

    def _query_ids(self, X: Any, qid: Any) -> Any:
        """Return ids as an array, out of a column where there are none; None for one query."""
        column = self.qid_column_ if qid is None else qid
        return query_column(X, column) if isinstance(column, str) else qid

    def _training_rows(
        self, X: Any, y: ArrayLike | None, qid: Any, group: ArrayLike | None
    ) -> tuple[Any, Vector, Any]:
        """Return the features, the labels, and the query ids or None."""
        refuse_packed(X, type(self).__name__)
        X, qid, column = self._without_queries(X, qid, group)
        y = to_host(y)
        X, y = self._checked(X, None if y is None else finite_numbers(y, "y"))
        self.qid_column_ = column
        labels = column_or_1d(y, warn=True)
        return X, labels, self._ids(qid, group, len(labels))

    def _training_features(self, X: Any, qid: Any, group: ArrayLike | None) -> tuple[Any, Any]:
        """Return the features of rows without labels, and the query ids or None."""
        X, qid, column = self._without_queries(X, qid, group)
        X = self._checked_features(X)
        self.qid_column_ = column
        return X, self._ids(qid, group, X.shape[0])

    def _ids(self, qid: Any, group: ArrayLike | None, n_samples: int) -> Any:
        return qid if group is None else ids_from_sizes(to_host(group), n_samples)

    def _without_queries(
        self, X: Any, qid: Any, group: ArrayLike | None
    ) -> tuple[Any, Any, str | None]:
        """Return the features, the query ids or None, and the column that these were."""
        qid = to_host(qid)
        if not (self.qid is None or isinstance(self.qid, str)):
            raise InputError(
                f"{type(self).__name__}(qid=...) takes the name of a column of a data frame, not a "
                f"{type(self.qid).__name__}; give ids as an array by fit(X, y, qid=ids)"
            )
        given = [
            name
            for name, value in [("qid", qid), ("group", group), (f"qid={self.qid!r}", self.qid)]
            if value is not None
        ]
        if len(given) > 1:
            raise InputError(f"queries are given twice, by {given[0]} and {given[1]}: give one")
        if not given:
            warn_of_query_column(X)
        column = qid if isinstance(qid, str) else self.qid
        if column is not None:
            qid, X = query_column(X, column), without_column(X, column)
        return X, qid, column

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return rows to train on, and their labels."""
        X, y = validate_data(self, numeric_features(to_host(X)), y, **self._kinds)
        return X, y

    def _checked_features(self, X: Any) -> Any:
        """Return rows to train on, without labels."""
        return validate_data(self, numeric_features(to_host(X)), **self._kinds)

    @abstractmethod
    def to_model(self) -> Model:
        """Return what the estimator has learned, as `save_model` writes it.

        Returns
        -------
        LinearModel or KernelModel

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        """

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
