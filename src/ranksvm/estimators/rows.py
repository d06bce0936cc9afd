"""Rows and their labels, checked by scikit-learn, for functions that are no estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_X_y

from ..linear.features import numeric_features
from ..pairs.columns import finite_numbers
from .packed_data import refuse_packed

Vector = NDArray[np.float64]

# What becomes of features.
KINDS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
}


def labelled_rows(X: Any, y: ArrayLike | None) -> tuple[Any, Vector]:
    """Return rows as an array or CSR matrix, and their labels.

    Raises
    ------
    ValueError
        If they differ in length, or hold what is no finite number.
    """
    refuse_packed(X, "this")
    labels = None if y is None else finite_numbers(y, "y")
    X, labels = check_X_y(numeric_features(X), labels, **KINDS)
    return X, labels


def rows_alone(X: Any) -> Any:
    """Return rows without labels as an array or CSR matrix.

    Raises
    ------
    ValueError
        If they hold what is no finite number.
    """
    return check_array(numeric_features(X), **KINDS)
