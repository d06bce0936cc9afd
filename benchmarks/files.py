"""
Time of reading SVMlight files, against scikit-learn and against decompression alone.

    python -m benchmarks.files [--rows 144000]

A dense, web-like file with numbers of six digits, and a sparse, text-like one. A megabyte is 10^6
bytes of text, whatever the size of the compressed file. Peaks are those of a fresh process beyond
what it took before, pages of the file that are mapped into memory included.
"""

import argparse
import gzip
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import (
    THREADS,
    in_fresh_process,
    machine_line,
    medians,
    peak_memory,
    print_table,
    time_once,
)
from ranksvm import dump_svmlight, load_svmlight

COLUMNS = ("", "seconds", "MB/s", "scikit-learn / this")


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=144_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    with tempfile.TemporaryDirectory() as folder:
        for name, X, y, qid in data(args.rows):
            path = Path(folder, f"{name}.svm")
            writing = time_once(lambda path=path, X=X, y=y, qid=qid: dump_svmlight(path, X, y, qid))
            del X
            report(name, path, writing, args.repeats)
            path.unlink()


def data(rows: int) -> Any:
    """Make the two data sets, one after the other."""
    X, y, qid = make_web_like(rows, max(1, rows // 120))
    yield "web-like", six_digits(X), y, qid
    X, y = make_text_like(rows // 2)
    X.data = six_digits(X.data)
    yield "text-like", X, y, None


def six_digits(values: np.ndarray) -> np.ndarray:
    """Round to six significant digits."""
    size = np.where(values == 0, 1.0, np.abs(values))
    unit = 10.0 ** (5 - np.floor(np.log10(size)))
    return np.round(values * unit) / unit


def report(name: str, path: Path, writing: float, repeats: int) -> None:
    """Time reading a file in every way."""
    size = path.stat().st_size
    compressed = path.with_suffix(".svm.gz")
    compressed.write_bytes(gzip.compress(path.read_bytes(), compresslevel=1))
    packed = compressed.read_bytes()
    calls = {
        f"load_svmlight, threads: {n_threads}": lambda n=n_threads: load_svmlight(path, n_threads=n)
        for n_threads in THREADS
    }
    calls["load_svmlight of .gz"] = lambda: load_svmlight(compressed)
    calls["zlib alone"] = lambda: zlib.decompress(packed, wbits=31)
    seconds = {"dump_svmlight": writing, **medians(calls, repeats)}
    seconds["scikit-learn"] = time_once(lambda: load_svmlight_file(str(path), query_id=True))
    rows = [(call, s, size / s / 1e6, seconds["scikit-learn"] / s) for call, s in seconds.items()]
    print_table(f"{name} file of {size / 1e6:.0f} MB", COLUMNS, rows)
    for file in (path, compressed):
        result, peak = in_fresh_process(memory, file)
        print(f"\n{file.name}: result {result / 1e6:.0f} MB, peak / result {peak / result:.3f}.")
    compressed.unlink()


def memory(path: Path) -> tuple[int, int]:
    """Bytes of the result, and the most that reading it takes."""
    before = peak_memory()
    X, y, qid = load_svmlight(path)
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    result = sum(part.nbytes for part in [*parts, y, *([] if qid is None else [qid])])
    return result, peak_memory() - before


if __name__ == "__main__":
    main()
