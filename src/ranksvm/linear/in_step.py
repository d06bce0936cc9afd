"""Passes over X that several trainings begin together, so that what one reads serves the others.

Where X is larger than memory, a pass takes as long as the disk. Trainings on parts of the rows,
such as folds, that go on threads of their own begin each pass when all of them have come to one;
they read the same pages at the same time, and only the first one waits for the disk. What they
compute does not depend on it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class InStep:
    """A number of trainings, and where they wait for each other.

    Attributes
    ----------
    n_passes : int
        How many passes have begun, of all together.
    """

    def __init__(self) -> None:
        self.n_passes = 0
        self._changed = threading.Condition()
        self._n_members = self._n_waiting = 0

    @contextmanager
    def member(self) -> Iterator[None]:
        """Let this thread be one of those that wait for each other."""
        with self._changed:
            self._n_members += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_members -= 1
                self._go_on()

    def begin_pass(self) -> None:
        """Wait until all members have come to a pass."""
        with self._changed:
            this_pass = self.n_passes
            self._n_waiting += 1
            self._go_on()
            self._changed.wait_for(lambda: self.n_passes > this_pass)

    def _go_on(self) -> None:
        """Let all go on if all are waiting."""
        if self._n_waiting and self._n_waiting >= self._n_members:
            self._n_waiting = 0
            self.n_passes += 1
            self._changed.notify_all()
