"""
Training on a cluster of Dask: the price of a round, of two workers, and of a worker that dies.

    python -m benchmarks.cluster [--rows 723421] [--only PART ...]

All workers are processes of this machine with one thread each, which talk by TCP on the loopback.

- rounds: seconds of a round by number of partitions, without work, as a page with a figure.
- constants: what the constants of `ranksvm.cluster.costs` should be.
- delays: rounds with a delay added to every task, beside the formula of `ranksvm.cluster.costs`.
- billion: what that formula says of a billion rows.
- web: web-like rows in 16 partitions on one and two workers, beside `RankSVM` with two threads.
- peers: the same rows by DaskXGBRanker and DaskLGBMRanker, and what happens to each when a worker
  is killed a third of the way through.
"""

import argparse
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client

from benchmarks.cluster_rounds import (
    FEATURES,
    of_fit,
    report_billion,
    report_constants,
    report_delays,
    report_rounds,
    workers,
)
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM, open_data, pack
from ranksvm.dask import DaskRankSVM

PARTS = ("rounds", "constants", "delays", "billion", "web", "peers")
REPORTS = {"constants": report_constants, "delays": report_delays, "billion": report_billion}
PARTITIONS, TOL = 16, 1e-6
LONGEST = 60.0  # seconds that a peer may take, where it waits for a worker that is dead


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
    parser.add_argument("--partitions", type=int, nargs="+", default=[4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    args = parser.parse_args()
    print(machine_line())
    if "rounds" in args.only:
        report_rounds(args.partitions)
    for part, report in REPORTS.items():
        if part in args.only:
            report()
    if {"web", "peers"} & set(args.only):
        with tempfile.TemporaryDirectory() as folder:
            paths = packed_parts(Path(folder), args.rows)
            if "web" in args.only:
                report_web(paths)
            if "peers" in args.only:
                report_peers(paths)


def measured(client: Client, *data: Any) -> Measured:
    """Train, and divide the time of the iterations by their rounds."""
    start = time.perf_counter()
    model = DaskRankSVM(tol=TOL, solver="newton", client=client).fit(*data)
    seconds = time.perf_counter() - start
    first, last = model.history_[0], model.history_[-1]
    n_rounds = last.n_rounds - first.n_rounds
    of_round = (last.seconds - first.seconds) / max(n_rounds, 1)
    return Measured(seconds, last.n_rounds, of_round, model.objective_)


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
    rows = [("RankSVM, two threads", f"{seconds:.2f}", "", "", "1.00", "")]
    for n in (1, 2):
        with workers(n) as client:
            one = measured(client, paths)
        ratio = f"{one.seconds / seconds:.2f}"
        off = f"{one.objective / local.objective_ - 1:.1e}"
        formula = f"{of_fit(len(y), FEATURES, PARTITIONS, n, one.n_rounds):.2f}"
        rows.append((f"{n} workers", f"{one.seconds:.2f}", formula, one.n_rounds, ratio, off))
    columns = ("", "seconds", "formula", "rounds", "ratio", "objective off by")
    print_table("Web-like rows", columns, rows)


def as_arrays(paths: list[Path]) -> tuple[da.Array, ...]:
    """Return the rows of packed partitions as dask arrays, for programs that take these."""
    parts = [open_data(path) for path in paths]
    read = dask.delayed(lambda path, name: np.array(getattr(open_data(path), name)))

    def joined(name: str) -> da.Array:
        blocks = [
            da.from_delayed(read(path, name), getattr(p, name).shape, getattr(p, name).dtype)
            for path, p in zip(paths, parts, strict=True)
        ]
        return da.concatenate(blocks)

    return joined("X"), joined("y"), joined("qid")


def of_xgboost(booster: str) -> Callable[[Client, list[Path]], Any]:
    """Return the training of DaskXGBRanker."""

    def train(client: Client, paths: list[Path]) -> Any:
        from xgboost.dask import DaskXGBRanker

        ranker = DaskXGBRanker(objective="rank:pairwise", booster=booster, n_estimators=100)
        ranker.client = client
        X, y, qid = as_arrays(paths)
        return ranker.fit(X, y, qid=qid)

    return train


def of_lightgbm(client: Client, paths: list[Path]) -> Any:
    """Train DaskLGBMRanker."""
    from lightgbm import DaskLGBMRanker

    X, y, _ = as_arrays(paths)
    sizes = [np.diff(open_data(path).query_indptr) for path in paths]
    group = da.concatenate([da.from_array(s, chunks=len(s)) for s in sizes])
    ranker = DaskLGBMRanker(n_estimators=100, client=client, verbose=-1)
    return ranker.fit(X, y.astype(int), group=group)


SYSTEMS: dict[str, Callable[[Client, list[Path]], Any]] = {
    "DaskRankSVM": lambda client, paths: DaskRankSVM(tol=TOL, solver="newton", client=client).fit(
        paths
    ),
    "DaskXGBRanker gblinear": of_xgboost("gblinear"),
    "DaskXGBRanker trees": of_xgboost("gbtree"),
    "DaskLGBMRanker": of_lightgbm,
}


def report_peers(paths: list[Path]) -> None:
    """Print how long each takes, and what becomes of it when a worker is killed."""
    rows = []
    for name, train in SYSTEMS.items():
        with workers(2) as client:
            seconds, end = ended(train, client, paths, None)
        what = ""
        if end == "done":
            with workers(2) as client:
                again, what = ended(train, client, paths, seconds / 3)
            what = f"{what} after {again:.1f} s"
        rows.append((name, f"{seconds:.1f}", end, what))
    print_table("Beside others", ("", "seconds", "end", "a worker killed"), rows)


def ended(
    train: Callable[..., Any], client: Client, paths: list[Path], kill_after: float | None
) -> tuple[float, str]:
    """Return how long a training took, and how it ended; it is left alone where it hangs."""
    found: list[str] = []

    def run() -> None:
        try:
            train(client, paths)
            found.append("done")
        except Exception as error:
            found.append(f"{type(error).__name__}: {str(error)[:60]}")

    pids = client.run(os.getpid)
    start = time.perf_counter()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if kill_after is not None:
        thread.join(kill_after)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
    thread.join(LONGEST)
    return time.perf_counter() - start, found[0] if found else f"no end within {LONGEST:.0f} s"


if __name__ == "__main__":
    main()
