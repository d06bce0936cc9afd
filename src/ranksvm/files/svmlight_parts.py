"""SVMlight files some rows at a time, for those that are larger than memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .data_source import DataSource
from .joining import of_layout
from .rows import CsrArrays, FileRows
from .source import DataError, open_blocks
from .svmlight import IndexBase, read_svmlight

_PART_BYTES = 1 << 25
_LINE = re.compile(r", line (\d+)")
_NO_ROWS = re.compile(rb"(?:[ \t\r\f\v]*(?:#[^\n]*)?(?:\n|\Z))*")


def svmlight_parts(
    source: DataSource,
    *,
    zero_based: IndexBase,
    comments: bool = False,
    n_threads: int | None = None,
    part_bytes: int = _PART_BYTES,
) -> Iterator[FileRows]:
    """Yield the rows of a file, some at a time, never none.

    All parts are sparse or dense as the first is, so that scores are those of the whole file.

    Parameters are those of `ranksvm.files.svmlight.read_svmlight`.

    Raises
    ------
    DataError
        As `read_svmlight`, with the lines of the file; or if it shows only after the first part
        that indices count from zero.
    """
    first: FileRows | None = None
    for n_lines, text in _whole_lines(source, part_bytes):
        if _NO_ROWS.fullmatch(text):
            continue
        stream = io.BytesIO(text)
        stream.name = source.name
        try:
            rows = read_svmlight(
                stream, zero_based=zero_based, comments=comments, n_threads=n_threads
            )
        except DataError as error:
            raise DataError(_moved(str(error), n_lines)) from None
        if first is None:
            first = rows
        elif (rows.qid is None) != (first.qid is None):
            raise DataError(
                f"{source.name}: from line {n_lines + 1} on, rows "
                f"{'lack' if rows.qid is None else 'have'} qids: either all have one or none has"
            )
        elif rows.zero_based != first.zero_based:
            raise DataError(
                f"{source.name}: features seem to count from one, but from line {n_lines + 1} on "
                "there is a feature 0: say --zero-based"
            )
        zero_based = first.zero_based or zero_based
        dense = not isinstance(first.features, CsrArrays)
        yield replace(rows, features=of_layout(rows.features, dense))
    if first is None:
        raise DataError(f"{source.name} {'holds no rows' if source.start else 'is empty'}")


def _whole_lines(source: DataSource, part_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines, some at a time, and how many lines are before them."""
    n_lines, rest = 0, b""
    _, blocks = open_blocks(source.readable, part_bytes)
    for block in blocks:
        end = _after_last_line(block)
        if end == 0:
            rest += block.tobytes()
            continue
        text = rest + block[:end].tobytes()
        yield n_lines, text
        n_lines += text.count(b"\n")
        rest = block[end:].tobytes()
    if rest:
        yield n_lines, rest


def _after_last_line(block: NDArray[np.uint8]) -> int:
    """Return the place after the last end of a line; 0 where there is none."""
    found = block.tobytes().rfind(b"\n")
    return found + 1


def _moved(message: str, n_lines: int) -> str:
    """Return a message with the line of the file, of one with that of a part."""

    def later(line: Any) -> str:
        return f", line {int(line[1]) + n_lines}"

    return _LINE.sub(later, message, count=1)
