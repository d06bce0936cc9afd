"""
Training on packed data: passes, seconds, rates and memory, against memory and boosted trees.

    python -m benchmarks.disk [--gigabytes 1 2] [--kinds dense csr] [--folder DIR] [--trees]

Data are made and packed block by block, and kept in the folder for another time. Each training is
a process of its own whose anonymous memory is limited (RLIMIT_DATA; RLIMIT_AS would refuse the
mapping), and which lets go of all pages of X before each iteration (MADV_DONTNEED and
POSIX_FADV_DONTNEED), so that every pass comes from the disk. Beside it stand reading alone, as fast
as `read` goes, and, up to --in-memory gigabytes, the same rows in memory, which have to give the
same bits. With --trees, XGBoost goes through them by its ExtMemQuantileDMatrix, 100 rounds of hist.
"""

import argparse
import os
import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.datasets.web_like import web_like_blocks
from benchmarks.harness import in_fresh_process, machine_line, print_table
from ranksvm import RankSVM, open_data, pack
from ranksvm.disk.arrays import release
from ranksvm.disk.data import PackedData
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.pairs.preferences import Preferences

ROWS, FEATURES = 72_000, 136  # of a block
SHARE = 0.4  # of stored values, in CSR
TOL = 1e-6
LOSSES = ("squared_hinge", "hinge")
PIECE = 1 << 23  # bytes


def main() -> None:
    """Print a table for each size and kind of data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[1.0])
    parser.add_argument("--kinds", nargs="+", choices=("dense", "csr"), default=["dense", "csr"])
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=["squared_hinge"])
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()))
    parser.add_argument("--limit", type=float, default=3.0, help="GB of anonymous memory")
    parser.add_argument("--in-memory", type=float, default=2.0, help="GB at most")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trees", action="store_true")
    args = parser.parse_args()

    print(machine_line())
    args.folder.mkdir(parents=True, exist_ok=True)
    for kind in args.kinds:
        for gigabytes in args.gigabytes:
            path = args.folder / f"web-like-{kind}-{gigabytes:g}.rsvm"
            report(path, kind, gigabytes, args)


def report(path: Path, kind: str, gigabytes: float, args: argparse.Namespace) -> None:
    """Measure everything on one set of data."""
    if not path.exists():
        start = time.perf_counter()
        pack(blocks_of(kind, gigabytes), path)
        print(f"\npacked {path.name} in {time.perf_counter() - start:.0f} s")
    rate = in_fresh_process(reading_rate, path)
    rows = []
    for loss in args.losses:
        limit = int(args.limit * 1e9)
        mapped = in_fresh_process(train_on, path, loss, args.threads, limit, False)
        rows.append((f"mapped, {loss}", *row_of(mapped)))
        if gigabytes <= args.in_memory:
            held = in_fresh_process(train_on, path, loss, args.threads, None, True)
            same = "the same bits" if held["bits"] == mapped["bits"] else "OTHER BITS"
            rows.append((f"in memory, {loss}: {same}", *row_of(held)))
    if args.trees:
        found = in_fresh_process(boost, path, args.threads)
        rows.append(("XGBoost, 100 rounds", "", found["seconds"], "", found["bytes"] / 1e9, "", ""))
    data = open_data(path)
    title = f"{kind}, {data.description}; reading alone: {rate:.0f} MB/s"
    print_table(title, ("", "passes", "seconds", "MB/s", "GB", "bytes a row", "gap"), rows)


def row_of(found: dict[str, Any]) -> tuple[Any, ...]:
    """Return passes, seconds, MB of X a second, GB and bytes of a row in memory, and the gap."""
    rate = found["passes"] * found["bytes_of_X"] / 1e6 / found["seconds"]
    memory = found["bytes"] / 1e9, found["bytes"] / found["rows"]
    return found["passes"], found["seconds"], rate, *memory, found["gap"]


def blocks_of(kind: str, gigabytes: float) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield as many blocks as make so many gigabytes."""
    bytes_of_block = ROWS * FEATURES * (8 if kind == "dense" else 12 * SHARE)
    n_blocks = max(round(gigabytes * 1e9 / bytes_of_block), 1)
    rng = np.random.default_rng(1)
    for X, y, qid in web_like_blocks(n_blocks, ROWS, features=FEATURES):
        if kind == "csr":
            X[rng.random(X.shape) >= SHARE] = 0.0
            yield scipy.sparse.csr_matrix(X), y, qid
        else:
            yield X, y, qid


def files_of(path: Path) -> list[Path]:
    """Return the files of X."""
    return [
        path / name for name in ("X.npy", "indices.npy", "values.npy") if (path / name).exists()
    ]


def forget(path: Path) -> None:
    """Let the system forget what it has read of X."""
    for file in files_of(path):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def reading_rate(path: Path) -> float:
    """Return the MB a second of reading X from the disk, one piece after the other."""
    forget(path)
    start, n_bytes, piece = time.perf_counter(), 0, bytearray(PIECE)
    for name in files_of(path):
        with open(name, "rb", buffering=0) as file:
            while n := file.readinto(piece):
                n_bytes += n
    return n_bytes / 1e6 / (time.perf_counter() - start)


class Watch:
    """Follow the peak of the anonymous memory of this process, beyond what it is at first."""

    def __init__(self) -> None:
        self._first = self._peak = anonymous()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._end.wait(0.005):
            self._peak = max(self._peak, anonymous())

    def end(self) -> int:
        """Stop; return the bytes."""
        self._end.set()
        self._thread.join()
        return self._peak - self._first


def anonymous() -> int:
    """Return the bytes of anonymous memory that are resident."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def train_on(
    path: Path, loss: str, n_threads: int, limit: int | None, in_memory: bool
) -> dict[str, Any]:
    """Train on packed data, cold for every iteration; or on a copy of them in memory."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    rng = np.random.default_rng(0)
    RankSVM().fit(rng.random((500, 40)), np.arange(500) % 3)  # what is loaded once is no part of it
    data = open_data(path)
    X, preferences = data.design_matrix(), data.preferences()
    if in_memory:
        X = DesignMatrix.from_array(data.X.copy())
        preferences = Preferences.from_labels(data.y, data.qid)
    parameters = Parameters(loss=loss, tol=TOL, n_threads=n_threads)
    callback = None if in_memory else lambda _: let_go(path, data)
    let_go(path, data)
    watch, start = Watch(), time.perf_counter()
    fit = train(X, preferences, parameters, callback=callback)
    result = fit.result
    return {
        "seconds": time.perf_counter() - start,
        "bytes": watch.end(),
        "passes": result.n_passes,
        "gap": result.dual_gap,
        "bits": (fit.weights.dense.tobytes(), result.value, result.dual_gap),
        "rows": data.shape[0],
        "bytes_of_X": data.bytes_of_X,
    }


def let_go(path: Path, data: PackedData) -> None:
    """Let go of the pages of X, which then come from the disk again."""
    for array in (data.X,) if isinstance(data.X, np.ndarray) else (data.X.data, data.X.indices):
        release(array)
    forget(path)


def boost(path: Path, n_threads: int) -> dict[str, Any]:
    """Boost trees on the same rows, which stay on disk."""
    import xgboost

    data = open_data(path)

    class Blocks(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self._next = 0
            super().__init__(cache_prefix=str(path) + "-cache")

        def reset(self) -> None:
            self._next = 0

        def next(self, input_data: Any) -> bool:
            indptr = data.query_indptr
            if self._next >= data.n_queries:
                return False
            first, self._next = self._next, min(self._next + 600, data.n_queries)
            rows = slice(int(indptr[first]), int(indptr[self._next]))
            X = data.X[rows]
            X = np.array(X) if isinstance(X, np.ndarray) else X.copy()
            input_data(data=X, label=np.array(data.y[rows]), qid=np.array(data.qid[rows]))
            return True

    watch, start = Watch(), time.perf_counter()
    matrix = xgboost.ExtMemQuantileDMatrix(Blocks(), max_bin=256, nthread=n_threads)
    parameters = {"objective": "rank:pairwise", "tree_method": "hist", "nthread": n_threads}
    xgboost.train({**parameters, "max_bin": 256}, matrix, 100)
    return {"seconds": time.perf_counter() - start, "bytes": watch.end()}


if __name__ == "__main__":
    main()
