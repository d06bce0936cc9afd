"""One array and some texts in the safetensors layout, for models of many weights.

::

    8 bytes       N, little-endian
    N bytes       JSON: {"__metadata__": {text: text}, "weights": {"dtype": "F64", ...}}
    8 d bytes     the d weights, little-endian

Every reader of safetensors reads these files; of the files of others this one reads only those with
just this content, and believes nothing that it has not checked.
"""

from __future__ import annotations

import struct
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .json_text import from_json, to_json
from .quoting import shown
from .source import DataError

_TENSOR = "weights"
_MAX_HEADER = 100_000_000  # what the common readers accept


def looks_like_safetensors(start: bytes) -> bool:
    """Tell whether the first nine bytes are those of this layout: a brace after the length."""
    return len(start) >= 9 and start[8:9] == b"{"


def write_safetensors(
    file: IO[bytes], weights: NDArray[np.float64], metadata: dict[str, str]
) -> None:
    """Write weights and texts to an open file.

    Raises
    ------
    ValueError
        If the texts are longer than readers accept.
    """
    tensor = {"dtype": "F64", "shape": [len(weights)], "data_offsets": [0, 8 * len(weights)]}
    header = to_json({"__metadata__": metadata, _TENSOR: tensor}).encode()
    header += b" " * (-len(header) % 8)  # readers map the weights, which must be aligned
    if len(header) > _MAX_HEADER:
        raise ValueError(
            f"the names and parameters of this model take {len(header)} bytes, more than a "
            f"safetensors file holds ({_MAX_HEADER}): save it as JSON"
        )
    file.write(struct.pack("<Q", len(header)) + header)
    file.write(np.ascontiguousarray(weights, dtype="<f8").view(np.uint8).data)


def read_safetensors(
    name: str, content: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], dict[str, str]]:
    """Return the weights and the texts.

    Raises
    ------
    DataError
        If anything is not as `write_safetensors` writes it, saying what and where.
    """
    length, begin = _header_length(name, content), 8
    tensors = _header(name, content[begin : begin + length].tobytes())
    metadata = tensors.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise DataError(f'{name}: "__metadata__" must give a text for each name')
    if list(tensors) != [_TENSOR]:
        found = ", ".join(map(shown, sorted(tensors)))[:80] or "none"
        raise DataError(f'{name} must hold one tensor, "{_TENSOR}"; it holds {found}')
    n_weights = _shape(name, tensors[_TENSOR])
    begin += length
    if len(content) - begin != 8 * n_weights:
        raise DataError(
            f"{name}: {n_weights} weights take {8 * n_weights} bytes but {len(content) - begin} "
            f"follow the header, from byte {begin} on: the file is cut off or damaged"
        )
    return np.frombuffer(content, dtype="<f8", offset=begin).astype(np.float64), metadata


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


def _shape(name: str, tensor: Any) -> int:
    """Return how many weights there are, all of the data that follows the header."""
    if not isinstance(tensor, dict) or set(tensor) != {"dtype", "shape", "data_offsets"}:
        raise DataError(f'{name}: "{_TENSOR}" must have a dtype, a shape and data_offsets')
    dtype, shape, offsets = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
    if dtype != "F64":
        raise DataError(f'{name}: the dtype of "{_TENSOR}" must be F64, not {shown(dtype)}')
    if not _whole_numbers(shape, 1) or not 0 < shape[0] < 1 << 31:
        raise DataError(
            f'{name}: the shape of "{_TENSOR}" must be one positive whole number, '
            f"not {shown(shape)}"
        )
    if not _whole_numbers(offsets, 2) or offsets != [0, 8 * shape[0]]:
        raise DataError(
            f'{name}: the data_offsets of "{_TENSOR}" must be [0, {8 * shape[0]}], as its shape '
            f"says, not {shown(offsets)}"
        )
    return int(shape[0])


def _whole_numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(type(v) is int for v in value)
