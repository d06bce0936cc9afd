"""Rows of features as users give them, before they become numbers."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..pairs.columns import is_masked
from ..pairs.query_columns import column_names, is_arrow


def numeric_features(X: Any) -> Any:
    """Return rows as they are, unless numbers would be made of what are none.

    NumPy makes numbers of dates, of missing ones as well, of what a mask hides, and of the real
    parts of complex numbers.

    Raises
    ------
    ValueError, TypeError
        Naming the column that holds dates, or the place of what is masked or no number.
    """
    if isinstance(X, str | os.PathLike):
        raise InputError(
            f"X must hold numbers, not be the text {str(X)!r}; load_svmlight and load_table read "
            "files"
        )
    column_names(X)  # of which a LazyFrame has none
    if is_masked(X) and np.ma.getmaskarray(X).any():
        place = np.argwhere(np.ma.getmaskarray(X))[0].tolist()
        raise InputError(f"X must be finite; the value at {place} is masked: fill it, or drop it")
    for where, dtype, values in _parts(X):
        kind = getattr(dtype, "kind", "")
        if kind in ("M", "m") or _is_temporal(dtype):
            raise InputError(
                f"X must hold numbers, but {where or 'it'} holds dates or times ({dtype}); convert "
                "them, say to days since the first"
            )
        if kind == "c":
            raise InputError("Complex data not supported: X must hold real numbers")
        if kind == "O" or _is_of_texts(dtype):
            _refuse_objects(np.asarray(values, dtype=object), where)
    return X


def _parts(X: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the columns of a data frame, or all of an array: what it is called, type and values."""
    if is_arrow(X):
        for name, kind in zip(X.schema.names, X.schema.types, strict=True):
            yield f"column {name!r}", _numpy_type(kind), X[name]
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            yield f"column {name!r}", dtype, X[name]
    elif hasattr(X, "dtype"):
        yield "", X.dtype, X


def _numpy_type(kind: Any) -> Any:
    """Return what NumPy makes of values of a type of pyarrow: objects, if it has no such type."""
    try:
        return np.dtype(kind.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        return np.dtype(object)


def _is_temporal(dtype: Any) -> bool:
    """Ask a type of polars; those of others hold no dates."""
    ask = getattr(dtype, "is_temporal", None)
    return callable(ask) and bool(ask())


def _is_of_texts(dtype: Any) -> bool:
    """Ask a type of polars, of which numbers can be numerals as well."""
    ask = getattr(dtype, "is_numeric", None)
    return callable(ask) and not ask() and str(dtype) != "Boolean"


def _refuse_objects(values: NDArray[Any], where: str) -> None:
    """Refuse the first object that is no number; None is one that is missing."""
    for place in np.ndindex(values.shape):
        value: Any = values[place]
        try:
            if isinstance(value, np.datetime64 | np.timedelta64):
                raise TypeError("it is a date or time")
            if value is not None:
                float(value)
        except (TypeError, ValueError, OverflowError) as error:
            at = f"row {place[0]} of {where}" if where else f"the value at {list(place)}"
            kind = TypeError if isinstance(error, TypeError) else InputError
            raise kind(f"X must hold numbers; {at} is {reprlib.repr(value)}: {error}") from None


def two_dimensional(X: Any) -> Any:
    """Return X as an array or CSR, in float32 if it is, else in float64."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(numeric_features(X))
    if X.ndim != 2:
        raise InputError(f"X must be a matrix, found shape {X.shape}")
    return X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
