"""What the partners of every document sum up to, for each way of weighing pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from .fixed_point import FixedPoint
from .layout import PairLayout
from .partners import Level, Partners
from .windows import Windows


def partner_sums(pairs: PairLayout, windows: Windows) -> PartnerSums:
    """Find the active pairs, and sum as their weights require."""
    if pairs.labels is not None or pairs.roles is not None:
        return LevelSums(pairs, windows)
    return PlainSums(pairs, windows) if pairs.inner is None else WeightedSums(pairs, windows)


class PartnerSums(ABC):
    """Sums over the partners j of every document i, each times the weight of j.

    For two margins, these are the partners active at the first only. Arrays given come in the order
    of scores, as vectors or as the rows of a block; results in the last order of `Partners`. Pairs
    of results are those over the better partners, and over the worse ones.

    Attributes
    ----------
    slot, score : array of shape (n_samples,)
        As in `Windows`.
    n_better, n_worse : array of shape (n_samples,), float64
        How much the partners weigh.
    is_exact : bool
        Whether sums are those of the very numbers given, but for a last rounding.
    """

    is_exact = False

    def __init__(self, pairs: PairLayout, windows: Windows) -> None:
        self._pairs, self._device = pairs, pairs.device
        self.slot, self.score = windows.slot, windows.score
        self._partners = Partners(pairs, windows)
        self.n_better, self.n_worse = self.counts(0)

    @abstractmethod
    def counts(self, window: int) -> list[Any]:
        """Return what the partners in a window weigh, by side."""

    @abstractmethod
    def differences(self, v: Any, *, precise: bool = False) -> Any:
        """Return the sum of ``v_i - v_j`` over all partners.

        Unless `precise`, v may be rounded to ``2**-60 * longest`` of its largest, `longest` being
        the size of the longest query.
        """

    @abstractmethod
    def slacks(self, margin: float) -> list[Any]:
        """Return the sums of ``margin - z``, z the difference of scores of a pair, by side."""

    def last(self, values: Any) -> Any:
        """Bring values from the order of scores to the last order."""
        return self._device.take(values, self._partners.origin)

    def forget_inner(self) -> None:
        """Free what only counts of partners active at both of two margins need."""
        self._partners.forget_inner()

    def _fixed_point(self, values: Any, at_least: float = 0.0, n_digits: int = 2) -> FixedPoint:
        xp = self._device.xp
        largest = xp.max(xp.abs(values), axis=-1, keepdims=True)
        largest = xp.where(largest > at_least, largest, at_least)
        return FixedPoint(self._device, largest, self._pairs.longest, n_digits)


class PlainSums(PartnerSums):
    """Pairs of equal weight: sums and their differences are of whole numbers, and exact."""

    is_exact = True

    def counts(self, window: int) -> list[Any]:  # noqa: D102
        lengths = self._partners.lengths(window)
        sides = self._partners.add_up(lengths, self._device.int64, by_side=True)
        return [self._device.xp.astype(n, self._device.float64) for n in sides]

    def differences(self, v: Any, *, precise: bool = False) -> Any:  # noqa: D102
        n = self._whole(self.n_better + self.n_worse)
        fixed = self._fixed_point(v, n_digits=2 if precise else 1)
        differences = []
        for digit in fixed.digits(v):
            run_sums = self._partners.run_sums(digit, 0)
            [of_partners] = self._partners.add_up(run_sums, self._device.int64)
            differences.append(n * self.last(digit) - of_partners)
        return fixed.number(differences)

    def slacks(self, margin: float) -> list[Any]:  # noqa: D102
        n_better, n_worse = self._whole(self.n_better), self._whole(self.n_worse)
        fixed = self._fixed_point(self.score, at_least=abs(margin))
        margins = fixed.digits(self._device.xp.full_like(self.score[:1], margin))
        better, worse = [], []
        for digit, rho in zip(fixed.digits(self.score), margins, strict=True):
            run_sums = self._partners.run_sums(digit, 0)
            sides = self._partners.add_up(run_sums, self._device.int64, by_side=True)
            own = self.last(digit)
            better.append(n_better * (rho + own) - sides[0])
            worse.append(n_worse * (rho - own) + sides[1])
        return [fixed.number(better), fixed.number(worse)]

    def _whole(self, counts: Any) -> Any:
        return self._device.xp.astype(counts, self._device.int64)


class WeightedSums(PartnerSums):
    """Pairs weighted by the weights of their documents."""

    def counts(self, window: int) -> list[Any]:  # noqa: D102
        return self._sums(self._weight, window, by_side=True)

    def differences(self, v: Any, *, precise: bool = False) -> Any:  # noqa: D102
        [of_partners] = self._sums(self._weight * v, 0)
        return (self.n_better + self.n_worse) * self.last(v) - of_partners

    def slacks(self, margin: float) -> list[Any]:  # noqa: D102
        of_better, of_worse = self._sums(self._weight * self.score, 0, by_side=True)
        own = self.last(self.score)
        better = self.n_better * (margin + own) - of_better
        return [better, self.n_worse * (margin - own) + of_worse]

    @property
    def _weight(self) -> Any:
        """In the order of scores: the weight of the document."""
        return self._device.take(self._pairs.inner, self.slot)

    def _sums(self, values: Any, window: int, *, by_side: bool = False) -> list[Any]:
        """Sum over all partners or, by side, over better and worse ones."""
        fixed = self._fixed_point(values)
        digits = [
            self._partners.add_up(
                self._partners.run_sums(digit, window), self._device.int64, by_side=by_side
            )
            for digit in fixed.digits(values)
        ]
        return [fixed.number(list(side)) for side in zip(*digits, strict=True)]


class LevelSums(WeightedSums):
    """Pairs weighted by the gaps between their labels, or by the roles of their documents, too.

    The way from one label to the other leads past one between the halves of their node: this takes
    gaps apart into two parts that are not negative, so that nothing cancels. A document is the
    better one in all pairs of a level, or the worse one in all.
    """

    @property
    def _weight(self) -> Any:
        if self._pairs.inner is None:
            return self._device.xp.ones_like(self.score)
        return super()._weight

    def _sums(self, values: Any, window: int, *, by_side: bool = False) -> list[Any]:
        sums = self._run_sums(values, window)
        return self._partners.add_up(sums, self._device.float64, by_side=by_side)

    def _run_sums(self, values: Any, window: int) -> Iterator[Any]:
        """Yield the sums of values over the runs, times gaps and roles, level by level."""
        take, xp = self._device.take, self._device.xp
        labels, roles = self._by_score(self._pairs.labels), self._by_score(self._pairs.roles)
        for level in self._partners.levels:
            values = weighed = take(values, level.source)
            role: Any = None
            if roles is not None:
                role = xp.where(level.is_worse, roles[1, :], roles[0, :])
                roles, weighed = take(roles, level.source), take(role, level.source) * values
            sums = self._sum_run(level, weighed, window)
            if labels is not None:
                own_way = xp.abs(labels - level.split.label)
                labels = take(labels, level.source)
                way = xp.abs(labels - level.split.label)
                sums = self._sum_run(level, way * weighed, window) + own_way * sums
            yield sums if role is None else role * sums

    def _by_score(self, by_slot: Any) -> Any:
        return None if by_slot is None else self._device.take(by_slot, self.slot)

    def _sum_run(self, level: Level, values: Any, window: int) -> Any:
        fixed = self._fixed_point(values)
        digits = fixed.digits(values)
        return fixed.number([self._partners.sum_run(level, digit, window) for digit in digits])
