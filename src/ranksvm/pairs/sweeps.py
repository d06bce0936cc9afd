"""What a loss needs of preference pairs, wherever scores live: by the core, or on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .given import AnyPreferences
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
    def value(self) -> float:
        """The loss; for the smoothed hinge, that of the hinge."""

    @property
    def offset(self) -> float:
        """Where the tangent meets 0, less the smoothing."""

    @property
    def magnitude(self) -> float:
        """What the rounding of the loss is relative to."""

    @property
    def gradient_norm(self) -> float:
        """The length of the gradient."""

    @property
    def gradient_rounding(self) -> float:
        """How exactly the gradient is known: a bound of the length of its rounding."""

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


class LabelSweep(Sweep, Protocol):
    """A sweep over the pairs of labels, which counts those that are active at one margin."""

    @property
    def n_active(self) -> float:
        """Total weight of the active pairs."""


def has_exact_slopes(sweep: Sweep) -> bool:
    """Say whether slopes are those of pairs, one by one, which no rounding takes beyond 1."""
    return not (hasattr(sweep, "n_active") or getattr(sweep, "is_of_parts", False))


class BlockSweep(LabelSweep, Protocol):
    """A sweep that multiplies the documents of some queries, where they lie in its own order.

    That is the order of scores in long queries, and any order in short ones.
    """

    @property
    def half_laplacian_unit(self) -> float:
        """The unit of `half_laplacian`: a power of two that keeps it within single precision."""

    def rows(self, first: int = 0, last: int | None = None) -> NDArray[np.int64]:
        """Return the row at each place from first to last, in the order of the sweep."""

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

    @property
    def has_gaps(self) -> bool:
        """Whether pairs weigh the gaps between their labels."""

    @property
    def n_windows(self) -> int:
        """1; or 2 where rows leave the windows again, for the smoothed hinge."""

    def window_ends(self, query: int, window: int) -> NDArray[np.uint32]:
        """Return the first place beyond the window of each place of a query, which ascend."""

    def walk32(self, query: int, width: int) -> _core.Walk32:
        """Multiply by N as `half_laplacian` does, piece by piece, rows of `width` numbers."""

    def walk64(self, query: int, width: int) -> _core.Walk64:
        """Do the same in double precision."""


class LastSweep:
    """The sweep that was made last, whose making is what asks for it.

    Solvers hold several evaluations at a time, but form products at one. A sweep takes more memory
    than scores and gradient together; so all but the last are let go, and made again where products
    with an earlier one are asked for.
    """

    def __init__(self) -> None:
        # A weak reference, since what makes a sweep leads back to the pairs that hold this.
        self._held: tuple[ref[Callable[[], Sweep]], Sweep] | None = None

    def of(self, make: Callable[[], Sweep]) -> Sweep:
        """Return what `make` has made, or makes now."""
        held = self._held  # one read: threads may share this
        if held is not None and held[0]() is make:
            return held[1]
        self._held = held = None
        sweep = make()
        self._held = ref(make), sweep
        return sweep


class Pairs(Protocol):
    """The preference pairs of a data set, where scores live; immutable."""

    @property
    def preferences(self) -> AnyPreferences:
        """What the pairs are made of."""

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
    def last_sweep(self) -> LastSweep:
        """The last sweep with derivatives, in memory."""

    @property
    def n_threads(self) -> int:
        """Threads to use; results do not depend on it, to the last bit."""

    def asarray(self, values: ArrayLike) -> Scores:
        """Return scores, or vectors like them, as sweeps take them."""

    def sweep(self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0) -> Sweep:
        """Find the active pairs at `scores`, and what a loss makes of them.

        `loss` is "hinge", "squared_hinge" or "smoothed_hinge", the last with its `width`; `margin`
        is added to those of pairs that have margins.
        """
