"""What rankers that learn from labels or from given pairs share as scikit-learn estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..arrays.libraries import to_host
from ..errors import InputError
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from .packed_data import check_packed, is_packed, packed_preferences, require_alone
from .pair_arguments import PairArguments
from .ranker import Ranker

if TYPE_CHECKING:
    from ..disk.data import PackedData


class PairRanker(Ranker):
    """Base of the estimators that take pairs in place of labels."""

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
    ) -> float:
        """Pairwise accuracy of the predictions: see `pairwise_accuracy`, pooled, ties one half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or PackedData
            The latter have labels, query ids and weights of their own.
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,) or str, optional
            As for `fit`; by default the column that `fit` took the ids from.
        sample_weight : array-like of shape (n_samples,), optional
        pairs : array-like of shape (n_pairs, 2), optional
            In place of labels, the rows of the winner and of the loser of each pair, counted from
            zero: the score is the share of these that are in the right order.
        pair_weights : array-like of shape (n_pairs,), optional

        Returns
        -------
        float
            Between 0 and 1.

        Warns
        -----
        UserWarning
            If there are labels without query ids, though the model was trained on several queries.
        """
        self._require_fitted()
        given = PairArguments(pairs, pair_weights)
        if is_packed(X) and not given.are_given:
            require_alone(X, y=y, qid=qid)
            y, qid = X.y, X.qid
            sample_weight = X.sample_weight if sample_weight is None else sample_weight
        if given.are_given:
            from ..metrics.pairs import given_accuracy

            scores = to_host(self.predict(X))
            preferences = given.preferences(len(scores), y=y, sample_weight=sample_weight)
            return given_accuracy(preferences)(scores)
        if y is None:
            raise InputError("score needs labels y, or pairs")
        ids = self._query_ids(X, qid)
        self._warn_of_one_query(ids, "score was given no qid")
        return self._score(X, y, ids, sample_weight)

    def _training_preferences(
        self,
        X: Any,
        y: ArrayLike | None,
        qid: Any,
        group: ArrayLike | None,
        given: PairArguments,
        **weights: Any,
    ) -> tuple[Any, AnyPreferences]:
        """Return the features, and the preferences among their rows; `weights` are for labels."""
        if is_packed(X):
            return self._packed_preferences(X, y, qid, group, given, **weights)
        if given.are_given:
            X, ids = self._training_features(X, qid, group)
            return X, given.preferences(X.shape[0], ids, y=y, **weights)
        X, labels, ids = self._training_rows(X, y, qid, group)
        on_host = {name: to_host(weight) for name, weight in weights.items()}
        return X, Preferences.from_labels(labels, ids, **on_host)

    def _packed_preferences(
        self,
        data: PackedData,
        y: ArrayLike | None,
        qid: Any,
        group: ArrayLike | None,
        given: PairArguments,
        **weights: Any,
    ) -> tuple[PackedData, AnyPreferences]:
        """Do the same for packed data."""
        require_alone(data, qid=self.qid if qid is None else qid, group=group)
        check_packed(self, data, reset=True)
        require_alone(data, y=y)
        self.qid_column_ = None
        return data, packed_preferences(data, given, **weights)
