"""The part of one long query in an explicit Hessian, by a walk through it in order of score.

A row of ``N Z`` is a sum over the rows of Z in the window of active pairs, and both ends of the
windows only rise. So rows are gathered when they enter the windows, again for their products with
N, and a third time when they leave the windows of a smoothed loss: a few blocks are in memory at a
time. The sums of the walk are one row for each label; where labels are many, the walk is repeated
for some columns at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..pairs.sweeps import BlockSweep
from ..records import record
from ..threads import InOrder
from .block_memory import new_block

Floats = NDArray[np.floating]
Range: TypeAlias = tuple[int, int]

BLOCK_BYTES = 1 << 20
STEP_BLOCKS = 4  # that a step holds at most, of rows that enter, leave or are multiplied
LEAST_SUMS = 1 << 25  # bytes of the sums of a walk, or
SUMS_PER_ROW = 128  # bytes for each row of the query


class Rows(Protocol):
    """A matrix that copies blocks of its rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, number of features."""

    def gather(
        self,
        rows: tuple[int, int, NDArray[np.int64] | None],
        columns: tuple[int, int],
        shift: NDArray[np.float64],
        scale: NDArray[np.float64],
        dtype: type[np.floating],
        out: Floats | None = None,
    ) -> Floats:
        """Copy a block of ``(X - shift) * scale``, dense, into `out` if given."""


@record
class StandardizedRows:
    """``Z = (X - shift) * scale``, by score, so that a sweep takes the rows as they lie."""

    X: Rows
    sweep: BlockSweep
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    dtype: type[np.floating]

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return np.dtype(self.dtype).itemsize

    def gather(
        self, places: Range, columns: Range | None = None, out: Floats | None = None
    ) -> Floats:
        """Copy the rows at places from first to last, and columns likewise, into `out` if given."""
        rows = self.sweep.rows(*places)
        columns, block = columns or (0, self.X.shape[1]), (0, len(rows), rows)
        return self.X.gather(block, columns, self.shift, self.scale, self.dtype, out)


def long_query_product(
    Z: StandardizedRows, query: int, begin: int, n_levels: int, max_rows: int, ordered: InOrder
) -> Floats:
    """Return ``Z' N Z`` for a query whose first place is `begin`, in blocks of `max_rows` rows."""
    d = Z.X.shape[1]
    windows = [Z.sweep.window_ends(query, window) for window in range(Z.sweep.n_windows)]
    of_a_column = n_levels * Z.itemsize * (2 if Z.sweep.has_gaps else 1)  # bytes of sums
    most = max(LEAST_SUMS, SUMS_PER_ROW * len(windows[0])) // of_a_column
    product = np.zeros((d, d))
    for columns in ranges(0, d, int(np.clip(most, 16, d))):
        walk = _Walk(Z, query, begin, columns, of_a_column, max_rows, ordered)
        for step in _steps(windows, STEP_BLOCKS * max_rows):
            for part in walk.products(*step):
                product[:, slice(*columns)] += part
        del walk  # and its sums, before the next
    return product


def ranges(begin: int, end: int, size: int) -> Iterator[Range]:
    """Cut the places from begin to end into ranges of at most `size`."""
    for first in range(begin, end, size):
        yield first, min(end, first + size)


class _Walk:
    """A walk through a query for ``Z' N Z[:, columns]``, with columns shared among threads."""

    def __init__(
        self, Z: StandardizedRows, query: int, begin: int, columns: Range, of_a_column: int,
        max_rows: int, ordered: InOrder,
    ) -> None:  # fmt: skip
        self._Z, self._begin, self._columns = Z, begin, columns
        self._max_rows, self._ordered = max_rows, ordered
        start: Any = Z.sweep.walk32 if Z.dtype is np.float32 else Z.sweep.walk64
        # The sums of all levels stay in the cache, where they can.
        n_columns = columns[1] - columns[0]
        width = int(np.clip(min(BLOCK_BYTES // of_a_column, -(-n_columns // 2)), 16, 128))
        parts = ranges(0, n_columns, width)
        self._walks = [(slice(*part), start(query, part[1] - part[0])) for part in parts]

    def products(self, own: Range, *moving: Range) -> Iterator[Floats]:
        """Walk on; return what adds up to the products of the rows with N times themselves."""
        rows = self._gather(own, (0, self._Z.X.shape[1]))
        panel = rows[:, slice(*self._columns)]
        blocks = [
            panel if places == own else self._gather(places, self._columns) for places in moving
        ]
        moved = self._new_block(*panel.shape)

        def walk_on(part: int) -> None:
            columns, walk = self._walks[part]
            (entering, first_entering), (leaving, first_leaving) = (
                (block[:, columns], first) for block, (first, _) in zip(blocks, moving, strict=True)
            )
            walk(
                own[0], panel[:, columns], first_entering, entering, first_leaving, leaving,
                moved[:, columns],
            )  # fmt: skip

        for _ in self._ordered(walk_on, range(len(self._walks))):
            pass
        yield from self._ordered(
            lambda part: rows[slice(*part)].T @ moved[slice(*part)],
            ranges(0, len(rows), self._max_rows),
        )

    def _gather(self, places: Range, columns: Range) -> Floats:
        rows = self._new_block(places[1] - places[0], columns[1] - columns[0])

        def copy(part: Range) -> None:
            there = (self._begin + places[0] + part[0], self._begin + places[0] + part[1])
            self._Z.gather(there, columns, rows[slice(*part)])

        for _ in self._ordered(copy, ranges(0, len(rows), self._max_rows)):
            pass
        return rows

    def _new_block(self, n_rows: int, n_columns: int) -> Floats:
        # Of the size of all others, so that one takes the place of another.
        return new_block((STEP_BLOCKS * self._max_rows, n_columns), self._Z.dtype)[:n_rows]


def _steps(windows: list[NDArray[np.uint32]], size: int) -> Iterator[tuple[Range, Range, Range]]:
    """Cut a walk into steps: places to multiply, to enter and to leave, at most `size` of each.

    Before a place is multiplied, all that is in its window has entered. Where more enter than
    `size`, there are steps that multiply none.
    """
    n, place = len(windows[0]), 0
    reached = [0] * len(windows)
    while place < n:
        most = [min(n, end + size) for end in reached]
        seen = [
            int(np.searchsorted(ends, np.uint32(end), side="right"))
            for ends, end in zip(windows, most, strict=True)
        ]
        stop = min(place + size, *seen)
        last = max(stop - 1, place)
        before = reached
        reached = [min(int(ends[last]), end) for ends, end in zip(windows, most, strict=True)]
        entering, *leaving = zip(before, reached, strict=True)
        yield (place, stop), entering, leaving[0] if leaving else (0, 0)
        place = stop
