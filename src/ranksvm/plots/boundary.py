"""The scores of a ranker of two features, as a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernel.path.regularization import RegularizationPath
from ..metrics.pairs import labels_and_scores
from .figures import BLUE, VERMILLION, legend_above, new_axes

Vector = NDArray[np.float64]
_LEVELS_PER_SIDE = 7
_MARGIN = 0.08  # around the rows, of their range
_MARKERS = "^osDv"
_SHADES = 0.5  # opacity


class BoundaryDisplay:
    """Scores over the plane of two features, the rows, and the boundary between two labels.

    Shades tell the order of the scores, which is all that matters to a ranking: those of higher
    scores are bluer, and to either side of the boundary each shade has the same area.
    The boundary is where the score is the threshold at which the share of rows of the upper label
    with larger scores is farthest above that of the lower label: the point of the ROC curve that is
    highest above its diagonal (Youden). With more labels there is none.

    Parameters
    ----------
    predict : callable
        From rows, of shape (n_rows, 2), to their scores.
    X : array-like of shape (n_samples, 2)
        Rows to draw, which the threshold is found from.
    y : array-like of shape (n_samples,)

    Attributes
    ----------
    threshold_ : float or None
        The score at the boundary.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    contours_ : matplotlib QuadContourSet
        The scores.
    boundary_ : matplotlib QuadContourSet or None
    points_ : list of matplotlib PathCollection
        The rows of each label; of more than five labels, those of all.
    """

    threshold_: float | None
    ax_: Any
    figure_: Any
    contours_: Any
    boundary_: Any
    points_: list[Any]

    def __init__(self, predict: Callable[[Any], Vector], X: ArrayLike, y: ArrayLike) -> None:
        self.predict, self.X, self.y = predict, np.asarray(X, dtype=float), np.asarray(y)

    @classmethod
    def from_path(
        cls, path: RegularizationPath, lam: float, X: ArrayLike, y: ArrayLike, **kwargs: Any
    ) -> BoundaryDisplay:
        """Draw a solution of a path, with its lambda above; other keywords as for `plot`."""
        display = cls(lambda rows: path.predict(rows, lam), X, y).plot(**kwargs)
        display.ax_.set_title(f"$\\lambda$ = {lam:.3g}", loc="right", fontsize=10)
        return display

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, **kwargs: Any
    ) -> BoundaryDisplay:
        """Draw a fitted ranker or pipeline; other keywords as for `plot`."""
        return cls(estimator.predict, X, y).plot(**kwargs)

    def plot(self, ax: Any = None, *, resolution: int = 120) -> BoundaryDisplay:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        resolution : int, default=120
            Points along each feature at which rows are scored.

        Returns
        -------
        BoundaryDisplay
            This object, with ``threshold_``, ``ax_``, ``figure_``, ``contours_``, ``boundary_`` and
            ``points_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If X has not two features, or y not a label for each row.
        """
        if self.X.ndim != 2 or self.X.shape[1] != 2:
            raise InputError(f"a map needs X with two features, not of shape {self.X.shape}")
        y, scores = labels_and_scores(self.y, self.predict(self.X))
        labels = np.unique(y)
        two = len(labels) == 2
        self.threshold_ = best_threshold(scores, y == labels[-1]) if two else None
        ax = new_axes() if ax is None else ax
        self._draw_scores(ax, scores, resolution)
        self._draw_rows(ax, y, labels)
        ax.set_xlabel("x0")
        ax.set_ylabel("x1")
        legend_above(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_scores(self, ax: Any, scores: Vector, resolution: int) -> None:
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        around = _MARGIN * np.where(high > low, high - low, 1)
        first, second = np.linspace(low - around, high + around, resolution).T
        grid = np.stack(np.meshgrid(first, second), axis=-1)
        values = self.predict(grid.reshape(-1, 2)).reshape(resolution, resolution)
        middle = np.median(scores) if self.threshold_ is None else self.threshold_
        from matplotlib.colors import BoundaryNorm

        levels = _levels(values, float(middle))
        norm = BoundaryNorm(levels, 256)
        self.contours_ = ax.contourf(
            first, second, values, levels, norm=norm, cmap="RdBu", alpha=_SHADES
        )
        self.boundary_ = None
        if self.threshold_ is not None:
            line = {"colors": "black", "linewidths": 1.5, "linestyles": "solid"}
            self.boundary_ = ax.contour(first, second, values, [self.threshold_], **line)

    def _draw_rows(self, ax: Any, y: Vector, labels: Vector) -> None:
        style = {"s": 18, "linewidths": 0.6, "edgecolors": "white"}
        if len(labels) > len(_MARKERS):
            self.points_ = [ax.scatter(*self.X.T, c=y, cmap="viridis", **style)]
            ax.figure.colorbar(self.points_[0], ax=ax, label="label")
            return
        from matplotlib import colormaps

        of_many = colormaps["viridis"](np.linspace(0, 1, len(labels)))
        colors = [VERMILLION, BLUE] if len(labels) == 2 else of_many
        self.points_ = []
        for label, color, marker in zip(labels, colors, _MARKERS, strict=False):
            rows = self.X[y == label].T
            name = f"label {label:g}"
            self.points_.append(ax.scatter(*rows, color=color, marker=marker, label=name, **style))


def _levels(values: Vector, middle: float) -> Vector:
    """Return levels that parts of equal area lie between, to either side of the middle."""
    shares = np.linspace(0, 1, _LEVELS_PER_SIDE + 1)
    sides = [values[values < middle], values[values > middle]]
    ends = [np.quantile(side, shares) for side in sides if len(side)]
    levels = np.unique(np.concatenate([*ends, [middle]]))
    return levels if len(levels) > 1 else np.array([middle, np.nextafter(middle, np.inf)])


def best_threshold(scores: Vector, upper: NDArray[np.bool_]) -> float:
    """Return the score at which the ROC curve is highest above its diagonal.

    It lies in the middle between the two scores that it separates; of equally good ones it is the
    largest.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    upper : ndarray of shape (n_samples,), bool
        The rows whose scores should be larger; some are, and some are not.

    References
    ----------
    Youden, "Index for rating diagnostic tests", Cancer 3 (1950).
    """
    distinct, place = np.unique(scores, return_inverse=True)
    n_upper = np.bincount(place[upper], minlength=len(distinct))
    n_lower = np.bincount(place[~upper], minlength=len(distinct))
    share_above = 1 - np.cumsum(n_upper) / n_upper.sum()
    share_below = np.cumsum(n_lower) / n_lower.sum()
    index = (share_above + share_below)[:-1]
    if not len(index):
        return float(distinct[0])
    k = len(index) - 1 - int(np.argmax(index[::-1]))
    return float(distinct[k] / 2 + distinct[k + 1] / 2)
