r"""Features of a kernel at linear cost.

With m rows z of the training, the components, and K their kernel matrix, Nyström's features of a
row are :math:`\varphi(x) = K^{-1/2} (k(z_1, x) \ldots k(z_m, x))'`, so that
:math:`\varphi(x)'\varphi(z)` approximates :math:`k(x, z)`, exactly for the components.
C. Williams and M. Seeger (2001), *Using the Nyström method to speed up kernel machines*, NIPS 13.

The kernel fitted to rows is :math:`\exp(-|x - z|^2 / v)`, with v the sum of the variances of the
features: the mean of :math:`|x - z|^2` over pairs of rows is 2 v, whatever the scales.
"""

from __future__ import annotations

import reprlib
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ...lazy import cached_property
from ...names import KERNELS
from ...records import record
from .base import MAX_MEMORY, FeatureMap, Matrix, is_sparse, require_room

_ROUNDING = 1e-12


@record
class NystroemMap(FeatureMap):
    """Kernel values with some rows, times a matrix, as of scikit-learn's ``Nystroem``.

    Attributes
    ----------
    components : ndarray of shape (n_components, n_inputs)
    normalization : ndarray of shape (n_components, n_components)
    kernel : str
        As `ranksvm.kernel.kernels.Kernel` names it.
    gamma, degree, coef0 : float
        Those that the kernel has count.
    """

    components: Matrix
    normalization: Matrix
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0

    name: ClassVar[str] = "nystroem"
    FIELDS: ClassVar[dict[str, type]] = {
        "kernel": str,
        "gamma": float,
        "degree": float,
        "coef0": float,
    }
    ARRAYS: ClassVar[dict[str, int]] = {"components": 2, "normalization": 2}

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            shown = reprlib.repr(self.kernel)  # which may be as long as a damaged file
            raise InputError(f"the kernel must be one of {', '.join(KERNELS)}, not {shown}")
        n = len(self.components)
        if self.normalization.shape != (n, n):
            raise InputError(
                f"{n} components need a normalization of shape {(n, n)}, not "
                f"{self.normalization.shape}"
            )
        _ = self._kernel

    @classmethod
    def fitted(cls, X: Any, n_components: int) -> NystroemMap:
        """Return the map of a Gaussian kernel as wide as rows vary, of rows that are drawn.

        Its gamma is 1 by the sum of the features' variances, as scikit-learn's "scale".

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        n_components : int
            All rows, if there are fewer.

        Raises
        ------
        ValueError
            If squares of values overflow.
        """
        from sklearn.kernel_approximation import Nystroem

        n_components = min(n_components, X.shape[0])
        total = _total_variance(X)
        gamma = 1.0 / total if total > 0 else 1.0 / X.shape[1]
        found = Nystroem(gamma=gamma, n_components=n_components, random_state=0).fit(X)
        rows = found.components_
        dense = rows.toarray() if is_sparse(rows) else rows
        return cls(dense, found.normalization_, gamma=gamma)

    @cached_property
    def _kernel(self) -> Any:
        from ...kernel.kernels import Kernel

        return Kernel(self.kernel, self.gamma, self.degree, self.coef0)

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return int(self.components.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many components there are."""
        return len(self.components)

    @property
    def is_additive(self) -> bool:
        """No: each component takes all features."""
        return False

    @property
    def description(self) -> str:
        """What the map does."""
        values = {key: getattr(self, key) for key in KERNELS[self.kernel]}
        listed = ", ".join(f"{key}={value:.9g}" for key, value in values.items())
        return f"{self.n_outputs} components of the kernel {self.kernel} {listed}".strip()

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says, to dense ones."""
        require_room(X.shape[0], 2 * self.n_outputs, "the kernel features", max_memory)
        with np.errstate(over="ignore", invalid="ignore"):
            mapped: Matrix = self._kernel.between(X, self.components) @ self.normalization.T
        return mapped


def _total_variance(X: Any) -> float:
    """Return the sum of the variances of the columns; 0 if that is no more than rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = X.multiply(X) if is_sparse(X) else X * X
        means = np.asarray(X.mean(axis=0))
        level = float(squares.mean(axis=0).sum())
        total = level - float((means * means).sum())
        farthest = 4 * X.shape[0] * level  # no two rows are that far apart, squared
    if not np.isfinite(farthest):
        raise InputError(
            "the features are too large for a kernel, which takes their squares; scale them, say "
            "with scale='minmax'"
        )
    return total if total > _ROUNDING * level else 0.0
