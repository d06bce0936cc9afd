"""
A grid of nine values of C: warm starts along it against each C on its own.

    RANKSVM_DATA=FOLDER python -m benchmarks.grid [--rows 20000]

C is ``1 / (2 lambda)`` for lambda from 1e-1 down to 1e-9, shared by all pairs. The hinge loss is
trained to a gap of 1e-3 in the objective divided by C, the squared hinge loss to a relative gap of
1e-3.
"""

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.real import find_real, load_real
from benchmarks.datasets.text_like import make_text_like
from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm import ConvergenceWarning, ranksvm_grid

GRID = 0.5 * 10.0 ** np.arange(1, 10)
LOSSES = {
    "hinge": {"loss": "hinge", "tol": 0.0, "epsilon": 1e-3},
    "squared hinge": {"loss": "squared_hinge", "tol": 1e-3},
}


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=20_000, help="of the text-like data")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    columns = (
        "loss",
        "threads",
        "grid, seconds",
        "its largest C alone",
        "each C alone",
        "grid / largest",
        "grid / each",
        "iterations, grid",
        "iterations, each",
    )
    for title, X, y in data(args.rows):
        rows = [
            (loss, n_threads, *compare(X, y, settings, n_threads, args.repeats))
            for loss, settings in LOSSES.items()
            for n_threads in THREADS
        ]
        print_table(f"{title}, {X.shape[0]:,} x {X.shape[1]:,}", columns, rows)


def data(rows: int) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Name, X and y; real data only where they are found."""
    path = find_real("a9a.train")
    if path is None:
        print("\nSkipped a9a.train: RANKSVM_DATA does not name a folder with a9a.train.svm.xz.")
    else:
        X, y, _ = load_real(path)
        yield "a9a.train", X, y
    yield "text-like", *make_text_like(rows)


def compare(
    X: Any, y: np.ndarray, settings: dict[str, Any], n_threads: int, repeats: int
) -> tuple[float | int | str, ...]:
    """Seconds, ratios and iterations of the grid and of its members."""
    grids = {}

    def solve(name: str, Cs: np.ndarray) -> None:
        grids[name] = ranksvm_grid(
            X, y, Cs=Cs, normalize="pairs", max_iter=10_000, n_threads=n_threads, **settings
        )

    alone = {f"C={C:g}": partial(solve, f"C={C:g}", [C]) for C in GRID}
    with threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        seconds = medians({"grid": partial(solve, "grid", GRID), **alone}, repeats)
    whole, largest = seconds["grid"], seconds[list(alone)[-1]]
    each = sum(seconds[name] for name in alone)
    iterations = {
        name: sum(history[-1].iteration for history in grid.histories)
        for name, grid in grids.items()
    }
    ratios = whole / largest, whole / each
    return whole, largest, each, *ratios, iterations["grid"], sum(map(iterations.get, alone))


if __name__ == "__main__":
    main()
