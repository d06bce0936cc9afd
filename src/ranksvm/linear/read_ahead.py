"""Pages of a matrix that is mapped from disk, read by a thread before the rows are needed.

While blocks of rows are worked on, the disk would rest, and they would wait for it in turn. So a
thread goes before them, some tens of megabytes, and touches each page of what they will read, in
the order in which it lies: the system reads on from there, and finds room for pages and maps them
at the thread's expense. It changes nothing but time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .views import SparseArrays

Task = TypeVar("Task")

AHEAD = 1 << 26  # bytes
PAGE = 1 << 12  # bytes, or a multiple of it


class ReadAhead:
    """What reads the rows of mapped arrays before others do.

    Parameters
    ----------
    source : ndarray of shape (n_samples, n_features), or SparseArrays
    """

    def __init__(self, source: NDArray[Any] | SparseArrays) -> None:
        self._source = source

    def before(self, tasks: Sequence[Task], rows_of: Callable[[Task], slice]) -> Iterator[Task]:
        """Yield tasks, while a thread reads the rows of those that come next."""
        if not tasks:
            return
        parts = [self._parts(rows_of(task)) for task in tasks]
        ends = np.cumsum([sum(part.nbytes for part in of_task) for of_task in parts])
        with ThreadPoolExecutor(1) as reader:
            try:
                n_asked = 0
                for task, end in zip(tasks, ends, strict=True):
                    last = int(np.searchsorted(ends, end + AHEAD))
                    for of_task in parts[n_asked:last]:
                        reader.submit(touch, of_task)
                    n_asked = max(n_asked, last)
                    yield task
            finally:
                reader.shutdown(cancel_futures=True)

    def _parts(self, rows: slice) -> list[NDArray[Any]]:
        """Return the arrays of some rows."""
        if not isinstance(self._source, SparseArrays):
            return [self._source[rows]]
        indptr, indices, values = self._source
        stored = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
        return [indices[stored], values[stored]]


def touch(parts: Sequence[NDArray[Any]]) -> None:
    """Read a byte of each page of arrays, without the lock of the interpreter."""
    for part in parts:
        np.bitwise_or.reduce(part.reshape(-1).view(np.uint8)[::PAGE])
