"""What an engine makes of a model, on rows that come some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..export.single_precision import changed_pairs, single_precision_scores
from ..files.rows import FileRows
from ..files.tables.values import joined_ids
from ..models import LinearModel
from .rows import widened


@dataclass(frozen=True)
class Checked:
    """What rows say of a linear model.

    Attributes
    ----------
    ranges : ndarray of shape (2, n_features)
        The least and the greatest value of each feature.
    changed, total : float
        The pairs that single precision ranks otherwise, and all; none of a model with maps.
    """

    ranges: NDArray[np.float64]
    changed: float
    total: float


def check(model: LinearModel, parts: Iterable[FileRows]) -> Checked:
    """Look at rows, of which no more than a part is held at a time, but for scores and queries.

    Parameters
    ----------
    model : LinearModel
    parts : iterable of FileRows
        At least one, all such that they fit the model.
    """
    low: NDArray[np.float64] = np.full(model.n_features, np.inf)
    high = -low
    exact, single, qid = [], [], []
    for part in parts:
        X = widened(part.X, model.n_features)
        low, high = np.minimum(low, _along(X.min)), np.maximum(high, _along(X.max))
        if not model.maps:
            exact.append(model.predict(X))
            single.append(single_precision_scores(model, X))
            qid.append(part.qid)
    return Checked(np.array([low, high]), *_changed(exact, single, qid))


def _along(end: Callable[..., Any]) -> NDArray[np.float64]:
    """Return the ends of all columns, of an array or a sparse matrix."""
    found = end(axis=0)
    return np.ravel(found.toarray() if hasattr(found, "toarray") else found)


def _changed(
    exact: list[NDArray[np.float64]], single: list[NDArray[np.float32]], qid: list[Any]
) -> tuple[float, float]:
    if not exact:
        return 0.0, 0.0
    queries = None if qid[0] is None else joined_ids(qid)
    return changed_pairs(np.concatenate(exact), np.concatenate(single), queries)
