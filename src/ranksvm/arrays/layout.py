"""The preference pairs of a data set, on a device: labels, queries and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..pairs.preferences import Preferences
from ..records import record
from .device import ArrayDevice


@record
class Split:
    """How one bit of the label ranks splits nodes: the documents that agree in the bits above it.

    Documents lie node by node; those of a node where the bit is 0 come first. Where they lie within
    a node depends on the scores, but not where nodes and their halves begin.

    Attributes
    ----------
    bit : int
    middle : array of shape (n_samples,)
        For each place: where the ones of its node begin.
    to_ones : array of shape (n_samples,)
        The same, less the number of ones before the node.
    label : array of shape (n_samples,) or None
        With gaps: a label between the zeros and the ones.
    """

    bit: int
    middle: Any
    to_ones: Any
    label: Any


class PairLayout:
    """Which documents are to be ordered, and how much each pair weighs.

    Documents are numbered query by query ("slots"), as in `QueryGroups`. Everything that does not
    depend on scores is computed here, once.

    Parameters
    ----------
    device : ArrayDevice
    preferences : Preferences
    rank : ndarray of shape (n_samples,)
        By slot: the rank of the label among those of its query.

    Attributes
    ----------
    row : array of shape (n_samples,) or None
        The row in each slot; None if rows come query by query.
    query : array of shape (n_samples,)
        By slot: the number of the query.
    rank : array of shape (n_samples,)
        By slot: the rank of the label.
    inner, outer : array of shape (n_samples,) or None
        By slot: the row's weight, and the same times the query's; None if all are 1. The former is
        0 for all documents that belong to no pair, if there are any.
    roles : array of shape (2, n_samples) or None
        By slot: what the row weighs besides as the better one of a pair, and as the worse one. What
        brings these close to 1 is in `outer`.
    labels : array of shape (n_samples,) or None
        By slot, with gaps.
    splits : list of Split
        One for each bit of the ranks, the highest first.
    begins, sizes : ndarray of shape (n_queries,)
        The first slot of each query, and how many it has; on the host.
    longest : int
        Documents of the longest query.
    """

    def __init__(self, device: ArrayDevice, preferences: Preferences, rank: NDArray[Any]) -> None:
        groups, preferences = preferences.groups, preferences.without_equal_roles()
        self.device = device
        self.n_samples, self.n_queries = groups.n_samples, groups.n_queries
        self.place_dtype = device.int32 if self.n_samples < 2**30 else device.int64
        self.begins, self.sizes = groups.indptr[:-1], np.diff(groups.indptr)
        self.longest = int(self.sizes.max(initial=0))
        self.row = None if groups.order is None else self.places(groups.order)
        self._indptr = self.places(groups.indptr)
        self.query = self.places(np.repeat(np.arange(self.n_queries), self.sizes))
        self.rank = self.places(rank)
        self.inner = self.outer = self.labels = None
        self.roles: Any = None
        if preferences.sample_weight is not None:
            self.inner = self.outer = self.by_slot(device.asarray(preferences.sample_weight))
        if preferences.query_weight is not None:
            of_query = device.asarray(np.repeat(preferences.query_weight, self.sizes))
            self.outer = of_query if self.inner is None else self.inner * of_query
            if not preferences.query_weight.all():
                own = device.xp.ones_like(of_query) if self.inner is None else self.inner
                self.inner = device.xp.where(self.outer > 0, own, 0.0)
        if preferences.has_roles:
            self._set_roles(preferences)
        if preferences.pair_weight == "gap":
            self.labels = self.by_slot(device.asarray(preferences.y))
            if self.inner is not None:  # what weighs nothing has no level
                self.labels = device.xp.where(self.inner > 0, self.labels, 0.0)
        by_rank = self.sort_by_query(device.xp.argsort(self.rank, stable=True))
        n_bits = int(rank.max(initial=0)).bit_length()
        self.splits = [self._split(by_rank, bit) for bit in reversed(range(n_bits))]
        self._least_ranks = self._sum_least_ranks(by_rank)

    def _set_roles(self, preferences: Preferences) -> None:
        """Take the weights of both roles, by powers of two that bring their largest close to 1."""
        xp, ones = self.device.xp, np.ones(self.n_samples)
        weights = preferences.better_weight, preferences.worse_weight
        roles = np.stack([ones if weight is None else weight for weight in weights])
        units = 2.0 ** (np.frexp(roles.max(axis=1, initial=0.0))[1] - 1)
        by_slot = self.by_slot(self.device.asarray(roles / units[:, np.newaxis]))
        own = xp.ones_like(by_slot[0, :]) if self.inner is None else self.inner
        self.outer = own if self.outer is None else self.outer
        for unit in units:
            self.outer = self.outer * float(unit)
        self.inner = xp.where(xp.max(by_slot, axis=0) > 0, own, 0.0)
        self.roles = by_slot

    def places(self, values: NDArray[Any]) -> Any:
        """Bring places, or other whole numbers up to their number, to the device."""
        narrow = np.int32 if self.place_dtype == self.device.int32 else np.int64
        return self.device.asarray(np.asarray(values, dtype=narrow))

    def by_slot(self, by_row: Any) -> Any:
        """Bring an array from the order of rows to that of slots."""
        return by_row if self.row is None else self.device.take(by_row, self.row)

    def rows(self, slots: Any) -> Any:
        """Return the rows in these slots."""
        return slots if self.row is None else self.device.take(self.row, slots)

    @property
    def begin(self) -> Any:
        """By slot: where its query begins."""
        return self.device.take(self._indptr, self.query)

    @property
    def end(self) -> Any:
        """By slot: where its query ends."""
        return self.device.take(self._indptr, self.query + 1)

    def sort_by_query(self, order: Any) -> Any:
        """Sort slots by query, otherwise as they come."""
        device, xp = self.device, self.device.xp
        if self.n_queries > 1:
            order = device.take(order, xp.argsort(device.take(self.query, order), stable=True))
        return xp.astype(order, self.place_dtype)

    def runs(self, ends: Any) -> tuple[Any, Any]:
        """Find where the run of each place begins and ends.

        Parameters
        ----------
        ends : array of shape (n_samples - 1,), bool
            Whether a run ends with a place, as one does with every query.

        Returns
        -------
        begin, end : array of shape (n_samples,)
        """
        xp = self.device.xp
        ends = ends | (self.query[1:] != self.query[:-1])
        run = self.device.prefix_sums(ends, self.place_dtype)
        begin, end = (xp.searchsorted(run, run, side=side) for side in ("left", "right"))
        return xp.astype(begin, self.place_dtype), xp.astype(end, self.place_dtype)

    def _split(self, by_rank: Any, bit: int) -> Split:
        device, xp = self.device, self.device.xp
        rank = device.take(self.rank, by_rank)
        node = rank >> (bit + 1)
        begin, end = self.runs(node[1:] != node[:-1])
        ones = device.prefix_sums((rank >> bit) & 1, self.place_dtype)
        ones_before = device.take(ones, begin)
        middle = end - (device.take(ones, end) - ones_before)
        label = None
        if self.labels is not None:
            within = xp.where(middle < end, middle, end - 1)
            label = device.take(device.take(self.labels, by_rank), within)
        return Split(bit, middle, middle - ones_before, label)

    def _sum_least_ranks(self, by_rank: Any) -> Any:
        """For any number of documents of some weight: the least sum of their ranks."""
        device, xp = self.device, self.device.xp
        rank = device.take(self.rank, by_rank)
        if self.inner is None:
            return device.prefix_sums(rank, device.int64)
        counts = device.take(self.inner, by_rank) > 0
        sums = device.prefix_sums(xp.where(counts, rank, 0), device.int64)
        number = device.prefix_sums(counts, self.place_dtype)
        wanted = device.arange(self.n_samples + 1, self.place_dtype)
        found = xp.searchsorted(number, wanted)
        return device.take(sums, xp.where(found <= self.n_samples, found, 0))

    def in_order(self, order: Any) -> Any:
        """Tell which places lie above all lower ranks of their query, and below all others.

        That is, no pair with a document before such a place and one from there on is out of order.
        Documents of no weight do not matter.

        Parameters
        ----------
        order : array of shape (n_samples,)
            The slot at each place.

        Returns
        -------
        array of shape (n_samples,), bool
        """
        device, xp = self.device, self.device.xp
        rank = device.take(self.rank, order)
        if self.inner is None:
            return device.prefix_sums(rank, device.int64)[:-1] == self._least_ranks[:-1]
        counts = device.take(self.inner, order) > 0
        sums = device.prefix_sums(xp.where(counts, rank, 0), device.int64)
        number = device.prefix_sums(counts, self.place_dtype)
        return sums[:-1] == device.take(self._least_ranks, number[:-1])
