"""Rows of features as users give them, before they become numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def numeric_features(X: Any) -> Any:
    """Return rows as they are, unless numbers would be made of what are none.

    NumPy makes numbers of dates, of missing ones as well, and of what a mask hides.

    Raises
    ------
    ValueError
        Naming the column that holds dates, or the place of what is masked.
    """
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        place = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise ValueError(f"X must be finite; the value at {place} is masked: fill it, or drop it")
    for column, dtype in _columns(X):
        if getattr(dtype, "kind", "") in ("M", "m") or _is_temporal(dtype):
            raise ValueError(
                f"X must hold numbers, but {column} holds dates or times ({dtype}); convert them, "
                "say to days since the first"
            )
    return X


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield what to call each column of a data frame, or all of an array, and its type."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            yield f"its column {name!r}", dtype
    elif hasattr(X, "dtype"):
        yield "it", X.dtype


def _is_temporal(dtype: Any) -> bool:
    """Ask a type of polars; those of others hold no dates."""
    ask = getattr(dtype, "is_temporal", None)
    return callable(ask) and bool(ask())
