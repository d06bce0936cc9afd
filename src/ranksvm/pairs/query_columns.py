"""Query ids that are a column of a data frame."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

_PACKAGE = f"{__name__.partition('.')[0]}."
USUAL_NAMES = ("qid", "query_id", "query")


_BEHIND_A_STEP = (
    "steps of a pipeline, such as scalers, make arrays of data frames, unless they are told by "
    "set_output(transform='pandas') to keep columns; do so, or "
)


def column_names(X: Any) -> list[str]:
    """Return the columns of a data frame that are named by texts; none of what is no frame.

    Raises
    ------
    TypeError
        If it is a LazyFrame, which has no rows yet.
    """
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise TypeError("X is a LazyFrame, which has no rows yet: give X.collect()")
    names = X.column_names if is_arrow(X) else getattr(X, "columns", ())
    return [name for name in names if isinstance(name, str)]


def is_arrow(X: Any) -> bool:
    """Tell whether a table is one of pyarrow; who made one has imported it."""
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.Table)


def selected(X: Any, names: list[str]) -> Any:
    """Return a data frame with some of its columns, in their order."""
    return X.select(names) if is_arrow(X) else X[names]


def without_column(X: Any, name: str) -> Any:
    """Return a data frame without a column, or `X` as it is where it has no such column."""
    if name not in column_names(X):
        return X
    columns = X.column_names if is_arrow(X) else X.columns
    return selected(X, [column for column in columns if column != name])


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
    raise InputError(
        f"qid={name!r} names a column of a data frame, but X has no such column ({found}); "
        f"{'' if names else _BEHIND_A_STEP}give ids as an array by fit(X, y, qid=ids)"
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
