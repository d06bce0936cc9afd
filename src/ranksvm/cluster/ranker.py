"""What rankers whose rows are on a cluster share as scikit-learn estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from distributed import Client, default_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..estimators.linear_ranker import LinearRanker
from ..estimators.rank_svm import RankSVM
from ..metrics.evaluation import DEFAULT_METRICS, Evaluation
from ..metrics.names import parse_metrics
from ..selection.scoring import DEFAULT_SCORING
from .data import ClusterData
from .driver import driving
from .measuring import Scorer, evaluated, predicted, predicted_rows
from .sources import is_paths, sources_of
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
        self._from_zero = data.from_zero
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
        X : dask array or data frame, or list of paths; or what `RankSVM.predict` takes

        Returns
        -------
        dask array, or ndarray, of shape (n_samples,)
            Lazy where X is, and for paths.
        """
        check_is_fitted(self, "weights_")
        if is_paths(X):
            return predicted_rows(sources_of(X), self._scorer)
        return predicted(self.to_local(), X) if is_dask_collection(X) else super().predict(X)

    @property
    def _scorer(self) -> Scorer:
        names = self._feature_names()
        of_features = None if names is None else tuple(names)
        return Scorer(self.weights_.dense, of_features, self._from_zero)

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """Pairwise accuracy on the cluster, pooled, ties one half: see `pairwise_accuracy`.

        Parameters
        ----------
        X, y, qid, sample_weight
            As for `fit`.

        Returns
        -------
        float

        Warns
        -----
        UserWarning
            If there are no query ids, though the model was trained on several queries.
        """
        found = self._evaluated(X, y, qid, sample_weight, DEFAULT_SCORING, None)
        accuracy = found.mean[DEFAULT_SCORING]
        if np.isnan(accuracy):
            raise InputError("no preference pairs: within every query all labels are equal")
        return accuracy

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        metrics: Any = DEFAULT_METRICS,
        *,
        preset: Any = None,
        sample_weight: Any = None,
    ) -> Evaluation:
        """Measure the rankings on the cluster: see `ranksvm.evaluate`.

        Rows are scored, and whole queries measured, where they are; of torn queries, scores and
        labels move to one partition.

        Parameters
        ----------
        X, y, qid, sample_weight
            As for `fit`.
        metrics, preset
            As for `ranksvm.evaluate`; no convention that breaks ties by document ids.

        Returns
        -------
        Evaluation
            With the queries in the order of the partitions.

        Warns
        -----
        UserWarning
            If a metric is defined in no query, or if there are no query ids, though the model was
            trained on several queries.
        """
        found = self._evaluated(X, y, qid, sample_weight, metrics, preset)
        nowhere = [name for name, value in found.mean.items() if np.isnan(value)]
        if nowhere:
            warnings.warn(
                f"no query has labels for which {', '.join(nowhere)} would be defined: the mean "
                "is nan",
                UserWarning,
                stacklevel=2,
            )
        return found

    def _evaluated(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, metrics: Any, preset: Any
    ) -> Evaluation:
        check_is_fitted(self, "weights_")
        asked = list(parse_metrics(metrics))
        qid = self.qid_column_ if qid is None else qid
        if not is_paths(X):
            self._warn_of_one_query(qid, "no qid was given", stacklevel=4)
        sources = sources_of(X, y, qid, sample_weight)
        with driving(self._client()) as driver:
            return evaluated(driver, sources, self._scorer, asked, preset)

    def _facts(self) -> dict[str, Any]:
        facts = super()._facts()
        if self._from_zero is not None:
            facts["training"]["zero_based"] = self._from_zero
        return facts

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
