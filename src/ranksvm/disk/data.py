"""Packed data as they are read: mapped into memory, from which the system lets go what it must."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..files.rows import CsrArrays
from ..files.source import DataError
from ..lazy import cached_property
from ..linear.design_matrix import DesignMatrix
from ..linear.matrix import ColumnSums
from ..linear.occurring import IN_TRAINING
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.weights import per_query_weight, row_weights
from .arrays import fingerprint, map_array
from .meta import Meta
from .ragged import Texts
from .sources import Source

Vector = NDArray[np.float64]

NAMES = "qid_names.json"
SUMS = "columns.npy"


class PackedData:
    """Rows in a folder: arrays that are mapped, never loaded; `ranksvm.open_data` returns them.

    Take them in place of X and y: ``RankSVM().fit(data)``, ``model.predict(data)``,
    ``model.score(data)``.

    Attributes
    ----------
    path : str
    shape : tuple of (n_samples, n_features)
    X : ndarray or SciPy CSR matrix of shape (n_samples, n_features)
        Of float32 or float64, mapped, read-only. Queries come one after the other.
    y : ndarray of shape (n_samples,), float64
    qid : ndarray of shape (n_samples,), int64, or None
        Query ids, or numbers of queries where ids are texts.
    query_indptr : ndarray of shape (n_queries + 1,), int64
        Query q owns the rows ``query_indptr[q]:query_indptr[q + 1]``.
    query_names : list of str, or None
        Where ids are texts.
    sample_weight : ndarray of shape (n_samples,), float64, or None
    query_weight : ndarray of shape (n_queries,), float64, or None
    docids : sequence of n_samples str, or None
        The document of each row, where tables or comments say so.
    feature_names : tuple of str, or None
    zero_based : bool
        Whether the files that were packed counted features from zero.
    n_nonzero : int
        How many elements of X are not zero.
    """

    def __init__(self, path: str, meta: Meta) -> None:
        self.path, self._meta = path, meta
        self._seen: dict[str, tuple[int, int, int]] = {}
        n, d = self.shape = meta.n_samples, meta.n_features
        if meta.layout == "dense":
            self._arrays = [self._map("X.npy", meta.dtype, n, d)]
        else:
            indptr = self._map("indptr.npy", "int64", n + 1)
            _require_steps(indptr, meta.n_nonzero, self._path("indptr.npy"), strictly=False)
            indices = self._map("indices.npy", "int32", meta.n_nonzero)
            values = self._map("values.npy", meta.dtype, meta.n_nonzero)
            self._arrays = [indptr, indices, values]
        self.y: Vector = self._map("y.npy", "float64", n)
        self.query_indptr = np.array(self._map("query_indptr.npy", "int64", meta.n_queries + 1))
        _require_steps(self.query_indptr, n, self._path("query_indptr.npy"), strictly=True)
        self.qid = None if meta.qid is None else self._map("qid.npy", "int64", n)
        self.sample_weight = self._map("weight.npy", "float64", n) if meta.weighted else None
        self.query_weight = (
            self._map("query_weight.npy", "float64", meta.n_queries)
            if meta.query_weighted
            else None
        )
        self.docids = self._map_docids() if meta.documented else None
        self._sums = self._map(SUMS, "float64", 2, d) if meta.summed else None

    def _path(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _map(self, name: str, dtype: str, *shape: int) -> NDArray[Any]:
        values = map_array(self._path(name), dtype, shape)
        self._seen[name] = _state(self._path(name))
        return values

    def _map_docids(self) -> Texts:
        begins = self._map("docid_indptr.npy", "int64", self.shape[0] + 1)
        n_letters = int(begins[-1])
        _require_steps(begins, n_letters, self._path("docid_indptr.npy"), strictly=False)
        return Texts(begins, self._map("docids.npy", "uint8", n_letters))

    @property
    def zero_based(self) -> bool:
        """Whether the files that were packed counted features from zero."""
        return self._meta.zero_based

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features."""
        return self._meta.feature_names

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that were packed, as they were then."""
        return self._meta.sources

    @property
    def n_nonzero(self) -> int:
        """How many elements of X are not zero."""
        return self._meta.n_nonzero

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self._meta.n_queries

    @property
    def features(self) -> NDArray[Any] | CsrArrays:
        """X as an array, or as the arrays of CSR."""
        if len(self._arrays) == 1:
            return self._arrays[0]
        indptr, indices, values = self._arrays
        return CsrArrays(indptr, indices, values, self.shape[1])

    @cached_property
    def X(self) -> Any:
        """The features as an array or a SciPy CSR matrix."""
        if len(self._arrays) == 1:
            return self._arrays[0]
        from scipy.sparse import csr_matrix

        indptr, indices, values = self._arrays
        if self.n_nonzero < 1 << 31:  # of one type with the indices, as SciPy wants them
            indptr = indptr.astype(np.int32)
        X = csr_matrix(self.shape, dtype=values.dtype)
        X.data, X.indices, X.indptr = values, indices, indptr
        X.has_canonical_format = True
        return X

    @cached_property
    def query_names(self) -> list[str] | None:
        """The ids of the queries, where they are texts.

        Raises
        ------
        DataError
            If the file of them cannot be read.
        """
        if self._meta.qid != "names":
            return None
        path = self._path(NAMES)
        try:
            with open(path, encoding="utf-8") as file:
                names = json.load(file)
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is no JSON: {ascii(str(error))[1:-1]}") from None
        good = isinstance(names, list) and all(map(_is_text, names))
        if not good or len(names) != self.n_queries:
            raise DataError(f"{path} must list the names of {self.n_queries} queries")
        return list(names)

    @property
    def ids(self) -> NDArray[Any] | None:
        """The query id of each row, as the files had it: whole numbers, or texts."""
        names = self.query_names
        if names is None:
            return self.qid
        shared = np.array(names, dtype=object)  # each text is there once
        return np.repeat(shared, np.diff(self.query_indptr))

    def design_matrix(self, spare: float = IN_TRAINING) -> DesignMatrix:
        """View X as training reads it.

        See `ranksvm.linear.design_matrix.DesignMatrix.from_array` for `spare`.
        """
        features = self.features
        if isinstance(features, CsrArrays):
            try:
                X = DesignMatrix.from_csr(*features, spare)
            except InputError as error:
                raise DataError(f"{self._path('indices.npy')}: {error}") from None
        else:
            X = DesignMatrix.from_array(features)
        X = X.mapped()
        return X if self._sums is None else X.with_sums(self._column_sums(self._sums))

    def _column_sums(self, mapped: NDArray[Any]) -> ColumnSums:
        """Read what packing found out; other sums would lead training astray, which stalls."""
        sums = np.array(mapped)
        expected = self._meta.fingerprint_of_sums
        if expected is not None and fingerprint(sums) != expected:
            raise DataError(
                f"{self._path(SUMS)} is damaged: its numbers are not those that were packed; pack "
                "the data again"
            )
        return ColumnSums(*sums)

    def preferences(self, sample_weight: Any = None, query_weight: Any = None) -> Preferences:
        """Return which rows are better than which; weights as for `ranksvm.RankSVM.fit`."""
        if not np.isfinite(self.y).all():
            raise DataError(f"{self._path('y.npy')} holds labels that are no finite numbers")
        groups = QueryGroups(self.query_indptr)
        given = self.sample_weight if sample_weight is None else sample_weight
        of_rows = row_weights("sample_weight", given, self.shape[0])
        of_queries = self.query_weight if query_weight is None else query_weight
        return Preferences(self.y, groups, of_rows, per_query_weight(of_queries, groups))

    def refused(self, taker: str) -> TypeError:
        """Return the refusal of packed data by what takes arrays."""
        return TypeError(
            f"{taker} takes no packed data, as RankSVM, RankSVMCV, ranksvm_grid and rank do: give "
            f"it the arrays of {self.path}, which are X, y and qid of these data"
        )

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise self.refused("this")

    def require_unchanged(self) -> None:
        """Refuse to go on with files that are no longer what they were when they were mapped.

        Raises
        ------
        DataError
        """
        for name, state in self._seen.items():
            if _state(self._path(name)) != state:
                raise DataError(
                    f"{self._path(name)} changed while it was in use: what was computed is of no "
                    "worth; start again when nobody writes there"
                )

    def warn_of_changed_sources(self, stacklevel: int = 2) -> None:
        """Warn if a file that was packed is no longer what it was."""
        changed = [source.name for source in self.sources if source.has_changed]
        if changed:
            others = f" and {len(changed) - 1} other files" if len(changed) > 1 else ""
            warnings.warn(
                f"{self.path} is stale: {changed[0]}{others} changed after packing; pack again",
                UserWarning,
                stacklevel=stacklevel,
            )

    @property
    def description(self) -> str:
        """What there is, in a line."""
        n, d = self.shape
        kind = f"{self._meta.layout} {self._meta.dtype}"
        return f"{n} rows, {d} features, {self.n_queries} queries; {kind}, {_size(self.nbytes)}"

    @property
    def nbytes(self) -> int:
        """How many bytes of files are mapped."""
        return sum(size for _, size, _ in self._seen.values())

    @property
    def bytes_of_X(self) -> int:
        """How many bytes a pass over X reads."""
        return sum(array.nbytes for array in self._arrays)

    def __repr__(self) -> str:
        return f"PackedData({self.path!r}: {self.description})"


def open_data(path: str | os.PathLike[str]) -> PackedData:
    """Map packed data into memory.

    Parameters
    ----------
    path : str or path-like
        A folder that `pack` or ``ranksvm pack`` wrote.

    Returns
    -------
    PackedData

    Raises
    ------
    DataError
        If the folder does not hold packed data, a file of it is missing or cut off, or they do not
        fit each other.

    Warns
    -----
    UserWarning
        If a file that was packed has changed since.
    """
    name = os.fsdecode(path)
    data = PackedData(name, Meta.read(name))
    data.warn_of_changed_sources(stacklevel=3)
    return data


def _is_text(name: object) -> bool:
    """Whether it is a text that files can hold."""
    try:
        return isinstance(name, str) and name.encode("utf-8", "surrogateescape") is not None
    except UnicodeEncodeError:
        return False


def _size(n_bytes: float) -> str:
    """Return a number of bytes for people."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while n_bytes >= 1000 and len(units) > 1:
        n_bytes /= 1000
        units.pop(0)
    return f"{n_bytes:.3g} {units[0]}"


def _state(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _require_steps(indptr: NDArray[Any], end: int, path: str, strictly: bool) -> None:
    """Refuse places that do not lead from 0 to the end."""
    steps = np.diff(indptr)
    least = int(steps.min(initial=end))
    if indptr[0] != 0 or indptr[-1] != end or least < int(strictly):
        raise DataError(f"{path} must rise from 0 to {end}")
