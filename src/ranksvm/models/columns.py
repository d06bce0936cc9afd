"""The features of a model among the columns of a data frame."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..pairs.query_columns import column_names, is_arrow, selected


def columns_of(X: Any, names: list[str] | None) -> Any:
    """Return rows with the features that a model names, in its order.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_columns)
        What is no data frame, or one whose columns are not all named by texts, stays as it is.
    names : list of str or None
        None stands for features without names.

    Raises
    ------
    ValueError
        If a data frame lacks a feature, or has one twice.
    """
    texts = column_names(X)
    columns = texts if is_arrow(X) else list(getattr(X, "columns", ()))
    if not names or not columns or len(texts) < len(columns):
        return X
    missing = [name for name in names if name not in set(columns)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(
            f"X lacks the column {missing[0]!r}{more}, which the model was trained on; its columns "
            f"are {', '.join(columns[:8])}{', ...' if len(columns) > 8 else ''}"
        )
    twice = [name for name in names if columns.count(name) > 1]
    if twice:
        raise InputError(f"X has the column {twice[0]!r} twice: leave out one of them")
    return X if columns == names else selected(X, names)
