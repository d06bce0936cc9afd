"""The files that data were packed from, and whether they are still the same."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from hashlib import blake2b
from stat import S_ISREG
from typing import Any

from ..files.source import DataError

_PIECE = 1 << 16


@dataclass(frozen=True)
class Source:
    """A file as it was when it was read.

    Attributes
    ----------
    name : str
        Its whole path.
    bytes, mtime_ns : int
    fingerprint : str
        A hash of its first, middle and last 64 KiB.
    """

    name: str
    bytes: int
    mtime_ns: int
    fingerprint: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Source:
        """Look at a file.

        Raises
        ------
        DataError
            If it cannot be read.
        """
        name = os.path.abspath(os.fsdecode(path))
        try:
            status = os.stat(name)
            return cls(name, status.st_size, status.st_mtime_ns, _fingerprint(name, status.st_size))
        except OSError as error:
            raise DataError(f"cannot read {path!s}: {error.strerror or error}") from error

    @property
    def has_changed(self) -> bool:
        """Whether the file is there, but not what it was; a new time alone is no change."""
        try:
            status = os.stat(self.name)
            if status.st_size != self.bytes or not S_ISREG(status.st_mode):
                return True
            same_time = status.st_mtime_ns == self.mtime_ns
            return not same_time and _fingerprint(self.name, self.bytes) != self.fingerprint
        except (OSError, ValueError):  # of a name that none can have
            return False

    def require_unchanged(self) -> None:
        """Refuse a file that was written to while it was read.

        Raises
        ------
        DataError
        """
        if Source.of(self.name) != self:
            raise DataError(f"{self.name} changed while it was being packed: start again")

    def as_json(self) -> dict[str, Any]:
        """Return the attributes, as meta.json has them."""
        return asdict(self)


def _fingerprint(path: str, size: int) -> str:
    digest = blake2b(digest_size=8)
    with open(path, "rb") as file:
        for place in sorted({0, max(size // 2 - _PIECE // 2, 0), max(size - _PIECE, 0)}):
            file.seek(place)
            digest.update(file.read(_PIECE))
    return digest.hexdigest()
