"""Bringing the rows of each query together on disk, where they are not.

Windows of the new order are filled one after the other. What goes into one is read in the order in
which it lies, so that memory holds a window, and the disk is read forwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import GrowingArray, release
from .queries import Runs

WINDOW_BYTES = 1 << 26
_INDEX_BYTES = 16  # that a place takes while it is looked for


def window_rows(files: Sequence[GrowingArray]) -> int:
    """Return how many rows of some files make a window."""
    n_rows = max(files[0].n_rows, 1)
    n_bytes = sum((file.width or 1) * file.dtype.itemsize * file.n_rows for file in files)
    n_places = max(file.n_rows for file in files)
    return max(WINDOW_BYTES * n_rows // max(n_bytes + _INDEX_BYTES * n_places, 1), 1)


def row_windows(runs: Runs, n_rows: int) -> Iterator[NDArray[np.int64]]:
    """Yield which rows come next in the new order, so many at a time."""
    assert runs.order is not None
    lengths = runs.n_rows[runs.order]
    starts = (np.cumsum(runs.n_rows) - runs.n_rows)[runs.order]
    ends = np.cumsum(lengths)
    for begin in range(0, int(ends[-1]), n_rows):
        end = min(begin + n_rows, int(ends[-1]))
        first = int(np.searchsorted(ends, begin, side="right"))
        last = int(np.searchsorted(ends, end, side="left"))
        some, n_some = starts[first : last + 1].copy(), lengths[first : last + 1].copy()
        skipped = begin - int(ends[first] - lengths[first])
        some[0] += skipped
        n_some[0] -= skipped
        n_some[-1] -= int(ends[last]) - end
        yield ranges(some, n_some)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each start on, one range after the other."""
    before = np.cumsum(lengths) - lengths
    places: NDArray[np.int64] = np.repeat(starts - before, lengths)
    places += np.arange(len(places))
    return places


def gathered(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """Return elements or rows of a mapped array, read in the order in which they lie."""
    order = np.argsort(places, kind="stable")
    found = np.empty((len(places), *values.shape[1:]), values.dtype)
    found[order] = values[places[order]]
    release(values)
    return found


def reordered(file: GrowingArray, runs: Runs) -> GrowingArray:
    """Write a closed file anew in the order of queries, under its name, and close it."""
    name, values = file.name, file.map()
    file.put_aside()
    after = GrowingArray(file.folder, name, file.dtype, file.width)
    for rows in row_windows(runs, window_rows([file])):
        after.append(gathered(values, rows))
    after.close()
    file.remove()
    return after
