"""Passes over X that several trainings begin together, so that what one reads serves the others.

Trainings on parts of the rows, such as folds, go on threads of their own. Each waits at a pass
until all of them have come to one.

Where X is larger than memory, a pass takes as long as the disk. They then go through the same pages
at the same time, and only the first one waits for the disk.

Where X is in memory, products of the same kind are computed for several trainings at once
(`ranksvm.linear.shared_products`).

What is computed does not depend on who else does.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

Work: TypeAlias = Callable[[list[Any]], list[Any]]


@dataclass(eq=False)
class _Request:
    work: Work
    argument: Any
    result: Any = None
    error: BaseException | None = None
    is_done: bool = False


class InStep:
    """A number of trainings, and where they wait for each other.

    Parameters
    ----------
    n_at_a_time : int, optional
        How many of those go on at the same time that need not wait; all of them by default.

    Attributes
    ----------
    n_passes : int
        How many passes have begun, of all together.
    """

    def __init__(self, n_at_a_time: int | None = None) -> None:
        self.n_passes = 0
        self._changed = threading.Condition()
        self._n_members = 0
        self._requests: list[_Request] = []
        self._turns = threading.Semaphore(n_at_a_time or sys.maxsize)

    @contextmanager
    def member(self) -> Iterator[None]:
        """Let this thread be one of those that wait for each other."""
        with self._changed:
            self._n_members += 1
        try:
            with self._turns:
                yield
        finally:
            with self._changed:
                self._n_members -= 1
                self._go_on()

    def begin_pass(self) -> None:
        """Wait until all members have come to a pass."""
        self.together(list, None)

    def together(self, work: Work, argument: Any) -> Any:
        """Return what `work` makes of an argument, once all members ask for something.

        It is then called with the arguments of all that ask for the same work, if no other work is
        asked for by more of them; those who have asked for other work wait on.
        """
        request = _Request(work, argument)
        self._turns.release()
        try:
            with self._changed:
                self._requests.append(request)
                self._go_on()
                self._changed.wait_for(lambda: request.is_done)
        finally:
            self._turns.acquire()
        if request.error is not None:
            raise request.error
        return request.result

    def _go_on(self) -> None:
        """Do what most ask for, if all are waiting."""
        if not self._requests or len(self._requests) < self._n_members:
            return
        work = Counter(request.work for request in self._requests).most_common(1)[0][0]
        done = [request for request in self._requests if request.work == work]
        self._requests = [request for request in self._requests if request.work != work]
        self.n_passes += 1
        try:
            results = work([request.argument for request in done])
            for request, result in zip(done, results, strict=True):
                request.result = result
        except BaseException as error:
            for request in done:
                request.error = error
        for request in done:
            request.is_done = True
        self._changed.notify_all()
