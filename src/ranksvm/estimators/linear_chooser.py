"""What linear rankers that choose C by cross-validation share as scikit-learn estimators."""

from __future__ import annotations

import sys
from typing import Any

from numpy.typing import ArrayLike

from ..linear.rounds import train
from ..linear.training import shortfall
from ..progress import FitCounter
from ..selection.cross_validation import cross_validate
from ..selection.rows import FoldedRows
from ..selection.scoring import DEFAULT_SCORING, Scoring
from ..threads import require_workers
from .convergence import warn_unless_converged
from .linear_ranker import LinearRanker


class LinearChooser(LinearRanker):
    """Base of the estimators that learn weights for the best C of a grid."""

    Cs: int | ArrayLike
    cv: Any
    one_standard_error: bool
    refit: bool
    n_jobs: int | None
    verbose: int

    scoring: str | Scoring = DEFAULT_SCORING

    def _choose(self, rows: FoldedRows) -> None:
        """Choose C, and learn; to be called by `fit` itself, for its warnings."""
        parameters = self._parameters(1.0)
        if self.n_jobs is not None:
            require_workers("n_jobs", self.n_jobs)
        of_each = rows.grid(self.Cs, parameters)
        folds = rows.folds(self.cv)
        result = cross_validate(
            rows,
            of_each,
            folds,
            self.scoring,
            n_jobs=self.n_jobs,
            progress=FitCounter(len(folds) * len(of_each)) if self.verbose else None,
        )
        if self.verbose and result.advice is not None:
            sys.stderr.write(f"note: {result.advice}\n")
        warn_unless_converged(result.shortfall, stacklevel=4)
        self.Cs_, self.cv_results_, self.n_splits_ = result.Cs, result.table(), len(folds)
        self.best_index_ = result.best(self.one_standard_error)
        chosen = of_each[self.best_index_]
        self.C_ = chosen.C
        self.best_score_ = float(result.mean[self.best_index_])
        if self.refit:
            fit = train(rows.X, rows.preferences, chosen)
            is_said = result.shortfall is not None  # what is advised
            short = shortfall(fit.result, chosen) if is_said else fit.shortfall
            warn_unless_converged(short, stacklevel=4)
            self._keep(fit, chosen)
