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

from .cluster.data import ClusterData, load
from .cluster.driver import ClusterError, driving
from .cluster.folds import scores_of_folds
from .cluster.ranker import ClusterRanker
from .cluster.training import ClusterIteration, train
from .errors import InputError
from .estimators.convergence import warn_unless_converged
from .estimators.whole import fitted_or_not
from .linear.condition_arguments import OfFeatures
from .linear.grid import grid_of
from .linear.parameters import require_count
from .progress import IterationTable

__all__ = ["ClusterError", "ClusterIteration", "DaskRankSVM", "DaskRankSVMCV"]


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
        pairs: Any = None,
        pair_weights: Any = None,
        margins: Any = None,
        prior: Any = None,
    ) -> DaskRankSVM:
        """Learn from labelled rows.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features), dask data frame, or list of paths
            Chunks are dense or SciPy CSR, and stay what they are. Of the paths, those of
            packed data or of files such as Parquet, each is a partition, with labels, query ids and
            weights of its own.
        y : dask array or series
            Relevance labels, partitioned as X is.
        qid : dask array or series, or str, optional
            Query ids, or the name of a column of a data frame; all rows are one query by default.
        sample_weight, query_weight : dask array or series, optional
            As for `ranksvm.RankSVM.fit`.
        pairs, pair_weights, margins : None
            Refused: pairs of rows are for `RankSVM`.
        prior : optional
            As for `ranksvm.RankSVM.fit`.

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
        if not (pairs is None and pair_weights is None and margins is None):
            raise InputError(
                "given pairs are not for a cluster: give labels and queries, or train by RankSVM"
            )
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
