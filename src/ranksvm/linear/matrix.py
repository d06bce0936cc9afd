"""What an objective needs of X, wherever it lives: on the host, on a device, or seen in part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.losses import PairLoss
from ..pairs.sweeps import Pairs, Scores
from .occurring import Columns

Vector = NDArray[np.float64]

Product = Callable[[Vector, int], Vector]

LARGE = 1 << 29  # stored values: so many may be more than memory holds


class Slope(NamedTuple):
    """The gradient of a loss by the weights.

    Attributes
    ----------
    values : ndarray of shape (n_features,)
        ``X'g``.
    rounding : float
        What its sums may lose, relative to the absolute values of their terms.
    """

    values: Vector
    rounding: float


class ColumnSums(NamedTuple):
    """The mean of each column of X, and the sum of its squares."""

    mean: Vector
    squares: Vector


class Hessian(NamedTuple):
    """``Z' H Z`` for X standardised and the Hessian H of a loss, and its products' precision.

    It may be rough: what some of the queries say of it.
    """

    matrix: NDArray[np.float64]
    dtype: type[np.floating]
    is_rough: bool = False


class Fresh(NamedTuple):
    """Scores ``X w`` that were computed from weights, and how exactly each is known."""

    scores: Scores
    rounding: float


class FullStep(NamedTuple):
    """The image ``X p`` of a direction, and the scores, the loss and its derivatives at its end.

    Scores there may be known afresh, too.
    """

    image: Scores
    scores: Scores
    loss: SmoothEvaluation
    slope: Slope
    hessian: Hessian | None
    fresh: Fresh | None = None


class Rounded(NamedTuple):
    """Products with sparse rows that are rounded to single precision.

    Attributes
    ----------
    dot : callable
        Returns ``R @ w``, for w and a number of threads, for the rounded rows R.
    t_dot : callable
        Returns ``R.T @ u``.
    rounding : float
        The largest ``|x_i - r_i|`` of a row.
    """

    dot: Product
    t_dot: Product
    rounding: float

    def off(self, value: float) -> float:
        """Bound how far scores are off, of weights whose objective has no more than a value.

        That is ``max |x_i - r_i| sqrt(2 P)`` (:eq:`rounded`).
        """
        return float(self.rounding * (2 * value) ** 0.5)

    def announced(self, begin: Callable[[], None]) -> Rounded:
        """Return the same, which call `begin` before each product."""

        def after(product: Product) -> Product:
            def announce(v: Vector, n_threads: int) -> Vector:
                begin()
                return product(v, n_threads)

            return announce

        return Rounded(after(self.dot), after(self.t_dot), self.rounding)


class Matrix(Protocol):
    """The design matrix X, touched only through products.

    What has a number for each feature is a NumPy vector on the host; what has one for each row
    lives where X does. All is float64, and so are all sums, whatever the storage of X; none depends
    on the number of threads.

    A matrix may stand for X with an offset taken off each column (`centered`). Vectors u are then
    those that add up to zero, as gradients do: ``(X - offset).T @ u`` is ``X.T @ u``, rounded less.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, number of columns, which are called features, too."""

    @property
    def columns(self) -> Columns:
        """Which features the columns are, where those that occur nowhere have none."""

    @property
    def n_stored(self) -> int:
        """Number of stored values."""

    @property
    def is_large(self) -> bool:
        """Whether passes are charged for as if X came from afar for each: from disk, say.

        Whether it does is not asked of the host: solvers, and so the last bits, are the same in
        memory.
        """

    @property
    def has_walk(self) -> bool:
        """Whether a Hessian walks through long queries; else it takes a sweep for each column."""

    @property
    def costs(self) -> type[Any] | None:
        """What work costs where X is, a kind of `ranksvm.linear.costs.Costs`; None on hosts."""

    @property
    def n_passes(self) -> int:
        """How often all of X has been read so far; an explicit Hessian counts as once."""

    @property
    def rounding_of_sums(self) -> float:
        """What an element of ``X.T @ u`` may lose, relative to the absolute values of its terms."""

    def pairs(self, preferences: AnyPreferences, counting: str, n_threads: int) -> Pairs:
        """Return the preference pairs of the rows, where scores will be."""

    def copied(self, rows: NDArray[np.int64]) -> Matrix | None:
        """Copy some rows, dense, as a matrix in its own right; None where samples are of no use."""

    def zeros(self) -> Scores:
        """Return the scores of weights that are zero, of shape (n_samples,)."""

    def dot(self, w: Vector, n_threads: int = 1) -> Scores:
        """Return ``X @ w``, of shape (n_samples,)."""

    def scores(self, w: Vector, n_threads: int = 1) -> Vector:
        """Return ``X @ w`` on the host."""

    def dot_within(self, w: Vector, n_threads: int = 1) -> tuple[Scores, Scores]:
        """Return ``X @ w``, and a bound of the rounding of each element."""

    def t_dot(self, u: Scores, n_threads: int = 1) -> Vector:
        """Return ``X.T @ u``, of shape (n_features,)."""

    def t_dot_squares(self, u: Scores, v: Scores, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` from one pass over X."""

    def rounded(self, n_threads: int = 1) -> Rounded | None:
        """Return products of the same shape with a copy in single precision, made once.

        A product counts as a pass. It is None where a copy would save nothing.
        """

    def column_squares(self, n_threads: int = 1) -> Vector:
        """Return the sum of the squares of each column; at most a pass over X, once."""

    def rarity(self, n_threads: int = 1) -> Vector | None:
        """Return how rare values of each column are, ``exp(mean of log f) / f_k``; None if unknown.

        f_k is the number of values that column k stores, and the mean is over stored values. It is
        unknown of dense rows; views of some rows may tell that of all. It takes a pass, once.
        """

    def standardization(self, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return the mean of each column and the reciprocal of its standard deviation.

        Constant columns get the factor 1. It takes a pass over X, once.
        """

    def hessian(
        self,
        loss: SmoothEvaluation,
        shift: Vector,
        scale: Vector,
        dtype: type[np.floating],
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H of the loss.

        `dtype` is the precision of the products, numpy.float32 or numpy.float64.
        """

    def rough_hessian(
        self, loss: SmoothEvaluation, scale: Vector, n_threads: int = 1
    ) -> NDArray[np.float64] | None:
        """Compute about the same, by a part of the queries; None where that would not serve."""

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
    ) -> FullStep | None:
        """Return ``X p``, and the loss and its derivatives at ``scores + X p``, from one pass.

        The Hessian is that of `hessian`, standardised; it may be left out, and is for no `dtype`.
        If it is to be known but `roughly`, it may be that of a part of the queries. Without it, and
        for weights at the `end`, the pass may bring fresh scores there, which confirm the value.
        The result is None where X, the queries or the size of numbers do not allow this.
        """

    def centered(self) -> Matrix:
        """View X with columns that lie far from zero brought near it, for training.

        Scores change by the same for all rows. X is not copied; if no column does, this is itself.
        """

    def scaled(self, scale: Vector) -> Matrix:
        """View ``X * scale``, with positive factors of shape (n_features,), without copying X."""


def column_scales(mean: Vector, square: Vector) -> tuple[Vector, Vector]:
    """Return the mean of each column and the reciprocal of its standard deviation.

    Constant columns get the factor 1.

    Parameters
    ----------
    mean, square : ndarray of shape (n_features,)
        The means of the columns, and of their squares.
    """
    deviation = deviations(mean, square)
    return mean, np.divide(1.0, deviation, out=np.ones_like(mean), where=deviation > 0)


def deviations(mean: Vector, square: Vector) -> Vector:
    """Return the standard deviations of columns, of the same; 0 for constants."""
    deviation: Vector = np.sqrt(np.maximum(square - mean**2, 0.0))
    deviation[deviation <= 1e-7 * np.abs(mean)] = 0.0
    return deviation
