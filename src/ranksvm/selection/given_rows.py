"""Rows that folds share, with given pairs among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..linear.design_matrix import DesignMatrix
from ..metrics.pairs import given_accuracy
from ..pairs.given import GivenPreferences
from ..pairs.queries import QueryGroups, present_ids
from .folds import Fold, Rows, deal_pairs, make_folds_of_pairs
from .rows import FoldedRows
from .scoring import DEFAULT_SCORING, Scoring

Vector = NDArray[np.float64]
N_FOLDS = 5  # of single pairs


class GivenRows(FoldedRows):
    """Rows with given pairs among them; the parts of a fold are rows.

    A pair counts where both of its rows are in the part. Folds share out whole groups of rows:
    those that are given, or else the queries, or else the connected components of the pairs.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    preferences : GivenPreferences
    groups : array-like of shape (n_samples,), optional
        Any ids.
    """

    preferences: GivenPreferences

    def __init__(
        self, X: DesignMatrix, preferences: GivenPreferences, groups: ArrayLike | None = None
    ) -> None:
        self.X, self.preferences = X, preferences
        self._group, self._what = _groups(preferences, groups)

    def folds(self, cv: Any) -> list[Fold]:
        """Return both parts of each fold; see `make_folds_of_pairs`."""
        return make_folds_of_pairs(cv, self.preferences, self._group, self._what)

    def views(self, fold: Fold) -> tuple[DesignMatrix, DesignMatrix]:
        """Return the features of both parts of a fold, for one thread."""
        seen, unseen = self.X.views(*fold)
        return seen, unseen

    def some(self, part: Rows) -> GivenPreferences:
        """Return the pairs of a part of a fold."""
        return self.preferences.of_rows(part)

    def have_pairs(self, part: Rows) -> bool:
        """Whether there is a pair in a part of a fold."""
        return float(self.some(part).pairs_per_query.sum()) > 0

    def scorer(self, scoring: str | Scoring, validation: Rows) -> Callable[[Vector], float]:
        """Return the function from scores to the share of the pairs in the right order."""
        if scoring != DEFAULT_SCORING:
            raise InputError(
                f"scoring={scoring!r} needs labels: given pairs are measured by {DEFAULT_SCORING!r}"
            )
        return given_accuracy(self.some(validation))


class FoldedPairs(GivenRows):
    """Rows with given pairs among them, of which folds share out single ones."""

    def folds(self, cv: Any) -> list[Fold]:
        """Return the numbers of the pairs of both parts of each fold."""
        return deal_pairs(N_FOLDS, len(self.preferences.winner))

    def views(self, fold: Fold) -> tuple[DesignMatrix, DesignMatrix]:
        """Return the features of all rows, for one thread."""
        X = self.X.remembering()
        return X, X

    def some(self, part: Rows) -> GivenPreferences:
        """Return some of the pairs, by their numbers."""
        return self.preferences.some(part)


def _groups(preferences: GivenPreferences, groups: ArrayLike | None) -> tuple[Rows | None, str]:
    """Return the number of the group of each row, and what the groups are called."""
    if groups is not None:
        ids, n = present_ids(groups, "groups"), preferences.n_rows
        if len(ids) != n:
            raise InputError(f"groups has length {len(ids)} but there are {n} rows")
        return QueryGroups.from_qid(ids, n).numbers, "groups that have pairs"
    if preferences.groups.n_queries > 1:
        return preferences.groups.numbers, "queries that have pairs"
    return None, "connected components of the pairs"
