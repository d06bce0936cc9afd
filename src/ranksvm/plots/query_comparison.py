"""On which queries one model is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics import Conventions, paired_randomization_test, parse_metric
from ..metrics.evaluation import measure
from .averages import require_defined
from .figures import (
    BLUE,
    VERMILLION,
    legend_above,
    new_axes,
    shortened,
    shown_label,
    tick_whole_numbers,
)
from .predictions import predictions

Vector = NDArray[np.float64]


class QueryComparisonDisplay:
    """Difference of two models in a metric, query by query, from wins to losses.

    Parameters
    ----------
    differences : array-like of shape (n_queries,)
        By query, how much better the first model is; NaN where that is not defined.
    metric : str, default="score"
        What was measured.
    names : sequence of two str
        What to call the models.
    p_value : float, optional
        Of a test whether they differ.

    Attributes
    ----------
    n_wins_, n_ties_, n_losses_ : int
        Of the first model.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    wins_, losses_ : matplotlib StepPatch
    """

    ax_: Any
    figure_: Any
    wins_: Any
    losses_: Any

    def __init__(
        self,
        differences: ArrayLike,
        *,
        metric: str = "score",
        names: Sequence[str] = ("first", "second"),
        p_value: float | None = None,
    ) -> None:
        self.differences = np.asarray(differences, dtype=float)
        self.metric = metric
        self.names = names
        self.p_value = p_value

    @classmethod
    def from_estimators(
        cls,
        first: Any,
        second: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        **kwargs: Any,
    ) -> QueryComparisonDisplay:
        """Compare two fitted rankers; other keywords as of `from_predictions`.

        Parameters
        ----------
        first, second : fitted rankers or pipelines
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,) or str, optional
            Query ids, or the column of X that has them.
        """
        (a, ids), (b, _) = (predictions(model, X, qid) for model in (first, second))
        return cls.from_predictions(y, a, b, ids, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        first: ArrayLike,
        second: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        metric: str = "ndcg@10",
        preset: str | Conventions | None = None,
        docids: Sequence[Any] | NDArray[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        names: Sequence[str] = ("first", "second"),
        ax: Any = None,
    ) -> QueryComparisonDisplay:
        """Compare two models by their scores, and test whether their means differ.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        first, second : array-like of shape (n_samples,)
            Scores.
        qid : array-like of shape (n_samples,), optional
            Query ids; one query by default.
        metric, preset, docids, sample_weight
            As for `ranksvm.evaluate`. Where less is better, differences are turned round.
        names : sequence of two str
            What to call the models.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        QueryComparisonDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the metric is defined in no query, or as `ranksvm.evaluate`.
        """
        sign = 1 if parse_metric(metric).greater_is_better else -1

        def goodness(scores: ArrayLike) -> Vector:
            evaluation = measure(
                y, scores, qid, metric, preset=preset, docids=docids, sample_weight=sample_weight
            )
            return sign * evaluation.per_query[metric]

        a, b = goodness(first), goodness(second)
        require_defined(metric, a)
        p_value = paired_randomization_test(a, b, random_state=0)
        return cls(a - b, metric=metric, names=names, p_value=p_value).plot(ax)

    def plot(self, ax: Any = None) -> QueryComparisonDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        QueryComparisonDisplay
            This object, with ``ax_``, ``figure_``, ``wins_``, ``losses_`` and the numbers.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes() if ax is None else ax
        defined = self.differences[~np.isnan(self.differences)]
        ordered = -np.sort(-defined)
        edges = np.arange(len(ordered) + 1)
        self.n_wins_, self.n_losses_ = int((ordered > 0).sum()), int((ordered < 0).sum())
        self.n_ties_ = len(ordered) - self.n_wins_ - self.n_losses_
        first, second = map(shown_label, self.names)
        wins, losses = np.maximum(ordered, 0), np.minimum(ordered, 0)
        label = f"{first} better: {self.n_wins_:,}"
        self.wins_ = ax.stairs(wins, edges, fill=True, color=BLUE, label=label)
        label = f"{second} better: {self.n_losses_:,}"
        self.losses_ = ax.stairs(losses, edges, fill=True, color=VERMILLION, label=label)
        if self.n_ties_:
            ties = [self.n_wins_, self.n_wins_ + self.n_ties_]
            ax.plot(ties, [0, 0], color="0.5", linewidth=3, label=f"equal: {self.n_ties_:,}")
        ax.axhline(0, color="0.3", linewidth=0.8)
        tick_whole_numbers(ax)
        ax.set_xlim(0, max(len(ordered), 1))
        n_without = len(self.differences) - len(ordered)
        without = f"; {n_without:,} have no value" if n_without else ""
        ax.set_xlabel(f"queries, sorted by advantage{without}")
        ax.set_ylabel(f"advantage in {self.metric}")
        ax.grid(True, axis="y", alpha=0.3)
        ax.set_axisbelow(True)
        legend_above(ax, self._summary(ordered))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _summary(self, ordered: Vector) -> str:
        if not len(ordered):
            return "no query has a value"
        mean = ordered.mean()
        better = shortened(self.names[0] if mean > 0 else self.names[1])
        summary = f"{better} better by {abs(mean):.3g} on average" if mean else "equal on average"
        if self.p_value is None:
            return summary
        return f"{summary}\np = {self.p_value:.2g} (paired randomisation test)"
