"""Files that say how many rows each query has, one number a line, as LightGBM and XGBoost do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .scores import parse_numbers
from .source import DataError, StrPath, found_beside, read_bytes

ENDINGS = (".query", ".group")


def beside(path: str) -> str | None:
    """Return the file of sizes beside one of rows, ``rows.svm.query`` say, or None."""
    return found_beside(path, ENDINGS)


def read_group_sizes(path: StrPath) -> tuple[str, NDArray[np.int64]]:
    """Return the name of a file, and the numbers of rows in it.

    Raises
    ------
    DataError
        If a line is not a whole number of at least 0.
    """
    name, content = read_bytes(path)
    sizes = parse_numbers(name, content.tobytes(), 1, "how many rows a query has")
    bad = np.flatnonzero(
        (sizes < 0) | (sizes != np.floor(sizes)) | (sizes > np.iinfo(np.int32).max)
    )
    if len(bad):
        raise DataError(
            f"{name}, line {bad[0] + 1}: expected how many rows a query has, found "
            f"{sizes[bad[0]]:g}"
        )
    return name, sizes.astype(np.int64)


def ids_of_sizes(
    name: str, sizes: NDArray[np.int64], n_rows: int, data: str, first: int = 1
) -> NDArray[np.int64]:
    """Give rows the numbers of their queries, from `first` on.

    Raises
    ------
    DataError
        If the sizes do not sum to the number of rows.
    """
    if sizes.sum() != n_rows:
        raise DataError(f"{name} sums to {sizes.sum()} rows, but {data} has {n_rows}")
    return np.repeat(np.arange(first, first + len(sizes)), sizes)
