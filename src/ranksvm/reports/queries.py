"""The queries that are ranked best and worst, opened to their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.evaluation import Evaluation
from .layout import Section, heading, opening, paragraph, table
from .markup import Markup
from .subjects import Sample
from .texts import counted, fitted, measured, number

_QUERIES = 5
_ROWS = 10
_BEST = 5  # rows of the best labels that stand below these

Why = Callable[[int], str]


def queries(sample: Sample, evaluation: Evaluation, why: Why | None) -> Section:
    """Return the worst and the best queries by the first metric.

    Parameters
    ----------
    sample : Sample
    evaluation : Evaluation
    why : callable, optional
        Tells of a row what adds most to its score.
    """
    name, values = next(iter(evaluation.per_query.items()))
    known = np.flatnonzero(~np.isnan(values) & sample.has_pairs)
    pairs = sample.pairs_of_queries[known]
    order = known[np.lexsort((-pairs, values[known]))]
    n = min(_QUERIES, max(1, len(order) // 2))
    best_first = known[np.lexsort((-pairs, -values[known]))]
    content = [
        paragraph(
            f"By {name}; of equal ones, those with the most pairs. A query opens to the first "
            f"{_ROWS} rows of its ranking, and to the rows of its best label below these."
        )
    ]
    chosen = [("Worst", order[:n]), ("Best", best_first[:n] if len(order) > 1 else order[:0])]
    for title, some in chosen:
        if len(some):
            content.append(heading(f"{title} {counted(len(some), 'query', 'queries')}"))
        content += [_opened(sample, int(q), f"{name} {measured(values[q])}", why) for q in some]
    return Section("queries", "Queries", content)


def _opened(sample: Sample, query: int, value: str, why: Why | None) -> Markup:
    places = sample.groups.rows(query, query + 1)
    rows = np.arange(len(sample.labels))[places]
    ranking = rows[np.argsort(-sample.scores[rows], kind="stable")]
    name = fitted(sample.query_names[query])
    header = ["Row", "Rank", "Label", "Score"] + ([] if why is None else ["What adds most"])
    body = [_cells(sample, int(row), rank, why) for rank, row in _shown(sample, ranking)]
    summary = f"{name}: {value}, {counted(len(rows), 'row')}"
    return opening(
        summary, table(f"Rows of {name}", header, body, kind=None if why is None else "told")
    )


def _shown(sample: Sample, ranking: NDArray[Any]) -> list[tuple[int, int]]:
    """Return ranks and rows: the first of a ranking, and the best of the others."""
    labels = sample.labels[ranking]
    is_best = np.flatnonzero(labels == labels.max())
    places = [*range(min(_ROWS, len(ranking))), *is_best[is_best >= _ROWS][:_BEST].tolist()]
    return [(place + 1, int(ranking[place])) for place in places]


def _cells(sample: Sample, row: int, rank: int, why: Why | None) -> list[str]:
    cells = [
        fitted(sample.row_name(row)),
        number(rank),
        number(float(sample.labels[row])),
        number(float(sample.scores[row])),
    ]
    return cells if why is None else [*cells, why(row)]
