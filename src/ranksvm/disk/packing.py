"""Writing packed data: rows come in blocks, and are never held."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError
from ..linear.features import numeric_features
from ..pairs.columns import finite_column
from .arrays import GrowingArray, fingerprint, write_array
from .data import NAMES, SUMS, PackedData, open_data
from .features import FeatureSpool, SparseBlock
from .folder import NewFolder, whole_folder
from .meta import Meta
from .queries import LINES, Ids, QueryLog, Runs, runs_of, weights_of
from .ragged import RaggedFiles, letters_of
from .reordering import reordered
from .sources import Source

Vector = NDArray[np.float64]
# Ids of runs of rows, their lengths, and the weights of their queries, if they have any.
OfRuns: TypeAlias = tuple[Ids, NDArray[np.int64]] | tuple[Ids, NDArray[np.int64], Vector]

_PIECE_ROWS = 1 << 20


def pack(
    blocks: Iterable[Any],
    path: str | os.PathLike[str],
    *,
    dtype: DTypeLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> PackedData:
    """Write rows that come in blocks to a folder, to be mapped into memory from there.

    Nothing but a block is held. Rows of a query may come in several blocks; where they are not
    adjacent, they are brought together, and queries are then in the order in which they first
    appear. X becomes dense if more than half of its elements are not zero, and else a CSR matrix.

    Parameters
    ----------
    blocks : iterable of (X, y[, qid[, sample_weight[, query_weight]]])
        Arrays or sparse matrices of as many columns each, as `RankSVM.fit` takes them; query ids
        are whole numbers or texts. `query_weight` has for each row that of its query; what there
        is none of may be None.
    path : str or path-like
        The folder, by custom with a name that ends in ``.rsvm``. It replaces packed data that are
        there, and it is written whole or not at all.
    dtype : {float64, float32}, optional
        That of the first block by default.
    feature_names : sequence of str, optional

    Returns
    -------
    PackedData

    Raises
    ------
    ValueError
        If a block is malformed or holds what is no finite number, and says which block, row and
        column; or if there are no rows.
    OutputError
        If the folder cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from ranksvm import RankSVM, pack
    >>> blocks = [([[0.0, 1.0], [1.0, 1.0]], [0, 1], [1, 1]), ([[2.0, 0.0]], [2], [1])]
    >>> data = pack(blocks, mkdtemp() + "/train.rsvm")
    >>> data.shape, RankSVM().fit(data).score(data)
    ((3, 2), 1.0)
    """
    with whole_folder(path) as folder:
        packer = _packed(blocks, folder, dtype)
        packer.finish(feature_names)
    return open_data(path)


def _packed(blocks: Iterable[Any], folder: NewFolder, dtype: DTypeLike | None) -> Packer:
    """Write all blocks."""
    if isinstance(blocks, str | os.PathLike):
        raise InputError(
            f"blocks must be blocks (X, y, qid), not the path {str(blocks)!r}: ranksvm pack packs "
            "files, load_svmlight and load_table read them"
        )
    packer: Packer | None = None
    width = 0
    for number, block in enumerate(blocks):
        where = f"block {number}"
        X, y, runs, weight = _parts(block, where)
        if packer is None:
            packer = Packer(folder, np.dtype(X.dtype if dtype is None else dtype), zero_based=True)
            width = X.shape[1]
        if X.shape[1] != width:
            raise InputError(f"{where} has {X.shape[1]} features, but block 0 has {width}")
        packer.append(_finite(X, packer.dtype, where), width, y, runs, weight)
    if packer is None:
        raise InputError("there are no blocks of rows to pack")
    return packer


def _parts(block: Any, where: str) -> tuple[Any, Vector, OfRuns | None, Vector | None]:
    """Return features, labels, what is known of runs of rows, and weights or None."""
    if not isinstance(block, tuple | list) or not 2 <= len(block) <= 5:
        raise InputError(f"{where} must be (X, y[, qid[, sample_weight[, query_weight]]])")
    X, y, qid, weight, of_queries = [*block, None, None, None][:5]
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(numeric_features(X))
    if X.ndim != 2:
        raise InputError(f"the X of {where} must be a matrix, found shape {X.shape}")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    labels = _column("y", y, X.shape[0], where)
    assert labels is not None
    runs: OfRuns | None = None if qid is None else runs_of(qid, X.shape[0], where)
    of_rows = _column("query_weight", of_queries, X.shape[0], where)
    if of_rows is not None:
        if runs is None:
            raise InputError(f"{where} has query_weight, but no qid")
        runs = (*runs, weights_of(of_rows, runs[1], where))
    return X, labels, runs, _column("sample_weight", weight, X.shape[0], where)


def _column(name: str, values: Any, n_rows: int, where: str) -> Vector | None:
    if values is None and name != "y":
        return None
    column = finite_column(values, f"the {name} of {where}")
    if len(column) != n_rows:
        raise InputError(f"{where} has {n_rows} rows, but {name} of {len(column)}")
    return column


def _finite(X: Any, dtype: np.dtype[Any], where: str) -> NDArray[Any] | SparseBlock:
    """Return features in the precision that they will have; refuse the first that is not finite."""
    if isinstance(X, np.ndarray):
        with np.errstate(over="ignore"):
            dense = X.astype(dtype, copy=False)
        bad = np.argwhere(~np.isfinite(dense))
        found = X[tuple(bad[0])] if len(bad) else None
    else:
        X = X.copy() if not X.has_canonical_format else X
        X.sum_duplicates()
        with np.errstate(over="ignore"):
            values = X.data.astype(dtype, copy=False)
        place = np.flatnonzero(~np.isfinite(values))[:1]
        row = np.searchsorted(X.indptr, place, side="right") - 1
        bad = np.stack([row, X.indices[place]], axis=1)
        found = X.data[place[0]] if len(bad) else None
    if len(bad):
        row, column = bad[0].tolist()
        raise InputError(
            f"{where}, row {row}, column {column}: X is {found}, which is no finite {dtype}; "
            "impute or drop such values before packing"
        )
    return dense if isinstance(X, np.ndarray) else _without_zeros(X, values)


def _without_zeros(X: Any, values: NDArray[Any]) -> SparseBlock:
    kept = values != 0
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[kept]
    counts = np.bincount(rows, minlength=X.shape[0]).astype(np.int64)
    return SparseBlock(counts, X.indices[kept], values[kept])


class Packer:
    """Writes rows to a new folder.

    Parameters
    ----------
    folder : NewFolder
    dtype : dtype
        float32 or float64.
    zero_based : bool or None
        As for `ranksvm.disk.features.FeatureSpool`.
    """

    def __init__(self, folder: NewFolder, dtype: np.dtype[Any], zero_based: bool | None) -> None:
        if dtype not in (np.float32, np.float64):
            raise InputError(f"dtype must be float64 or float32, not {dtype}")
        self.dtype = dtype
        self._folder = folder
        self._features = FeatureSpool(folder, dtype, zero_based)
        self._labels = GrowingArray(folder, "y.npy", np.float64)
        self._weights: GrowingArray | None = None
        self._docids: RaggedFiles | None = None
        self._queries = QueryLog(folder)
        self._has_queries: bool | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return self._labels.n_rows

    def append(
        self,
        features: NDArray[Any] | SparseBlock,
        width: int,
        labels: Vector,
        runs: OfRuns | None,
        weights: Vector | None,
        docids: Sequence[str] | None = None,
    ) -> None:
        """Write rows, of which runs belong to the same query."""
        if len(labels) == 0:
            return
        if self._has_queries not in (None, runs is not None):
            raise InputError("either all rows have query ids, or none: some blocks lack them")
        self._has_queries = runs is not None
        self._append_docids(docids)
        self._append_weights(weights, len(labels))
        self._features.append(features, width)
        self._labels.append(labels)
        if runs is not None:
            self._queries.append(*runs)

    def _append_docids(self, docids: Sequence[str] | None) -> None:
        if self.n_rows > 0 and (docids is None) != (self._docids is None):
            raise InputError("either all rows have document ids, or none: some blocks lack them")
        if docids is None:
            return
        if self._docids is None:
            kinds: dict[str, DTypeLike] = {"docid_indptr": np.int64, "docids": np.uint8}
            self._docids = RaggedFiles(self._folder, kinds)
        self._docids.append_rows(*letters_of(docids))

    @property
    def may_have_docids(self) -> bool:
        """Whether documents of more rows are of use: all before have one."""
        return self.n_rows == 0 or self._docids is not None

    def drop_docids(self) -> None:
        """Do without documents, of which some rows have none."""
        if self._docids is not None:
            for file in self._docids.files:
                file.close()
                file.remove()
            self._docids = None

    def _append_weights(self, weights: Vector | None, n_rows: int) -> None:
        if weights is None and self._weights is None:
            return
        if self._weights is None:
            self._weights = GrowingArray(self._folder, "weight.npy", np.float64)
            self._weights.repeat(1.0, self._labels.n_rows)
        if weights is None:
            self._weights.repeat(1.0, n_rows)
        else:
            self._weights.append(weights)

    def finish(
        self,
        feature_names: Sequence[str] | None = None,
        sources: Sequence[Source] = (),
        n_threads: int = 1,
        zero_based: bool | None = None,
    ) -> None:
        """Bring everything to the form that it is to have, and close the files.

        `zero_based` says how files counted features, where blocks do not.
        """
        n_rows = self.n_rows
        if n_rows == 0 or self._features.n_features == 0:
            lacking = "rows" if n_rows == 0 else "features"
            raise InputError(f"there are no {lacking} to pack")
        runs = self._queries.runs()
        if not self._has_queries:
            runs = Runs(np.zeros(1, np.int64), np.array([n_rows]))
        dense = self._features.close(runs)
        for file in (self._labels, self._weights):
            if file is not None:
                file.close()
                if runs.order is not None:
                    reordered(file, runs)
        if self._docids is not None:
            self._docids.close()
            if runs.order is not None:
                self._docids.reordered(runs)
        self._write_queries(runs)
        meta = Meta(
            layout="dense" if dense else "csr",
            dtype=self.dtype.name,
            n_samples=n_rows,
            n_features=self._features.n_features,
            n_queries=len(runs.query_indptr) - 1,
            n_nonzero=self._features.n_nonzero,
            qid=self._kind_of_ids,
            weighted=self._weights is not None,
            query_weighted=runs.query_weight is not None,
            documented=self._docids is not None,
            summed=False,
            zero_based=self._features.base == 0 if zero_based is None else zero_based,
            feature_names=None if feature_names is None else tuple(map(str, feature_names)),
            sources=tuple(sources),
        )
        if feature_names is not None and len(feature_names) != meta.n_features:
            raise InputError(
                f"feature_names has {len(feature_names)} names for {meta.n_features} features"
            )
        _write_sums(self._folder, meta, n_threads)

    @property
    def _kind_of_ids(self) -> str | None:
        if not self._has_queries:
            return None
        return "names" if self._queries.are_names else "integers"

    def _write_queries(self, runs: Runs) -> None:
        indptr = runs.query_indptr
        write_array(self._folder, "query_indptr.npy", indptr)
        if not self._has_queries:
            return
        n_queries = len(indptr) - 1
        if runs.query_weight is not None:
            write_array(self._folder, "query_weight.npy", runs.query_weight)
        ids = np.arange(n_queries) if self._queries.are_names else runs.query_ids
        _write_repeated(self._folder, "qid.npy", ids, np.diff(indptr))
        if self._queries.are_names:
            _write_names(self._folder, runs.is_first)


def _write_sums(folder: NewFolder, meta: Meta, n_threads: int) -> None:
    """Write what a pass over X tells of its columns, and then meta.json."""
    X = PackedData(folder.path, meta).design_matrix()
    if X.columns.features is None:
        sums = np.stack(X.column_sums(n_threads))
        write_array(folder, SUMS, sums)
        meta = replace(meta, summed=True, fingerprint_of_sums=fingerprint(sums))
    meta.write(folder)


def _write_repeated(
    folder: NewFolder, name: str, ids: NDArray[Any], n_rows: NDArray[np.int64]
) -> None:
    """Write the id of the query of each row."""
    file = GrowingArray(folder, name, np.int64)
    ends = np.cumsum(n_rows)
    first = 0
    while first < len(ids):
        before = int(ends[first] - n_rows[first])
        last = max(int(np.searchsorted(ends, before + _PIECE_ROWS)), first + 1)
        file.append(np.repeat(ids[first:last], n_rows[first:last]))
        first = last
    file.close()


def _write_names(folder: NewFolder, is_first: NDArray[np.bool_] | None) -> None:
    """Write the names of queries as a list of JSON, of lines of which some are repeated."""

    def distinct() -> Iterator[bytes]:
        with open(folder.file(LINES), "rb") as file:
            for number, line in enumerate(file):
                if is_first is None or is_first[number]:
                    yield line.rstrip(b"\n")

    with folder.create(NAMES) as file:
        for number, name in enumerate(distinct()):
            file.write((b"[" if number == 0 else b",\n") + name)
        file.write(b"]\n")
        file.flush()
        os.fsync(file.fileno())
    os.unlink(folder.file(LINES))
