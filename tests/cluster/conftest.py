import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def cluster():
    """Two workers of one thread, each a process."""
    from local_clusters import local_cluster

    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client
