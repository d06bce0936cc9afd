"""Axes of charts: where values lie, and which of them are named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .texts import short

_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Axis:
    """A range of values, and the places of its ends.

    Attributes
    ----------
    low, high : float
        Different, and positive if the axis is logarithmic.
    start, end : float
        Where these lie.
    logarithmic : bool
    whole : bool
        Whether only whole numbers are named.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False
    whole: bool = False

    @classmethod
    def over(
        cls, values: Sequence[float], start: float, end: float, *, logarithmic: bool = False
    ) -> Axis:
        """Return an axis that values fit on."""
        low, high = min(values), max(values)
        if logarithmic:
            low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
            high = high if high > low else 10 * low
        elif not high > low:
            room = abs(low) or 1.0
            low, high = low - room, high + room
        return cls(low, high, start, end, logarithmic)

    def place(self, value: float) -> float:
        """Return where a value lies."""
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self, n_most: int = 5) -> list[tuple[float, str]]:
        """Return places of round values, and what these are."""
        values = self._decades(n_most) if self.logarithmic else self._round_values(n_most)
        return [(self.place(value), self._named(value)) for value in values]

    def _named(self, value: float) -> str:
        if self.logarithmic and not 1e-2 < value < 1e4:
            return f"1e{round(math.log10(value))}"
        return short(value)

    def _round_values(self, n_most: int) -> list[float]:
        raw = (self.high - self.low) / n_most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(k * power for k in _STEPS if k * power >= raw * (1 - 1e-9))
        step = max(step, 1.0) if self.whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step)))
        return [round(k * step, digits) + 0.0 for k in range(first, last + 1)]

    def _decades(self, n_most: int) -> list[float]:
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        step = -(-(last - first) // n_most) or 1
        return [10.0**k for k in range(first, last + 1, step)]
