"""Scores as engines compute them that hold weights, features and sums in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics import lost_pairs
from ..models import LinearModel


def single_precision_scores(model: LinearModel, X: Any) -> NDArray[np.float32]:
    """Add up ``w_k x_k`` in single precision, in the order of the features.

    Parameters
    ----------
    model : LinearModel
        Without maps.
    X : ndarray or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,), float32
    """
    columns = X if isinstance(X, np.ndarray) else X.tocsc()
    scores = np.zeros(X.shape[0], dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for k, weight in zip(*(part.tolist() for part in model.weights.nonzero()), strict=True):
            if k < X.shape[1]:
                scores += _column(columns, k) * np.float32(weight)
    return scores


def _column(X: Any, k: int) -> NDArray[np.float32]:
    column = X[:, k] if isinstance(X, np.ndarray) else X[:, [k]].toarray().ravel()
    found: NDArray[np.float32] = column.astype(np.float32)
    return found


def changed_pairs(
    exact: ArrayLike, single: ArrayLike, qid: ArrayLike | None
) -> tuple[float, float]:
    """Count the pairs of rows of a query that single precision ranks otherwise.

    Parameters
    ----------
    exact, single : array-like of shape (n_samples,)
        Scores in double and in single precision.
    qid : array-like of shape (n_samples,), optional

    Returns
    -------
    changed, total : float
        Pairs of different scores; one that becomes a tie is changed by half.
    """
    changed, total = lost_pairs(exact, single, qid)
    return float(changed.sum()), float(total.sum())
