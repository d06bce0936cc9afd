"""Query ids that are a column of a data frame."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PACKAGE = f"{__name__.partition('.')[0]}."
USUAL_NAMES = ("qid", "query_id", "query")


def column_names(X: Any) -> list[str]:
    """Return the columns of a data frame that are named by texts; none of what is no frame."""
    return [name for name in getattr(X, "columns", ()) if isinstance(name, str)]


def without_column(X: Any, name: str) -> Any:
    """Return a data frame without a column, or `X` as it is where it has no such column."""
    if name not in column_names(X):
        return X
    return X[[column for column in X.columns if column != name]]


def query_column(X: Any, name: str) -> NDArray[Any]:
    """Return the query ids that a column holds.

    Raises
    ------
    ValueError
        If X is no data frame, or has no such column.
    """
    names = column_names(X)
    if name in names:
        return np.asarray(X[name])
    found = f"its columns are {', '.join(names[:8])}" if names else f"it is a {type(X).__name__}"
    raise ValueError(
        f"qid={name!r} names a column of a data frame, but X has no such column ({found}); "
        "give ids as an array by fit(X, y, qid=ids)"
    )


def warn_of_query_column(X: Any) -> None:
    """Warn of a data frame whose query ids seem to be taken for a feature."""
    for name in column_names(X):
        if name.lower() in USUAL_NAMES:
            warnings.warn(
                f"no qid is given: all rows are taken for one query, and the column {name!r} for a "
                f"feature; if it holds query ids, pass qid={name!r}",
                UserWarning,
                stacklevel=_level_outside(),
            )
            return


def _level_outside() -> int:
    """Return the stack level, seen from who asks, of what has called the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
