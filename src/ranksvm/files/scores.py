"""Score files: one number per line, as `svm_rank_classify` writes them."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from .atomic import open_output
from .quoting import shown
from .source import DataError, read_bytes

_DECIMAL = b"0123456789+-.eE \t\r\n"
_NUMBER = re.compile(rb"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")


def write_scores(path: str | os.PathLike[str], scores: NDArray[np.float64]) -> None:
    """Write one score per line, in the shortest form that reads back the same."""
    write_score_parts(path, [scores])


def write_score_parts(path: str | os.PathLike[str], parts: Iterable[NDArray[np.float64]]) -> None:
    """Write the same of scores that come some at a time."""
    block = 1 << 16
    with open_output(path) as file:
        for scores in parts:
            for begin in range(0, len(scores), block):
                lines = [f"{score!r}\n" for score in scores[begin : begin + block].tolist()]
                file.write("".join(lines).encode())


def read_scores(path: str | os.PathLike[str], n_rows: int, data: str) -> NDArray[np.float64]:
    """Read as many scores as the file named `data` has rows.

    Raises
    ------
    DataError
        If a line is not one finite number, or there are more or fewer lines than rows.
    """
    name, content = read_bytes(path)
    scores = parse_numbers(name, content.tobytes(), 1, "one finite score per line")
    if len(scores) != n_rows:
        raise DataError(f"{name} has {len(scores)} scores but {data} has {n_rows} rows")
    return scores


def parse_numbers(name: str, text: bytes, first: int, expected: str) -> NDArray[np.float64]:
    """Read one finite decimal number per line of a text that begins at line `first` of a file.

    Raises
    ------
    DataError
        Naming the line that is not what is expected.
    """
    lines = text.rstrip().split(b"\n") if text.strip() else []
    if not text.translate(None, _DECIMAL):  # Python reads other things as numbers as well
        with suppress(ValueError):
            numbers = np.array(lines, dtype=np.float64)
            if np.isfinite(numbers).all():
                return numbers
    for number, line in enumerate(lines, first):
        if not is_finite_number(line.strip()):
            raise DataError(
                f"{name}, line {number}: expected {expected}, found {shown(line.strip())}"
            )
    return np.array(lines, dtype=np.float64)


def is_finite_number(word: bytes) -> bool:
    """Tell whether a word is a finite decimal number."""
    return _NUMBER.fullmatch(word) is not None and math.isfinite(float(word))
