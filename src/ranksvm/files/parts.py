"""Rows some at a time: parts of them, and parts that hold whole queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from .joining import joined
from .rows import CsrArrays, FileRows
from .source import DataError

_OF_ROWS = ("labels", "qid", "cost", "comments", "event", "ids")


class QueryAgainError(DataError):
    """Rows of a query that are not adjacent, where whole queries are wanted a few at a time."""


def part_of(rows: FileRows, first: int, last: int) -> FileRows:
    """Return the rows from `first` up to `last`, without copying features."""
    found: dict[str, Any] = {}
    for name in _OF_ROWS:
        values = getattr(rows, name)
        found[name] = None if values is None else values[first:last]
    features = rows.features
    if isinstance(features, CsrArrays):
        indptr, indices, values, n_features = features
        part = slice(int(indptr[first]), int(indptr[last]))
        pointers = indptr[first : last + 1] - indptr[first]
        return replace(
            rows, **found, features=CsrArrays(pointers, indices[part], values[part], n_features)
        )
    return replace(rows, **found, features=features[first:last])


def of_whole_queries(parts: Iterator[FileRows]) -> Iterator[FileRows]:
    """Yield the same rows so that no query is cut, whose rows are adjacent.

    A query may go on from the end of a file to the beginning of the next. Rows without queries
    are one query. What fits in a single part may come in any order.

    Raises
    ------
    QueryAgainError
        If the rows of a query are not adjacent.
    """
    some = list(islice(parts, 2))
    if len(some) < 2:
        yield from some
        return
    waiting: list[FileRows] = []
    seen, row = _Seen(), 0
    for part in chain(some, parts):
        seen.add(part, row)
        row += len(part.labels)
        if waiting and not _goes_on(waiting[-1], part):
            yield _together(waiting)
        start = _start_of_last(part)
        if start > 0:
            waiting.append(part_of(part, 0, start))
            yield _together(waiting)
        waiting.append(part_of(part, start, len(part.labels)))
    yield _together(waiting)


def _start_of_last(part: FileRows) -> int:
    """Return the first row of the last query of a part."""
    if part.qid is None:
        return 0
    other = np.flatnonzero(part.qid != part.qid[-1])
    return int(other[-1]) + 1 if len(other) else 0


def _goes_on(before: FileRows, part: FileRows) -> bool:
    if before.qid is None or part.qid is None:
        return before.qid is None and part.qid is None
    return str(before.qid[-1]) == str(part.qid[0])


def _together(waiting: list[FileRows]) -> FileRows:
    """Return parts of one query, or of queries the last of which goes on, and forget them."""
    rows = joined(waiting, lambda note: None)
    waiting.clear()
    return rows


class _Seen:
    """The queries that have ended."""

    def __init__(self) -> None:
        self._last: Any = None
        self._ended: set[str] = set()

    def add(self, part: FileRows, row: int) -> None:
        """Refuse a query that has ended before."""
        if part.qid is None:
            return
        starts = np.flatnonzero(np.concatenate([[True], part.qid[1:] != part.qid[:-1]]))
        for start, one in zip(starts.tolist(), map(str, part.qid[starts].tolist()), strict=True):
            if one == self._last:
                continue
            if one in self._ended:
                raise QueryAgainError(
                    f"{part.name}: the rows of query {one} are not adjacent, it comes again in row "
                    f"{row + start + 1}: sort the rows by query"
                )
            if self._last is not None:
                self._ended.add(self._last)
            self._last = one
