"""The cutting-plane model of a risk, and the minimum of the model by its dual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core

Vector = NDArray[np.float64]

MAX_AGE = 15


class CuttingPlanes:
    """Planes below a convex, non-negative risk R, and the model that they make.

    ::

        R(w) >= max(0, a_k'w + b_k for all planes k)

    The minimum of ``0.5 |w|^2 + max(0, a_k'w + b_k)`` is a lower bound of that of
    ``0.5 |w|^2 + R(w)``. Its dual is small, one weight per plane (:eq:`model-dual`; Teo et
    al. 2010, section 2)::

        maximise  b'alpha - 0.5 |A'alpha|^2   over   alpha >= 0, sum alpha <= 1,

    and ``w = -A'alpha``. A new plane costs one product with the others; the solution starts from
    the previous one. Planes that have not been active for some time are dropped, which leaves the
    bound as it is.

    Slopes may be inexact (`Plane`); the bound allows for it, as far as every element of
    ``A'alpha`` may be larger.

    Parameters
    ----------
    size : int
        Number of weights.
    n_threads : int, default=1
    max_age : int, default=15
        For how many minima of the model a plane is kept that is not active.

    Attributes
    ----------
    lower_bound : float
        The minimum of the model.
    minimizer : ndarray of shape (size,)
        Where the model is least.
    """

    def __init__(self, size: int, n_threads: int = 1, max_age: int = MAX_AGE) -> None:
        self.n_threads = n_threads
        self._max_age = max_age
        self.lower_bound = 0.0
        self.minimizer: Vector = np.zeros(size)
        self._slopes: NDArray[np.float64] = np.empty((16, size))
        self._offsets: Vector = np.zeros(0)
        self._noises: Vector = np.zeros(0)
        self._grain: Vector | float = 0.0
        self._ages: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        # The first element is the plane 0, which makes an inequality of the sum of the weights.
        self._qp = _core.SimplexQp()
        self._qp.add(np.zeros(1), 0.0)

    def __len__(self) -> int:
        """Return the number of planes held."""
        return len(self._ages)

    def add(
        self, slope: Vector, offset: float, noise: float = 0.0, grain: Vector | float = 0.0
    ) -> None:
        """Add a plane, as in `Plane`, and find the new minimum."""
        n = len(self)
        if n == len(self._slopes):
            self._slopes = np.concatenate([self._slopes, np.empty_like(self._slopes)])
        self._slopes[n] = slope
        products = self._matrix(n + 1).dot(slope, n_threads=self.n_threads)
        self._qp.add(np.concatenate([[0.0], products]), offset)
        self._offsets = np.append(self._offsets, offset)
        self._noises = np.append(self._noises, noise)
        self._ages = np.append(self._ages, 0)
        self._grain = grain
        self._solve()
        self._drop()

    def rescale(self, factor: float) -> None:
        """Follow the risk, multiplied by a factor greater than 0."""
        if len(self) == 0:
            return
        self._slopes[: len(self)] *= factor
        self._offsets *= factor
        self._noises *= factor
        self._qp.scale(factor)
        self._solve()

    def _matrix(self, n: int) -> _core.DenseMatrix64:
        return _core.DenseMatrix64(self._slopes[:n])

    def _solve(self) -> None:
        self._qp.solve()
        weights = self._qp.weights[1:]
        self.minimizer = self._matrix(len(self)).t_dot(-weights, n_threads=self.n_threads)
        # The products of long planes are too coarse to tell the bound; any weights give one.
        longest = np.abs(self.minimizer)
        longest += float(weights @ self._noises) * self._grain
        self.lower_bound = float(weights @ self._offsets) - 0.5 * float(longest @ longest)
        self._ages = np.where(weights > 0, 0, self._ages + 1)

    def _drop(self) -> None:
        """Drop planes out of use, many at a time."""
        in_use = np.flatnonzero(self._ages <= self._max_age)
        if len(in_use) > len(self) - self._max_age:
            return
        self._slopes[: len(in_use)] = self._slopes[in_use]
        self._offsets = self._offsets[in_use]
        self._noises = self._noises[in_use]
        self._ages = self._ages[in_use]
        self._qp.keep(np.concatenate([[0], in_use + 1]))
