"""From collections of Dask, or files, to what each partition is computed from; checked on sight."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from ..errors import InputError
from ..files.group_sizes import beside, ids_of_sizes, read_group_sizes
from ..files.rows import FileRows
from ..jobs.data import Reading, read_data
from .rows import Rows, finite_features, rows_of


def sources_of(
    X: Any,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
) -> list[Delayed]:
    """Return what the rows of each partition are computed from.

    Parameters
    ----------
    X : dask array or data frame, or list of paths, or of what `sources_of_files` returns
    y, qid, sample_weight, query_weight : dask array or series, or None
        `qid` may be the name of a column.

    Raises
    ------
    ValueError, TypeError
        Before any work, if collections do not fit each other.
    """
    of_rows = {"y": y, "sample_weight": sample_weight, "query_weight": query_weight}
    if isinstance(X, list) and X and all(isinstance(part, Delayed) for part in X):
        return X
    if is_paths(X):
        given = [name for name, value in {**of_rows, "qid": qid}.items() if value is not None]
        if given:
            raise InputError(f"files have labels and queries of their own: leave out {given[0]}")
        return sources_of_files(X, Reading())
    column = qid if isinstance(qid, str) else None
    parts = partitions_of(X, "X", column)
    if y is None:
        raise InputError("fit needs labels y, as a dask array or series partitioned as X is")
    aligned = {name: aligned_with(X, len(parts), value, name) for name, value in of_rows.items()}
    if column is not None:
        aligned["qid"] = [column] * len(parts)
    else:
        aligned["qid"] = aligned_with(X, len(parts), qid, "qid")
    make = delayed(rows_of, pure=False)
    return [
        make(part, **{name: values[k] for name, values in aligned.items()}, number=k)
        for k, part in enumerate(parts)
    ]


def sources_of_files(paths: Sequence[str | os.PathLike[str]], reading: Reading) -> list[Delayed]:
    """Return what the rows of files are computed from, each a partition."""
    read = delayed(rows_of_file, pure=False)
    found = [os.path.abspath(os.fsdecode(path)) for path in paths]
    return [read(path, reading, number) for number, path in enumerate(found)]


def is_paths(X: Any) -> bool:
    """Say whether X is a list of paths."""
    return isinstance(X, Sequence) and bool(X) and all(isinstance(x, str | os.PathLike) for x in X)


def partitions_of(X: Any, name: str, ids: str | None = None) -> list[Delayed]:
    """Return the partitions of rows of a matrix, of which a column may hold query ids.

    Raises
    ------
    ValueError, TypeError
        If it is no collection of Dask, of unknown chunk sizes, of objects, or has no such column.
    """
    if not is_dask_collection(X) or not hasattr(X, "to_delayed"):
        raise TypeError(
            f"{name} must be a dask array, a dask data frame, or a list of files, not a "
            f"{type(X).__name__}; RankSVM takes what is in memory"
        )
    if ids is not None and ids not in getattr(X, "columns", ()):
        raise InputError(f"{name} has no column {ids!r}, which is to hold the query ids")
    _require_numbers(X if ids is None else X.drop(columns=ids), name)
    if not hasattr(X, "chunks"):
        return list(X.to_delayed())
    if X.ndim != 2:
        raise InputError(f"{name} must be a matrix, found {X.ndim} dimensions")
    _require_known(X, name)
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed()[:, 0])


def aligned_with(X: Any, n_parts: int, values: Any, name: str) -> list[Any]:
    """Return the partitions of a vector with a number for each row of X.

    Raises
    ------
    ValueError, TypeError
        If it is partitioned otherwise.
    """
    if values is None:
        return [None] * n_parts
    if not is_dask_collection(values) or not hasattr(values, "to_delayed"):
        raise TypeError(
            f"{name} must be a dask array or series partitioned as X is, not a "
            f"{type(values).__name__}"
        )
    if name != "qid":
        _require_numbers(values, name)
    if hasattr(values, "chunks") and hasattr(X, "chunks"):
        _require_known(values, name)
        if values.chunks[0] != X.chunks[0]:
            raise InputError(
                f"{name} is partitioned differently from X: chunks of {_shown(values.chunks[0])} "
                f"rows where X has {_shown(X.chunks[0])}; give {name}.rechunk(X.chunks[0])"
            )
    parts = list(np.ravel(values.to_delayed()))
    if len(parts) != n_parts:
        raise InputError(
            f"{name} is partitioned differently from X: {len(parts)} partitions where X has "
            f"{n_parts}"
        )
    return parts


def _shown(chunks: Sequence[int]) -> str:
    return f"{', '.join(map(str, chunks[:6]))}{', ...' if len(chunks) > 6 else ''}"


def _require_known(values: Any, name: str) -> None:
    if any(np.isnan(size) for sizes in values.chunks for size in sizes):
        raise InputError(
            f"{name} has chunks of unknown size; give {name}.compute_chunk_sizes(), or the data "
            "frame that it was made of"
        )


def _require_numbers(values: Any, name: str) -> None:
    dtypes = getattr(values, "dtypes", None)
    if dtypes is None or not hasattr(dtypes, "items"):
        kinds = [(name, getattr(values, "dtype", None))]
    else:
        kinds = [(f"column {column!r} of {name}", dtype) for column, dtype in dtypes.items()]
    for what, dtype in kinds:
        if getattr(dtype, "names", None) is not None:
            raise InputError(
                f"{what} holds events and times, which are not for a cluster: train SurvivalSVM on "
                "a sample"
            )
        if getattr(dtype, "kind", "f") not in "biuf" and str(dtype) != "category":
            raise InputError(f"{what} must hold numbers, not {dtype}; convert it by astype")


def rows_of_file(path: str, reading: Reading, number: int = 0) -> Rows:
    """Read the rows of packed data, or of a file, the part of this number."""
    found = read_data([path], reading)
    X = finite_features(found.X)
    is_packed = found.packed is not None
    names = found.packed.feature_names if is_packed else found.feature_names
    rows = rows_of(
        np.zeros((X.shape[0], 0)),
        found.labels,
        _own_ids(found, path, number),
        found.cost,
        _weights_of_queries(found),
    )
    from_zero = None if is_packed or names is not None else found.zero_based
    return rows._replace(X=X, names=None if names is None else tuple(names), from_zero=from_zero)


def _own_ids(found: FileRows, path: str, number: int) -> Any:
    """Return query ids; those that a file of sizes gives are none of another part's."""
    sizes = beside(path)
    if found.qid is None or sizes is None:
        return found.qid
    ids = ids_of_sizes(*read_group_sizes(sizes), len(found.labels), found.name)
    return ids + (number << 32) if np.array_equal(found.qid, ids) else found.qid


def _weights_of_queries(found: FileRows) -> Any:
    """Return the weight of the query of each row, if packed data have such."""
    if found.packed is None or found.packed.query_weight is None:
        return None
    return np.repeat(found.packed.query_weight, np.diff(found.packed.query_indptr))
