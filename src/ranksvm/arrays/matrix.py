"""The design matrix X on a device: the interface of `DesignMatrix`, for the array library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linear.matrix import column_scales
from ..linear.occurring import Columns
from ..pairs.given import AnyPreferences, GivenPreferences
from ..pairs.rounding import relative_rounding
from ..pairs.top import TopPreferences
from ..pairs.top_list import listed
from .costs import GpuCosts
from .given import GivenArrayPairs
from .hessian import weight_space_hessian
from .pairs import ArrayPairs
from .rows import DenseRows, SparseRows

if TYPE_CHECKING:
    from ..pairs.loss_evaluation import SmoothEvaluation
    from ..pairs.losses import PairLoss
    from ..pairs.sweeps import Pairs, Scores
    from .device import ArrayDevice

Vector = NDArray[np.float64]
Array = Any  # of the device's library


class ArrayMatrix:
    """Products with X where it lives; the `Matrix` of a device.

    Weights, and what else has a number for each feature, are NumPy vectors on the host; scores, and
    what else has a number for each row, are arrays on the device. All of them are float64, and so
    are all sums, whatever the storage of X.

    Parameters
    ----------
    rows : DenseRows or SparseRows
    factors : ndarray of shape (n_columns,), optional
        What each column is multiplied by.
    columns : Columns, optional
        Which features the columns are; all by default.

    Attributes
    ----------
    device : ArrayDevice
    shape : tuple of (n_samples, n_columns)
    n_stored : int
        Number of stored values.
    is_large : bool
        Whether rows stay on the host, from where they are copied for each pass.
    has_walk : bool
        Always false: there are sweeps of blocks of columns.
    costs : type of Costs or None
        What work costs on a GPU.
    columns : Columns
    n_passes : int
        How often all of X has been read so far, by this view.
    """

    has_walk = False

    def __init__(
        self,
        rows: DenseRows | SparseRows,
        factors: Vector | None = None,
        columns: Columns | None = None,
    ) -> None:
        self._rows = rows
        self._factors = np.ones(rows.shape[1]) if factors is None else factors
        self.device: ArrayDevice = rows.device
        self.shape, self.n_stored = rows.shape, rows.n_stored
        self.is_large = rows.streamed
        self.costs = GpuCosts if rows.device.is_gpu else None
        self.columns = Columns(self.shape[1]) if columns is None else columns
        self.n_passes = 0
        self._squares: Vector | None = None
        self._standardization: tuple[Vector, Vector] | None = None

    @property
    def rounding_of_sums(self) -> float:
        """What an element of ``X.T @ u`` may lose, relative to the absolute values of its terms."""
        return relative_rounding(self._rows.rows_in_a_sum)

    def pairs(self, preferences: AnyPreferences, counting: str, n_threads: int) -> Pairs:
        """Return the preference pairs of the rows, on the device; there is one way of counting."""
        if isinstance(preferences, TopPreferences):
            preferences = listed(preferences)
        if isinstance(preferences, GivenPreferences):
            return GivenArrayPairs(preferences, self.device, n_threads)
        return ArrayPairs(preferences, self.device, n_threads)

    def scaled(self, scale: Vector) -> ArrayMatrix:
        """View ``X * scale``, with positive factors of shape (n_features,), without copying X."""
        return ArrayMatrix(self._rows, self._factors * scale, self.columns)

    def centered(self) -> ArrayMatrix:
        """View X with columns that lie far from zero brought near it; if none does, this itself.

        See `ranksvm.linear.offsets`.
        """
        rows = self._rows.centered()
        return self if rows is self._rows else ArrayMatrix(rows, self._factors, self.columns)

    def copied(self, rows: NDArray[np.int64]) -> None:
        """Copy nothing: on a device, samples are not drawn."""

    def zeros(self) -> Array:
        """Return the scores of weights that are zero, of shape (n_samples,)."""
        return self.device.zeros(self.shape[0], self.device.float64)

    def dot(self, w: Vector, n_threads: int = 1) -> Array:
        """Return ``X @ w``, of shape (n_samples,), on the device."""
        self.n_passes += 1
        return self._rows.dot(self.device.asarray(self._factors * w))

    def scores(self, w: Vector, n_threads: int = 1) -> Vector:
        """Return ``X @ w`` on the host."""
        values: Vector = self.device.to_host(self.dot(w))
        return values

    def dot_within(self, w: Vector, n_threads: int = 1) -> tuple[Array, Array]:
        """Return ``X @ w``, and a bound of the rounding of each element, on the device."""
        self.n_passes += 1
        return self._rows.dot_within(self.device.asarray(self._factors * w))

    def t_dot(self, u: Array, n_threads: int = 1) -> Vector:
        """Return ``X.T @ u``, of shape (n_features,), on the host."""
        self.n_passes += 1
        product: Vector = self.device.to_host(self._rows.t_dot(u))
        return self._factors * product

    def t_dot_squares(self, u: Array, v: Array, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X.T @ u`` and ``(X * X).T @ v``, on the host, from one pass over X."""
        self.n_passes += 1
        product, squares = map(self.device.to_host, self._rows.t_dot_squares(u, v))
        return self._factors * product, self._factors**2 * squares

    def rounded(self, n_threads: int = 1) -> None:
        """Nothing is copied here."""

    def column_squares(self, n_threads: int = 1) -> Vector:
        """Return the sum of the squares of each column; at most a pass over X, once."""
        if self._squares is None:
            self.standardization()
        assert self._squares is not None
        return self._squares

    def rarity(self, n_threads: int = 1) -> None:
        """Return None: values are not counted here."""

    def standardization(self, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return the mean of each column and the reciprocal of its standard deviation.

        Constant columns get the factor 1.
        """
        if self._standardization is None:
            n = self.shape[0]
            share = self.zeros() + 1.0 / n
            mean, square = self.t_dot_squares(share, share)
            self._squares = n * square
            self._standardization = column_scales(mean, square)
        return self._standardization

    def hessian(
        self,
        loss: SmoothEvaluation,
        shift: Vector,
        scale: Vector,
        dtype: type[np.floating],
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H of the loss.

        See `ranksvm.arrays.hessian.weight_space_hessian`.
        """
        self.n_passes += 1
        shift, scale = shift / self._factors, scale * self._factors
        return weight_space_hessian(self._rows, loss, shift, scale, dtype)

    def rough_hessian(self, loss: SmoothEvaluation, scale: Vector, n_threads: int = 1) -> None:
        """Return None: all queries are summed at once."""

    def full_step(
        self,
        loss: PairLoss,
        scores: Scores,
        p: Vector,
        dtype: type[np.floating] | None,
        n_threads: int = 1,
        *,
        roughly: bool = False,
        end: Vector | None = None,
    ) -> None:
        """Return None: there are no blocks of whole queries."""
