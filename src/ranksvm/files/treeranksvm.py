"""The plain files of TreeRankSVM: features, labels and query ids, each in a file of its own.

::

    0:0.43 3:0.12 9284:0.2  # features: <index>:<value> ..., ascending, counted from zero
    1.5                     # labels: one number
    7                       # query ids: one integer or word

A row is a line; blank lines and lines with nothing but a comment are no rows. A row of zeros is
written ``0:0``. All three are SVMlight lines that lack something, and the parser of those reads
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksvm.files.atomic import atomic_write
from ranksvm.files.scores import write_scores
from ranksvm.files.source import DataError, StrPath, read_bytes
from ranksvm.files.svmlight import (
    Columns,
    SvmlightFile,
    SyntaxFailure,
    encode_qid,
    finite_column,
    format_rows,
    parse_rows,
    two_dimensional,
)
from ranksvm.threads import resolve_threads

Bytes = NDArray[np.uint8]

_LINE = re.compile(rb"[^\n]*")
_TOKEN = re.compile(rb"[^ \t\r\n]+")
_BLANKS = re.compile(rb"[ \t]*")
_NO_ROW = re.compile(rb"[ \t]*\r*(?:\n|\Z|#)")
_SECOND_WORD = re.compile(rb"^[ \t]*[^ \t\n#]+[ \t]+[^ \t\r\n#]", re.MULTILINE)
_PLACE = re.compile(r"line (\d+), column (\d+): (.*)", re.DOTALL)
_INDEX_DIGITS = 10
_BLOCK_BYTES = 1 << 24


def read_features(path: StrPath, *, n_threads: int | None = None) -> SvmlightFile:
    """Read a feature file.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input. A name that ends in .gz, .bz2, .xz or .zst is decompressed.
    n_threads : int, default=None
        None means all CPUs of this process. It does not change the result.

    Returns
    -------
    SvmlightFile
        With label 0 in every row.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format: an index is
        negative, not above the one before, or a value is not a finite number.
    """
    name, text = read_bytes(path)
    starts = _row_starts(text)
    try:
        rows = parse_rows(name, _with_prefix(text, starts, b"0 "), True, resolve_threads(n_threads))
    except SyntaxFailure as error:
        line, column, message = _parts(error)
        raise DataError(f"{name}, line {line}, column {column - 2}: {message}") from None
    _check_indices(name, text, starts)
    return rows


def read_labels(path: StrPath, *, n_threads: int | None = None) -> NDArray[np.float64]:
    """Read a label file: one finite number per line.

    Parameters
    ----------
    path, n_threads
        As for `read_features`.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or a line is not one finite number.
    """
    name, text = read_bytes(path)
    expected = "one label (a finite decimal number) per line"
    _require_single_words(name, text, expected)
    try:
        return parse_rows(name, text, True, resolve_threads(n_threads)).labels
    except SyntaxFailure as error:
        raise _bad_line(name, text, _parts(error)[0], expected) from None


def read_qids(path: StrPath, *, n_threads: int | None = None) -> NDArray[Any]:
    """Read a qid file: the query of each row.

    Parameters
    ----------
    path, n_threads
        As for `read_features`.

    Returns
    -------
    ndarray of shape (n_rows,)
        int64 if every id is an integer, strings otherwise.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or a line is not one word.
    """
    name, text = read_bytes(path)
    expected = "one query id (an integer or a word) per line"
    _require_single_words(name, text, expected)
    lines = _with_prefix(text, _row_starts(text), b"0 qid:")
    try:
        qid = parse_rows(name, lines, True, resolve_threads(n_threads)).qid
    except SyntaxFailure as error:
        raise _bad_line(name, text, _parts(error)[0], expected) from None
    assert qid is not None
    return qid


def write_features(path: StrPath, X: Any) -> None:
    """Write a feature file, whole or not at all.

    Zeros are not written, so a file may seem to have fewer columns.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard output.
    X : array-like or sparse matrix of shape (n_rows, n_features)

    Raises
    ------
    ValueError
        If X is not a matrix of finite numbers.
    OutputError
        If the file cannot be written.
    """
    X = two_dimensional(X)
    columns = Columns(labels=np.zeros(X.shape[0]), qid=None, cost=None, comments=None)
    with atomic_write(path, "wb") as file:
        for text in format_rows(X, columns, zero_based=True):
            lines = re.sub(rb"^0 ", b"", text, flags=re.MULTILINE)
            file.write(re.sub(rb"^0$", b"0:0", lines, flags=re.MULTILINE))


def write_labels(path: StrPath, labels: ArrayLike) -> None:
    """Write a label file, whole or not at all, with numbers that read back the same.

    Raises
    ------
    ValueError
        If a label is not finite.
    OutputError
        If the file cannot be written.
    """
    write_scores(path, finite_column(labels, "labels", np.size(labels)))


def write_qids(path: StrPath, qid: ArrayLike) -> None:
    """Write a qid file, whole or not at all.

    Raises
    ------
    ValueError
        If an id is not a word without white space and ``#``.
    OutputError
        If the file cannot be written.
    """
    words = encode_qid(qid, np.size(qid))
    with atomic_write(path, "wb") as file:
        file.write(b"".join(word + b"\n" for word in words))


def _row_starts(text: Bytes) -> NDArray[np.int64]:
    """Return where the first word of each row is."""
    starts: NDArray[np.int64] = np.concatenate([[0], np.flatnonzero(text == ord("\n")) + 1])
    starts = starts[starts < len(text)]
    buffer = text.data
    keep = np.ones(len(starts), dtype=bool)
    for k in np.flatnonzero(np.isin(text[starts], list(b" \t\r\n#"))).tolist():
        begin = int(starts[k])
        keep[k] = _NO_ROW.match(buffer, begin) is None
        starts[k] = _end(_BLANKS, buffer, begin)
    kept: NDArray[np.int64] = starts[keep]
    return kept


def _end(pattern: re.Pattern[bytes], buffer: memoryview, begin: int) -> int:
    match = pattern.match(buffer, begin)
    return begin if match is None else match.end()


def _with_prefix(text: Bytes, starts: NDArray[np.int64], prefix: bytes) -> Bytes:
    """Insert a prefix at each start."""
    letters = np.frombuffer(prefix, np.uint8)
    inserted = np.insert(text, np.repeat(starts, len(letters)), np.tile(letters, len(starts)))
    return np.ascontiguousarray(inserted)


def _check_indices(name: str, text: Bytes, starts: NDArray[np.int64]) -> None:
    """Require indices to ascend in each row of a text that the SVMlight parser has accepted.

    That parser takes features in any order, and other things than features.
    """
    for begin, end in _blocks(starts, len(text)):
        block = text[begin:end]
        colons, line = _colons(block)
        index = np.zeros(len(colons), dtype=np.int64)
        number = np.ones(len(colons), dtype=bool)
        for k in range(_INDEX_DIGITS):
            digit = block.take(colons - 1 - k, mode="clip") - np.uint8(ord("0"))
            if k == 0 and (digit > 9).any():
                bad = int(colons[np.argmax(digit > 9)])
                raise _bad_index(name, text, begin + bad, "index:value")
            number &= (digit <= 9) & (colons > k)
            if not number.any():
                break
            index += np.where(number, digit, 0).astype(np.int64) * 10**k
        descents = np.flatnonzero((line[1:] == line[:-1]) & (index[1:] <= index[:-1]))
        if len(descents):
            k = int(descents[0])
            expected = f"a feature above {index[k]}, as features must ascend"
            raise _bad_index(name, text, begin + int(colons[k + 1]), expected)


def _blocks(starts: NDArray[np.int64], n_bytes: int) -> Iterator[tuple[int, int]]:
    """Cut a text, before rows, into pieces of which temporary arrays are small."""
    begin = 0
    while begin < n_bytes:
        k = int(np.searchsorted(starts, begin + _BLOCK_BYTES))
        end = int(starts[k]) if k < len(starts) else n_bytes
        yield begin, end
        begin = end


def _colons(block: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the colons outside comments, and the line of each."""
    colons = np.flatnonzero(block == ord(":"))
    newlines = np.flatnonzero(block == ord("\n"))
    line = np.searchsorted(newlines, colons)
    hashes = np.flatnonzero(block == ord("#"))
    if len(hashes):
        line_start = np.concatenate([[-1], newlines])[line]
        last_hash = np.concatenate([[-1], hashes])[np.searchsorted(hashes, colons)]
        outside = last_hash <= line_start
        colons, line = colons[outside], line[outside]
    return colons, line


def _bad_index(name: str, text: Bytes, colon: int, expected: str) -> DataError:
    before = text[:colon]
    line_start = int(np.max(np.flatnonzero(before == ord("\n")), initial=-1)) + 1
    words = _TOKEN.finditer(text.data, line_start)
    word = next(word for word in words if word.end() > colon)
    line = 1 + int(np.count_nonzero(before == ord("\n")))
    column = word.start() - line_start + 1
    found = _shown(word.group())
    return DataError(f"{name}, line {line}, column {column}: expected {expected}, found {found}")


def _require_single_words(name: str, text: Bytes, expected: str) -> None:
    match = _SECOND_WORD.search(text.data)
    if match is not None:
        line = 1 + int(np.count_nonzero(text[: match.start()] == ord("\n")))
        raise _bad_line(name, text, line, expected)


def _bad_line(name: str, text: Bytes, line: int, expected: str) -> DataError:
    newlines = np.flatnonzero(text == ord("\n"))
    begin = 0 if line == 1 else int(newlines[line - 2]) + 1
    match = _LINE.match(text.data, begin)
    found = _shown(match.group().strip(b" \t\r") if match else b"")
    return DataError(f"{name}, line {line}: expected {expected}, found {found}")


def _shown(found: bytes) -> str:
    return repr(found[:40].decode("ascii", "backslashreplace") + "..." * (len(found) > 40))


def _parts(error: SyntaxFailure) -> tuple[int, int, str]:
    match = _PLACE.fullmatch(str(error))
    assert match is not None
    return int(match[1]), int(match[2]), match[3]
