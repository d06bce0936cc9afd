"""
Training on a cluster of Dask: the price of a round, of two workers, and of a worker that dies.

    python -m benchmarks.cluster [--rows 723421] [--only PART ...]

All workers are processes of this machine with one thread each, which talk by TCP on the loopback.

- rounds: seconds of a round by number of partitions, without work, as a page with a figure.
- constants: what the constants of `ranksvm.cluster.costs` should be.
- delays: rounds with a delay added to every task, beside the formula of `ranksvm.cluster.costs`.
- billion: what that formula says of a billion rows.
- web: web-like rows in 16 partitions on one and two workers, beside `RankSVM` with two threads:
  the first of five fits, in which workers start and map files, and their median.
- kills: the same rows with a worker killed at five iterations, and with one stopped for 10 seconds.
- memory: what workers take at most beyond X, a row.
- peers: as many as --peer-rows of these by DaskXGBRanker and DaskLGBMRanker, and what happens to
  each when a worker is killed halfway through; each in processes that are ended after --limit.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

from benchmarks.cluster_faults import report_kills, report_memory
from benchmarks.cluster_peers import COLUMNS, beside_others
from benchmarks.cluster_rounds import (
    FEATURES,
    of_fit,
    report_billion,
    report_constants,
    report_delays,
    report_rounds,
)
from benchmarks.cluster_workers import TOL, workers
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM, open_data, pack
from ranksvm.dask import DaskRankSVM

PARTS = ("rounds", "constants", "delays", "billion", "web", "kills", "memory", "peers")
REPORTS = {
    "constants": report_constants,
    "delays": report_delays,
    "billion": report_billion,
    "memory": report_memory,
}
PARTITIONS, REPEATS = 16, 5


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
    parser.add_argument("--partitions", type=int, nargs="+", default=[4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    args = parser.parse_args()
    print(machine_line())
    if "rounds" in args.only:
        report_rounds(args.partitions)
    for part, report in REPORTS.items():
        if part in args.only:
            report()
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
    model = DaskRankSVM(tol=TOL, solver="newton", client=client)
    seconds = seconds_of(lambda: model.fit(*data))
    first, last = model.history_[0], model.history_[-1]
    n_rounds = last.n_rounds - first.n_rounds
    of_round = (last.seconds - first.seconds) / max(n_rounds, 1)
    return Measured(seconds, last.n_rounds, of_round, model.objective_)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds of some work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


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
    local = RankSVM(tol=TOL, solver="newton", n_threads=2)
    every = [seconds_of(lambda: local.fit(X, y, qid)) for _ in range(REPEATS)]
    seconds = float(np.median(every))
    rows = [("RankSVM, two threads", f"{every[0]:.2f}", f"{seconds:.2f}", "", "", "1.00", "")]
    for n in (1, 2):
        with workers(n) as client:
            fits = [measured(client, paths) for _ in range(REPEATS)]
        one = sorted(fits)[REPEATS // 2]
        shown = f"{fits[0].seconds:.2f}", f"{one.seconds:.2f}"
        formula = f"{of_fit(len(y), FEATURES, PARTITIONS, n, one.n_rounds):.2f}"
        ratio = f"{one.seconds / seconds:.2f}"
        off = f"{one.objective / local.objective_ - 1:.1e}"
        rows.append((f"{n} workers", *shown, formula, one.n_rounds, ratio, off))
    columns = ("", "first", "median", "formula", "rounds", "ratio", "objective off by")
    print_table("Web-like rows", columns, rows)


if __name__ == "__main__":
    main()
