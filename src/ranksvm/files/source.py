"""Where input comes from: plain and compressed files, streams, the standard input."""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

StrPath = str | os.PathLike[str]

_COMPRESSION_MODULES = {
    ".gz": ("gzip",),
    ".bz2": ("bz2",),
    ".xz": ("lzma",),
    ".zst": ("compression.zstd", "zstandard"),
}


class DataError(ValueError):
    """Data that cannot be read; the message says where and why in a whole sentence."""


def read_bytes(path_or_file: StrPath | BinaryIO) -> tuple[str, NDArray[np.uint8]]:
    """Return the name of a file and its bytes, mapped into memory where that is possible."""
    if not isinstance(path_or_file, str | bytes | os.PathLike):
        name = str(getattr(path_or_file, "name", "<stream>"))
        return name, _as_array(path_or_file.read(), name)
    name = os.fsdecode(path_or_file)
    if name == "-":
        return "<stdin>", _as_array(sys.stdin.buffer.read(), "<stdin>")
    try:
        with open(name, "rb") as file:
            return name, _read_file(file, name)
    except OSError as error:
        raise DataError(f"cannot read {name or repr(name)}: {error.strerror or error}") from error


def _read_file(file: BinaryIO, name: str) -> NDArray[np.uint8]:
    decompressed = opener_of_compressed(name)
    if decompressed is not None:
        try:
            return _as_array(decompressed(file, "rb").read(), name)
        except MemoryError:
            raise
        except Exception as error:  # each compression has its own
            raise DataError(f"cannot decompress {name}: {error}") from error
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size > 0:
        return _as_array(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), name)
    return _as_array(file.read(), name)


def _as_array(data: Any, name: str) -> NDArray[np.uint8]:
    if isinstance(data, str):
        raise DataError(f"{name} is open as text: open it in binary mode, 'rb'")
    return np.frombuffer(data, dtype=np.uint8)


def opener_of_compressed(name: str) -> Callable[[IO[bytes], str], IO[bytes]] | None:
    """Return the function that opens a file compressed as its name says; None if it is not."""
    modules = _COMPRESSION_MODULES.get(os.path.splitext(name)[1].lower(), ())
    for module in modules:
        try:
            opener: Callable[[IO[bytes], str], IO[bytes]] = import_module(module).open
            return opener
        except ImportError:
            continue
    if modules:
        raise DataError(f"{name} needs one of the Python modules {', '.join(modules)}")
    return None
