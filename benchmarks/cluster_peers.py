"""Other rankers on a cluster of Dask: how long they take, and what a dead worker does to them.

Each training has a process of its own, with workers of its own, all of which end at the limit,
whatever they wait for.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client

from benchmarks.cluster_workers import TOL, kill_one, workers
from ranksvm import evaluate, open_data
from ranksvm.dask import DaskRankSVM

N_TREES = 100
START = 60.0  # seconds for processes to begin
METRICS = ("pairwise_accuracy_pooled", "ndcg@10")
COLUMNS = ("", "seconds", "pairwise accuracy", "nDCG@10", "with a worker killed halfway")

Score = Callable[[np.ndarray], np.ndarray]


def beside_others(paths: Sequence[Path], limit: float) -> list[tuple[str, ...]]:
    """Return a row for each: all but the last partition are trained on, the last is ranked."""
    rows = []
    for name in SYSTEMS:
        plain = in_process(name, paths, limit, None)
        if "seconds" not in plain:
            rows.append((name, plain["end"], "", "", ""))
            continue
        hurt = in_process(name, paths, limit, plain["seconds"] / 2)
        what = hurt["end"]
        if "seconds" in hurt:
            same = "same scores" if hurt["scores"] == plain["scores"] else "other scores"
            what = f"{what} in {hurt['seconds']:.1f} s, {same}"
        measures = [f"{plain[metric]:.4f}" for metric in METRICS]
        rows.append((name, f"{plain['seconds']:.1f}", *measures, what))
    return rows


def in_process(
    name: str, paths: Sequence[Path], limit: float, kill_after: float | None
) -> dict[str, Any]:
    """Train in a process; return what it found, or how it ended. Nothing of it is left."""
    words = [name, str(limit), str(kill_after), *map(str, paths)]
    command = [sys.executable, "-m", "benchmarks.cluster_peers", *words]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, start_new_session=True, **quiet) as process:
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=read_lines, args=(process, lines), daemon=True).start()
        try:
            found = found_in(lines, time.monotonic() + START + limit)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    return found or {"end": "its process ended without a word"}


def read_lines(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Read what a process prints, up to its end."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


def found_in(lines: queue.Queue[str], until: float) -> dict[str, Any]:
    """Return what is in the line of JSON, which is among others; nothing, if it does not come."""
    line = "\n"
    while line:
        try:
            line = lines.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            return {}
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return found
    return {}


def main(name: str, limit: str, kill_after: str, *paths: str) -> None:
    """Train on a cluster of two workers, and print what was found as a line of JSON."""
    warnings.simplefilter("ignore")
    *training, held = map(Path, paths)
    with workers(2) as client:
        client.run(SYSTEMS[name], None, [])  # which imports what is needed
        after = None if kill_after == "None" else float(kill_after)
        found = ended(SYSTEMS[name], client, training, float(limit), after)
        score = found.pop("score", None)
        if score is not None:
            rows = open_data(held)
            scores = score(np.array(rows.X))
            found |= evaluate(rows.y, scores, rows.qid, METRICS).mean
            found["scores"] = scores.tobytes().hex()[:64]
        print(json.dumps(found), flush=True)
        time.sleep(START)  # until this process is ended, with all others


def ended(
    train: Callable[..., Any],
    client: Client,
    paths: Sequence[Path],
    limit: float,
    kill_after: float | None,
) -> dict[str, Any]:
    """Return how long a training took, and how it ended; where it hangs, it is left alone."""
    found: dict[str, Any] = {}

    def run() -> None:
        start = time.perf_counter()
        try:
            score = train(client, paths)
            found.update(end="done", score=score, seconds=time.perf_counter() - start)
        except Exception as error:
            after = time.perf_counter() - start
            found["end"] = f"{type(error).__name__} after {after:.1f} s: {first_words(error)}"

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if kill_after is not None:
        thread.join(kill_after)
        kill_one(client)
    thread.join(limit)
    return found or {"end": f"no end within {limit:.0f} s"}


def first_words(error: Exception) -> str:
    """Return the beginning of what an error says."""
    return " ".join(str(error).split())[:80]


def as_arrays(paths: Sequence[Path]) -> tuple[da.Array, ...]:
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


def of_ranksvm(client: Client | None, paths: Sequence[Path]) -> Score | None:
    """Train DaskRankSVM."""
    if client is None:
        return None
    model = DaskRankSVM(tol=TOL, solver="newton", client=client).fit(list(paths))
    return model.to_local().predict


def of_xgboost(booster: str) -> Callable[[Client | None, Sequence[Path]], Score | None]:
    """Return the training of DaskXGBRanker; queries are whole in their partitions already."""

    def train(client: Client | None, paths: Sequence[Path]) -> Score | None:
        import xgboost
        from xgboost.dask import DaskXGBRanker

        if client is None:
            return None
        ranker = DaskXGBRanker(
            objective="rank:pairwise",
            booster=booster,
            n_estimators=N_TREES,
            n_jobs=1,
            allow_group_split=True,
        )
        ranker.client = client
        X, y, qid = as_arrays(paths)
        trees = ranker.fit(X, y, qid=qid).get_booster()
        return lambda rows: trees.predict(xgboost.DMatrix(rows))

    return train


def of_lightgbm(client: Client | None, paths: Sequence[Path]) -> Score | None:
    """Train DaskLGBMRanker."""
    from lightgbm import DaskLGBMRanker

    if client is None:
        return None
    X, y, _ = as_arrays(paths)
    sizes = [np.diff(open_data(path).query_indptr) for path in paths]
    group = da.concatenate([da.from_array(s, chunks=len(s)) for s in sizes])
    ranker = DaskLGBMRanker(n_estimators=N_TREES, client=client, verbose=-1, n_jobs=1)
    return ranker.fit(X, y.astype(int), group=group).to_local().predict


SYSTEMS: dict[str, Callable[[Any, Sequence[Path]], Score | None]] = {
    "DaskRankSVM": of_ranksvm,
    "DaskXGBRanker gblinear": of_xgboost("gblinear"),
    "DaskXGBRanker trees": of_xgboost("gbtree"),
    "DaskLGBMRanker": of_lightgbm,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
