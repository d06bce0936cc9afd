"""The documents of every query in ascending order of their scores, and which pairs are active."""

from __future__ import annotations

import math
from typing import Any

from .layout import PairLayout


class Windows:
    """Documents sorted by query, then score ("places"), and the window of each.

    The pair of a worse document at place p and a better one at place j of its query is active at a
    margin, ``margin - (s_j - s_p) > 0``, if and only if ``j < end[p]``, if and only if
    ``first[j] <= p``.

    Parameters
    ----------
    pairs : PairLayout
    scores : array of shape (n_samples,)
        By row; float64, finite.
    margins : tuple of float
        Descending.

    Attributes
    ----------
    slot : array of shape (n_samples,)
        The document at each place.
    score : array of shape (n_samples,)
        Its score, shifted to be small, without effect on losses.
    ends, firsts : list of array of shape (n_samples,)
        The windows, for each margin.
    """

    def __init__(self, pairs: PairLayout, scores: Any, margins: tuple[float, ...]) -> None:
        self._pairs = pairs
        device, xp = pairs.device, pairs.device.xp
        by_slot = pairs.by_slot(scores) + 0.0  # -0 sorts with 0
        self.slot = pairs.sort_by_query(xp.argsort(by_slot, stable=True))
        score = device.take(by_slot, self.slot)
        self.ends = [self._window_end(score, margin) for margin in margins]
        places = device.arange(pairs.n_samples, pairs.place_dtype)
        self.firsts = [
            xp.astype(xp.searchsorted(end, places, side="right"), pairs.place_dtype)
            for end in self.ends
        ]
        self.score = self._shift(score, margins[0])

    def _window_end(self, score: Any, margin: float) -> Any:
        """Find the first score of each query that is not less than another by the margin.

        By bisection, so that the very comparison decides that defines active pairs.
        """
        device, xp = self._pairs.device, self._pairs.device.xp
        n_bits = self._pairs.longest.bit_length()
        beyond = xp.full_like(score[:1], math.inf)
        padded = xp.concat([score, xp.broadcast_to(beyond, (1 << n_bits,))])
        end, last = self._pairs.begin, self._pairs.end
        for bit in reversed(range(n_bits)):
            further = end + (1 << bit)
            inside = device.take(padded, further - 1) - score < margin
            end = xp.where(inside & (further <= last), further, end)
        return end

    def _shift(self, score: Any, margin: float) -> Any:
        """Shift scores to be small.

        Far apart, the small differences of scores that the loss is made of would be lost. But a
        query falls into chains that no active pair crosses, wherever the scores rise by the margin
        between documents that are all in order; and a shift of a chain changes nothing.
        """
        device = self._pairs.device
        rises = ~(score[1:] - score[:-1] < margin)
        begin, end = self._pairs.runs(rises & self._pairs.in_order(self.slot)[1:])
        return score - device.take(score, begin + (end - begin) // 2)
