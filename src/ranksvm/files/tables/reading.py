"""Rows of tables: all at once, or some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data_source import DataSource
from ..quoting import shown
from ..rows import FileRows
from ..source import DataError, made_ahead
from .columns import Layout, TableColumns
from .formats import Table, open_table
from .values import Place, fill, ids, is_number, is_single, joined_ids, kind_fault, numbers, truths


class TableReader:
    """A table that is open, with its columns known.

    Parameters
    ----------
    source : DataSource
    columns : TableColumns
    of_model, like : sequence of str, optional
    labelled : bool, default=True
        As for ``TableColumns.layout``.
    single : bool, optional
        Whether features become float32; by default, if all of them are.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    DataError
        If the table cannot be read, or a column is not there or holds no numbers.
    """

    def __init__(
        self,
        source: DataSource,
        columns: TableColumns,
        *,
        of_model: Sequence[str] | None = None,
        like: Sequence[str] | None = None,
        labelled: bool = True,
        single: bool | None = None,
    ) -> None:
        self._table = open_table(source)
        self._layout = columns.layout(
            self._table.columns, source.name, of_model=of_model, like=like, labelled=labelled
        )
        self._dtype = _type_of_features(self._table, self._layout, single)

    @property
    def name(self) -> str:
        """What messages call the table."""
        return self._table.name

    def whole(self, n_threads: int = 1) -> FileRows:
        """Return all rows."""
        threads = n_threads > 1
        with self._sentences():
            n_rows, batches = self._table.whole(self._wanted, threads)
            rows = self._rows(n_rows, 0, n_threads)
            for batch in made_ahead(batches) if threads else batches:
                rows.add(batch)
                del batch  # before the next is made
        return rows.finished()

    def parts(self, n_threads: int = 1) -> Iterator[FileRows]:
        """Yield the rows, some at a time, never none."""
        first = 0
        with self._sentences():
            for batch in self._table.batches(self._wanted, n_threads > 1):
                if batch.num_rows == 0:
                    continue
                rows = self._rows(batch.num_rows, first, n_threads)
                rows.add(batch)
                first += batch.num_rows
                yield rows.finished()
        if first == 0:
            raise DataError(f"{self.name} holds no rows")

    def _rows(self, n_rows: int, first: int, n_threads: int) -> _Rows:
        """Return room for so many rows."""
        return _Rows(self.name, self._layout, n_rows, first, self._dtype, n_threads)

    @property
    def _wanted(self) -> dict[int, Any]:
        """The columns to read, by number, and what to make of those of texts."""
        import pyarrow as pa

        as_text = {"qid": pa.string(), "docid": pa.string(), "event": pa.bool_()}
        kinds = [as_text.get(role, pa.float64()) for role in self._layout.roles]
        of_features = [pa.float64()] * len(self._layout.features)
        return dict(zip(self._layout.numbers, of_features + kinds, strict=True))

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError, EOFError, UnicodeError, OverflowError) as error:
            raise DataError(self._table.fault(error)) from None


def _type_of_features(table: Table, layout: Layout, single: bool | None) -> Any:
    """Return what features become, where all of them are numbers."""
    if table.types is not None:
        kinds = [table.types[number] for number in layout.numbers]
        for column, kind in zip(layout.features, kinds, strict=False):
            if not is_number(kind):
                raise kind_fault(table.name, column, kind)
        for (role, column), kind in zip(
            layout.roles.items(), kinds[len(layout.features) :], strict=True
        ):
            if role not in ("qid", "docid") and not is_number(kind):
                raise DataError(
                    f"{table.name}: the column {shown(column)} of the {role} holds "
                    f"{shown(str(kind))}, no numbers"
                )
        if single is None:
            single = all(map(is_single, kinds[: len(layout.features)]))
    return np.float32 if single else np.float64


class _Rows:
    """Rows that are put together of batches."""

    def __init__(
        self, name: str, layout: Layout, n_rows: int, first: int, dtype: Any, n_threads: int
    ) -> None:
        self._name, self._layout, self._first = name, layout, first
        self._n_threads = n_threads
        self._X: NDArray[Any] = np.empty((n_rows, len(layout.features)), dtype)
        self._filled = 0
        self._columns: dict[str, list[NDArray[Any]]] = {role: [] for role in layout.roles}

    @np.errstate(all="ignore")
    def add(self, batch: Any) -> None:
        """Add a batch of the columns of features, and then those of the layout's roles."""
        start, stop = self._filled, self._filled + batch.num_rows
        if stop > len(self._X):
            self._hold(max(stop, len(self._X) * 3 // 2))
        names = self._layout.features
        places = partial(map, self._place, names)
        fill(self._X[start:stop], batch, places, self._n_threads)
        for k, (role, name) in enumerate(self._layout.roles.items(), len(names)):
            self._columns[role].append(_VALUES[role](batch.column(k), self._place(name)))
        self._filled = stop

    def _hold(self, n_rows: int) -> None:
        """Make room for so many rows, without a copy where the system can move pages."""
        self._X.resize((n_rows, self._X.shape[1]), refcheck=False)

    def _place(self, column: str) -> Place:
        return Place(self._name, self._first + self._filled, column)

    def finished(self) -> FileRows:
        """Return the rows."""
        if self._filled == 0:
            raise DataError(f"{self._name} holds no rows")
        self._hold(self._filled)
        found = {role: joined_ids(parts) for role, parts in self._columns.items()}
        docids = found.get("docid")
        return FileRows(
            labels=found["label"] if "label" in found else np.zeros(self._filled),
            is_labelled="label" in found,
            qid=found.get("qid"),
            cost=found.get("weight"),
            features=self._X,
            n_features=self._X.shape[1],
            zero_based=False,
            name=self._name,
            feature_names=list(self._layout.features),
            event=found.get("event"),
            ids=None if docids is None else docids.astype(str).tolist(),
        )


def _numbers64(column: Any, place: Place) -> NDArray[np.float64]:
    return numbers(column, place).astype(np.float64)


def _weights(column: Any, place: Place) -> NDArray[np.float64]:
    weights = _numbers64(column, place)
    if len(weights) and weights.min() < 0:
        row = int(np.argmax(weights < 0))
        raise DataError(f"{place.of(row)}: a weight must not be negative, found {weights[row]:g}")
    return weights


_VALUES: dict[str, Any] = {
    "label": _numbers64,
    "qid": ids,
    "weight": _weights,
    "event": truths,
    "docid": ids,
}
