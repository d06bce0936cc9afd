"""What is known at some weights, for every weight c of the loss.

``L(X w)``, its gradient g and ``X'g`` do not depend on c. So where the solution for one c starts
from that for another, value, gradient and certificate are there already; and if it ends where it
began, the value is confirmed, too.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..pairs.loss_evaluation import LossEvaluation
from ..pairs.losses import PairLoss
from ..pairs.sweeps import Scores
from ..records import record
from .matrix import Slope

Vector = NDArray[np.float64]

LEAST_KEPT, MOST_KEPT = 8, 2048  # weights: few make a Hessian that is cheap, many a large one


class Known(NamedTuple):
    """What an evaluation leaves to those at the same weights.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    scores : array of shape (n_samples,)
    formula : PairLoss
    loss : LossEvaluation
        Of the formula, at the scores.
    slope : Slope or None
        ``X'g`` for the gradient g of the loss, if it has been asked for.
    upper_loss, quick_upper_loss : float or None
        As ``LinearEvaluation`` has them, likewise.
    """

    weights: Vector
    scores: Scores
    formula: PairLoss
    loss: LossEvaluation
    slope: Slope | None
    upper_loss: float | None
    quick_upper_loss: float | None


class Confirming(Protocol):
    """An objective whose values can be confirmed: `ranksvm.linear.objective.LinearObjective`."""

    def upper_value(self, weights: Vector) -> float:
        """Return no less than the value at weights."""

    def confirmed(
        self, weights: Vector, value: float, upper: float, enough: float
    ) -> tuple[Vector, float]:
        """Return weights, or some a hair's breadth further out, and a confirmed value there."""


@record
class RememberedWeights:
    """What is to be known of an evaluation when its scores are let go."""

    objective: Confirming
    weights: Vector
    value: float
    rounding: float

    def confirmed(self, bound: float, enough: float) -> tuple[Vector, float]:
        """Return these weights, or a hair's breadth further out, and a confirmed value there."""
        upper = self.objective.upper_value(self.weights)
        return self.objective.confirmed(self.weights, self.value, upper, enough)


class LastSolution:
    """What the last solution leaves to one with another c from nearby.

    That is the Hessian of the loss that was formed last, and the slopes of pairs in the dual.
    """

    def __init__(self) -> None:
        self._held: tuple[NDArray[np.float64], Vector, float] | None = None
        self._slopes: tuple[object, Vector, Vector] | None = None

    def keep_hessian(self, hessian: NDArray[np.float64], scale: Vector, c: float) -> None:
        """Keep ``diag(scale) c X'HX diag(scale)``, unless it is large."""
        if LEAST_KEPT <= len(hessian) <= MOST_KEPT:
            self._held = hessian.copy(), scale, c

    def hessian(self, c: float) -> tuple[NDArray[np.float64], Vector] | None:
        """Return the Hessian for another c, and the scale; None if there is none."""
        if self._held is None:
            return None
        hessian, scale, former = self._held
        return c / former * hessian, scale

    def keep_slopes(self, pairs: object, slopes: Vector, upper: Vector) -> None:
        """Keep the slopes of these pairs, below their bounds."""
        self._slopes = pairs, slopes, upper

    def slopes(self, pairs: object, upper: Vector) -> Vector | None:
        """Return those of the same pairs for other bounds, where those at a bound stay.

        None if there are none.
        """
        if self._slopes is None or self._slopes[0] is not pairs:
            return None
        _, slopes, former = self._slopes
        return np.where(slopes < former, np.minimum(slopes, upper), upper)
