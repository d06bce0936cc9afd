"""How long rows of low and of high risk stay without an event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.columns import finite_column
from ..pairs.kaplan_meier import KaplanMeier
from ..pairs.survival import Survival
from .figures import LINES, legend_above, new_axes

Vector = NDArray[np.float64]
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 10: "tenth"}


class KaplanMeierDisplay:
    """The estimate of Kaplan and Meier, for rows in parts by predicted risk.

    A curve is the part of the rows without an event; a tick on it marks rows that are censored.

    Parameters
    ----------
    survival : Survival
        Events and times.
    risk : ndarray of shape (n_samples,)
        Predicted risks, higher for earlier events.
    n_parts : int, default=3
        Into how many parts of about as many rows the risks are put; equal risks stay together.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The curves, from the highest risk to the lowest.
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, survival: Survival, risk: Vector, *, n_parts: int = 3) -> None:
        self.survival = survival
        self.risk = risk
        self.n_parts = n_parts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        event: ArrayLike | None = None,
        time: ArrayLike | None = None,
        **kwargs: Any,
    ) -> KaplanMeierDisplay:
        """Draw what a fitted survival model predicts; other keywords as of `from_predictions`.

        Parameters
        ----------
        estimator : fitted model or pipeline
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y, event, time
            As for `ranksvm.SurvivalSVM.fit`.
        """
        survival = Survival.of(y, event, time)
        return cls.from_predictions(survival.event, survival.time, estimator.predict(X), **kwargs)

    @classmethod
    def from_predictions(
        cls,
        event: ArrayLike,
        time: ArrayLike,
        risk: ArrayLike,
        *,
        n_parts: int = 3,
        ax: Any = None,
    ) -> KaplanMeierDisplay:
        """Draw given risks.

        Parameters
        ----------
        event, time, risk : array-like of shape (n_samples,)
            As for `concordance_index`.
        n_parts : int, default=3
            Into how many parts of about as many rows the risks are put.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        KaplanMeierDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is malformed, or there are fewer than two parts.
        """
        survival, risks = Survival.of(event=event, time=time), finite_column(risk, "risk")
        if len(risks) != len(survival):
            raise InputError(f"time has length {len(survival)} but risk has length {len(risks)}")
        return cls(survival, risks, n_parts=n_parts).plot(ax)

    def plot(self, ax: Any = None) -> KaplanMeierDisplay:
        """Draw a curve for each part.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        KaplanMeierDisplay
            This object, with ``ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there are no rows, or `n_parts` is less than 2.
        """
        parts = self._parts()
        ax = new_axes() if ax is None else ax
        self.lines_ = [
            self._draw(ax, k, name, self.survival.rows(rows))
            for k, (name, rows) in enumerate(parts)
        ]
        ax.set_xlim(left=0)
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("time")
        ax.set_ylabel("part without an event")
        ax.grid(True, alpha=0.3)
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _parts(self) -> list[tuple[str, NDArray[np.intp]]]:
        """Return name and rows of each part, the highest risk first."""
        if self.n_parts < 2:
            raise InputError(f"n_parts must be at least 2, not {self.n_parts}")
        if not len(self.risk):
            raise InputError("there are no rows to draw")
        ends = np.quantile(self.risk, np.arange(1, self.n_parts) / self.n_parts)
        part = np.searchsorted(ends, self.risk, side="left")
        parts = ((self._name(k), np.flatnonzero(part == k)) for k in range(self.n_parts))
        return [(name, rows) for name, rows in parts if len(rows)][::-1]

    def _name(self, k: int) -> str:
        what = _PARTS.get(self.n_parts, "part")
        if k == 0:
            return f"lowest {what}"
        if k == self.n_parts - 1:
            return f"highest {what}"
        return f"middle {what}" if self.n_parts == 3 else f"{what} {k + 1}"

    def _draw(self, ax: Any, k: int, name: str, survival: Survival) -> Any:
        S = KaplanMeier.of_events(survival.event, survival.time)
        label = f"{name} of risk: {len(survival):,} rows, {survival.event.sum():,} events"
        censored = np.unique(survival.time[~survival.event])
        (line,) = ax.step(
            np.r_[0.0, S.times],
            np.r_[1.0, S.left],
            where="post",
            linestyle=LINES[k % len(LINES)],
            label=label,
        )
        ax.plot(censored, S.at(censored), "|", color=line.get_color(), markersize=6, alpha=0.6)
        return line
