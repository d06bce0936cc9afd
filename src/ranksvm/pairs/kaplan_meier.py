"""
Kaplan and Meier's estimate of the part that is left at a time, of rows that leave or are censored.

With n_k rows at risk at the time t_k, of which d_k leave then (:eq:`kaplan-meier`)::

    S(t) = product over t_k <= t of  1 - d_k / n_k

Who is censored at a time is still at risk then. Of the distribution of the censoring itself, G, the
roles are exchanged; events come before the censorings of the same time, and are no longer at risk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..records import record

Vector = NDArray[np.float64]


@record
class KaplanMeier:
    """A step function of time, 1 before the first time.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        The distinct times of all rows, ascending.
    left : ndarray of shape (n_times,)
        The part that is left at each of them, and from there on.
    """

    times: Vector
    left: Vector

    @classmethod
    def of_events(
        cls, event: NDArray[np.bool_], time: Vector, weight: Vector | None = None
    ) -> KaplanMeier:
        """Estimate S, of rows that weigh 1 each by default."""
        times, events, all_rows = _totals(event, time, weight)
        return cls(times, _left(events, _at_risk(all_rows)))

    @classmethod
    def of_censoring(
        cls, event: NDArray[np.bool_], time: Vector, weight: Vector | None = None
    ) -> KaplanMeier:
        """Estimate G, of rows that weigh 1 each by default."""
        times, events, all_rows = _totals(event, time, weight)
        return cls(times, _left(all_rows - events, _at_risk(all_rows) - events))

    def at(self, time: Vector) -> Vector:
        """Return the part that is left at these times, by then."""
        return self._after(np.searchsorted(self.times, time, side="right"))

    def before(self, time: Vector) -> Vector:
        """Return the limit from the left: the part that is left just before these times."""
        return self._after(np.searchsorted(self.times, time, side="left"))

    def _after(self, n_times: NDArray[np.intp]) -> Vector:
        left: Vector = np.concatenate([[1.0], self.left])[n_times]
        return left


def _totals(
    event: NDArray[np.bool_], time: Vector, weight: Vector | None
) -> tuple[Vector, Vector, Vector]:
    """Return the distinct times, and what events and all rows weigh at each."""
    times, place = np.unique(time, return_inverse=True)
    weight = np.ones(len(time)) if weight is None else weight
    events: Vector = np.bincount(place, weight * event).astype(np.float64, copy=False)
    all_rows: Vector = np.bincount(place, weight).astype(np.float64, copy=False)
    return times, events, all_rows


def _at_risk(all_rows: Vector) -> Vector:
    at_risk: Vector = np.cumsum(all_rows[::-1])[::-1]
    return at_risk


def _left(leaving: Vector, at_risk: Vector) -> Vector:
    share = np.divide(leaving, at_risk, out=np.zeros_like(leaving), where=leaving > 0)
    left: Vector = np.cumprod(1 - np.minimum(share, 1.0))
    return left
