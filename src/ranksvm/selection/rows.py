"""Rows that folds share, and what is known of which is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..lazy import cached_property
from ..linear.design_matrix import DesignMatrix
from ..linear.grid import grid_of
from ..linear.parameters import Parameters
from ..linear.training import Problem, make_problem, weighted_pairs
from ..metrics.survival import concordance
from ..pairs.given import AnyPreferences
from ..pairs.host import host_pairs
from ..pairs.preferences import Preferences
from .folds import Fold, Rows, make_folds
from .scoring import DEFAULT_SCORING, Scoring, scorer

Vector = NDArray[np.float64]


AROUND_1 = (0.1, 1.0, 10.0)


class FoldedRows(ABC):
    """Rows of which folds train with a part, and validate with another.

    Attributes
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    preferences : Preferences or GivenPreferences
    """

    X: DesignMatrix
    preferences: AnyPreferences

    def seen_as(self, X: DesignMatrix) -> FoldedRows:
        """Return the same rows with other features."""
        rows = copy(self)
        rows.X = X
        return rows

    @abstractmethod
    def folds(self, cv: Any) -> list[Fold]:
        """Return both parts of each fold."""

    @abstractmethod
    def views(self, fold: Fold) -> tuple[DesignMatrix, DesignMatrix]:
        """Return the features of both parts of a fold, for one thread."""

    @abstractmethod
    def some(self, part: Rows) -> AnyPreferences:
        """Return the preferences of a part of a fold."""

    @abstractmethod
    def scorer(self, scoring: str | Scoring, validation: Rows) -> Callable[[Vector], float]:
        """Return the function from the scores of a part to how well they rank it."""

    def problem(self, X: DesignMatrix, part: Rows, parameters: Parameters) -> Problem:
        """Make a part of a fold, of features X, ready for the solvers."""
        return make_problem(X, self.some(part), parameters)

    def have_pairs(self, part: Rows) -> bool:
        """Whether there is a preference pair in a part of a fold."""
        return host_pairs(self.some(part)).n_pairs > 0

    def grid(self, Cs: int | ArrayLike | None, parameters: Parameters) -> list[Parameters]:
        """Return the parameters for each C of a grid, or of a default one with so many.

        That lies evenly in log C from 0.001 to 1000 for ``normalize="documents"``, and where the
        pairs weigh as much, on average, for the other normalisations. None is a few around 1.
        """
        if Cs is None:
            Cs = np.array(AROUND_1) * self._unit_of_C(parameters)
        if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
            if Cs < 1:
                raise InputError(f"Cs must be at least 1 value of C, not {Cs}")
            values = np.logspace(-3, 3, Cs) * self._unit_of_C(parameters)
        else:
            values = grid_of(Cs)
        return [replace(parameters, C=float(C)) for C in values]

    def _unit_of_C(self, parameters: Parameters) -> float:
        """Return which C gives pairs the weight that C = 1 gives them by documents."""
        if parameters.normalize == "documents":
            return 1.0
        by_documents = replace(parameters, C=1.0, normalize="documents")
        preferences = parameters.weigh(self.preferences)
        _, c, n_pairs = weighted_pairs(preferences, by_documents, host_pairs)
        return c if parameters.normalize is None else float(c * n_pairs)


class TrainingRows(FoldedRows):
    """Rows to train with, and what is known of which is better.

    The parts of a fold are rows.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    preferences : Preferences
    """

    preferences: Preferences

    def __init__(self, X: DesignMatrix, preferences: Preferences) -> None:
        self.X, self.preferences = X, preferences

    @property
    def y(self) -> Vector:
        """The labels, of shape (n_samples,)."""
        return self.preferences.y

    @cached_property
    def query(self) -> Rows | None:
        """Number of the query of each row; None if all rows form one ranking."""
        groups = self.preferences.groups
        return None if groups.n_queries == 1 else groups.numbers

    @property
    def sample_weight(self) -> Vector | None:
        """The weights of the rows, if there are any."""
        return self.preferences.sample_weight

    def folds(self, cv: Any) -> list[Fold]:
        """Return what to train with, and what to validate with; see `make_folds`."""
        return make_folds(cv, self.y, self.query)

    def views(self, fold: Fold) -> tuple[DesignMatrix, DesignMatrix]:
        """Return the features of both parts of a fold."""
        seen, unseen = self.X.views(*fold)
        return seen, unseen

    def some(self, part: Rows) -> Preferences:
        """Return the preferences of a part of a fold."""
        return self.preferences.of_rows(part)

    def scorer(self, scoring: str | Scoring, validation: Rows) -> Callable[[Vector], float]:
        """Return the function from the scores of validation rows to what they score."""
        if self.preferences.has_roles and scoring == DEFAULT_SCORING:
            return concordance(self.some(validation))
        return scorer(
            scoring,
            self.y[validation],
            of_rows(self.query, validation),
            of_rows(self.sample_weight, validation),
        )


def of_rows(values: NDArray[Any] | None, rows: Rows) -> NDArray[Any] | None:
    """Return the values of these rows; None for None."""
    return None if values is None else values[rows]
