"""How well each C ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..linear.grid import RankSVMGrid
from ..metrics import Conventions, parse_metric
from ..metrics.evaluation import measure
from ..models.linear import LinearModel
from .averages import errors_or_nan, mean_label, require_defined, standard_error
from .figures import count_curves, curve_style, legend_above, new_axes


class RegularizationCurveDisplay:
    """Mean score against C, with its standard error, and the C chosen.

    Parameters
    ----------
    Cs, mean : array-like of shape (n_Cs,)
    standard_error : array-like of shape (n_Cs,), optional
        NaN draws no bar.
    chosen : int, optional
        Place of the C chosen.
    metric : str, default="score"
        What was measured.
    name : str, optional
        Label of the curve.
    best : int, optional
        Place of the best C where another is chosen, within one standard error of it: that is
        marked, too, and the band is shaded.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The means.
    errorbar_ : matplotlib ErrorbarContainer
    chosen_line_ : matplotlib Line2D or None
        Through the C chosen.
    best_line_, band_ : matplotlib Line2D and Patch, or None
        Through the best C, and between its mean and one standard error below.
    """

    ax_: Any
    figure_: Any
    line_: Any
    errorbar_: Any
    chosen_line_: Any
    best_line_: Any
    band_: Any

    def __init__(
        self,
        Cs: ArrayLike,
        mean: ArrayLike,
        standard_error: ArrayLike | None = None,
        *,
        chosen: int | None = None,
        metric: str = "score",
        name: str | None = None,
        best: int | None = None,
    ) -> None:
        self.Cs, self.mean = np.asarray(Cs, dtype=float), np.asarray(mean, dtype=float)
        self.standard_error = errors_or_nan(standard_error, len(self.Cs))
        self.chosen = chosen
        self.metric = metric
        self.name = name
        self.best = best

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> RegularizationCurveDisplay:
        """Draw the cross-validation of a fitted `RankSVMCV`: means over folds.

        Parameters
        ----------
        estimator : fitted RankSVMCV
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``errorbar``.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, "cv_results_")
        table, scoring = estimator.cv_results_, estimator.scoring
        metric = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
        display = cls(
            table["param_C"],
            table["mean_test_score"],
            table["standard_error"],
            chosen=estimator.best_index_,
            metric=metric,
            name=name,
            best=int(np.argmax(table["mean_test_score"])) if estimator.one_standard_error else None,
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_grid(
        cls,
        grid: RankSVMGrid,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        metric: str = "pairwise_accuracy",
        preset: str | Conventions | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> RegularizationCurveDisplay:
        """Measure each solution of a grid on rows X: means over queries.

        Parameters
        ----------
        grid : RankSVMGrid
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to measure on; those that were not trained on say how well a C generalises.
        y, qid : array-like of shape (n_samples,)
            Labels and query ids; one query by default.
        metric, preset
            As for `ranksvm.evaluate`.
        name, ax, **kwargs
            As for `from_estimator`.

        Raises
        ------
        ValueError
            If the metric is defined in no query, or as `ranksvm.evaluate`.
        """
        from sklearn.utils import check_array

        sign = 1 if parse_metric(metric).greater_is_better else -1
        X = check_array(X, accept_sparse="csr")
        scores = [LinearModel(weights).predict(X) for weights in grid.weights]
        of_each = [measure(y, column, qid, metric, preset=preset) for column in scores]
        mean = np.array([evaluation.mean[metric] for evaluation in of_each])
        require_defined(metric, mean)
        error = [standard_error(evaluation.per_query[metric]) for evaluation in of_each]
        chosen = int(np.nanargmax(sign * mean))
        display = cls(grid.Cs, mean, error, chosen=chosen, metric=metric, name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> RegularizationCurveDisplay:
        """Draw the curve, C on a logarithmic scale; several may share the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``errorbar``.

        Returns
        -------
        RegularizationCurveDisplay
            This object, with ``ax_``, ``figure_``, ``line_`` and the other attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes() if ax is None else ax
        order = np.argsort(self.Cs, kind="stable")
        style = curve_style(ax, len(order), self.name, {"capsize": 2, "elinewidth": 1, **kwargs})
        errors = self.standard_error[order] if np.isfinite(self.standard_error).any() else None
        self.errorbar_ = ax.errorbar(self.Cs[order], self.mean[order], yerr=errors, **style)
        self.line_, self.chosen_line_ = self.errorbar_.lines[0], None
        self.best_line_ = self.band_ = None
        ax.set_xscale("log")
        if self.chosen is not None:
            self.chosen_line_ = self._mark(ax, self.Cs[self.chosen], "C")
        if self.best is not None and np.isfinite(self.standard_error[self.best]):
            self._mark_best(ax, self.best)
        ax.set_xlabel("C")
        ax.set_ylabel(mean_label(self.metric, self.standard_error))
        ax.grid(True, alpha=0.3)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Any, C: float, name: str, n_above: int = 0, style: str = "--") -> Any:
        """Draw a line through C, with its name above those of other curves."""
        color = self.line_.get_color()
        ax.annotate(
            f"{name} = {C:.3g}",
            (C, 0),
            xycoords=("data", "axes fraction"),
            color=color,
            xytext=(4, 12 * (count_curves(ax) + n_above) - 8),
            textcoords="offset points",
        )
        return ax.axvline(C, color=color, linestyle=style, linewidth=1, alpha=0.6)

    def _mark_best(self, ax: Any, best: int) -> None:
        """Draw what one standard error is of: the band below the best mean, and its C."""
        top, color = self.mean[best], self.line_.get_color()
        self.band_ = ax.axhspan(top - self.standard_error[best], top, color=color, alpha=0.12, lw=0)
        if best != self.chosen:
            self.best_line_ = self._mark(ax, self.Cs[best], "best C", 1, ":")
