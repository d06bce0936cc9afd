"""Sums over the partners of every document, in one pass over the data for each bit of a rank.

A wavelet tree: the documents, sorted by score, are partitioned by one bit of their label rank after
the other, the highest first, and stay in the order of their scores within each node, that is among
those that agree in the bits so far. A document is more relevant than another of its node if its
next bit is 1 and the other's is 0. So the partners of a document that differ from it in this bit
first are a run of the other half of its node, and their sum is a difference of two prefix sums.
Each pass treats all nodes and all queries alike, whatever their sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from ..records import record
from .layout import PairLayout, Split
from .windows import Windows

Run = tuple[Any, Any]  # begin, end


@record
class Level:
    """One pass: arrays of shape (n_samples,), in the order before the partition.

    Attributes
    ----------
    split : Split
    source : array
        After the partition: where the document at each place was before.
    sides : array of bool, of shape (2, n_samples)
        Whether partners are more relevant, that is the bit is 0; and whether they are less.
    runs : list of tuple of array (begin, end)
        The partners, a run after the partition. For two margins: those active at the first only,
        and those active at both.
    """

    split: Split
    source: Any
    sides: Any
    runs: list[Run]


class Partners:
    """The active pairs, as runs of partners on each level.

    What is summed comes in the order of scores; sums come in the last order, that of query, then
    label, then score.

    Parameters
    ----------
    pairs : PairLayout
    windows : Windows
        With one margin or two.

    Attributes
    ----------
    levels : list of Level
    origin : array of shape (n_samples,)
        For the last order: the place in the order of scores.
    """

    def __init__(self, pairs: PairLayout, windows: Windows) -> None:
        self._pairs, self._device = pairs, pairs.device
        self.origin = self._device.arange(pairs.n_samples, pairs.place_dtype)
        rank = self._device.take(pairs.rank, windows.slot)
        bounds = self._device.xp.stack(windows.ends + windows.firsts)
        self.levels: list[Level] = []
        for split in pairs.splits:
            level, bounds = self._partition(rank, bounds, split)
            rank = self._device.take(rank, level.source)
            self.origin = self._device.take(self.origin, level.source)
            self.levels.append(level)

    def _partition(self, rank: Any, bounds: Any, split: Split) -> tuple[Level, Any]:
        """Partition by a bit; each row of bounds has a place within the node of each document."""
        pairs, device, xp = self._pairs, self._device, self._device.xp
        bit = (rank >> split.bit) & 1
        is_worse = bit == 0
        ones = device.prefix_sums(bit, pairs.place_dtype)
        # Where what lies at a bound, or would, goes among the ones, and among the zeros.
        before = device.take(ones, xp.reshape(bounds, (-1,)))
        in_ones = xp.reshape(before, tuple(bounds.shape)) + split.to_ones
        in_zeros = bounds + split.middle - in_ones
        place = device.arange(pairs.n_samples, pairs.place_dtype)
        among_ones = ones[:-1] + split.to_ones
        source = device.inverse(xp.where(is_worse, place + split.middle - among_ones, among_ones))
        n_margins = bounds.shape[0] // 2
        far = xp.where(is_worse, in_ones[:n_margins, :], in_zeros[n_margins:, :])
        edges = [*(far[margin, :] for margin in range(n_margins)), split.middle]

        def run(near: Any, far: Any) -> Run:
            return xp.where(is_worse, near, far), xp.where(is_worse, far, near)

        runs = [run(near, far) for far, near in pairwise(edges)]
        moved = device.take(xp.where(is_worse, in_zeros, in_ones), source)
        return Level(split, source, xp.stack([is_worse, ~is_worse]), runs), moved

    def lengths(self, window: int) -> Iterator[Any]:
        """Yield the lengths of the runs, level by level."""
        for level in self.levels:
            begin, end = level.runs[window]
            yield self._device.xp.astype(end - begin, self._device.int64)

    def forget_inner(self) -> None:
        """Free the runs of the partners active at both of two margins."""
        for level in self.levels:
            del level.runs[1:]

    def run_sums(self, values: Any, window: int) -> Iterator[Any]:
        """Yield the sums of whole numbers over the runs, level by level."""
        for level in self.levels:
            values = self._device.take(values, level.source)
            yield self.sum_run(level, values, window)

    def sum_run(self, level: Level, values: Any, window: int) -> Any:
        """Sum whole numbers over the runs of a level; they come in the order after its split."""
        begin, end = level.runs[window]
        sums = self._device.prefix_sums(values, self._device.int64)
        return self._device.take(sums, end) - self._device.take(sums, begin)

    def add_up(
        self, sums: Iterable[Any], shape: tuple[int, ...], dtype: Any, *, by_side: bool = False
    ) -> Any:
        """Add up the sums over runs of all levels, which are of a shape.

        By side, those of the better partners and those of the worse ones are stacked.
        """
        xp, device = self._device.xp, self._device
        shape = (2, *shape) if by_side else shape
        total = xp.zeros(shape, dtype=dtype, device=device.device)
        for level, found in zip(self.levels, sums, strict=True):
            if by_side:
                ones = (1,) * (len(shape) - 2)
                found = xp.where(xp.reshape(level.sides, (2, *ones, -1)), found, 0)
            total = device.take(total + found, level.source)
        return total
