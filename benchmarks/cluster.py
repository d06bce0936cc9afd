"""
Training on a cluster of Dask: the price of a round, of two workers, and of a worker that dies.

    python -m benchmarks.cluster [--rows 723421] [--only rounds delays web kills memory peers]

All workers are processes of this machine with one thread each, which talk by TCP on the loopback.

- rounds: seconds of a round by number of partitions, with next to no work in them.
- delays: the same with a delay added to every task, beside the formula of `ranksvm.cluster.costs`.
- web: web-like rows in 16 partitions on one and two workers, beside `RankSVM` with two threads.
- kills: the same rows with a worker killed at five iterations, and with one stopped for 10 seconds.
- memory: what workers take at most beyond X, a row.
- peers: as many as --peer-rows of these by DaskXGBRanker and DaskLGBMRanker, and what happens to
  each when a worker is killed halfway through; each in processes that are ended after --limit.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client

from benchmarks.cluster_faults import report_kills, report_memory
from benchmarks.cluster_peers import COLUMNS, beside_others
from benchmarks.cluster_workers import TOL, workers
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM, open_data, pack
from ranksvm.cluster.driver import Driver
from ranksvm.cluster.sums import FAN
from ranksvm.dask import DaskRankSVM

PARTS = ("rounds", "delays", "web", "kills", "memory", "peers")
FEATURES, PARTITIONS = 136, 16


class Measured(NamedTuple):
    """A training: seconds in all, rounds, seconds of a round, and the objective."""

    seconds: float
    n_rounds: int
    of_round: float
    objective: float


def main() -> None:
    """Print a table for each part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=723_421)
    parser.add_argument("--peer-rows", type=int, default=60_000)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a peer may take")
    parser.add_argument("--partitions", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    args = parser.parse_args()
    print(machine_line())
    if "rounds" in args.only:
        report_rounds(args.partitions)
    if "delays" in args.only:
        report_delays()
    if "memory" in args.only:
        report_memory()
    if {"web", "kills"} & set(args.only):
        with tempfile.TemporaryDirectory() as folder:
            paths = packed_parts(Path(folder), args.rows)
            if "web" in args.only:
                report_web(paths)
            if "kills" in args.only:
                report_kills(paths)
    if "peers" in args.only:
        with tempfile.TemporaryDirectory() as folder:
            paths = packed_parts(Path(folder), args.peer_rows)
            print_table("Beside others", COLUMNS, beside_others(paths, args.limit))


def measured(client: Client, *data: Any) -> Measured:
    """Train, and divide the time of the iterations by their rounds."""
    start = time.perf_counter()
    model = DaskRankSVM(tol=TOL, solver="newton", client=client).fit(*data)
    seconds = time.perf_counter() - start
    first, last = model.history_[0], model.history_[-1]
    n_rounds = last.n_rounds - first.n_rounds
    of_round = (last.seconds - first.seconds) / max(n_rounds, 1)
    return Measured(seconds, last.n_rounds, of_round, model.objective_)


def little(n_partitions: int) -> tuple[da.Array, ...]:
    """Return queries of 20 rows, one in each partition."""
    rng = np.random.default_rng(0)
    n = 20 * n_partitions
    X = rng.normal(size=(n, FEATURES))
    y = (X[:, 0] + rng.normal(size=n)).round()
    columns = (da.from_array(v, chunks=20) for v in (y, np.repeat(np.arange(n_partitions), 20)))
    return da.from_array(X, chunks=(20, FEATURES)), *columns


def report_rounds(numbers: list[int]) -> None:
    """Print seconds of a round by number of partitions."""
    with workers(2) as client:
        rows = []
        for n in numbers:
            one = min((measured(client, *little(n)) for _ in range(2)), key=lambda m: m.of_round)
            rows.append((n, one.n_rounds, f"{one.of_round:.3f}"))
    print_table(
        "A round, by number of partitions", ("partitions", "rounds", "seconds a round"), rows
    )


class Slowly:
    """A step that takes longer."""

    def __init__(self, step: Callable[..., Any], delay: float) -> None:
        self.step, self.delay = step, delay

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Wait, and take the step."""
        time.sleep(self.delay)
        return self.step(*arguments, **more)


@contextmanager
def slowed(delay: float) -> Iterator[None]:
    """Let every task of a round wait."""
    plain = Driver.map
    Driver.map = lambda self, name, step, *rest, **more: plain(
        self, name, Slowly(step, delay), *rest, **more
    )
    try:
        yield
    finally:
        Driver.map = plain


def n_in_turn(n_partitions: int, n_workers: int) -> int:
    """Return how many tasks of a round one worker has to take, one after the other."""
    n, in_turn = n_partitions, -(-n_partitions // n_workers)
    while n > 1:
        n = -(-n // FAN)
        in_turn += -(-n // n_workers)
    return in_turn


def report_delays(n_partitions: int = 16) -> None:
    """Print a round with delays, and what the formula says of it."""
    rows = []
    for n in (1, 2):
        with workers(n) as client:
            data = little(n_partitions)
            base = measured(client, *data).of_round
            for delay in (0.02, 0.05):
                with slowed(delay):
                    found = measured(client, *data).of_round
                expected = base + n_in_turn(n_partitions, n) * delay
                rows.append((n, delay, f"{found:.3f}", f"{expected:.3f}"))
    print_table("A round with delays", ("workers", "delay", "seconds a round", "formula"), rows)


def packed_parts(folder: Path, n_rows: int) -> list[Path]:
    """Pack rows in partitions of whole queries."""
    X, y, qid = make_web_like(n_rows, queries=max(n_rows // 120, PARTITIONS))
    starts = np.flatnonzero(np.diff(qid)) + 1
    cuts = starts[np.searchsorted(starts, np.arange(1, PARTITIONS) * n_rows // PARTITIONS)]
    paths = []
    edges = [0, *cuts.tolist(), n_rows]
    for k, (first, last) in enumerate(pairwise(edges)):
        rows = slice(first, last)
        paths.append(folder / f"{k}.rsvm")
        pack([(X[rows], y[rows], qid[rows])], paths[-1])
    return paths


def report_web(paths: list[Path]) -> None:
    """Print the training on workers, beside that on threads."""
    parts = [open_data(path) for path in paths]
    X, y, qid = (np.concatenate(v) for v in zip(*((p.X, p.y, p.qid) for p in parts), strict=True))
    start = time.perf_counter()
    local = RankSVM(tol=TOL, solver="newton", n_threads=2).fit(X, y, qid)
    seconds = time.perf_counter() - start
    del X
    rows = [("RankSVM, two threads", f"{seconds:.2f}", "", "1.00", "")]
    for n in (1, 2):
        with workers(n) as client:
            one = measured(client, paths)
        ratio = f"{one.seconds / seconds:.2f}"
        off = f"{one.objective / local.objective_ - 1:.1e}"
        rows.append((f"{n} workers", f"{one.seconds:.2f}", one.n_rounds, ratio, off))
    print_table("Web-like rows", ("", "seconds", "rounds", "ratio", "objective off by"), rows)


if __name__ == "__main__":
    main()
