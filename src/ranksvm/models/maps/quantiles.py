r"""Features by their quantiles.

With knots :math:`t_0 \le \ldots \le t_r` of a feature, its quantiles in the training rows, a
value becomes the share of values below it: :math:`q(x)` is linear between the knots, with
:math:`q(t_k) = k / r`, and constant beyond them. Where knots are equal, it is the mean of what the
first and the last of them stand for, as of scikit-learn's ``QuantileTransformer``.

A ranking is the same for :math:`q(x) - q(0)`, which leaves zero as it is and so sparse rows sparse.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...records import record
from .base import (
    MAX_MEMORY,
    FeatureMap,
    Matrix,
    Vector,
    densified,
    is_sparse,
    require_ascending,
    require_room,
)

N_QUANTILES = 1000
_SAMPLED_ROWS = 10_000
_BOUND = 1e-7  # of shares, beyond which the normal distribution is cut off
_DISTRIBUTIONS = ("uniform", "normal")


@record
class QuantileMap(FeatureMap):
    """Each feature by its quantiles.

    Attributes
    ----------
    quantiles : ndarray of shape (n_quantiles, n_inputs)
        Ascending.
    distribution : {"uniform", "normal"}
        Of what results: shares, or the quantiles of a normal distribution at these.
    from_zero : bool
        Whether zero stays zero.
    """

    quantiles: Matrix
    distribution: str = "uniform"
    from_zero: bool = False

    name: ClassVar[str] = "quantiles"
    FIELDS: ClassVar[dict[str, type]] = {"distribution": str, "from_zero": bool}
    ARRAYS: ClassVar[dict[str, int]] = {"quantiles": 2}
    keeps_features: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.distribution not in _DISTRIBUTIONS:
            raise InputError(f"the distribution must be one of {', '.join(_DISTRIBUTIONS)}")
        require_ascending(self.quantiles, "quantiles")

    @classmethod
    def fitted(cls, X: Any, *, max_memory: float = MAX_MEMORY) -> QuantileMap:
        """Return the map of rows, of 10,000 drawn from them if there are more; zero stays zero.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        max_memory : float, default=4e9
            Bytes that the quantiles may take.

        Raises
        ------
        ValueError
            If they take more.
        """
        n_samples = X.shape[0]
        require_room(min(N_QUANTILES, n_samples), X.shape[1], "the quantiles", max_memory)
        if n_samples > _SAMPLED_ROWS:
            chosen = np.random.default_rng(0).choice(n_samples, _SAMPLED_ROWS, replace=False)
            X = X[np.sort(chosen)]
        quantiles = np.empty((min(N_QUANTILES, X.shape[0]), X.shape[1]))
        for k, values in enumerate(_columns(X)):
            quantiles[:, k] = _quantiles(np.sort(values), len(quantiles))
        return cls(quantiles, from_zero=True)

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return int(self.quantiles.shape[1])

    @property
    def description(self) -> str:
        """What the map does."""
        return f"{self.n_inputs} features by {len(self.quantiles)} quantiles, {self.distribution}"

    @property
    def domain(self) -> tuple[Vector, Vector]:
        """The least and the greatest quantile of each feature."""
        return self.quantiles[0], self.quantiles[-1]

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says; sparse ones stay sparse where zero stays zero."""
        if is_sparse(X):
            if self.from_zero or not self._at_zero().any():
                return self._of_stored(X)
            X = densified(X, max_memory)
        mapped = np.empty(X.shape)
        for k in range(X.shape[1]):
            mapped[:, k] = self._of_column(k, X[:, k])
        return mapped

    def _of_stored(self, X: Any) -> Any:
        by_column = X.tocsc()
        values = np.empty(len(by_column.data))
        for k in np.flatnonzero(np.diff(by_column.indptr)).tolist():
            part = slice(by_column.indptr[k], by_column.indptr[k + 1])
            values[part] = self._of_column(k, by_column.data[part])
        parts = values, by_column.indices, by_column.indptr
        return type(by_column)(parts, shape=X.shape).tocsr()

    def _at_zero(self) -> Vector:
        zero = np.zeros(1)
        return np.array([self._quantile(column, zero)[0] for column in self.quantiles.T])

    def _of_column(self, k: int, values: Vector) -> Vector:
        quantile = partial(self._quantile, self.quantiles[:, k])
        return quantile(values) - quantile(np.zeros(1)) if self.from_zero else quantile(values)

    def _quantile(self, knots: Vector, values: Vector) -> Vector:
        shares = np.linspace(0, 1, len(knots))
        from_below = np.interp(values, knots, shares)
        found = 0.5 * (from_below - np.interp(-values, -knots[::-1], -shares[::-1]))
        if self.distribution == "normal":
            return _normal(found, values - _BOUND < knots[0], values + _BOUND > knots[-1])
        found[values == knots[-1]] = 1
        found[values == knots[0]] = 0
        return found


def _normal(shares: Vector, low: NDArray[np.bool_], high: NDArray[np.bool_]) -> Vector:
    """Return the quantiles of a normal distribution, those of what is low and high cut off."""
    from scipy.special import ndtri

    shares[high], shares[low] = 1, 0
    least, most = ndtri(_BOUND - np.spacing(1)), ndtri(1 - (_BOUND - np.spacing(1)))
    found: Vector = np.clip(ndtri(shares), least, most)
    return found


def _quantiles(ascending: Vector, n_quantiles: int) -> Vector:
    """Return evenly spaced quantiles, linear between values; of equal ones, these to the last bit.

    Otherwise rounding would tell which of equal knots a value is at.
    """
    last = max(n_quantiles - 1, 1)
    below, rest = np.divmod(np.arange(n_quantiles) * (len(ascending) - 1), last)
    low, high = ascending[below], ascending[np.minimum(below + 1, len(ascending) - 1)]
    share = rest / last
    between = low * (1 - share) + high * share
    found: Vector = np.maximum.accumulate(np.where(low == high, low, between))
    return found


def _columns(X: Any) -> Any:
    """Yield the values of each feature."""
    if not is_sparse(X):
        yield from X.T
        return
    by_column = X.tocsc()
    for begin, end in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True):
        values = np.zeros(X.shape[0])
        values[by_column.indices[begin:end]] = by_column.data[begin:end]
        yield values
