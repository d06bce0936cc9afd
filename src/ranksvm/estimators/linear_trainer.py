"""What linear rankers of one C share as scikit-learn estimators: training, wherever X is."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from ..arrays.libraries import library_of
from ..errors import InputError
from ..linear.rounds import Judge, train
from ..pairs.given import AnyPreferences
from ..progress import IterationTable
from .callbacks import CallbackSupportMixin, iteration_callback
from .convergence import warn_unless_converged
from .linear_ranker import LinearRanker
from .packed_data import bytes_of_pass, matrix_of, unchanged


class LinearTrainer(CallbackSupportMixin, LinearRanker):
    """Base of the estimators that learn weights for a given C."""

    C: float
    device: str | None
    warm_start: bool
    verbose: int

    def _train(
        self, X: Any, preferences: AnyPreferences, prior: Any, judge: Judge | None = None
    ) -> None:
        """Learn from rows that are checked; to be called by `fit` itself, for its warnings."""
        conditions = self._conditions(X.shape[1], prior, self.l1_ratio)
        parameters = replace(self._parameters(self.C), conditions=conditions)
        w0 = getattr(self, "weights_", None) if self.warm_start else None
        if w0 is not None and w0.n_features != X.shape[1]:
            raise InputError(
                f"warm_start: the previous fit had {w0.n_features} features, X has {X.shape[1]}"
            )
        table = IterationTable(n_bytes=bytes_of_pass(X)) if self.verbose else None
        with unchanged(X):
            fit = train(
                matrix_of(X, self.device),
                preferences,
                parameters,
                w0=w0,
                callback=iteration_callback(self, table),
                judge=judge,
            )
        if self.verbose and fit.advice is not None:
            sys.stderr.write(f"note: {fit.advice}\n")
        warn_unless_converged(fit.shortfall, stacklevel=4)
        self._keep(fit, parameters)

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        if library_of(X) is None:
            return super()._checked(X, y)
        from .device_rows import check_labels, check_rows

        return check_rows(self, X, reset=True), check_labels(X, y)

    def _checked_features(self, X: Any) -> Any:
        if library_of(X) is None:
            return super()._checked_features(X)
        from .device_rows import check_rows

        return check_rows(self, X, reset=True)
