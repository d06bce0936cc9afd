"""What solvers need from an objective, and what they give back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
# What an objective needs to know of a direction, linear in it: of NumPy, or of the library of a
# device, whose arrays have the same operators.
Image: TypeAlias = NDArray[np.float64]
P = TypeVar("P", bound="Point")
P_co = TypeVar("P_co", bound="Point", covariant=True)


class Plane(NamedTuple):
    """The plane ``slope'w + offset``, its slope exact to within ``noise * grain``."""

    slope: Vector
    offset: float
    noise: float
    grain: Vector


class NewtonSystem(NamedTuple):
    """Hessian ``B'HB`` and gradient ``B'r`` by coordinates y of the step ``B y``, and the map B."""

    hessian: NDArray[np.float64]
    gradient: Vector
    to_weights: Callable[[Vector], Vector]


class Point(Protocol):
    """An objective at given weights, with its certificate: all that a record needs to know."""

    @property
    def weights(self) -> Vector:
        """Where this is, of shape (size,)."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def distance(self) -> float:
        """The part of the gap that comes from the weights."""

    @property
    def absolute_gap(self) -> float:
        """A bound of ``value - minimum``."""

    @property
    def lower_bound(self) -> float:
        """A lower bound of the minimum, whatever rounding has done to what it is made of."""

    @property
    def rounding(self) -> float:
        """How exactly the value is known, as the function of what lines have moved."""

    def confirmed(self, enough: float) -> tuple[Vector, float]:
        """Return weights and the objective there, computed afresh: no less than it is.

        The weights are those of this evaluation, or some near them where that brings what is
        confirmed down to `enough`.
        """

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing, not from the weights."""

    @property
    def width(self) -> float:
        """The width of the smoothing: 1 as an objective is smoothed at first."""

    def narrowed(self: P, ratio: float) -> P:
        """Return the same weights with the width of the smoothing multiplied by `ratio`."""


class Evaluation(Point, Protocol):
    """An objective at given weights: immutable, every part computed at most once."""

    @property
    def gradient(self) -> Vector:
        """The gradient, of the shape of the weights."""

    @property
    def plane(self) -> Plane:
        """A plane that touches ``value - 0.5 |w|^2`` here from below."""

    @property
    def sampled(self) -> Evaluation | None:
        """The objective on the sample at the same weights; None if there is none."""

    def widened(self) -> Evaluation | None:
        """Return where to begin with a smoothing at which the gradient is not far too long.

        None, unless regularisation is so weak that all pairs can lie at the kink.
        """

    def foreseen(self, ratio: float) -> Evaluation:
        """Return the model of the narrowed smoothing if what is smoothed now stays so.

        Gradient and Hessian are those of the model.
        """

    def image(self, p: Vector) -> Image:
        """Return what the objective needs to know of a direction."""

    def hessian_product(self, p: Vector, image: Image | None = None) -> Vector:
        """Multiply by the Hessian."""

    def with_metric(self) -> tuple[Evaluation, Vector]:
        """Return this, and a diagonal that conjugate gradients are to be preconditioned by."""

    def newton_system(self, gradient: Vector, dtype: type[np.floating]) -> NewtonSystem:
        """Return the equations of the Newton step for a gradient; `dtype` is precise enough."""

    def along(self, p: Vector, image: Image | None = None) -> Line[Evaluation]:
        """Restrict the objective to the line through the weights along p.

        `image` is that of p, if it is known. Where it is not, the pass over the data that brings it
        may prepare value, gradient and Hessian at the full step as well.
        """


class Trial(Protocol[P_co]):
    """A point on a line."""

    @property
    def step(self) -> float:
        """Where on the line, in lengths of the direction."""

    @property
    def slope(self) -> float:
        """The derivative along the line there."""

    @property
    def decrement(self) -> float:
        """What the step 1 would gain on a parabola with its vertex there."""

    @property
    def evaluation(self) -> P_co:
        """The objective there."""


class Line(Protocol[P_co]):
    """An objective restricted to a line."""

    @property
    def slope(self) -> float:
        """The derivative at the start."""

    def trial(self, step: float) -> Trial[P_co]:
        """Return the point at a step."""


class CountsPasses(Protocol):
    """What knows how much it has read."""

    @property
    def n_passes(self) -> int:
        """How often all data have been read so far, which is what a disk or a cluster takes."""


class Objective(CountsPasses, Protocol):
    """A function of a vector of `size` weights."""

    @property
    def size(self) -> int:
        """Number of weights."""

    @property
    def n_threads(self) -> int:
        """Threads to use for work on vectors of weights."""

    def smoothed(self) -> Objective:
        """Return the same objective with smooth derivatives."""

    def narrowed(self, ratio: float) -> Objective:
        """Return this with the width of its smoothing multiplied by `ratio`."""

    @property
    def sampled(self) -> Objective | None:
        """Nearly the same function, made of a sample of the data; None if there is none."""

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the objective at w."""


class Status(str, Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    STOPPED = "stopped"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Iteration:
    """One line of a solver's history.

    Attributes
    ----------
    iteration : int
        0 is the starting point.
    value : float
        The objective.
    dual_gap : float
        The relative duality gap ``(P - D) / |P|`` (:eq:`gap`), with the best lower bound so far;
        never below the rounding of P itself, 2.2e-16.
    step : float
        Length of the step along the direction that led here.
    n_products : int
        Products with the Hessian so far; an explicit Hessian counts as one.
    n_evaluations : int
        Evaluations of the objective so far, those of the line search included.
    n_passes : int
        Passes over X so far, those that confirm the last value included; an explicit Hessian counts
        as one.
    solver : str
    seconds : float
        Time since the start.
    """

    iteration: int
    value: float
    dual_gap: float
    step: float
    n_products: int
    n_evaluations: int
    n_passes: int
    solver: str
    seconds: float


Callback = Callable[[Iteration], object]


@dataclass(frozen=True)
class SolverResult:
    """What a solver found: weights, their value and certificate, and how it went."""

    weights: Vector
    value: float
    dual_gap: float
    status: Status
    history: list[Iteration]

    @property
    def solver(self) -> str:
        """The solvers, in their order."""
        return ", ".join(dict.fromkeys(line.solver for line in self.history))

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return self.history[-1].iteration

    @property
    def n_passes(self) -> int:
        """Number of passes over X."""
        return self.history[-1].n_passes


ROUNDING = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
PATIENCE, LITTLE = 10, 10 * ROUNDING  # iterations, and what they have to gain of value or bound
# Smoothed steps lead down on another function first, but have to gain some of the gap.
SMOOTHED_PATIENCE, SMOOTHED_LITTLE = 30, 1e-4


@dataclass
class Progress:
    """A solver's record: history, best point and lower bound, and when to stop.

    Value and gap are those of the best point so far, the gap that between its value and the best
    lower bound. A solver has converged when the gap is at most `tol` of the value, or at most
    `epsilon`. A callback that returns True (not merely something true) stops it. So do ten
    iterations (thirty with smoothing) that better neither the value nor the gap, a gap at the limit
    of rounding, and one that is too large for a number.

    However it ends, the last value is confirmed: computed afresh from the weights. If the gap that
    it leaves is too large after all, the solver has stalled; one that goes on from there has to
    reach as much less.

    Attributes
    ----------
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    epsilon : float, default=0.0
        Absolute duality gap at which to stop, too.
    max_iter : int, default=1000
    callback : callable, optional
        Called with each `Iteration`.
    n_products, n_evaluations : int
        As in `Iteration`.
    history : list of Iteration
    lower_bound : float
    best : Point or None
        Of the present solver.
    solver : str
    first : int
        Where in the history the present solver began.
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
    solver: str = ""
    first: int = 0
    started: float = field(default_factory=time.perf_counter)
    _trace: list[tuple[float, float]] = field(default_factory=list)  # value and bound
    _confirmed: Vector | None = None  # weights
    _excess: float = 0.0  # of a gap that was confirmed, over what it had been before
    _objective: CountsPasses | None = None
    _passes_before: int = 0

    def begin(self, solver: str, objective: CountsPasses) -> None:
        """Let a solver begin, at weights that it evaluates afresh.

        What held up another before it does not count against it.
        """
        if self._objective is None:
            self._passes_before = objective.n_passes
        self.solver, self._objective = solver, objective
        self.first = len(self.history)
        self.best = None

    def record(
        self, evaluation: Point, step: float, lower_bound: float | None = None
    ) -> Status | None:
        """Add a line to the history; return a status if this is the end.

        The lower bound is the evaluation's own, unless another is given.
        """
        self.lower_bound = max(
            self.lower_bound, evaluation.lower_bound if lower_bound is None else lower_bound
        )
        best = self.best
        if best is None or not evaluation.value + evaluation.rounding > best.value + best.rounding:
            self.best = best = evaluation
        self._trace.append((best.value, self.lower_bound))
        value = best.value
        n_before = len(self.history)
        dual_gap = self._relative_gap(value, best.rounding)
        status = self._status(evaluation, value, dual_gap, n_before)
        if status is not None:
            claimed = dual_gap
            value, dual_gap = self._confirm()
            status = self._confirmed_status(status, value, dual_gap)
            excess = dual_gap - claimed
            self._excess = excess if excess <= self.tol else 0.0
        line = self._line(n_before, value, dual_gap, step)
        self.history.append(line)
        if status is None:
            self._confirmed = None
        if self.callback is not None and self.callback(line) is True and status is None:
            status = Status.STOPPED
        return status

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

    def _is_small(self, value: float, dual_gap: float) -> bool:
        return dual_gap <= max(self.tol, self.epsilon / max(abs(value), TINY))

    def _status(
        self, evaluation: Point, value: float, dual_gap: float, iteration: int
    ) -> Status | None:
        if self._is_small(value, dual_gap + self._excess):
            return Status.CONVERGED
        if dual_gap <= 2 * ROUNDING or not np.isfinite(dual_gap) or self._stands_still(evaluation):
            return Status.STALLED
        return Status.MAX_ITER if iteration >= self.max_iter else None

    def _confirm(self) -> tuple[float, float]:
        """Return the value at the best weights, computed afresh, and its relative gap."""
        assert self.best is not None
        # The bound is never negative; half of what is allowed is left to rounding.
        bound = max(self.lower_bound, 0.0)
        enough = bound + 0.5 * max(self.tol * bound, self.epsilon)
        self._confirmed, value = self.best.confirmed(enough)
        return value, self._relative_gap(value, 0.0)

    def _confirmed_status(self, status: Status, value: float, dual_gap: float) -> Status:
        if self._is_small(value, dual_gap):
            return Status.CONVERGED
        return Status.STALLED if status is Status.CONVERGED else status

    def _stands_still(self, evaluation: Point) -> bool:
        smoothed = evaluation.smoothing > 0
        patience = SMOOTHED_PATIENCE if smoothed else PATIENCE
        if len(self._trace) - self.first <= patience:
            return False
        value_before, bound_before = self._trace[-patience - 1]
        value_gain = value_before - self._trace[-1][0]
        bound_gain = self.lower_bound - bound_before
        if smoothed:
            little = SMOOTHED_LITTLE * (value_before - bound_before)
            return value_gain <= little and bound_gain <= little
        return value_gain <= LITTLE * abs(value_before) and bound_gain <= LITTLE * abs(
            self.lower_bound
        )

    @property
    def n_passes(self) -> int:
        """As in `Iteration`."""
        return 0 if self._objective is None else self._objective.n_passes - self._passes_before

    @property
    def dual_gap(self) -> float:
        """The latest relative gap."""
        return self.history[-1].dual_gap

    @property
    def target(self) -> float:
        """The absolute gap at which to stop."""
        return max(self.tol * abs(self.history[-1].value), self.epsilon)

    def result(self, status: Status) -> SolverResult:
        """Close the record."""
        assert self.best is not None
        last = self.history[-1]
        if self._confirmed is None:
            value, dual_gap = self._confirm()
            last = replace(last, value=value, dual_gap=dual_gap, n_passes=self.n_passes)
            self.history[-1] = last
            status = self._confirmed_status(status, value, dual_gap)
        assert self._confirmed is not None
        return SolverResult(self._confirmed, last.value, last.dual_gap, status, self.history)
