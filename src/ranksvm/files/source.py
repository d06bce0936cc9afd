"""Where input comes from: plain and compressed files, streams, the standard input.

What is compressed is told by how it begins, and by its name where that does not tell.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import IO, Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

StrPath = str | os.PathLike[str]
Made = TypeVar("Made")

_COMPRESSION_MODULES = {
    ".gz": ("gzip",),
    ".bz2": ("bz2",),
    ".xz": ("lzma",),
    ".zst": ("compression.zstd", "zstandard"),
}

_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}

_PACKED_BYTES = 1 << 18
_NOTHING = np.empty(0, dtype=np.uint8)


class DataError(InputError):
    """Data that cannot be read; the message says where and why in a whole sentence."""


def read_bytes(path_or_file: StrPath | BinaryIO) -> tuple[str, NDArray[np.uint8]]:
    """Return the name of a file and all its bytes."""
    name, blocks = open_blocks(path_or_file, 1 << 22)
    parts = list(blocks)
    return name, parts[0] if len(parts) == 1 else np.concatenate([_NOTHING, *parts])


def open_blocks(
    path_or_file: StrPath | BinaryIO, block_bytes: int
) -> tuple[str, Iterator[NDArray[np.uint8]]]:
    """Return the name of a file and an iterator over its bytes, some at a time.

    A plain file is mapped into memory, where each block stays only until the next; a compressed one
    is decompressed in a thread of its own, while the block before is in use.

    Raises
    ------
    DataError
        If the file cannot be read; it is opened by the iterator.
    """
    if not isinstance(path_or_file, str | bytes | os.PathLike):
        if not hasattr(path_or_file, "read"):
            raise TypeError(
                f"a file is named by its path, or open in binary mode, but not {path_or_file!r}"
            )
        name = str(getattr(path_or_file, "name", "<stream>"))
        return name, _as_arrays(_read_blocks(path_or_file, block_bytes), name)
    name = os.fsdecode(path_or_file)
    if name == "-":
        return "<stdin>", _as_arrays(_read_blocks(sys.stdin.buffer, block_bytes), "<stdin>")
    return name, _as_arrays(_blocks_of_path(name, block_bytes), name)


def _as_arrays(blocks: Iterator[Any], name: str) -> Iterator[NDArray[np.uint8]]:
    try:
        for block in blocks:
            if isinstance(block, str):
                raise DataError(f"{name} is open as text: open it in binary mode, 'rb'")
            yield np.frombuffer(block, dtype=np.uint8)
    except OSError as error:
        raise DataError(f"cannot read {name or repr(name)}: {error.strerror or error}") from error


def _blocks_of_path(name: str, block_bytes: int) -> Iterator[Any]:
    with open(name, "rb") as file:
        compressed = _compression(name, file)
        if compressed is not None:
            yield from made_ahead(_decompressed(file, name, compressed, block_bytes))
            return
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size > 0:
            yield from _mapped_blocks(file, block_bytes)
        else:
            yield from _read_blocks(file, block_bytes)


def _read_blocks(file: IO[bytes], block_bytes: int) -> Iterator[bytes]:
    while block := file.read(block_bytes):
        yield block


def _mapped_blocks(file: BinaryIO, block_bytes: int) -> Iterator[memoryview]:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    step = -(-block_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
    for begin in range(0, len(mapped), step):
        yield memoryview(mapped)[begin : begin + step]
        if hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED, begin, min(step, len(mapped) - begin))


def _compression(name: str, file: Any) -> str | None:
    """Return the ending that names how a file is compressed that has just been opened."""
    start = file.peek(6)
    for magic, ending in _MAGIC.items():
        if start.startswith(magic):
            return ending
    ending = os.path.splitext(name)[1].lower()
    return ending if ending in _COMPRESSION_MODULES else None


def open_decompressed(name: str) -> IO[bytes]:
    """Open a file, decompressed.

    Raises
    ------
    DataError
        If it cannot be opened, or what decompresses it is not installed.
    """
    try:
        file = open(name, "rb")  # noqa: SIM115
    except OSError as error:
        raise DataError(f"cannot read {name or repr(name)}: {error.strerror or error}") from error
    compressed = _compression(name, file)
    if compressed is None:
        return file
    file.close()
    return _opener(name, compressed)(name, "rb")


def _decompressed(file: BinaryIO, name: str, compressed: str, block_bytes: int) -> Iterator[bytes]:
    opener = _opener(name, compressed)
    try:
        if compressed == ".gz":
            yield from _gunzipped(file, block_bytes)
        else:
            yield from _read_blocks(opener(file, "rb"), block_bytes)
    except MemoryError:
        raise
    except Exception as error:  # each compression has its own
        raise DataError(f"cannot decompress {name}: {error}") from error


def _gunzipped(file: BinaryIO, block_bytes: int) -> Iterator[bytes]:
    """Decompress the members of a .gz file; the module gzip takes longer, for a sum of its own."""
    packed = file.read(_PACKED_BYTES)
    while packed:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            block = member.decompress(packed, block_bytes)
            packed = member.unconsumed_tail
            if not (packed or member.eof or len(block) == block_bytes):
                packed = file.read(_PACKED_BYTES)
                if not packed:
                    raise EOFError("the file ends in the middle of a compressed stream")
            if block:
                yield block
        packed = member.unused_data.lstrip(b"\0") or file.read(_PACKED_BYTES).lstrip(b"\0")


def made_ahead(blocks: Iterator[Made]) -> Iterator[Made]:
    """Yield the same blocks, each made by another thread while the one before is in use."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as worker:
        ahead = worker.submit(next, blocks, None)
        while (block := ahead.result()) is not None:
            ahead = worker.submit(next, blocks, None)
            yield block


def without_compression(name: str) -> str:
    """Return a name without the ending of a compressed file."""
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in _COMPRESSION_MODULES else name


def found_beside(path: str, endings: Sequence[str]) -> str | None:
    """Return the file whose name is that of another and an ending, compressed or not, or None."""
    for stem in (path, without_compression(path)):
        for ending in endings:
            if os.path.isfile(stem + ending):
                return stem + ending
    return None


def opener_of_compressed(name: str) -> Callable[[Any, str], IO[bytes]] | None:
    """Return the function that opens a file compressed as its name says; None if it is not."""
    ending = os.path.splitext(name)[1].lower()
    return _opener(name, ending) if ending in _COMPRESSION_MODULES else None


def _opener(name: str, ending: str) -> Callable[[Any, str], IO[bytes]]:
    """Return the function that opens files compressed as an ending says."""
    modules = _COMPRESSION_MODULES[ending]
    for module in modules:
        try:
            opener: Callable[[Any, str], IO[bytes]] = import_module(module).open
            return opener
        except ImportError:
            continue
    raise DataError(f"{name} needs one of the Python modules {', '.join(modules)}")
