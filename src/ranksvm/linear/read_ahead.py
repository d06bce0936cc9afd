"""Pages of a matrix that is mapped from disk, read by a thread before the rows are needed.

While blocks of rows are worked on, the disk would rest, and they would wait for it in turn. So a
thread goes before them, some tens of megabytes, and touches each page of what they will read, in
the order in which it lies: the system reads on from there, and finds room for pages and maps them
at the thread's expense. It changes nothing but time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pairs.joined import Run
from .views import SparseArrays

AHEAD = 1 << 26  # bytes
PAGE = 1 << 12  # bytes, or a multiple of it


class ReadAhead:
    """What reads the rows of mapped arrays before others do.

    Parameters
    ----------
    source : ndarray of shape (n_samples, n_features), or SparseArrays
        C-contiguous.
    """

    def __init__(self, source: NDArray[Any] | SparseArrays) -> None:
        self._source = source

    def before(self, blocks: Sequence[Run], indptr: NDArray[np.integer]) -> Iterator[Run]:
        """Yield blocks of queries, while a thread reads the rows of those that come next.

        Query q has the rows ``indptr[q]:indptr[q + 1]``.
        """
        parts = [self._parts(int(indptr[first]), int(indptr[last])) for first, last in blocks]
        ends = np.cumsum([sum(part.nbytes for part in of_block) for of_block in parts])
        with ThreadPoolExecutor(1) as reader:
            try:
                n_asked = 0
                for block, end in zip(blocks, ends, strict=True):
                    last = int(np.searchsorted(ends, end + AHEAD))
                    for of_block in parts[n_asked:last]:
                        reader.submit(touch, of_block)
                    n_asked = max(n_asked, last)
                    yield block
            finally:
                reader.shutdown(cancel_futures=True)

    def _parts(self, first: int, last: int) -> list[NDArray[Any]]:
        """Return the arrays of the rows from first to last."""
        if not isinstance(self._source, SparseArrays):
            return [self._source[first:last]]
        indptr, indices, values = self._source
        stored = slice(int(indptr[first]), int(indptr[last]))
        return [indices[stored], values[stored]]


def touch(parts: Sequence[NDArray[Any]]) -> None:
    """Read a byte of each page of arrays, without the lock of the interpreter."""
    for part in parts:
        np.bitwise_or.reduce(part.reshape(-1).view(np.uint8)[::PAGE])
