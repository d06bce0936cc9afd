"""Given pairs of the rows of files."""

from __future__ import annotations

import os

from numpy.typing import ArrayLike

from ..files.pairs import read_pairs
from ..files.source import DataError
from ..pairs.given import GivenPreferences, given_preferences


def read_given_pairs(
    path: str | os.PathLike[str], n_rows: int, data: str, qid: ArrayLike | None = None
) -> GivenPreferences:
    """Read pairs of the rows of another file, whose name is `data`, and of their queries.

    Raises
    ------
    DataError
        As `ranksvm.files.pairs.read_pairs`, or if a pair is of rows of different queries.
    """
    found = read_pairs(path, n_rows, data)
    try:
        return given_preferences(
            found.pairs,
            n_rows,
            found.weights,
            found.margins,
            qid,
            name_of=lambda pair: f"{found.line_of(pair)}: the pair",
        )
    except ValueError as error:
        message = str(error)
        raise DataError(message if found.name in message else f"{found.name}: {message}") from None
