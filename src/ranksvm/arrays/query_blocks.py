"""The Laplacian of the active pairs of short queries, as dense blocks of numbers.

Where queries are short, their pairs are few enough to write all of them down: a GPU multiplies
blocks of m x m numbers faster than it sums over windows. Queries of nearly the same size are taken
together, and the shorter ones filled up by rows without pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import record

if TYPE_CHECKING:
    from .layout import PairLayout
    from .windows import Windows

Array = Any  # of the device's library
BLOCK_NUMBERS = 1 << 25  # of pairs, or of values of their rows
SIMILAR, TINY = 0.8, 16  # share of the largest size in a block; sizes that are all similar
PAIRS_PER_SUM = 2  # that are written down in the time of a sum over a window


def suits_blocks(layout: PairLayout, n_features: int) -> bool:
    """Tell whether blocks take less than sums over windows, level by level, for all features."""
    sizes = layout.sizes.astype(np.float64)
    n_sums = float(layout.n_samples) * n_features * len(layout.splits)
    return are_for_blocks(layout.longest, float(sizes @ sizes), n_sums)


def are_for_blocks(longest: float, squares: float, n_sums: float) -> bool:
    """Tell the same of the rows of the longest query, the squares of all, and the sums."""
    return longest**2 <= BLOCK_NUMBERS and squares <= PAIRS_PER_SUM * n_sums


def query_blocks(layout: PairLayout, n_features: int) -> Iterator[QueryBlock]:
    """Yield all queries that can have pairs, the longest first."""
    order = np.argsort(-layout.sizes, kind="stable")[: np.count_nonzero(layout.sizes > 1)]
    sizes = layout.sizes[order]
    begins_there, sizes_there = map(layout.places, (layout.begins[order], sizes))
    first = 0
    while first < len(sizes):
        width = int(sizes[first])
        least = SIMILAR * width if width > TINY else 0.0
        most = max(BLOCK_NUMBERS // (width * max(width, n_features)), 1)
        last = min(first + most, int(np.searchsorted(-sizes, -least, side="right")))
        begin, size = (of[first:last][:, None] for of in (begins_there, sizes_there))
        yield QueryBlock(layout, begin, size, width)
        first = last


@record
class QueryBlock:
    """Queries of nearly the same size.

    Attributes
    ----------
    layout : PairLayout
    begin, size : array of shape (n_queries, 1)
        The first place of each, and how many.
    width : int
        The largest size.
    """

    layout: PairLayout
    begin: Array
    size: Array
    width: int

    @property
    def places(self) -> Array:
        """The places, of shape (n_queries, width); beyond the last of a query, that again."""
        nth = self._nth
        return self.begin + self.layout.device.xp.where(nth < self.size, nth, self.size - 1)

    @property
    def _nth(self) -> Array:
        return self.layout.device.arange(self.width, self.layout.place_dtype)[None, :]

    def adjacency(self, windows: Windows, dtype: Any) -> tuple[Array, Array]:
        """Find the pairs that curve the loss.

        Returns
        -------
        slots : array of shape (n_queries, width)
            The document at each place.
        weights : array of shape (n_queries, width, width)
            What each pair weighs, in units of `pair_unit`.
        """
        layout, xp, nth = self.layout, self.layout.device.xp, self._nth
        places = self.places
        slots = _at(layout, windows.slot, places)
        rank = _at(layout, layout.rank, slots)
        ends = [
            xp.where(nth < self.size, _at(layout, end, places) - self.begin, 0)[:, :, None]
            for end in windows.ends
        ]
        curved = (rank[:, :, None] < rank[:, None, :]) & (nth[None, :, :] < ends[0])
        for end in ends[1:]:  # active at the second margin, too: on a straight part
            curved = curved & (nth[None, :, :] >= end)
        pairs = self._in_roles(xp.astype(curved, dtype), slots)
        weights = pairs + xp.permute_dims(pairs, (0, 2, 1))
        return slots, self._weighted(weights, slots)

    def _in_roles(self, pairs: Array, slots: Array) -> Array:
        """Weigh pairs, of the worse document and the better one, by what these are there."""
        layout, xp = self.layout, self.layout.device.xp
        if layout.roles is None:
            return pairs
        better, worse = (_at(layout, layout.roles[k, :], slots) for k in (0, 1))
        weights = xp.expand_dims(worse, axis=2) * xp.expand_dims(better, axis=1)
        return pairs * xp.astype(weights, pairs.dtype)

    def _weighted(self, weights: Array, slots: Array) -> Array:
        layout, xp = self.layout, self.layout.device.xp
        for of_row, axis in ((layout.outer, 2), (layout.inner, 1)):
            if of_row is not None:
                own = _at(layout, of_row / _unit(layout, of_row), slots)
                weights = weights * xp.astype(xp.expand_dims(own, axis=axis), weights.dtype)
        if layout.labels is not None:
            label = _at(layout, layout.labels, slots)
            gaps = xp.abs(label[:, :, None] - label[:, None, :]) / _unit(layout, layout.labels)
            weights = weights * xp.astype(gaps, weights.dtype)
        return weights


def pair_unit(layout: PairLayout) -> Array:
    """Return the unit of the weights of pairs in blocks, a number on the device."""
    unit = layout.device.zeros(1, layout.device.float64) + 1.0
    for of_row in (layout.outer, layout.inner, layout.labels):
        unit = unit if of_row is None else unit * _unit(layout, of_row)
    return unit


def _unit(layout: PairLayout, values: Array) -> Array:
    """Return the largest absolute value, so that what is measured in it fits single precision."""
    xp = layout.device.xp
    largest = xp.max(xp.abs(values))
    return xp.where(largest > 0, largest, 1.0)


def _at(layout: PairLayout, values: Array, places: Array) -> Array:
    """Return the values at places of any shape."""
    xp = layout.device.xp
    return xp.reshape(layout.device.take(values, xp.reshape(places, (-1,))), tuple(places.shape))
