"""The coefficients along a regularization path, of which few change from one event to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...records import record

Vector = NDArray[np.float64]


@record
class PathCoefficients:
    """``lambda beta`` at each breakpoint: whole now and then, and what changes in between.

    Attributes
    ----------
    states : ndarray of shape (n_states, n_rows)
        All coefficients before the events of each batch; the last one is the end of the path.
    first_events : ndarray of shape (n_states,), int64
        The first event of each batch; of the end, the number of events.
    indptr : ndarray of shape (n_events + 2,), int64
        Event t changes the elements ``indptr[t]`` up to ``indptr[t + 1]`` of `rows` to `values`;
        the end changes none.
    rows : ndarray of shape (n_changes,), int32
    values : ndarray of shape (n_changes,)
    """

    states: NDArray[np.float64]
    first_events: NDArray[np.int64]
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Vector

    @property
    def n_rows(self) -> int:
        """Number of coefficients."""
        return int(self.states.shape[1])

    @classmethod
    def joined(
        cls,
        states: Sequence[Vector],
        n_changed: Sequence[NDArray[np.int64]],
        rows: Sequence[NDArray[np.int32]],
        values: Sequence[Vector],
    ) -> PathCoefficients:
        """Join batches of events: what each begins with, and the changes up to each event of it."""
        first_events = np.cumsum([0, *map(len, n_changed)])
        before = np.cumsum([0, *map(len, rows)])
        up_to = [start + counts for start, counts in zip(before, n_changed, strict=False)]
        return cls(
            np.stack(states),
            first_events,
            np.concatenate([[0], *up_to, before[-1:]]),
            np.concatenate(rows),
            np.concatenate(values),
        )

    def at(self, breakpoints: ArrayLike, rows: Any = slice(None)) -> NDArray[np.float64]:
        """Return the coefficients of some rows.

        Parameters
        ----------
        breakpoints : array-like of int
            Of shape (n,), or a single one.
        rows : index, optional

        Returns
        -------
        ndarray of shape (n, n_rows) or (n_rows,)
        """
        places = np.asarray(breakpoints)
        flat = places.ravel()
        batches = np.searchsorted(self.first_events, flat, side="right") - 1
        found = np.empty((len(flat), len(self.states[0, rows])))
        batch, done, state = -1, 0, self.states[0]
        for k in np.argsort(flat, kind="stable"):
            if batches[k] != batch:
                batch = batches[k]
                state, done = self.states[batch].copy(), self.indptr[self.first_events[batch]]
            end = self.indptr[flat[k] + 1]
            # Of several values of a row, the last one stays.
            state[self.rows[done:end]] = self.values[done:end]
            done = end
            found[k] = state[rows]
        return found.reshape(*places.shape, -1)
