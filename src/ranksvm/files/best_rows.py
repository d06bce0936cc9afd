"""CSV files of the best rows of each query: ``qid,rank,docid,score``, or ``row`` for ``docid``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..models.ranking import ranked
from .atomic import open_output
from .source import StrPath


class Scored(NamedTuple):
    """Rows of whole queries, and their scores."""

    qid: NDArray[Any] | None
    docids: Sequence[str] | None
    scores: NDArray[np.float64]


def write_best(path: StrPath, parts: Iterable[Scored], top: int) -> None:
    """Write the best rows of each query, whole or not at all.

    Rows are told by their documents if they have them, else by their numbers, counted from zero.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    first_row = 0
    with open_output(path) as file:
        for part in parts:
            if first_row == 0:
                title = "row" if part.docids is None else "docid"
                names = ["qid", "rank", title, "score"]
                file.write((",".join(names[part.qid is None :]) + "\n").encode())
            file.write(_lines(part, top, first_row))
            first_row += len(part.scores)


def _lines(part: Scored, top: int, first_row: int) -> bytes:
    best = ranked(part.scores, part.qid, top)
    rows = best.rows.tolist()
    titles = [first_row + row for row in rows]
    if part.docids is not None:
        titles = [part.docids[row] for row in rows]
    columns: list[list[Any]] = [best.ranks.tolist(), titles, best.scores.tolist()]
    if best.qid is not None:
        columns.insert(0, best.qid.tolist())
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
    return text.getvalue().encode("utf-8", "surrogateescape")
