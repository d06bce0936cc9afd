"""
Boosted trees on packed data, beside this library: the same rows, memory, cores and time.

XGBoost goes through blocks of whole queries by its ``ExtMemQuantileDMatrix``, which keeps them on
disk, binned, and boosts 100 rounds of hist with rank:pairwise. Here training is that of the
defaults to a gap of 1e-6. Both take all queries of so many gigabytes but the last twentieth, by
which they are judged. Each is a process of its own, which begins with nothing in the page cache, is
limited in its anonymous memory (RLIMIT_DATA) and is killed when its time is over.
"""

import resource
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.disk_data import Watch, first_queries, let_go, n_queries_of
from ranksvm import evaluate, open_data
from ranksvm.disk.data import PackedData
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train

HELD_OUT = 20  # one query in so many
ROUNDS, QUERIES_OF_BLOCK = 100, 600
TOL = 1e-6
JUDGED = {"nDCG@10": "ndcg@10", "pairwise accuracy": "pairwise_accuracy"}

Found = dict[str, Any]


def beside_trees(
    path: Path, gigabytes: float, n_threads: int, memory: float, seconds: float
) -> Iterator[tuple[str, Found]]:
    """Measure both on so many gigabytes, within so many of memory, and seconds."""
    limits = round(memory * 1e9), seconds
    yield "beside trees", in_time(*limits, rank, path, gigabytes, n_threads)
    with TemporaryDirectory(dir=path.parent, prefix="trees-") as cache:
        yield "trees", in_time(*limits, boost, path, gigabytes, n_threads, cache)


def in_time(memory: int, seconds: float, function: Callable[..., Found], *args: Any) -> Found:
    """Call it in a new process; say why, where it brings nothing."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, memory, function, args))
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            return {"outcome": f"more than {seconds:g} s"}
        found: Found = here.recv()
        return found
    except EOFError:
        return {"outcome": "died"}
    finally:
        process.kill()
        process.join()


def _send(there: Connection, memory: int, function: Callable[..., Found], args: Any) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        there.send(function(*args))
    except Exception as error:  # of XGBoost, too, which has no memory error of its own
        there.send({"outcome": f"{type(error).__name__}: {error}"[:80]})


def parts_of(data: PackedData, gigabytes: float) -> tuple[int, int]:
    """Return how many queries are trained on, and how many there are with those held out."""
    n_queries = n_queries_of(data, gigabytes)
    return max(n_queries - max(n_queries // HELD_OUT, 1), 1), n_queries


def measured(
    data: PackedData, gigabytes: float, training: Callable[[int], Callable[..., Any]]
) -> Found:
    """Train on so many queries; return what that takes, and how good its scores are."""
    n_trained, n_queries = parts_of(data, gigabytes)
    let_go(Path(data.path), data)
    watch, start, cpu = Watch(), time.perf_counter(), time.process_time()
    score = training(n_trained)
    seconds, of_cpu = time.perf_counter() - start, time.process_time() - cpu
    rows = slice(*(int(data.query_indptr[q]) for q in (n_trained, n_queries)))
    judged = evaluate(data.y[rows], score(data.X[rows]), data.qid[rows], list(JUDGED.values()))
    return {
        "seconds": seconds,
        "CPU seconds": of_cpu,
        "bytes": watch.end(),
        **{name: judged.mean[metric] for name, metric in JUDGED.items()},
    }


def rank(path: Path, gigabytes: float, n_threads: int) -> Found:
    """Train by this library."""
    data = open_data(path)

    def training(n_queries: int) -> Callable[..., Any]:
        X, preferences = first_queries(data, n_queries, in_memory=False)
        fit = train(X, preferences, Parameters(tol=TOL, n_threads=n_threads))
        return lambda X: X @ fit.weights.dense

    return measured(data, gigabytes, training)


def boost(path: Path, gigabytes: float, n_threads: int, cache: str) -> Found:
    """Boost trees by XGBoost, which writes what it has binned to the folder `cache`."""
    import xgboost

    data = open_data(path)

    class Blocks(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self, indptr: np.ndarray) -> None:
            self._next, self._indptr = 0, indptr
            super().__init__(cache_prefix=f"{cache}/rows")

        def reset(self) -> None:
            self._next = 0

        def next(self, input_data: Callable[..., None]) -> bool:
            first, self._next = self._next, self._next + QUERIES_OF_BLOCK
            of_block = self._indptr[first : self._next + 1]
            if len(of_block) < 2:
                return False
            rows = slice(int(of_block[0]), int(of_block[-1]))
            X = np.array(data.X[rows]) if isinstance(data.X, np.ndarray) else data.X[rows].copy()
            input_data(data=X, label=np.array(data.y[rows]), qid=np.array(data.qid[rows]))
            return True

    def training(n_queries: int) -> Callable[..., Any]:
        blocks = Blocks(data.query_indptr[: n_queries + 1])
        matrix = xgboost.ExtMemQuantileDMatrix(blocks, max_bin=256, nthread=n_threads)
        parameters = {"objective": "rank:pairwise", "tree_method": "hist", "max_bin": 256}
        booster = xgboost.train({**parameters, "nthread": n_threads}, matrix, ROUNDS)
        return booster.inplace_predict

    return measured(data, gigabytes, training)
