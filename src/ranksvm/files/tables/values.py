"""The values of a column, as NumPy has them, and the matrix of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core import fill_rows
from ..quoting import shown
from ..source import DataError

Vector = NDArray[np.float64]

_MAX_DIGITS = 19


class Place(NamedTuple):
    """Where values stand: what messages call the table, the row of the first, and the column."""

    name: str
    row: int
    column: str

    def of(self, row: int) -> str:
        """Return the place of one of them, with rows counted from one."""
        return f"{self.name}, row {self.row + row + 1}, column {shown(self.column)}"


def is_number(kind: Any) -> bool:
    """Whether values of a type are numbers, or truths."""
    if kind.id in _plain_types():
        return True
    from pyarrow import types

    return bool(
        types.is_float16(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)  # all are missing, which is said later
    )


def is_single(kind: Any) -> bool:
    """Whether single precision holds the values of a type."""
    from pyarrow import types

    return bool(types.is_float32(kind) or types.is_float16(kind))


def numbers(column: Any, place: Place) -> NDArray[Any]:
    """Return the finite numbers of a column, of whatever type they have.

    Raises
    ------
    DataError
        If one is missing or not finite.
    """
    values = _values(column, place)
    if values.dtype.kind == "f":
        _require_finite(values, values, place)
    return values


def fill(target: NDArray[Any], batch: Any, places: Callable[[], Iterable[Place]], n: int) -> None:
    """Copy finite numbers of the first columns of a batch into a matrix in C order, by n threads.

    Raises
    ------
    DataError
        If one is missing or not finite, or does not fit into single precision.
    """
    schema, rows = _plain(batch, target.shape[1]).__arrow_c_array__()
    if not fill_rows(target, schema, rows, n):
        for column, place in zip(batch.columns, places(), strict=False):
            values = _values(column, place)
            _require_finite(values, values.astype(target.dtype), place)


def _plain(batch: Any, n_columns: int) -> Any:
    """Return a batch of which the first columns have types that NumPy has as well."""
    kinds, plain = batch.schema.types[:n_columns], _plain_types()
    if plain.issuperset(kind.id for kind in kinds):
        return batch
    import pyarrow as pa

    columns = [
        column if kind.id in plain else column.cast("float64", safe=False)
        for column, kind in zip(batch.columns, kinds, strict=False)
    ]
    return pa.RecordBatch.from_arrays(columns, list(map(str, range(n_columns))))


def _values(column: Any, place: Place) -> NDArray[Any]:
    """Return the numbers of a column, of which none may be missing."""
    require_present(column, place)
    if column.type.id not in _plain_types():
        column = column.cast("float64", safe=False)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _require_finite(values: NDArray[Any], becoming: NDArray[Any], place: Place) -> None:
    """Refuse values that are not finite, or will not be."""
    bad = np.flatnonzero(~np.isfinite(becoming))
    if len(bad):
        value = values[bad[0]]
        too_large = ", too large for single precision" if np.isfinite(value) else ""
        raise DataError(f"{place.of(bad[0])}: expected a finite number, found {value}{too_large}")


@cache
def _plain_types() -> frozenset[int]:
    """Return the types that NumPy has as well."""
    import pyarrow as pa

    plain = [pa.float64(), pa.float32(), pa.int64(), pa.int32(), pa.int16(), pa.int8()]
    unsigned = [pa.uint64(), pa.uint32(), pa.uint16(), pa.uint8()]
    return frozenset(kind.id for kind in [*plain, *unsigned])


def require_present(column: Any, place: Place) -> None:
    """Refuse a column in which a value is missing."""
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(
            f"{place.of(row)}: the value is missing: fill it, or leave out the row or the column"
        )


def truths(column: Any, place: Place) -> NDArray[np.bool_]:
    """Return a column of ones and zeros, or of truths."""
    values = numbers(column, place)
    bad = np.flatnonzero((values != 0) & (values != 1))
    if len(bad):
        raise DataError(
            f"{place.of(bad[0])}: expected 1 for an event or 0 for a censored row, found "
            f"{values[bad[0]]:g}"
        )
    seen: NDArray[np.bool_] = values == 1
    return seen


def ids(column: Any, place: Place) -> NDArray[Any]:
    """Return ids: integers as int64, also where they are written as texts; all others as texts."""
    import pyarrow as pa
    from pyarrow import types

    require_present(column, place)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_integer(column.type):
        return np.asarray(column.cast("int64", safe=True).to_numpy(zero_copy_only=False))
    if types.is_floating(column.type):
        values = numbers(column, place)
        whole = values.astype(np.int64)
        return whole if (whole == values).all() else np.array([repr(v) for v in values.tolist()])
    try:
        coded = column.cast("string").dictionary_encode()
    except pa.ArrowException:
        raise DataError(
            f"{place.name}: the column {shown(place.column)} holds {shown(str(column.type))}, "
            "which are no ids"
        ) from None
    words = coded.dictionary.to_pylist()
    codes = coded.indices.to_numpy()
    if "" in words:
        raise DataError(f"{place.of(int(np.argmax(codes == words.index(''))))}: the id is missing")
    found: NDArray[Any] = _whole_numbers(words)[codes]
    return found


def _whole_numbers(words: list[str]) -> NDArray[Any]:
    """Return ids as int64 if all of them are written as such, else as they are."""
    if all(len(word) < _MAX_DIGITS and word.isascii() for word in words):
        with suppress(ValueError):
            whole = [int(word) for word in words]
            if list(map(str, whole)) == words:
                return np.array(whole, dtype=np.int64)
    return np.array(words)


def joined_ids(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of several batches of rows: as texts if those of any are."""
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(str) for part in parts]
    return np.concatenate(parts)


def kind_fault(name: str, column: str, kind: Any) -> DataError:
    """Return the refusal of a column that is no feature."""
    from pyarrow import types

    if types.is_dictionary(kind):
        what = "categories", "make a column of 0 and 1 of each, as one-hot encoders do"
    elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        what = "texts", "make numbers of them"
    elif types.is_temporal(kind):
        what = "dates or times", "make numbers of them, say days since the first"
    else:
        what = f"{shown(str(kind))}", "make a column of each number"
    return DataError(
        f"{name}: the column {shown(column)} holds {what[0]}, no numbers: leave it out, by --drop "
        f"or drop=, or {what[1]}"
    )
