"""Following a regularization path event by event: when to stop, and what is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...errors import InputError
from ...linear.parameters import require_count, require_number
from .coefficients import PathCoefficients

Vector = NDArray[np.float64]

ACCURACY = 1e-8  # of the optimality conditions; where they hold no better, a path ends
_EVENTS_BETWEEN_CHECKS = 64
_PAIRS_PER_EVENT = 256  # a check looks at all pairs


@dataclass(frozen=True)
class PathProgress:
    """How far a path has been followed.

    Attributes
    ----------
    n_events : int
    lam : float
    n_zero, n_free, n_one : int
        Number of pairs with a multiplier of 0, between, and 1.
    seconds : float
        Since the beginning.
    """

    n_events: int
    lam: float
    n_zero: int
    n_free: int
    n_one: int
    seconds: float


PathCallback = Callable[[PathProgress], object]


class Events(NamedTuple):
    """What `_core.RegularizationPath.advance` returns.

    `gamma` is before the first event; of `rows` and `values`, which say what changes, the first
    ``n_changed[t]`` are up to event t.
    """

    lambdas: Vector
    pairs: NDArray[np.int64]
    sets: NDArray[np.uint8]
    n_free: NDArray[np.int64]
    n_one: NDArray[np.int64]
    gamma: Vector
    rows: NDArray[np.int32]
    values: Vector
    n_changed: NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """Memory that these take."""
        return sum(array.nbytes for array in self)

    def first(self, n_events: int) -> Events:
        """Return the first of these, at least one."""
        cut = {name: getattr(self, name)[:n_events] for name in _OF_EACH_EVENT}
        n_changed = int(self.n_changed[n_events - 1])
        return self._replace(**cut, rows=self.rows[:n_changed], values=self.values[:n_changed])

    def gamma_at_the_end(self) -> Vector:
        """Return gamma after the last of these."""
        gamma = self.gamma.copy()
        gamma[self.rows] = self.values  # of several values of a row, the last one stays
        return gamma


_OF_EACH_EVENT = ("lambdas", "pairs", "sets", "n_free", "n_one", "n_changed")


@dataclass(frozen=True)
class Stop:
    """When to end a path; see `regularization_path`."""

    lambda_min_ratio: float = 1e-3
    lambda_min: float | None = None
    max_events: int | None = None
    max_support: int | None = None
    max_memory: float = np.inf

    def __post_init__(self) -> None:
        require_number("lambda_min_ratio", self.lambda_min_ratio, positive=True)
        if self.lambda_min_ratio >= 1:
            ratio = self.lambda_min_ratio
            raise InputError(
                f"lambda_min_ratio must be below 1, where the path begins, not {ratio}"
            )
        if self.lambda_min is not None:
            require_number("lambda_min", self.lambda_min, positive=True)
        if self.max_events is not None:
            require_count("max_events", self.max_events, 1)
        if self.max_support is not None:
            require_count("max_support", self.max_support, 0)
        if not self.max_memory > 0:
            raise InputError(f"max_memory must be greater than 0, not {self.max_memory!r}")

    def next_batch(self, n_events: int, n_pairs: int) -> int:
        """Return the number of events to take next, after so many."""
        batch = max(_EVENTS_BETWEEN_CHECKS, n_pairs // _PAIRS_PER_EVENT)
        return batch if self.max_events is None else min(batch, self.max_events - n_events)

    def up_to_support(self, events: Events) -> int | None:
        """Count the events until few enough pairs have multipliers above 0; None if never."""
        if self.max_support is None:
            return None
        # Not between two events at the same lambda.
        is_last = np.append(events.lambdas[1:] < events.lambdas[:-1], True)
        found = np.flatnonzero(is_last & (events.n_free + events.n_one <= self.max_support))
        return int(found[0]) + 1 if len(found) else None

    def least_lambda(self, first: float) -> float:
        """Return the lambda at which to stop, from that of the first event."""
        return self.lambda_min_ratio * first if self.lambda_min is None else self.lambda_min


class PathFollower:
    """Follows a path from the first event on.

    Parameters
    ----------
    path : _core.RegularizationPath
    n_pairs : int
    stop : Stop
    callbacks : sequence of callable
        Called with a `PathProgress` after each check; one that returns True ends the path.

    Attributes
    ----------
    status : {"lambda_min", "max_events", "max_support", "stopped", "precision"}
        Why the path ends.
    violation : float
        The largest violation of the optimality conditions that checks have found.
    """

    def __init__(
        self,
        path: _core.RegularizationPath,
        n_pairs: int,
        stop: Stop,
        callbacks: Sequence[PathCallback] = (),
    ) -> None:
        self.violation = 0.0
        self._path, self._n_pairs, self._stop = path, n_pairs, stop
        self._batches = [Events(*path.advance(path.lam, 0))]
        self._n_events = self._n_bytes = 0
        self._end = path.lam, path.gamma
        self.status = self._follow(callbacks)

    def _follow(self, callbacks: Sequence[PathCallback]) -> str:
        stop, path, start = self._stop, self._path, time.perf_counter()
        lambda_min = stop.least_lambda(path.lam)
        if stop.max_support is not None and self._n_pairs <= stop.max_support:
            return "max_support"
        while path.lam > lambda_min:
            n_events = stop.next_batch(self._n_events, self._n_pairs)
            if n_events <= 0:
                return "max_events"
            events = Events(*path.advance(lambda_min, n_events))
            violation = path.violation()
            if path.stuck or not violation <= ACCURACY:
                return "precision"
            self.violation = max(self.violation, violation)
            n_kept = stop.up_to_support(events)
            if n_kept is not None:
                events = events.first(n_kept)
                self._keep(events)
                self._end = float(events.lambdas[-1]), events.gamma_at_the_end()
                return "max_support"
            self._keep(events)
            self._end = path.lam, path.gamma
            progress = self._progress(time.perf_counter() - start)
            if any([callback(progress) is True for callback in callbacks]):
                return "stopped"
        return "lambda_min"

    def parts(self) -> dict[str, Any]:
        """Return fields of a `RegularizationPath`, with the end as the last breakpoint."""
        lambdas, pairs, sets, n_free, n_one, gammas, rows, values, n_changed = zip(
            *self._batches, strict=True
        )
        lam, gamma = self._end
        sizes_free = _and_at_the_end(0, *n_free)
        sizes_one = _and_at_the_end(self._n_pairs, *n_one)
        return {
            "lambdas": np.concatenate([*lambdas, [lam]]),
            "coefficients": PathCoefficients.joined([*gammas, gamma], n_changed, rows, values),
            "n_zero": self._n_pairs - sizes_free - sizes_one,
            "n_free": sizes_free,
            "n_one": sizes_one,
            "event_pairs": np.concatenate(pairs),
            "event_sets": np.concatenate(sets),
        }

    def _keep(self, events: Events) -> None:
        self._batches.append(events)
        self._n_events += len(events.lambdas)
        self._n_bytes += events.n_bytes
        if 2 * self._n_bytes > self._stop.max_memory:
            raise InputError(
                f"the path takes more than max_memory={self._stop.max_memory / 1e9:.3g} GB: it has "
                f"the coefficients of {len(events.gamma):,} rows at {self._n_events:,} events, and "
                f"has come down to lambda={self._path.lam:.3g}; raise max_memory or lambda_min, or "
                "use max_events or graph='reduced'"
            )

    def _progress(self, seconds: float) -> PathProgress:
        n_free, n_one = self._path.n_free, self._path.n_one
        n_zero = self._n_pairs - n_free - n_one
        return PathProgress(self._n_events, self._path.lam, n_zero, n_free, n_one, seconds)


def _and_at_the_end(first: int, *after_events: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the sizes after each event, and repeat the last one, or the first if there is none."""
    sizes = np.concatenate([[first], *after_events])
    return np.append(sizes[1:], sizes[-1])
