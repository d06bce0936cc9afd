"""How wide the smoothing is with which a continuation begins, from weights that may be good."""

from __future__ import annotations

import numpy as np

from .protocols import P

AMPLE, WIDEST = 0.1, 1.0  # what is smoothed, of the gap to reach; a width
NARROWED, LITTLE = 0.1, 0.1  # from one width that is tried to the next; of the value


def with_first_width(evaluation: P, lower_bound: float, target: float = 0.0) -> P:
    """Return the evaluation with as wide a smoothing as does not undo what has been reached.

    That is the gap to the lower bound, if there is one. Otherwise the width with the least gap
    of its own is right, if that gap says anything; and if not, a tenth of the value is a guess.
    None is far narrower than the gap to reach, the `target`, needs: what is smoothed grows with
    the square of the width.
    """
    if evaluation.smoothing == 0 or evaluation.absolute_gap <= target:
        return evaluation
    start = _as_reached(evaluation, lower_bound)
    if not 0 < start.smoothing < AMPLE * target:
        return start
    return start.narrowed(min((AMPLE * target / start.smoothing) ** 0.5, WIDEST / start.width))


def _narrowed_to(evaluation: P, smoothing: float) -> P:
    while evaluation.smoothing > smoothing:
        narrowed = evaluation.narrowed(NARROWED)
        if narrowed.smoothing >= evaluation.smoothing:
            break
        evaluation = narrowed
    return evaluation


def _as_reached(evaluation: P, lower_bound: float) -> P:
    value = evaluation.value
    if np.isfinite(lower_bound):
        reached = max(value - lower_bound, evaluation.rounding)
        return _narrowed_to(evaluation, reached)
    first = best = evaluation
    while evaluation.smoothing > evaluation.rounding:
        evaluation = evaluation.narrowed(NARROWED)
        if evaluation.absolute_gap >= best.absolute_gap:
            break
        best = evaluation
    if best.absolute_gap < LITTLE * value:
        return best
    return _narrowed_to(first, LITTLE * value)
