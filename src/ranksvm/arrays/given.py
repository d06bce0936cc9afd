"""Given pairs on a device: the sweeps of array libraries.

There are two gathers of scores for a sweep, and exact sums over the pairs of each row, in either
role: the winners lie in order, and so do the losers after a permutation that is known beforehand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.given import GivenPreferences
from ..pairs.given_pairs import GivenPairs
from ..pairs.queries import QueryGroups
from ..pairs.sweeps import LastSweep
from .device import ArrayDevice
from .fixed_point import FixedPoint

Array = Any  # of the device's library
EPSILON = float(np.finfo(np.float64).eps)


class GivenArrayPairs:
    """Given pairs whose scores are arrays on a device; the `Pairs` of `ArrayMatrix`.

    Parameters
    ----------
    preferences : GivenPreferences
    device : ArrayDevice
    n_threads : int, default=1
        Of what is done on the host. The library of the arrays decides on its own.
    """

    def __init__(
        self, preferences: GivenPreferences, device: ArrayDevice, n_threads: int = 1
    ) -> None:
        self.device = device
        self.n_threads = n_threads
        self.last_sweep = LastSweep()
        self._host = GivenPairs(preferences, n_threads)
        self._graph = PairGraph(device, self._host.distinct)

    @property
    def preferences(self) -> GivenPreferences:
        """What the pairs are made of."""
        return self._host.preferences

    @property
    def groups(self) -> QueryGroups:
        """The queries; one, if none are given."""
        return self._host.groups

    @property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""
        return self._host.n_pairs

    @property
    def pairs_per_query(self) -> NDArray[np.float64]:
        """The same for each query."""
        return self._host.pairs_per_query

    def asarray(self, values: ArrayLike) -> Array:
        """Return scores, or vectors like them, as float64 on the device."""
        return self.device.asarray(values, self.device.float64)

    def sweep(
        self, scores: ArrayLike, loss: str, margin: float, width: float = 0.0
    ) -> GivenArraySweep:
        """Find what a loss makes of the pairs at `scores`."""
        return GivenArraySweep(self._graph, self.asarray(scores), loss, margin, width)


class PairGraph:
    """The pairs of a data set on a device, each once, by winner; and how they come by loser.

    Parameters
    ----------
    device : ArrayDevice
    pairs : GivenPreferences
        By winner and loser.

    Attributes
    ----------
    winner, loser : array of shape (n_pairs,)
    weight, margin : array of shape (n_pairs,), or a number for all
    """

    def __init__(self, device: ArrayDevice, pairs: GivenPreferences) -> None:
        self.device = device
        self.n_rows = pairs.n_rows
        self.winner, self.loser = self._whole(pairs.winner), self._whole(pairs.loser)
        self.weight = 1.0 if pairs.weight is None else device.asarray(pairs.weight)
        self.margin = 0.0 if pairs.margin is None else device.asarray(pairs.margin)
        self._by_loser = self._whole(np.argsort(pairs.loser, kind="stable"))
        wins, losses = (
            np.bincount(rows, minlength=self.n_rows) for rows in (pairs.winner, pairs.loser)
        )
        self._win_start, self._loss_start = map(self._starts, (wins, losses))
        self._longest = int(max(wins.max(initial=1), losses.max(initial=1)))

    def _whole(self, values: NDArray[Any]) -> Array:
        return self.device.asarray(values.astype(np.int64))

    def _starts(self, counts: NDArray[Any]) -> Array:
        return self._whole(np.concatenate([[0], np.cumsum(counts)]))

    def sums(self, values: Array) -> tuple[Array, Array]:
        """Add up numbers of pairs, for each row those that it wins, and those that it loses."""
        xp, device = self.device.xp, self.device
        fixed = FixedPoint(device, xp.max(xp.abs(values), axis=-1, keepdims=True), self._longest)
        digits = fixed.digits(values)
        won = self._of_runs(digits, self._win_start)
        lost = self._of_runs(device.take(digits, self._by_loser), self._loss_start)
        return fixed.number(won), fixed.number(lost)

    def _of_runs(self, digits: Array, start: Array) -> Array:
        sums = self.device.prefix_sums(digits, self.device.int64)
        return self.device.take(sums, start[1:]) - self.device.take(sums, start[:-1])

    def ahead(self, v: Array) -> Array:
        """Return for each pair by how much the winner is ahead, of a vector or rows of a block."""
        return self.device.take(v, self.winner) - self.device.take(v, self.loser)


class GivenArraySweep:
    """What a loss makes of given pairs at some scores; what `_core.GivenSweep` is to arrays.

    Attributes and methods have the same names and meaning; arrays live on the device of the pairs.

    Raises
    ------
    ValueError
        If a score is not finite, or there is not one for each row.
    """

    def __init__(
        self, pairs: PairGraph, scores: Array, loss: str, margin: float, width: float = 0.0
    ) -> None:
        self._pairs, self._device = pairs, pairs.device
        xp = self._device.xp
        if scores.shape[0] != pairs.n_rows:
            raise InputError(f"scores has {scores.shape[0]} rows where there are {pairs.n_rows}")
        if not bool(xp.all(xp.isfinite(scores))):
            raise InputError("scores must be finite")
        wanted = margin + pairs.margin
        with np.errstate(over="ignore", invalid="ignore"):
            z = pairs.ahead(scores)
            difference = wanted - z
            lacking = xp.where(difference > 0, difference, 0.0)
            slope, curves = _slopes(xp, loss, difference, lacking, width)
            slopes = pairs.weight * slope
            won, lost = pairs.sums(slopes)
            self._curving = pairs.weight * curves
            squared = loss == "squared_hinge"
            size = xp.abs(z) + abs(wanted)
            coarse = 4 * EPSILON * size
            of_pair = size * (lacking + coarse) if squared else size
            terms = {
                "value": pairs.weight * (lacking**2 if squared else lacking),
                "offset": pairs.weight
                * (lacking * (2 * wanted - lacking) if squared else slope * wanted),
                "smoothing": pairs.weight * lacking * (1 - slope),
                "magnitude": xp.where(difference + coarse > 0, pairs.weight * of_pair, 0.0),
            }
            self.gradient: Array = lost - won
            total = dict(zip(terms, self._device.totals(list(terms.values())), strict=True))
            self.gradient_norm = self._length(self.gradient)
            self.gradient_rounding = 8 * EPSILON * self._length(lost + won)
        self.value, self.offset = total["value"], total["offset"]
        self.magnitude = self.band_magnitude = total["magnitude"]
        self.smoothing = total["smoothing"] if loss == "smoothed_hinge" else 0.0

    def _length(self, vector: Array) -> float:
        xp = self._device.xp
        largest = float(xp.max(xp.abs(vector)))
        if not 0 < largest < np.inf:
            return largest
        return float(largest * self._device.totals([(vector / largest) ** 2])[0] ** 0.5)

    def degree(self) -> Array:
        """Return the diagonal of M, by row."""
        won, lost = self._pairs.sums(self._curving)
        return won + lost

    def laplacian(self, v: Array, n_threads: int = 1) -> Array:
        """Return ``M v``, for v of shape (n_samples,) or (n_samples, k), column by column."""
        if v.ndim == 1:
            won, lost = self._pairs.sums(self._curving * self._pairs.ahead(v))
            return won - lost
        xp = self._device.xp
        columns = [self.laplacian(v[:, k]) for k in range(v.shape[1])]
        return xp.stack(columns, axis=1) if columns else v


def _slopes(
    xp: Any, loss: str, difference: Array, lacking: Array, width: float
) -> tuple[Array, Array]:
    """Return the slope alpha of each pair, and 1 where it curves the loss."""
    active = difference > 0
    if loss == "hinge":
        return xp.astype(active, xp.float64), xp.astype(active, xp.float64)
    if loss == "squared_hinge":
        return 2 * lacking, xp.astype(active, xp.float64)
    in_band = active & (difference <= width)
    slope = xp.where(lacking < width, lacking / width, 1.0)
    return slope, xp.astype(in_band, xp.float64)
