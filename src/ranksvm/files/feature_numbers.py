"""Files that give numbers to features: bounds of their weights, or what these are charged.

A line holds a feature, by name, or by number where features have no names, and its numbers, with
commas, tabs or spaces between::

    feature,lower,upper
    3,0,inf
    7,,0.5

Names and numbers may be in double quotes; the first line may say what stands below. Where commas or
tabs separate, a number may be left out. What follows ``#`` at the beginning of a line is a comment,
and so are empty lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.feature_names import FeatureNames
from .quoting import shown
from .scores import is_finite_number
from .source import DataError, read_bytes

Vector = NDArray[np.float64]

_INFINITIES = {"inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
_MAX_DIGITS = 10  # of a feature number
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Field(NamedTuple):
    """A word of a line, and the column where it begins."""

    column: int
    word: str


def read_bounds(path: str | os.PathLike[str], features: FeatureNames) -> tuple[Vector, Vector]:
    """Read lower and upper bounds, infinite for features that the file does not name.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input. A name that ends in .gz, .bz2, .xz or .zst is decompressed.
    features : FeatureNames

    Returns
    -------
    lower, upper : ndarray of shape (n_features,)

    Raises
    ------
    DataError
        Naming line and column, if a line is no feature with two numbers, or gives bounds between
        which there is nothing, or a feature is none or is given twice; or if there are no lines.
    """
    lower = np.full(features.n_features, -np.inf)
    upper = np.full(features.n_features, np.inf)
    for place, k, fields in _lines(path, features, ("lower", "upper")):
        low, high = (
            _number(place, field, most)
            for field, most in zip(fields, (-np.inf, np.inf), strict=True)
        )
        if low > high or low == np.inf or high == -np.inf:
            raise DataError(
                f"{place}: there is no weight from {low:g} to {high:g}: lower bounds come first"
            )
        lower[k], upper[k] = low, high
    return lower, upper


def read_penalty_weights(path: str | os.PathLike[str], features: FeatureNames) -> Vector:
    """Read what weights are charged, 1 for features that the file does not name.

    Raises
    ------
    DataError
        As `read_bounds`, for one number that is not negative.
    """
    found = np.ones(features.n_features)
    for place, k, (field,) in _lines(path, features, ("penalty",)):
        value = _number(place, field, np.nan)
        if not 0 <= value < np.inf:
            raise DataError(
                f"{place}, column {field.column}: expected a penalty, finite and not negative, "
                f"found {shown(field.word)}"
            )
        found[k] = value
    return found


def _lines(
    path: str | os.PathLike[str], features: FeatureNames, numbers: Sequence[str]
) -> Iterator[tuple[str, int, list[_Field]]]:
    """Yield the place of each line, the column of its feature in the data, and its other fields."""
    name, content = read_bytes(path)
    expected = ",".join(["feature", *numbers])
    lines_of: dict[int, int] = {}
    is_first = True
    for number, line in enumerate(_decoded(name, content.tobytes()).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place, fields = f"{name}, line {number}", _fields(line)
        if is_first and _is_header(fields):
            is_first = False
            continue
        is_first = False
        if len(fields) != 1 + len(numbers):
            count = f"{len(fields)} field{'s' * (len(fields) > 1)}"
            raise DataError(f"{place}: expected {expected}, found {count}")
        k = _feature(place, fields[0], features)
        if k in lines_of:
            raise DataError(
                f"{place}: {features.title(k)} is given again, after line {lines_of[k]}: remove "
                "one of them"
            )
        lines_of[k] = number
        yield place, k, fields[1:]
    if not lines_of:
        raise DataError(f"{name} names no features: expected {expected} in each line")


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line}: not UTF-8 text") from None


def _fields(line: str) -> list[_Field]:
    """Return the fields of a line, without the quotes around them."""
    line = line.rstrip("\r")
    separator = next((mark for mark in "\t," if mark in line), None)
    if separator is None:
        return [_Field(word.start() + 1, _unquoted(word[0])) for word in re.finditer(r"\S+", line)]
    pattern = re.compile(rf' *("(?:[^"]|"")*" *(?={separator}|$)|[^{separator}]*)')
    fields, begin = [], 0
    while begin <= len(line):
        found = pattern.match(line, begin)
        assert found is not None  # it may be empty
        fields.append(_Field(found.start(1) + 1, _unquoted(found[1].strip())))
        begin = found.end() + 1
    return fields


def _unquoted(word: str) -> str:
    if len(word) >= 2 and word[0] == word[-1] == '"':
        return word[1:-1].replace('""', '"')
    return word


def _is_header(fields: Sequence[_Field]) -> bool:
    """Whether a line says what stands below it."""
    is_title = fields[0].word.lower() in ("feature", "name")
    return is_title and not any(_is_number(field.word) for field in fields[1:] if field.word)


def _is_number(word: str) -> bool:
    return word.lower() in _INFINITIES or is_finite_number(word.encode())


def _number(place: str, field: _Field, default: float) -> float:
    """Return the number of a field, or if it is empty the default."""
    if not field.word:
        return default
    if not _is_number(field.word):
        raise DataError(
            f"{place}, column {field.column}: expected a number, found {shown(field.word)}"
        )
    known = _INFINITIES.get(field.word.lower())
    return float(field.word) if known is None else known


def _feature(place: str, field: _Field, features: FeatureNames) -> int:
    """Return the column in the data of the feature that a field names."""
    word: str | int = field.word
    is_number = field.word.isascii() and field.word.isdecimal() and len(field.word) <= _MAX_DIGITS
    if features.names is None and is_number:
        word = int(field.word)
    try:
        return features.column(word)
    except ValueError as error:
        raise DataError(f"{place}, column {field.column}: {error}") from None
