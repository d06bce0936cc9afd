"""
Time of reading tables, against pyarrow alone.

    python -m benchmarks.tables [--rows 144000] [--repeats 5]

Web-like rows with numbers of six digits, in double and in single precision, as CSV, Parquet and
Feather, compressed by LZ4 or not. CPU times of a single thread, the least of several, of five
things: pyarrow's own table, in columns, which for Feather without compression are the bytes of the
file; that table and the sum of each of its columns, which is one pass over what was read; the
matrix in C order that pyarrow makes of it (`RecordBatch.to_tensor`), and the one that is made in
the shortest way with NumPy; and `load_table`, which also looks for what is missing or not finite.

They are timed twice: the first time in a process of their own, as one reads data, for which each
has to ask the system for memory, and again and again in the same process, where Arrow keeps the
memory that it had. Then the memory that they take beyond that of the process, with that
of files that are mapped, and what `ranksvm predict` takes for files of growing size.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, feather, parquet

from benchmarks.datasets.web_like import make_web_like
from benchmarks.files import six_digits
from benchmarks.harness import in_fresh_process, machine_line, peak_memory, print_table
from ranksvm import LinearModel, load_table, save_model
from ranksvm.cli import main as command_line

ENDINGS = (".csv", ".parquet", ".feather", ".plain.feather")


def main() -> None:
    """Print tables of times and of memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=144_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    with tempfile.TemporaryDirectory() as folder:
        measured = [
            (path, *measure(path, table, args.repeats))
            for name, table in tables(args.rows)
            for path in (Path(folder, name + ending) for ending in ENDINGS)
        ]
        titles = [f"{way}, s" for way in WAYS] + [f"this / {way}" for way in list(WAYS)[:-1]]
        for k, title in enumerate(["for the first time", "again"], 2):
            rows = [(row[0].name, row[1], *row[k], *(row[k][-1] / row[k][:-1])) for row in measured]
            print_table(f"reading {title}, CPU seconds", ("", "MB", *titles), rows)
        rows = [(path.name, megabytes, *peaks) for path, megabytes, _, _, peaks in measured]
        print_table("the most memory while reading, MB", ("", "MB", *WAYS), rows)
        print_table(
            "ranksvm predict",
            ("", "rows", "MB", "peak, MB"),
            list(growing(Path(folder), args.rows)),
        )


def tables(n_rows: int) -> Any:
    """Make the tables, one after the other."""
    X, y, qid = make_web_like(n_rows, max(1, n_rows // 120))
    X = six_digits(X)
    for name, dtype in [("double", np.float64), ("single", np.float32)]:
        columns = {f"f{k}": X[:, k].astype(dtype) for k in range(X.shape[1])}
        yield name, pa.table({"label": y, "qid": qid, **columns})


def write(table: pa.Table, path: Path) -> None:
    """Write a table as its name says."""
    if path.suffix == ".feather":
        plain = path.suffixes[0] == ".plain"
        feather.write_feather(table, path, compression="uncompressed" if plain else "lz4")
    else:
        writers = {".csv": csv.write_csv, ".parquet": parquet.write_table}
        writers[path.suffix](table, path)


def read(path: Path) -> pa.Table:
    """Return the table that pyarrow reads, by a single thread."""
    if path.suffix == ".csv":
        return csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
    if path.suffix == ".parquet":
        return parquet.read_table(path, use_threads=False)
    return feather.read_table(path, use_threads=False)


def read_once_over(path: Path) -> pa.Table:
    """Return that table, after a pass over all of its numbers."""
    table = read(path)
    for column in table.columns:
        compute.sum(column)
    return table


def tensor(path: Path) -> pa.Tensor:
    """Return the features of that table as pyarrow's own matrix in C order."""
    (batch,) = read(path).drop_columns(["label", "qid"]).combine_chunks().to_batches()
    return batch.to_tensor(row_major=True)


def matrix(path: Path) -> np.ndarray:
    """Return the features of that table as a matrix in C order."""
    table = read(path).drop_columns(["label", "qid"])
    return np.column_stack([np.asarray(column) for column in table.columns])


def this(path: Path) -> Any:
    """Return what ranksvm makes of it."""
    return load_table(path, n_threads=1)


WAYS: dict[str, Callable[[Path], Any]] = {
    "pyarrow": read,
    "pyarrow and a pass": read_once_over,
    "pyarrow's matrix": tensor,
    "by NumPy": matrix,
    "this": this,
}


def measure(path: Path, table: pa.Table, repeats: int) -> tuple[Any, ...]:
    """Return megabytes of a file, then by ways: seconds at first and again, and memory in MB."""
    few = path.with_name("few-" + path.name)
    write(table, path)
    write(table.slice(0, 100), few)
    alone = [[in_fresh_process(first, way, few, path) for way in WAYS] for _ in range(repeats)]
    again = [[cpu_seconds(WAYS[way], path) for way in WAYS] for _ in range(2 * repeats)]
    megabytes = path.stat().st_size / 1e6
    path.unlink()
    seconds, peaks = np.min(alone, axis=0).T
    return megabytes, seconds, np.min(again, axis=0), peaks / 1e6


def first(way: str, few: Path, path: Path) -> tuple[float, int]:
    """Return the CPU time of reading the first large file, and the memory that it takes."""
    WAYS[way](few)
    before = peak_memory()
    seconds = cpu_seconds(WAYS[way], path)
    return seconds, peak_memory() - before


def cpu_seconds(way: Callable[[Path], Any], path: Path) -> float:
    """Return the CPU time of reading a file, and of freeing what that returns."""
    start = time.process_time()
    way(path)
    return time.process_time() - start


def growing(folder: Path, n_rows: int) -> Any:
    """Yield sizes of a Parquet file, and the most that scoring its rows takes in memory."""
    _, table = next(iter(tables(n_rows)))
    model = folder / "model.json"
    names = table.column_names[2:]
    save_model(LinearModel(np.ones(len(names)), names), model)
    for factor in (1, 4, 16):
        path = folder / "rows.parquet"
        with parquet.ParquetWriter(path, table.schema, compression="none") as writer:
            for _ in range(factor):
                writer.write_table(table)
        peak = in_fresh_process(predicting, model, path)
        yield "", factor * n_rows, path.stat().st_size / 1e6, peak / 1e6
        path.unlink()


def predicting(model: Path, path: Path) -> int:
    """Return the most that scoring the rows of a file takes."""
    before = peak_memory()
    command_line(["predict", str(model), str(path), "/dev/null", "--threads", "1"])
    return peak_memory() - before


if __name__ == "__main__":
    main()
