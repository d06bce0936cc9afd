"""What a model goes by: weights or curves of features, and what each feature is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..explaining.contributions import additive_model, feature_scores
from ..explaining.importance import losses
from ..linear.occurring import Columns
from ..metrics.bootstrap import bootstrap_interval
from ..models import LinearModel
from ..models.effects import effect_curves
from ..pairs.queries import QueryGroups
from ..records import record
from .charts import Bar, bar_chart, curve
from .features import FeatureSummary
from .layout import Section, figures, paragraph, table
from .markup import Markup
from .quality import n_samples
from .subjects import Sample, Subject
from .texts import NONE, counted, fitted, interval, number, signed

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

MOST = 20  # features
_CURVES = 9
_DRAWN_ROWS = 5000  # that curves span
_TOLD = 3  # features of a row

Naming = Callable[[int], str]


@record
class Shown:
    """The features that scores vary with most.

    Attributes
    ----------
    features : ndarray of int
        From the largest spread down.
    spread : ndarray
        The standard deviation of what each adds to scores, within queries.
    added : ndarray of shape (n_samples, number of features)
        What each adds to the score of each row, less the mean of its query.
    """

    features: NDArray[np.integer]
    spread: Vector
    added: Matrix

    @classmethod
    def of(cls, subject: Subject, sample: Sample, summary: FeatureSummary) -> Shown:
        """Find them.

        Raises
        ------
        ValueError
            If scores are no sum of what each feature adds.
        """
        model = additive_model(subject.model)
        if model.maps:
            added = feature_scores(model, sample.X, sample.qid)
            features: NDArray[np.integer] = np.arange(added.shape[1])
        else:
            features = _candidates(model, summary)
            columns = sample.X[:, features]
            columns = columns.toarray() if hasattr(columns, "toarray") else columns
            added = columns.astype(np.float64) * model.weights.at(
                Columns(model.n_features, features)
            )
        added = _centred(added, sample.groups)
        size = np.abs(added).max(axis=0, initial=0.0)
        size[size == 0] = 1.0
        spread = size * (added / size).std(axis=0)  # whose squares do not overflow
        order = np.argsort(-spread, kind="stable")
        order = order[spread[order] > 0][:MOST]
        return cls(features[order], spread[order], added[:, order])

    def why(self, name: Naming, row: int) -> str:
        """Return what adds most to the score of a row, of the features that are shown."""
        added = self.added[row]
        order = np.argsort(-np.abs(added), kind="stable")[:_TOLD]
        told = [
            f"{fitted(name(int(self.features[k])), 20)} {added[k]:+.3g}" for k in order if added[k]
        ]
        return ", ".join(told)


def weights(
    subject: Subject, sample: Sample, shown: Shown, summary: FeatureSummary, metric: str
) -> list[Section]:
    """Return the sections on weights, or curves, and on importance."""
    name, model = subject.name, additive_model(subject.model)
    if model.maps:
        found = _curves(model, sample, shown, name)
    else:
        found = _weights(model, shown, name, summary)
    return [
        Section("weights", "Weights and effects", found),
        Section("importance", "Importance", _importance(sample, shown, name, metric)),
    ]


def no_weights(why: str) -> list[Section]:
    """Return the section of a model whose scores are no sum."""
    return [
        Section("weights", "Weights and effects", [paragraph(f"Not shown: {why}.", class_="note")])
    ]


def _candidates(model: LinearModel, summary: FeatureSummary) -> NDArray[np.integer]:
    """Return the features with the largest spread over all rows: within queries it is no larger."""
    features, values = model.weights.nonzero()
    places = summary.places(features)
    spread = np.abs(values) * np.where(places < 0, 0.0, summary.deviation[places])
    largest = np.argsort(-spread, kind="stable")[: 3 * MOST]
    return np.sort(features[largest[spread[largest] > 0]])


def _centred(added: Matrix, groups: QueryGroups) -> Matrix:
    """Return values less the means of their queries."""
    by_place = added if groups.order is None else added[groups.order]
    totals = np.add.reduceat(by_place, groups.indptr[:-1], axis=0)
    means = totals / np.diff(groups.indptr)[:, np.newaxis]
    centred: Matrix = added - means[groups.numbers]
    return centred


def _weights(
    model: LinearModel, shown: Shown, name: Naming, summary: FeatureSummary
) -> list[Markup]:
    if not len(shown.features):
        return [paragraph("No feature changes a ranking: all weights are zero.", class_="note")]
    coef = model.weights.at(Columns(model.n_features, shown.features))
    deviation = summary.deviation[summary.places(shown.features)]
    rows = [
        (fitted(name(k)), number(weight), number(one), number(weight * one), number(spread))
        for k, weight, one, spread in zip(
            shown.features.tolist(),
            coef.tolist(),
            deviation.tolist(),
            shown.spread.tolist(),
            strict=True,
        )
    ]
    header = ["Feature", "Weight", "Deviation", "Product", "Spread"]
    lengths = np.sign(coef) * shown.spread
    bars = [
        Bar(name(k), float(value), f"{value:+.3g}")
        for k, value in zip(shown.features.tolist(), lengths, strict=True)
    ]
    title = "Spread of scores by feature, with the sign of the weight"
    told = paragraph(
        "The deviation is that of the feature over all rows, the spread that of what it adds to "
        "scores within queries."
    )
    chart = bar_chart(title, _largest(bars), bars)
    return [
        _of_how_many(shown, model.n_features),
        figures(chart, table("Weights", header, rows)),
        told,
    ]


def _of_how_many(shown: Shown, n_features: int) -> Markup:
    return paragraph(
        f"The {counted(len(shown.features), 'feature')} that scores vary with most within queries, "
        f"of {number(n_features)}."
    )


def _largest(bars: Sequence[Bar]) -> str:
    told = ", ".join(f"{bar.name} {bar.shown}" for bar in bars[:3])
    return f"The largest are {told}." if bars else ""


def _curves(model: LinearModel, sample: Sample, shown: Shown, name: Naming) -> list[Markup]:
    """Return what the largest features add, by their values."""
    step = -(-len(sample.labels) // _DRAWN_ROWS)
    X = None if model.needs_queries else sample.X[::step].astype(np.float64)
    values, effects = effect_curves(model, X, n_points=101)
    drawn = []
    features = shown.features[:_CURVES]
    effects = effects[:, features] - effects[:, features].mean(axis=0)
    reach = 1.05 * float(np.abs(effects).max(initial=0.0)) or 1.0
    for k, effect in zip(features.tolist(), effects.T, strict=True):
        low, high = float(effect.min()), float(effect.max())
        told = f"It adds from {number(low, 3)} to {number(high, 3)} to a score."
        title = fitted(name(k), 30)
        labels, points = (title, "adds to the score"), (values[:, k].tolist(), effect.tolist())
        drawn.append(curve(title, told, *points, labels, ends=(-reach, reach), height=160.0))
    scaled = "Values are those within the query, from 0 to 1. " if model.needs_queries else ""
    return [
        _of_how_many(shown, model.n_features),
        paragraph(
            f"{scaled}Where a curve rises, higher values rank higher; its level means nothing."
        ),
        figures(*drawn),
    ]


def _importance(sample: Sample, shown: Shown, name: Naming, metric: str) -> list[Markup]:
    if not len(shown.features):
        return [paragraph(f"No feature changes {metric}.")]
    lost, baseline = losses(sample.scores, shown.added, sample.labels, sample.qid, metric)
    low, high = _ends(lost)
    mean = np.nanmean(lost, axis=0)
    bars = []
    for k in np.argsort(-mean, kind="stable").tolist():
        ends = (None, None) if np.isnan(low[k]) else (float(low[k]), float(high[k]))
        bars.append(Bar(name(int(shown.features[k])), float(mean[k]), signed(mean[k]), *ends))
    rows = [(fitted(bar.name), bar.shown, _between(bar)) for bar in bars]
    told = (
        f"What {metric} loses of {baseline:.4f} when one feature adds nothing to scores, and "
        "nothing is trained again. Of features that tell the same, each alone seems worth little."
    )
    title = f"Loss of {metric} without each feature"
    header = ["Feature", f"Loss of {metric}", "95 % interval"]
    pictures = bar_chart(title, _largest(bars), bars), table(title, header, rows)
    return [paragraph(told), figures(*pictures)]


def _ends(lost: Matrix) -> tuple[Vector, Vector]:
    """Return intervals of losses, NaN where there is one query alone."""
    if np.count_nonzero(~np.isnan(lost).any(axis=1)) < 2:
        return np.full(lost.shape[1], np.nan), np.full(lost.shape[1], np.nan)
    return bootstrap_interval(lost, n_samples(len(lost)))


def _between(bar: Bar) -> str:
    return NONE if bar.low is None or bar.high is None else interval(bar.low, bar.high, "+.4f")
