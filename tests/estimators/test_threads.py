"""Estimators in many threads, forked children and workers at a time; the number of threads."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, threads
from ranksvm.threads import one_blas_thread, resolve_threads

PATIENCE = 60  # seconds, after which something hangs


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 40))
    X[rng.random(X.shape) < 0.5] = 0.0
    y = np.digitize(X @ rng.standard_normal(40) + 3 * rng.standard_normal(3000), [0.0, 2.0, 4.0])
    return X, y.astype(float), np.arange(3000) // 30


def kinds(data):
    X, y, qid = data
    sparse = scipy.sparse.csr_matrix(X)
    few = slice(0, 300)
    yield from (
        (RankSVM(loss=loss, solver=solver, n_threads=2), (rows, y, qid))
        for loss in ("squared_hinge", "hinge")
        for solver in ("auto", "newton")
        for rows in (X, sparse)
    )
    yield RankSVM(n_threads=2), (X, y)
    yield KernelRankSVM(n_threads=2), (X[few], y[few], qid[few])


def learned(ranker, rows):
    ranker = ranker.__class__(**ranker.get_params())
    ranker.fit(*rows)
    return getattr(ranker, "coef_", None) if hasattr(ranker, "coef_") else ranker.dual_coef_


@pytest.fixture(autouse=True)
def two_blas_threads():
    """Let BLAS have more threads than one, as tests do not."""
    with threadpool_limits(2, "blas"):
        assert set(blas_threads()) == {2}
        yield


def blas_threads():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_twenty_threads_on_the_same_rows(data):
    before = blas_threads()
    work = [*kinds(data)] * 2
    alone = [learned(*job) for job in work[: len(work) // 2]] * 2
    with ThreadPoolExecutor(20) as pool:
        running = [pool.submit(learned, *job) for job in work]
        together = [future.result(PATIENCE) for future in running]
    assert all(map(np.array_equal, alone, together))
    assert blas_threads() == before


def test_the_limit_of_blas_ends_with_the_last_block():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) <= {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


LOADED_LATER = """
from threadpoolctl import threadpool_info
from ranksvm.threads import one_blas_thread

def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

with one_blas_thread():
    assert blas_threads() == {1}
    import scipy.linalg
    with one_blas_thread():
        assert blas_threads() == {1}, "libraries that are loaded within a block"
assert 1 not in blas_threads(), "what has been limited is so for ever"
with one_blas_thread():
    assert blas_threads() == {1}, "libraries that have been loaded since the first block"
assert 1 not in blas_threads()
"""


def test_libraries_that_are_loaded_later_have_the_limit():
    environment = {key: value for key, value in os.environ.items() if "NUM_THREADS" not in key}
    environment["OPENBLAS_NUM_THREADS"] = "2"
    done = subprocess.run(
        [sys.executable, "-c", LOADED_LATER], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def in_child(function):
    """Return what a function gives in a forked child."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=lambda: send.send(function()))
    child.start()
    try:
        assert receive.poll(PATIENCE), "the child hangs"
        return receive.recv()
    finally:
        child.kill()
        child.join()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_fits(data):
    X, y, qid = data
    job = RankSVM(n_threads=2), (X, y, qid)
    expected = learned(*job)
    np.testing.assert_array_equal(in_child(lambda: learned(*job)), expected)
    kernel = KernelRankSVM(n_threads=2), (X[:200], y[:200], qid[:200])
    np.testing.assert_array_equal(in_child(lambda: learned(*kernel)), learned(*kernel))


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_that_are_forked_while_others_fit(data):
    X, y, qid = data
    job, before = (RankSVM(n_threads=2), (X, y, qid)), blas_threads()
    expected, done = learned(*job), threading.Event()

    def fit_on():
        while not done.is_set():
            learned(*job)

    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(fit_on) for _ in range(2)]
        try:
            for _ in range(8):
                found, left = in_child(lambda: (learned(*job), blas_threads()))
                np.testing.assert_array_equal(found, expected)
                assert left == before
        finally:
            done.set()
        for other in others:
            other.result(PATIENCE)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_is_not_forked_while_the_limit_of_blas_is_half_set(monkeypatch):
    plain, before, half_set = threads._controllers(), blas_threads(), threading.Event()

    class Slow:
        def limit(self, limits):
            limit = plain.shared.limit(limits=limits)
            half_set.set()
            time.sleep(0.2)
            return limit

    monkeypatch.setattr(threads, "_controllers", lambda: plain._replace(shared=Slow()))

    def enter():
        with one_blas_thread():
            pass

    with ThreadPoolExecutor(1) as pool:
        entering = pool.submit(enter)
        assert half_set.wait(PATIENCE)
        assert in_child(blas_threads) == before
        entering.result(PATIENCE)
    assert blas_threads() == before


def test_a_worker_has_its_share_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "_cpus", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert resolve_threads(None) == 8
    for text, expected in [("3", 3), (" 2,1", 2), ("100", 8), ("0", 8), ("many", 8), ("", 8)]:
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert resolve_threads(None) == expected
        assert resolve_threads(-1) == 8
    assert [resolve_threads(n) for n in (1, 20, np.int64(3), -2, -8, -50)] == [1, 20, 3, 7, 1, 1]


def share():
    threads._cpus = lambda: 64
    return resolve_threads(None)


def test_joblib_says_what_the_share_is():
    with parallel_config("loky", n_jobs=2, inner_max_num_threads=3):
        assert Parallel()(delayed(share)() for _ in range(2)) == [3, 3]


@pytest.mark.parametrize("value", [0, 1.5, "2", True])
def test_no_number_of_threads(value, data):
    for ranker in (
        RankSVM(n_threads=value),
        RankSVMCV(n_jobs=value),
        KernelRankSVM(n_threads=value),
    ):
        with pytest.raises(ValueError, match="must be a whole number of at least 1, or negative"):
            ranker.fit(*data)


def test_a_quota_of_a_container(tmp_path):
    assert threads._cgroup_quota(tmp_path) == np.inf
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert threads._cgroup_quota(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert threads._cgroup_quota(tmp_path) == np.inf
    (tmp_path / "cpu.max").unlink()
    (tmp_path / "cpu").mkdir()
    for quota, expected in [("200000", 2.0), ("-1", np.inf)]:
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota)
        (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
        assert threads._cgroup_quota(tmp_path) == expected
