"""The choice of lambda and of the kernel's width along regularization paths."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernel.kernels import Kernel
from ..kernel.path.following import Stop
from ..kernel.path.regularization import solve_path
from ..linear.design_matrix import DesignMatrix
from ..linear.parameters import require_count
from ..memory import bytes_of
from ..models.kernel import KernelModel
from ..pairs.preferences import Preferences
from ..progress import FitCounter
from ..selection.fold_scores import rank_of
from ..selection.folds import make_folds
from ..selection.paths import FoldPaths, PathScores, chosen_graph, kernels_of_widths
from ..selection.rows import TrainingRows
from ..selection.scoring import DEFAULT_SCORING, Scoring, check_scoring
from ..threads import require_workers
from .convergence import warn_unless_converged
from .kernel_ranker import KernelRanker
from .whole import fitted_or_not

Vector = NDArray[np.float64]


class KernelRankSVMPathCV(KernelRanker):
    """Kernel RankSVM with lambda and the width of the kernel chosen along regularization paths.

    For each fold and each width of a grid, finds the solutions for all lambda at once
    (`regularization_path`) from the other folds, and measures the ranking of the fold all along;
    follows the path of all rows with the width, and takes the lambda, whose mean over the folds is
    best.

    The breakpoints of the folds' paths are merged, as far down as all paths go, and every fold is
    measured at each of them by the solution that is exact there, so that each mean is one of scores
    at the same lambda. Above the first, no solution ranks otherwise.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        See `ranksvm.kernel.kernels.Kernel`; with "precomputed", X is the matrix of the kernel.
    gammas : float or array-like, optional
        The width of the kernel, or a grid. By default 1 / n_features times 1/16, 1/4, 1, 4 and 16,
        which suits standardised features. Kernels without gamma take none.
    degree : float, default=3
    coef0 : float, default=1
    graph : {"auto", "full", "reduced"}, default="auto"
        The pairs to learn from: see `regularization_path`. The full graph ranks better, and its
        paths take longer, in proportion to the pairs: "auto" takes it where all rows have at most
        100,000 pairs, and else the reduced one, with a warning.
    cv : int, splitter or iterable, default=5
        As for `RankSVMCV`; ``[(train, validation)]`` is a single validation set.
    scoring : str or callable, default="pairwise_accuracy_pooled"
        As for `RankSVMCV`: what is measured on each fold; larger is better.
    lambda_min_ratio : float, default=1e-3
        Where the path of each fold ends, as a part of its first lambda.
    n_lambdas : int, default=1000
        At how many lambdas, at most, each width is measured. Of more merged breakpoints, this many
        are taken evenly by their number, with the first and the last.
    one_standard_error : bool, default=False
        Choose, with the best width, the largest lambda whose mean is within one standard error of
        the best mean.
    refit : bool, default=True
        Follow the path of all rows, down to where those of the folds were measured.
    max_memory : float, default=4e9
        Bytes for each path: see `regularization_path`.
    n_jobs : int or None, default=None
        Folds at a time; None is as many as there are CPUs. The result is the same to the last bit.
    qid : str, optional
        As for `RankSVM`.
    verbose : int, default=0
        1 prints to standard error what the paths of each width take, before they begin, and counts
        them.

    Attributes
    ----------
    lambda_ : float
        The lambda chosen; of equal means the largest. If the path of all rows must end above it,
        where it ends.
    gamma_ : float or None
        The width chosen, of equal means the first of the grid; None if the kernel has none.
    best_index_ : int
        The row of `cv_results_` that was chosen.
    best_score_ : float
        Its mean score.
    cv_results_ : dict of ndarray of shape (n_rows,)
        For each width and each lambda measured: "param_gamma" (NaN if the kernel has none),
        "param_lambda", and "mean_test_score", "std_test_score", "standard_error",
        "rank_test_score" and the scores of the folds, as for `RankSVMCV`.
    graph_ : {"full", "reduced"}
        The pairs that were learnt from.
    n_splits_ : int
        Number of folds.
    path_ : RegularizationPath
        Of all rows; only with `refit`.
    dual_coef_ : ndarray of shape (n_samples,)
        The coefficients of the training rows at `lambda_`; only with `refit`.
    n_pairs_, n_queries_ : int
        Only with `refit`.
    n_features_in_, feature_names_in_, qid_column_
        As for `RankSVM`.

    See Also
    --------
    regularization_path : The path alone, and the objective.

    References
    ----------
    Zapien, Gasso, Gaertner and Canu, "Model selection for ranking SVM using regularization path",
    in: Machine Learning, InTech (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import KernelRankSVMPathCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.digitize((X**2).sum(axis=1), [1, 3])
    >>> model = KernelRankSVMPathCV(gammas=[0.1, 1.0], cv=3).fit(X, y)
    >>> bool(model.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gammas: ArrayLike | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        graph: str = "auto",
        cv: Any = 5,
        scoring: str | Scoring = DEFAULT_SCORING,
        lambda_min_ratio: float = 1e-3,
        n_lambdas: int = 1000,
        one_standard_error: bool = False,
        refit: bool = True,
        max_memory: float | str = 4e9,
        n_jobs: int | None = None,
        qid: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.graph = graph
        self.cv = cv
        self.scoring = scoring
        self.lambda_min_ratio = lambda_min_ratio
        self.n_lambdas = n_lambdas
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.qid = qid
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        *,
        group: ArrayLike | None = None,
        pairs: None = None,
    ) -> KernelRankSVMPathCV:
        """Choose lambda and the width, and learn from labelled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; for a precomputed kernel, its matrix.
        y, qid, group
            As for `RankSVM.fit`.
        pairs : None
            Paths are those of labels: `KernelRankSVM` takes given pairs.

        Returns
        -------
        KernelRankSVMPathCV
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, the kernel is not one for these rows, no fold has pairs
            both to train and to validate on, or `max_memory` would be exceeded.

        Warns
        -----
        ConvergenceWarning
            If a path had to end early: see `regularization_path`.
        UserWarning
            As for `RankSVMCV.fit`, or if there are too many pairs for the full graph.
        """
        if pairs is not None:
            raise InputError("paths are followed for labels: given pairs are for KernelRankSVM")
        with fitted_or_not(self):
            check_scoring(self.scoring)
            stop = Stop(self.lambda_min_ratio, max_memory=bytes_of(self.max_memory))
            if self.n_lambdas is not None:
                require_count("n_lambdas", self.n_lambdas, 1)
            if self.n_jobs is not None:
                require_workers("n_jobs", self.n_jobs)
            X, y, ids = self._training_rows(X, y, qid, group)
            kernels = kernels_of_widths(
                self.kernel, self.gammas, self.degree, self.coef0, self.n_features_in_
            )
            rows = TrainingRows(DesignMatrix.from_array(X), Preferences.from_labels(y, ids))
            folds = make_folds(self.cv, y, rows.query)
            self.graph_ = chosen_graph(y, rows.query) if self.graph == "auto" else self.graph
            paths = FoldPaths(
                X,
                rows,
                folds,
                self.scoring,
                stop,
                graph=self.graph_,
                n_lambdas=self.n_lambdas,
                n_jobs=self.n_jobs,
            )
            if self.verbose:
                for kernel in kernels:
                    sys.stderr.write(f"{paths.cost(kernel)}\n")
            counter = FitCounter(len(folds) * len(kernels)) if self.verbose else None
            results = [paths.validate(kernel, counter) for kernel in kernels]
            for shortfall in {line: None for result in results for line in result.shortfalls}:
                warn_unless_converged(shortfall)
            self.n_splits_ = len(folds)
            chosen = self._choose(kernels, results)
            if self.refit:
                self._follow_all(X, rows, kernels[chosen], results[chosen].lambdas[-1])
        return self

    def predict(self, X: Any) -> Vector:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            For a precomputed kernel: its values with the training rows. A data frame may have the
            column of query ids, or not.

        Returns
        -------
        ndarray of shape (n_rows,), float64
        """
        X = self._features(X)
        return self.path_.predict(X, self.lambda_)

    def to_model(self) -> KernelModel:
        """Return the solution that was chosen along the path, as `save_model` writes it.

        Returns
        -------
        KernelModel
        """
        self._require_fitted()
        path, support = self.path_, self.dual_coef_.nonzero()[0]
        return KernelModel(
            path.kernel,
            path.X[support],
            self.dual_coef_[support],
            feature_names=self._feature_names(),
            parameters={"lambda": self.lambda_, "loss": "hinge", "graph": self.graph_},
            training={
                "status": path.status,
                "violation": path.violation,
                "n_pairs": self.n_pairs_,
                "n_queries": self.n_queries_,
            },
        )

    def _choose(self, kernels: list[Kernel], results: list[PathScores]) -> int:
        """Keep the table and what is best in it; return the place of the width."""
        tables = [
            {
                "param_gamma": np.full(len(result.lambdas), kernel.gamma, dtype=np.float64),
                "param_lambda": result.lambdas,
                **result.columns(),
            }
            for kernel, result in zip(kernels, results, strict=True)
        ]
        table = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
        table["rank_test_score"] = rank_of(table["mean_test_score"])
        chosen = int(np.argmax([result.mean.max() for result in results]))
        best = results[chosen].best(self.one_standard_error)
        self.cv_results_ = table
        self.best_index_ = best + sum(len(result.lambdas) for result in results[:chosen])
        self.best_score_ = float(results[chosen].mean[best])
        self.lambda_, self.gamma_ = float(results[chosen].lambdas[best]), kernels[chosen].gamma
        return chosen

    def _follow_all(self, X: Any, rows: TrainingRows, kernel: Kernel, lambda_min: float) -> None:
        stop = Stop(lambda_min=lambda_min, max_memory=bytes_of(self.max_memory))
        self.path_ = solve_path(X, rows.y, rows.query, kernel, stop, graph=self.graph_)
        warn_unless_converged(self.path_.shortfall, stacklevel=4)
        self.lambda_ = max(self.lambda_, float(self.path_.lambdas[-1]))
        self.dual_coef_ = self.path_.coef_at(self.lambda_)
        self.n_pairs_ = len(self.path_.graph)
        self.n_queries_ = rows.preferences.groups.n_queries
