r"""What each feature adds to a score, against the mean of the query or another row.

Scores of a linear ranker are sums :math:`\sum_k f_k(x_k)`, with :math:`f_k(x) = w_k x` where no
map comes before. So a row i stands above a row j by :math:`\sum_k f_k(x_{ik}) - f_k(x_{jk})`, and
above the mean of its query by what its features add beyond theirs: exactly, with nothing left over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..linear.features import two_dimensional
from ..models.columns import columns_of
from ..models.effects import contributions, require_additive
from ..models.from_estimators import model_of
from ..models.kernel import KernelModel
from ..models.linear import LinearModel
from ..models.maps.base import MAX_MEMORY, require_room
from ..pairs.queries import QueryGroups
from ..summaries import Tabular

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Tabular):
    """What each feature adds to the differences of scores.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Each row adds up to `differences`.
    differences : ndarray of shape (n_rows,)
        Of the scores, to those of the means of the queries or of the other rows.
    feature_names : list of str
    """

    values: Matrix
    differences: Vector
    feature_names: list[str]

    def __len__(self) -> int:
        return len(self.values)

    def pair(self, i: int, j: int) -> Contributions:
        """Return why row i is above row j of the same query.

        Parameters
        ----------
        i, j : int
            Rows, counted from zero.
        """
        values = self.values[[i]] - self.values[[j]]
        return Contributions(
            values, self.differences[[i]] - self.differences[[j]], self.feature_names
        )

    def largest(self, row: int = 0, top: int = _MOST_SHOWN) -> list[tuple[str, float]]:
        """Return the features that add most to a row, in absolute value, and how much.

        Parameters
        ----------
        row : int, default=0
        top : int, default=10
            Of those that add anything, which are all if they are fewer.

        Returns
        -------
        list of (name, value)
            Equal ones in the order of the features; the rest is what is missing to the difference.
        """
        values = self.values[row]
        order = np.argsort(-np.abs(values), kind="stable")[:top]
        return [(self.feature_names[k], float(values[k])) for k in order if values[k] != 0]

    @property
    def _title(self) -> str:
        n = len(self)
        return f"Contributions of {len(self.feature_names)} features to {n} row{'s' * (n != 1)}"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the mean of the absolute values, from the largest down; of one row, the values."""
        size = np.abs(self.values).mean(axis=0) if len(self) else np.zeros(self.values.shape[1])
        order = np.argsort(-size, kind="stable").tolist()
        shown = self.values[0] if len(self) == 1 else size
        return {
            "feature": [self.feature_names[k] for k in order],
            "adds" if len(self) == 1 else "mean size": shown[order].tolist(),
        }

    def _frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the values of each feature."""
        return dict(zip(self.feature_names, self.values.T, strict=True))


def explain(model: Any, X: Any, qid: ArrayLike | None = None) -> Contributions:
    r"""Tell what each feature adds to the score of each row, against the mean of its query.

    Of a row i in query q, feature k adds ``f_k(x_ik) - mean over the rows j of q of f_k(x_jk)``;
    ``f_k(x) = w_k x`` unless the model maps features first.

    Parameters
    ----------
    model : LinearModel, or fitted estimator, pipeline or search
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The rows that compete; all of each query.
    qid : array-like of shape (n_samples,), optional
        Query ids; one query by default.

    Returns
    -------
    Contributions

    Raises
    ------
    ValueError
        If the model has a kernel, or a map that takes all features at once; or X does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import LinearModel, explain
    >>> model = LinearModel(np.array([2.0, -1.0]), ["bm25", "price"])
    >>> why = explain(model, [[1.0, 3.0], [2.0, 1.0]])
    >>> why.pair(1, 0).largest()
    [('bm25', 2.0), ('price', 2.0)]
    """
    ranker = additive_model(model)
    values = feature_scores(ranker, X, qid)
    groups = QueryGroups.from_qid(qid, len(values))
    for q in range(groups.n_queries):
        rows = groups.rows(q, q + 1)
        values[rows] -= values[rows].mean(axis=0)
    return Contributions(values, values.sum(axis=1), names_of(ranker))


def explain_pair(model: Any, first: Any, second: Any) -> Contributions:
    """Tell why one row is above another: what each feature adds to the difference of the scores.

    Parameters
    ----------
    model : LinearModel, or fitted estimator, pipeline or search
    first, second : array-like, sparse matrix or data frame of one row
        The difference is the score of the first less that of the second.

    Returns
    -------
    Contributions
        Of one row.

    Raises
    ------
    ValueError
        As by `explain`; and where features are mapped within queries, which two rows do not tell.
    """
    ranker = additive_model(model)
    if ranker.needs_queries:
        raise InputError(
            "the model maps features within queries, which two rows do not tell: explain all rows "
            "of the query, and take the pair of these"
        )
    values = [feature_scores(ranker, _one_row(row), None) for row in (first, second)]
    difference = values[0] - values[1]
    return Contributions(difference, difference.sum(axis=1), names_of(ranker))


def _one_row(row: Any) -> Any:
    if hasattr(row, "to_frame") and getattr(row, "ndim", 2) == 1:
        return row.to_frame().T
    if not hasattr(row, "shape") or len(row.shape) == 1:
        row = np.asarray(row, dtype=np.float64)[np.newaxis]
    if row.shape[0] != 1:
        raise InputError(f"a pair is of two rows, but {row.shape[0]} were given in place of one")
    return row


def additive_model(model: Any) -> LinearModel:
    """Return the linear model in a ranker.

    Raises
    ------
    ValueError
        If it has a kernel.
    """
    ranker = model_of(model)
    if isinstance(ranker, KernelModel):
        raise InputError(
            f"the scores are no sum of what each feature adds: the model ranks by the kernel "
            f"{ranker.kernel}"
        )
    return ranker


def feature_scores(model: LinearModel, X: Any, qid: ArrayLike | None) -> Matrix:
    """Return what each feature adds to the score of each row, of shape (n_samples, n_features)."""
    require_additive(model)
    if model.needs_queries and qid is None:
        raise InputError("the model maps features within queries: give qid, the query of each row")
    rows = two_dimensional(columns_of(X, model.feature_names)).astype(np.float64, copy=False)
    if rows.shape[1] != model.n_features:
        raise InputError(f"X has {rows.shape[1]} features but the model has {model.n_features}")
    n_rows, n_features = rows.shape
    require_room(n_rows, n_features, "what the features add", MAX_MEMORY)
    return contributions(model, rows, qid)


def names_of(model: LinearModel) -> list[str]:
    """Return the names of the features, by their numbers where there are none."""
    first = 0 if model.training.get("zero_based", True) else 1
    return model.feature_names or [str(first + k) for k in range(model.n_features)]
