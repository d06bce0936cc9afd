"""What a loss needs of preference pairs, wherever scores live: by the core, or on a device."""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .queries import QueryGroups

Vector = NDArray[np.float64]
# One number for each row, or a row of them: of NumPy, or of the library of a device, whose arrays
# have the same operators.
Scores: TypeAlias = NDArray[np.float64]


class Sweep(Protocol):
    """The pairs that are active at some scores, and what a loss makes of them; immutable."""

    @property
    def gradient(self) -> Scores:
        """By row: the derivative of the loss by each score."""

    @property
    def n_active(self) -> float:
        """Total weight of the active pairs."""

    @property
    def balance_scores(self) -> float:
        """``b's`` for the balance b of the active pairs."""

    @property
    def scores_laplacian_scores(self) -> float:
        """``s'Ms``; of the squared hinge."""

    @property
    def magnitude(self) -> float:
        """What the rounding of the loss is relative to."""

    @property
    def slope_sum(self) -> float:
        """The sum of all slopes alpha; of the smoothed hinge."""

    @property
    def smoothing(self) -> float:
        """The sum of ``(margin - z) (1 - alpha)``; of the smoothed hinge."""

    @property
    def band_magnitude(self) -> float:
        """What the rounding of these two is relative to."""

    def degree(self) -> Scores:
        """By row: the diagonal of the Laplacian M of the pairs that curve the loss."""

    def laplacian(self, v: Scores, n_threads: int = 1) -> Scores:
        """Return ``M v``, for v of shape (n_samples,) or (n_samples, k)."""


@runtime_checkable
class BlockSweep(Sweep, Protocol):
    """A sweep that multiplies the documents of some queries, where they lie in order of scores."""

    @property
    def half_laplacian_unit(self) -> float:
        """The unit of `half_laplacian`: a power of two that keeps it within single precision."""

    def rows(self) -> NDArray[np.int64]:
        """Return the row at each place, that is in order of query, then score."""

    def half_laplacian(
        self,
        first_query: int,
        last_query: int,
        v: NDArray[np.floating],
        first_column: int,
        last_column: int,
        result: NDArray[np.floating],
    ) -> None:
        """Multiply by N, where ``M = unit (N + N')``, for queries and columns first to last."""


class Pairs(Protocol):
    """The preference pairs of a data set, where scores live; immutable."""

    @property
    def groups(self) -> QueryGroups:
        """The queries."""

    @property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""

    @property
    def pairs_per_query(self) -> Vector:
        """The same for each query."""

    @property
    def n_levels(self) -> NDArray[np.uint32]:
        """Number of distinct labels of each query."""

    @property
    def n_threads(self) -> int:
        """Threads to use; results do not depend on it, to the last bit."""

    def asarray(self, values: ArrayLike) -> Scores:
        """Return scores, or vectors like them, as sweeps take them."""

    def sweep(self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0) -> Sweep:
        """Find the active pairs at `scores`, and what a loss makes of them.

        `loss` is "hinge", "squared_hinge" or "smoothed_hinge", the last with its `width`.
        """
