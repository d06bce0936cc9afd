"""How good a ranking is down to each depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics import Conventions
from ..metrics.evaluation import measure
from ..pairs.queries import QueryGroups
from .averages import errors_or_nan, mean_label, require_defined, standard_error
from .figures import curve_style, legend_above, new_axes, tick_whole_numbers
from .predictions import predictions

_LOGARITHMIC_FROM = 50


class MetricAtKDisplay:
    """A metric of the first k ranks, such as nDCG@k, against k.

    The band is one standard error of the mean over queries to either side. Two models are measured
    on the same queries, so that bands say little about their difference: see
    `QueryComparisonDisplay`.

    Parameters
    ----------
    ks : array-like of shape (n_ks,)
    mean : array-like of shape (n_ks,)
        Means over queries.
    standard_error : array-like of shape (n_ks,), optional
        NaN draws no band.
    metric : str, default="ndcg"
        What was measured.
    name : str, optional
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The means.
    band_ : matplotlib PolyCollection or None
        The standard errors.
    """

    ax_: Any
    figure_: Any
    line_: Any
    band_: Any

    def __init__(
        self,
        ks: ArrayLike,
        mean: ArrayLike,
        standard_error: ArrayLike | None = None,
        *,
        metric: str = "ndcg",
        name: str | None = None,
    ) -> None:
        self.ks, self.mean = np.asarray(ks), np.asarray(mean, dtype=float)
        self.standard_error = errors_or_nan(standard_error, len(self.ks))
        self.metric = metric
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | str | None = None,
        **kwargs: Any,
    ) -> MetricAtKDisplay:
        """Draw the curve of a fitted ranker; other keywords as of `from_predictions`.

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
        metric: str = "ndcg",
        max_k: int = 20,
        preset: str | Conventions | None = None,
        docids: Sequence[Any] | NDArray[Any] | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MetricAtKDisplay:
        """Draw the curve of given scores.

        Parameters
        ----------
        y, scores, qid : array-like of shape (n_samples,)
            Labels, scores and query ids; one query by default.
        metric : str, default="ndcg"
            Any that takes a depth: "ndcg", "map", "mrr", "err", "p", "recall".
        max_k : int, default=20
            The greatest depth, or the length of the longest query, if that is less. Beyond 50, the
            scale of k is logarithmic, and not every depth is measured.
        preset, docids
            As for `ranksvm.evaluate`.
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``plot``.

        Returns
        -------
        MetricAtKDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the metric has no depth or is defined in no query, or as `ranksvm.evaluate`.
        """
        labels = np.asarray(y)
        depths = _depths(qid, len(labels), max_k)
        names = [f"{metric}@{k}" for k in depths]
        evaluation = measure(labels, scores, qid, names, preset=preset, docids=docids)
        mean = [evaluation.mean[at_k] for at_k in names]
        require_defined(metric, mean)
        error = [standard_error(evaluation.per_query[at_k]) for at_k in names]
        return cls(depths, mean, error, metric=metric, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> MetricAtKDisplay:
        """Draw the curve; several may share the axes. k is on a logarithmic scale if it is large.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``plot``.

        Returns
        -------
        MetricAtKDisplay
            This object, with ``ax_``, ``figure_``, ``line_`` and ``band_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes() if ax is None else ax
        style = curve_style(ax, len(self.ks), self.name, kwargs)
        (self.line_,) = ax.plot(self.ks, self.mean, **style)
        self.band_ = None
        if np.isfinite(self.standard_error).any():
            low, high = self.mean - self.standard_error, self.mean + self.standard_error
            color = self.line_.get_color()
            self.band_ = ax.fill_between(self.ks, low, high, color=color, alpha=0.15, linewidth=0)
        if self.ks[-1] > _LOGARITHMIC_FROM:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        else:
            tick_whole_numbers(ax)
        ax.set_xlabel("k")
        ax.set_ylabel(mean_label(f"{self.metric}@k", self.standard_error))
        ax.grid(True, alpha=0.3)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _depths(qid: ArrayLike | None, n_rows: int, max_k: int) -> NDArray[np.int64]:
    if max_k < 1:
        raise InputError(f"max_k must be at least 1, not {max_k}")
    longest = int(np.diff(QueryGroups.from_qid(qid, n_rows).indptr).max(initial=1))
    depth = min(max_k, longest)
    if depth <= _LOGARITHMIC_FROM:
        return np.arange(1, depth + 1)
    return np.unique(np.geomspace(1, depth, _LOGARITHMIC_FROM).round().astype(np.int64))
