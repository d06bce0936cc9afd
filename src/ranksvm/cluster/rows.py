"""The rows of a partition as they come, checked; and what the driver has to know of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.features import numeric_features, two_dimensional
from ..pairs.columns import finite_column
from ..pairs.queries import QueryGroups, present_ids
from ..pairs.query_columns import column_names, query_column, without_column
from ..pairs.weights import nonnegative_weights

Vector = NDArray[np.float64]

BY_ROW = ("X", "y", "ids", "sample_weight", "query_weight")


class Rows(NamedTuple):
    """The rows of a partition.

    Attributes
    ----------
    X : ndarray or SciPy CSR matrix of shape (n_rows, n_features), float32 or float64
    y : ndarray of shape (n_rows,), float64
    ids : ndarray of shape (n_rows,), or None
        Query ids; None where all rows of all partitions are one query.
    sample_weight, query_weight : ndarray of shape (n_rows,), float64, or None
        Of each row, and of its query.
    names : tuple of str, or None
        Of the features.
    from_zero : bool or None
        Where features have numbers, of which only those up to the last that occurs are there, as in
        SVMlight files: whether they are counted from zero. None where all features are there.
    """

    X: Any
    y: Vector
    ids: NDArray[Any] | None
    sample_weight: Vector | None
    query_weight: Vector | None
    names: tuple[str, ...] | None
    from_zero: bool | None = None

    def taken(self, places: NDArray[np.intp]) -> Rows:
        """Copy some rows, in this order."""
        return self._replace(**{name: _taken(getattr(self, name), places) for name in BY_ROW})


def _taken(values: Any, places: NDArray[np.intp]) -> Any:
    return None if values is None else values[places]


class Survey(NamedTuple):
    """What the driver has to know of the rows of a partition.

    Attributes
    ----------
    n_features : int
    n_stored : int
        Values of X.
    names : tuple of str, or None
    from_zero : bool or None
        As of `Rows`.
    has_ids, is_weighted : bool
        Whether rows have query ids, and weights.
    ids : ndarray of shape (n_queries,)
        Of its queries, each once.
    sizes : ndarray of shape (n_queries,)
        How many rows each has here.
    """

    n_features: int
    n_stored: int
    names: tuple[str, ...] | None
    from_zero: bool | None
    has_ids: bool
    is_weighted: bool
    ids: NDArray[Any]
    sizes: NDArray[np.int64]


def rows_of(
    X: Any,
    y: Any,
    qid: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    *,
    number: int = 0,
) -> Rows:
    """Check the rows of a partition; its number is what messages name.

    Raises
    ------
    ValueError
        Naming the partition.
    """
    try:
        return _rows_of(X, y, qid, sample_weight, query_weight)
    except ValueError as error:
        raise InputError(f"partition {number}: {error}") from None


def _rows_of(X: Any, y: Any, qid: Any, sample_weight: Any, query_weight: Any) -> Rows:
    if isinstance(qid, str):
        qid, X = query_column(X, qid), without_column(X, qid)
    names = tuple(column_names(X)) or None
    features = finite_features(X)
    n = features.shape[0]
    labels = finite_column(y, "y")
    ids = None if qid is None else present_ids(qid)
    for name, values in (("y", labels), ("qid", ids)):
        if values is not None and len(values) != n:
            raise InputError(f"{name} has {len(values)} rows where X has {n}")
    return Rows(
        features,
        np.ascontiguousarray(labels, dtype=np.float64),
        ids,
        nonnegative_weights("sample_weight", sample_weight, n),
        nonnegative_weights("query_weight", query_weight, n),
        names,
    )


def finite_features(X: Any) -> Any:
    """Return features as an array in C order or CSR, in float32 or float64, checked."""
    matrix = two_dimensional(X if hasattr(X, "tocsr") else numeric_features(X))
    if isinstance(matrix, np.ndarray):
        matrix = np.ascontiguousarray(matrix)
        values = matrix
    else:
        values = matrix.data
    if not np.isfinite(values).all():
        raise InputError("X must be finite: it holds NaN or infinity")
    return matrix


def survey(rows: Rows) -> Survey:
    """Return what the driver has to know of rows."""
    n, d = rows.X.shape
    n_stored = rows.X.size if isinstance(rows.X, np.ndarray) else rows.X.nnz
    if rows.ids is None:
        ids, sizes = np.zeros(min(n, 1), dtype=np.int64), np.full(min(n, 1), n, dtype=np.int64)
    else:
        groups = QueryGroups.from_qid(rows.ids, n)
        ids, sizes = rows.ids[groups.first_rows], np.diff(groups.indptr)
    is_weighted = rows.sample_weight is not None or rows.query_weight is not None
    return Survey(
        d,
        int(n_stored),
        rows.names,
        rows.from_zero,
        rows.ids is not None,
        is_weighted,
        ids,
        sizes,
    )


def widened(rows: Rows, n_features: int, from_zero: bool) -> Rows:
    """Return rows with further features, which are zero, all counted from where others count."""
    n, d = rows.X.shape
    before = int(from_zero and rows.from_zero is False)
    behind = n_features - before - d
    if behind < 0 or not (before or behind):
        return rows._replace(from_zero=from_zero)
    if isinstance(rows.X, np.ndarray):
        X = np.pad(rows.X, ((0, 0), (before, behind)))
    else:
        parts = rows.X.data, rows.X.indices + before, rows.X.indptr
        X = type(rows.X)(parts, shape=(n, n_features))
    return rows._replace(X=X, from_zero=from_zero)


def selected(rows: Rows, destinations: NDArray[np.int64], to: int) -> Rows:
    """Return the rows of those queries, in the order of the survey, that go to a partition."""
    n = len(rows.y)
    groups = QueryGroups.from_qid(rows.ids, n)
    return rows.taken(np.flatnonzero(groups.per_row(destinations) == to))


def together(*parts: Rows) -> Rows:
    """Return rows one part after the other, of parts without rows but one nothing."""
    some = [part for part in parts if len(part.y)] or list(parts[:1])
    if len(some) == 1:
        return some[0]
    n_rows = [len(part.y) for part in some]
    columns = {name: [getattr(part, name) for part in some] for name in BY_ROW}
    return some[0]._replace(**{name: _joined(parts, n_rows) for name, parts in columns.items()})


def _joined(values: list[Any], n_rows: list[int]) -> Any:
    if all(part is None for part in values):
        return None
    if any(part is None for part in values):  # weights that only some files have
        pairs = zip(values, n_rows, strict=True)
        values = [np.ones(n) if part is None else part for part, n in pairs]
    if any(hasattr(part, "tocsr") for part in values):  # some parts of a file may be dense
        from scipy.sparse import vstack

        return vstack(values, format="csr")
    return np.concatenate(values)
