"""
Time of reading tables, against pyarrow alone.

    python -m benchmarks.tables [--rows 144000] [--repeats 5]

Web-like rows with numbers of six digits, in double and in single precision, as CSV, Parquet and
Feather, compressed by LZ4 or not. CPU times of a single thread, the least of alternating calls, of
four things: pyarrow's own table, in columns; the matrix in C order that is made of it in the
shortest way that pyarrow and NumPy have; `load_table`, which also looks for what is missing or not
finite; and a copy of that matrix, which no way to a matrix can do without. Then the memory that
`ranksvm predict` takes for files of growing size.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet

from benchmarks.datasets.web_like import make_web_like
from benchmarks.files import six_digits
from benchmarks.harness import in_fresh_process, machine_line, peak_memory, print_table
from ranksvm import LinearModel, load_table, save_model
from ranksvm.cli import main as command_line

COLUMNS = (
    "",
    "MB",
    "a copy of X, s",
    "pyarrow, s",
    "to a matrix, s",
    "this, s",
    "this / pyarrow",
    "this / matrix",
    "(this - pyarrow) / copy",
)
ENDINGS = (".csv", ".parquet", ".feather", ".plain.feather")


def main() -> None:
    """Print a table of times and one of memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=144_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            timed(Path(folder, f"{name}{ending}"), table, args.repeats)
            for name, table in tables(args.rows)
            for ending in ENDINGS
        ]
        print_table("reading, CPU seconds", COLUMNS, rows)
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


def matrix(path: Path) -> np.ndarray:
    """Return the features of that table as a matrix in C order."""
    table = read(path).drop_columns(["label", "qid"])
    return np.column_stack([np.asarray(column) for column in table.columns])


def timed(path: Path, table: pa.Table, repeats: int) -> tuple[Any, ...]:
    """Time reading a table in every way."""
    write(table, path)
    X = load_table(path, n_threads=1).X
    calls: list[Callable[[], Any]] = [
        lambda: X.copy(),
        lambda: read(path),
        lambda: matrix(path),
        lambda: load_table(path, n_threads=1),
    ]
    seconds = [[cpu_seconds(call) for call in calls] for _ in range(repeats)]
    copy, alone, with_matrix, this = np.min(seconds, axis=0)
    size = path.stat().st_size
    path.unlink()
    ratios = (this / alone, this / with_matrix, (this - alone) / copy)
    return path.name, size / 1e6, copy, alone, with_matrix, this, *ratios


def cpu_seconds(call: Callable[[], Any]) -> float:
    """Return the CPU time of a call, and of freeing what it returns."""
    start = time.process_time()
    call()
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
