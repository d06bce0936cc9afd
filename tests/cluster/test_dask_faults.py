"""Workers that die, stop, leave and come, and what cannot be gone on from."""

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.array as da
import distributed
import numpy as np
import pytest

from local_clusters import counting, local_cluster
from ranksvm.cluster import driver as driver_module
from ranksvm.cluster.driver import Driver
from ranksvm.dask import ClusterError, DaskRankSVM

RNG = np.random.default_rng(5)
N, D = 400, 6
X = RNG.normal(size=(N, D))
Y = (X[:, 0] + RNG.normal(size=N)).round()
QID = np.repeat(np.arange(N // 20), 20)


def collections(k=4):
    chunks = N // k
    return da.from_array(X, chunks=(chunks, D)), *(da.from_array(v, chunks) for v in (Y, QID))


@pytest.fixture(scope="module")
def cluster():
    """Workers of these tests alone: those that nannies do not bring back are missed by no other."""
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def at_round(monkeypatch):
    """A function that lets something happen once the tasks of a round are on their way."""
    asked, happened = [], []

    def happen(number, event):
        plain, seen = Driver.round, []
        asked.append(number)

        def round_(self, name, submit):
            def submitted():
                futures = submit()
                seen.append(name)
                if len(seen) == number:
                    event()
                    happened.append(number)
                return futures

            return plain(self, name, submitted)

        monkeypatch.setattr(Driver, "round", round_)

    yield happen
    assert happened == asked


@pytest.fixture
def counted(cluster):
    """Counts of the tasks that are done meanwhile."""
    with counting(cluster) as counts:
        yield counts


def two_workers(client):
    """Wait until two workers answer; where nannies do not bring them back, start others."""
    began, asked_for_more = time.monotonic(), False
    while (missing := 2 - len(client.run(os.getpid, on_error="ignore"))) > 0:
        passed = time.monotonic() - began
        assert passed < 75, f"{missing} of two workers are missing"
        if passed > 15 and not asked_for_more:
            asked_for_more = True
            client.cluster.scale(len(client.cluster.workers) + missing)
        time.sleep(0.1)


def kill_one(client):
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


def leave(cluster, client):
    cluster.scale(0)
    until = time.monotonic() + 30
    while client.nthreads() and time.monotonic() < until:
        time.sleep(0.05)


def bits(model):
    return model.coef_.tobytes(), model.objective_, model.dual_gap_


@pytest.fixture(scope="module")
def undisturbed(client):
    return bits(DaskRankSVM(tol=1e-9, client=client).fit(*collections()))


@pytest.fixture(scope="module")
def n_undisturbed(client, undisturbed):
    """Rounds of a fit, those of them that are added up, and how many tasks were done."""
    plain, names = Driver.round, []
    with counting(client.cluster) as counts, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Driver, "round", lambda self, *args: names.append(args[0]) or plain(self, *args)
        )
        model = DaskRankSVM(tol=1e-9, client=client).fit(*collections())
    return model.history_[-1].n_rounds, len(names), sum(counts.times(""))


@pytest.mark.parametrize("share", np.linspace(0, 1, 5))
def test_a_killed_worker_costs_no_bit_and_at_most_as_much_again(
    client, at_round, counted, undisturbed, n_undisturbed, share
):
    """What a worker held is done again, once; no round is, but for its own tasks."""
    n_rounds, n_added, n_tasks = n_undisturbed
    assert n_added >= 5
    two_workers(client)
    at_round(1 + round(share * (n_added - 1)), lambda: kill_one(client))
    model = DaskRankSVM(tol=1e-9, client=client).fit(*collections())
    assert bits(model) == undisturbed
    assert model.history_[-1].n_rounds == n_rounds
    assert sum(counted.times("")) <= 2 * n_tasks
    for names in (("partition_of", "bundle_of"), "rows_of"):
        assert counted.times(names)
        assert max(counted.times(names)) <= 2


def test_a_restart_costs_no_bit(client, at_round, undisturbed):
    at_round(3, lambda: client.restart(wait_for_workers=False))
    assert bits(DaskRankSVM(tol=1e-9, client=client).fit(*collections())) == undisturbed


def test_a_worker_that_stops_for_a_while_is_waited_for(client, at_round, undisturbed):
    two_workers(client)
    pid = next(iter(client.run(os.getpid).values()))

    def stop():
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(2.0, os.kill, (pid, signal.SIGCONT)).start()

    at_round(3, stop)
    assert bits(DaskRankSVM(tol=1e-9, client=client).fit(*collections())) == undisturbed


def test_what_cannot_be_computed_again_is_told(client, at_round):
    two_workers(client)
    persisted = client.persist(list(collections()))
    distributed.wait(persisted)
    at_round(3, lambda: client.restart(wait_for_workers=False))
    with pytest.raises(ClusterError, match="a partition was lost that cannot be computed again"):
        DaskRankSVM(client=client).fit(*persisted)


def test_scattered_data_of_a_killed_worker_are_told(monkeypatch):
    """They were nowhere else, so that nobody can compute them."""
    # Others may be about to be started again.
    with local_cluster(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        parts = np.split(np.arange(N), 4)
        futures = client.scatter([X[rows] for rows in parts])
        holders = {*np.concatenate([*client.who_has(futures).values()])}
        assert len(holders) == 2
        blocks = [da.from_delayed(dask.delayed(f), (N // 4, D), X.dtype) for f in futures]
        X_, (y, qid) = da.concatenate(blocks), collections()[1:]
        lost = client.run(os.getpid)[holders.pop()]
        os.kill(lost, signal.SIGSTOP)  # else the other might be given copies before it is killed
        plain = Driver._wait

        def killed_once_asked(self, tasks):
            os.kill(lost, signal.SIGKILL)
            monkeypatch.setattr(Driver, "_wait", plain)
            return plain(self, tasks)

        monkeypatch.setattr(Driver, "_wait", killed_once_asked)
        with pytest.raises(ClusterError, match="was lost that cannot be computed again"):
            DaskRankSVM(client=client).fit(X_, y, qid)


def test_late_workers_join_and_gone_ones_are_told(at_round, monkeypatch, undisturbed):
    monkeypatch.setattr(driver_module, "PATIENCE", 1.0)
    few = local_cluster(1, processes=False)
    with few as cluster, distributed.Client(cluster, set_as_default=False) as client:
        at_round(2, lambda: cluster.scale(3))
        assert bits(DaskRankSVM(tol=1e-9, client=client).fit(*collections())) == undisturbed
        at_round(2, lambda: leave(cluster, client))
        with pytest.raises(ClusterError, match="no worker has been there for 1 seconds"):
            DaskRankSVM(client=client).fit(*collections())


def test_a_dead_scheduler_is_told(at_round, monkeypatch, tmp_path):
    monkeypatch.setattr(driver_module, "PATIENCE", 1.0)
    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", where]
    options = ["--no-dashboard", "--host", "127.0.0.1", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*command, *options], **quiet) as scheduler:
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", where]
        more = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "5"]
        with subprocess.Popen([*worker, *more], **quiet) as process:
            try:
                client = distributed.Client(scheduler_file=str(where), set_as_default=False)
                client.wait_for_workers(1)
                at_round(2, scheduler.kill)
                began = time.monotonic()
                with pytest.raises(ClusterError, match="the scheduler has not answered"):
                    DaskRankSVM(client=client).fit(*collections())
                assert time.monotonic() - began < 60
                client.close(timeout=1)
            finally:
                scheduler.kill()
                process.kill()
