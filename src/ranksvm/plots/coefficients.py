"""Which features a linear ranker goes by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..models.from_estimators import linear_model_of
from ..pairs.query_columns import without_column
from .figures import BLUE, VERMILLION, new_axes, shortened

_BAR_HEIGHT = 0.22  # inches


class CoefficientsDisplay:
    """The largest weights of a linear ranker, with the names of their features.

    Weights compare with each other only where features have the same scale: give X to
    `from_estimator` for weights of standardized features.

    Parameters
    ----------
    coef : array-like of shape (n_features,)
    feature_names : sequence of n_features str, optional
        "x0", "x1" ... by default.
    deviation : array-like of shape (n_features,), optional
        The standard deviation of each feature, which its weight is multiplied by.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        From the largest absolute value down.
    shown_ : ndarray of int
        The features of the bars.
    """

    ax_: Any
    figure_: Any
    bars_: Any
    shown_: NDArray[np.int64]

    def __init__(
        self,
        coef: ArrayLike,
        feature_names: Sequence[str] | None = None,
        *,
        deviation: ArrayLike | None = None,
    ) -> None:
        self.coef = np.asarray(coef, dtype=float)
        self.feature_names = feature_names
        self.deviation = None if deviation is None else np.asarray(deviation, dtype=float)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        n_shown: int = 20,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoefficientsDisplay:
        """Draw the weights of a model.

        Parameters
        ----------
        estimator : fitted RankSVM or RankSVMCV, or LinearModel
            Also a pipeline of scalers and one of these: the weights are those of the features as
            they are.
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            Rows to take the standard deviations of the features from.
        n_shown, ax, **kwargs
            As for `plot`.

        Returns
        -------
        CoefficientsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a pipeline has other steps than scalers, or X another number of features.
        """
        model = linear_model_of(estimator)
        display = cls(model.coef, model.feature_names)
        if X is not None:
            column = getattr(estimator, "qid_column_", None)
            display.deviation = feature_deviations(
                X if column is None else without_column(X, column)
            )
        return display.plot(ax, n_shown=n_shown, **kwargs)

    def plot(self, ax: Any = None, *, n_shown: int = 20, **kwargs: Any) -> CoefficientsDisplay:
        """Draw the weights that are largest in absolute value, from the top down.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        n_shown : int, default=20
            Number of bars; fewer if other weights are zero.
        **kwargs
            Given to matplotlib's ``barh``.

        Returns
        -------
        CoefficientsDisplay
            This object, with ``ax_``, ``figure_``, ``bars_`` and ``shown_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_shown` is not at least 1, or there are more or fewer names or deviations than
            weights.
        """
        weights = self._weights(n_shown)
        n_nonzero = int(np.count_nonzero(weights))
        order = np.argsort(-np.abs(weights), kind="stable")
        self.shown_ = order[: min(n_shown, n_nonzero)]
        values = weights[self.shown_]
        ax = new_axes(1.2 + _BAR_HEIGHT * max(len(values), 3)) if ax is None else ax
        colors = np.where(values > 0, BLUE, VERMILLION)
        places = np.arange(len(values))
        self.bars_ = ax.barh(places, values, **{"color": colors, **kwargs})
        ax.axvline(0, color="0.3", linewidth=0.8)
        ax.set_yticks(places, [self._name(k) for k in self.shown_], parse_math=False)
        ax.set_ylim(max(len(values), 1) - 0.4, -0.6)
        by = "" if self.deviation is None else " times standard deviation of the feature"
        ax.set_xlabel(f"weight{by}")
        ax.set_ylabel("feature")
        if len(values) < len(weights):
            ax.set_title(
                _selection(len(values), int(n_nonzero), len(weights)), loc="left", fontsize=10
            )
        ax.grid(True, axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _weights(self, n_shown: int) -> NDArray[np.float64]:
        if n_shown < 1:
            raise ValueError(f"n_shown must be at least 1, not {n_shown}")
        n = len(self.coef)
        for what, given in [("names", self.feature_names), ("deviations", self.deviation)]:
            if given is not None and len(given) != n:
                raise ValueError(f"there are {n} weights but {what} of {len(given)} features")
        return self.coef if self.deviation is None else self.coef * self.deviation

    def _name(self, k: int) -> str:
        return f"x{k}" if self.feature_names is None else shortened(str(self.feature_names[k]))


def _selection(n_shown: int, n_nonzero: int, n: int) -> str:
    if n_nonzero == 0:
        return f"all {n:,} weights are zero"
    if n_shown == n_nonzero:
        return f"{n_nonzero:,} of {n:,} weights are not zero"
    return f"the {n_shown} largest of {n:,} weights"


def feature_deviations(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each feature, 0 for those that are constant."""
    from sklearn.preprocessing import StandardScaler

    deviation: NDArray[np.float64] = np.sqrt(StandardScaler(with_mean=False).fit(X).var_)
    return deviation
