"""Score files: one number per line, as `svm_rank_classify` writes them."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from .atomic import atomic_write
from .source import DataError, read_bytes


def write_scores(path: str | os.PathLike[str], scores: NDArray[np.float64]) -> None:
    """Write one score per line, in the shortest form that reads back the same."""
    with atomic_write(path) as file:
        block = 1 << 16
        for begin in range(0, len(scores), block):
            file.write("".join(f"{score!r}\n" for score in scores[begin : begin + block].tolist()))


def read_scores(path: str | os.PathLike[str], n_rows: int, data: str) -> NDArray[np.float64]:
    """Read as many scores as the file named `data` has rows.

    Raises
    ------
    DataError
        If a line is not one finite number, or there are more or fewer lines than rows.
    """
    name, content = read_bytes(path)
    lines = content.tobytes().splitlines()
    try:
        scores = np.array(lines, dtype=np.float64)
    except ValueError:
        scores = np.array([_score(line, k, name) for k, line in enumerate(lines, 1)])
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise DataError(f"{name}, line {bad[0] + 1}: a score must be finite")
    if len(scores) != n_rows:
        raise DataError(f"{name} has {len(scores)} scores but {data} has {n_rows} rows")
    return scores


def _score(line: bytes, number: int, name: str) -> float:
    try:
        return float(line)
    except ValueError:
        shown = line[:40].decode("utf-8", "backslashreplace")
        raise DataError(
            f"{name}, line {number}: expected one score per line, found {shown!r}"
        ) from None
