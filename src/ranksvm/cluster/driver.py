"""The driver: it sends steps to where the partitions are, and adds up what they bring.

A round is one graph of tasks (`ranksvm.cluster.graph`): a step of every partition, and the tree of
sums above it. Tasks depend on the futures of the partitions, and weights travel as their arguments,
so that the scheduler alone decides where they run, and repeats what a lost worker held. What it
cannot bring back, because somebody restarted it, the driver asks for again, from the sources.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

from dask._task_spec import TaskRef
from distributed import Client, Future
from distributed import TimeoutError as NoAnswer
from distributed.scheduler import KilledWorker

from .graph import Graph, Step
from .sums import Total

Pending: TypeAlias = "Future[Any]"
Build: TypeAlias = Callable[[Graph], list[TaskRef]]

PATIENCE = 45.0  # seconds without a worker, or without the scheduler
LOOK = 2.0  # how often to look whether they are there
BAD = ("error", "cancelled", "lost")  # of futures
NO_SCHEDULER = "the scheduler has not answered"
MOST_REPEATS = 5  # of a round, from the sources


class ClusterError(OSError, RuntimeError):
    """What a cluster cannot go on from, in a sentence."""


class Lost(Exception):
    """Futures are gone that the scheduler cannot bring back by itself."""


class Driver:
    """Runs rounds of steps on a cluster.

    Parameters
    ----------
    client : Client
        Of Dask, that is not asynchronous.

    Attributes
    ----------
    n_rounds : int
        How many rounds there have been.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.n_rounds = 0
        self._name = uuid4().hex[:8]
        self._make: Callable[[], Sequence[Any]] | None = None
        self._held: list[Pending] = []
        self._n_graphs = 0

    def hold(self, make: Callable[[], Sequence[Any]]) -> None:
        """Let `make` return collections of which each is a partition, and hold what they are.

        They are made again where futures were lost.
        """
        former, self._make = self._held, make
        self._held = self._futures()
        try:
            self._wait(self._held)
        except Lost as error:
            self._restore(error)
        del former

    def release(self) -> None:
        """Let go of all partitions."""
        self._held, self._make = [], None

    @property
    def held(self) -> list[TaskRef]:
        """What is held, for the tasks of a graph."""
        return [TaskRef(future.key) for future in self._held]

    def _futures(self) -> list[Pending]:
        assert self._make is not None
        made = list(self._make())
        futures: list[Pending] = self.client.compute(made)  # type: ignore[no-untyped-call]
        return futures

    def total(self, name: str, build: Build) -> Total:
        """Add up what the tasks bring that `build` puts into a graph; Dask shows the name."""
        return self.round(name, lambda: self._send(lambda graph: graph.sum(name, build(graph))))

    def round(self, name: str, submit: Callable[[], Pending]) -> Total:
        """Return the total that the future brings that `submit` asks for."""
        self.n_rounds += 1
        return Total(self.result(submit))

    def result(self, submit: Callable[[], Pending]) -> Any:
        """Return what a future brings, asked for again if partitions are lost."""
        for attempt in range(MOST_REPEATS):
            try:
                return self._wait([submit()])[0]
            except Lost as error:
                self._require(attempt + 1 < MOST_REPEATS, str(error))
                self._restore(error)
        raise AssertionError

    def gather(self, name: str, step: Step, *of_each: Sequence[Any]) -> list[Any]:
        """Return what a step brings of each of what is held."""
        return self.together(lambda graph: graph.map(name, step, self.held, *of_each))

    def together(self, build: Build) -> list[Any]:
        """Return what the tasks bring that `build` puts into a graph, in a round."""
        self.n_rounds += 1

        def gathered(graph: Graph) -> TaskRef:
            return graph.map("gather", _all, [build(graph)])[0]

        return list(self.result(lambda: self._send(gathered)))

    def _send(self, build: Callable[[Graph], TaskRef]) -> Pending:
        """Send a graph; return the future of the task whose result is to come back."""
        self._n_graphs += 1
        graph = Graph(f"{self._name}-{self._n_graphs}")
        last = build(graph)
        future: Pending = self.client.get(graph.tasks, last.key, sync=False)  # type: ignore[no-untyped-call]
        return future

    def _restore(self, error: Lost) -> None:
        """Make the partitions again, from their sources."""
        try:
            self._held = []
            self._held = self._futures()
            self._wait(self._held)
        except (Lost, CancelledError) as again:
            raise ClusterError(
                f"a partition was lost that cannot be computed again ({again or error}): data that "
                "were scattered, or persisted before a restart, have no source; give collections "
                "that can be computed from files"
            ) from None

    def _wait(self, futures: list[Pending]) -> list[Any]:
        """Wait for futures; return the result of a single one.

        Raises
        ------
        Lost
            If the scheduler has forgotten them.
        ClusterError
            If there are no workers any more, or no scheduler.
        """
        for future in futures:
            self._patiently(partial(future.exception, timeout=LOOK))
            if future.status in BAD:
                self._patiently(partial(future.result, timeout=LOOK))
        if len(futures) > 1:
            return []
        return [self._patiently(partial(future.result, timeout=LOOK)) for future in futures]

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        """Ask a future, as long as somebody is there to answer."""
        gone_since: float | None = None
        while True:
            try:
                return ask()
            except NoAnswer:
                reason, now = self._what_is_missing(), time.monotonic()
            except CancelledError as error:
                self._require(self._is_connected, NO_SCHEDULER)
                raise Lost(str(error)) from None
            except KilledWorker as error:
                raise ClusterError(
                    f"workers died again and again at the same task, {error.task}: most likely a "
                    "partition is too large for their memory; make more, smaller partitions"
                ) from None
            gone_since = (gone_since or now) if reason else None
            is_over = gone_since is not None and now - gone_since > PATIENCE
            self._require(not is_over, f"{reason} for {PATIENCE:.0f} seconds")

    def _require(self, is_well: bool, what: str) -> None:
        if not is_well:
            raise ClusterError(f"the cluster cannot go on: {what}")

    @property
    def _is_connected(self) -> bool:
        return bool(self.client.status == "running")

    def _what_is_missing(self) -> str:
        """Say what is missing to go on, or nothing."""
        if not self._is_connected:
            return NO_SCHEDULER
        try:
            scheduler: Any = self.client.scheduler
            workers = self.client.sync(scheduler.ncores, callback_timeout=5)  # type: ignore[no-untyped-call]
        except (OSError, NoAnswer):
            return NO_SCHEDULER
        return "" if workers else "no worker has been there"


def _all(results: list[Any]) -> list[Any]:
    return results


@contextmanager
def driving(client: Client) -> Iterator[Driver]:
    """Give a driver, which holds nothing afterwards."""
    driver = Driver(client)
    try:
        yield driver
    finally:
        driver.release()
