"""Features from 0 to 1 within each query, as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError
from ..models.maps import QueryMap
from ..pairs.queries import QueryGroups

_KINDS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Bring each feature to the interval from 0 to 1 within each query, as LETOR publishes them.

    With :math:`\min_q` and :math:`\max_q` over the rows of the query q of row i,
    :math:`x_{ik}` becomes :math:`(x_{ik} - \min_q) / (\max_q - \min_q)`, and 0 where all of them
    are equal. Nothing is learnt from the rows of a fit: those of each query scale themselves, and
    all rows that compete must be given together.

    With metadata routing enabled, `qid` reaches every method of the scaler in a pipeline without
    further requests. Sparse rows stay sparse, unless a value is negative.

    Attributes
    ----------
    n_queries_ : int
        How many queries the rows of `fit` had.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where X was a data frame.

    Examples
    --------
    >>> from ranksvm import QueryScaler
    >>> QueryScaler().fit_transform([[1.0], [3.0], [2.0], [20.0], [60.0]], qid=[0, 0, 0, 1, 1])
    array([[0. ],
           [1. ],
           [0.5],
           [0. ],
           [1. ]])
    """

    # With metadata routing enabled, qid reaches both without further requests.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, qid: ArrayLike | None = None) -> QueryScaler:
        """Check rows, and count their queries.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : object, optional
            Not used.
        qid : array-like of shape (n_samples,), optional
            Query ids, as for `RankSVM`; without, all rows are one query.

        Returns
        -------
        QueryScaler
            This object.
        """
        X = validate_data(self, X, **_KINDS)
        self.n_queries_ = QueryGroups.from_qid(qid, X.shape[0]).n_queries
        return self

    def transform(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.float64] | Any:
        """Scale rows within their queries.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        qid : array-like of shape (n_samples,), optional
            As for `fit`.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If there are no query ids, though the rows of `fit` came in several queries.
        """
        check_is_fitted(self, "n_queries_")
        X = validate_data(self, X, reset=False, **_KINDS)
        if qid is None and self.n_queries_ > 1:
            raise InputError(
                f"the scaler was fitted to {self.n_queries_} queries, but transform was given no "
                "qid: in a pipeline, enable metadata routing and give qid to predict"
            )
        return QueryMap(X.shape[1]).apply(X, qid)

    def fit_transform(
        self, X: Any, y: Any = None, qid: ArrayLike | None = None
    ) -> NDArray[np.float64] | Any:
        """Do both; see `fit` and `transform`."""
        return self.fit(X, y, qid).transform(X, qid)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
