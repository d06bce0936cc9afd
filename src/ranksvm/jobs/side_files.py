"""Files beside those of rows, as LightGBM and XGBoost have them: sizes of queries, and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..files.group_sizes import beside, ids_of_sizes, read_group_sizes
from ..files.rows import FileRows
from ..files.scores import parse_numbers
from ..files.source import DataError, found_beside, read_bytes

Note = Callable[[str], None]


def with_queries(rows: FileRows, path: str | None, before: list[FileRows], note: Note) -> FileRows:
    """Return rows with the queries that a file beside theirs tells of, if they have none.

    Parameters
    ----------
    rows : FileRows
    path : str or None
        Their file; None for a stream, which nothing is beside.
    before : list of FileRows
        Those of other files, whose queries have other numbers.
    note : callable
        Is told of a file that was found.

    Raises
    ------
    DataError
        If the sizes do not sum to the number of rows.
    """
    found = None if rows.qid is not None else sizes_beside(path, rows.name, note)
    if found is None:
        return rows
    first = 1 + max((int(part.qid[-1]) for part in before if part.qid is not None), default=0)
    qid = ids_of_sizes(*read_group_sizes(found), len(rows.labels), rows.name, first)
    return replace(rows, qid=qid)


def sizes_beside(path: str | None, data: str, note: Note) -> str | None:
    """Return the file of sizes beside that of rows, and tell of it."""
    found = None if path is None else beside(path)
    if found is not None:
        note(f"note: {found} says how many rows of {data} each query has")
    return found


def weighed(parts: Iterable[FileRows], path: str | None, note: Note) -> Iterator[FileRows]:
    """Yield the rows of a file with the weights that one beside it tells, ``rows.svm.weight`` say.

    Weights that the rows have themselves count, not those.

    Raises
    ------
    DataError
        If it has more or fewer lines than there are rows, or one is no weight.
    """
    rest = iter(parts)
    first = next(rest, None)
    if first is None:
        return
    name = None if path is None or first.cost is not None else found_beside(path, (".weight",))
    if name is None:
        yield first
        yield from rest
        return
    note(f"note: {name} says what each row of {first.name} weighs")
    weights, row = _read_weights(name), 0
    for part in chain([first], rest):
        stop = row + len(part.labels)
        if stop > len(weights):
            raise DataError(f"{name} has {len(weights)} weights, but {part.name} has more rows")
        yield replace(part, cost=weights[row:stop])
        row = stop
    if row < len(weights):
        raise DataError(f"{name} has {len(weights)} weights, but {first.name} has {row} rows")


def _read_weights(path: str) -> NDArray[np.float64]:
    name, content = read_bytes(path)
    weights = parse_numbers(name, content.tobytes(), 1, "the weight of a row")
    bad = np.flatnonzero(weights < 0)
    if len(bad):
        raise DataError(f"{name}, line {bad[0] + 1}: a weight must not be negative")
    return weights


class Sizes:
    """The queries of rows that come some at a time, by a file of how many rows each has."""

    def __init__(self, path: str, first: int = 1) -> None:
        self.name, self._sizes = read_group_sizes(path)
        self._first, self._row = first, 0
        self._ends = np.cumsum(self._sizes)

    @property
    def next_query(self) -> int:
        """The number of the first query of the next file."""
        return self._first + len(self._sizes)

    def number(self, part: FileRows) -> FileRows:
        """Return rows with the numbers of their queries."""
        if part.qid is not None:
            raise DataError(f"{part.name} has qids: leave out them, or {self.name}")
        rows = np.arange(self._row, self._row + len(part.labels))
        self._row += len(rows)
        if self._row > (self._ends[-1] if len(self._ends) else 0):
            self.require_end(part.name)
        return replace(part, qid=self._first + np.searchsorted(self._ends, rows, side="right"))

    def require_end(self, data: str) -> None:
        """Refuse sizes that sum to another number of rows."""
        ids_of_sizes(self.name, self._sizes, self._row, data)
