"""What steps tell of the Hessian, where the one that they are made by is that of a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .protocols import Evaluation

Vector = NDArray[np.float64]

MOST = 10  # steps that are remembered
LEFT = 0.01  # of the distance, a square: what a step leaves from which there is something to learn


class _Secant(NamedTuple):
    step: Vector
    change: Vector
    curvature: float


class Secants:
    """The last steps, and by how much each changed the gradient (:eq:`secants`).

    With ``H s = y`` for the steps s and changes y, the Hessian of a sample becomes that of all rows
    along these, at no price (Nocedal 1980). Steps that leave a tenth of the way, or more, are those
    that the Hessian of the sample was wrong about. The first ones, which leave less, go where the
    Hessian is another one, and would mislead.
    """

    def __init__(self) -> None:
        self._known: list[_Secant] = []

    def add(self, before: Evaluation, after: Evaluation) -> None:
        """Remember a step that was made with the same smoothing, if it tells anything."""
        if not after.distance > LEFT * before.distance:
            return
        step, change = after.weights - before.weights, after.gradient - before.gradient
        curvature = float(step @ change)
        if curvature > 0:
            self._known = [*self._known[1 - MOST :], _Secant(step, change, curvature)]

    def forget(self) -> None:
        """Forget all, as where the Hessian is about to be another one."""
        self._known.clear()

    def solve(self, solve: Callable[[Vector], Vector], gradient: Vector) -> Vector:
        """Return the inverse times a gradient, by what solves for the Hessian of the sample."""
        left, shares = gradient, []
        for known in reversed(self._known):
            shares.append(float(known.step @ left) / known.curvature)
            left = left - shares[-1] * known.change
        solved = solve(left)
        for known, share in zip(self._known, reversed(shares), strict=True):
            solved = solved + (share - float(known.change @ solved) / known.curvature) * known.step
        return solved
