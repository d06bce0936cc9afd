"""Rankers that are trained on a cluster of Dask: the same optimum, the same certificate.

Rows stay where they are. Each step of a solver is a round: a task for each partition that computes
value, gradient and Hessian there, and a tree of sums, added up in the order of the partitions. So
the result depends on the partitions, to the last bit, but not on the workers, their number, their
speed or their death.

It needs ``pip install 'ranksvm[dask]'``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from distributed import Client, default_client
from sklearn.utils.validation import check_is_fitted

from .cluster.data import ClusterData, load
from .cluster.driver import ClusterError, driving
from .cluster.folds import scores_of_folds
from .cluster.measuring import measured, predicted
from .cluster.sources import sources_of
from .cluster.training import ClusterIteration, recipe_of, train
from .estimators.convergence import warn_unless_converged
from .estimators.linear_ranker import LinearRanker
from .estimators.rank_svm import RankSVM
from .estimators.whole import fitted_or_not
from .linear.condition_arguments import OfFeatures
from .linear.grid import grid_of
from .linear.parameters import require_count
from .metrics import evaluate
from .progress import IterationTable
from .selection.scoring import DEFAULT_SCORING, scorer

__all__ = ["ClusterError", "ClusterIteration", "DaskRankSVM", "DaskRankSVMCV"]

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
                raise ValueError(
                    f"{type(self).__name__} needs a cluster: give client=, or start one by "
                    "distributed.Client() first"
                ) from None
        if not isinstance(client, Client):
            raise TypeError(f"client must be a distributed.Client, not a {type(client).__name__}")
        if client.asynchronous:
            raise ValueError("client is asynchronous; give one that is not")
        return client

    def _require_parameters(self) -> None:
        recipe_of(self._parameters(1.0))
        if self.split_queries not in SPLIT:
            raise ValueError(
                f"split_queries must be one of 'move', 'error', not {self.split_queries!r}"
            )

    def _sources(self, X: Any, y: Any, qid: Any, sample_weight: Any, query_weight: Any) -> Any:
        if qid is not None and self.qid is not None:
            raise ValueError(f"queries are given twice, by qid and qid={self.qid!r}: give one")
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
        from sklearn.base import clone

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


class DaskRankSVM(ClusterRanker):
    """Linear ranking support vector machine on a cluster of Dask.

    The optimum of `RankSVM`, with the same certificate; see there for the parameters and attributes
    that are not described here, and :doc:`/cluster` for what it takes.

    Parameters
    ----------
    C, loss, pair_weight, gains, top, normalize, positive, lower_bounds, upper_bounds, prior, \
l1_ratio, penalty_weights, solver, counting, tol, max_iter, warm_start, qid, verbose
        As for `RankSVM`; `pair_weight` is None, "gap" or "gain", `solver` is not "row_space".
    split_queries : {"move", "error"}, default="move"
        What to do with queries that are torn between partitions: move their rows to one of these,
        with a warning that says how many, or refuse them. A query that is larger than partitions
        are on average is not moved: its scores, 8 bytes a row, meet in one place.
    client : Client, optional
        Of `distributed`; by default the one that was started last. It is not pickled.

    Attributes
    ----------
    coef_, objective_, dual_gap_, status_, n_iter_, n_pairs_, n_queries_, n_features_in_
        As of `RankSVM`.
    history_ : list of ClusterIteration
        As of `RankSVM`, with rounds.
    n_moved_rows_ : int
        How many rows changed their partition.

    Examples
    --------
    >>> from ranksvm.dask import DaskRankSVM
    >>> DaskRankSVM(C=10.0)
    DaskRankSVM(C=10.0)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        pair_weight: str | None = None,
        gains: str = "exponential",
        top: int = 30,
        normalize: str | None = "documents",
        positive: bool = False,
        lower_bounds: OfFeatures = None,
        upper_bounds: OfFeatures = None,
        prior: Any = None,
        l1_ratio: float = 0.0,
        penalty_weights: OfFeatures = None,
        solver: str = "auto",
        counting: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        split_queries: str = "move",
        qid: str | None = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.pair_weight = pair_weight
        self.gains = gains
        self.top = top
        self.normalize = normalize
        self.positive = positive
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self.prior = prior
        self.l1_ratio = l1_ratio
        self.penalty_weights = penalty_weights
        self.solver = solver
        self.counting = counting
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.split_queries = split_queries
        self.qid = qid
        self.verbose = verbose
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        *,
        prior: Any = None,
    ) -> DaskRankSVM:
        """Learn from labelled rows.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features), dask data frame, or list of paths
            Chunks are dense or `scipy.sparse` CSR, and stay what they are. Of the paths, those of
            packed data or of files such as Parquet, each is a partition, with labels, query ids and
            weights of its own.
        y : dask array or series
            Relevance labels, partitioned as X is.
        qid : dask array or series, or str, optional
            Query ids, or the name of a column of a data frame; all rows are one query by default.
        sample_weight, query_weight : dask array or series, optional
            As for `RankSVM.fit`.
        prior : optional
            As for `RankSVM.fit`.

        Returns
        -------
        DaskRankSVM

        Raises
        ------
        ValueError, TypeError
            If an argument is malformed, before any work as far as that can be seen.
        ClusterError
            If the cluster cannot go on.

        Warns
        -----
        ConvergenceWarning
            If the gap did not reach `tol`.
        UserWarning
            If rows were moved to bring torn queries together.
        """
        with fitted_or_not(self):
            self._require_parameters()
            sources = self._sources(X, y, qid, sample_weight, query_weight)
            with driving(self._client()) as driver:
                data = load(driver, sources, self.split_queries, self._n_folds)
                self._keep_features(data)
                self._train(data, prior)
        return self

    @property
    def _n_folds(self) -> int:
        return 0

    def _train(self, data: ClusterData, prior: Any) -> None:
        self._train_for(self.C, data, prior)

    def _train_for(self, C: float, data: ClusterData, prior: Any) -> None:
        conditions = self._conditions(data.n_features, prior, self.l1_ratio)
        parameters = replace(self._parameters(C), conditions=conditions)
        w0 = getattr(self, "weights_", None) if self.warm_start else None
        fit = train(data, parameters, w0=w0, callback=IterationTable() if self.verbose else None)
        if self.verbose and fit.advice is not None:
            sys.stderr.write(f"note: {fit.advice}\n")
        warn_unless_converged(fit.shortfall, stacklevel=3)
        self._keep(fit, parameters)


class DaskRankSVMCV(DaskRankSVM):
    """`DaskRankSVM` with the best C of a grid, by folds of whole queries.

    Queries are dealt to the folds in their order, partition by partition; a fold is left out by
    weights that are zero, so that no row is copied. The ranker is trained on all rows with the C
    whose mean pairwise accuracy is best, the smallest of these.

    Parameters
    ----------
    Cs : array-like, default=(0.01, 0.1, 1.0, 10.0)
    cv : int, default=5
        Number of folds.
    loss, pair_weight, gains, top, normalize, positive, lower_bounds, upper_bounds, prior, \
l1_ratio, penalty_weights, solver, counting, tol, max_iter, split_queries, qid, verbose, client
        As for `DaskRankSVM`.

    Attributes
    ----------
    C_ : float
    Cs_ : ndarray of shape (n_Cs,)
    scores_ : ndarray of shape (cv, n_Cs)
        The pairwise accuracy on each fold.
    best_score_ : float
        The best mean.
    coef_, objective_, dual_gap_, history_
        As of `DaskRankSVM`.
    """

    C: float  # that of the grid which is taken

    def __init__(
        self,
        Cs: Any = (0.01, 0.1, 1.0, 10.0),
        *,
        cv: int = 5,
        loss: str = "squared_hinge",
        pair_weight: str | None = None,
        gains: str = "exponential",
        top: int = 30,
        normalize: str | None = "documents",
        positive: bool = False,
        lower_bounds: OfFeatures = None,
        upper_bounds: OfFeatures = None,
        prior: Any = None,
        l1_ratio: float = 0.0,
        penalty_weights: OfFeatures = None,
        solver: str = "auto",
        counting: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        split_queries: str = "move",
        qid: str | None = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.loss = loss
        self.pair_weight = pair_weight
        self.gains = gains
        self.top = top
        self.normalize = normalize
        self.positive = positive
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self.prior = prior
        self.l1_ratio = l1_ratio
        self.penalty_weights = penalty_weights
        self.solver = solver
        self.counting = counting
        self.tol = tol
        self.max_iter = max_iter
        self.split_queries = split_queries
        self.qid = qid
        self.verbose = verbose
        self.client = client

    warm_start = False

    def _train(self, data: ClusterData, prior: Any) -> None:
        grid = grid_of(self.Cs)
        conditions = self._conditions(data.n_features, prior, self.l1_ratio)
        of_each = [replace(self._parameters(float(C)), conditions=conditions) for C in grid]
        self.Cs_, self.scores_ = grid, scores_of_folds(data, of_each, self.cv)
        means = self.scores_.mean(axis=0)
        self.best_score_ = float(means.max())
        self.C_ = float(grid[means == means.max()].min())
        self._train_for(self.C_, data, prior)

    @property
    def _n_folds(self) -> int:
        require_count("cv", self.cv, 2)
        return self.cv
