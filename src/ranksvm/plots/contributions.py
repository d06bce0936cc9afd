"""Why a linear ranker ranks as it does, and what its features are worth, as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..explaining import Contributions, FeatureImportance, explain, explain_pair, feature_importance
from .figures import BLUE, VERMILLION, new_axes, shortened

_BAR_HEIGHT = 0.26  # inches
_MARGIN = 0.12  # of the width, for the numbers at the ends of bars


class PairContributionsDisplay:
    """Why one row is above another, feature by feature: a waterfall.

    From zero, each bar goes on from the end of the one above it, by what its feature adds to the
    difference of the scores; all others are one bar, and the last ends at the difference.

    Parameters
    ----------
    contributions : Contributions
        Of one row, or of which the first is drawn: from `explain_pair` or ``Contributions.pair``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def __init__(self, contributions: Contributions) -> None:
        self.contributions = contributions

    @classmethod
    def from_estimator(
        cls, estimator: Any, first: Any, second: Any, *, top: int = 10, ax: Any = None
    ) -> PairContributionsDisplay:
        """Draw why one row is above another.

        Parameters
        ----------
        estimator, first, second
            As for `ranksvm.explain_pair`.
        top, ax
            As for `plot`.
        """
        return cls(explain_pair(estimator, first, second)).plot(ax, top=top)

    def plot(self, ax: Any = None, *, top: int = 10) -> PairContributionsDisplay:
        """Draw the largest contributions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        top : int, default=10
            How many features have a bar of their own.
        """
        parts = self.contributions.largest(top=top)
        difference = float(self.contributions.differences[0])
        n_others = int(np.count_nonzero(self.contributions.values[0])) - len(parts)
        if n_others > 0:
            rest = difference - sum(value for _, value in parts)
            parts.append((f"{n_others} others", rest))
        values = np.array([value for _, value in parts])
        ends = np.cumsum(values)
        height = 1.4 + _BAR_HEIGHT * len(parts)
        self.ax_ = new_axes(height) if ax is None else ax
        self.figure_ = self.ax_.figure
        places = -np.arange(len(parts))
        colors = np.where(values >= 0, BLUE, VERMILLION)
        self.ax_.barh(places, values, left=ends - values, color=colors, height=0.7)
        for place, end in zip(places[:-1], ends[:-1], strict=True):
            self.ax_.plot([end, end], [place - 1.35, place + 0.35], color="0.6", linewidth=0.8)
        _number_bars(self.ax_, places, values, ends)
        _name_bars(self.ax_, places, [name for name, _ in parts])
        self.ax_.axvline(0, color="0.3", linewidth=0.8)
        self.ax_.set_xlabel(f"difference of the scores, {difference:+.4g} in all")
        return self


class ContributionsDisplay:
    """What the features add to the scores of the rows of a query, against their mean.

    A column for each row, from the best to the worst, and a line for each of the features that
    matter most there.

    Parameters
    ----------
    contributions : Contributions
        Of the rows of a query.
    names : list of str, optional
        Of the rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def __init__(self, contributions: Contributions, names: list[str] | None = None) -> None:
        self.contributions = contributions
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, top: int = 10, n_rows: int = 20, ax: Any = None
    ) -> ContributionsDisplay:
        """Draw the rows of one query.

        Parameters
        ----------
        estimator : LinearModel, or fitted estimator, pipeline or search
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            All rows of the query.
        top, n_rows, ax
            As for `plot`.
        """
        qid = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), dtype=np.int64)
        return cls(explain(estimator, X, qid)).plot(ax, top=top, n_rows=n_rows)

    def plot(self, ax: Any = None, *, top: int = 10, n_rows: int = 20) -> ContributionsDisplay:
        """Draw the best rows and the features that matter most.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        top : int, default=10
        n_rows : int, default=20
            How many rows, from the best on.
        """
        given = self.contributions
        rows = np.argsort(-given.differences, kind="stable")[:n_rows]
        size = np.abs(given.values).mean(axis=0)
        features = np.argsort(-size, kind="stable")[:top]
        features = features[size[features] > 0]
        shown = given.values[np.ix_(rows, features)].T
        self.ax_ = new_axes(1.8 + _BAR_HEIGHT * len(features)) if ax is None else ax
        self.figure_ = self.ax_.figure
        most = float(np.abs(shown).max(initial=0.0)) or 1.0
        image = self.ax_.imshow(shown, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
        self.figure_.colorbar(image, ax=self.ax_, label="adds to the score")
        _name_bars(self.ax_, np.arange(len(features)), [given.feature_names[k] for k in features])
        names = [str(row) for row in rows] if self.names is None else [self.names[r] for r in rows]
        self.ax_.set_xticks(np.arange(len(rows)), [shortened(name) for name in names], rotation=90)
        self.ax_.set_xlabel("rows, best first")
        return self


class FeatureImportanceDisplay:
    """What a ranking loses without each feature, with intervals.

    Parameters
    ----------
    importance : FeatureImportance

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def __init__(self, importance: FeatureImportance) -> None:
        self.importance = importance

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        n_shown: int = 20,
        ax: Any = None,
        **kwargs: Any,
    ) -> FeatureImportanceDisplay:
        """Measure and draw.

        Parameters
        ----------
        estimator, X, y, qid, **kwargs
            As for `ranksvm.feature_importance`.
        n_shown, ax
            As for `plot`.
        """
        found = feature_importance(estimator, X, y, qid, **kwargs)
        return cls(found).plot(ax, n_shown=n_shown)

    def plot(self, ax: Any = None, *, n_shown: int = 20) -> FeatureImportanceDisplay:
        """Draw the most important features, from the top down.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        n_shown : int, default=20
        """
        given = self.importance
        features = given.order()[:n_shown]
        places = -np.arange(len(features))
        self.ax_ = new_axes(1.2 + _BAR_HEIGHT * len(features)) if ax is None else ax
        self.figure_ = self.ax_.figure
        value = given.importance[features]
        ends = np.stack([value - given.low[features], given.high[features] - value])
        self.ax_.barh(places, value, color=BLUE, height=0.7)
        self.ax_.errorbar(value, places, xerr=np.maximum(ends, 0), fmt="none", ecolor="0.2")
        _name_bars(self.ax_, places, [given.feature_names[k] for k in features])
        self.ax_.axvline(0, color="0.3", linewidth=0.8)
        how = "without the feature" if given.kind == "drop" else "with its values shuffled"
        self.ax_.set_xlabel(f"{given.metric} lost {how}, of {given.baseline:.4f}")
        return self


def _name_bars(ax: Any, places: NDArray[np.integer], names: list[str]) -> None:
    ax.set_yticks(places, [shortened(name) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)


def _number_bars(
    ax: Any, places: NDArray[np.integer], values: NDArray[Any], ends: NDArray[Any]
) -> None:
    """Write the values beside the bars, and make room for them."""
    low, high = min(0.0, *(ends - values), *ends), max(0.0, *(ends - values), *ends)
    width = (high - low) or 1.0
    ax.set_xlim(low - _MARGIN * width, high + _MARGIN * width)
    for place, value, end in zip(places, values, ends, strict=True):
        side = 1 if value >= 0 else -1
        ax.annotate(
            f"{value:+.3g}",
            (end, place),
            xytext=(3 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize="small",
        )
