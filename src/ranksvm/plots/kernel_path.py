"""What happens along a regularization path, and which lambda is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernel.path.regularization import RegularizationPath
from .averages import errors_or_nan, mean_label
from .figures import BLUE, VERMILLION, count_curves, curve_style, legend_above, new_axes, new_column

_SETS = {"n_one": "multiplier 1", "n_free": "between", "n_zero": "multiplier 0"}
_POINTS_BETWEEN = 300  # on a logarithmic axis, what is linear in lambda is curved


class RegularizationPathDisplay:
    """Coefficients along a path, and below them how many pairs have which multipliers.

    Lambda falls from left to right, on a logarithmic scale. The coefficients are ``lambda beta``:
    for each row, the sum of the multipliers of the pairs where it is preferred, less those where it
    is not. A multiplier is 1 if the scores of a pair are closer than the margin or in the wrong
    order (the set I_1), 0 if they are farther apart (I_0), and else between (I_alpha).

    Parameters
    ----------
    path : RegularizationPath

    Attributes
    ----------
    ax_ : tuple of two matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The coefficients.
    shown_ : ndarray of int
        Their rows.
    size_lines_ : list of matplotlib Line2D
        The number of pairs with a multiplier of 1, between, and 0.
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]
    shown_: NDArray[np.int64]
    size_lines_: list[Any]

    def __init__(self, path: RegularizationPath) -> None:
        self.path = path

    @classmethod
    def from_path(cls, path: RegularizationPath, **kwargs: Any) -> RegularizationPathDisplay:
        """Draw a path; keywords as for `plot`."""
        return cls(path).plot(**kwargs)

    def plot(
        self,
        ax: Sequence[Any] | None = None,
        *,
        n_curves: int = 20,
        lam: float | None = None,
        **kwargs: Any,
    ) -> RegularizationPathDisplay:
        """Draw the path.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            Where to draw; a new figure by default.
        n_curves : int, default=20
            How many rows are drawn, at most: evenly among all in the order of their coefficients
            at the end of the path, with the smallest and the largest.
        lam : float, optional
            Mark this lambda.
        **kwargs
            Given to matplotlib's ``plot`` for the coefficients.

        Returns
        -------
        RegularizationPathDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``shown_`` and ``size_lines_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_curves` is not at least 1, or nothing happens on the path.
        """
        if n_curves < 1:
            raise InputError(f"n_curves must be at least 1, not {n_curves}")
        if not self.path.lambdas[-1] > 0:
            raise InputError("nothing happens on this path: there is nothing to draw")
        above, below = new_column([3, 2], 6.4) if ax is None else ax
        self._draw_coefficients(above, n_curves, kwargs)
        self._draw_sizes(below)
        for one in (above, below):
            _let_lambda_fall(one)
            if lam is not None:
                name = f"lambda = {lam:.3g}" if one is above else None
                one.axvline(lam, color="0.3", linestyle="--", linewidth=1, label=name)
            legend_above(one)
        above.set_xlabel("")
        self.ax_, self.figure_ = (above, below), above.figure
        return self

    def _draw_coefficients(self, ax: Any, n_curves: int, chosen: dict[str, Any]) -> None:
        lambdas = self.path.lambdas
        gammas, breakpoints = self.path.coefficients, np.arange(len(lambdas))
        order = np.argsort(gammas.at(breakpoints[-1]), kind="stable")
        places = np.linspace(0, len(order) - 1, min(n_curves, len(order)))
        self.shown_ = order[places.round().astype(np.int64)]
        between = np.geomspace(lambdas[0], lambdas[-1], _POINTS_BETWEEN)
        x = np.union1d(lambdas, between.clip(lambdas[-1], lambdas[0]))[::-1]
        values = gammas.at(breakpoints, self.shown_).T
        self.lines_ = []
        for of_row in values:
            color = BLUE if of_row[0] > 0 else VERMILLION
            y = np.interp(-x, -lambdas, of_row)
            self.lines_ += ax.plot(x, y, **{"color": color, "alpha": 0.6, "linewidth": 1, **chosen})
        ax.axhline(0, color="0.3", linewidth=0.8)
        # Sums of multipliers: of a single pair for many rows, of thousands for others.
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(1.5 * min(-1, values.min()), 1.5 * max(1, values.max()))
        of_all = f" of {len(order):,}" if len(self.shown_) < len(order) else ""
        ax.set_ylabel(f"$\\lambda\\beta$ of {len(self.shown_)}{of_all} rows")

    def _draw_sizes(self, ax: Any) -> None:
        x = self.path.lambdas
        self.size_lines_ = []
        for name, label in _SETS.items():
            sizes = getattr(self.path, name)
            self.size_lines_ += ax.plot(x, sizes, drawstyle="steps-post", linewidth=1, label=label)
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(0, 1.5 * len(self.path.graph))
        ax.set_ylabel("pairs")


class PathScoreDisplay:
    """A score or an error along a path, and the lambda chosen.

    Lambda falls from left to right, on a logarithmic scale. The band is one standard error of the
    mean over folds to either side.

    Parameters
    ----------
    lambdas, mean : array-like of shape (n_lambdas,)
    standard_error : array-like of shape (n_lambdas,), optional
        NaN draws no band.
    chosen : float, optional
        The lambda chosen.
    metric : str, default="score"
        What was measured.
    name : str, optional
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    band_ : matplotlib PolyCollection or None
        The standard errors.
    chosen_line_ : matplotlib Line2D or None
        Through the lambda chosen.
    """

    ax_: Any
    figure_: Any
    line_: Any
    band_: Any
    chosen_line_: Any

    def __init__(
        self,
        lambdas: ArrayLike,
        mean: ArrayLike,
        standard_error: ArrayLike | None = None,
        *,
        chosen: float | None = None,
        metric: str = "score",
        name: str | None = None,
    ) -> None:
        self.lambdas = np.asarray(lambdas, dtype=float)
        self.mean = np.asarray(mean, dtype=float)
        self.standard_error = errors_or_nan(standard_error, len(self.lambdas))
        self.chosen = chosen
        self.metric = metric
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        gamma: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PathScoreDisplay:
        """Draw the cross-validation of a fitted `KernelRankSVMPathCV`: means over folds.

        Parameters
        ----------
        estimator : fitted KernelRankSVMPathCV
        gamma : float, optional
            A width of its grid; by default the one chosen, for which the lambda chosen is marked.
        name : str, optional
            Label of the curve.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``plot``.

        Raises
        ------
        ValueError
            If `gamma` is not in the grid.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, "cv_results_")
        table, scoring = estimator.cv_results_, estimator.scoring
        gammas = table["param_gamma"]
        gamma = estimator.gamma_ if gamma is None else gamma
        rows = np.isnan(gammas) if gamma is None else gammas == gamma
        if not rows.any():
            widths = ", ".join(f"{width:g}" for width in np.unique(gammas))
            raise InputError(f"gamma must be one of {widths}, not {gamma!r}")
        display = cls(
            table["param_lambda"][rows],
            table["mean_test_score"][rows],
            table["standard_error"][rows],
            chosen=estimator.lambda_ if gamma == estimator.gamma_ else None,
            metric=scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"),
            name=name,
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_path(
        cls,
        path: RegularizationPath,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        metric: Callable[..., float] | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PathScoreDisplay:
        """Measure the errors of a path on other rows, and mark the least: the largest lambda of it.

        Parameters
        ----------
        path : RegularizationPath
        X, y, qid, metric
            As for `ranksvm.RegularizationPath.validation_errors`; less is better.
        name, ax, **kwargs
            As for `from_estimator`.
        """
        errors = path.validation_errors(X, y, qid, metric=metric)
        display = cls(
            path.lambdas,
            errors,
            chosen=float(path.lambdas[np.argmin(errors)]),
            metric="pairwise error" if metric is None else getattr(metric, "__name__", "error"),
            name=name,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> PathScoreDisplay:
        """Draw the curve; several may share the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Given to matplotlib's ``plot``.

        Returns
        -------
        PathScoreDisplay
            This object, with ``ax_``, ``figure_``, ``line_``, ``band_`` and ``chosen_line_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a lambda is not positive.
        """
        if not np.all(self.lambdas > 0):
            raise InputError("lambdas must be greater than 0: nothing happens on this path")
        ax = new_axes() if ax is None else ax
        style = curve_style(ax, len(self.mean), self.name, {"linewidth": 1.2, **kwargs})
        (self.line_,) = ax.plot(self.lambdas, self.mean, **style)
        self.band_ = self.chosen_line_ = None
        color, errors = self.line_.get_color(), self.standard_error
        if np.isfinite(errors).any():
            low, high = self.mean - errors, self.mean + errors
            self.band_ = ax.fill_between(
                self.lambdas, low, high, color=color, alpha=0.15, linewidth=0
            )
        if self.chosen is not None:
            self.chosen_line_ = ax.axvline(
                self.chosen, color=color, linestyle="--", linewidth=1, alpha=0.6
            )
            ax.annotate(
                f"$\\lambda$ = {self.chosen:.3g}",
                (self.chosen, 0),
                xycoords=("data", "axes fraction"),
                color=color,
                xytext=(4, 12 * count_curves(ax) - 8),  # above those of other curves
                textcoords="offset points",
            )
        _let_lambda_fall(ax)
        name = self.metric.replace("_", " ")
        ax.set_ylabel(name if self.band_ is None else mean_label(self.metric, errors))
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _let_lambda_fall(ax: Any) -> None:
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    ax.set_xlabel(r"$\lambda$")
    ax.grid(True, alpha=0.3)
