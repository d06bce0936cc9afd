"""Inputs of every wrong kind, for the columns and the features of a small problem."""

import numpy as np
import pandas as pd
import polars as pl

N = 24
VALUES = {
    "none": None,
    "nan": np.nan,
    "inf": np.inf,
    "minus_inf": -np.inf,
    "text": "x",
    "number_as_text": "1",
    "nan_as_text": "nan",
    "empty_text": "",
    "bytes": b"1",
    "NA": pd.NA,
    "NaT": pd.NaT,
    "timestamp": pd.Timestamp(0),
    "datetime64": np.datetime64("2020"),
    "timedelta64": np.timedelta64(1, "s"),
    "complex": 1j,
    "list": [1],
    "tuple": (1, 2),
    "dict": {},
    "set": {1},
    "object": object(),
    "huge": 10**400,
    "function": len,
    "type": int,
}


def problem():
    """Return X, y and qid that every ranker can learn from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, rng.integers(0, 3, N).astype(np.float64), np.repeat(np.arange(4), N // 4)


def with_value(array, value):
    """Return objects of which the fourth row holds another value."""
    objects = array.astype(object)
    place = (3,) if array.ndim == 1 else (3, 1)
    objects[place] = value
    return objects


def columns(good):
    """Return what is no column of numbers, by name."""
    categories = pd.Categorical([f"level {value}" for value in good])
    wrong = {name: with_value(good, value) for name, value in VALUES.items()}
    wrong |= {f"list_of_{name}": with_value(good, v).tolist() for name, v in VALUES.items()}
    return wrong | {
        "a_number": 5.5,
        "a_truth": True,
        "a_text": "abc",
        "a_dict": {"a": 1},
        "a_set": {1.0},
        "a_function": len,
        "a_generator": (value for value in good),
        "short": good[:-1],
        "long": np.append(good, 1),
        "none_at_all": good[:0],
        "two_columns": np.c_[good, good],
        "cube": good[:, np.newaxis, np.newaxis],
        "frame": pd.DataFrame({"a": good, "b": good}),
        "ragged": [[1.0], [1.0, 2.0]] * (N // 2),
        "dates": good.astype("M8[D]"),
        "durations": good.astype("m8[s]"),
        "date_series": pd.Series(pd.date_range("2020", periods=N)),
        "texts": good.astype(str),
        "text_series": pd.Series(good.astype(str), dtype="string"),
        "polars_texts": pl.Series(good.astype(str)),
        "polars_nulls": pl.Series([None, *good[1:]]),
        "nullable": pd.Series([pd.NA, *good[1:]], dtype="Float64"),
        "categories": categories,
        "category_series": pd.Series(categories),
        "masked": np.ma.masked_array(good, np.arange(N) == 3),
        "records": np.zeros(N, [("a", np.float64)]),
        "complexes": good + 1j,
    }


def features(good):
    """Return what is no matrix of numbers, by name."""
    fine = ("number_as_text", "bytes")  # NumPy and scikit-learn read these as the numbers they are
    wrong = {name: with_value(good, v) for name, v in VALUES.items() if name not in fine}
    wrong |= {
        f"frame_of_{name}": pd.DataFrame(with_value(good, v), columns=list("abc"))
        for name, v in VALUES.items()
        if name not in fine
    }
    return wrong | {
        "nothing": None,
        "a_number": 5.5,
        "a_text": "abc",
        "a_dict": {"a": 1},
        "a_function": len,
        "a_generator": (row for row in good),
        "one_column": good[:, 0],
        "cube": good[np.newaxis],
        "empty": [],
        "no_features": good[:, :0],
        "ragged": [[1.0], [1.0, 2.0]],
        "dates": good.astype("M8[D]"),
        "frame_of_dates": pd.DataFrame({k: pd.date_range("2020", periods=N) for k in "abc"}),
        "masked": np.ma.masked_array(good, good == good[3, 1]),
        "complexes": good + 1j,
    }
