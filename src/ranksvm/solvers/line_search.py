"""Line search on a convex function by its derivative."""

from __future__ import annotations

import numpy as np

from .protocols import Evaluation, Line, P, Trial


def line_search(
    line: Line[P],
    *,
    first: float = 1.0,
    accuracy: float = 0.3,
    max_trials: int = 20,
    longest: float = np.inf,
) -> tuple[Trial[P] | None, int]:
    """Find a step where the derivative has nearly vanished.

    The derivative of a convex function rises along the line. Steps are doubled until it is no
    longer negative, then its zero is bracketed and found by the secant rule, kept a tenth of the
    bracket away from its ends.

    Parameters
    ----------
    line : Line
    first : float, default=1.0
        The step of the first trial.
    accuracy : float, default=0.3
        Accept a trial once its slope is at most this fraction of the initial slope, in absolute
        value.
    max_trials : int, default=20
    longest : float, optional
        The longest step that can be taken.

    Returns
    -------
    trial : Trial or None
        The accepted point, or the best one met; None if no trial was better than the start, or
        none could be, which happens at the limits of floating point.
    n_trials : int
    """
    low, low_slope = 0.0, line.slope
    high, high_slope = np.inf, np.nan
    best: Trial[P] | None = None
    step = first
    n_trials = 0
    while low_slope < 0 and n_trials < max_trials:
        n_trials += 1
        trial = line.trial(step)
        if np.isfinite(trial.slope) and (best is None or abs(trial.slope) < abs(best.slope)):
            best = trial
        is_longest = trial.slope < 0 and step >= longest
        if abs(trial.slope) <= accuracy * abs(line.slope) or is_longest:
            break
        if trial.slope < 0:
            low, low_slope = step, trial.slope
        else:
            high, high_slope = step, trial.slope
        step = _next_step(low, low_slope, high, high_slope, line.slope)
        if low == 0 and n_trials > 2:
            step = min(step, high * 0.1 ** (n_trials - 2))  # the direction is far too long
        step = min(step, longest)
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


def search_kink(
    line: Line[Evaluation], value: float, gap: float, first_step: float, *, max_trials: int = 30
) -> tuple[Trial[Evaluation] | None, Trial[Evaluation], int]:
    """Find a step of nearly least value along a line on which the derivative jumps.

    The least value lies between two trials of negative and positive slope, and above both their
    tangents.

    Parameters
    ----------
    line : Line
    value : float
        The value at the start.
    gap : float
        How far above the optimum the start may be; hundredths of it do not matter.
    first_step : float
    max_trials : int, default=30

    Returns
    -------
    lowest : Trial or None
        The trial of least value; None if none is below the start.
    beyond : Trial
        The last trial at which the line does not fall, or the last of all.
    n_trials : int
    """
    low, low_slope, low_value = 0.0, line.slope, value
    high, high_slope, high_value = np.inf, np.nan, np.inf
    lowest = beyond = None
    step = first_step
    n_trials = 0
    while n_trials < max_trials:
        n_trials += 1
        trial = line.trial(step)
        if trial.evaluation.value < (value if lowest is None else lowest.evaluation.value):
            lowest = trial
        if trial.slope < 0:
            low, low_slope, low_value = step, trial.slope, trial.evaluation.value
        else:
            high, high_slope, high_value = step, trial.slope, trial.evaluation.value
            beyond = trial
        if lowest is not None:
            least = _tangents_meet(low, low_slope, low_value, high, high_slope, high_value)
            if (
                abs(trial.slope) <= 0.5 * abs(line.slope)
                or lowest.evaluation.value - least <= 0.03 * gap
            ):
                break
        if line.slope >= 0 or (np.isfinite(high) and high - low <= 1e-12 * high):
            break
        step = _next_step(low, low_slope, high, high_slope, line.slope)
    return lowest, trial if beyond is None else beyond, n_trials


def _tangents_meet(
    low: float, low_slope: float, low_value: float,
    high: float, high_slope: float, high_value: float,
) -> float:  # fmt: skip
    """Bound the values between two points from below by the tangents there."""
    if not np.isfinite(high):
        return -np.inf
    if not low_slope < high_slope:
        return low_value
    width = high - low
    run = (high_value - low_value - high_slope * width) / (low_slope - high_slope)
    return low_value + low_slope * float(np.clip(run, 0.0, width))
