"""What rows a model was measured on, and trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..lazy import cached_property
from .charts import Bar, bar_chart, histogram
from .features import FeatureSummary
from .layout import Section, figures, heading, paragraph, table
from .markup import Markup
from .subjects import Sample
from .texts import NONE, counted, fitted, number, share, signed

_LABELS = 10
_MOVED = (
    "Moved is how far the mean of the test lies from that of training, in standard deviations of "
    "training."
)
_BINS = 20


class DataSection:
    """The rows of the test, and of training where they are known, side by side."""

    def __init__(self, samples: Sequence[Sample], name: Callable[[int], str]) -> None:
        self._samples, self._name = samples, name

    @cached_property
    def summaries(self) -> list[FeatureSummary]:
        """The features of each sample."""
        return [FeatureSummary.of(sample.X) for sample in self._samples]

    def section(self, features: Sequence[int]) -> Section:
        """Return the section, with these features."""
        header = ["Of the rows", *(sample.name for sample in self._samples)]
        rows = [
            (title, *(value(sample) for sample in self._samples)) for title, value in _ROWS.items()
        ]
        rows += [
            (title, *(value(summary) for summary in self.summaries))
            for title, value in _OF_FEATURES.items()
        ]
        content = [
            table("Rows and queries", header, rows, kind="prose"),
            figures(_labels(self._samples[0]), _sizes(self._samples[0])),
            heading("Scales of features"),
            paragraph(_scales(self.summaries[0])),
            self._table_of(np.asarray(features, dtype=np.int64)),
            *([paragraph(_MOVED)] if len(self._samples) > 1 else []),
        ]
        return Section("data", "Data", content)

    def _table_of(self, features: Any) -> Markup:
        header = ["Feature", "Mean", "Standard deviation", "Least", "Greatest", "Zero"]
        if len(self._samples) > 1:
            header.append("Moved since training")
        first, *others = self.summaries
        n_rows = len(self._samples[0].labels)
        rows = []
        for feature, place in zip(features.tolist(), first.places(features).tolist(), strict=True):
            known = [_moved(feature, first, other) for other in others]
            rows.append((fitted(self._name(feature)), *_numbers(first, place, n_rows), *known))
        caption = f"The {counted(len(rows), 'feature')} that scores vary with most"
        return table(caption, header, rows)


def _numbers(summary: FeatureSummary, place: int, n_rows: int) -> list[str]:
    if place < 0:
        return ["0", "0", "0", "0", "100 %"]
    columns = summary.mean, summary.deviation, summary.low, summary.high
    zeros = share(float(summary.n_zero[place]), n_rows)
    return [*(number(float(column[place])) for column in columns), zeros]


def _moved(feature: int, test: FeatureSummary, train: FeatureSummary) -> str:
    """Return how far the mean has moved, in standard deviations of training."""
    where = np.array([feature])
    a, b = int(test.places(where)[0]), int(train.places(where)[0])
    deviation = float(train.deviation[b]) if b >= 0 else 0.0
    if not deviation:
        return NONE
    mean = float(test.mean[a]) if a >= 0 else 0.0
    return signed((mean - float(train.mean[b])) / deviation, 2)


def _count_with_pairs(sample: Sample) -> str:
    n = len(sample.query_sizes)
    return f"{number(int(sample.has_pairs.sum()))} of {number(n)}"


def _size_range(sample: Sample) -> str:
    sizes = sample.query_sizes
    return (
        f"{number(int(sizes.min()))}, {number(float(np.median(sizes)))}, {number(int(sizes.max()))}"
    )


def _label_range(sample: Sample) -> str:
    values = np.unique(sample.labels)
    return (
        f"{len(values)} different, from {number(float(values[0]))} to {number(float(values[-1]))}"
    )


def _stored(summary: FeatureSummary) -> str:
    n = summary.columns.n_features
    return f"{number(n)}, {number(summary.n_constant)} of them constant"


_ROWS: dict[str, Callable[[Sample], str]] = {
    "Rows": lambda sample: number(len(sample.labels)),
    "Queries": lambda sample: number(len(sample.query_sizes)),
    "Rows of a query: least, median, most": _size_range,
    "Queries that have pairs": _count_with_pairs,
    "Preference pairs": lambda sample: number(sample.n_pairs),
    "Labels": _label_range,
    "Weights of rows": lambda sample: "none" if sample.weights is None else "given",
    "Missing values": lambda sample: "none",
}
_OF_FEATURES: dict[str, Callable[[FeatureSummary], str]] = {"Features": _stored}


def _labels(sample: Sample) -> Markup:
    values, counts = np.unique(sample.labels, return_counts=True)
    if len(values) > _LABELS:
        heights, edges = np.histogram(sample.labels, _BINS)
        description = f"{len(values)} different labels."
        axes = ("label", "rows")
        return histogram("Labels", description, edges.tolist(), heights.tolist(), axes)
    n = len(sample.labels)
    bars = [
        Bar(number(float(value)), float(count), share(count, n))
        for value, count in zip(values, counts.tolist(), strict=True)
    ]
    description = "; ".join(f"{bar.shown} of the rows have the label {bar.name}" for bar in bars)
    return bar_chart("Labels: share of the rows", description, bars)


def _sizes(sample: Sample) -> Markup:
    sizes = sample.query_sizes
    width = int(np.ptp(sizes)) // _BINS + 1
    edges = np.arange(sizes.min(), sizes.max() + width + 1, width) - 0.5
    counts, _ = np.histogram(sizes, edges)
    told = counted(len(sizes), "query", "queries")
    description = f"From {sizes.min():,} to {sizes.max():,} rows, of {told}."
    axes = ("rows of a query", "queries")
    return histogram(
        "Sizes of queries", description, edges.tolist(), counts.tolist(), axes, whole=True
    )


def _scales(summary: FeatureSummary) -> str:
    deviations = summary.deviation[summary.deviation > 0]
    if not len(deviations):
        return "No feature changes from a row to another."
    low, high = float(deviations.min()), float(deviations.max())
    told = (
        f"Standard deviations lie between {number(low, 3)} and {number(high, 3)}, "
        f"{number(high / low, 3)} times as much."
    )
    if high / low > 1e3:
        told += " A penalty sees only the large ones unless training scales the features."
    return told
