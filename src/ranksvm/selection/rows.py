"""Labelled rows that folds share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..lazy import cached_property
from ..linear.design_matrix import DesignMatrix
from ..linear.grid import grid_of
from ..linear.parameters import Parameters
from ..linear.training import Problem, make_problem, weighted_pairs
from ..pairs.host import host_pairs
from ..pairs.preferences import Preferences
from .folds import Rows

Vector = NDArray[np.float64]


class TrainingRows:
    """Rows to train with, and what is known of which is better.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    preferences : Preferences
    """

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

    def problem(self, X: DesignMatrix, rows: Rows, parameters: Parameters) -> Problem:
        """Make some of the rows, of features X, ready for the solvers."""
        return make_problem(X, self.preferences.of_rows(rows), parameters)

    def have_pairs(self, rows: Rows) -> bool:
        """Whether some of the rows have a preference pair among them."""
        return host_pairs(self.preferences.of_rows(rows)).n_pairs > 0

    def grid(self, Cs: int | ArrayLike, parameters: Parameters) -> list[Parameters]:
        """Return the parameters for each C of a grid, or of a default one with so many.

        That lies evenly in log C from 0.001 to 1000 for ``normalize="documents"``, and where the
        pairs weigh as much, on average, for the other normalisations.
        """
        if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
            if Cs < 1:
                raise ValueError(f"Cs must be at least 1 value of C, not {Cs}")
            values = np.logspace(-3, 3, Cs) * self._unit_of_C(parameters)
        else:
            values = grid_of(Cs)
        return [replace(parameters, C=float(C)) for C in values]

    def _unit_of_C(self, parameters: Parameters) -> float:
        """Return which C gives pairs the weight that C = 1 gives them by documents."""
        if parameters.normalize == "documents":
            return 1.0
        by_documents = replace(parameters, C=1.0, normalize="documents")
        preferences = self.preferences.weighed(parameters.pair_weight)
        _, c, n_pairs = weighted_pairs(preferences, by_documents, host_pairs)
        return c if parameters.normalize is None else float(c * n_pairs)


def of_rows(values: NDArray[Any] | None, rows: Rows) -> NDArray[Any] | None:
    """Return the values of these rows; None for None."""
    return None if values is None else values[rows]
