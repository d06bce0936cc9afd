"""The scikit-learn face of the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ..arrays.libraries import within_memory
from ..linear.condition_arguments import OfFeatures
from .callbacks import fit_task
from .eval_sets import EvalSets, RoundScores, eval_scores, eval_sets
from .linear_trainer import LinearTrainer
from .pair_arguments import PairArguments
from .pair_ranker import PairRanker
from .whole import fitted_or_not


class RankSVM(LinearTrainer, PairRanker):
    """Linear ranking support vector machine.

    Learns weights w from preference pairs ``P = {(i, j): qid_i = qid_j, y_i > y_j}``::

        minimise  0.5 |w|^2 + c * sum over (i, j) in P of  v_ij phi(w'x_i - w'x_j)

    where phi is the hinge ``max(0, 1 - z)`` or its square and ``v_ij = 1``, unless weights or
    `pair_weight` say otherwise; exactly, in O(m s + m log m) a step for
    m rows of s nonzero features, however many pairs there are, and says how exactly: `dual_gap_`
    bounds the relative distance to the optimum (:eq:`objective`, :eq:`gap`). There is no intercept,
    since no order depends on it. In place of labels, `fit` takes pairs, one by one, too.

    There may be more to ask of the weights than to be small: signs, bounds, to be near a prior p,
    or to be zero where they can. Then ``0.5 |w|^2`` gives way to ::

        R(w) = sum over k of  a_k (r |w_k - p_k| + (1 - r) (w_k - p_k)^2 / 2),
        lower_bounds <= w <= upper_bounds

    with the same certificate (:eq:`elastic-net`).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger fits the training pairs more closely.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        "squared_hinge" as in Lee and Lin (2014), the quicker to train; "hinge" as in SVM^rank and
        TreeRSVM, which takes single pairs that are far out of order less to heart.
    pair_weight : {"gap", "gain", "ndcg"} or None, default=None
        What pairs weigh, sample and query weights apart (:doc:`/top_of_the_list`):

        - "gap": the gap between the labels, ``v_ij = y_i - y_j``, so that to confuse the best with
          the worst costs more than to confuse neighbours;
        - "gain": that of the gains, ``(G_i - G_j) / maxDCG_q``;
        - "ndcg": what an exchange of the two rows would change of the nDCG of the current solution,
          ``(G_i - G_j) |D(r_i) - D(r_j)| / maxDCG_q`` (:eq:`top-weights`), in rounds: a plain fit,
          which is the first, and others with the weights that follow from the ranks by the one
          before. The whole is not convex: what is certified is the round that is kept, for the
          weights that its pairs have there.

        N and N_q below are then sums of these weights, so that the scale of the labels does not
        matter unless `normalize` is None.
    gains : {"exponential", "linear"}, default="exponential"
        With "gain" and "ndcg": a label y is worth ``G = 2^y - 1``, or y; labels are at least 0.
    top : int, default=30
        With "gain" and "ndcg": how many ranks count, with discounts ``D(r) = 1 / log2(1 + r)``.
    n_rounds : int, default=3
        With "ndcg": how many rounds there are at most, the plain fit included. With an `eval_set`
        the round of the best nDCG at `top` on its first member is kept, and two rounds that do not
        better it are the last; else the last is kept.
    normalize : {"documents", "pairs", "queries"} or None, default="documents"
        How C gives the weight c of a pair, with n rows, N pairs, N_q pairs of query q and R queries
        that have pairs:

        - "documents": ``c = C n / N``; scale-free, C = 1 is a good first choice. The weights of
          "ndcg" lie on few rows of each query, and n is then the number of queries;
        - "pairs": ``c = C / N``, as in TreeRSVM with ``lambda = 1 / (2 C)``;
        - "queries": ``c = C / (R N_q)``, as in SVM^rank ``-l 2``;
        - None: ``c = C``, as in Lee and Lin (2014) and LIBLINEAR-ranksvm.
    positive : bool, default=False
        Whether weights may not be negative.
    lower_bounds, upper_bounds : float, array-like of shape (n_features,), dict or None
        Between which weights have to be, of all features, of each, or of some: a dict gives them
        by feature name, or by number, from zero, where X has no names; other weights have no
        bounds. Where both are the same, the weight is fixed.
    prior : array-like of shape (n_features,), dict, str, path or LinearModel, optional
        Weights p to stay near to, by default zero: as an array, by feature, or those of a model or
        of a model file (:doc:`/files`), by name, or by number where one of the two has no names.
        A fitted ranker is given to `fit`.
    l1_ratio : float, default=0.0
        The share r, from 0 to 1, of absolute values in the penalty: with more of it, more weights
        are exactly those of the prior, by default exactly zero.
    penalty_weights : float, array-like of shape (n_features,), dict or None
        How much each weight is charged, a_k, by default 1; 0 is for weights with finite bounds on
        both sides only.
    solver : {"auto", "newton", "row_space", "trust_region", "bundle", "cutting_planes"}, \
default="auto"
        All reach the same optimum; they differ in speed:

        - "newton" forms the d x d Hessian explicitly: best with up to a few thousand features, and
          not impressed by their scales;
        - "row_space" works with the n x n dot products of the rows: best with fewer rows than
          features, whatever C and scales are; Newton steps for the squared hinge, an interior-point
          method for the hinge, and with bounds or L1 the dual of each step; on the CPU, for at most
          8,192 rows, or with the hinge and fewer features than rows for 4 million pairs;
        - "trust_region" uses conjugate gradients: best with many sparse features;
        - "bundle" uses cutting planes with a line search: best for the hinge loss and well-scaled
          features;
        - "cutting_planes" is the plain method of SVM^rank and TreeRSVM, to compare with;
          the last two are for the penalty ``0.5 |w|^2`` alone;
        - "auto" chooses by cost (`ranksvm.linear.choice_by_cost.choose_solver`); planes, or
          "trust_region" for the squared hinge, go first where they may be quicker than Newton
          steps, and make way where they are not; very long queries begin with a sample of their
          rows (`ranksvm.solvers.samples_first`), and short ones of sparse rows may be gone over
          pair by pair in the dual (`ranksvm.linear.dual_descent`); where features are about as many
          as rows, interior points go on for Newton steps (`ranksvm.linear.interior_point`).

        Where more is asked of the weights than to be small, it is "auto", "newton" or
        "trust_region".

        With the hinge loss, "newton" and "trust_region" work on a smoothed copy, ever narrower, and
        the gap is that of the hinge loss itself.
    counting : {"auto", "merge", "levels", "joachims", "tree", "pairs"}, default="auto"
        How active pairs are counted; a matter of speed only (`ranksvm.pairs.core_pairs.CorePairs`).
    tol : float, default=1e-3
        Stop at this relative duality gap ``(P - D) / |P|``.
    max_iter : int, default=1000
    warm_start : bool, default=False
        Start from `coef_` of the previous fit.
    device : str or None, default=None
        Where to compute (:doc:`/gpu`):

        - None: where X is. Arrays of Torch and CuPy are computed with on their device, by these
          libraries; everything else by the compiled core, on the CPU;
        - "cpu": by the compiled core, on the CPU; X is copied there if it is elsewhere;
        - "cuda": on a GPU, to which X is copied unless it is on one: by Torch if that is installed
          and finds the GPU, or else by CuPy; "cuda:1" names the second GPU;
        - "torch:cuda", "cupy:cuda:1": on a GPU, by this library;
        - "torch:cpu", "numpy:cpu": on the CPU, by this library, as on a GPU, but slower than "cpu".
    n_threads : int or None, default=None
        Threads of the compiled core; -1 is all CPUs that the process may use, -2 all but one, and
        None all, or as many as OMP_NUM_THREADS says, which joblib sets in its workers. The result
        is the same to the last bit.
    qid : str, optional
        Name of the column of a data frame that holds the query ids, which is then no feature: for
        grid searches and pipelines in which nothing but X reaches `fit` and `score`.
    verbose : int, default=0
        1 prints a line per iteration to standard error, and a note if the scales of features lie
        so far apart that some hardly count.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights w. Where features are many more than the stored values of X, it is made when it
        is first asked for, and read-only; zeros take no memory.
    weights_ : FeatureWeights
        The same, without the features that occur nowhere.
    objective_ : float
        The objective at `coef_`, computed afresh and rounded up: in exact numbers, it is no more.
    dual_gap_ : float
        The relative duality gap reached, with what rounding may hide: the optimum is at least
        ``objective_ * (1 - dual_gap_)``.
    status_ : {"converged", "max_iter", "stalled", "stopped"}
        How the solver ended.
    n_iter_ : int
        Number of iterations.
    history_ : list of Iteration
        Objective, gap, step, passes over X and seconds of each iteration, of all rounds.
    n_pairs_ : int or float
        Number of preference pairs (their weight, if there are weights).
    n_queries_ : int
        Number of queries.
    evals_result_ : dict
        The score on each of `eval_set`, as LightGBM and XGBoost lay it out:
        ``{"valid_0": {"pairwise_accuracy_pooled": [0.9]}}``. There is a single value, that of the
        optimum; with ``pair_weight="ndcg"`` there is the nDCG of each round, by ``"ndcg@30"``.
    qid_column_ : str or None
        Name of the column of query ids, which `predict` and `score` leave out of the features.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X was a data frame with string column names.

    References
    ----------
    Lee and Lin, "Large-scale linear RankSVM", Neural Computation 26 (2014).

    Airola, Pahikkala and Salakoski, "An improved training algorithm for the linear ranking support
    vector machine", ICANN (2011).

    Joachims, "Training linear SVMs in linear time", KDD (2006).

    Examples
    --------
    >>> from ranksvm import RankSVM
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> model = RankSVM().fit(X, y=[0, 1, 2, 0, 1], qid=[1, 1, 1, 2, 2])
    >>> model.score(X, y=[0, 1, 2, 0, 1], qid=[1, 1, 1, 2, 2])
    1.0

    Pairs in place of labels: row 2 is preferred to row 0, and row 4 to row 3, twice.

    >>> pairs = [[2, 0], [4, 3], [4, 3]]
    >>> model = RankSVM().fit(X, pairs=pairs)
    >>> model.score(X, pairs=pairs), model.n_pairs_
    (1.0, 3)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        pair_weight: str | None = None,
        gains: str = "exponential",
        top: int = 30,
        n_rounds: int = 3,
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
        device: str | None = None,
        n_threads: int | None = None,
        qid: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.pair_weight = pair_weight
        self.gains = gains
        self.top = top
        self.n_rounds = n_rounds
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
        self.device = device
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
        prior: Any = None,
    ) -> RankSVM:
        """Learn from labelled rows, or from pairs of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or PackedData
            Dense C-ordered or CSR, float32 or float64, of NumPy, SciPy, Torch or CuPy, and data
            frames, are used as they are; other kinds are converted. All other arguments may be
            arrays of Torch and CuPy, too, on any device. Packed data, which `open_data` maps, have
            labels, query ids and weights of their own.
        y : array-like of shape (n_samples,)
            Relevance labels, larger is better: numbers, or categories that have an order, of
            pandas or an Enum of polars. Only their order within a query matters, and with a
            `pair_weight` the gaps between them, or between their gains.
        qid : array-like of shape (n_samples,) or str, optional
            Query ids: integers, strings or any hashable values, in any order; or the name of a
            column of the data frame X. None: the column that the parameter `qid` names, or else
            one query.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights; a pair weighs the product of those of its rows, so that whole numbers are
            the same as repeated rows.
        query_weight : array-like of shape (n_queries,) or (n_samples,), optional
            Weight of each query, in the order in which they first appear, or of the query of each
            row; multiplies the pairs of the query.
        pairs : array-like of shape (n_pairs, 2), optional
            In place of `y`, which row is preferred to which: of each pair, the rows of X of the
            winner and of the loser, counted from zero. Pairs may repeat and contradict each other.
            The loss is then (:eq:`given`) ::

                L = sum over the pairs p of  v_p phi_p(s_winner - s_loser)

            with the margin of the pair in the place of 1 in phi. N is the total weight of the
            pairs, n the number of rows; ``normalize="queries"`` needs `qid` or `group`, and then
            every pair lies within a query.
        pair_weights : array-like of shape (n_pairs,), optional
            The weights v_p, finite and not negative; 1 by default.
        margins : array-like of shape (n_pairs,), optional
            By how much the winner should be ahead, greater than 0; 1 by default.
        group : array-like of shape (n_queries,), optional
            In place of `qid`, how many rows each query has, one query after the other.
        eval_set : list of (X, y), optional
            Rows to measure the trained model on, in `evals_result_`; training does not see them,
            but for the choice of a round with ``pair_weight="ndcg"``.
        eval_qid, eval_group : list of array-like, optional
            The query ids, or else the sizes of the queries, of each member of `eval_set`.
        prior : fitted ranker, LinearModel, array-like, dict or path, optional
            In place of the parameter `prior`, also a fitted ranker, a pipeline or search of one.

        Returns
        -------
        RankSVM
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, there is no preference pair to learn from, or no such
            `device`.
        ImportError
            If no array library for the device is installed.
        MemoryError
            If the device has too little memory.

        Warns
        -----
        ConvergenceWarning
            If the gap did not reach `tol`.
        UserWarning
            If no queries are given, but X has a column that looks like their ids; or a member of
            `eval_set` has no preference pairs; or X lacks features that the prior has.
        """
        with fitted_or_not(self), within_memory(), fit_task(self, X, y, qid):
            validation = eval_sets(eval_set, eval_qid, eval_group)
            given = PairArguments(pairs, pair_weights, margins)
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            X, preferences = self._training_preferences(X, y, qid, group, given, **weights)
            judge = None
            if self.pair_weight == "ndcg" and validation:
                gain, n_queries = self._parameters(self.C).gain, preferences.groups.n_queries
                judge = RoundScores(self, gain, n_queries, validation)
            self._train(X, preferences, prior, judge)
            self.evals_result_ = judge.results if judge else eval_scores(self, validation)
        return self
