"""How a solver got to the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..solvers.result import Iteration
from .figures import curve_style, legend_above, new_axes, tick_whole_numbers


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
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> ConvergenceDisplay:
        """Draw the convergence of a fitted `RankSVM`; other keywords as in `plot`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, "history_")
        return cls(estimator.history_, name=name).plot(ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        against: str = "iterations",
        quantity: str = "gap",
        tol: float | None = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Draw the history; several may share the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        against : {"iterations", "seconds"}, default="iterations"
        quantity : {"gap", "objective"}, default="gap"
            The relative duality gap, on a logarithmic scale, or the objective.
        tol : float, optional
            Draw a line at this gap.
        **kwargs
            Given to matplotlib's ``plot``.

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
            raise InputError(f"against must be 'iterations' or 'seconds', not {against!r}")
        if quantity not in ("gap", "objective"):
            raise InputError(f"quantity must be 'gap' or 'objective', not {quantity!r}")
        ax = new_axes() if ax is None else ax
        place = "iteration" if against == "iterations" else "seconds"
        x = [getattr(line, place) for line in self.history]
        of_line = "dual_gap" if quantity == "gap" else "value"
        y = [getattr(line, of_line) for line in self.history]
        style = curve_style(ax, len(x), self.name, kwargs)
        (self.line_,) = ax.plot(x, y, **style)
        if against == "iterations":
            tick_whole_numbers(ax)
        if quantity == "gap":
            if np.isfinite(y).any():
                ax.set_yscale("log")
            if tol:
                _draw_tolerance(ax, tol)
        ax.set_xlabel(place)
        ax.set_ylabel("relative duality gap" if quantity == "gap" else "objective")
        ax.grid(True, alpha=0.3)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _draw_tolerance(ax: Any, tol: float) -> None:
    ax.axhline(tol, color="0.5", linestyle="--", linewidth=1)
    ax.annotate(
        f"tol = {tol:g}",
        (0, tol),
        xycoords=("axes fraction", "data"),
        color="0.4",
        xytext=(4, 3),
        textcoords="offset points",
    )
