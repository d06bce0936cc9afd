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
same bits. Seconds are those of training without the dropping. Of as many gigabytes as --trees says,
all queries but the last twentieth are trained on once more, and boosted by XGBoost: see
`benchmarks.disk_trees`. With --text, so many gigabytes of SVMlight text are packed.

What has been measured is added to build/benchmarks/disk/records.json as it goes, and
``python -m benchmarks.growth`` draws it.
"""

import argparse
import json
import resource
import shutil
import time
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np

from benchmarks.datasets.web_like import web_like_blocks
from benchmarks.disk_data import (
    FEATURES,
    ROWS,
    Watch,
    blocks_of,
    first_queries,
    let_go,
    n_queries_of,
    reading_rate,
)
from benchmarks.disk_trees import beside_trees
from benchmarks.harness import in_fresh_process, machine_line, print_table
from benchmarks.report import FOLDER
from ranksvm import RankSVM, dump_svmlight, open_data, pack
from ranksvm.disk.data import PackedData
from ranksvm.disk.text import pack_svmlight
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train

TOL = 1e-6
RECORDS = FOLDER / "disk" / "records.json"
COLUMNS = ("", "passes", "seconds", "MB/s", "GB", "bytes a row", "gap")
TREES = ("outcome", "seconds", "CPU seconds", "bytes", "nDCG@10", "pairwise accuracy")


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
    title = f"{kind}, {open_data(path).description}; reading alone: {rate:.0f} MB/s"
    print_table(title, COLUMNS, rows)
    report_trees(path, kind, args)


def report_trees(path: Path, kind: str, args: argparse.Namespace) -> None:
    """Train and boost on the same queries, and judge both by others."""
    rows = []
    for size in sorted(args.trees):
        for what, found in beside_trees(path, size, args.threads, args.limit, args.trees_limit):
            keep(
                {"what": what, "kind": kind, "gigabytes": size, "limit": args.trees_limit, **found}
            )
            rows.append((f"{size:g} GB, {what}", *(found.get(name, "") for name in TREES)))
    if rows:
        print_table(f"{kind}, within {args.limit:g} GB of memory", ("", *TREES), rows)


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


def row_of(found: dict[str, Any]) -> tuple[Any, ...]:
    """Return passes, seconds, MB of X a second, GB and bytes of a row in memory, and the gap."""
    rate = found["passes"] * found["bytes_of_X"] / 1e6 / found["seconds"]
    memory = found["bytes"] / 1e9, found["bytes"] / found["rows"]
    return found["passes"], found["seconds"], rate, *memory, found["gap"]


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


class Dropping:
    """What lets go of the pages of X when an iteration ends, and how long that has taken."""

    def __init__(self, path: Path, data: PackedData) -> None:
        self.path, self.data, self.seconds = path, data, 0.0

    def __call__(self, _: object = None) -> None:
        """Let go of them."""
        start = time.perf_counter()
        let_go(self.path, self.data)
        self.seconds += time.perf_counter() - start


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
    dropping = Dropping(path, data)
    dropping()
    watch, start = Watch(), time.perf_counter() + dropping.seconds
    fit = train(X, preferences, parameters, callback=None if in_memory else dropping)
    result = fit.result
    n_rows = X.shape[0]
    return {
        "seconds": time.perf_counter() - start - dropping.seconds,
        "bytes": watch.end(),
        "passes": result.n_passes,
        "gap": result.dual_gap,
        "bits": (fit.weights.dense.tobytes(), result.value, result.dual_gap),
        "rows": n_rows,
        "bytes_of_X": round(data.bytes_of_X * n_rows / data.shape[0]),
    }


if __name__ == "__main__":
    main()
