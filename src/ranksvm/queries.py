"""Which rows belong to which query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class QueryGroups:
    """The rows of each query, without moving a row.

    Attributes
    ----------
    indptr : ndarray of shape (n_queries + 1,), int64
        Query q owns the places ``indptr[q]:indptr[q + 1]``.
    order : ndarray of shape (n_samples,), int64, or None
        The row at each place, stable within a query. None if the rows already come query by
        query, so that places and rows coincide.
    """

    indptr: NDArray[np.int64]
    order: NDArray[np.int64] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries, with and without preference pairs."""
        return len(self.indptr) - 1

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
            If the length differs from `n_samples` or an id is missing (None or NaN).
        """
        if qid is None:
            return cls(np.array([0, n_samples], dtype=np.int64))
        ids = np.asarray(qid)
        if ids.ndim == 2 and 1 in ids.shape:
            ids = ids.ravel()
        if ids.ndim != 1:
            ids = _objects(qid)
        if len(ids) != n_samples:
            raise ValueError(f"qid has length {len(ids)} but there are {n_samples} rows")
        return cls._from_ids(ids)

    @classmethod
    def _from_ids(cls, ids: NDArray[Any]) -> QueryGroups:
        _refuse_missing(ids)
        codes = ids if ids.dtype.kind in "iubfMmSU" else _factorize(ids)
        n = len(codes)
        starts = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        indptr = np.concatenate([[0], starts, [n]]) if n else np.array([0])
        if len(np.unique(codes[indptr[:-1]])) == len(indptr) - 1:
            return cls(indptr.astype(np.int64))
        order = np.argsort(codes, kind="stable").astype(np.int64)
        ordered = codes[order]
        starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        return cls(np.concatenate([[0], starts, [n]]).astype(np.int64), order)


def _objects(qid: Any) -> NDArray[np.object_]:
    """Ids that are sequences themselves, such as tuples, as a vector of objects."""
    ids = np.empty(len(qid), dtype=object)
    ids[:] = list(map(tuple, qid))
    return ids


def _factorize(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Code any hashable ids by whole numbers, in order of appearance."""
    codes: dict[Any, int] = {}
    try:
        return np.array([codes.setdefault(i, len(codes)) for i in ids.tolist()], dtype=np.int64)
    except TypeError as error:
        raise ValueError(
            f"qid must hold hashable values, such as integers or strings: {error}"
        ) from None


def _refuse_missing(ids: NDArray[Any]) -> None:
    if ids.dtype.kind == "f":
        missing = np.isnan(ids)
    elif ids.dtype.kind in "Mm":
        missing = np.isnat(ids)
    elif ids.dtype.kind == "O":
        missing = np.array([i is None or i != i for i in ids.tolist()], dtype=bool)
    else:
        return
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"qid is missing in row {row} (found {ids[row]!r}); give every row a query"
        )
