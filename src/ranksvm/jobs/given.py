"""Given pairs of the rows of files."""

from __future__ import annotations

import os

from ..files.pairs import read_pairs
from ..files.source import DataError
from ..files.svmlight import SvmlightFile
from ..pairs.given import GivenPreferences, given_preferences


def given_pairs_of(path: str | os.PathLike[str], rows: SvmlightFile) -> GivenPreferences:
    """Read the pairs of the rows of a file.

    Raises
    ------
    DataError
        As `ranksvm.files.pairs.read_pairs`, or if a pair is of rows of different queries.
    """
    found = read_pairs(path, len(rows.labels), rows.name)
    try:
        return given_preferences(
            found.pairs,
            len(rows.labels),
            found.weights,
            found.margins,
            rows.qid,
            name_of=lambda pair: f"{found.line_of(pair)}: the pair",
        )
    except ValueError as error:
        message = str(error)
        raise DataError(
            message if found.name in message else f"{found.name}: {message}"
        ) from None
