"""What the folds say of several models, and which of them is best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records import record

Vector = NDArray[np.float64]


@record
class FoldScores:
    """The scores of several models on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_models, n_folds)
        NaN in folds that were left out.
    """

    scores: NDArray[np.float64]

    @property
    def mean(self) -> Vector:
        """Mean score of each model."""
        means: Vector = np.nanmean(self.scores, axis=1)
        return means

    @property
    def standard_error(self) -> Vector:
        """Standard error of each mean: the deviation over the folds by the root of their number.

        NaN for a single fold.
        """
        used = self.scores[:, ~np.isnan(self.scores[0])]
        if used.shape[1] < 2:
            return np.full(len(used), np.nan)
        errors: Vector = used.std(axis=1, ddof=1) / np.sqrt(used.shape[1])
        return errors

    def simplest(self, complexity: Vector, one_standard_error: bool = False) -> int:
        """Return the place of the model with the best mean; of equal ones, of the least complex.

        With `one_standard_error`, that of the least complex model whose mean lies at most one
        standard error of the best mean below it.
        """
        mean = self.mean
        least = mean.max()
        if one_standard_error:
            least -= self.standard_error[self.simplest(complexity)]
            if np.isnan(least):
                raise InputError("one_standard_error needs at least 2 folds with preference pairs")
        good = np.flatnonzero(mean >= least)
        return int(good[np.argmin(complexity[good])])

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return columns with a value for each model, named as by GridSearchCV."""
        mean = self.mean
        splits = {f"split{k}_test_score": of_fold for k, of_fold in enumerate(self.scores.T)}
        return {
            "mean_test_score": mean,
            "std_test_score": np.nanstd(self.scores, axis=1),
            "standard_error": self.standard_error,
            "rank_test_score": rank_of(mean),
            **splits,
        }


def rank_of(mean: Vector) -> NDArray[np.int64]:
    """Return 1 for the largest, and for others one more than how many are larger."""
    ranks: NDArray[np.int64] = 1 + np.searchsorted(np.sort(-mean), -mean)
    return ranks
