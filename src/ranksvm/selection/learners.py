"""Cross-validation where each fold has a copy of its rows: for kernels, and on devices.

There, folds cannot share X as `ranksvm.selection.cross_validation` has them do. They come one after
the other, each with all threads, or the device, to itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernel.factor import KernelFactor
from ..kernel.kernels import Kernel
from ..kernel.training import train_kernel
from ..linear.parameters import Parameters
from ..linear.rounds import train
from ..linear.training import Fit
from ..models import LinearModel
from ..pairs.given import AnyPreferences
from ..threads import resolve_threads
from .cross_validation import CrossValidation, shortfall_of
from .folds import Fold, Rows
from .rows import FoldedRows
from .runner import FoldRunner
from .scoring import Scoring

Vector = NDArray[np.float64]


class Learner(ABC):
    """Learns from some rows, for one C after the other.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    @abstractmethod
    def solutions(
        self, seen: Rows, preferences: AnyPreferences, of_each: Sequence[Parameters]
    ) -> Iterator[tuple[Fit, Callable[[Any], Vector]]]:
        """Yield, for each C, the fit to some rows and the function that scores features."""


class KernelLearner(Learner):
    """Learns a function of the space of a kernel; all C share the columns of its factor.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    kernel : Kernel
    max_memory : float
        As for `ranksvm.kernel.factor.KernelFactor`.
    """

    def __init__(self, X: Any, kernel: Kernel, max_memory: float) -> None:
        super().__init__(X)
        self._kernel, self._max_memory = kernel.fitted(X), max_memory

    def solutions(
        self, seen: Rows, preferences: AnyPreferences, of_each: Sequence[Parameters]
    ) -> Iterator[tuple[Fit, Callable[[Any], Vector]]]:
        """Yield fits, and the sums over their support."""
        X, kernel = self.X[seen], self._kernel
        factor = KernelFactor(kernel, X, self._max_memory, resolve_threads(of_each[0].n_threads))
        for parameters in of_each:
            fit = train_kernel(factor, preferences, parameters)
            yield fit, partial(kernel.scores, X_train=X[fit.support], coef=fit.dual_coef)


class DeviceLearner(Learner):
    """Learns weights on a device, as `RankSVM` names it.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    device : str
    """

    def __init__(self, X: Any, device: str) -> None:
        super().__init__(X)
        self._device = device

    def solutions(
        self, seen: Rows, preferences: AnyPreferences, of_each: Sequence[Parameters]
    ) -> Iterator[tuple[Fit, Callable[[Any], Vector]]]:
        """Yield fits, each with the weights before it for a start, and the products with them."""
        from ..arrays.placement import design_matrix

        X, w0 = design_matrix(self.X[seen], self._device), None
        for parameters in of_each:
            fit = train(X, preferences, parameters, w0=w0)
            w0 = fit.weights
            yield fit, LinearModel(w0).predict


def cross_validate_apart(
    learner: Learner,
    rows: FoldedRows,
    of_each: Sequence[Parameters],
    folds: Sequence[Fold],
    scoring: str | Scoring,
    *,
    progress: Callable[[], object] | None = None,
) -> CrossValidation:
    """Train for each C on the training rows of each fold; measure on its validation rows.

    Parameters
    ----------
    learner : Learner
    rows, of_each, folds, scoring, progress
        As for `ranksvm.selection.cross_validation.cross_validate`; the parts of folds are rows.

    Raises
    ------
    NoPairsError
        If no fold has preference pairs both to train and to validate on.
    """
    runner = FoldRunner(rows, folds, scoring, 1, 1, stacklevel=8)
    scores, gaps, short = (np.full((len(of_each), len(runner.kept)), np.nan) for _ in range(3))
    for column, k in enumerate(runner.kept):
        seen, unseen = folds[k]
        measure, Z = runner.scorer(k), learner.X[unseen]
        solutions = learner.solutions(seen, rows.some(seen), of_each)
        for row, (fit, predict) in enumerate(solutions):
            scores[row, column] = measure(predict(Z))
            gaps[row, column] = fit.result.dual_gap
            short[row, column] = fit.shortfall is not None
            if progress is not None:
                progress()
    return CrossValidation(
        runner.by_fold(scores.T.tolist()),
        np.array([one.C for one in of_each]),
        runner.by_fold(gaps.T.tolist()),
        shortfall_of(gaps, short == 0, of_each[0].tol),
    )
