"""Files of given pairs: which row is better than which, one pair per line.

A line is ``winner<TAB>loser[<TAB>weight[<TAB>margin]]``: two rows of another file, counted from
zero, what the pair weighs and the margin that it should keep, each 1 if it is left out. What
follows ``#`` is a comment, and so are empty lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .quoting import shown
from .scores import is_finite_number
from .source import DataError, open_blocks

_BLOCK_BYTES = 1 << 24
_FIELDS = ("winner", "loser", "weight", "margin")
_PLAIN = b"0123456789+-.eE\t\n"  # letters of lines that are read all at once
_TAB, _LINE_END = b"\t\n"


class PairsFile(NamedTuple):
    """The pairs of a file.

    Attributes
    ----------
    name : str
    pairs : ndarray of shape (n_pairs, 2), int64
        The rows of winner and loser.
    weights, margins : ndarray of shape (n_pairs,), or None
        None where no line has one.
    lines : list of sequence of int
        The numbers of the lines that the pairs come from, one part of the file after the other.
    """

    name: str
    pairs: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    margins: NDArray[np.float64] | None
    lines: list[Sequence[int]]

    def line_of(self, pair: int) -> str:
        """Return the file and the line that a pair comes from."""
        for lines in self.lines:
            if pair < len(lines):
                return f"{self.name}, line {lines[pair]}"
            pair -= len(lines)
        raise IndexError(pair)


def read_pairs(path: str | os.PathLike[str], n_rows: int, data: str) -> PairsFile:
    """Read pairs of the rows of another file.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input. A name that ends in .gz, .bz2, .xz or .zst is decompressed.
    n_rows : int
        Number of rows of the other file.
    data : str
        Its name, for messages.

    Raises
    ------
    DataError
        Naming line and column, if a line has other than two to four fields, a row is none of the
        file or is paired with itself, a weight is negative, a margin not
        positive, or one of them not finite; or if there are no pairs.
    """
    name, blocks = open_blocks(path, _BLOCK_BYTES)
    parts: list[NDArray[np.float64]] = [np.ones((0, 2))]
    lines: list[Sequence[int]] = []
    first = 1
    for text in _whole_lines(blocks):
        part = _at_once(text, n_rows)
        if part is None:
            part, numbers = _line_by_line(name, text, first, n_rows, data)
        else:
            numbers = range(first, first + len(part))
        parts.append(part)
        lines.append(numbers)
        first += text.count(b"\n")
    width = max(part.shape[1] for part in parts)
    table = np.concatenate([_with_defaults(part, width) for part in parts])
    if not len(table):
        raise DataError(f"{name} holds no pairs: expected winner<TAB>loser in each line")
    columns = [np.ascontiguousarray(column) for column in table[:, 2:].T]
    weights, margins = [*columns, None, None][:2]
    return PairsFile(name, table[:, :2].astype(np.int64), weights, margins, lines)


def _whole_lines(blocks: Iterator[NDArray[np.uint8]]) -> Iterator[bytes]:
    """Cut the same bytes where lines end."""
    rest = b""
    for block in blocks:
        head, end, tail = block.tobytes().rpartition(b"\n")
        if end:
            yield rest + head + end
            rest = tail
        else:
            rest += tail
    if rest:
        yield rest + b"\n"


def _at_once(text: bytes, n_rows: int) -> NDArray[np.float64] | None:
    """Read lines that all have the same fields; None if they have not, or one is wrong."""
    text = text.replace(b"\r\n", b"\n")
    if text.translate(None, _PLAIN):
        return None
    letters = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(letters == _LINE_END)
    tabs = np.searchsorted(np.flatnonzero(letters == _TAB), ends)
    width = int(tabs[0]) + 1
    if not 2 <= width <= len(_FIELDS) or not (np.diff(tabs) == width - 1).all():
        return None
    words = text.split()
    if len(words) != width * len(ends):
        return None
    try:
        numbers = np.array(words, dtype=np.float64).reshape(-1, width)
    except ValueError:
        return None
    return None if _is_wrong(numbers, n_rows) else numbers


def _is_wrong(lines: NDArray[np.float64], n_rows: int) -> bool:
    rows = lines[:, :2]
    are_rows = (rows >= 0) & (rows < n_rows) & (rows == np.floor(rows))
    good = are_rows.all() and (rows[:, 0] != rows[:, 1]).all() and np.isfinite(lines).all()
    return not (good and (lines[:, 2:3] >= 0).all() and (lines[:, 3:] > 0).all())


def _line_by_line(
    name: str, text: bytes, first: int, n_rows: int, data: str
) -> tuple[NDArray[np.float64], Sequence[int]]:
    """Read lines of any fields, and their numbers, of which `first` is the first."""
    found = {}
    for number, line in enumerate(text.split(b"\n"), first):
        fields = _fields(line)
        if fields:
            found[number] = _Line(f"{name}, line {number}", fields).numbers(n_rows, data)
    width = max(map(len, found.values()), default=2)
    padded = [line + [1.0] * (width - len(line)) for line in found.values()]
    return np.array(padded).reshape(-1, width), list(found)


def _fields(line: bytes) -> list[tuple[int, bytes]]:
    """Return the fields of a line, and the column where each begins; none of a comment."""
    content = line.partition(b"#")[0].rstrip()
    if not content.strip():
        return []
    words = re.finditer(rb"\t?([^\t]*)" if b"\t" in content else rb"\s*(\S+)", content)
    return [(word.start(1) + 1, word[1].strip()) for word in words if word[0]]


class _Line:
    """A line of two to four fields.

    Parameters
    ----------
    place : str
        The file and the number of the line.
    fields : list of (column, word)
    """

    def __init__(self, place: str, fields: list[tuple[int, bytes]]) -> None:
        self._place, self._fields = place, fields

    def numbers(self, n_rows: int, data: str) -> list[float]:
        """Return the numbers of the fields, checked."""
        if not 2 <= len(self._fields) <= len(_FIELDS):
            raise DataError(
                f"{self._place}: expected winner<TAB>loser[<TAB>weight[<TAB>margin]], found "
                f"{len(self._fields)} field{'s' if len(self._fields) > 1 else ''}"
            )
        rows = [self._row(k, n_rows, data) for k in (0, 1)]
        if rows[0] == rows[1]:
            raise self._error(1, f"row {rows[0]} is paired with itself")
        return [*rows, *(self._number(k) for k in range(2, len(self._fields)))]

    def _row(self, k: int, n_rows: int, data: str) -> int:
        word = self._fields[k][1]
        number = float(word) if is_finite_number(word) else np.nan
        if not (number >= 0 and number.is_integer()):
            raise self._error(
                k, f"expected the row of the {_FIELDS[k]}, counted from zero, found {shown(word)}"
            )
        if number >= n_rows:
            raise self._error(
                k, f"there is no row {number:.0f}: {data} has {n_rows} rows, counted from zero"
            )
        return int(number)

    def _number(self, k: int) -> float:
        word, field = self._fields[k][1], _FIELDS[k]
        number = float(word) if is_finite_number(word) else np.nan
        if not (number > 0 or (number == 0 and field == "weight")):
            least = "not negative" if field == "weight" else "greater than 0"
            raise self._error(k, f"expected a {field}, finite and {least}, found {shown(word)}")
        return number

    def _error(self, k: int, message: str) -> DataError:
        return DataError(f"{self._place}, column {self._fields[k][0]}: {message}")


def _with_defaults(lines: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return lines with all fields, those that they lack 1."""
    return np.pad(lines, [(0, 0), (0, width - lines.shape[1])], constant_values=1.0)
