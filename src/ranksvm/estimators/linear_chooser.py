"""What linear rankers that choose C by cross-validation share as scikit-learn estimators."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays.libraries import to_host
from ..linear.training import shortfall
from ..models import LinearModel
from ..progress import FitCounter
from ..selection.averaging import (
    described,
    least_certain,
    mean_of,
    of_mean,
    require_no_bounds,
    takes_mean,
    train_members,
)
from ..selection.contest import Contest, compete, entrants_of
from ..selection.rows import FoldedRows
from ..selection.scoring import DEFAULT_SCORING, Scoring
from ..selection.variants import ParamGrid, variants_of
from ..threads import require_workers
from .convergence import warn_unless_converged
from .linear_ranker import LinearRanker

Vector = NDArray[np.float64]


class LinearChooser(LinearRanker):
    """Base of the estimators that learn weights for the best C of a grid."""

    # With metadata routing enabled, qid reaches predict, too, without a request.
    __metadata_request__predict = {"qid": True}  # noqa: RUF012

    Cs: int | ArrayLike | None
    cv: Any
    one_standard_error: bool
    refit: bool
    n_jobs: int | None
    verbose: int

    scoring: str | Scoring = DEFAULT_SCORING
    param_grid: ParamGrid | str | None = None
    average: bool | str = "auto"

    def _choose(self, rows: FoldedRows, X: Any, prior: Any) -> None:
        """Choose C, and all else of the grid, and learn from rows of features X.

        To be called by `fit` itself, for its warnings.
        """
        averages = takes_mean(self.average, self.param_grid, self.one_standard_error)
        several = np.ndim(self.l1_ratio) > 0
        conditions = self._conditions(X.shape[1], prior, 0.0 if several else self.l1_ratio)
        given = replace(self._parameters(1.0), conditions=conditions)
        if self.n_jobs is not None:
            require_workers("n_jobs", self.n_jobs)
        variants = variants_of(self.param_grid, self.Cs, self.l1_ratio if several else None)
        entrants = entrants_of(variants, rows, X, given)
        if averages:
            require_no_bounds(entrants)
        folds = rows.folds(self.cv)
        n_trainings = len(folds) * sum(len(one.of_each) for one in entrants)
        progress = FitCounter(n_trainings) if self.verbose else None
        contest = compete(entrants, folds, self.scoring, n_jobs=self.n_jobs, progress=progress)
        if self.verbose and contest.advice is not None:
            sys.stderr.write(f"note: {contest.advice}\n")
        warn_unless_converged(contest.shortfall, stacklevel=4)
        self.Cs_, self.n_splits_ = contest.Cs, len(folds)
        params = [contest.params(place) for place in range(len(contest.Cs))]
        self.cv_results_ = {**contest.table(), "params": params}
        self.best_index_ = contest.best(self.one_standard_error)
        self.best_params_ = contest.params(self.best_index_)
        self.best_score_ = float(contest.mean[self.best_index_])
        self.C_ = self.best_params_["C"]
        if self.refit:
            self._train(contest, contest.level() if averages else [self.best_index_])

    def _train(self, contest: Contest, places: list[int]) -> None:
        """Learn from all rows by what was chosen, or by the mean of all of these."""
        members = train_members(contest, places)
        is_said = contest.shortfall is not None  # what is advised
        for one in members:
            short = shortfall(one.fit.result, one.parameters) if is_said else one.fit.shortfall
            warn_unless_converged(short, stacklevel=5)
        best = members[0]
        trained_with = replace(best.parameters, conditions=best.entrant.conditions)
        self._keep(least_certain(members).fit, trained_with)
        self.maps_, self.weights_ = mean_of(members)
        self.members_ = described(members)

    def predict(self, X: Any, qid: ArrayLike | str | None = None) -> Any:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            As for `RankSVM.predict`.
        qid : array-like of shape (n_samples,) or str, optional
            Query ids, or the name of their column: where features are scaled within queries.

        Returns
        -------
        array of shape (n_samples,), float64
        """
        if not getattr(self, "maps_", ()):
            return super().predict(X)
        rows, ids = self._features(to_host(X)), self._query_ids(X, qid)
        return LinearModel(self.weights_, maps=self.maps_).predict(rows, qid=to_host(ids))

    def _scores(self, X: Any, ids: Any) -> Any:
        return self.predict(X, ids)

    def to_model(self) -> LinearModel:
        """Return the weights and how they came about, as `save_model` writes them.

        Returns
        -------
        LinearModel
        """
        facts = self._facts()
        facts["parameters"] = {**self.best_params_, **facts["parameters"]}
        if len(self.members_) > 1:
            facts["training"] = of_mean(facts["training"], self.members_)
        return LinearModel(self.weights_, maps=self.maps_, **facts)
