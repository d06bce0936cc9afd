"""What rankers whose rows are on a cluster share as scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.base import is_dask_collection
from distributed import Client, default_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..estimators.linear_ranker import LinearRanker
from ..estimators.rank_svm import RankSVM
from ..metrics import evaluate
from ..selection.scoring import DEFAULT_SCORING, scorer
from .data import ClusterData
from .driver import driving
from .measuring import measured, predicted
from .sources import sources_of
from .training import recipe_of

SPLIT = ("move", "error")


class ClusterRanker(LinearRanker):
    """Base of the rankers whose rows are on a cluster."""

    client: Any
    n_threads: int | None = 1
    split_queries: str

    def _client(self) -> Client:
        client = self.client
        if client is None:
            try:
                client = default_client()  # type: ignore[no-untyped-call]
            except ValueError:
                raise InputError(
                    f"{type(self).__name__} needs a cluster: give client=, or start one by "
                    "distributed.Client() first"
                ) from None
        if not isinstance(client, Client):
            raise TypeError(f"client must be a distributed.Client, not a {type(client).__name__}")
        if client.asynchronous:
            raise InputError("client is asynchronous; give one that is not")
        return client

    def _require_parameters(self) -> None:
        recipe_of(self._parameters(1.0))
        if self.split_queries not in SPLIT:
            raise InputError(
                f"split_queries must be one of 'move', 'error', not {self.split_queries!r}"
            )

    def _sources(self, X: Any, y: Any, qid: Any, sample_weight: Any, query_weight: Any) -> Any:
        if qid is not None and self.qid is not None:
            raise InputError(f"queries are given twice, by qid and qid={self.qid!r}: give one")
        qid = self.qid if qid is None else qid
        self.qid_column_ = qid if isinstance(qid, str) else None
        return sources_of(X, y, qid, sample_weight, query_weight)

    def _keep_features(self, data: ClusterData) -> None:
        self.n_features_in_ = data.n_features
        self.n_moved_rows_ = data.n_moved
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_clone__(self) -> Any:
        """Return an unfitted copy that shares the client, which cannot be copied."""
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**copies, client=client)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def predict(self, X: Any) -> Any:
        """Score rows, partition by partition, when the scores are asked for.

        Parameters
        ----------
        X : dask array or data frame; or what `RankSVM.predict` takes

        Returns
        -------
        dask array, or ndarray, of shape (n_samples,)
            Lazy where X is.
        """
        check_is_fitted(self, "weights_")
        return predicted(self.to_local(), X) if is_dask_collection(X) else super().predict(X)

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """Pairwise accuracy on the cluster, pooled, ties one half: see `pairwise_accuracy`.

        Parameters
        ----------
        X, y, qid, sample_weight
            As for `fit`.

        Returns
        -------
        float
        """

        def accuracy(y: Any, scores: Any, ids: Any, weight: Any) -> float:
            return scorer(DEFAULT_SCORING, y, ids, weight)(scores)

        return float(self._measured(accuracy, X, y, qid, sample_weight))

    def evaluate(
        self, X: Any, y: Any = None, qid: Any = None, metrics: Any = None, **options: Any
    ) -> Any:
        """Measure the rankings on the cluster: see `ranksvm.evaluate`.

        Scores and labels, 16 bytes a row, come to one place; rows do not.

        Parameters
        ----------
        X, y, qid
            As for `fit`.
        metrics, **options
            As for `ranksvm.evaluate`.

        Returns
        -------
        Evaluation
        """

        def measure(y: Any, scores: Any, ids: Any, weight: Any) -> Any:
            given = {} if metrics is None else {"metrics": metrics}
            return evaluate(y, scores, ids, **given, **options)

        return self._measured(measure, X, y, qid, None)

    def _measured(self, measure: Any, X: Any, y: Any, qid: Any, sample_weight: Any) -> Any:
        check_is_fitted(self, "weights_")
        qid = self.qid_column_ if qid is None else qid
        sources = sources_of(X, y, qid, sample_weight)
        with driving(self._client()) as driver:
            return measured(driver, sources, self.weights_.dense, measure)

    def to_local(self) -> RankSVM:
        """Return the same ranker for what is in memory: a fitted `RankSVM`."""
        check_is_fitted(self, "weights_")
        shared = set(RankSVM().get_params()) & set(self.get_params(deep=False))
        local = RankSVM(**{name: getattr(self, name) for name in shared})
        for name, value in vars(self).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(local, name, value)
        local._trained_with = self._trained_with
        return local
