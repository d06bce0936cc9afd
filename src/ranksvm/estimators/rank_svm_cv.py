"""The choice of C by cross-validation, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError
from ..linear.condition_arguments import OfFeatures
from ..linear.design_matrix import DesignMatrix
from ..pairs.given import AnyPreferences, GivenPreferences
from ..pairs.preferences import Preferences
from ..selection.given_rows import FoldedPairs, GivenRows
from ..selection.rows import FoldedRows, TrainingRows
from ..selection.scoring import DEFAULT_SCORING, Scoring, check_scoring
from ..selection.variants import ParamGrid
from .linear_chooser import LinearChooser
from .packed_data import host_matrix, is_packed, unchanged
from .pair_arguments import PairArguments
from .pair_ranker import PairRanker
from .whole import fitted_or_not


class RankSVMCV(LinearChooser, PairRanker):
    """Linear ranking support vector machine with C chosen by cross-validation.

    For each fold and each C of a grid, trains on the other folds and measures the ranking of the
    fold; trains on all rows with the C whose mean over the folds is best. Within a fold, each
    solution is the start for the next larger C (`ranksvm_grid`); X is shared by all folds.

    Folds are trained to `tol`, or until at most 30 `tol`, and no more than 3 %, of what there was
    to gain over weights of zero is left, and a gap as small; three times as much where
    regularisation is weak. Means over the folds then mostly differ by a small part of their
    standard errors. The model itself is trained to `tol`.

    Parameters
    ----------
    Cs : int, array-like or None, default=None
        The grid of C, or how many values it has. These lie evenly in log C from 0.001 to 1000, for
        ``normalize="documents"``, where C = 1 is a good first choice; for the other normalisations,
        where the pairs weigh as much on average. None is 20; with ``param_grid="auto"`` 0.1, 1 and
        10, and beyond these where an end is the best of all.
    param_grid : dict, list of dicts, "auto" or None, default=None
        What else to try, as for `GridSearchCV`: for each name the values, of which all combinations
        compete, each for all values of C. Names are "C", in place of `Cs`; `loss`, `pair_weight`,
        `gains`, `top`, `n_rounds`, `normalize`, `positive`, `l1_ratio` and others that say how to
        train; and

        - "scale": None, "standard", "minmax", "maxabs", "quantile", or "query" (from 0 to 1 within
          each query), of the features in all rows;
        - "features": None, or what is made of the scaled features: "nystroem:300", components of
          the kernel rbf, or "splines:5", a curve of so many knots for each.

        List simple ones first: of equal ones, and by `one_standard_error`, these win. "auto" is a
        short list that is good without thought: standardised features with and without
        ``pair_weight="ndcg"``, and quantiles with these weights, alone and by "nystroem". Folds are
        trained to a gap of 0.1, in two rounds at most: scores vary far more from fold to fold than
        they change from there on. The model itself is trained as `tol` and `n_rounds` say.
    cv : int, splitter or iterable, default=5
        A number of folds; or a splitter of scikit-learn, which is given the queries as groups, such
        as GroupKFold; or the folds, as pairs of training rows and validation rows. A number of
        folds shares out whole queries, evenly by rows. One global ranking is dealt out by rows in
        the order of their labels, so that each fold has the labels of the whole.

        Of given pairs, a number of folds shares out the `groups` that `fit` is given, or else whole
        queries, or else connected components of the pairs, evenly by pairs; a pair whose rows are
        in different folds counts in neither. "pairs" shares out single pairs among 5 folds, at
        random by a fixed seed: the rows of a fold are then not new to the training.
    scoring : str or callable, default="pairwise_accuracy_pooled"
        What is measured on each fold: a metric of `ranksvm.evaluate`, such as "ndcg@10"; by default
        what `RankSVM.score` returns. A function is called as ``f(y, scores, qid)``, with
        ``sample_weight=`` if there are row weights; qid numbers the queries, or is None. Larger is
        better. Given pairs are measured by their share in the right order, the default.
    one_standard_error : bool, default=False
        Choose the smallest C whose mean is within one standard error of the best mean: the simplest
        model that is not clearly worse.
    average : bool or "auto", default="auto"
        Whether the model is the mean of all candidates that the folds cannot tell from the best:
        those whose mean score is below it by at most half the standard error of that difference.
        Each counts by its scores over their spread within the queries of the training; the mean is
        one linear model. "auto" is for ``param_grid="auto"`` without `one_standard_error`. Means
        keep no bounds and no prior.
    refit : bool, default=True
        Train on all rows with what was chosen; without `param_grid` and `average`, the model is
        that of ``RankSVM(C=model.C_)``.
    loss, pair_weight, gains, top, n_rounds, normalize, solver, counting, tol, max_iter, \
n_threads, qid
        As for `RankSVM`; of rounds, the last is kept, for each C and each fold.
    positive, lower_bounds, upper_bounds, prior, penalty_weights
        As for `RankSVM`: of the features as they are, however `param_grid` scales them. Behind
        "quantile" and "query", weights have signs, but no bounds nor prior of this kind; behind
        `features`, none of it.
    l1_ratio : float or list of float, default=0.0
        As for `RankSVM`; of a list, all values compete, unless `param_grid` has some.
    n_jobs : int or None, default=None
        Folds at a time, which share the `n_threads`; None is as many as there are threads, or all
        folds where they share passes over X, large and sparse or mapped from disk; -1 is as many as
        CPUs, -2 one less. The result is the same to the last bit.
    verbose : int, default=0
        1 counts the trainings on standard error, and says there what is to be said of the scales of
        the features.

    Attributes
    ----------
    C_ : float
        The C chosen.
    best_params_ : dict
        C, and all else of `param_grid`, as chosen.
    Cs_ : ndarray of shape (n_candidates,)
        The grid, for one combination of `param_grid` after the other.
    best_index_ : int
        The place of what was chosen in `cv_results_`.
    best_score_ : float
        Its mean score.
    cv_results_ : dict of array of shape (n_candidates,)
        For each C of each combination: "param_C", the other names of `param_grid` likewise,
        "params", "mean_test_score", "std_test_score", "standard_error" (of the mean:
        the deviation over the folds with n - 1 in the denominator, by the root of n),
        "rank_test_score", the scores of the folds "split0_test_score" ..., and "max_dual_gap", the
        largest relative duality gap in training. ``pandas.DataFrame(model.cv_results_)`` makes a
        table of it.
    n_splits_ : int
        Number of folds.
    maps_ : tuple of FeatureMap
        What is done to features before the weights, which are of what comes of that; empty for
        features as they are, or times a factor: that goes into the weights.
    members_ : list of dict
        For each candidate that the model is the mean of, the best first: its "params", its "share",
        and of its training on all rows "objective", "dual_gap", "status" and "n_iter". A single
        one without `average`, or where the best is alone; only with `refit`.
    coef_, weights_, objective_, dual_gap_, status_, n_iter_, history_, n_pairs_, n_queries_
        Of the model trained on all rows, as for `RankSVM`; only with `refit`. What there is for
        each of several members, such as the gap, is of the one with the largest gap.
    n_features_in_, feature_names_in_, qid_column_
        As for `RankSVM`.

    References
    ----------
    Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning" (2009), section 7.10,
    for the one-standard-error rule.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import RankSVMCV
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y, qid = X[:, 0] + 0.5 * X[:, 1] ** 2, np.repeat(np.arange(6), 10)
    >>> model = RankSVMCV(Cs=[0.01, 1, 100], cv=3).fit(X, y, qid)
    >>> model.cv_results_["mean_test_score"].shape
    (3,)
    """

    def __init__(
        self,
        Cs: int | ArrayLike | None = None,
        *,
        param_grid: ParamGrid | str | None = None,
        cv: Any = 5,
        scoring: str | Scoring = DEFAULT_SCORING,
        one_standard_error: bool = False,
        average: bool | str = "auto",
        refit: bool = True,
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
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.average = average
        self.refit = refit
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
        self.n_threads = n_threads
        self.n_jobs = n_jobs
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
        groups: ArrayLike | None = None,
        group: ArrayLike | None = None,
        prior: Any = None,
    ) -> RankSVMCV:
        """Choose C, and learn from labelled rows, or from pairs of rows.

        Parameters
        ----------
        X, y, qid, query_weight, pairs, pair_weights, margins, group, prior
            As for `RankSVM.fit`; `query_weight` counts in training only.
        groups : array-like of shape (n_samples,), optional
            With `pairs`: ids of groups of rows that folds keep together, such as people.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, in training and in `scoring`.

        Returns
        -------
        RankSVMCV
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument is malformed, or no fold has pairs both to train and to validate on.

        Warns
        -----
        ConvergenceWarning
            If gaps did not reach `tol`.
        UserWarning
            If a fold is left out, as its training rows or its validation rows have no pairs; or if
            no queries are given, but X has a column that looks like their ids.
        """
        with fitted_or_not(self):
            check_scoring(self.scoring)
            given = PairArguments(pairs, pair_weights, margins)
            weights = {"sample_weight": sample_weight, "query_weight": query_weight}
            X, preferences = self._training_preferences(X, y, qid, group, given, **weights)
            with unchanged(X):
                rows = self._folded(host_matrix(X), preferences, groups)
                self._choose(rows, X.X if is_packed(X) else X, prior)
        return self

    def _folded(
        self, X: DesignMatrix, preferences: AnyPreferences, groups: ArrayLike | None
    ) -> FoldedRows:
        by_pairs = isinstance(self.cv, str) and self.cv == "pairs"
        if isinstance(preferences, GivenPreferences):
            return (FoldedPairs if by_pairs else GivenRows)(X, preferences, groups)
        assert isinstance(preferences, Preferences)
        if by_pairs or groups is not None:
            what = "cv='pairs'" if by_pairs else "groups"
            raise InputError(f"{what} is for given pairs; labelled rows are dealt out by qid")
        return TrainingRows(X, preferences)
