import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session", autouse=True)
def _a_task_for_each_partition():
    """Let partitions, which are small here, have tasks of their own, as large ones have."""
    from ranksvm.cluster import partition

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "MOST_STORED", 0)
        yield


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
