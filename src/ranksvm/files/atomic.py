"""Output files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import IO

_TEMPORARY = ".ranksvm-"
_DESCRIPTORS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


class OutputError(OSError):
    """Output that cannot be written; the message is a whole sentence."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place only once it is complete.

    The content goes to a file in the same folder, which replaces `path` after it has reached the
    disk. If the body raises, or the disk is full, nothing is left behind and an older file stays
    as it was. An existing file keeps its permissions, and a symbolic link keeps pointing at it.
    Devices, pipes and ``-``, the standard output, are written directly.

    Parameters
    ----------
    path : str or path-like
        File to write, or ``-``.

    Yields
    ------
    binary file object

    Raises
    ------
    OutputError
        If `path` is a directory, its folder does not exist, or writing fails. A broken pipe
        stays a BrokenPipeError.
    """
    name = os.fsdecode(path)
    try:
        with _writer(name) as file:
            yield file
    except (OutputError, BrokenPipeError):
        raise
    except OSError as error:
        # Any other file name belongs to a file that the body itself tried to open.
        if error.filename not in (None, name) and _TEMPORARY not in str(error.filename):
            raise
        raise OutputError(f"cannot write {_shown(name)}: {error.strerror or error}") from error


def _shown(name: str) -> str:
    return "the standard output" if name == "-" else name or "''"


def check_output(path: str | os.PathLike[str]) -> None:
    """Refuse a path that can never be written, before work is put into its content.

    Raises
    ------
    OutputError
        If `path` is a directory, or its folder does not exist.
    """
    name = os.fsdecode(path)
    if name == "-" or name.startswith(_DESCRIPTORS):
        return
    if not name or name.endswith(os.sep) or os.path.isdir(name):
        raise OutputError(f"cannot write {_shown(name)}: a file name is needed, not a directory")
    folder = os.path.dirname(os.path.realpath(name))
    if not os.path.isdir(folder):
        raise OutputError(f"cannot write {name}: the directory {folder} does not exist")


def _writer(name: str) -> AbstractContextManager[IO[bytes]]:
    check_output(name)
    if name == "-":
        return _standard_output()
    if name.startswith(_DESCRIPTORS):
        return open(name, "ab")  # what `>> log` has collected stays
    target = os.path.realpath(name)
    if os.path.exists(target) and not os.path.isfile(target):
        return open(name, "wb")
    return _replacement(target)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _replacement(target: str) -> Iterator[IO[bytes]]:
    exists = os.path.exists(target)
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = os.path.join(os.path.dirname(target), _TEMPORARY + os.urandom(8).hex())
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if exists:
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that is written whole or not at all, compressed if its name says so."""
    from .source import opener_of_compressed

    compressed = opener_of_compressed(os.fsdecode(path))
    with (
        atomic_write(path) as raw,
        nullcontext(raw) if compressed is None else compressed(raw, "wb") as file,
    ):
        yield file
