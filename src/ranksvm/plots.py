"""Pictures. matplotlib is imported when one is drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .solvers.result import Iteration


class ConvergenceDisplay:
    """Relative duality gap or objective against seconds or iterations.

    Parameters
    ----------
    history : sequence of Iteration
        As in ``RankSVM.history_``.
    name : str, optional
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    """

    ax_: Any
    figure_: Any
    line_: Any

    def __init__(self, history: Sequence[Iteration], *, name: str | None = None) -> None:
        self.history = list(history)
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draw the convergence of a fitted `RankSVM`; keywords as in `plot`."""
        return cls(estimator.history_).plot(ax=ax, **kwargs)

    def plot(
        self,
        *,
        ax: Any = None,
        against: str = "iterations",
        quantity: str = "gap",
        tol: float | None = None,
    ) -> ConvergenceDisplay:
        """Draw a history on a logarithmic scale; several may share the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        against : {"iterations", "seconds"}, default="iterations"
        quantity : {"gap", "objective"}, default="gap"
            The relative duality gap, or the objective.
        tol : float, optional
            Draw a line at this gap.

        Returns
        -------
        ConvergenceDisplay
            This object, with ``ax_``, ``figure_`` and ``line_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if against not in ("iterations", "seconds"):
            raise ValueError(f"against must be 'iterations' or 'seconds', not {against!r}")
        if quantity not in ("gap", "objective"):
            raise ValueError(f"quantity must be 'gap' or 'objective', not {quantity!r}")
        if ax is None:
            ax = _new_axes()
        place = "iteration" if against == "iterations" else "seconds"
        x = [getattr(line, place) for line in self.history]
        of_line = "dual_gap" if quantity == "gap" else "value"
        y = [getattr(line, of_line) for line in self.history]
        marker = "o" if len(x) <= 50 else None
        (self.line_,) = ax.plot(x, y, marker=marker, markersize=4, label=self.name)
        ax.set_yscale("log")
        if against == "iterations":
            ax.xaxis.get_major_locator().set_params(integer=True)
        if tol and quantity == "gap":
            ax.axhline(tol, color="0.5", linestyle="--", linewidth=1)
            ax.annotate(
                f"tol = {tol:g}", (1, tol), xycoords=("axes fraction", "data"), color="0.4",
                xytext=(-4, 3), textcoords="offset points", ha="right",
            )  # fmt: skip
        ax.set_xlabel(place)
        ax.set_ylabel("relative duality gap" if quantity == "gap" else "objective")
        ax.grid(True, alpha=0.3)
        if self.name:
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class RegularizationCurveDisplay:
    """Mean score of a cross-validation against C, with its standard error, and the C chosen.

    Parameters
    ----------
    Cs, mean : array-like of shape (n_Cs,)
    standard_error : array-like of shape (n_Cs,)
        NaN draws no bar.
    chosen : int, optional
        Place of the C chosen.
    name : str, default="score"
        What was measured.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The means.
    errorbar_ : matplotlib ErrorbarContainer
    chosen_line_ : matplotlib Line2D or None
        Through the C chosen.
    """

    ax_: Any
    figure_: Any
    line_: Any
    errorbar_: Any
    chosen_line_: Any

    def __init__(
        self,
        Cs: ArrayLike,
        mean: ArrayLike,
        standard_error: ArrayLike,
        *,
        chosen: int | None = None,
        name: str = "score",
    ) -> None:
        self.Cs, self.mean = np.asarray(Cs, dtype=float), np.asarray(mean, dtype=float)
        self.standard_error = np.asarray(standard_error, dtype=float)
        self.chosen = chosen
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> RegularizationCurveDisplay:
        """Draw the curve of a fitted `RankSVMCV`."""
        table, scoring = estimator.cv_results_, estimator.scoring
        name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
        display = cls(
            table["param_C"],
            table["mean_test_score"],
            table["standard_error"],
            chosen=estimator.best_index_,
            name=name,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RegularizationCurveDisplay:
        """Draw the curve, C on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RegularizationCurveDisplay
            This object, with ``ax_``, ``figure_``, ``line_``, ``errorbar_`` and ``chosen_line_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if ax is None:
            ax = _new_axes()
        order = np.argsort(self.Cs, kind="stable")
        self.errorbar_ = ax.errorbar(
            self.Cs[order],
            self.mean[order],
            yerr=self.standard_error[order],
            marker="o",
            markersize=4,
            capsize=2,
            elinewidth=1,
        )
        self.line_, self.chosen_line_ = self.errorbar_.lines[0], None
        ax.set_xscale("log")
        if self.chosen is not None:
            C = self.Cs[self.chosen]
            self.chosen_line_ = ax.axvline(C, color="0.5", linestyle="--", linewidth=1)
            ax.annotate(
                f"C = {C:.3g}", (C, 0), xycoords=("data", "axes fraction"), color="0.4",
                xytext=(4, 4), textcoords="offset points",
            )  # fmt: skip
        ax.set_xlabel("C")
        ax.set_ylabel(f"{self.name.replace('_', ' ')}, mean ± standard error")
        ax.grid(True, alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _new_axes() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib; install it with: pip install 'ranksvm[plot]'"
        ) from error
    return Figure(layout="constrained").subplots()


def check_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a picture that could not be drawn or written, before work is put into its content.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If matplotlib does not know the suffix.
    OutputError
        If the path can never be written.
    """
    from .files.atomic import check_output

    check_output(path)
    known = _new_axes().figure.canvas.get_supported_filetypes()
    if _suffix(path) not in known:
        raise ValueError(
            f"cannot draw {os.fspath(path)}: the suffix must be one of {', '.join(known)}"
        )


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lstrip(".").lower() or "png"


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a matplotlib figure, whole or not at all; the format is that of the file's suffix.

    Raises
    ------
    ValueError
        If matplotlib does not know the suffix.
    OutputError
        If the file cannot be written.
    """
    from .files.atomic import atomic_write

    picture = io.BytesIO()
    figure.savefig(picture, format=_suffix(path), dpi=150)
    with atomic_write(path) as file:
        file.write(picture.getvalue())
