"""An objective where slopes of pairs are its dual point, and weights are theirs, or near these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..pairs.losses import SquaredHinge
from ..pairs.rounding import ROUNDING
from .matrix import Slope
from .objective import LinearEvaluation, LinearObjective

Vector = NDArray[np.float64]


def at_slopes(
    objective: LinearObjective,
    balance: Vector,
    offset: float,
    rounding: float,
    weights: Vector | None = None,
    *,
    quadratic: float = 0.0,
) -> LinearEvaluation:
    """Evaluate an objective of either hinge loss where slopes b of the pairs are its dual point.

    Parameters
    ----------
    objective : LinearObjective
    balance : ndarray of shape (n_samples,)
        ``D'b``, for slopes b between zero and their bounds.
    offset : float
        The sum of the slopes, each times the margin of its pair, less `quadratic`.
    rounding : float
        A bound of the length of what the sums of the balance have lost.
    weights : ndarray of shape (n_features,), optional
        By default those of the slopes, ``X'D'b`` where R is ``0.5 |w|^2``.
    quadratic : float, default=0.0
        For the squared hinge ``sum(b_p^2 / (4 c v_p))``.
    """
    c = objective.c
    dual = objective.X.t_dot(balance - balance.mean(), objective.n_threads)
    weights = objective.penalty.maximizer(dual) if weights is None else weights
    scores = objective.X.dot(weights, objective.n_threads)
    largest = np.inf if isinstance(objective.loss, SquaredHinge) else 1 / (1 + ROUNDING)
    at, offset, quadratic = objective.loss.evaluate(scores), offset / c, quadratic / c
    loss = replace(
        at,
        gradient=-balance / c,
        offset=offset,
        gradient_norm=float(np.linalg.norm(balance)) / c,
        gradient_rounding=rounding / c,
        quadratic=quadratic,
        largest_multiple=largest,
        smoothing=max(at.value - offset + float(balance @ scores) / c, 0.0),
        slack=ROUNDING * (offset + 2 * quadratic),
    )
    slope = Slope(-dual / c, objective.X.rounding_of_sums)
    return LinearEvaluation(objective, weights, scores, loss, slope)


def with_weights(there: LinearEvaluation, weights: Vector, scores: Vector) -> LinearEvaluation:
    """Return the evaluation of the same slopes and other weights, whose scores are known."""
    loss, at = there.loss, there.objective.loss.evaluate(scores)
    smoothing = max(at.value - loss.offset - float(loss.gradient @ scores), 0.0)
    loss = replace(loss, value=at.value, rounding=at.rounding, smoothing=smoothing)
    return replace(there, weights=weights, scores=scores, loss=loss)
