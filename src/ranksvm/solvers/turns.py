"""What solvers that take turns know of each other: where to begin, and what data are like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .progress import Progress
from .protocols import Objective
from .result import SolverResult, Status

Vector = NDArray[np.float64]
SmoothSolver: TypeAlias = Callable[[Objective, Vector, Progress], SolverResult]

FAR, FAR_OF_PLANES = 0.5, 0.03  # a relative gap
NEAR, FINE = 1e-4, 1e-10  # gaps between which exact steps may be held up by rounding
IDLE = 3  # steps that leave more than half of such a gap
WEAK, NEXT_TO_NOTHING = 1.1e-4, 1e-8  # regularisation, by its strength
WEAK_FOR_MANY = 2e-5  # likewise, for so much work that some planes show soon
A_DIGIT = 0.8  # products that it takes where it is strong, by the root of that
FEW_PLANES = 10.0  # times the gap that is asked for: below that a few planes do the rest
AGAIN = 3.0  # times what planes are said to take, of those that are tried once more


def better_start(result: SolverResult, w0: Vector, far: float) -> Vector:
    """Return the better start: of a point far from the optimum no step goes as well as of zero.

    The points of planes lie at kinks, where steps of a smoothed risk are short.
    """
    return result.weights if result.dual_gap < far else w0


def strength(progress: Progress, w0: Vector) -> float:
    """Return how strong regularisation is, as planes have seen from zero; 1 if nothing is known.

    It is the share t of the gradient at zero that is the best dual point of the hinge, near 1 where
    regularisation alone decides, since the first bound is ``t / 2`` of the value
    (:eq:`best-multiple`).
    """
    is_known = bool(progress.history) and not w0.any()
    return 2 * (1 - progress.history[0].dual_gap) if is_known else 1.0


def products_if_strong(progress: Progress, w0: Vector) -> float:
    """Return about how many products end from zero where regularisation is strong.

    They go with the root of the condition number, of which the strength is about the inverse: the
    share of the value at zero that is the first bound. Fewer are needed where it is weak and only a
    part of the spectrum matters; and from other weights nothing is known, and so inf is returned.
    """
    share = 1 - progress.history[0].dual_gap
    digits = -np.log10(np.clip(progress.tol, 1e-9, 0.1))
    is_known = share > 0 and not w0.any()
    return float(A_DIGIT * digits / share**0.5) if is_known else np.inf


def leaves_little(result: SolverResult, progress: Progress) -> bool:
    """Say whether a solver has stalled so close to the end that a few planes do the rest."""
    return result.status is Status.STALLED and result.dual_gap <= FEW_PLANES * progress.tol


def gets_nearer(progress: Progress) -> bool:
    """Say whether exact steps near the optimum still bring the gap down, unlike rounding."""
    gaps = [line.dual_gap for line in progress.history[progress.first :][-IDLE - 1 :]]
    is_near = len(gaps) > IDLE and gaps[-1] > FINE and gaps[0] <= NEAR
    return not is_near or min(gaps) <= 0.5 * gaps[0]
