"""How many threads to use, and work shared among them in an order that is fixed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads; None stands for all CPUs that this process may use.

    Raises
    ------
    ValueError
        If the number is not at least 1.
    """
    if n_threads is not None:
        if n_threads < 1:
            raise ValueError(f"n_threads must be at least 1 or None, not {n_threads}")
        return n_threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products of this block on the calling thread.

    Threads of our own share the work instead, in a way that does not change the result.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


class InOrder(Protocol):
    """A map whose results come in order."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], /
    ) -> Iterator[Result]:
        """Return the results, one after the other."""


@contextmanager
def in_order(n_threads: int) -> Iterator[InOrder]:
    """Give a map on threads with results in order, with every matrix product on one thread."""
    with one_blas_thread():
        if n_threads == 1:
            yield map
            return
        with ThreadPoolExecutor(n_threads) as pool:

            def ordered(
                function: Callable[[Task], Result], tasks: Iterable[Task]
            ) -> Iterator[Result]:
                # Few tasks are in flight at a time, so that few results wait in memory.
                waiting = []
                for task in tasks:
                    waiting.append(pool.submit(function, task))
                    if len(waiting) > 2 * n_threads:
                        yield waiting.pop(0).result()
                for future in waiting:
                    yield future.result()

            yield ordered


def map_in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int
) -> Iterator[Result]:
    """Map on threads with results in order, with every matrix product on one thread."""
    with in_order(n_threads) as ordered:
        yield from ordered(function, tasks)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
