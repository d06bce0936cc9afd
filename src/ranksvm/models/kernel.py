"""Kernel models: coefficients of support vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.features import two_dimensional
from .columns import columns_of
from .scaling import multiplied

if TYPE_CHECKING:
    from ..kernel.kernels import Kernel


@dataclass(frozen=True, eq=False)
class KernelModel:
    """A kernel ranker: ``f(x) = sum_p dual_coef_p k(support_vectors_p, x)``.

    Attributes
    ----------
    kernel : ranksvm.kernel.kernels.Kernel
        One with a name.
    support_vectors : ndarray or CSR matrix of shape (n_support, n_features)
    dual_coef : ndarray of shape (n_support,)
    scale : ndarray of shape (n_features,) or None
        What rows are multiplied by before all else; support vectors have been already.
    feature_names : list of str or None
    parameters : dict
        What the model was trained with, beside the kernel.
    training : dict
        What training reported, as for `LinearModel`.
    """

    kernel: Kernel
    support_vectors: Any
    dual_coef: NDArray[np.float64]
    scale: NDArray[np.float64] | None = None
    feature_names: list[str] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def to_model(self) -> KernelModel:
        """Return the model itself, as estimators return what they have learned."""
        return self

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.support_vectors.shape[1])

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Score rows: higher is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Of a data frame, if the model has feature names, the columns of these names, in any
            order and among others.
        n_threads : int, default=1
            Does not change the result.

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        ValueError
            If X has not as many features as the model, or lacks one of those that it names, or a
            value is not finite.
        """
        X = two_dimensional(columns_of(X, self.feature_names)).astype(np.float64, copy=False)
        if X.shape[1] != self.n_features:
            raise InputError(f"X has {X.shape[1]} features but the model has {self.n_features}")
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X)
        X = multiplied(X, self.scale)
        return self.kernel.scores(X, self.support_vectors, self.dual_coef, n_threads)
