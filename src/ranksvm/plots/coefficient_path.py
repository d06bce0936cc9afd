"""How weights come and go with C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.grid import RankSVMGrid
from .figures import LINES, PALETTE, new_column, shortened


class CoefficientPathDisplay:
    """The weights of a linear ranker for each C of a grid, and how many are not zero.

    With absolute values in the penalty (`l1_ratio` of `ranksvm_grid`), weights are zero up to
    some C, beyond which they are not: the path tells in which order features come in.

    Parameters
    ----------
    grid : RankSVMGrid
    feature_names : sequence of n_features str or int, optional
        "x0", "x1" ... by default.

    Attributes
    ----------
    ax_ : tuple of two matplotlib Axes
        Of the weights, and of how many are not zero.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Of the features in `shown_`.
    size_line_ : matplotlib Line2D
    shown_ : ndarray of int
        The features that are named, from the largest weight at the largest C down.
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]
    size_line_: Any
    shown_: NDArray[np.int64]

    def __init__(self, grid: RankSVMGrid, feature_names: Sequence[str | int] | None = None) -> None:
        self.grid = grid
        self.feature_names = feature_names

    @classmethod
    def from_grid(
        cls, grid: RankSVMGrid, feature_names: Sequence[str | int] | None = None, **kwargs: Any
    ) -> CoefficientPathDisplay:
        """Draw a grid, by the arguments of `plot`."""
        return cls(grid, feature_names).plot(**kwargs)

    def plot(
        self, ax: Sequence[Any] | None = None, *, n_shown: int = 10, **kwargs: Any
    ) -> CoefficientPathDisplay:
        """Draw weights above, and how many are not zero below.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            Where to draw; a new figure by default.
        n_shown : int, default=10
            How many features are named, at most: those with the largest weights for some C. The
            others are grey.
        **kwargs
            Given to matplotlib's ``plot`` for the weights that are named.

        Returns
        -------
        CoefficientPathDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``size_line_`` and ``shown_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_shown` is not at least 1, or there are more or fewer names than weights.
        """
        self._check(n_shown)
        order, columns = np.argsort(self.grid.Cs), self.grid.weights[0].columns
        Cs = self.grid.Cs[order]
        weights = np.array([self.grid.weights[k].at(columns) for k in order])
        above, below = new_column([3, 1], 5.6) if ax is None else ax
        named = _largest(weights, n_shown)
        others = np.setdiff1d(np.flatnonzero(weights.any(axis=0)), named)
        if len(others):
            above.plot(Cs, weights[:, others], color="0.8", linewidth=0.8, zorder=1)
        self.shown_ = columns.feature(named)
        self.lines_ = [
            line
            for number, (k, feature) in enumerate(zip(named, self.shown_, strict=True))
            for line in above.plot(
                Cs, weights[:, k], **{**_style(number), "label": self._name(feature), **kwargs}
            )
        ]
        self._dress(above, below)
        n_nonzero = np.count_nonzero(weights, axis=1)
        (self.size_line_,) = below.plot(Cs, n_nonzero, color="0.3", marker="o", markersize=3)
        below.set_ylim(0, 1.1 * max(1, n_nonzero.max()))
        self.ax_, self.figure_ = (above, below), above.figure
        return self

    def _check(self, n_shown: int) -> None:
        if n_shown < 1:
            raise InputError(f"n_shown must be at least 1, not {n_shown}")
        n, names = self.grid.weights[0].n_features, self.feature_names
        if names is not None and len(names) != n:
            raise InputError(f"there are {n} weights but names of {len(names)} features")

    def _dress(self, above: Any, below: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        above.axhline(0, color="0.3", linewidth=0.8, zorder=0)
        above.set_ylabel("weight")
        if self.lines_:
            legend = above.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
            for text in legend.get_texts():
                text.set_parse_math(False)
        below.set_xscale("log")
        above.set_xscale("log")
        below.set_xlabel("C")
        below.set_ylabel("not zero")
        below.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        for one in (above, below):
            one.grid(True, alpha=0.3)
            one.set_axisbelow(True)

    def _name(self, k: int) -> str:
        name = f"x{k}" if self.feature_names is None else str(self.feature_names[k])
        return " " * name.startswith("_") + shortened(name)


def _largest(weights: NDArray[np.float64], n_shown: int) -> NDArray[np.int64]:
    """Return the columns with the largest weights for some C, by the weights for the last."""
    size = np.abs(weights).max(axis=0)
    order = np.argsort(-size, kind="stable")[:n_shown]
    order = order[size[order] > 0]
    by_last: NDArray[np.int64] = order[np.argsort(-weights[-1, order], kind="stable")]
    return by_last


def _style(number: int) -> dict[str, Any]:
    """Return a style that differs from the others without colour, too, where colours repeat."""
    return {"linestyle": LINES[number // len(PALETTE) % len(LINES)], "linewidth": 1.4}
