"""Arrays and some texts in the safetensors layout, for models of many numbers.

::

    8 bytes       N, little-endian
    N bytes       JSON: {"__metadata__": {text: text}, "weights": {"dtype": "F64", ...}, ...}
    ...           the tensors, little-endian, without gaps

Every reader of safetensors reads these files; of the files of others this one reads only those with
just the tensors of a model, and believes nothing that it has not checked.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records import record
from .json_text import from_json, to_json
from .quoting import shown
from .source import DataError

_DTYPES = {"F64": "<f8", "I64": "<i8", "I32": "<i4"}
_MAX_HEADER = 100_000_000  # what the common readers accept


class Tensor(NamedTuple):
    """What a tensor must be: its dtype, how many dimensions it has, and the least that each is."""

    dtype: str
    n_dimensions: int = 1
    least: int = 1


def looks_like_safetensors(start: bytes) -> bool:
    """Tell whether the first nine bytes are those of this layout: a brace after the length."""
    return len(start) >= 9 and start[8:9] == b"{"


def write_safetensors(
    file: IO[bytes], tensors: Mapping[str, NDArray[Any]], metadata: dict[str, str]
) -> None:
    """Write arrays of float64, int64 or int32, and texts, to an open file.

    Raises
    ------
    ValueError
        If the texts are longer than readers accept.
    """
    names = {kind[1:]: name for name, kind in _DTYPES.items()}
    content: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, values in tensors.items():
        begin, end = end, end + values.nbytes
        content[name] = {
            "dtype": names[values.dtype.str[1:]],
            "shape": list(values.shape),
            "data_offsets": [begin, end],
        }
    header = to_json(content).encode()
    header += b" " * (-len(header) % 8)  # readers map the tensors, which must be aligned
    if len(header) > _MAX_HEADER:
        raise InputError(
            f"the names and parameters of this model take {len(header)} bytes, more than a "
            f"safetensors file holds ({_MAX_HEADER}): save it as JSON"
        )
    file.write(struct.pack("<Q", len(header)) + header)
    for values in tensors.values():
        little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        file.write(little.reshape(-1).view(np.uint8).data)


@record
class Safetensors:
    """A file whose header has been read: texts as metadata, and tensors, not yet checked."""

    name: str
    metadata: dict[str, str]
    tensors: dict[str, Any]
    data: NDArray[np.uint8]
    begin: int

    def read(self, expected: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
        """Return the tensors, which must be those expected, and all of the data.

        Raises
        ------
        DataError
            If anything is not as `write_safetensors` writes it, saying what and where.
        """
        self._require_names(expected)
        shapes = {tensor: self._shape(tensor, expected[tensor]) for tensor in expected}
        sizes = {tensor: math.prod(shape) for tensor, shape in shapes.items()}
        places, end = {}, 0
        for tensor in sorted(expected, key=self._offsets):
            dtype = np.dtype(_DTYPES[expected[tensor].dtype])
            begin, end = end, end + dtype.itemsize * sizes[tensor]
            if self._offsets(tensor) != [begin, end]:
                raise DataError(
                    f'{self.name}: the data_offsets of "{tensor}" must be [{begin}, {end}], as its '
                    f"shape says, not {shown(self.tensors[tensor]['data_offsets'])}"
                )
            places[tensor] = slice(begin, end), dtype
        if len(self.data) != end:
            counts = ", ".join(f"{size} {tensor}" for tensor, size in sizes.items())
            raise DataError(
                f"{self.name}: {counts} take {end} bytes but {len(self.data)} follow the header, "
                f"from byte {self.begin} on: the file is cut off or damaged"
            )
        native = {
            tensor: self.data[place].view(dtype).astype(dtype.newbyteorder("="))
            for tensor, (place, dtype) in places.items()
        }
        return {tensor: values.reshape(shapes[tensor]) for tensor, values in native.items()}

    def _require_names(self, expected: Mapping[str, Tensor]) -> None:
        if set(self.tensors) == set(expected):
            return
        found = ", ".join(map(shown, sorted(self.tensors)))[:80] or "none"
        wanted = ", ".join(f'"{tensor}"' for tensor in expected)
        count = "one tensor" if len(expected) == 1 else "the tensors"
        raise DataError(f"{self.name} must hold {count}, {wanted}; it holds {found}")

    def _shape(self, tensor: str, expected: Tensor) -> list[int]:
        """Return how many values there are in each dimension."""
        found = self.tensors[tensor]
        if not isinstance(found, dict) or set(found) != {"dtype", "shape", "data_offsets"}:
            raise DataError(f'{self.name}: "{tensor}" must have a dtype, a shape and data_offsets')
        dtype, shape = found["dtype"], found["shape"]
        if dtype != expected.dtype:
            raise DataError(
                f'{self.name}: the dtype of "{tensor}" must be {expected.dtype}, not {shown(dtype)}'
            )
        if not _whole_numbers(shape, expected.n_dimensions) or not all(
            expected.least <= size < 1 << 31 for size in shape
        ):
            count = "one" if expected.n_dimensions == 1 else "two"
            number = "positive whole number" if expected.least else "whole number"
            plural = "" if expected.n_dimensions == 1 else "s"
            raise DataError(
                f'{self.name}: the shape of "{tensor}" must be {count} {number}{plural}, not '
                f"{shown(shape)}"
            )
        return [int(size) for size in shape]

    def _offsets(self, tensor: str) -> list[int]:
        """Return where a tensor is said to begin and to end, or nowhere."""
        offsets = self.tensors[tensor]["data_offsets"]
        return offsets if _whole_numbers(offsets, 2) else []


def read_safetensors(name: str, content: NDArray[np.uint8]) -> Safetensors:
    """Read the header of a file that messages call `name`.

    Raises
    ------
    DataError
        If it is none.
    """
    length, begin = _header_length(name, content), 8
    tensors = _header(name, content[begin : begin + length].tobytes())
    metadata = tensors.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise DataError(f'{name}: "__metadata__" must give a text for each name')
    begin += length
    return Safetensors(name, metadata, tensors, content[begin:], begin)


def _header_length(name: str, content: NDArray[np.uint8]) -> int:
    if len(content) < 8:
        raise DataError(f"{name} ends after {len(content)} bytes: a model begins with 8 of length")
    (length,) = struct.unpack("<Q", content[:8].tobytes())
    if not 2 <= length <= min(_MAX_HEADER, len(content) - 8):
        raise DataError(
            f"{name}, bytes 1 to 8: the header cannot be {length} bytes long, in a file of "
            f"{len(content)} bytes and with at most {_MAX_HEADER} allowed: the file is cut off "
            "or damaged"
        )
    return int(length)


def _header(name: str, text: bytes) -> dict[str, Any]:
    header = from_json(f"{name}, header from byte 9 on", text)
    if not isinstance(header, dict):
        raise DataError(f"{name}, header from byte 9 on: expected an object in braces")
    return header


def _whole_numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(type(v) is int for v in value)
