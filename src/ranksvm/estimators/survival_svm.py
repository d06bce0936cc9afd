"""The survival SVM as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..linear.condition_arguments import OfFeatures
from .callbacks import fit_task
from .linear_trainer import LinearTrainer
from .survival_ranker import SurvivalRanker
from .whole import fitted_or_not


class SurvivalSVM(SurvivalRanker, LinearTrainer):
    """Linear survival support vector machine: who has the event earlier is the greater risk.

    Learns weights w from the comparable pairs of rows (i, j), those in which row i has an event,
    and row j has a later time, or the same time and is censored (:eq:`comparable`)::

        minimise  0.5 |w|^2 + c * sum over comparable (i, j) of  v_i phi(w'x_i - w'x_j)

    where phi is the hinge ``max(0, 1 - z)`` or its square. It is `RankSVM` on these pairs, with the
    same solvers, speed and certificate. Two events at one time are not compared, nor are two rows
    that are censored; so nothing depends on the order of the rows.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger fits the training pairs more closely.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
    normalize : {"documents", "pairs", "queries"} or None, default="documents"
        How C gives the weight c of a pair, as for `RankSVM`, with the comparable pairs as pairs and
        strata as queries. For None, C is ``alpha / 2`` of scikit-survival's FastSurvivalSVM with
        ``rank_ratio=1``.
    ipcw : {"uno", "uno_strata"} or None, default=None
        None weighs pairs alike. "uno" weighs those of the event i by ``1 / G(t_i-)^2``, the inverse
        probability that neither row is censored before, so that what is minimised does not depend
        on the censoring (:eq:`ipcw`); G is Kaplan and Meier's estimate from the training rows, all
        of them, or with "uno_strata" from those of each stratum.
    tau : float, optional
        Events that are not before this time are not taken for earlier than others. With `ipcw`, the
        weights of the last events are the largest, and the least certain.
    positive, lower_bounds, upper_bounds, prior, l1_ratio, penalty_weights
        As for `RankSVM`: what is asked of the weights beside being small.
    solver, counting, tol, max_iter, warm_start, device, n_threads
        As for `RankSVM`.
    qid : str, optional
        Name of the column of a data frame that holds the strata, which is then no feature.
    verbose : int, default=0
        As for `RankSVM`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w; the risk of a row is its product with them.
    n_pairs_ : int or float
        What the comparable pairs weigh.
    n_queries_ : int
        Number of strata.
    weights_, objective_, dual_gap_, status_, n_iter_, history_, qid_column_
        As for `RankSVM`.
    n_features_in_, feature_names_in_
        As for `RankSVM`.

    See Also
    --------
    concordance_index : What `score` returns, and Uno's.
    KernelSurvivalSVM : The same with a kernel.
    SurvivalSVMCV : The same with C chosen by cross-validation.

    References
    ----------
    Van Belle, Pelckmans, Suykens and Van Huffel, "Support vector machines for survival analysis",
    CIMED (2007).

    Pölsterl, Navab and Katouzian, "Fast training of support vector machines for survival analysis",
    ECML PKDD (2015).

    Uno, Cai, Pencina, D'Agostino and Wei, "On the C-statistics for evaluating overall adequacy of
    risk prediction procedures with censored survival data", Statistics in Medicine 30 (2011).

    Examples
    --------
    >>> from ranksvm import SurvivalSVM
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> event, time = [True, True, False, True, True], [7.0, 5.0, 4.0, 9.0, 2.0]
    >>> model = SurvivalSVM().fit(X, event=event, time=time)
    >>> model.score(X, event=event, time=time)
    1.0
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        normalize: str | None = "documents",
        ipcw: str | None = None,
        tau: float | None = None,
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
        device: str | None = None,
        n_threads: int | None = None,
        qid: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
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
        self.warm_start = warm_start
        self.device = device
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
        prior: Any = None,
    ) -> SurvivalSVM:
        """Learn from times of events.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            As for `RankSVM.fit`.
        y : structured array of shape (n_samples,), optional
            Of two fields with any names: whether the event has been seen, and the time, as
            ``Surv.from_arrays`` of scikit-survival makes it. In its place, `event` and `time`.
        qid : array-like of shape (n_samples,) or str, optional
            Strata: rows of different ones are not compared; otherwise as for `RankSVM.fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; a pair weighs the product of those of its rows, too, so that whole numbers
            are the same as repeated rows.
        query_weight : array-like of shape (n_queries,) or (n_samples,), optional
            Weight of each stratum, in the order in which they first appear, or of that of each row.
        event : array-like of shape (n_samples,), optional
            True, or 1, if the event has been seen; false, or 0, if the row is censored.
        time : array-like of shape (n_samples,), optional
            When the event was, or until when there has been none.
        prior : fitted ranker, LinearModel, array-like, dict or path, optional
            As for `RankSVM.fit`.

        Returns
        -------
        SurvivalSVM
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, or there is no comparable pair to learn from.

        Warns
        -----
        ConvergenceWarning
            If the gap did not reach `tol`.
        """
        with fitted_or_not(self), fit_task(self, X, y, qid):
            X, preferences = self._survival_rows(
                X, y, qid, sample_weight, query_weight, event, time
            )
            self._train(X, preferences, prior)
        return self
