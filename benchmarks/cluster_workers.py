"""Workers that are processes of this machine, and what is done to them."""

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging import CRITICAL
from typing import Any

from distributed import Client, LocalCluster

from ranksvm.cluster.driver import Driver

TOL = 1e-6


@contextmanager
def workers(n: int) -> Iterator[Client]:
    """Start workers of one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with (
            LocalCluster(n_workers=n, silence_logs=CRITICAL, **options) as cluster,
            Client(cluster) as client,
        ):
            yield client


def pid_of_one(client: Client) -> int:
    """Return the process of some worker."""
    return min(client.run(os.getpid).values())


def kill_one(client: Client) -> None:
    """Kill a worker, which has no time to say so."""
    os.kill(pid_of_one(client), signal.SIGKILL)


@contextmanager
def at_round(number: int, event: Callable[[], object]) -> Iterator[None]:
    """Let something happen once the tasks of a round are on their way."""
    plain, seen = Driver.round, []

    def round_(self: Driver, name: str, submit: Callable[[], Any]) -> Any:
        def submitted() -> Any:
            futures = submit()
            seen.append(name)
            if len(seen) == number:
                event()
            return futures

        return plain(self, name, submitted)

    Driver.round = round_
    try:
        yield
    finally:
        Driver.round = plain
