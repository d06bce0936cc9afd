"""Columns of numbers: what becomes of labels and weights of other types."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ranksvm.pairs.columns import finite_column, finite_numbers

LEVELS = ["bad", "good", "best"]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([2, 0, 1.5], [2, 0, 1.5]),
        ([True, False], [1, 0]),
        ([], []),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        ([Decimal("1.5"), Fraction(1, 2), np.float32(2), True], [1.5, 0.5, 2, 1]),
        (np.ma.masked_array([1, 2], mask=[False, False]), [1, 2]),
        (pd.Series([2, 1], dtype="Int64"), [2, 1]),
        (pd.Categorical(["best", "bad"], LEVELS, ordered=True), [2, 0]),
        (pd.Series(pd.Categorical(["best", "bad"], LEVELS, ordered=True), [7, 9]), [2, 0]),
        (pd.Categorical([1, 4, 2]), [1, 4, 2]),
        (pd.Categorical([1, 4, 2], ordered=True), [1, 4, 2]),
        (pd.Categorical([1, 3, 2], [3, 2, 1], ordered=True), [2, 0, 1]),
        (pl.Series(["best", "bad"], dtype=pl.Enum(LEVELS)), [2, 0]),
        (pl.Series([2, 1]), [2, 1]),
    ],
)
def test_numbers_and_ordered_categories_are_columns(values, numbers):
    column = finite_column(values, "y")
    assert column.dtype == np.float64
    assert column.tolist() == numbers


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None], "y must hold finite numbers; row 1 holds None"),
        ([1, np.nan], "y must be finite; row 1 holds nan"),
        ([1, "nan"], "y must hold finite numbers; row 1 holds 'nan'; convert texts to numbers"),
        (np.array(["1", "2"]), "y must hold finite numbers; row 0 holds '1'; convert texts to"),
        ([b"1"], "y must hold finite numbers; row 0 holds b'1'; convert texts to numbers first"),
        (np.array([0, -np.inf], dtype=object), "y must be finite; row 1 holds -inf"),
        ([10**400], "y must hold finite numbers; row 0 holds 1000000000"),
        (pd.Series([1, pd.NA], dtype="Int64"), "y must be finite; row 1 holds nan"),
        (pd.Series([True, None], dtype="boolean"), "y must hold finite numbers; row 1 holds <NA>"),
        (pd.Series([1, pd.NaT], dtype=object), "y must hold finite numbers; row 1 holds NaT"),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "y must hold numbers, not datetime64[D]"),
        (np.array([1, 2], dtype="m8[s]"), "y must hold numbers, not timedelta64[s]; row 0 holds 1"),
        (np.ma.masked_array([1, 2], mask=[False, True]), "y must hold finite numbers; row 1 holds"),
        ([1, 2j], "Complex data not supported: y must hold real numbers"),
        ([[1, 2], [3]], "y must hold one number for each row"),
        ([[1, 2], [3, 4]], "y must be one-dimensional, not of shape (2, 2)"),
        (5, "y must be one-dimensional, not of shape ()"),
        (None, "y must hold finite numbers; it is None"),
        ({1, 2}, "y must hold finite numbers; it is {1, 2}"),
        (pd.Categorical(["bad", None], LEVELS, ordered=True), "y must be finite; row 1 holds nan"),
        (pd.Categorical(["bad", "good"]), "y holds categories without an order ('bad', 'good')"),
        (pl.Series(["bad", None], dtype=pl.Enum(LEVELS)), "y must be finite; row 1 holds nan"),
        (pl.Series(["bad"], dtype=pl.Categorical), "y must hold finite numbers; row 0 holds 'bad'"),
    ],
)
def test_what_is_no_number_is_refused(values, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        finite_column(values, "y")


def test_rows_of_a_matrix_are_named():
    with pytest.raises(ValueError, match=r"^y must be finite; row 2 holds nan$"):
        finite_numbers([[0], [1], [np.nan]], "y")
