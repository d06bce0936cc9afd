"""What solvers give back: the weights, how they were found, and how well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ..records import record

Vector = NDArray[np.float64]

ROUNDING = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


class Status(str, Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STALLED = "stalled"
    STOPPED = "stopped"
    GIVEN_UP = "given_up"  # in favour of another solver, which goes on from there

    def __str__(self) -> str:
        return self.value

    @property
    def is_end(self) -> bool:
        """Whether no other solver is to go on."""
        return self not in (Status.GIVEN_UP, Status.STALLED)


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
    round : int
        0 is the first, or the only one (`ranksvm.linear.rounds`).
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
    round: int = 0


Callback = Callable[[Iteration], object]


@record
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
