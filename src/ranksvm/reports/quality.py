"""How well a model ranks: metrics with intervals, and how they spread over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..metrics.bootstrap import bootstrap_interval
from ..metrics.evaluation import Evaluation
from ..metrics.names import parse_metrics
from .charts import histogram
from .layout import Section, figures, paragraph, table
from .markup import Markup
from .subjects import METRICS, METRICS_OF_PAIRS, Sample
from .texts import counted, interval, measured, number

Vector = NDArray[np.float64]

_DRAWN = 1e7  # numbers at most, of all bootstrap samples of a metric
_QUANTILES = {"Least": 0.0, "5 %": 0.05, "25 %": 0.25, "Median": 0.5, "75 %": 0.75, "95 %": 0.95}
_BINS = 20


def evaluated(sample: Sample, asked: Sequence[str] | None) -> tuple[Evaluation, str]:
    """Return the metrics that are asked for, or that suit the labels; and what is to be said.

    Raises
    ------
    ValueError
        If one is unknown, does not suit the labels, or is of all queries together.
    """
    if asked is not None:
        parse_metrics(asked)
        pooled = [name for name in asked if name.endswith("_pooled")]
        if pooled or not asked:
            found = pooled[0] if pooled else "none"
            raise InputError(f"a report takes metrics of queries, which {found} is not")
        return sample.measure(sample.scores, tuple(asked)), ""
    try:
        return sample.measure(sample.scores, METRICS), ""
    except ValueError as error:
        told = f"Metrics of graded labels were left out: {error}"
        return sample.measure(sample.scores, METRICS_OF_PAIRS), told


class Intervals(NamedTuple):
    """Ends of intervals by metric, and how many samples they come from; 0 for one query."""

    ends: dict[str, tuple[float, float]]
    n_bootstraps: int


def n_samples(n_queries: int) -> int:
    """Return how many bootstrap samples are drawn: fewer of very many queries."""
    return int(np.clip(_DRAWN / n_queries, 100, 1000))


def intervals_of(per_query: Mapping[str, Vector]) -> Intervals:
    """Return intervals for the means over queries, of all metrics from the same samples."""
    values = np.column_stack(list(per_query.values()))
    n = len(values)
    if n < 2:
        return Intervals(dict.fromkeys(per_query, (float("nan"), float("nan"))), 0)
    low, high = bootstrap_interval(values, n_samples(n))
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return Intervals(dict(zip(per_query, ends, strict=True)), n_samples(n))


def quality(
    evaluation: Evaluation, intervals: Intervals, trained: Evaluation | None, note: str
) -> Section:
    """Return the metrics of the test, beside those of training where these are known."""
    header = ["Metric", "Mean", "95 % interval", "Queries", *_QUANTILES, "Greatest"]
    if trained is not None:
        header.insert(2, "In training")
    rows = []
    for name, values in evaluation.per_query.items():
        cells = [measured(evaluation.mean[name]), interval(*intervals.ends[name])]
        if trained is not None:
            cells.insert(1, measured(trained.mean[name]))
        rows.append((name, *cells, *_spread(values)))
    told = "One query alone has no interval: the bootstrap draws queries."
    if intervals.n_bootstraps:
        samples = number(intervals.n_bootstraps)
        told = f"Intervals are from {samples} bootstrap samples of the queries."
    content = [table("Metrics over queries", header, rows), paragraph(told)]
    if note:
        content.append(paragraph(note, class_="note"))
    content.append(figures(*map(_histogram, *_shown(evaluation))))
    return Section("quality", "Quality", content)


def _spread(values: Vector) -> list[str]:
    known = values[~np.isnan(values)]
    if not len(known):
        return ["0"] + [measured(float("nan"))] * (len(_QUANTILES) + 1)
    quantiles = np.quantile(known, [*_QUANTILES.values(), 1.0]).tolist()
    return [number(len(known)), *map(measured, quantiles)]


def _shown(evaluation: Evaluation) -> tuple[list[str], list[Vector]]:
    """Return the metrics that are drawn: the first, and that of all pairs."""
    first = next(iter(evaluation.per_query))
    names = list(dict.fromkeys([first, "pairwise_accuracy"]))
    drawn = [name for name in names if name in evaluation.per_query]
    return drawn, [evaluation.per_query[name] for name in drawn]


def _histogram(name: str, values: Vector) -> Markup:
    known = values[~np.isnan(values)]
    low, high = min([0.0, *known]), max([1.0, *known])
    counts, edges = np.histogram(known, _BINS, (low, high))
    median = float(np.median(known)) if len(known) else float("nan")
    description = (
        f"Of {counted(len(known), 'query', 'queries')}, half have a {name} of at least "
        f"{measured(median)}."
    )
    title = f"{name} of queries"
    return histogram(title, description, edges.tolist(), counts.tolist(), (name, "queries"))
