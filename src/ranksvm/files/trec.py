"""TREC run files, which trec_eval and its relatives read: ``qid Q0 docid rank score tag``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError
from ..pairs.columns import finite_column
from ..pairs.queries import present_ids
from .atomic import open_output
from .quoting import shown
from .source import StrPath

_WORD = re.compile(r"\S+")


def write_trec_run(
    path: StrPath,
    qid: ArrayLike,
    docids: Sequence[str],
    scores: ArrayLike,
    tag: str = "ranksvm",
) -> None:
    """Write a ranking of the documents of each query, whole or not at all.

    Queries come in the order in which they first appear, and in each the documents by falling
    score, those of equal scores by falling docid, which is the order in which trec_eval takes
    them. Ranks count from 1.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard output.
    qid : array-like of shape (n_rows,)
    docids : sequence of n_rows str
        A document must not come twice in a query.
    scores : array-like of shape (n_rows,)
        Written in the shortest form that reads back the same.
    tag : str, default="ranksvm"
        The name of the run.

    Raises
    ------
    ValueError
        If an id or the tag is not one word, a score is not finite, the lengths differ, or a
        document comes twice in a query.
    OutputError
        If the file cannot be written.
    """
    write_trec_parts(path, [(qid, docids, scores)], tag)


def write_trec_parts(
    path: StrPath, parts: Iterable[Any], tag: str = "ranksvm", top: int | None = None
) -> None:
    """Write the same of rows that come some whole queries at a time; the best `top` of each."""
    (tag_word,) = _words("tag", [tag], 1)
    with open_output(path) as file:
        for qid, docids, scores in parts:
            for lines in _rankings(qid, docids, scores, tag_word):
                file.writelines(islice(lines, top))


def _rankings(
    qid: ArrayLike, docids: Sequence[str], scores: ArrayLike, tag: bytes
) -> Iterator[Iterator[bytes]]:
    """Return the lines of each query."""
    values = finite_column(scores, "scores")
    queries = _words("qid", present_ids(qid).tolist(), len(values))
    documents = _words("docid", present_ids(docids, "docids").tolist(), len(values))
    numbers = values.tolist()
    rows_of: dict[bytes, list[int]] = {}
    for row, query in enumerate(queries):
        rows_of.setdefault(query, []).append(row)
    for query, rows in rows_of.items():
        _require_distinct(query, [documents[row] for row in rows])
    return (_ranking(query, rows, documents, numbers, tag) for query, rows in rows_of.items())


def _ranking(
    query: bytes, rows: list[int], documents: list[bytes], scores: list[float], tag: bytes
) -> Iterator[bytes]:
    rows.sort(key=lambda row: (scores[row], documents[row]), reverse=True)
    for rank, row in enumerate(rows, 1):
        score = repr(scores[row]).encode()
        yield b"%b Q0 %b %d %b %b\n" % (query, documents[row], rank, score, tag)


def _words(name: str, values: Sequence[Any], n_rows: int) -> list[bytes]:
    """Return words as bytes, which trec_eval compares; those that are no UTF-8 as they were."""
    if len(values) != n_rows:
        raise InputError(f"there are {n_rows} scores but {len(values)} values of {name}")
    words = [str(value) for value in values]
    for row, word in enumerate(words, 1):
        if not _WORD.fullmatch(word):
            raise InputError(
                f"the {name} {shown(word)} of row {row} must be one word: blanks separate columns"
            )
    return [word.encode("utf-8", "surrogateescape") for word in words]


def _require_distinct(query: bytes, documents: list[bytes]) -> None:
    seen = set()
    for document in documents:
        if document in seen:
            raise InputError(f"query {shown(query)} has the document {shown(document)} twice")
        seen.add(document)
