"""What survival models share as scikit-learn estimators: times of events, and the score."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..arrays.libraries import to_host
from ..metrics import concordance_index
from ..pairs.preferences import Preferences
from ..pairs.survival import Survival
from .packed_data import refuse_packed
from .ranker import Ranker


class SurvivalRanker(Ranker):
    """Base of the estimators that learn who has an event earlier.

    All attributes are those of the rankers; what `predict` returns is a risk.
    """

    # All that is minimised of these are the comparable pairs.
    pair_weight: str | None = None

    ipcw: str | None
    tau: float | None

    def score(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        event: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> float:
        """Concordance index of the predictions: see `concordance_index`, of Harrell.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, event, time
            As for `fit`.
        qid : array-like of shape (n_samples,) or str, optional
            As for `fit`; by default the column that `fit` took the strata from.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Between 0 and 1.

        Warns
        -----
        UserWarning
            If there are no strata, though the model was trained on several.
        """
        self._require_fitted()
        ids = self._query_ids(X, qid)
        self._warn_of_one_query(ids, "score was given no qid")
        survival = _survival(y, event, time)
        ids, sample_weight = map(to_host, (ids, sample_weight))
        risk = to_host(self.predict(X))
        return concordance_index(
            survival.event, survival.time, risk, qid=ids, sample_weight=sample_weight
        )

    def _survival_rows(
        self,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: ArrayLike | None,
        query_weight: ArrayLike | None,
        event: ArrayLike | None,
        time: ArrayLike | None,
    ) -> tuple[Any, Preferences]:
        """Return the features, and the comparable pairs as preferences."""
        refuse_packed(X, type(self).__name__)
        survival = _survival(y, event, time)
        sample_weight, query_weight = map(to_host, (sample_weight, query_weight))
        X, _, ids = self._training_rows(X, survival.labels(), qid, None)
        return X, survival.preferences(
            ids, sample_weight, query_weight, ipcw=self.ipcw, tau=self.tau
        )


def _survival(y: Any, event: Any, time: Any) -> Survival:
    return Survival.of(y, to_host(event), to_host(time))
