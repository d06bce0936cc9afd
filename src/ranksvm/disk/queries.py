"""Which queries rows belong to, as they come: runs of rows, whose ids are numbers or texts."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..pairs.queries import present_ids
from .folder import NewFolder

LINES = "names"
Vector = NDArray[np.float64]
Ids = NDArray[np.int64] | list[str]


class QueryLog:
    """The runs of rows with the same query id.

    Whole numbers are kept as they are. Of texts, which are written to a file, a digest of 128 bits
    is kept. Once one id is a text, all are.

    Parameters
    ----------
    folder : NewFolder
        Where to write texts, a line of JSON for each run.
    """

    def __init__(self, folder: NewFolder) -> None:
        self._folder = folder
        self._ids: list[NDArray[Any]] = []
        self._n_rows: list[NDArray[np.int64]] = []
        self._weights: list[Vector] = []
        self._names: IO[bytes] | None = None
        self._last: Any = None

    @property
    def are_names(self) -> bool:
        """Whether the ids are texts."""
        return self._names is not None

    def append(self, ids: Ids, n_rows: NDArray[np.int64], weights: Vector | None = None) -> None:
        """Add runs; the first may go on with the last one. All have weights, or none.

        Raises
        ------
        InputError
            If they do not.
        """
        if not len(ids):
            return
        if self._ids and (weights is None) != (not self._weights):
            raise InputError("either all rows have query weights, or none: some blocks lack them")
        if isinstance(ids, list) and not self.are_names:
            self._become_names()
        elif self.are_names and not isinstance(ids, list):
            ids = list(map(str, ids.tolist()))
        if self._ids and ids[0] == self._last:
            if weights is not None:
                _require_one_weight(ids[0], self._weights[-1][-1], weights[0])
                weights = weights[1:]
            self._n_rows[-1][-1] += n_rows[0]
            ids, n_rows = ids[1:], n_rows[1:]
        if len(ids):
            self._last = ids[-1]
            self._ids.append(self._named(ids) if isinstance(ids, list) else ids.copy())
            self._n_rows.append(n_rows.copy())
            if weights is not None:
                self._weights.append(weights.copy())

    def _become_names(self) -> None:
        self._names = self._folder.create(LINES)
        before, self._ids = self._ids, []
        for ids in before:
            self._ids.append(self._named(list(map(str, ids.tolist()))))
        self._last = None if self._last is None else str(self._last)

    def _named(self, names: list[str]) -> NDArray[Any]:
        """Write texts; return their digests."""
        assert self._names is not None
        self._names.writelines(f"{json.dumps(name)}\n".encode() for name in names)
        digests = (_digest(name) for name in names)
        return np.frombuffer(b"".join(digests), dtype="S16")

    def runs(self) -> Runs:
        """Return all runs, and close the file of texts."""
        if self._names is not None:
            self._names.close()
        if not self._ids:
            return Runs(np.empty(0, np.int64), np.empty(0, np.int64))
        weights = np.concatenate(self._weights) if self._weights else None
        return Runs(np.concatenate(self._ids), np.concatenate(self._n_rows), weights)


def _require_one_weight(query: Any, first: float, other: float) -> None:
    """Refuse rows of a query whose weights differ."""
    if first != other:
        known = query.item() if isinstance(query, np.integer) else query
        raise InputError(
            f"query_weight must be the same for all rows of a query; query {known!r} has "
            f"{first:g} and {other:g}"
        )


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogateescape"), digest_size=16).digest()


class Runs:
    """Runs of rows, in the order in which they came.

    Attributes
    ----------
    ids : ndarray of shape (n_runs,)
    n_rows : ndarray of shape (n_runs,)
    order : ndarray of shape (n_runs,), or None
        In which order the queries come one after the other, as they first appear; None if they do
        already.
    is_first : ndarray of shape (n_runs,), bool, or None
        Whether the query of a run appears with it; None if each does.
    weights : ndarray of shape (n_runs,), or None

    Raises
    ------
    InputError
        If the weights of runs of a query differ.
    """

    def __init__(
        self, ids: NDArray[Any], n_rows: NDArray[np.int64], weights: Vector | None = None
    ) -> None:
        self.ids, self.n_rows, self.weights = ids, n_rows, weights
        self.order: NDArray[np.int64] | None = None
        self.is_first: NDArray[np.bool_] | None = None
        _, first, query = np.unique(ids, return_index=True, return_inverse=True)
        if len(first) < len(ids):
            appears = first[query.reshape(-1)]
            self.order = np.argsort(appears, kind="stable")
            self.is_first = appears == np.arange(len(ids))
            if weights is not None:
                for run in np.flatnonzero(weights[appears] != weights)[:1]:
                    known = ids[run] if ids.dtype.kind == "i" else f"of row {n_rows[:run].sum()}"
                    _require_one_weight(known, weights[appears[run]], weights[run])

    @property
    def query_ids(self) -> NDArray[Any]:
        """The id of each query, in order of appearance."""
        return self.ids if self.is_first is None else self.ids[self.is_first]

    @property
    def query_weight(self) -> Vector | None:
        """The weight of each query, in order of appearance."""
        if self.weights is None or self.is_first is None:
            return self.weights
        return self.weights[self.is_first]

    @property
    def query_indptr(self) -> NDArray[np.int64]:
        """Where the rows of each query begin, once they come one after the other."""
        if self.order is None or self.is_first is None:
            return np.concatenate([[0], np.cumsum(self.n_rows)]).astype(np.int64)
        ends = np.cumsum(self.n_rows[self.order])
        begins = np.flatnonzero(self.is_first[self.order])
        return np.concatenate([ends[begins] - self.n_rows[self.order][begins], ends[-1:]])


def runs_of(qid: Any, n_rows: int, where: str) -> tuple[Ids, NDArray[np.int64]]:
    """Return the ids of the runs of rows, and their lengths.

    Raises
    ------
    ValueError
        If the ids are no whole numbers or texts, or not one for each row.
    """
    ids = present_ids(qid, f"the qid of {where}")
    if len(ids) != n_rows:
        raise InputError(f"the qid of {where} has length {len(ids)}, but X has {n_rows} rows")
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))[: len(ids)]
    lengths = np.diff(starts, append=len(ids)).astype(np.int64)
    of_runs = ids[starts]
    if of_runs.dtype.kind in "iub":
        return of_runs.astype(np.int64), lengths
    names = of_runs.tolist()
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"the qid of {where} must hold whole numbers or texts, not {names[0]!r}")
    return names, lengths


def weights_of(weights: Vector, n_rows: NDArray[np.int64], where: str) -> Vector:
    """Return the weights of runs of so many rows, of those of rows.

    Raises
    ------
    InputError
        If one is negative, or the rows of a run differ.
    """
    starts = np.cumsum(n_rows) - n_rows
    of_runs: Vector = weights[starts]
    bad = np.flatnonzero((weights < 0) | (np.repeat(of_runs, n_rows) != weights))
    if len(bad):
        raise InputError(
            f"the query_weight of {where} must not be negative, and the same for all rows of a "
            f"query; row {bad[0]} has {weights[bad[0]]:g}"
        )
    return of_runs
