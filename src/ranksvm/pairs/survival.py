"""
Times of events, some of which are censored, as preferences.

Who has an event at a time is a greater risk than who is still there then. So the pair (i, j) is
comparable (:eq:`comparable`), and row i the better one, if

- row i has an event, and
- row j has a later time; or the same time, but is censored, and its event is later therefore.

Two events at one time are not comparable, nor are two rows that are censored. With labels that fall
as time goes on, and at one time are higher for events, these are the pairs of preferences in which
a row that is censored weighs 0 as the better one.

Censoring takes pairs away, more of them the later they are. What is left stands for the others if
each pair is weighed by the inverse of the probability that none of its rows is censored before time
t_i, ``1 / G(t_i-)^2`` (Uno et al. 2011), with G as estimated by `ranksvm.pairs.kaplan_meier`.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..names import CENSORING_WEIGHTS
from ..records import record
from .columns import finite_column
from .kaplan_meier import KaplanMeier
from .preferences import Preferences
from .queries import QueryGroups

Vector = NDArray[np.float64]

NONE_COMPARABLE = "no comparable pairs: within every stratum, no event is earlier than another time"
_HOW = (
    "give a structured array of (event, time), as Surv.from_arrays of scikit-survival makes it, or "
    "event= and time="
)


@record
class Survival:
    """For each row a time, and whether its event was then, or is later than that.

    Attributes
    ----------
    event : ndarray of shape (n_samples,), bool
        Whether the event has been seen; else the row is censored.
    time : ndarray of shape (n_samples,), float64
        Of the event, or until which there has been none.
    """

    event: NDArray[np.bool_]
    time: Vector

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def of(
        cls, y: Any = None, event: ArrayLike | None = None, time: ArrayLike | None = None
    ) -> Survival:
        """Check what users give: a structured array, or both columns.

        Raises
        ------
        ValueError
            If there is too little or too much, events are not true or false, or 1 or 0, times are
            negative or not finite, or lengths differ.
        """
        if y is not None:
            if event is not None or time is not None:
                raise InputError(f"survival times are given twice, by y and by name: {_HOW}")
            return cls._of_fields(y)
        if event is None or time is None:
            missing = [name for name, v in [("event", event), ("time", time)] if v is None]
            raise InputError(f"survival times lack {' and '.join(missing)}: {_HOW}")
        return cls._of_columns(event, time, "event", "time")

    @classmethod
    def _of_fields(cls, y: Any) -> Survival:
        names = _fields(y)
        if names is None or len(names) != 2:
            found = "one without fields" if names is None else f"one of {len(names)} fields"
            raise InputError(
                f"y must be an array of the two fields event and time, not {found}: {_HOW}"
            )
        event, time = names
        return cls._of_columns(
            np.asarray(y[event]),
            np.asarray(y[time]),
            f"the first field of y, {event!r},",
            f"the second field of y, {time!r},",
        )

    @classmethod
    def _of_columns(
        cls, event: ArrayLike, time: ArrayLike, event_name: str, time_name: str
    ) -> Survival:
        events = finite_column(event, event_name)
        bad = np.flatnonzero((events != 0) & (events != 1))
        if len(bad):
            raise InputError(
                f"{event_name} must be true or false, or 1 or 0; row {bad[0]} holds "
                f"{events[bad[0]]:g}"
            )
        times = finite_column(time, time_name)
        bad = np.flatnonzero(times < 0)
        if len(bad):
            raise InputError(
                f"{time_name} must not be negative; row {bad[0]} holds {times[bad[0]]:g}: count "
                "time from where a row is first looked at"
            )
        if len(events) != len(times):
            raise InputError(
                f"event has length {len(events)} but time has length {len(times)}: each row needs "
                "one of both"
            )
        return cls(events == 1, times)

    def labels(self) -> Vector:
        """Return what is higher the greater the risk: the rank of the time, mirrored."""
        rank = np.unique(self.time, return_inverse=True)[1]
        return -np.asarray(2 * rank + ~self.event, dtype=np.float64)

    def preferences(
        self,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        *,
        ipcw: str | None = None,
        tau: float | None = None,
    ) -> Preferences:
        """Return those whose pairs are the comparable ones, weighed as by `better_weight`.

        Other arguments are those of `ranksvm.pairs.preferences.Preferences.from_labels`; queries
        are strata.

        Raises
        ------
        ValueError
            If an argument is malformed, or there is no comparable pair.
        """
        of_labels = Preferences.from_labels(self.labels(), qid, sample_weight, query_weight)
        weight = self.better_weight(ipcw, tau, of_labels.sample_weight, of_labels.groups)
        if not _have_pairs(of_labels, weight):
            raise InputError(f"{NONE_COMPARABLE}; found n_samples={len(self)}")
        return replace(of_labels, better_weight=weight)

    def better_weight(
        self,
        ipcw: str | None = None,
        tau: float | None = None,
        sample_weight: Vector | None = None,
        strata: QueryGroups | None = None,
    ) -> Vector:
        """Return what each row weighs as the better one of a pair.

        Parameters
        ----------
        ipcw : {"uno", "uno_strata"} or None
            None weighs events 1; "uno" ``1 / G(t-)^2``, with G of all rows, "uno_strata" with one
            of each of the `strata`.
        tau : float, optional
            Events that are not before this time weigh 0.
        sample_weight : ndarray of shape (n_samples,), optional
            How often each row counts for G.
        strata : QueryGroups, optional

        Raises
        ------
        ValueError
            If `ipcw` or `tau` is none of these, or no event is left.
        """
        check_censoring(ipcw, tau)
        counted = self.events_before(tau)
        if not counted.any():
            raise InputError(
                "no comparable pairs: every row is censored"
                if tau is None or not self.event.any()
                else f"no comparable pairs: no event is before tau={tau:g}; increase tau"
            )
        if ipcw is None:
            return counted.astype(np.float64)
        groups = strata if ipcw == "uno_strata" else None
        left = self._uncensored(sample_weight, groups or QueryGroups.from_qid(None, len(self)))
        # Rows that weigh nothing themselves may be where nothing is left.
        return np.divide(1.0, left**2, out=np.zeros(len(self)), where=counted & (left > 0))

    def events_before(self, tau: float | None) -> NDArray[np.bool_]:
        """Return which rows have an event, before this time if there is one."""
        return self.event if tau is None else self.event & (self.time < tau)

    def rows(self, rows: NDArray[Any]) -> Survival:
        """Return some of the rows."""
        return Survival(self.event[rows], self.time[rows])

    def _uncensored(self, weight: Vector | None, groups: QueryGroups) -> Vector:
        """Return G just before the time of each row."""
        left = np.empty(len(self))
        for q in range(groups.n_queries):
            rows = groups.rows(q, q + 1)
            event, time = self.event[rows], self.time[rows]
            of_rows = None if weight is None else weight[rows]
            left[rows] = KaplanMeier.of_censoring(event, time, of_rows).before(time)
        return left


def is_structured(y: Any) -> bool:
    """Tell whether labels are none, but an array of fields."""
    return _fields(y) is not None


def _fields(y: Any) -> tuple[str, ...] | None:
    names: tuple[str, ...] | None = getattr(getattr(y, "dtype", None), "names", None)
    return names


def _have_pairs(preferences: Preferences, better_weight: Vector) -> bool:
    """Say whether in some stratum a row that weighs as the better one is above another."""
    groups, y, weight = preferences.groups, preferences.y, preferences.sample_weight
    counted = np.ones(len(y)) if weight is None else weight
    rows, first = groups.rows(0, groups.n_queries), groups.indptr[:-1]
    better = np.where(counted * better_weight > 0, y, -np.inf)[rows]
    worse = np.where(counted > 0, y, np.inf)[rows]
    return bool((np.maximum.reduceat(better, first) > np.minimum.reduceat(worse, first)).any())


def check_censoring(ipcw: str | None, tau: float | None) -> None:
    """Refuse what is no way to weigh pairs, or no time."""
    if ipcw not in CENSORING_WEIGHTS:
        known = ", ".join(map(repr, CENSORING_WEIGHTS))
        raise InputError(f"ipcw must be one of {known}, not {ipcw!r}")
    if tau is not None and not _is_time(tau):
        raise InputError(f"tau must be a time greater than 0, or None, not {tau!r}")


def _is_time(value: Any) -> bool:
    return isinstance(value, Real) and bool(value > 0)  # type: ignore[operator]
