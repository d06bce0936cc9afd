"""What the partners of every document sum up to, for each way of weighing pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from .fixed_point import FixedPoint
from .partners import Level, Partners, Sides
from .preference_pairs import ArrayPairs
from .windows import Windows


def partner_sums(pairs: ArrayPairs, windows: Windows) -> PartnerSums:
    """Find the active pairs, and sum as their weights require."""
    if pairs.labels is not None:
        return GapSums(pairs, windows)
    return PlainSums(pairs, windows) if pairs.inner is None else WeightedSums(pairs, windows)


class PartnerSums(ABC):
    """Sums over the partners j of every document i, each times the weight of j.

    For two margins, these are the partners active at the first only. Arrays given come in the order
    of scores; results in the last order of `Partners`.

    Attributes
    ----------
    n_better, n_worse : array of shape (n_samples,), float64
        How much the partners weigh that are more, and that are less relevant.
    is_exact : bool
        Whether sums are those of the very numbers given, but for a last rounding.
    """

    is_exact = False

    def __init__(self, pairs: ArrayPairs, windows: Windows) -> None:
        self._pairs, self._windows, self._device = pairs, windows, pairs.device
        self._partners = Partners(pairs, windows)
        self.n_better, self.n_worse = self.counts(0)

    @abstractmethod
    def counts(self, window: int) -> Sides:
        """Return what the better and the worse partners in a window weigh."""

    @abstractmethod
    def differences(self, v: Any, *, precise: bool = False) -> Any:
        """Return the sum of ``v_i - v_j`` over all partners.

        Without `precise`, v may be rounded to about a millionth of a millionth of its largest.
        """

    @abstractmethod
    def slacks(self, margin: float) -> Sides:
        """Return the sums of ``margin - z``, with z the difference of scores of a pair."""

    def last(self, values: Any) -> Any:
        """Bring values from the order of scores to the last order."""
        return self._device.take(values, self._partners.origin)

    def _fixed_point(self, values: Any, at_least: float = 0.0, n_digits: int = 2) -> FixedPoint:
        xp = self._device.xp
        largest = xp.max(xp.abs(values))
        largest = xp.where(largest > at_least, largest, at_least)
        return FixedPoint(self._device, largest, self._pairs.longest, n_digits)


class PlainSums(PartnerSums):
    """Pairs of equal weight: sums and their differences are of whole numbers, and exact."""

    is_exact = True

    def counts(self, window: int) -> Sides:  # noqa: D102
        xp, int64 = self._device.xp, self._device.int64
        better, worse = self._partners.by_side(self._partners.lengths(window), int64)
        return xp.astype(better, xp.float64), xp.astype(worse, xp.float64)

    def differences(self, v: Any, *, precise: bool = False) -> Any:  # noqa: D102
        n = self._whole(self.n_better + self.n_worse)
        fixed = self._fixed_point(v, n_digits=2 if precise else 1)
        return fixed.number(
            [
                n * self.last(digit)
                - self._partners.total(self._partners.run_sums(digit, 0), self._device.int64)
                for digit in fixed.digits(v)
            ]
        )

    def slacks(self, margin: float) -> Sides:  # noqa: D102
        n_better, n_worse = self._whole(self.n_better), self._whole(self.n_worse)
        score = self._windows.score
        fixed = self._fixed_point(score, at_least=abs(margin))
        margins = fixed.digits(self._device.xp.full_like(score[:1], margin))
        better, worse = [], []
        for digit, rho in zip(fixed.digits(score), margins, strict=True):
            run_sums = self._partners.run_sums(digit, 0)
            of_better, of_worse = self._partners.by_side(run_sums, self._device.int64)
            own = self.last(digit)
            better.append(n_better * (rho + own) - of_better)
            worse.append(n_worse * (rho - own) + of_worse)
        return fixed.number(better), fixed.number(worse)

    def _whole(self, counts: Any) -> Any:
        return self._device.xp.astype(counts, self._device.int64)


class WeightedSums(PartnerSums):
    """Pairs weighted by the weights of their documents."""

    def counts(self, window: int) -> Sides:  # noqa: D102
        return self._sums(self._weight, window)

    def differences(self, v: Any, *, precise: bool = False) -> Any:  # noqa: D102
        of_better, of_worse = self._sums(self._weight * v, 0)
        return (self.n_better + self.n_worse) * self.last(v) - (of_better + of_worse)

    def slacks(self, margin: float) -> Sides:  # noqa: D102
        score = self._windows.score
        of_better, of_worse = self._sums(self._weight * score, 0)
        own = self.last(score)
        better = self.n_better * (margin + own) - of_better
        return better, self.n_worse * (margin - own) + of_worse

    @property
    def _weight(self) -> Any:
        """By place in the order of scores: the weight of the document."""
        return self._device.take(self._pairs.inner, self._windows.slot)

    def _sums(self, values: Any, window: int) -> Sides:
        fixed = self._fixed_point(values)
        sides = [
            self._partners.by_side(self._partners.run_sums(digit, window), self._device.int64)
            for digit in fixed.digits(values)
        ]
        better, worse = (fixed.number(list(digits)) for digits in zip(*sides, strict=True))
        return better, worse


class GapSums(WeightedSums):
    """Pairs weighted by the gaps between their labels, too.

    The way from one label to the other leads past one between the halves of their node: this takes
    gaps apart into two parts that are not negative, so that nothing cancels.
    """

    @property
    def _weight(self) -> Any:
        if self._pairs.inner is None:
            return self._device.xp.ones_like(self._windows.score)
        return super()._weight

    def _sums(self, values: Any, window: int) -> Sides:
        return self._partners.by_side(self._run_sums(values, window), self._device.float64)

    def _run_sums(self, values: Any, window: int) -> Iterator[Any]:
        """Yield the sums of values times gaps over the runs, level by level."""
        take, xp = self._device.take, self._device.xp
        labels = take(self._pairs.labels, self._windows.slot)
        for level in self._partners.levels:
            own_part = xp.abs(labels - level.split.label)
            labels, values = take(labels, level.source), take(values, level.source)
            other_part = xp.abs(labels - level.split.label)
            yield self._run_sum(level, other_part * values, window) + own_part * self._run_sum(
                level, values, window
            )

    def _run_sum(self, level: Level, values: Any, window: int) -> Any:
        fixed = self._fixed_point(values)
        digits = fixed.digits(values)
        return fixed.number([self._partners.sum_run(level, d, window) for d in digits])
