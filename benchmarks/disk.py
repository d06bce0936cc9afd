"""
Training on packed data: passes, seconds, rates and memory, against memory and boosted trees.

    python -m benchmarks.disk [--gigabytes 1 2] [--hinge 1] [--trees 1] [--kinds dense csr]
                              [--text 0.5] [--folder DIR] [--delete]

Data of the largest size are made and packed block by block; the smaller ones are their first
queries. --gigabytes are sizes for the squared hinge, --hinge for the hinge. Each training is a
process of its own whose anonymous memory is limited (RLIMIT_DATA; RLIMIT_AS would refuse the
mapping), and which lets go of all pages of X before each iteration (MADV_DONTNEED and
POSIX_FADV_DONTNEED), so that every pass comes from the disk. Beside it stand reading alone, as fast
as `read` goes, and, up to --in-memory gigabytes, the same rows in memory, which have to give the
same bits. XGBoost goes through as many gigabytes as --trees says by its ExtMemQuantileDMatrix, 100
rounds of hist, for --trees-limit seconds at most. With --text, so many gigabytes of SVMlight text
are packed.

What has been measured is added to build/benchmarks/disk/records.json as it goes, and
``python -m benchmarks.growth`` draws it.
"""

import argparse
import json
import os
import resource
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import TimeoutError as TooLate
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.datasets.web_like import web_like_blocks
from benchmarks.harness import in_fresh_process, machine_line, print_table
from benchmarks.report import FOLDER
from ranksvm import RankSVM, dump_svmlight, open_data, pack
from ranksvm.disk.arrays import release
from ranksvm.disk.data import PackedData
from ranksvm.disk.text import pack_svmlight
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups

ROWS, FEATURES = 72_000, 136  # of a block
SHARE = 0.4  # of stored values, in CSR
TOL = 1e-6
PIECE = 1 << 23  # bytes
RECORDS = FOLDER / "disk" / "records.json"
COLUMNS = ("", "passes", "seconds", "MB/s", "GB", "bytes a row", "gap")


def main() -> None:
    """Print a table for each kind of data."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--gigabytes", type=float, nargs="*", default=[1.0])
    parser.add_argument("--kinds", nargs="+", choices=("dense", "csr"), default=["dense", "csr"])
    parser.add_argument("--hinge", type=float, nargs="*", default=[], help="GB")
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()))
    parser.add_argument("--delete", action="store_true", help="remove the data in the end")
    parser.add_argument("--limit", type=float, default=3.0, help="GB of anonymous memory")
    parser.add_argument("--in-memory", type=float, default=2.0, help="GB at most")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trees", type=float, nargs="*", default=[], help="GB")
    parser.add_argument("--trees-limit", type=float, default=360.0, help="seconds")
    parser.add_argument("--text", type=float, default=0.0, help="GB")
    args = parser.parse_args()

    print(machine_line(), flush=True)
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.text:
        report_text(args)
    sizes = sorted({*args.gigabytes, *args.hinge, *args.trees})
    for kind in args.kinds if sizes else ():
        path = args.folder / f"web-like-{kind}-{sizes[-1]:g}.rsvm"
        try:
            make(path, kind, sizes[-1])
            report(path, kind, args)
        finally:
            if args.delete:
                shutil.rmtree(path, ignore_errors=True)


def make(path: Path, kind: str, gigabytes: float) -> None:
    """Pack data, unless they are there."""
    if not path.exists():
        found = in_fresh_process(pack_blocks, path, kind, gigabytes)
        keep({"what": "pack", "kind": kind, "gigabytes": gigabytes, **found})
        print(f"\npacked {path.name} in {found['seconds']:.0f} s, {found['bytes'] / 1e6:.0f} MB")


def report(path: Path, kind: str, args: argparse.Namespace) -> None:
    """Measure everything on one kind of data."""
    rate = in_fresh_process(reading_rate, path)
    rows = []
    wanted = [("squared_hinge", size) for size in sorted(args.gigabytes)]
    for loss, size in wanted + [("hinge", size) for size in sorted(args.hinge)]:
        of_all = {"kind": kind, "gigabytes": size, "loss": loss, "rate": rate}
        limit = int(args.limit * 1e9)
        mapped = in_fresh_process(train_on, path, size, loss, args.threads, limit, False)
        keep({"what": "mapped", **of_all, **mapped})
        rows.append((f"{size:g} GB mapped, {loss}", *row_of(mapped)))
        if size <= args.in_memory:
            held = in_fresh_process(train_on, path, size, loss, args.threads, None, True)
            same = "the same bits" if held["bits"] == mapped["bits"] else "OTHER BITS"
            keep({"what": "in memory", "same": same, **of_all, **held})
            rows.append((f"{size:g} GB in memory, {loss}: {same}", *row_of(held)))
    for size in sorted(args.trees):
        found = in_time(args.trees_limit, boost, path, size, args.threads)
        keep({"what": "trees", "kind": kind, "gigabytes": size, "limit": args.trees_limit, **found})
        seconds = found.get("seconds", f"more than {args.trees_limit:g}")
        memory = found["bytes"] / 1e9 if found else ""
        rows.append((f"{size:g} GB, XGBoost, 100 rounds", "", seconds, "", memory, "", ""))
    title = f"{kind}, {open_data(path).description}; reading alone: {rate:.0f} MB/s"
    print_table(title, COLUMNS, rows)


def report_text(args: argparse.Namespace) -> None:
    """Pack SVMlight text."""
    name, target = args.folder / "rows.svm", args.folder / "text.rsvm"
    try:
        write_text(name, args.text)
        found = in_fresh_process(pack_text, name, target, args.threads)
    finally:
        name.unlink(missing_ok=True)
        shutil.rmtree(target, ignore_errors=True)
    keep({"what": "text", "gigabytes": args.text, **found})
    row = found["text"] / 1e9, found["seconds"], found["rate"], found["bytes"] / 1e9
    print_table("packing SVMlight text", ("GB of text", "seconds", "MB/s", "GB of memory"), [row])


def keep(record: dict[str, Any]) -> None:
    """Add a record to the file of all."""
    known = json.loads(RECORDS.read_text()) if RECORDS.exists() else []
    shown = {name: value for name, value in record.items() if name != "bits"}
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    RECORDS.write_text(json.dumps([*known, shown], indent=1) + "\n")


def in_time(limit: float, function: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """Call it in a new process; return nothing if that takes longer."""
    with get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(function, args).get(limit)
        except TooLate:
            return {}


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


def pack_blocks(path: Path, kind: str, gigabytes: float) -> dict[str, Any]:
    """Make and pack data."""
    watch, start = Watch(), time.perf_counter()
    pack(blocks_of(kind, gigabytes), path)
    return {"seconds": time.perf_counter() - start, "bytes": watch.end()}


def write_text(name: Path, gigabytes: float) -> None:
    """Write a block of rows as SVMlight text, again and again."""
    X, y, qid = next(web_like_blocks(1, ROWS, features=FEATURES))
    dump_svmlight(name, X, y, qid)
    block = name.read_bytes()
    with name.open("ab") as file:
        for _ in range(round(gigabytes * 1e9 / len(block)) - 1):
            file.write(block)


def pack_text(name: Path, target: Path, n_threads: int) -> dict[str, Any]:
    """Pack text."""
    size = name.stat().st_size
    watch, start = Watch(), time.perf_counter()
    pack_svmlight([name], target, n_threads=n_threads)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "bytes": watch.end(), "text": size, "rate": size / 1e6 / seconds}


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


def n_queries_of(data: PackedData, gigabytes: float) -> int:
    """Return how many of the first queries have so many gigabytes of X."""
    share = min(gigabytes * 1e9 / data.bytes_of_X, 1.0)
    return max(round(share * data.n_queries), 1)


def first_queries(
    data: PackedData, n_queries: int, in_memory: bool
) -> tuple[DesignMatrix, Preferences]:
    """View the first queries, or copy them, as training reads them; packing has summed columns."""
    n_rows = int(data.query_indptr[n_queries])
    groups = QueryGroups(data.query_indptr[: n_queries + 1])
    preferences = Preferences(data.y[:n_rows], groups, None, None)
    X = data.X[:n_rows] if isinstance(data.X, np.ndarray) else None
    if X is None:
        n_stored = int(data.X.indptr[n_rows])
        parts = data.X.indptr[: n_rows + 1], data.X.indices[:n_stored], data.X.data[:n_stored]
        parts = tuple(map(np.copy, parts)) if in_memory else parts
        matrix = DesignMatrix.from_csr(*parts, data.shape[1])
    else:
        matrix = DesignMatrix.from_array(X.copy() if in_memory else X)
    if in_memory:
        return matrix, preferences
    return matrix.mapped().with_sums(matrix.column_sums(2)), preferences


def train_on(
    path: Path, gigabytes: float, loss: str, n_threads: int, limit: int | None, in_memory: bool
) -> dict[str, Any]:
    """Train on packed data, cold for every iteration; or on a copy of them in memory."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    rng = np.random.default_rng(0)
    RankSVM().fit(rng.random((500, 40)), np.arange(500) % 3)  # what is loaded once is no part of it
    data = open_data(path)
    n_queries = n_queries_of(data, gigabytes)
    X, preferences = first_queries(data, n_queries, in_memory)
    parameters = Parameters(loss=loss, tol=TOL, n_threads=n_threads)
    callback = None if in_memory else lambda _: let_go(path, data)
    let_go(path, data)
    watch, start = Watch(), time.perf_counter()
    fit = train(X, preferences, parameters, callback=callback)
    result = fit.result
    n_rows = X.shape[0]
    return {
        "seconds": time.perf_counter() - start,
        "bytes": watch.end(),
        "passes": result.n_passes,
        "gap": result.dual_gap,
        "bits": (fit.weights.dense.tobytes(), result.value, result.dual_gap),
        "rows": n_rows,
        "bytes_of_X": round(data.bytes_of_X * n_rows / data.shape[0]),
    }


def let_go(path: Path, data: PackedData) -> None:
    """Let go of the pages of X, which then come from the disk again."""
    for array in (data.X,) if isinstance(data.X, np.ndarray) else (data.X.data, data.X.indices):
        release(array)
    forget(path)


def boost(path: Path, gigabytes: float, n_threads: int) -> dict[str, Any]:
    """Boost trees on the same rows, which stay on disk."""
    import xgboost

    data = open_data(path)
    indptr = data.query_indptr[: n_queries_of(data, gigabytes) + 1]

    class Blocks(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self._next = 0
            super().__init__(cache_prefix=str(path / "trees"))

        def reset(self) -> None:
            self._next = 0

        def next(self, input_data: Any) -> bool:
            if self._next >= len(indptr) - 1:
                return False
            first, self._next = self._next, min(self._next + 600, len(indptr) - 1)
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
