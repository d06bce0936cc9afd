import warnings

import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def cluster():
    """Two workers of one thread, each a process, by TCP on the loopback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ports and loops, none of which is ours
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            yield cluster


@pytest.fixture(scope="session")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client
