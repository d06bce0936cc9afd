"""Labelled rows that folds share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..linear.design_matrix import DesignMatrix
from ..linear.grid import grid_of
from ..linear.parameters import Parameters
from ..linear.training import Problem, make_problem, weighted_pairs
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.weights import per_query_weight, row_weights
from .folds import Rows
from .scoring import has_pairs

Vector = NDArray[np.float64]


class TrainingRows:
    """Labelled rows, their queries and weights, checked.

    Parameters
    ----------
    X : DesignMatrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    qid, sample_weight, query_weight : array-like of shape (n_samples,), optional

    Attributes
    ----------
    query : ndarray of shape (n_samples,) or None
        Number of the query of each row; None if all rows form one ranking.
    """

    def __init__(
        self,
        X: DesignMatrix,
        y: Vector,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
    ) -> None:
        self.X, self.y = X, y
        groups = QueryGroups.from_qid(qid, len(y))
        one = groups.n_queries == 1
        self.query = None if one else groups.per_row(np.arange(groups.n_queries))
        self.sample_weight = row_weights("sample_weight", sample_weight, len(y))
        by_query = per_query_weight(query_weight, groups)
        self.query_weight = None if by_query is None else groups.per_row(by_query)

    def problem(self, X: DesignMatrix, rows: Rows, parameters: Parameters) -> Problem:
        """Make some of the rows, of features X, ready for the solvers."""
        return make_problem(
            X,
            self.y[rows],
            of_rows(self.query, rows),
            parameters,
            of_rows(self.sample_weight, rows),
            of_rows(self.query_weight, rows),
        )

    def have_pairs(self, rows: Rows) -> bool:
        """Whether some of the rows have a preference pair among them."""
        weight = of_rows(self.sample_weight, rows)
        if self.query_weight is not None:
            weight = self.query_weight[rows] * (1.0 if weight is None else weight)
        return has_pairs(self.y[rows], of_rows(self.query, rows), weight)

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
        groups = QueryGroups.from_qid(self.query, len(self.y))
        weight = per_query_weight(self.query_weight, groups)
        by_documents = replace(parameters, C=1.0, normalize="documents")
        preferences = Preferences(
            self.y, groups, self.sample_weight, weight, parameters.pair_weight
        )
        _, c, n_pairs = weighted_pairs(preferences, by_documents, CorePairs)
        return c if parameters.normalize is None else float(c * n_pairs)


def of_rows(values: NDArray[Any] | None, rows: Rows) -> NDArray[Any] | None:
    """Return the values of these rows; None for None."""
    return None if values is None else values[rows]
