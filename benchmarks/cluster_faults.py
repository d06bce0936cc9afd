"""What a worker costs that is killed or stopped, and what all take of memory."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, wait
from scipy.sparse import csr_matrix

from benchmarks.cluster_workers import TOL, at_round, kill_one, pid_of_one, workers
from benchmarks.harness import peak_memory, print_table
from ranksvm.dask import DaskRankSVM

STOPPED = 10.0  # seconds
KILLS = 5
FEATURES, SIZE, QUERY = 136, 100_000, 100  # rows of a partition, and of a query


def report_kills(paths: list[Path]) -> None:
    """Print how long a fit takes with a worker killed at one of its iterations, or stopped."""
    columns = ("a worker", "in round", "seconds", "undisturbed", "ratio", "same bits")
    rows = [row_of("killed", kill_one, share, paths) for share in np.linspace(0, 1, KILLS)]
    rows.append(row_of(f"stopped for {STOPPED:.0f} s", stop_one, 0.5, paths))
    print_table("A fit by two workers", columns, rows)


def row_of(
    name: str, event: Callable[[Client], None], share: float, paths: list[Path]
) -> tuple[Any, ...]:
    """Return a row: fits without and with an event at a share of the rounds."""
    with workers(2) as client:
        trained(client, paths, nullcontext())  # files are in memory then, and modules there
        seconds, expected = trained(client, paths, nullcontext())
        n_rounds = expected.history_[-1].n_rounds - 1  # the survey is none that is added up
        number = 1 + round(share * (n_rounds - 1))
        disturbed = at_round(number, lambda: event(client))
        found, model = trained(client, paths, disturbed)
    same = "yes" if model.coef_.tobytes() == expected.coef_.tobytes() else "no"
    return name, number, f"{found:.2f}", f"{seconds:.2f}", f"{found / seconds:.2f}", same


def trained(
    client: Client, paths: list[Path], disturbed: AbstractContextManager[None]
) -> tuple[float, Any]:
    """Return the seconds of a fit, and the ranker."""
    start = time.perf_counter()
    with disturbed:
        model = DaskRankSVM(tol=TOL, solver="newton", client=client).fit(paths)
    return time.perf_counter() - start, model


def stop_one(client: Client) -> None:
    """Stop a worker for some seconds."""
    pid = pid_of_one(client)
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(STOPPED, os.kill, (pid, signal.SIGCONT)).start()


def rows_of_part(seed: int, dtype: str, is_sparse: bool) -> Any:
    """Return rows, made in single precision where that is asked for."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((SIZE, FEATURES), dtype=np.float32).astype(dtype, copy=False)
    if is_sparse:
        X[rng.random(X.shape, dtype=np.float32) < 0.8] = 0.0
        return csr_matrix(X)
    return X


def column_of_part(seed: int, of_queries: bool) -> np.ndarray:
    """Return labels, or query ids."""
    if of_queries:
        return seed * SIZE + np.repeat(np.arange(SIZE // QUERY), QUERY)
    return np.random.default_rng(seed).integers(0, 5, SIZE).astype(np.float64)


def made(n_partitions: int, dtype: str, is_sparse: bool) -> tuple[da.Array, ...]:
    """Return rows, labels and ids that workers make."""

    def joined(make: Callable[..., Any], shape: tuple[int, ...], kind: Any, *more: Any) -> da.Array:
        lazily = dask.delayed(make)
        parts = [da.from_delayed(lazily(k, *more), shape, kind) for k in range(n_partitions)]
        return da.concatenate(parts)

    return (
        joined(rows_of_part, (SIZE, FEATURES), dtype, dtype, is_sparse),
        joined(column_of_part, (SIZE,), np.float64, False),
        joined(column_of_part, (SIZE,), np.int64, True),
    )


def reset_peak() -> int:
    """Let the peak of this process begin again; return what it takes now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def report_memory(n_partitions: int = 8) -> None:
    """Print what all workers take at their peaks beyond X, its labels and ids, by row."""
    rows = []
    kinds = {"float32": ("float32", False), "float64": ("float64", False), "CSR": ("float64", True)}
    for name, kind in kinds.items():
        with workers(2) as client:
            DaskRankSVM(max_iter=1, tol=0.5, client=client).fit(*made(1, *kind))  # modules
            X, y, qid = dask.persist(*made(n_partitions, *kind))
            wait([X, y, qid])
            size = sum(X.map_blocks(bytes_of, chunks=(1,), drop_axis=1, dtype=int).compute())
            before = sum(client.run(reset_peak).values())
            model = DaskRankSVM(tol=TOL, solver="newton", client=client).fit(X, y, qid)
            beyond = sum(client.run(peak_memory).values()) - before
        n = n_partitions * SIZE
        last = model.history_[-1]
        rows.append(
            (name, f"{size / n:.0f}", f"{beyond / n:.0f}", f"{beyond / size:.2f}", last.n_rounds)
        )
    columns = ("X", "bytes of X a row", "bytes beyond X a row", "share", "rounds")
    print_table(
        f"Peak memory of two workers, {n_partitions} partitions of {SIZE:,} rows", columns, rows
    )


def bytes_of(block: Any) -> np.ndarray:
    """Return the bytes of a block, as an array."""
    parts = [block] if isinstance(block, np.ndarray) else [block.data, block.indices, block.indptr]
    return np.array([sum(part.nbytes for part in parts)])
