"""Output files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import IO, Any, Literal

_TEMPORARY = ".ranksvm-"
_DESCRIPTORS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


class OutputError(OSError):
    """Output that cannot be written; the message is a whole sentence."""


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a file for writing that takes its place only once it is complete.

    The text goes to a file in the same folder, which replaces `path` after it has reached the
    disk. If the body raises, or the disk is full, nothing is left behind and an older file stays
    as it was. An existing file keeps its permissions, and a symbolic link keeps pointing at it.
    Devices, pipes and ``-``, the standard output, are written directly.

    Parameters
    ----------
    path : str or path-like
        File to write, or ``-``.
    mode : {"w", "wb"}, default="w"
        Text, in UTF-8, or binary.

    Yields
    ------
    file object

    Raises
    ------
    OutputError
        If `path` is a directory, its folder does not exist, or writing fails. A broken pipe
        stays a BrokenPipeError.
    """
    name = os.fsdecode(path)
    try:
        with _writer(name, mode) as file:
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


def _writer(name: str, mode: str) -> AbstractContextManager[IO[Any]]:
    check_output(name)
    if name == "-":
        return _standard_output(mode)
    if name.startswith(_DESCRIPTORS):
        return _open(name, mode.replace("w", "a"))  # what `>> log` has collected stays
    target = os.path.realpath(name)
    if os.path.exists(target) and not os.path.isfile(target):
        return _open(name, mode)
    return _replacement(target, mode)


def _open(name: str, mode: str) -> IO[Any]:
    if "b" in mode:
        return open(name, mode)
    return open(name, mode, encoding="utf-8", newline="\n")


@contextmanager
def _standard_output(mode: str) -> Iterator[IO[Any]]:
    sys.stdout.flush()
    file = sys.stdout.buffer if "b" in mode else sys.stdout
    yield file
    file.flush()


@contextmanager
def _replacement(target: str, mode: str) -> Iterator[IO[Any]]:
    exists = os.path.exists(target)
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = os.path.join(os.path.dirname(target), _TEMPORARY + secrets.token_hex(8))
    try:
        with _open(temporary, mode.replace("w", "x")) as file:
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
        atomic_write(path, "wb") as raw,
        nullcontext(raw) if compressed is None else compressed(raw, "wb") as file,
    ):
        yield file
