"""Which features a linear ranker goes by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..linear.occurring import Columns, FeatureWeights, occurring
from ..models.from_estimators import linear_model_of
from ..pairs.query_columns import without_column
from .figures import BLUE, VERMILLION, new_axes, require_drawable, shortened

_BAR_HEIGHT = 0.22  # inches


class CoefficientsDisplay:
    """The largest weights of a linear ranker, with the names of their features.

    Weights compare with each other only where features have the same scale: give X to
    `from_estimator` for weights of standardized features.

    Parameters
    ----------
    coef : array-like of shape (n_features,), or FeatureWeights
    feature_names : sequence of n_features str or int, optional
        "x0", "x1" ... by default.
    deviation : array-like of shape (n_features,), or FeatureWeights, optional
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
        coef: ArrayLike | FeatureWeights,
        feature_names: Sequence[str | int] | None = None,
        *,
        deviation: ArrayLike | FeatureWeights | None = None,
    ) -> None:
        self.weights = _of_features(coef)
        self.feature_names = feature_names
        self.deviation = None if deviation is None else _of_features(deviation)

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
        display = cls(model.weights, model.feature_names)
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
        order = order[: min(n_shown, n_nonzero)]
        self.shown_ = self.weights.columns.feature(order)
        values = weights[order]
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
        n_features = self.weights.n_features
        if len(values) < n_features:
            ax.set_title(_selection(len(values), n_nonzero, n_features), loc="left", fontsize=10)
        ax.grid(True, axis="x", alpha=0.3)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _weights(self, n_shown: int) -> NDArray[np.float64]:
        if n_shown < 1:
            raise InputError(f"n_shown must be at least 1, not {n_shown}")
        n, names, deviation = self.weights.n_features, self.feature_names, self.deviation
        n_names = n if names is None else len(names)
        n_deviations = n if deviation is None else deviation.n_features
        for what, given in [("names", n_names), ("deviations", n_deviations)]:
            if given != n:
                raise InputError(f"there are {n} weights but {what} of {given} features")
        values = self.weights.values
        if deviation is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                values = values * deviation.at(self.weights.columns)
        require_drawable("weights", values)
        return values

    def _name(self, k: int) -> str:
        return f"x{k}" if self.feature_names is None else shortened(str(self.feature_names[k]))


def _selection(n_shown: int, n_nonzero: int, n: int) -> str:
    if n_nonzero == 0:
        return f"all {n:,} weights are zero"
    if n_shown == n_nonzero:
        return f"{n_nonzero:,} of {n:,} weights are not zero"
    return f"the {n_shown} largest of {n:,} weights"


def _of_features(values: ArrayLike | FeatureWeights) -> FeatureWeights:
    if isinstance(values, FeatureWeights):
        return values
    return FeatureWeights.of(np.asarray(values, dtype=float))


def feature_deviations(X: Any, n_features: int | None = None) -> FeatureWeights:
    """Return the standard deviation of each feature, 0 for those that are constant or beyond X."""
    from sklearn.preprocessing import StandardScaler

    columns = Columns(X.shape[1])
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        _, _, columns = occurring(X.indptr, X.indices, X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.sqrt(StandardScaler(with_mean=False).fit(columns.only(X)).var_)
    if n_features is not None and n_features > columns.n_features:
        columns = Columns(n_features, columns.feature(np.arange(len(columns))))
    return FeatureWeights(columns, deviation)
