"""
Memory of training: bytes a row at the peak, beyond X and the labels, ids and weights of the user.

    python -m benchmarks.memory [--rows 400000] [--columns 64] [--solver auto newton bundle]

Each row of the table is a process of its own, which trains on few rows first, so that libraries and
threads are there already. Short queries have 10 to 100 rows and five labels; the others are one
ranking. In CSR a quarter of the values is stored. The rows of each query are adjacent unless
--shuffled. A gibibyte of X takes a minute or two for each row of the table.
"""

import argparse
import ctypes
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import in_fresh_process, machine_line, peak_memory, print_table
from ranksvm import RankSVM

KINDS = ("dense", "csr")
LOSSES = ("squared_hinge", "hinge")
SHAPES = ("short queries", "one ranking, 5 labels", "one ranking, distinct labels")
PIECE = 1 << 16  # rows that are made at a time


def main() -> None:
    """Print a table over kinds of X, shapes, losses and solvers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--solver", nargs="+", default=["auto"])
    parser.add_argument("--threads", type=int, nargs="+", default=[2])
    parser.add_argument("--shuffled", action="store_true", help="in no order of queries")
    args = parser.parse_args()

    print(machine_line())
    rows = []
    for case in itertools.product(args.kinds, args.shapes, args.losses, args.solver, args.threads):
        found = in_fresh_process(measure, args.rows, args.columns, args.shuffled, *case)
        rows.append((*case, *found))
    names = ("X", "queries", "loss", "solver", "threads", "bytes a row", "iterations", "gap")
    print_table(f"peak beyond X, {args.rows:,} x {args.columns}", names, rows)


def measure(
    n: int, d: int, shuffled: bool, kind: str, shape: str, loss: str, solver: str, n_threads: int
) -> tuple[float, int, float]:
    """Bytes a row beyond the data at the peak of a training, its iterations and its gap."""
    ranker = RankSVM(loss=loss, solver=solver, n_threads=n_threads)
    for first in (2000, n):  # what is loaded once is no part of it
        X, y, qid = make_data(first, d, kind, shape, shuffled)
        before = forget_peak()
        ranker.fit(X, y, qid)
    return (peak_memory() - before) / n, ranker.n_iter_, ranker.dual_gap_


def forget_peak() -> int:
    """Let the peak of this process begin anew; return the resident size, in bytes."""
    ctypes.CDLL(None).malloc_trim(0)  # memory that is free already would hide some
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def make_data(n: int, d: int, kind: str, shape: str, shuffled: bool) -> tuple[Any, ...]:
    """Return X, y, qid of noisy linear preferences."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d))
    utility = np.empty(n)
    weights = rng.standard_normal(d)
    for first in range(0, n, PIECE):
        piece = rng.standard_normal((min(PIECE, n - first), d))
        if kind == "csr":
            piece[rng.random(piece.shape) < 0.75] = 0.0
        X[first : first + PIECE] = piece
        utility[first : first + PIECE] = piece @ weights
    y = utility + 2 * np.std(utility) * rng.standard_normal(n)
    if shape != SHAPES[2]:
        y = np.digitize(y, np.quantile(y, [0.5, 0.75, 0.9, 0.97])).astype(np.float64)
    qid = None
    if shape == SHAPES[0]:
        sizes = rng.integers(10, 101, size=n // 10 + 1)
        qid = np.repeat(np.arange(len(sizes)), sizes)[:n]
        qid = rng.permutation(qid) if shuffled else qid
    return (X if kind == "dense" else to_csr(X)), y, qid


def to_csr(X: np.ndarray) -> Any:
    """Return the stored values, row by row."""
    import scipy.sparse

    pieces = [scipy.sparse.csr_matrix(X[i : i + PIECE]) for i in range(0, len(X), PIECE)]
    return scipy.sparse.vstack(pieces, format="csr")


if __name__ == "__main__":
    main()
