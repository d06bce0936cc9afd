"""Columns of numbers as users give them: converted to float64, and looked at after that."""

from __future__ import annotations

import reprlib
import sys
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Vector = NDArray[np.float64]

_NO_NUMBERS = (str, bytes, np.datetime64, np.timedelta64)  # though float64 takes them


def finite_column(values: Any, name: str) -> Vector:
    """Return numbers, one for each row, as a vector of float64.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        As for `finite_numbers`.
    name : str
        What messages call them.

    Raises
    ------
    ValueError
        As `finite_numbers`, or if there is not one dimension.
    """
    column = finite_numbers(values, name)
    if column.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, not of shape {column.shape}; give one number for "
            "each row"
        )
    return column


def finite_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Return numbers of any shape as float64.

    Parameters
    ----------
    values : array-like
        Numbers or truth values of any type; or categories that have an order, of pandas or an
        Enum of polars, which become their codes, unless they are ascending numbers themselves.
    name : str
        What messages call them.

    Raises
    ------
    ValueError
        If one is text, a date or anything else that is no real number, is missing or infinite, or
        categories have no order; naming the row.
    """
    numbers = real_numbers(values, name)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InputError(f"{name} must be finite; {_place(numbers, row)} {numbers.flat[row]}")
    return numbers


def real_numbers(values: Any, name: str) -> NDArray[np.float64]:
    """Do as `finite_numbers`, but let NaN and infinity pass where they are numbers already."""
    array = _category_codes(values, name)
    if array is None:
        array = _as_array(values, name)
    if array.dtype.kind == "O":
        array = _from_objects(array, name)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} must hold real numbers")
    if array.dtype.kind not in "biuf":
        found = f"; {_place(array, 0)} {array.flat[0]}" if array.size else ""
        raise InputError(f"{name} must hold numbers, not {array.dtype}{found}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if is_masked(values):
        return unmasked(values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must hold one number for each row: {error}") from None
    # NumPy turns the numbers beside a text into texts.
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def is_masked(values: Any) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Tell whether an array has a mask; who made one has imported what it takes, which is slow."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)


def unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return objects, with None for those that are masked."""
    objects = np.array(np.ma.getdata(values), dtype=object)
    objects[np.ma.getmaskarray(values)] = None
    return objects


def _category_codes(values: Any, name: str) -> NDArray[Any] | None:
    """Return the codes of categories that have an order, or None if there is no need of them."""
    kind: Any = getattr(values, "dtype", None)
    if type(kind).__name__ == "Enum":  # of polars, whose nulls become nan
        return np.asarray(values.to_physical().to_numpy(), dtype=np.float64)
    if type(kind).__name__ != "CategoricalDtype":
        return None
    categories = np.asarray(kind.categories)
    if categories.dtype.kind in "iuf" and (not kind.ordered or (np.diff(categories) > 0).all()):
        return np.asarray(values, dtype=np.float64)
    if not kind.ordered:
        found = ", ".join(map(repr, categories[:4].tolist()))
        raise InputError(
            f"{name} holds categories without an order ({found}); give numbers, or order them, "
            "from the least to the greatest, by pandas.Categorical(..., ordered=True)"
        )
    codes = np.asarray(getattr(values, "cat", values).codes)
    return np.where(codes < 0, np.nan, codes)


def _from_objects(objects: NDArray[Any], name: str) -> NDArray[np.float64]:
    numbers = np.empty(objects.size)
    for row, value in enumerate(objects.ravel().tolist()):
        try:
            if value is None or isinstance(value, _NO_NUMBERS):
                raise TypeError
            numbers[row] = value
        except (TypeError, ValueError, OverflowError):
            found = f"{_place(objects, row)} {reprlib.repr(value)}"
            raise InputError(f"{name} must hold finite numbers; {found}{_remedy(value)}") from None
    return numbers.reshape(objects.shape)


def _place(array: NDArray[Any], position: int) -> str:
    row = position if array.ndim == 1 else position // max(array.shape[-1] if array.ndim else 1, 1)
    return f"row {row} holds" if array.ndim else "it is"


def _remedy(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "; convert texts to numbers first, or to categories that have an order"
    return ""
