"""Clusters of Dask on this machine: in processes that talk by TCP, or for less in threads."""

import warnings
from collections import Counter
from contextlib import contextmanager

import distributed


@contextmanager
def local_cluster(n_workers, *, processes=True):
    """Start workers of one thread each; what Dask warns of meanwhile is none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address="127.0.0.1:0",
        )
    with cluster:
        yield cluster


class Counting(distributed.SchedulerPlugin):
    """Counts how often tasks were done, by the beginnings of their names."""

    def __init__(self):
        self.of_tasks = Counter()

    def transition(self, key, start, finish, *_, **__):
        if (start, finish) == ("processing", "memory"):
            self.of_tasks[key] += 1

    def times(self, names):
        """Return how often each task was done whose name begins so, or in one of these ways."""
        return [n for key, n in self.of_tasks.items() if _name_of(key).startswith(names)]


def _name_of(key):
    return key if isinstance(key, str) else key[0]


@contextmanager
def counting(cluster):
    """Count the tasks that are done meanwhile."""
    counts = Counting()
    cluster.scheduler.add_plugin(counts, name="counting")
    try:
        yield counts
    finally:
        cluster.scheduler.remove_plugin("counting")
