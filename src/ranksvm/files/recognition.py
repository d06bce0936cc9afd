"""What a file of data is, told by how it begins, and by its name only where that does not tell."""

from __future__ import annotations

import os
import re

from .quoting import shown
from .source import DataError, without_compression

# How the files begin that pyarrow reads, and others that people take for data.
_TABLES = {
    b"PAR1": "parquet",
    b"ARROW1\0\0": "arrow",
    b"\xff\xff\xff\xff": "arrow stream",
}
_OTHERS = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive, as .xlsx and .npz are: unpack it, or save it as CSV or Parquet",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file: save it as Parquet",
    b"\x93NUMPY": "a NumPy array: give it to RankSVM.fit in Python",
    b"SQLite format 3\0": "an SQLite database: save a table of it as CSV",
    b"Obj\x01": "an Avro file: save it as Parquet",
    b"ORC": "an ORC file: save it as Parquet",
    b"FEA1": "a Feather file of version 1: save it as version 2, or as Parquet",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"Rar!": "a rar archive: unpack it",
    b"\x7fELF": "a program",
    b"\x1f\x8b": "compressed by gzip once more: decompress it",
    b"\xff\xfe": "text in UTF-16: save it as UTF-8",
    b"\xfe\xff": "text in UTF-16: save it as UTF-8",
}
_MARKUP = {b"{": "JSON, as models are", b"<": "HTML or XML"}
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x95}\]c(\x8c]")
_TAR = slice(257, 262)
_BY_NAME = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
}
_BINARY = {"parquet": "Parquet", "arrow": "Arrow"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ROW = re.compile(rb"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:\s+\S+:|\s*(?:#|$))")
_FEATURE = re.compile(rb"(?:^|\s)(?:qid|sid|cost|\d+):\S")
_CONTROL = re.compile(rb"[\x00-\x08]")


def kind_of(name: str, start: bytes) -> str:
    """Tell what a file of rows is.

    Parameters
    ----------
    name : str
        Endings count where the content does not tell.
    start : bytes
        How it begins, decompressed.

    Returns
    -------
    {"svmlight", "csv", "parquet", "arrow", "arrow stream"}

    Raises
    ------
    DataError
        If it is none of these, saying what it is.
    """
    for magic, kind in _TABLES.items():
        if _begins(start, magic):
            return kind
    _refuse_others(name, start)
    named = _BY_NAME.get(os.path.splitext(without_compression(name))[1].lower())
    if named in _BINARY:
        found = f"it begins with {shown(start[:16])}" if start else "it is empty"
        raise DataError(f"{name} is no {_BINARY[named]} file, though its name says so: {found}")
    return named if named is not None and not _holds_features(start) else _kind_of_text(start)


def _begins(start: bytes, magic: bytes) -> bool:
    """Tell whether a file begins so, and is no text that happens to."""
    if not start.startswith(magic):
        return False
    is_text = magic.isascii() and magic.decode().isprintable()
    return not is_text or _CONTROL.search(start) is not None


def _refuse_others(name: str, start: bytes) -> None:
    """Refuse what is known to hold no rows."""
    for magic, what in _OTHERS.items():
        if _begins(start, magic):
            raise DataError(f"{name} is {what}")
    for mark, what in _MARKUP.items():
        if start.lstrip().startswith(mark):
            raise DataError(f"{name} is {what}, not data: rows are SVMlight, CSV, TSV or Parquet")
    if _PICKLE.match(start):
        raise DataError(f"{name} is a Python pickle, which is not read: save it as Parquet")
    if start[_TAR] == b"ustar":
        raise DataError(f"{name} is a tar archive: unpack it, and name the files in it")
    if len(start) >= 4 and (start[0:4:2] == b"\0\0") != (start[1:4:2] == b"\0\0"):
        raise DataError(f"{name} is text in UTF-16: save it as UTF-8")


def _first_line(start: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment, without a comment after it."""
    for line in start.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        text = line.partition(b"#")[0].strip()
        if text:
            return text
    return b""


def _holds_features(start: bytes) -> bool:
    return _FEATURE.search(_first_line(start)) is not None


def _kind_of_text(start: bytes) -> str:
    line = _first_line(start)
    is_row = _ROW.match(line) or _FEATURE.search(line)
    return "csv" if not is_row and any(mark in line for mark in b",;\t") else "svmlight"
