"""Pages of a matrix that is mapped from disk, read by a thread before the rows are needed.

While blocks of rows are worked on, the disk would rest, and they would wait for it in turn. So a
thread goes before them, some tens of megabytes, and touches each page of what they will read, in
the order in which it lies: the system reads on from there, and finds room for pages and maps them
at the thread's expense. It changes nothing but time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pairs.joined import Run
from ..threads import submitted
from .stored import SparseArrays

PIECE = 1 << 23  # bytes: of less than 500 pages, NumPy would keep the lock of the interpreter
N_AHEAD = 8  # pieces
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
        whole = source[1:] if isinstance(source, SparseArrays) else [source]
        self._n_rows = len(source[0]) - 1 if isinstance(source, SparseArrays) else len(source)
        n_bytes = sum(array.nbytes for array in whole)
        self._step = max(self._n_rows * PIECE // max(n_bytes, 1), 1)

    def before(self, blocks: Sequence[Run], indptr: NDArray[np.integer]) -> Iterator[Run]:
        """Yield blocks of queries, while a thread reads the rows of those that come next.

        Query q has the rows ``indptr[q]:indptr[q + 1]``; blocks come in their order.
        """
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as reader:
            try:
                asked = 0
                for block in blocks:
                    most = int(indptr[block[1]]) + N_AHEAD * self._step
                    for first in range(asked, min(most, self._n_rows), self._step):
                        submitted(reader, touch, self._parts(first, first + self._step))
                        asked = first + self._step
                    yield block
            finally:
                reader.shutdown(cancel_futures=True)

    def _parts(self, first: int, last: int) -> list[NDArray[Any]]:
        """Return the arrays of the rows from first to last, or to the end."""
        if not isinstance(self._source, SparseArrays):
            return [self._source[first:last]]
        indptr, indices, values = self._source
        stored = slice(int(indptr[first]), int(indptr[min(last, self._n_rows)]))
        return [indices[stored], values[stored]]


def touch(parts: Sequence[NDArray[Any]]) -> None:
    """Read a byte of each page of arrays."""
    for part in parts:
        np.bitwise_or.reduce(part.reshape(-1).view(np.uint8)[::PAGE])
