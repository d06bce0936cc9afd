"""Line search on a convex function by its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from .result import Line


def line_search(line: Line, *, accuracy: float = 0.3, max_trials: int = 20) -> tuple[Any, int]:
    """Find a step where the derivative has nearly vanished.

    The derivative of a convex function rises along the line. Steps are doubled until it is no
    longer negative, then its zero is bracketed and found by the secant rule, kept a tenth of the
    bracket away from its ends.

    Parameters
    ----------
    line : Line
        With a negative slope at the start.
    accuracy : float, default=0.3
        Accept a trial once its slope is at most this fraction of the initial slope, in absolute
        value.
    max_trials : int, default=20

    Returns
    -------
    trial : Trial or None
        The accepted point, or the best one met; None if no trial was better than the start, which
        happens at the limits of floating point.
    n_trials : int
    """
    low, low_slope = 0.0, line.slope
    high, high_slope = np.inf, np.nan
    best = None
    step = 1.0
    n_trials = 0
    while n_trials < max_trials:
        n_trials += 1
        trial = line.trial(step)
        if np.isfinite(trial.slope) and (best is None or abs(trial.slope) < abs(best.slope)):
            best = trial
        if abs(trial.slope) <= accuracy * abs(line.slope):
            break
        if trial.slope < 0:
            low, low_slope = step, trial.slope
        else:
            high, high_slope = step, trial.slope
        step = _next_step(low, low_slope, high, high_slope, line.slope)
    if best is None or abs(best.slope) >= abs(line.slope):
        return None, n_trials
    return best, n_trials


def _next_step(low: float, low_slope: float, high: float, high_slope: float, slope: float) -> float:
    if not np.isfinite(high):
        # The secant through the start, kept between doubling and tenfold.
        secant = low * slope / (slope - low_slope) if low_slope > slope else np.inf
        return float(np.clip(secant, 2 * low, 10 * low))
    if not np.isfinite(high_slope):
        return (low + high) / 2
    fraction = low_slope / (low_slope - high_slope)
    return low + (high - low) * float(np.clip(fraction, 0.1, 0.9))
