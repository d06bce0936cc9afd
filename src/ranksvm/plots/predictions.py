"""What pictures of an estimator need to know of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pairs.query_columns import query_column


def predictions(estimator: Any, X: Any, qid: Any) -> tuple[NDArray[np.float64], Any]:
    """Return the scores of rows, and their query ids or None.

    Parameters
    ----------
    estimator : fitted ranker or pipeline
    X : array-like or sparse matrix of shape (n_samples, n_features)
    qid : array-like of shape (n_samples,), str or None
        The name of a column of X stands for its values; None for those of the column that the
        estimator was trained with, if it was.
    """
    column = getattr(estimator, "qid_column_", None) if qid is None else qid
    ids = query_column(X, column) if isinstance(column, str) else qid
    return estimator.predict(X), ids
