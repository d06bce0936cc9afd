"""The record that solvers keep: when to stop, and what is confirmed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .cutting_planes import CuttingPlanes
from .protocols import CountsPasses, Objective, Point, Remembered
from .result import ROUNDING, TINY, Callback, Iteration, SolverResult, Status

Vector = NDArray[np.float64]
T = TypeVar("T")

PATIENCE, LITTLE = 10, 10 * ROUNDING  # iterations, and what they have to gain of value or bound
STEEP = 0.15  # what a step leaves of a distance
# Smoothed steps lead down on another function first, but have to gain some of the gap.
LONG_PATIENCE, SMOOTHED_LITTLE, STILL = 30, 1e-4, 1e-6
HAIR = 0.01  # of what is allowed, by which more is left than was claimed


@dataclass(eq=False, repr=False)
class Progress:
    """A solver's record: history, best point and lower bound, and when to stop.

    Value and gap are those of the best point so far, the gap that between its value and the best
    lower bound. A solver has converged when the gap is at most `tol` of the value, at most
    `epsilon`, or at most a `share` of both the value and what it has gained on `at_rest`. A
    callback that returns True (not merely something true) stops it. So do ten iterations (thirty
    with smoothing) that better neither the value nor the gap, or thirty that hardly do, a gap at
    the limit of rounding, and one that is too large for a number.

    However it ends, the last value is confirmed: computed afresh from the weights. If the gap that
    it leaves is too large after all, the solver has stalled; one that goes on from there has to
    reach as much less. So has the same one, if that is too large by no more than a hundredth.

    Attributes
    ----------
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    epsilon : float, default=0.0
        Absolute duality gap at which to stop, too.
    share, at_rest : float, default=0.0
        Where to stop, too: what may be left of what there was to gain, and the value before.
    max_iter : int, default=1000
    callback : callable, optional
        Called with each `Iteration`.
    n_products, n_evaluations : int
        As in `Iteration`.
    history : list of Iteration
    lower_bound : float
    best, latest : Point or None
        Of the present solver.
    on_its_way, left_off : Point or None
        Where the present solver ended on a wide way, if it did, for another to go on from; and
        where one before it did that gave up.
    solver : str
    first : int
        Where in the history the present solver began.
    beside : tuple of int
        From where to where another one has been since then, if one has.
    left : list of float
        What was left at each line of the history: the relative gap, or if larger the smoothing, or
        without kinks the distance from the minimum that the gradient tells of.
    widths : list of float
        The width of the smoothing at each line of the history, 1 if there is none.
    is_steep : bool
        Whether the last step brought that distance down to 0.15 of it, of a smooth function.
    is_by_planes : bool
        Whether the last bound was that of planes, of which the gap alone tells what is left.
    planes : CuttingPlanes or None
        Below the risk, for one solver to go on with those of another.
    unsmoothed : Objective or None
        With the kinks that planes go along, where the solver minimises a smoothed one.
    """

    tol: float = 1e-3
    epsilon: float = 0.0
    max_iter: int = 1000
    callback: Callback | None = None
    n_products: int = 0
    n_evaluations: int = 1
    history: list[Iteration] = field(default_factory=list)
    lower_bound: float = -np.inf
    best: Point | None = None
    latest: Point | None = None
    on_its_way: Point | None = None
    left_off: Point | None = None
    solver: str = ""
    first: int = 0
    beside: tuple[int, int] = (0, 0)
    left: list[float] = field(default_factory=list)
    is_steep: bool = False
    is_by_planes: bool = False
    planes: CuttingPlanes | None = None
    unsmoothed: Objective | None = None
    share: float = 0.0
    at_rest: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    widths: list[float] = field(default_factory=list)
    _trace: list[tuple[float, float]] = field(default_factory=list)  # value and bound
    _confirmed: Vector | None = None  # weights
    _excess: float = 0.0  # of a gap that was confirmed, over what it had been before
    _patience: Callable[[Progress], bool] | None = None
    _ends: Status = Status.GIVEN_UP  # without it
    _gave_up: bool = False
    _kept: Remembered | None = None  # of a solver before that gave up, or beside the way
    _objective: CountsPasses | None = None
    _passes_before: int = 0

    def begin(self, solver: str, objective: CountsPasses, *, keeps: bool = False) -> None:
        """Let a solver begin, at weights that it evaluates afresh.

        What held up another before it does not count against it, and where that one gave up, or
        this one comes from afar and `keeps` it, the best point is kept.
        """
        if self._objective is None:
            self._passes_before = objective.n_passes
        self._kept = self._remembered() if keeps or self._gave_up else None
        self.left_off = self.on_its_way if self._gave_up else None
        self.on_its_way, self._gave_up = None, False
        self.n_evaluations += bool(self.history)
        self.solver, self._objective, self.first = solver, objective, len(self.history)
        self.beside = self.first, self.first
        self.best = self.latest = None

    @contextmanager
    def patient(
        self, patience: Callable[[Progress], bool], ends: Status = Status.GIVEN_UP
    ) -> Iterator[None]:
        """Let a solver go on only as long as it promises something; otherwise, that is how it ends.

        By default that is for another solver, which promises to be quicker, to go on.
        """
        outer = self._patience, self._ends
        self._patience, self._ends = patience, ends
        try:
            yield
        finally:
            self._patience, self._ends = outer

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let another solver go on for a while, and then the present one where it was.

        What that leaves are its lines in the history, its bound, and its best point if that is
        better.
        """
        before, began = vars(self).copy(), len(self.history)
        try:
            yield
        finally:
            best = self._remembered()
            of_all = {name: vars(self)[name] for name in ("n_products", "n_evaluations")}
            vars(self).update(before, **of_all, lower_bound=self.lower_bound)
            self.beside = began, len(self.history)
            if best is not None and (self._better is None or best.value < self._better.value):
                self._kept = best

    def own(self, of_lines: Sequence[T]) -> list[T]:
        """Return what belongs to the lines of the present solver, of something for each line."""
        came, left = self.beside
        return [*of_lines[self.first : came], *of_lines[max(left, self.first) :]]

    def record(
        self, evaluation: Point, step: float, lower_bound: float | None = None
    ) -> Status | None:
        """Add a line to the history; return a status if this is the end.

        The lower bound is the evaluation's own, unless another is given.
        """
        self.lower_bound = max(
            self.lower_bound, evaluation.lower_bound if lower_bound is None else lower_bound
        )
        self.is_steep = self.latest is not None and _is_steep(self.latest, evaluation)
        self.latest, best = evaluation, self.best
        if best is None or _is_better(evaluation, best):
            self.best = best = evaluation
        self.widths.append(evaluation.width)
        self._trace.append((best.value, self.lower_bound))
        shown = self._better or best
        value = shown.value
        n_before = len(self.history)
        dual_gap = self._relative_gap(value, shown.rounding)
        status = self._status(evaluation, value, dual_gap, n_before)
        if status is not None:
            claimed, (value, dual_gap) = dual_gap, self._confirm()
            excess, has_claimed = dual_gap - claimed, status is Status.CONVERGED
            status = self._confirmed_status(status, value, dual_gap)
            self._excess = excess if self.is_small(value, excess) else 0.0
            if has_claimed and status is Status.STALLED and self.is_small(value, excess / HAIR):
                status = None
        line = self._line(n_before, value, dual_gap, step)
        self.history.append(line)
        self.is_by_planes = lower_bound is not None
        far = 0.0 if self.is_by_planes else _left(evaluation) / max(abs(value), TINY)
        self.left.append(max(dual_gap, far))
        if status is None:
            self._confirmed = None
        if self.callback is not None and self.callback(line) is True and status is None:
            status = Status.STOPPED
        if status is None and self._patience is not None and not self._patience(self):
            status, self._gave_up = self._ends, self._ends is Status.GIVEN_UP
        return status

    def ends_with(self, point: Point) -> bool:
        """Say whether the gap at a point beside the way is small enough; if so, keep that."""
        gap = self._relative_gap(point.value, point.rounding) + self._excess
        if is_end := self.is_small(point.value, gap):
            self._kept = point.remembered()
        return is_end

    def _remembered(self) -> Remembered | None:
        better = self._better
        return self.best.remembered() if better is self.best and self.best is not None else better

    @property
    def _better(self) -> Remembered | None:
        kept, best = self._kept, self.best
        return kept if best is None or (kept is not None and kept.value < best.value) else best

    def _line(self, iteration: int, value: float, dual_gap: float, step: float) -> Iteration:
        return Iteration(
            iteration=iteration,
            value=value,
            dual_gap=dual_gap,
            step=step,
            n_products=self.n_products,
            n_evaluations=self.n_evaluations,
            n_passes=self.n_passes,
            solver=self.solver,
            seconds=time.perf_counter() - self.started,
        )

    def _relative_gap(self, value: float, rounding: float) -> float:
        gap = max(value - self.lower_bound, rounding) / max(abs(value), TINY)
        # Rounded up, so that what is left of the value is below the bound; which is never negative.
        gap = max(gap + ROUNDING, ROUNDING)
        return min(gap, 1.0) if self.lower_bound >= 0 else gap

    def is_small(self, value: float, dual_gap: float) -> bool:
        """Say whether a relative gap is small enough, for a value."""
        return bool(dual_gap <= max(self.tol, self.allowed(value) / max(abs(value), TINY)))

    def allowed(self, value: float) -> float:
        """Return the absolute gap at which to stop, for a value."""
        return max(self.tol * abs(value), self.epsilon, self.share * self.gained(value))

    def gained(self, value: float) -> float:
        """Return what a value has gained on `at_rest`, at most the value itself."""
        return min(value, self.at_rest - value)

    def _status(
        self, evaluation: Point, value: float, dual_gap: float, iteration: int
    ) -> Status | None:
        if self.is_small(value, dual_gap + self._excess):
            return Status.CONVERGED
        if dual_gap <= 2 * ROUNDING or not np.isfinite(dual_gap) or self._stands_still(evaluation):
            return Status.STALLED
        return Status.MAX_ITER if iteration >= self.max_iter else None

    def _confirm(self) -> tuple[float, float]:
        """Return the value at the best weights, computed afresh, and its relative gap."""
        better = self._better
        assert better is not None
        # The bound is never negative; half of what is allowed is left to rounding.
        bound = max(self.lower_bound, 0.0)
        self._confirmed, value = better.confirmed(bound, bound + 0.5 * self.allowed(bound))
        return value, self._relative_gap(value, 0.0)

    def _confirmed_status(self, status: Status, value: float, dual_gap: float) -> Status:
        if self.is_small(value, dual_gap):
            return Status.CONVERGED
        return Status.STALLED if status is Status.CONVERGED else status

    def _stands_still(self, evaluation: Point) -> bool:
        if evaluation.smoothing > 0:
            return self._gains_little(LONG_PATIENCE, 0.0, SMOOTHED_LITTLE)
        return self._gains_little(PATIENCE, LITTLE) or self._gains_little(LONG_PATIENCE, 0.0, STILL)

    def _gains_little(self, patience: int, of_each: float, of_gap: float = 0.0) -> bool:
        """Say whether value and bound gain such a part of themselves at most, or of the gap."""
        lines = self.own(self._trace)[-patience - 1 :]
        are_wide = {width > 1 for width in self.own(self.widths)[-patience - 1 :]}
        if len(lines) <= patience or len(are_wide) > 1:
            return False
        value, bound = lines[0]
        least = of_gap * (value - bound)
        gains = (value - lines[-1][0], value), (self.lower_bound - bound, self.lower_bound)
        return all(gain <= max(of_each * abs(of), least) for gain, of in gains)

    @property
    def n_passes(self) -> int:
        """As in `Iteration`."""
        return 0 if self._objective is None else self._objective.n_passes - self._passes_before

    @property
    def dual_gap(self) -> float:
        """The latest relative gap."""
        return self.history[-1].dual_gap

    @property
    def is_smooth(self) -> bool:
        """Whether the present solver minimises a function without kinks, smoothed ones neither."""
        return self.latest is not None and _is_smooth(self.latest)

    @property
    def is_at_kinks(self) -> bool:
        """Whether it minimises one with kinks that are not smoothed, or by planes, as if it did."""
        return self.is_by_planes or (self.latest is not None and _is_at_kinks(self.latest))

    @property
    def target(self) -> float:
        """The absolute gap at which to stop."""
        return self.allowed(self.history[-1].value)

    def result(self, status: Status) -> SolverResult:
        """Close the record; what is given up is not confirmed, since another solver goes on."""
        last, better = self.history[-1], self._better
        if status is Status.GIVEN_UP and better is not None:
            return SolverResult(better.weights, last.value, last.dual_gap, status, self.history)
        if self._confirmed is None:
            value, dual_gap = self._confirm()
            last = replace(last, value=value, dual_gap=dual_gap, n_passes=self.n_passes)
            self.history[-1] = last
            status = self._confirmed_status(status, value, dual_gap)
        assert self._confirmed is not None
        return SolverResult(self._confirmed, last.value, last.dual_gap, status, self.history)


def _is_steep(before: Point, there: Point) -> bool:
    return not _is_at_kinks(there) and there.distance <= STEEP * before.distance


def _is_at_kinks(point: Point) -> bool:
    return point.has_kinks and not point.smoothing > 0


def _left(point: Point) -> float:
    """Return what steps have to bring down, which tells of them where no bound is any good yet."""
    return point.distance if _is_smooth(point) else point.smoothing


def _is_smooth(point: Point) -> bool:
    return not (point.has_kinks or point.smoothing > 0)


def _is_better(point: Point, best: Point) -> bool:
    """Say whether a point replaces the best: by value, or by slope where rounding hides that."""
    value, least = point.value + point.rounding, best.value + best.rounding
    if not value > least:
        return True
    return value <= least + best.rounding and point.distance < best.distance
