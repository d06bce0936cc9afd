"""Event files: for each row a line, 1 if its event has been seen and 0 if it is censored."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from .scores import parse_numbers
from .source import DataError, read_bytes


def read_events(path: str | os.PathLike[str], n_rows: int, data: str) -> NDArray[np.bool_]:
    """Read as many events as the file named `data` has rows.

    Raises
    ------
    DataError
        If a line is not 0 or 1, or there are more or fewer lines than rows.
    """
    name, content = read_bytes(path)
    events = parse_numbers(name, content.tobytes(), 1, "1 for an event or 0 for a censored row")
    bad = np.flatnonzero((events != 0) & (events != 1))
    if len(bad):
        raise DataError(
            f"{name}, line {bad[0] + 1}: expected 1 for an event or 0 for a censored row, found "
            f"{events[bad[0]]:g}"
        )
    if len(events) != n_rows:
        raise DataError(f"{name} has {len(events)} lines but {data} has {n_rows} rows")
    seen: NDArray[np.bool_] = events == 1
    return seen
