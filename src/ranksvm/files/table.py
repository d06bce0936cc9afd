"""Tables as text: CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .atomic import atomic_write, check_output

Columns = Mapping[str, NDArray[Any]]


def check_table(path: str | os.PathLike[str]) -> None:
    """Refuse a table that could not be written, before work is put into its content.

    Raises
    ------
    ValueError
        If the name ends neither in .csv nor in .json.
    OutputError
        If the path can never be written.
    """
    check_output(path)
    if not os.fspath(path).lower().endswith((".csv", ".json")):
        raise InputError(f"cannot write {os.fspath(path)}: a table must end in .csv or .json")


def save_table(columns: Columns, path: str | os.PathLike[str]) -> None:
    """Write a table, whole or not at all: CSV with a header, or JSON with an object for each row.

    Numbers are written so that they read back the same. What is not a number is an empty field in
    CSV, null in JSON.
    """
    check_table(path)
    rows = [
        [None if value != value else value for value in row]
        for row in zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    ]
    if os.fspath(path).lower().endswith(".csv"):
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows([columns, *rows])
        text = table.getvalue()
    else:
        objects = [dict(zip(columns, row, strict=True)) for row in rows]
        text = json.dumps(objects, indent=1, allow_nan=False) + "\n"
    with atomic_write(path) as file:
        file.write(text.encode())
