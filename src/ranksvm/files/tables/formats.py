"""The formats of tables, each as its columns and batches of rows, as pyarrow reads them."""

from __future__ import annotations

import csv
import io
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from ..data_source import DataSource
from ..quoting import shown
from ..source import DataError

_BATCH_ROWS = 1 << 16
_BATCH_VALUES = 1 << 22
_TOGETHER = 4  # batches of Parquet, whose columns take a while to begin with each
_CSV_BLOCK = 1 << 22
_COLUMN_BUFFER = 1 << 16  # bytes; without it, whole columns of a group of rows are held
_CSV_FAULT = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?Row #(\d+): (.*)", re.S)
_MESSAGE = 200
_DELIMITERS = ",\t;"


class Table(ABC):
    """A table that is open.

    Attributes
    ----------
    name : str
        What messages call it.
    columns : list of str
    types : list of pyarrow.DataType, or None
        None where they are what is asked for.
    """

    name: str
    columns: list[str]
    types: list[Any] | None

    @abstractmethod
    def whole(self, wanted: Mapping[int, Any], threads: bool) -> tuple[int, Iterator[Any]]:
        """Return about how many rows there are, and some columns of them, a batch at a time.

        Parameters
        ----------
        wanted : dict
            The numbers of the columns, and the types to make of those of texts.
        threads : bool
            Whether to use several.
        """

    @abstractmethod
    def batches(self, wanted: Mapping[int, Any], threads: bool) -> Iterator[Any]:
        """Yield the same batches, without ever holding all rows."""

    def fault(self, error: BaseException) -> str:
        """Return what is wrong with a table, of what pyarrow raised."""
        return f"cannot read {self.name}: {first_line(error)}"


def open_table(source: DataSource) -> Table:
    """Open a table.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    DataError
        If the table cannot be read.
    """
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f"{source.name} is a table, which takes pyarrow to read: pip install 'ranksvm[tables]'"
        ) from None
    try:
        table: Table = _KINDS[source.kind](source)
        return table
    except (pyarrow.ArrowException, OSError, UnicodeError, OverflowError) as error:
        raise DataError(f"cannot read {source.name}: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Return the first line of a message, or the beginning of that, escaped."""
    line = (str(error).strip() or type(error).__name__).split("\n")[0]
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    return text[:_MESSAGE]


def _bytes_of(source: DataSource, mapped: bool = False) -> Any:
    """Return what pyarrow can read anywhere in: a file, or all bytes of a stream."""
    import pyarrow as pa

    file = _opened(source)
    if not isinstance(file, pa.NativeFile):
        return pa.BufferReader(file.read())
    return pa.memory_map(source.path) if mapped else file


def _opened(source: DataSource) -> Any:
    """Open a source, a plain file as pyarrow does it, which copies nothing."""
    import pyarrow as pa

    file = source.open()
    if source.path is None or not isinstance(getattr(file, "raw", None), io.FileIO):
        return file  # it is compressed as a whole, say
    file.close()
    return pa.OSFile(source.path)


def _rows_of_batch(n_columns: int) -> int:
    return max(min(_BATCH_ROWS, _BATCH_VALUES // max(n_columns, 1)), 1)


def _counted(batches: list[Any]) -> tuple[int, Iterator[Any]]:
    """Return the number of rows in batches, and these, which are given up one by one."""
    batches.reverse()
    return sum(batch.num_rows for batch in batches), _given_up(batches)


def _given_up(batches: list[Any]) -> Iterator[Any]:
    while batches:
        yield batches.pop()


class _Parquet(Table):
    def __init__(self, source: DataSource) -> None:
        from pyarrow import parquet

        self.name = source.name
        self._file = parquet.ParquetFile(
            _bytes_of(source), buffer_size=_COLUMN_BUFFER, pre_buffer=False
        )
        schema = self._file.schema_arrow
        self.columns, self.types = schema.names, schema.types

    def whole(self, wanted: Mapping[int, Any], threads: bool) -> tuple[int, Iterator[Any]]:
        metadata = self._file.metadata
        n_rows = sum(metadata.row_group(k).num_rows for k in range(metadata.num_row_groups))
        if n_rows != metadata.num_rows:
            raise DataError(
                f"{self.name} is damaged: it has {metadata.num_rows:,} rows by its metadata, and "
                f"{n_rows:,} by those of its groups of rows"
            )
        return n_rows, self._batches(wanted, threads, _TOGETHER)

    def batches(self, wanted: Mapping[int, Any], threads: bool) -> Iterator[Any]:
        return self._batches(wanted, threads, 1)

    def _batches(self, wanted: Mapping[int, Any], threads: bool, n_together: int) -> Iterator[Any]:
        names = [self.columns[k] for k in wanted]
        for batch in self._file.iter_batches(
            batch_size=n_together * _rows_of_batch(len(names)), columns=names, use_threads=threads
        ):
            yield batch if batch.schema.names == names else batch.select(names)


class _Arrow(Table):
    """A file or stream of Arrow's own, of which Feather is one."""

    def __init__(self, source: DataSource) -> None:
        self.name = source.name
        self._of_file = source.kind == "arrow"
        self._bytes = _bytes_of(source, mapped=True)
        schema = self._reader().schema
        self.columns, self.types = schema.names, schema.types

    def whole(self, wanted: Mapping[int, Any], threads: bool) -> tuple[int, Iterator[Any]]:
        batches = self._parts(list(wanted), threads)
        if not self._of_file:
            return 0, batches
        first = list(islice(batches, 1))
        n_rows = sum(batch.num_rows for batch in first) * self._reader().num_record_batches
        return n_rows, chain(_given_up(first), batches)

    def batches(self, wanted: Mapping[int, Any], threads: bool) -> Iterator[Any]:
        step = _rows_of_batch(len(wanted))
        for part in self._parts(list(wanted), threads):
            for first in range(0, part.num_rows, step):
                yield part.slice(first, step)

    def _parts(self, numbers: list[int], threads: bool) -> Iterator[Any]:
        """Yield these columns of the batches that were written, holding none."""
        reader = self._reader(included_fields=numbers, use_threads=threads)
        there = sorted(numbers)
        places = [there.index(number) for number in numbers]
        if self._of_file:
            for k in range(reader.num_record_batches):
                yield _checked(reader.get_batch(k).select(places))
        else:
            yield from (_checked(batch.select(places)) for batch in reader)

    def _reader(self, **options: Any) -> Any:
        """Return Arrow's reader, from the beginning; of a stream that is read once."""
        from pyarrow import ipc

        self._bytes.seek(0)
        read = ipc.open_file if self._of_file else ipc.open_stream
        return read(self._bytes, options=ipc.IpcReadOptions(**options))


def _checked(batch: Any) -> Any:
    """Return a batch if it is what it says."""
    batch.validate(full=True)
    return batch


class _Csv(Table):
    types = None

    def __init__(self, source: DataSource) -> None:
        self.name = source.name
        self._source = source
        self.columns, self._skipped, self._delimiter = _header(source)

    def whole(self, wanted: Mapping[int, Any], threads: bool) -> tuple[int, Iterator[Any]]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        if not threads or self._source.path is None:
            return self._about_how_many(), self.batches(wanted, threads)
        try:
            with _opened(self._source) as file:
                batches = arrow_csv.read_csv(file, **self._options(wanted, threads)).to_batches()
        except pa.ArrowInvalid:  # of threads, which do not say the row
            for _ in self.batches(wanted, False):
                pass
            raise
        return _counted(batches)

    def batches(self, wanted: Mapping[int, Any], threads: bool) -> Iterator[Any]:
        from pyarrow import csv as arrow_csv

        with _opened(self._source) as file:
            yield from arrow_csv.open_csv(file, **self._options(wanted, threads))

    def _about_how_many(self) -> int:
        """Return how many rows a file has if all are as long as the first, and some to spare."""
        start, path = self._source.start, self._source.path
        size = len(start) if path is None else max(os.path.getsize(path), len(start))
        return 2 + int(1.1 * size * start.count(b"\n") / len(start))

    def _options(self, wanted: Mapping[int, Any], threads: bool) -> dict[str, Any]:
        """Return options under which columns are named by their numbers, since names may repeat."""
        from pyarrow import csv as arrow_csv

        return {
            "read_options": arrow_csv.ReadOptions(
                column_names=[str(k) for k in range(len(self.columns))],
                skip_rows=self._skipped,
                block_size=_CSV_BLOCK,
                use_threads=threads,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True
            ),
            "convert_options": arrow_csv.ConvertOptions(
                include_columns=[str(k) for k in wanted],
                column_types={str(k): kind for k, kind in wanted.items()},
            ),
        }

    def fault(self, error: BaseException) -> str:
        """Return what is wrong with the text, and where."""
        found = _CSV_FAULT.match(first_line(error))
        if found is None:
            return f"{self.name}: {first_line(error)}"
        column, row, what = found.groups()
        place = f"{self.name}, row {int(row) - self._skipped}"
        if column is not None:
            place += f", column {shown(self.columns[int(column)])}"
        return f"{place}: {_said(what)}"


def _said(what: str) -> str:
    """Return a fault in words of ours."""
    value = re.search(r"conversion error to (\w+): invalid value '(.*?)'?$", what)
    if value is not None:
        found = f"found {shown(value[2])}"
        if value[1] == "bool":
            return f"expected 1 or 0, {found}"
        return f"expected a number, {found}; leave out columns of texts, by --drop or drop="
    return what[0].lower() + what[1:]


def _header(source: DataSource) -> tuple[list[str], int, str]:
    """Return the names of columns, how many lines they take, and what stands between them."""
    text = source.start.decode("utf-8-sig", "replace")
    head = next((line for line in io.StringIO(text) if line.strip()), "").strip()
    if not head:
        raise DataError(f"{source.name} holds no rows")
    if "\ufffd" in head:
        raise DataError(f"{source.name}: the names of columns must be UTF-8: {shown(head)}")
    bare = re.sub(r'"[^"]*"', "", head)
    delimiter = max(_DELIMITERS, key=bare.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    try:
        while not any(names):
            names = [name.strip() for name in next(reader)]
    except (csv.Error, StopIteration) as error:
        raise DataError(f"{source.name}: the header cannot be read: {error}") from None
    if all(_is_number(name) for name in names):
        raise DataError(
            f"{source.name} has no header: its first line must name the columns, but is "
            f"{shown(head)}"
        )
    return names, reader.line_num, delimiter


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_KINDS: dict[str, Any] = {
    "parquet": _Parquet,
    "arrow": _Arrow,
    "arrow stream": _Arrow,
    "csv": _Csv,
}
