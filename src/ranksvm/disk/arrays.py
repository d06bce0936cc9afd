"""Files of NumPy arrays: written row by row, and mapped into memory once they are whole."""

from __future__ import annotations

import mmap
import os
import struct
import warnings
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError
from ..files.quoting import shown
from ..files.source import DataError
from .folder import NewFolder

HEADER_BYTES = 128


class GrowingArray:
    """A .npy file to which rows are appended before their number is known.

    Parameters
    ----------
    folder : NewFolder
    name : str
        Of the file.
    dtype : dtype
    width : int, optional
        Columns of a matrix; a vector by default.

    Attributes
    ----------
    n_rows : int
    """

    def __init__(
        self, folder: NewFolder, name: str, dtype: DTypeLike, width: int | None = None
    ) -> None:
        self.folder, self.name, self.dtype, self.width = folder, name, np.dtype(dtype), width
        self.n_rows = 0
        self._file = folder.create(name)
        self._file.write(bytes(HEADER_BYTES))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape so far."""
        return (self.n_rows,) if self.width is None else (self.n_rows, self.width)

    def append(self, rows: NDArray[Any]) -> None:
        """Write rows, converted to the dtype of the file."""
        whole = np.ascontiguousarray(rows, dtype=self.dtype)
        self._file.write(whole.reshape(-1).view(np.uint8).data)
        self.n_rows += len(whole)

    def repeat(self, value: float, n_rows: int) -> None:
        """Write the same number many times."""
        for first in range(0, n_rows, 1 << 16):
            self.append(np.full(min(1 << 16, n_rows - first), value))

    def close(self) -> None:
        """Write the header, and let all reach the disk."""
        self._file.seek(0)
        self._file.write(npy_header(self.dtype, self.shape))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def map(self) -> NDArray[Any]:
        """Read what was written, once the file is closed."""
        return map_array(self.folder.file(self.name), self.dtype, self.shape)

    def put_aside(self) -> None:
        """Give the file another name."""
        before, self.name = self.name, self.name + ".before"
        os.replace(self.folder.file(before), self.folder.file(self.name))

    def remove(self) -> None:
        """Remove the file."""
        os.unlink(self.folder.file(self.name))


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return a header of version 1.0 that is always as long, whatever the shape."""
    fields = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    magic = np.lib.format.magic(1, 0)
    room = HEADER_BYTES - len(magic) - 2
    return magic + struct.pack("<H", room) + repr(fields).ljust(room - 1).encode() + b"\n"


def write_array(folder: NewFolder, name: str, values: NDArray[Any]) -> None:
    """Write a whole vector or matrix."""
    array = GrowingArray(folder, name, values.dtype, values.shape[1] if values.ndim == 2 else None)
    array.append(values)
    array.close()


def map_array(path: str, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map an array of a known type and shape, read-only.

    Raises
    ------
    DataError
        If it cannot be read, is of another type or shape, or the file is cut off.
    """
    try:
        with open(path, "rb") as file:
            _check_header(file, path, np.dtype(dtype), shape)
            begin, size = file.tell(), os.fstat(file.fileno()).st_size
            _check_size(path, size - begin, np.dtype(dtype), shape)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if hasattr(mmap, "MADV_SEQUENTIAL"):
        mapped.madvise(mmap.MADV_SEQUENTIAL)
    return np.ndarray(shape, np.dtype(dtype), buffer=mapped, offset=begin)


def _check_header(file: Any, path: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Read the header; refuse any but that of such an array."""
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise InputError(f"version {version} of the format is not read")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, fortran, of_type = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # whatever the parser of a hostile header raises
        raise DataError(f"{path} is no array of NumPy: {shown(str(error))}") from None
    if found != shape:
        raise DataError(f"{path} has shape {shown(found)}, where meta.json says {shape}")
    if fortran or of_type != dtype:
        order = " in Fortran order" if fortran else ""
        raise DataError(f"{path} holds {shown(of_type)}{order}, where meta.json says {dtype}")


def _check_size(path: str, found: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    needed = dtype.itemsize * int(np.prod(shape, dtype=object))
    if found != needed:
        state = "is cut off" if found < needed else "is too long"
        raise DataError(f"{path} {state}: its array takes {needed} bytes, and {found} are there")


def fingerprint(values: NDArray[Any]) -> str:
    """Return a hash of the numbers of an array."""
    return blake2b(np.ascontiguousarray(values).data, digest_size=8).hexdigest()


def release(values: NDArray[Any]) -> None:
    """Let the pages of a mapped array go, which come back from disk where they are read again."""
    mapped: Any = values.base
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
