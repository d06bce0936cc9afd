"""Packed data for `benchmarks.disk`: web-like rows of any size, read cold, and memory watched."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.datasets.web_like import web_like_blocks
from ranksvm.disk.arrays import release
from ranksvm.disk.data import PackedData
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

ROWS, FEATURES = 72_000, 136  # of a block
SHARE = 0.4  # of stored values, in CSR
PIECE = 1 << 23  # bytes


def blocks_of(kind: str, gigabytes: float) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield as many blocks as make so many gigabytes."""
    bytes_of_block = ROWS * FEATURES * (8 if kind == "dense" else 12 * SHARE)
    n_blocks = max(round(gigabytes * 1e9 / bytes_of_block), 1)
    rng = np.random.default_rng(1)
    for X, y, qid in web_like_blocks(n_blocks, ROWS, features=FEATURES):
        if kind == "csr":
            X[rng.random(X.shape) >= SHARE] = 0.0
            yield scipy.sparse.csr_matrix(X), y, qid
        else:
            yield X, y, qid


def files_of(path: Path) -> list[Path]:
    """Return the files of X."""
    return [
        path / name for name in ("X.npy", "indices.npy", "values.npy") if (path / name).exists()
    ]


def forget(path: Path) -> None:
    """Let the system forget what it has read of X."""
    for file in files_of(path):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def reading_rate(path: Path) -> float:
    """Return the MB a second of reading X from the disk, one piece after the other."""
    forget(path)
    start, n_bytes, piece = time.perf_counter(), 0, bytearray(PIECE)
    for name in files_of(path):
        with open(name, "rb", buffering=0) as file:
            while n := file.readinto(piece):
                n_bytes += n
    return n_bytes / 1e6 / (time.perf_counter() - start)


class Watch:
    """Follow the peak of the anonymous memory of this process, beyond what it is at first."""

    def __init__(self) -> None:
        self._first = self._peak = anonymous()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._end.wait(0.005):
            self._peak = max(self._peak, anonymous())

    def end(self) -> int:
        """Stop; return the bytes."""
        self._end.set()
        self._thread.join()
        return self._peak - self._first


def anonymous() -> int:
    """Return the bytes of anonymous memory that are resident."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def n_queries_of(data: PackedData, gigabytes: float) -> int:
    """Return how many of the first queries have so many gigabytes of X."""
    share = min(gigabytes * 1e9 / data.bytes_of_X, 1.0)
    return max(round(share * data.n_queries), 1)


def first_queries(
    data: PackedData, n_queries: int, in_memory: bool
) -> tuple[DesignMatrix, Preferences]:
    """View the first queries, or copy them, as training reads them; packing has summed columns."""
    n_rows = int(data.query_indptr[n_queries])
    groups = QueryGroups(data.query_indptr[: n_queries + 1])
    preferences = Preferences(data.y[:n_rows], groups, None, None)
    X = data.X[:n_rows] if isinstance(data.X, np.ndarray) else None
    if X is None:
        n_stored = int(data.X.indptr[n_rows])
        parts = data.X.indptr[: n_rows + 1], data.X.indices[:n_stored], data.X.data[:n_stored]
        parts = tuple(map(np.copy, parts)) if in_memory else parts
        matrix = DesignMatrix.from_csr(*parts, data.shape[1])
    else:
        matrix = DesignMatrix.from_array(X.copy() if in_memory else X)
    if in_memory:
        return matrix, preferences
    return matrix.mapped().with_sums(matrix.column_sums(2)), preferences


def let_go(path: Path, data: PackedData) -> None:
    """Let go of the pages of X, which then come from the disk again."""
    for array in (data.X,) if isinstance(data.X, np.ndarray) else (data.X.data, data.X.indices):
        release(array)
    forget(path)
