"""Rows of whatever files hold them: SVMlight or tables, one or several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..disk.folder import packed_among
from ..errors import InputError
from ..files.data_source import DataSource
from ..files.group_sizes import ids_of_sizes, read_group_sizes
from ..files.rows import FileRows
from ..files.source import DataError, StrPath
from ..files.svmlight import IndexBase, read_svmlight
from ..files.tables.columns import TableColumns
from ..records import record
from ..threads import resolve_threads
from .side_files import Sizes, sizes_beside, weighed, with_queries

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ..files.tables.reading import TableReader

AnyPath = StrPath | BinaryIO


def quietly(note: str) -> None:
    """Say nothing."""


@record
class Reading:
    """How rows are read.

    Attributes
    ----------
    columns : TableColumns
        Which columns of tables are what.
    of_model : sequence of str, optional
        The features that a model names, to be read in this order; None for those of the data.
    labelled : bool, default=True
        Whether tables must have labels.
    group : str, optional
        A file that says how many rows each query has.
    zero_based : bool or "auto", default="auto"
        Of SVMlight files, as for `read_svmlight`.
    single : bool, optional
        Whether features become float32; by default those of tables, if all of them are.
    comments : bool, default=False
        Whether to keep the comments of SVMlight files.
    n_threads : int, default=1
    note : callable
        Is told what a user should know.
    """

    columns: TableColumns = TableColumns()
    of_model: Sequence[str] | None = None
    labelled: bool = True
    group: str | None = None
    zero_based: IndexBase = "auto"
    single: bool | None = None
    comments: bool = False
    n_threads: int | None = 1
    note: Callable[[str], None] = quietly


def files_of(paths: Sequence[AnyPath]) -> list[AnyPath]:
    """Return files, with those that a pattern such as ``*.csv`` stands for, in alphabetic order.

    Raises
    ------
    DataError
        If there is none.
    """
    files: list[AnyPath] = []
    for path in paths:
        found: list[Any] = [path]
        if isinstance(path, str) and not os.path.lexists(path):
            from glob import glob, has_magic

            if has_magic(path):
                found = sorted(map(type(path), glob(path, recursive=True)))
            if not found:
                raise DataError(f"no file has a name such as {path}")
        files += found
    return files


def read_data(paths: AnyPath | Sequence[AnyPath], reading: Reading) -> FileRows:
    """Read rows.

    Parameters
    ----------
    paths : str, path-like or binary file object, or a sequence of these
        Files of one kind; their rows come one after the other. ``-`` is the standard input.
    reading : Reading

    Raises
    ------
    ImportError
        If a table is to be read, but pyarrow is not installed.
    DataError
        If a file cannot be read, or files do not go together.
    """
    packed = packed_among(_listed(paths))
    if packed is not None:
        return _packed(packed, reading)
    sources = [DataSource(path) for path in files_of(_listed(paths))]
    parts: list[FileRows] = []
    for source in sources:
        of_first = parts[0].feature_names if parts else None
        rows = _rows_of(source, reading, of_first)
        if reading.group is None:
            rows = with_queries(rows, source.path, parts, reading.note)
        parts += weighed([rows], source.path, reading.note)
    _count_alike(parts, sources, reading)
    rows = parts[0] if len(parts) == 1 else _joined(parts, reading)
    if reading.group is None:
        return rows
    if rows.qid is not None:
        raise DataError(f"{rows.name} has qids: leave out them, or {reading.group}")
    qid = ids_of_sizes(*read_group_sizes(reading.group), len(rows.labels), rows.name)
    return replace(rows, qid=qid)


def _packed(path: str, reading: Reading) -> FileRows:
    """Return packed data, whose columns and queries were settled when they were packed."""
    from ..disk.rows import open_rows  # which other files do not need

    rows = open_rows(path)
    if reading.group is not None or reading.columns != TableColumns():
        raise DataError(
            f"{path} is packed: its columns and queries were settled by 'ranksvm pack', which "
            "takes --label, --qid, --weight, --docid, --columns, --drop and --group"
        )
    names, wanted = rows.feature_names, reading.of_model
    if names is not None and wanted is not None and list(wanted) != names:
        raise DataError(
            f"{path} has other features than the model, or in another order: pack the table again "
            "with those of the model, by --columns"
        )
    return rows


def _joined(parts: list[FileRows], reading: Reading) -> FileRows:
    from ..files.joining import joined

    return joined(parts, reading.note)


def stream_data(paths: AnyPath | Sequence[AnyPath], reading: Reading) -> Iterator[FileRows]:
    """Yield the same rows some at a time, those of one file after those of another.

    Raises
    ------
    ImportError, DataError
        As `read_data`.
    """
    packed = packed_among(_listed(paths))
    if packed is not None:
        yield _packed(packed, reading)
        return
    sizes = None if reading.group is None else Sizes(reading.group)
    first, from_zero = 1, None
    of_first: Sequence[str] | None = None
    for path in files_of(_listed(paths)):
        source = DataSource(path)
        own = sizes
        for part in _parts_of(source, reading, of_first):
            of_first = of_first or part.feature_names
            if part.zero_based and from_zero is False:
                raise _unlike(source.name)
            from_zero = part.zero_based
            if own is None and part.qid is None:
                beside_it = sizes_beside(source.path, source.name, reading.note)
                own = None if beside_it is None else Sizes(beside_it, first)
            yield part if own is None else own.number(part)
        if from_zero:
            reading = replace(reading, zero_based=True)
        if own is not None and own is not sizes:
            own.require_end(source.name)
            first = own.next_query
    if sizes is not None:
        sizes.require_end("the data")


def _parts_of(
    source: DataSource, reading: Reading, of_first: Sequence[str] | None
) -> Iterator[FileRows]:
    parts = _unweighed_parts(source, reading, of_first)
    return weighed(parts, source.path, reading.note) if reading.labelled else parts


def _unweighed_parts(
    source: DataSource, reading: Reading, of_first: Sequence[str] | None
) -> Iterator[FileRows]:
    if source.kind != "svmlight":
        return _reader(source, reading, of_first).parts(resolve_threads(reading.n_threads))
    from ..files.svmlight_parts import svmlight_parts

    reading.columns.require_none(source.name)
    return svmlight_parts(
        source,
        zero_based=reading.zero_based,
        comments=reading.comments,
        n_threads=reading.n_threads,
    )


def _unlike(name: str) -> DataError:
    """Return the refusal of a file that counts features from elsewhere, seen too late."""
    return DataError(
        f"features count from zero in one file and seem to count from one in another, {name}: say "
        "--zero-based"
    )


def _listed(paths: AnyPath | Sequence[AnyPath]) -> Sequence[AnyPath]:
    return paths if isinstance(paths, list | tuple) else [paths]  # type: ignore[list-item]


def _rows_of(source: DataSource, reading: Reading, of_first: Sequence[str] | None) -> FileRows:
    """Read the rows of a source, whatever it is."""
    if source.kind == "svmlight":
        reading.columns.require_none(source.name)
        return _svmlight(source, reading, reading.zero_based)
    return _reader(source, reading, of_first).whole(resolve_threads(reading.n_threads))


def _reader(
    source: DataSource, reading: Reading, of_first: Sequence[str] | None = None
) -> TableReader:
    from ..files.tables.reading import TableReader

    return TableReader(
        source,
        reading.columns,
        of_model=reading.of_model,
        like=of_first,
        labelled=reading.labelled,
        single=reading.single,
    )


def _svmlight(source: DataSource, reading: Reading, zero_based: IndexBase) -> FileRows:
    return read_svmlight(
        source.readable,
        zero_based=zero_based,
        dtype=np.float32 if reading.single else np.float64,
        comments=reading.comments,
        n_threads=reading.n_threads,
    )


def _count_alike(parts: list[FileRows], sources: list[DataSource], reading: Reading) -> None:
    """Read files again that seemed to count features from one, if another counts from zero."""
    if len({part.zero_based for part in parts if part.feature_names is None}) > 1:
        for k, source in enumerate(sources):
            if not parts[k].zero_based:
                if source.path is None:
                    raise _unlike(source.name)
                again = _svmlight(source, reading, True)
                parts[k] = replace(again, qid=parts[k].qid, cost=parts[k].cost)


class LoadedTable(NamedTuple):
    """Rows of a table, as `load_table` returns them.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), or CSR matrix of SVMlight files
    y : ndarray of shape (n_rows,), or None
        Labels.
    qid : ndarray of shape (n_rows,), or None
        Integers, or strings.
    sample_weight, event : ndarray of shape (n_rows,), or None
    docids : list of n_rows str, or None
    feature_names : list of n_features str, or None
        None for SVMlight files.
    """

    X: NDArray[Any] | csr_matrix
    y: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    sample_weight: NDArray[np.float64] | None
    event: NDArray[np.bool_] | None
    docids: list[str] | None
    feature_names: list[str] | None


def load_table(
    path: AnyPath | Sequence[AnyPath],
    *,
    label: str | None = None,
    qid: str | None = None,
    weight: str | None = None,
    event: str | None = None,
    docid: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    dtype: DTypeLike | None = None,
    n_threads: int | None = None,
) -> LoadedTable:
    r"""Load features, labels and query ids from tables: CSV, TSV, Parquet, Feather or Arrow.

    It is the reader of the command line (:doc:`/tables`), which tells what a file is by how it
    begins. SVMlight files are read as well.

    Parameters
    ----------
    path : str, path-like or binary file object, or a sequence of these
        Files, or patterns such as ``"parts/*.parquet"``. CSV may be compressed. The rows of
        several files come one after the other, features by name. A qid is that of one query in
        all files.
    label, qid, weight, event, docid : str, optional
        Names of columns. By default labels are those named ``label``, ``relevance`` or ``y``, query
        ids those named ``qid``, ``query_id`` or ``query``, and documents those named ``docid`` or
        ``doc_id``, in capitals or not; for weights and events there is no default.
    features : sequence of str, optional
        Names of columns, or patterns such as ``"f*"``; by default all that are nothing else.
    drop : sequence of str
        Columns that are no features.
    dtype : {float32, float64}, optional
        Of X. By default float32 if all features are, else float64.
    n_threads : int, optional
        None means all CPUs of this process. It does not change the result.

    Returns
    -------
    LoadedTable

    Raises
    ------
    ImportError
        If pyarrow is not installed: ``pip install 'ranksvm[tables]'``.
    DataError
        If a file cannot be read, a column is not there or holds texts, or a value is missing or
        not finite, saying where.

    Examples
    --------
    >>> from ranksvm import RankSVM, load_table
    >>> with open("pages.csv", "w") as file:
    ...     _ = file.write("query,bm25,clicks,label\ncats,1.5,7,1\ncats,0.5,9,0\ncats,2,8,2\n")
    >>> table = load_table("pages.csv")
    >>> table.feature_names, table.qid.tolist()
    (['bm25', 'clicks'], ['cats', 'cats', 'cats'])
    >>> RankSVM().fit(table.X, table.y, table.qid).n_pairs_
    3
    """
    single = None if dtype is None else _is_single(dtype)
    reading = Reading(
        TableColumns(label, qid, weight, event, docid, features, drop),
        labelled=False,
        single=single,
        n_threads=resolve_threads(n_threads),
    )
    rows = read_data(path, reading)
    return LoadedTable(
        rows.X,
        rows.labels if rows.is_labelled else None,
        rows.qid,
        rows.cost,
        rows.event,
        None if rows.docids is None else list(rows.docids),
        rows.feature_names,
    )


def _is_single(dtype: DTypeLike) -> bool:
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(f"dtype must be float64 or float32, not {np.dtype(dtype)}")
    return bool(np.dtype(dtype) == np.float32)
