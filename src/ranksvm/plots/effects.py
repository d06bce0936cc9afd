"""What an additive ranker has learnt of each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..linear.features import two_dimensional
from ..models import KernelModel
from ..models.columns import columns_of
from ..models.effects import effect_curves, split_at_queries
from ..models.from_estimators import model_of
from ..models.maps.base import MAX_MEMORY, densified
from .figures import BLUE, new_grid, require_drawable, shortened

_RUG = 200  # values that are marked


class FeatureEffectDisplay:
    """A curve for each feature: what its value adds to a score.

    Scores of linear rankers, also of quantiles or splines (`ranksvm.models.maps`), are sums of such
    curves. Where they rise, higher values rank higher; a flat curve says that a feature does not
    matter there. Their level means nothing: each is drawn around its mean. Marks below a curve are
    values of the feature in the data.

    Parameters
    ----------
    values, effects : array-like of shape (n_points, n_features)
        Values of each feature, ascending, and what they add.
    feature_names : sequence of n_features str or int, optional
        "x0", "x1" ... by default.
    samples : array-like of shape (n_samples, n_features), optional
        Values of the features in data, which are marked.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        From the feature with the largest effect on.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
    shown_ : ndarray of int
        The features of the curves.
    """

    axes_: list[Any]
    figure_: Any
    lines_: list[Any]
    shown_: NDArray[np.int64]

    def __init__(
        self,
        values: ArrayLike,
        effects: ArrayLike,
        feature_names: Sequence[str | int] | None = None,
        *,
        samples: ArrayLike | None = None,
    ) -> None:
        self.values, self.effects = np.asarray(values, float), np.asarray(effects, float)
        self.feature_names = feature_names
        self.samples = None if samples is None else np.asarray(samples, float)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        qid: ArrayLike | None = None,
        feature_names: Sequence[str | int] | None = None,
        n_shown: int = 6,
        axes: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> FeatureEffectDisplay:
        """Draw the curves of a model.

        Parameters
        ----------
        estimator : fitted RankSVM or RankSVMCV, LinearModel, or pipeline
            What `save_model` takes, without Nystroem.
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Rows whose values are marked, and which the curves span, but for one in a hundred at
            each end. Models with quantiles or splines can do without.
        qid : array-like of shape (n_samples,), optional
            For models that scale within queries: their curves are over the scaled values.
        feature_names : sequence of n_features str or int, optional
            By default those of the model.
        n_shown, axes, **kwargs
            As for `plot`.

        Returns
        -------
        FeatureEffectDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the scores are no sum of what each feature adds, neither X nor the model tells what
            values there are, or query ids are needed.
        """
        model = model_of(estimator)
        if isinstance(model, KernelModel):
            raise InputError(
                "the scores are no sum of what each feature adds: the model ranks by the kernel "
                f"{model.kernel}"
            )
        samples = None
        if X is not None:
            if model.needs_queries and qid is None:
                raise InputError("the model maps features within queries: give qid with X")
            X = two_dimensional(columns_of(X, model.feature_names)).astype(np.float64)
            samples = densified(split_at_queries(model)[0].mapped(X, qid), MAX_MEMORY)
        values, effects = effect_curves(model, X, qid)
        names = model.feature_names if feature_names is None else feature_names
        return cls(values, effects, names, samples=samples).plot(axes, n_shown=n_shown, **kwargs)

    def plot(
        self, axes: Sequence[Any] | None = None, *, n_shown: int = 6, **kwargs: Any
    ) -> FeatureEffectDisplay:
        """Draw the curves of the features whose effect varies most.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            Where to draw, one for each curve; a new figure by default.
        n_shown : int, default=6
            Number of curves; fewer if there are fewer features, or axes.
        **kwargs
            Given to matplotlib's ``plot``.

        Returns
        -------
        FeatureEffectDisplay
            This object, with ``axes_``, ``figure_``, ``lines_`` and ``shown_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_shown` is not at least 1, or shapes do not go together.
        """
        self._require_shapes(n_shown)
        require_drawable("values of the features", self.values)
        require_drawable("effects", self.effects)
        centred, spread = self._centred()
        order = np.argsort(-spread, kind="stable")[:n_shown]
        axes = list(new_grid(len(order)) if axes is None else axes)[: len(order)]
        self.shown_ = order[: len(axes)]
        reach = 1.05 * np.abs(centred[:, self.shown_]).max(initial=0.0) or 1.0
        self.lines_ = [
            self._draw(ax, k, centred[:, k], reach, kwargs)
            for ax, k in zip(axes, self.shown_.tolist(), strict=True)
        ]
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _draw(
        self, ax: Any, k: int, effect: NDArray[np.float64], reach: float, kwargs: dict[str, Any]
    ) -> Any:
        (line,) = ax.plot(self.values[:, k], effect, **{"color": BLUE, **kwargs})
        ax.axhline(0, color="0.3", linewidth=0.8)
        ax.set_ylim(-reach, reach)
        if self.samples is not None:
            low, high = self.values[[0, -1], k]
            seen = np.sort(self.samples[:, k])
            seen = seen[(seen >= low) & (seen <= high)]
            marked = np.unique(seen[np.linspace(0, len(seen) - 1, _RUG).astype(int)])
            ax.vlines(marked, 0, 0.04, color="0.3", lw=0.6, transform=ax.get_xaxis_transform())
        name = f"x{k}" if self.feature_names is None else shortened(str(self.feature_names[k]))
        ax.set_xlabel(name, parse_math=False)
        ax.set_ylabel("effect on the score")
        ax.grid(True, alpha=0.3)
        return line

    def _centred(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the effects around their means over the data, and how much they vary there."""
        effects = self.effects
        if self.samples is not None:
            columns = zip(self.samples.T, self.values.T, self.effects.T, strict=True)
            effects = np.column_stack([np.interp(*column) for column in columns])
        return self.effects - effects.mean(axis=0), effects.std(axis=0)

    def _require_shapes(self, n_shown: int) -> None:
        if n_shown < 1:
            raise InputError(f"n_shown must be at least 1, not {n_shown}")
        if self.values.ndim != 2 or self.values.shape != self.effects.shape:
            raise InputError(
                f"there are values of shape {self.values.shape} but effects of shape "
                f"{self.effects.shape}"
            )
        n_features = self.values.shape[1]
        for what, count in [
            ("names", n_features if self.feature_names is None else len(self.feature_names)),
            ("samples", n_features if self.samples is None else self.samples.shape[1]),
        ]:
            if count != n_features:
                raise InputError(f"there are curves of {n_features} features but {what} of {count}")
