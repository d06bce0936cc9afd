"""Output folders that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from stat import S_ISREG
from typing import IO

from ..files.atomic import OutputError
from ..files.source import DataError

META = "meta.json"
_TEMPORARY = ".ranksvm-pack-"


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is that of a folder of packed data.

    One that may not be looked into is taken for it, so that who reads it tells why that fails.
    """
    try:
        return os.path.isdir(path) and S_ISREG(os.stat(os.path.join(path, META)).st_mode)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def packed_among(paths: Sequence[object]) -> str | None:
    """Return the folder of packed data that paths are, which is one by itself; else None.

    Raises
    ------
    DataError
        If it is one of several.
    """
    named = [path for path in paths if isinstance(path, str | os.PathLike)]
    folder = next((path for path in named if is_packed(path)), None)
    if folder is not None and len(paths) > 1:
        shown = os.fsdecode(folder)
        raise DataError(f"{shown} is packed data, to be read by itself, not with others")
    return None if folder is None else os.fsdecode(folder)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path at which no packed data can be written, before work is put into them.

    Raises
    ------
    OutputError
        If its own folder does not exist, or something is there that is no packed data.
    """
    name = os.fsdecode(path)
    target = os.path.realpath(name)
    parent = os.path.dirname(target)
    if not os.path.isdir(parent):
        raise OutputError(f"cannot write {name}: the directory {parent} does not exist")
    if os.path.lexists(target) and not os.path.isfile(os.path.join(target, META)):
        raise OutputError(f"cannot write {name}: it exists, and holds no packed data; remove it")


class NewFolder:
    """A folder that is being written.

    Attributes
    ----------
    path : str
    """

    def __init__(self, path: str, files: ExitStack) -> None:
        self.path, self._files = path, files

    def file(self, name: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, name)

    def create(self, name: str) -> IO[bytes]:
        """Open a new file, which is closed with the folder at the latest."""
        return self._files.enter_context(open(self.file(name), "xb"))


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[NewFolder]:
    """Give a new folder to write to, which takes its place once it is complete.

    It lies beside `path`, and replaces packed data that are there. If the body raises, it is
    removed; what a process that was killed has left is removed by the next one.

    Raises
    ------
    OutputError
        As `check_folder`, or if writing fails.
    """
    name = os.fsdecode(path)
    check_folder(name)
    target = os.path.realpath(name)
    parent = os.path.dirname(target)
    temporary = os.path.join(parent, _TEMPORARY + os.urandom(8).hex())
    try:
        _remove_abandoned(parent)
        with _locked(temporary):
            with ExitStack() as files:
                yield NewFolder(temporary, files)
            _sync(temporary)
            _put_in_place(temporary, target)
            _sync(parent)
    except OSError as error:
        # Any other file name belongs to a file that the body itself tried to read.
        if isinstance(error, OutputError) or _TEMPORARY not in str(error.filename or _TEMPORARY):
            raise
        raise OutputError(f"cannot write {name}: {error.strerror or error}") from error
    finally:
        _remove(temporary)


def _put_in_place(temporary: str, target: str) -> None:
    """Rename a folder; one that is there already is put aside first, and removed."""
    if not os.path.lexists(target):
        os.rename(temporary, target)
        return
    aside = temporary + "-old"
    os.rename(target, aside)
    try:
        os.rename(temporary, target)
    except OSError:
        os.rename(aside, target)
        raise
    _remove(aside)


def _sync(folder: str) -> None:
    """Let the names in a folder reach the disk, where folders can be opened."""
    with suppress(OSError), _opened(folder) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Make a folder, and say that somebody writes to it."""
    os.mkdir(folder)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with _opened(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _remove_abandoned(parent: str) -> None:
    """Remove the folders to which nobody writes any longer."""
    with suppress(ImportError):
        import fcntl

        for name in os.listdir(parent):
            folder = os.path.join(parent, name)
            if not name.startswith(_TEMPORARY):
                continue
            with suppress(OSError), _opened(folder) as descriptor:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)


def _remove(folder: str) -> None:
    import shutil  # which brings compression with it

    shutil.rmtree(folder, ignore_errors=True)
