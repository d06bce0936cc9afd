"""A file or a stream of rows, of which the beginning can be seen before it is read."""

from __future__ import annotations

import io
import os
import sys
from typing import IO, Any, BinaryIO

from ..lazy import cached_property
from .recognition import kind_of
from .source import DataError, StrPath, open_decompressed

_START_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 18


class DataSource:
    """A file or a stream of rows.

    Streams, pipes among them, are opened once; files may be opened again and again.

    Parameters
    ----------
    path_or_file : str, path-like or binary file object
        ``-`` is the standard input.

    Attributes
    ----------
    name : str
        What messages call it.
    path : str or None
        None for streams.

    Raises
    ------
    DataError
        If it is a directory or cannot be opened.
    """

    def __init__(self, path_or_file: StrPath | BinaryIO) -> None:
        self.path: str | None = None
        self._stream: Any = None
        self._is_pipe = False
        if not isinstance(path_or_file, str | bytes | os.PathLike):
            self._stream = path_or_file
            self.name = str(getattr(path_or_file, "name", "<stream>"))
            return
        self.name = os.fsdecode(path_or_file)
        if self.name == "-":
            self.name, self._stream = "<stdin>", sys.stdin.buffer
        elif os.path.isdir(self.name):
            raise DataError(
                f"{self.name} is a directory: name the files in it, such as "
                f"{os.path.join(self.name, '*.csv')}"
            )
        elif os.path.isfile(self.name) or not os.path.exists(self.name):
            self.path = self.name
        else:
            self._stream, self._is_pipe = _opened_pipe(self.name), True

    @cached_property
    def start(self) -> bytes:
        """The first bytes, decompressed."""
        if self.path is None:
            return _read(self._stream, self.name)
        with open_decompressed(self.path) as file:
            return _read(file, self.name)

    @cached_property
    def kind(self) -> str:
        """What it is, as `ranksvm.files.recognition.kind_of` says."""
        return kind_of(self.name, self.start)

    def open(self) -> IO[bytes]:
        """Open it at its beginning, decompressed."""
        if self.path is not None:
            return open_decompressed(self.path)
        stream = _Rejoined(self.start, self._stream, self.name, self._is_pipe)
        return io.BufferedReader(stream, _BUFFER_BYTES)

    @property
    def readable(self) -> StrPath | BinaryIO:
        """What `ranksvm.files.svmlight.read_svmlight` takes."""
        return self.path if self.path is not None else self.open()  # type: ignore[return-value]


def _opened_pipe(name: str) -> IO[bytes]:
    try:
        return open(name, "rb")
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error


def _read(file: Any, name: str) -> bytes:
    try:
        start = file.read(_START_BYTES)
    except MemoryError:
        raise
    except Exception as error:  # each compression has its own
        raise DataError(f"cannot read {name}: {error}") from error
    if isinstance(start, str):
        raise DataError(f"{name} is open as text: open it in binary mode, 'rb'")
    return bytes(start)


class _Rejoined(io.RawIOBase):
    """A stream of which the beginning has been read already."""

    def __init__(self, start: bytes, rest: Any, name: str, closes: bool) -> None:
        self.name = name
        self._start = start
        self._rest = rest
        self._closes = closes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._start[: len(buffer)] or self._rest.read(len(buffer))
        self._start = self._start[len(part) :]
        if not part and self._closes:
            self._rest.close()
        buffer[: len(part)] = part
        return len(part)
