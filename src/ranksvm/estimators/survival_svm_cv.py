"""The choice of C for the survival SVM by cross-validation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..linear.condition_arguments import OfFeatures
from ..linear.design_matrix import DesignMatrix
from ..selection.rows import TrainingRows
from .linear_chooser import LinearChooser
from .survival_ranker import SurvivalRanker
from .whole import fitted_or_not


class SurvivalSVMCV(SurvivalRanker, LinearChooser):
    """Linear survival support vector machine with C chosen by cross-validation.

    As `RankSVMCV`: for each fold, the solution for each C is the start for the next larger one.
    What is measured on each fold is the concordance index, with the weights of `ipcw` and `tau`,
    which are those of all rows.

    Parameters
    ----------
    Cs, cv, one_standard_error, refit
        As for `RankSVMCV`; strata are queries. Rows of a single stratum are dealt out in the order
        of their times.
    loss, normalize, ipcw, tau
        As for `SurvivalSVM`.
    positive, lower_bounds, upper_bounds, prior, l1_ratio, penalty_weights
        As for `RankSVMCV`.
    solver, counting, tol, max_iter, n_threads, n_jobs, qid, verbose
        As for `RankSVMCV`.

    Attributes
    ----------
    C_, Cs_, best_index_, best_score_, cv_results_, n_splits_, members_
        As for `RankSVMCV`; there is one member.
    coef_, weights_, objective_, dual_gap_, status_, n_iter_, history_, n_pairs_, n_queries_
        Of the model trained on all rows, as for `SurvivalSVM`; only with `refit`.
    n_features_in_, feature_names_in_, qid_column_
        As for `RankSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import SurvivalSVMCV
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> time = np.exp(-X[:, 0])
    >>> model = SurvivalSVMCV(Cs=[0.01, 1, 100], cv=3).fit(X, event=time < 2, time=time)
    >>> bool(model.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        Cs: int | ArrayLike = 20,
        *,
        cv: Any = 5,
        one_standard_error: bool = False,
        refit: bool = True,
        loss: str = "squared_hinge",
        normalize: str | None = "documents",
        ipcw: str | None = None,
        tau: float | None = None,
        positive: bool = False,
        lower_bounds: OfFeatures = None,
        upper_bounds: OfFeatures = None,
        prior: Any = None,
        l1_ratio: float | ArrayLike = 0.0,
        penalty_weights: OfFeatures = None,
        solver: str = "auto",
        counting: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_threads: int | None = None,
        n_jobs: int | None = None,
        qid: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.loss = loss
        self.normalize = normalize
        self.ipcw = ipcw
        self.tau = tau
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
        self.n_threads = n_threads
        self.n_jobs = n_jobs
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
        prior: Any = None,
    ) -> SurvivalSVMCV:
        """Learn from times of events.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            As for `RankSVM.fit`.
        y, qid, sample_weight, query_weight, event, time, prior
            As for `SurvivalSVM.fit`.

        Returns
        -------
        SurvivalSVMCV
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, there is no comparable pair to learn from, or no fold
            has comparable pairs both to train and to validate on.

        Warns
        -----
        ConvergenceWarning
            If gaps did not reach `tol`.
        UserWarning
            If a fold is left out, as its training rows or its validation rows have no pairs.
        """
        with fitted_or_not(self):
            X, preferences = self._survival_rows(
                X, y, qid, sample_weight, query_weight, event, time
            )
            self._choose(TrainingRows(DesignMatrix.from_array(X), preferences), X, prior)
        return self
