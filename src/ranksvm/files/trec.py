"""TREC run files, which trec_eval and its relatives read: ``qid Q0 docid rank score tag``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .atomic import atomic_write
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
    values = np.asarray(scores, dtype=np.float64)
    queries = _words("qid", np.asarray(qid).tolist(), len(values))
    documents = _words("docid", docids, len(values))
    _words("tag", [tag], 1)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"the score of row {bad[0] + 1} is {values[bad[0]]}: it must be finite")
    numbers = values.tolist()
    rows_of: dict[str, list[int]] = {}
    for row, query in enumerate(queries):
        rows_of.setdefault(query, []).append(row)
    for query, rows in rows_of.items():
        _require_distinct(query, [documents[row] for row in rows])
    with atomic_write(path) as file:
        for query, rows in rows_of.items():
            file.writelines(_ranking(query, rows, documents, numbers, tag))


def _ranking(
    query: str, rows: list[int], documents: list[str], scores: list[float], tag: str
) -> Iterator[str]:
    # Bytes of UTF-8 compare as trec_eval compares them, and as the characters they stand for do.
    rows.sort(key=lambda row: (scores[row], documents[row]), reverse=True)
    for rank, row in enumerate(rows, 1):
        yield f"{query} Q0 {documents[row]} {rank} {scores[row]!r} {tag}\n"


def _words(name: str, values: Sequence[Any], n_rows: int) -> list[str]:
    if len(values) != n_rows:
        raise ValueError(f"there are {n_rows} scores but {len(values)} values of {name}")
    words = [str(value) for value in values]
    for row, word in enumerate(words, 1):
        if not _WORD.fullmatch(word):
            raise ValueError(
                f"the {name} {word!r} of row {row} must be one word: blanks separate columns"
            )
    return words


def _require_distinct(query: str, documents: list[str]) -> None:
    seen = set()
    for document in documents:
        if document in seen:
            raise ValueError(f"query {query} has the document {document!r} twice")
        seen.add(document)
