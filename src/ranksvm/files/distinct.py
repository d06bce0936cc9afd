"""Whether an output would overwrite an input, or another output."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

Named = Iterable[tuple[str, str]]


def overwritten(inputs: Named, outputs: Named) -> tuple[str, str] | None:
    """Find an output that is the same file as an input or an output before it.

    Links, dots and, where the file system does not tell them apart, upper and lower case lead to
    the same file; devices and pipes may be read and written at once.

    Parameters
    ----------
    inputs, outputs : iterable of (title, path)
        What messages call each file, and its path; ``-`` is a standard stream.

    Returns
    -------
    tuple of (title, title) or None
        Those of the first such output, and of the file that it would overwrite.
    """
    seen = {_identity(path): title for title, path in inputs}
    for title, path in outputs:
        file = path if path == "-" else _identity(path)
        if file is not None and file in seen:
            return title, seen[file]
        seen[file] = title
    return None


def _identity(path: str) -> object:
    """Return what tells a file apart from others; None for what is no file."""
    try:
        status = os.fstat(0) if path == "-" else os.stat(path)
    except OSError:
        return os.path.normcase(os.path.realpath(path))
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
