"""How far the scores of each label lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics.pairs import labels_and_scores
from ..pairs.queries import QueryGroups
from .figures import BLUE, legend_above, new_axes
from .predictions import predictions

Vector = NDArray[np.float64]
_ROW_HEIGHT = 0.5  # inches
_RIDGE = 0.85  # height of a histogram; rows are 1 apart


class ScoreDistributionDisplay:
    """Histograms of the scores of each relevance label, one above the other.

    Each histogram is as high as the others; the number of its rows stands beside it. Below it, a
    bar spans the middle half of the scores, with a mark at the median.

    Parameters
    ----------
    y, scores : array-like of shape (n_samples,)
        Labels and scores.
    centered : bool, default=False
        Whether the scores are without the means of their queries.
    n_labels : int, default=10
        If there are more distinct labels, they are put into this many intervals, with
        about as many rows in each.

    Attributes
    ----------
    labels_ : list of str
        The labels or intervals, ascending.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    histograms_ : list of matplotlib StepPatch
        For each label.
    medians_ : matplotlib Line2D
    """

    labels_: list[str]
    ax_: Any
    figure_: Any
    histograms_: list[Any]
    medians_: Any

    def __init__(
        self, y: ArrayLike, scores: ArrayLike, *, centered: bool = False, n_labels: int = 10
    ) -> None:
        self.y, self.scores = labels_and_scores(y, scores)
        self.centered = centered
        self.n_labels = n_labels

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        **kwargs: Any,
    ) -> ScoreDistributionDisplay:
        """Draw the scores of a fitted ranker; other keywords as of `from_predictions`.

        Parameters
        ----------
        estimator : fitted ranker or pipeline
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,) or str, optional
            Query ids, or the column of X that has them.
        """
        scores, ids = predictions(estimator, X, qid)
        return cls.from_predictions(y, scores, ids, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        n_labels: int = 10,
        ax: Any = None,
    ) -> ScoreDistributionDisplay:
        """Draw given scores.

        Parameters
        ----------
        y, scores : array-like of shape (n_samples,)
            Labels and scores.
        qid : array-like of shape (n_samples,), optional
            Query ids. If there are several queries, the mean of its query is taken from each score,
            since scores compare within a query only.
        n_labels : int, default=10
            If there are more distinct labels, they are put into this many intervals.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ScoreDistributionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If lengths differ, there are no rows, or a label or score is not finite.
        """
        labels, values = labels_and_scores(y, scores)
        groups = QueryGroups.from_qid(qid, len(labels))
        several = groups.n_queries > 1
        if several:
            values = _centered(values, groups)
        return cls(labels, values, centered=several, n_labels=n_labels).plot(ax)

    def plot(self, ax: Any = None) -> ScoreDistributionDisplay:
        """Draw the histograms, with bins by the number of rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ScoreDistributionDisplay
            This object, with ``ax_``, ``figure_``, ``histograms_``, ``medians_`` and ``labels_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are no rows, or `n_labels` is less than 2.
        """
        parts = self._parts()
        ax = new_axes(1.5 + _ROW_HEIGHT * max(len(parts), 3)) if ax is None else ax
        first, last = _range(self.scores)
        self.labels_, self.histograms_ = [label for label, _ in parts], []
        for k, (_, part) in enumerate(parts):
            counts, edges = np.histogram(part, _n_bins(part), (first, last))
            heights = k + _RIDGE * counts / max(counts.max(), 1)
            self.histograms_.append(
                ax.stairs(heights, edges, baseline=k, fill=True, color=BLUE, alpha=0.45)
            )
        self._mark_quartiles(ax, [part for _, part in parts])
        ticks = [f"{label}\nn = {len(part):,}" for label, part in parts]
        ax.set_yticks(np.arange(len(parts)) + _RIDGE / 2, ticks)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(-0.25, len(parts))
        ax.set_xlim(first, last)
        ax.set_ylabel("label")
        ax.set_xlabel(self._score_label(first, last))
        ax.grid(True, axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark_quartiles(self, ax: Any, parts: list[Vector]) -> None:
        low, median, high = np.array([np.quantile(part, [0.25, 0.5, 0.75]) for part in parts]).T
        places = np.arange(len(parts))
        ax.hlines(places, low, high, color="0.2", linewidth=2.5, label="middle half")
        (self.medians_,) = ax.plot(
            median, places, "o", color="white", markeredgecolor="0.1", markersize=6, label="median"
        )

    def _score_label(self, first: float, last: float) -> str:
        beyond = int(((self.scores < first) | (self.scores > last)).sum())
        means = " less the mean of its query" if self.centered else ""
        rest = f" ({beyond:,} beyond the edges)" if beyond else ""
        return f"score{means}{rest}"

    def _parts(self) -> list[tuple[str, Vector]]:
        """Return each label or interval with its scores."""
        if self.n_labels < 2:
            raise InputError(f"n_labels must be at least 2, not {self.n_labels}")
        if not len(self.y):
            raise InputError("there are no rows to draw")
        distinct, place, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        if len(distinct) <= self.n_labels:
            intervals = [(k, k) for k in range(len(distinct))]
        else:
            intervals = _intervals(counts, self.n_labels)
        parts = []
        for first, last in intervals:
            ends = dict.fromkeys(_shown(float(distinct[k])) for k in (first, last))
            parts.append((" to ".join(ends), self.scores[(place >= first) & (place <= last)]))
        return parts


def _centered(values: Vector, groups: QueryGroups) -> Vector:
    """Subtract from each value the mean of its query."""
    order = np.arange(len(values)) if groups.order is None else groups.order
    first = groups.indptr[:-1]
    # Scores that are all equal become zeros, not rounding errors.
    shifted: Vector = values - groups.per_row(values[order[first]])
    means = np.add.reduceat(shifted[order], first) / np.diff(groups.indptr)
    centered: Vector = shifted - groups.per_row(means)
    return centered


def _intervals(counts: NDArray[np.int64], n: int) -> list[tuple[int, int]]:
    """Cut labels with these numbers of rows into at most n intervals, as even as they can be.

    A label with more rows than an interval should have stays by itself.
    """
    ends = np.cumsum(counts)
    first, done, intervals = 0, 0, []
    for left in range(n, 0, -1):
        quota = (ends[-1] - done) / left
        last = int(np.searchsorted(ends, done + quota))
        if last > first and counts[last] > quota:
            last -= 1
        intervals.append((first, last))
        first, done = last + 1, ends[last]
        if first == len(counts):
            break
    return intervals


def _shown(label: float) -> str:
    return f"{label:.0f}" if label.is_integer() and abs(label) < 1e6 else f"{label:.4g}"


def _range(scores: Vector) -> tuple[float, float]:
    """Return ends with all scores between, or the middle 99 % and some more if others are far."""
    low, high = np.quantile(scores, [0.005, 0.995])
    far = high / 2 - low / 2
    first, last = max(scores.min(), low - far), min(scores.max(), high + far)
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _n_bins(scores: Vector) -> int:
    """Return an odd number, so that scores that are all equal stand in the middle of a bin."""
    return 1 + 2 * int(np.clip(1.5 * np.cbrt(len(scores)), 5, 30))
