"""Clusters of Dask in processes of this machine, that talk by TCP."""

import warnings
from contextlib import contextmanager

import distributed


@contextmanager
def local_cluster(n_workers):
    """Start workers of one thread; what Dask warns of meanwhile is none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
    with cluster:
        yield cluster
