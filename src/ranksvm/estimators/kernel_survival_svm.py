"""The survival SVM with a kernel as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from .callbacks import fit_task
from .kernel_trainer import KernelTrainer
from .survival_ranker import SurvivalRanker
from .whole import fitted_or_not


class KernelSurvivalSVM(SurvivalRanker, KernelTrainer):
    """Survival support vector machine with a kernel.

    What `SurvivalSVM` minimises over weights, over the functions of a kernel, as `KernelRankSVM`
    does. The optimum and its certificate are those over all functions.

    Parameters
    ----------
    C, loss, normalize, ipcw, tau
        As for `SurvivalSVM`.
    kernel, gamma, degree, coef0, max_memory
        As for `KernelRankSVM`.
    solver, counting, tol, max_iter, n_threads, qid, verbose
        As for `SurvivalSVM`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_
        As for `KernelRankSVM`.
    objective_, dual_gap_, status_, n_iter_, history_, n_pairs_, n_queries_, qid_column_
        As for `SurvivalSVM`.
    n_features_in_, feature_names_in_
        As for `RankSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import KernelSurvivalSVM
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> time = 5 - np.minimum((X**2).sum(axis=1), 4)
    >>> model = KernelSurvivalSVM(C=10, gamma=0.5).fit(X, event=time < 4, time=time)
    >>> model.score(X, event=time < 4, time=time) > 0.95
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        loss: str = "squared_hinge",
        normalize: str | None = "documents",
        ipcw: str | None = None,
        tau: float | None = None,
        solver: str = "auto",
        counting: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_memory: float | str = 4e9,
        n_threads: int | None = None,
        qid: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.normalize = normalize
        self.ipcw = ipcw
        self.tau = tau
        self.solver = solver
        self.counting = counting
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.n_threads = n_threads
        self.qid = qid
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        *,
        event: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> KernelSurvivalSVM:
        """Learn from times of events.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            As for `KernelRankSVM.fit`.
        y, qid, sample_weight, query_weight, event, time
            As for `SurvivalSVM.fit`.

        Returns
        -------
        KernelSurvivalSVM
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, there is no comparable pair to learn from, or the
            kernel is not one for these rows, or `max_memory` would be exceeded.

        Warns
        -----
        ConvergenceWarning
            If the gap did not reach `tol`.
        """
        with fitted_or_not(self), fit_task(self, X, y, qid):
            X, preferences = self._survival_rows(
                X, y, qid, sample_weight, query_weight, event, time
            )
            self._train(X, preferences)
        return self
