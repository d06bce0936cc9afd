"""What solvers need from an objective, and what they give back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Evaluation(Protocol):
    """An objective at given weights: immutable, every part computed at most once."""

    weights: Vector
    value: float

    @property
    def gradient(self) -> Vector:
        """The gradient, of the shape of the weights."""

    @property
    def absolute_gap(self) -> float:
        """A bound of ``value - minimum``."""

    @property
    def lower_bound(self) -> float:
        """A lower bound of the minimum."""

    def image(self, p: Vector) -> Vector:
        """Return what the objective needs to know of a direction; linear in p."""

    def hessian_product(self, p: Vector, image: Vector | None = None) -> Vector:
        """Multiply by the Hessian."""

    @property
    def hessian_diagonal_bound(self) -> Vector:
        """An upper bound of the diagonal of the Hessian, to precondition with."""

    def scaled_hessian(self, dtype: type[np.floating]) -> tuple[NDArray[np.float64], Vector]:
        """Return ``diag(scale) Hessian diag(scale)`` and scale."""

    def along(self, p: Vector, image: Vector | None = None) -> Line:
        """Restrict the objective to the line through the weights along p."""


class Trial(Protocol):
    """A point on a line."""

    step: float
    slope: float
    evaluation: Evaluation


class Line(Protocol):
    """An objective restricted to a line."""

    @property
    def slope(self) -> float:
        """The derivative at the start."""

    def trial(self, step: float) -> Any:
        """Return the `Trial` at a step."""


class Objective(Protocol):
    """A function of a vector of `size` weights."""

    @property
    def size(self) -> int:
        """Number of weights."""

    def evaluate(self, w: Vector) -> Any:
        """Return the `Evaluation` at w."""


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
        The relative duality gap ``(P - D) / |P|``, with the best lower bound so far; never below
        the rounding of P itself, 2.2e-16.
    step : float
        Length of the step along the direction that led here.
    n_products : int
        Products with the Hessian so far; an explicit Hessian counts as one.
    n_evaluations : int
        Evaluations of the objective so far, those of the line search included.
    seconds : float
        Time since the start.
    """

    iteration: int
    value: float
    dual_gap: float
    step: float
    n_products: int
    n_evaluations: int
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
    def n_iter(self) -> int:
        """Number of iterations."""
        return self.history[-1].iteration


ROUNDING = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
PATIENCE = 10


@dataclass
class Progress:
    """Keeps a solver's record: history, best lower bound, and when to stop.

    The gap is that between the current value and the best lower bound met so far. A callback that
    returns True (not merely something true) stops the solver. So do ten iterations in which
    neither the value nor the gap gets better, a gap at the limit of rounding, and one that is too
    large for a number.
    """

    tol: float
    max_iter: int
    callback: Callback | None = None
    n_products: int = 0
    n_evaluations: int = 1
    history: list[Iteration] = field(default_factory=list)
    lower_bound: float = -np.inf
    started: float = field(default_factory=time.perf_counter)

    def record(self, evaluation: Evaluation, step: float) -> Status | None:
        """Add a line to the history; return a status if this is the end."""
        self.lower_bound = max(self.lower_bound, evaluation.lower_bound)
        gap = min(evaluation.absolute_gap, max(evaluation.value - self.lower_bound, 0.0))
        relative = gap / max(abs(evaluation.value), TINY)
        line = Iteration(
            iteration=len(self.history),
            value=evaluation.value,
            # The value itself is not known more exactly than this.
            dual_gap=max(relative, ROUNDING),
            step=step,
            n_products=self.n_products,
            n_evaluations=self.n_evaluations,
            seconds=time.perf_counter() - self.started,
        )
        self.history.append(line)
        stop = self.callback is not None and self.callback(line) is True
        if line.dual_gap <= self.tol:
            return Status.CONVERGED
        if stop:
            return Status.STOPPED
        if line.dual_gap <= ROUNDING or not np.isfinite(relative) or self._stands_still():
            return Status.STALLED
        return Status.MAX_ITER if line.iteration >= self.max_iter else None

    def _stands_still(self) -> bool:
        if len(self.history) <= PATIENCE:
            return False
        before, recent = self.history[-PATIENCE - 1], self.history[-PATIENCE:]
        return all(
            line.dual_gap >= before.dual_gap
            and line.value >= before.value - ROUNDING * abs(before.value)
            for line in recent
        )

    @property
    def dual_gap(self) -> float:
        """The latest relative gap."""
        return self.history[-1].dual_gap

    def result(self, evaluation: Evaluation, status: Status) -> SolverResult:
        """Close the record."""
        return SolverResult(
            evaluation.weights, evaluation.value, self.dual_gap, status, self.history
        )
