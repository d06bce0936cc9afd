"""
A grid of nine values of C: warm starts along the path against each C on its own.

    RANKSVM_DATA=FOLDER python -m benchmarks.path [--rows 20000]

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
from ranksvm import ranksvm_path
from ranksvm.linear.training import ConvergenceWarning

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
        "path, seconds",
        "its largest C alone",
        "each C alone",
        "path / largest",
        "path / each",
        "iterations, path",
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
    """Seconds, ratios and iterations of the path and of its members."""
    paths = {}

    def solve(name: str, grid: np.ndarray) -> None:
        paths[name] = ranksvm_path(
            X, y, Cs=grid, normalize="pairs", max_iter=10_000, n_threads=n_threads, **settings
        )

    alone = {f"C={C:g}": partial(solve, f"C={C:g}", [C]) for C in GRID}
    with threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        seconds = medians({"path": partial(solve, "path", GRID), **alone}, repeats)
    whole, largest = seconds["path"], seconds[list(alone)[-1]]
    each = sum(seconds[name] for name in alone)
    iterations = {
        name: sum(history[-1].iteration for history in path.histories)
        for name, path in paths.items()
    }
    ratios = whole / largest, whole / each
    return whole, largest, each, *ratios, iterations["path"], sum(map(iterations.get, alone))


if __name__ == "__main__":
    main()
