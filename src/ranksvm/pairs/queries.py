"""Which rows belong to which query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .columns import is_masked, unmasked


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """The rows of each query, without moving a row.

    Queries are numbered as they first appear if the rows come query by query, else in ascending
    order of their ids.

    Attributes
    ----------
    indptr : ndarray of shape (n_queries + 1,), int64
        Query q owns the places ``indptr[q]:indptr[q + 1]``.
    order : ndarray of shape (n_samples,), uint32, or None
        The row at each place, stable within a query. None if the rows already come query by
        query, so that places and rows coincide.
    """

    indptr: NDArray[np.int64]
    order: NDArray[np.uint32] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries, with and without preference pairs."""
        return len(self.indptr) - 1

    def n_to_rank(self, n_levels: NDArray[np.uint32]) -> float:
        """Return how many features rank rows as nearly any labels of so many levels say.

        That is n (1 - 1/L) for n rows with L levels, as of each query (:eq:`few-rows`).
        """
        sizes = np.diff(self.indptr)
        return float((sizes - sizes / np.maximum(n_levels, 1)).sum())

    @property
    def most_pairs(self) -> float:
        """How many pairs of rows of the same query there are at most, with their own half."""
        sizes = np.diff(self.indptr).astype(np.float64)
        return 0.5 * float(sizes @ sizes)

    def per_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give every row the value of its query.

        Parameters
        ----------
        values : ndarray of shape (n_queries,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        by_place = np.repeat(values, np.diff(self.indptr))
        if self.order is None:
            return by_place
        by_row = np.empty_like(by_place)
        by_row[self.order] = by_place
        return by_row

    @property
    def first_rows(self) -> NDArray[np.integer]:
        """The first row of each query, of shape (n_queries,)."""
        first = self.indptr[:-1]
        return first if self.order is None else self.order[first]

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of the query of each row, of shape (n_samples,)."""
        return self.per_row(np.arange(self.n_queries))

    def rows(self, first: int, last: int) -> slice | NDArray[np.uint32]:
        """Return the rows of the queries from first to last, as an index."""
        places = slice(int(self.indptr[first]), int(self.indptr[last]))
        return places if self.order is None else self.order[places]

    def part(self, first: int, last: int) -> QueryGroups:
        """Return those queries alone, with their rows one after the other."""
        return QueryGroups(self.indptr[first : last + 1] - self.indptr[first])

    def of_rows(self, rows: NDArray[np.integer]) -> QueryGroups:
        """Return those of some rows alone, in this order."""
        return self.from_qid(None if self.n_queries == 1 else self.numbers[rows], len(rows))

    @classmethod
    def from_qid(cls, qid: ArrayLike | None, n_samples: int) -> QueryGroups:
        """Group the rows by query id.

        Parameters
        ----------
        qid : array-like of shape (n_samples,) or None
            Query ids: integers, strings or any hashable values, in any order; rows of a query need
            not be adjacent. None: all rows form one query.
        n_samples : int
            Number of rows.

        Raises
        ------
        ValueError
            If the length differs from `n_samples`, an id is missing (None or NaN) or not hashable,
            or `qid` is not one-dimensional.
        """
        if qid is None:
            return cls(np.array([0, n_samples], dtype=np.int64))
        ids = present_ids(qid)
        if len(ids) != n_samples:
            raise InputError(f"qid has length {len(ids)} but there are {n_samples} rows")
        return cls._from_ids(ids)

    @classmethod
    def _from_ids(cls, ids: NDArray[Any]) -> QueryGroups:
        codes = ids if ids.dtype.kind in "iubfMmSU" else _factorize(ids)
        n = len(codes)
        starts = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        indptr = np.concatenate([[0], starts, [n]]) if n else np.array([0])
        of_runs = np.sort(codes[indptr[:-1]])
        if (of_runs[1:] != of_runs[:-1]).all():
            return cls(indptr.astype(np.int64))
        order = np.argsort(codes, kind="stable").astype(np.uint32)
        ordered = codes[order]
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        return cls(np.concatenate([[0], starts, [n]]).astype(np.int64), order)


def ids_from_sizes(sizes: ArrayLike, n_samples: int, name: str = "group") -> NDArray[np.int64]:
    """Give rows the number of their query, from how many rows each has, one after the other.

    Parameters
    ----------
    sizes : array-like of shape (n_queries,)
        Rows of the first query, of the second, and so on, as in LightGBM and XGBoost.
    n_samples : int
        Number of rows.
    name : str, default="group"
        What messages call `sizes`.

    Returns
    -------
    ndarray of shape (n_samples,), int64

    Raises
    ------
    ValueError
        If the sizes are not whole numbers, or do not sum to the number of rows.
    """
    counts = np.asarray(sizes)
    if counts.ndim != 1 or counts.dtype.kind not in "iuf":
        raise InputError(f"{name} must list how many rows each query has, not {sizes!r}")
    bad = np.flatnonzero(~((counts >= 0) & (counts == np.floor(counts))))
    if len(bad):
        raise InputError(
            f"{name} must list how many rows each query has; query {bad[0]} has {counts[bad[0]]}"
        )
    if counts.sum() != n_samples:
        raise InputError(
            f"{name} lists queries of {counts.sum():g} rows together, but there are {n_samples}; "
            "an id for each row is what qid takes"
        )
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts.astype(np.int64))


def present_ids(values: Any, name: str = "qid") -> NDArray[Any]:
    """Return ids, which messages call `name`, as a vector without a missing one.

    Raises
    ------
    ValueError
        If they are not one-dimensional, or one is None, NaN, NaT, NA or masked.
    """
    ids = id_vector(values, name)
    if ids.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, not of shape {ids.shape}")
    _refuse_missing(ids, name)
    return ids


def id_vector(qid: Any, name: str = "qid") -> NDArray[Any]:
    """Return the ids as a vector, with ids that differ kept different."""
    if is_masked(qid):
        return unmasked(qid)
    if hasattr(qid, "__array__") or hasattr(qid, "dtype"):
        ids = np.asarray(qid)
        return ids.ravel() if ids.ndim == 2 and 1 in ids.shape else ids
    if isinstance(qid, (str, bytes)) or not isinstance(qid, Iterable):
        raise InputError(f"{name} must give one id for each row, not {qid!r}")
    values = list(qid)
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {int, float, str, bytes}:
        return np.array(values)
    # NumPy would turn 1 and "1" into the same string, and tuples into a matrix.
    ids = np.empty(len(values), dtype=object)
    ids[:] = [tuple(value) if isinstance(value, list) else value for value in values]
    return ids


def _factorize(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Code any hashable ids by whole numbers, in order of appearance."""
    codes: dict[Any, int] = {}
    try:
        return np.array([codes.setdefault(i, len(codes)) for i in ids.tolist()], dtype=np.int64)
    except TypeError as error:
        raise InputError(
            f"qid must hold hashable values, such as integers or strings: {error}"
        ) from None


def _refuse_missing(ids: NDArray[Any], name: str) -> None:
    if ids.dtype.kind == "f":
        missing = np.isnan(ids)
    elif ids.dtype.kind in "Mm":
        missing = np.isnat(ids)
    elif ids.dtype.kind == "O":
        missing = np.array([_is_missing(i) for i in ids.tolist()], dtype=bool)
    else:
        return
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise InputError(f"{name} is missing in row {row} (found {ids[row]!r}); give every row one")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA of pandas is neither equal nor different
        return type(value).__name__ == "NAType"
