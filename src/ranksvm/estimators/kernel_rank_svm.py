"""The kernel RankSVM as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from .callbacks import fit_task
from .eval_sets import EvalSets, eval_scores, eval_sets
from .kernel_trainer import KernelTrainer
from .packed_data import refuse_packed
from .pair_arguments import PairArguments
from .pair_ranker import PairRanker
from .whole import fitted_or_not


class KernelRankSVM(KernelTrainer, PairRanker):
    """Ranking support vector machine with a kernel.

    Learns a function f from preference pairs ``P = {(i, j): qid_i = qid_j, y_i > y_j}``::

        minimise  0.5 |f|^2 + c * sum over (i, j) in P of  v_ij phi(f(x_i) - f(x_j))

    over the space of functions of the kernel k, with ``f(x) = sum_p beta_p k(x_p, x)`` and
    ``|f|^2 = sum_pq beta_p beta_q k(x_p, x_q)``. It is `RankSVM` on features whose dot products are
    the values of the kernel: the columns of a pivoted Cholesky factor of its matrix, of which there
    are no more than the certificate needs. `dual_gap_` bounds the relative distance to the optimum
    over all functions, whatever the factor leaves out. Where few columns are enough, the matrix
    itself is not held: memory is O(n rank), and time O(n rank^2) and that of a few passes over its
    n^2 values. Where they are not, half of the matrix is, and Newton steps over all functions are
    found by some dozens of products with it.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger fits the training pairs more closely.
    kernel : str or callable, default="rbf"
        "linear", "rbf", "polynomial" or "poly", "sigmoid", or any other name of
        `sklearn.metrics.pairwise.pairwise_kernels`; "precomputed", with which `fit` takes the
        square matrix of the kernel as X, and `predict` that of the values of its rows with the
        training rows; or a function of two matrices of rows that returns the matrix of kernel
        values, as for `sklearn.svm.SVC`. Formulas: `ranksvm.kernel.kernels.Kernel`.
    gamma : float or "scale", optional
        By default 1 / n_features.
    degree : float, default=3
    coef0 : float, default=1.0
    loss, pair_weight, gains, top, n_rounds, normalize, solver, counting, tol, max_iter, \
n_threads, qid, verbose
        As for `RankSVM`; of rounds, the last is kept.
    max_memory : float or str, default=4e9
        Bytes, or a text such as "4G", that the kernel may take: ``16 n_samples rank`` with a rank
        of at most n_samples, or ``4 n_samples^2`` and that with a rank of hundreds, where there is
        room for both; and, with "precomputed", "sigmoid", a function, or a polynomial with a
        negative `coef0` or a broken degree, also ``16 n_samples^2`` to check that they are kernels
        at all. Training takes memory for itself, as `RankSVM` does with as many features as the
        rank.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        The training rows p that have coefficients: the pivots of the factor, or any others where
        the matrix is held, and last the row from which differences are taken.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        These rows; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (n_support,)
        The coefficients beta, whose sum is zero. If the factor has full rank, these are, up to the
        gap, those of the dual: what the pairs of each row add up to.
    objective_ : float
        The objective at f, computed afresh and rounded up: in exact numbers, it is no more.
    dual_gap_ : float
        The relative duality gap reached: the optimum over all functions is at least
        ``objective_ * (1 - dual_gap_)``.
    status_, n_iter_, history_, n_pairs_, n_queries_, evals_result_, qid_column_
        As for `RankSVM`.
    n_features_in_, feature_names_in_
        As for `RankSVM`.

    See Also
    --------
    RankSVM : After `sklearn.kernel_approximation.Nystroem` or `RBFSampler`, for so many rows that
        this takes too long; its certificate is for the approximate kernel.

    Notes
    -----
    Scale and centre features first: kernel values are known to rounding only, and what lies below
    the rounding of the largest is lost to any method that learns from them.

    With ``K = Phi Phi' + E``, the restriction to functions of rank columns costs at most ``0.5 c^2
    g'E g`` of the lower bound, with a subgradient g of the loss in the scores. This is part of
    `dual_gap_`; where it is too much, the factor gets more columns and training goes on.

    References
    ----------
    Harbrecht, Peters and Schneider, "On the low-rank approximation by the pivoted Cholesky
    decomposition", Applied Numerical Mathematics 62 (2012).
    Kuo, Lee and Lin, "Large-scale kernel RankSVM", SDM (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import KernelRankSVM
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y, qid = (X**2).sum(axis=1), np.repeat(np.arange(3), 20)
    >>> model = KernelRankSVM(C=10, gamma=0.5).fit(X, y, qid)
    >>> model.score(X, y, qid) > 0.95, model.dual_gap_ <= 1e-3
    (True, True)

    Random features and the Nyström method approximate a kernel for `RankSVM`:

    >>> from ranksvm import RankSVM
    >>> from sklearn.kernel_approximation import Nystroem
    >>> from sklearn.pipeline import make_pipeline
    >>> features = Nystroem(gamma=0.5, n_components=40, random_state=0)
    >>> model = make_pipeline(features, RankSVM(C=10)).fit(X, y, ranksvm__qid=qid)
    >>> model[-1].score(model[0].transform(X), y, qid) > 0.95
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
        pair_weight: str | None = None,
        gains: str = "exponential",
        top: int = 30,
        n_rounds: int = 3,
        normalize: str | None = "documents",
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
        self.pair_weight = pair_weight
        self.gains = gains
        self.top = top
        self.n_rounds = n_rounds
        self.normalize = normalize
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
        y: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
        margins: ArrayLike | None = None,
        group: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        eval_group: Sequence[ArrayLike] | None = None,
    ) -> KernelRankSVM:
        """Learn from labelled rows, or from pairs of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; for a precomputed kernel, its matrix, of shape (n_samples, n_samples).
        y, qid, sample_weight, query_weight, pairs, pair_weights, margins, group, eval_set, \
eval_qid, eval_group
            As for `RankSVM.fit`.

        Returns
        -------
        KernelRankSVM
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, there is no preference pair to learn from, the kernel is
            not one for these rows, or `max_memory` would be exceeded.

        Warns
        -----
        ConvergenceWarning
            If the gap did not reach `tol`.
        UserWarning
            As for `RankSVM.fit`.
        """
        with fitted_or_not(self), fit_task(self, X, y, qid):
            refuse_packed(X, "KernelRankSVM")
            validation = eval_sets(eval_set, eval_qid, eval_group)
            given = PairArguments(pairs, pair_weights, margins)
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            X, preferences = self._training_preferences(X, y, qid, group, given, **weights)
            self._train(X, preferences)
            self.evals_result_ = eval_scores(self, validation)
        return self
