"""How many threads to use, and work shared among them in an order that is fixed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from math import ceil, inf
from numbers import Integral
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Task = TypeVar("Task")
Result = TypeVar("Result")


def require_workers(name: str, value: object) -> None:
    """Refuse what is neither a number of threads, nor negative: -1 all CPUs, -2 all but one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value == 0:
        raise InputError(
            f"{name} must be a whole number of at least 1, or negative (-1 is all CPUs, -2 all but "
            f"one), not {value!r}"
        )


def resolve_threads(n_threads: int | None, name: str = "n_threads") -> int:
    """Return the number of threads.

    Parameters
    ----------
    n_threads : int or None
        Negative: -1 stands for all CPUs that this process may use, -2 for all but one, and so on.
        None: all of them, or as many as OMP_NUM_THREADS allows, which is how joblib tells its
        workers what their share is.
    name : str, default="n_threads"
        What messages call it.

    Raises
    ------
    ValueError
        If it is 0, or no whole number.
    """
    if n_threads is None:
        return min(_cpus(), _omp_limit() or _cpus())
    require_workers(name, n_threads)
    return int(n_threads) if n_threads > 0 else max(1, _cpus() + 1 + int(n_threads))


def _omp_limit() -> int:
    """Return the number that OMP_NUM_THREADS gives to the outermost of nested loops; 0 for none."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isascii() and first.isdigit() else 0


def _cpus() -> int:
    """Return the number of CPUs that this process may use."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ceil(min(cpus or 1, _cgroup_quota()))


def _cgroup_quota(folder: str | os.PathLike[str] = "/sys/fs/cgroup") -> float:
    """Return how many CPUs a container may keep busy: version 2 of control groups, or 1."""
    try:
        quota, period = _content(folder, "cpu.max").split()
    except (OSError, ValueError):
        try:
            quota, period = (
                _content(folder, "cpu", f"cpu.cfs_{what}_us") for what in ("quota", "period")
            )
        except OSError:
            return inf
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max"
        return inf
    return share if share > 0 else inf


def _content(*path: str | os.PathLike[str]) -> str:
    with open(os.path.join(*path)) as file:
        return file.read()


class _SharedLimit:
    """One thread for libraries whose limit is one of the process, as long as anyone wants it.

    Whoever comes first sets it, and whoever leaves last takes it back. Of libraries that have been
    loaded since, the next to come sets it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_inside = 0
        self._limited: Any = None  # libraries
        self._limits: list[Any] = []

    def enter(self) -> None:
        with self._lock:
            libraries = _controllers().shared
            if libraries is not self._limited:
                _let_any_thread_control()
                self._limits.append(libraries.limit(limits=1))
                self._limited = libraries
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self.lift()

    def hold(self) -> None:
        """Keep it as it is: a child forked while it is half set could not take it back."""
        self._lock.acquire()

    def let_go(self) -> None:
        self._lock.release()

    def lift(self) -> None:
        limits, self._limits, self._limited = self._limits, [], None
        for limit in reversed(limits):
            _let_any_thread_control()
            limit.restore_original_limits()
            _let_any_thread_control()


_shared_limit = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products of this block on the calling thread.

    Threads of our own share the work instead, in a way that does not change the result. Blocks may
    overlap in time, on any threads.
    """
    limit = _shared_limit  # a child that is forked within a block has another
    with _controllers().of_thread.limit(limits=1):
        limit.enter()
        try:
            yield
        finally:
            limit.leave()


def _begin_anew() -> None:
    """Take back, in a forked child, what the threads of its parent wanted."""
    global _shared_limit
    inherited, _shared_limit = _shared_limit, _SharedLimit()
    inherited.lift()
    inherited.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _shared_limit.hold(),
        after_in_parent=lambda: _shared_limit.let_go(),
        after_in_child=_begin_anew,
    )


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
        from concurrent.futures import ThreadPoolExecutor

        # Overflow is to be told, or not, as it is in this thread.
        as_here = partial(np.seterr, **np.geterr())
        with ThreadPoolExecutor(n_threads, initializer=as_here) as pool:

            def ordered(
                function: Callable[[Task], Result], tasks: Iterable[Task]
            ) -> Iterator[Result]:
                # Few tasks are in flight at a time, so that few results wait in memory.
                waiting = []
                for task in tasks:
                    waiting.append(submitted(pool, function, task))
                    if len(waiting) > 2 * n_threads:
                        yield waiting.pop(0).result()
                for future in waiting:
                    yield future.result()

            yield ordered


def submitted(
    pool: ThreadPoolExecutor, function: Callable[[Task], Result], task: Task
) -> Future[Result]:
    """Give a task to a pool; where no thread can be started, memory is what lacks."""
    try:
        return pool.submit(function, task)
    except RuntimeError as error:
        if "thread" not in str(error):
            raise
        raise MemoryError("no memory is left for another thread") from error


def map_in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], n_threads: int
) -> Iterator[Result]:
    """Map on threads with results in order, with every matrix product on one thread."""
    with in_order(n_threads) as ordered:
        yield from ordered(function, tasks)


class _Controllers(NamedTuple):
    """Of libraries that limit the threads of the process, or those of the calling thread."""

    shared: Any
    of_thread: Any


def _controllers() -> _Controllers:
    # SciPy brings a library of its own, which is loaded when it is first needed.
    return _controllers_of("scipy.linalg._fblas" in sys.modules)


@cache
def _controllers_of(with_scipy: bool) -> _Controllers:
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas")
    shared: list[str] = []
    of_thread: list[str] = []
    for library in found.info():
        kind = shared if library.get("threading_layer") == "pthreads" else of_thread
        kind.append(library["filepath"])
    return _Controllers(found.select(filepath=shared), found.select(filepath=of_thread))


def _let_any_thread_control() -> None:
    """Let this thread set a limit that threadpoolctl reserves for the one that set it before."""
    import threadpoolctl

    controller: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(controller, "clear_controlling_thread"):  # since version 3.7
        controller.clear_controlling_thread(force=True)
