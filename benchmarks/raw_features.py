"""
Features as tables hold them: timestamps, sizes in bytes and in kilobytes, sums of other columns.

    python -m benchmarks.raw_features [--rows 100000] [--repeats 3]

Each set of columns is trained on as it is, and scaled to standard deviations of 1, where columns
depend on each other just as much. Scales and dependent columns are what rounding suffers from: the
table says how each fit ended, its gap, and its seconds in those of ``X.T @ X``. What a gap of
1e-3 asks for is that timestamps are shifted inside the products, and that a Hessian may be singular
to rounding.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import machine_line, medians, print_table
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import train_once
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences

OF_A_QUERY = 50
COLUMNS = ("columns", "loss", "C", "status", "gap", "X.T @ X", "status, scaled", "X.T @ X, scaled")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    y, sets = make_sets(args.rows)
    preferences = Preferences.from_labels(y, np.arange(args.rows) // OF_A_QUERY)
    rows = [
        (name, loss, C, *compare(X, preferences, Parameters(C=C, loss=loss), args.repeats))
        for name, X in sets.items()
        for loss in LOSSES
        for C in (1.0, 1000.0)
    ]
    print_table(f"Raw features, {args.rows:,} rows", COLUMNS, rows)


def make_sets(n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return labels, and columns: sizes, timestamps of four months, counts and shares, and more."""
    rng = np.random.default_rng(0)
    size, start = rng.lognormal(10, 3, n), 1.7e9 + 1e7 * rng.random(n)
    count, shares = rng.integers(0, 1_000_000, n).astype(float), rng.random((n, 5))
    utility = np.log(size) + start / 1e7 - count / 1e6 + shares[:, 0] + rng.standard_normal(n)
    y = np.digitize(utility, np.quantile(utility, [0.5, 0.8, 0.95])).astype(float)
    plain = np.column_stack([size, start, count, shares])
    more = {
        "as they are": [],
        "and kilobytes": [size / 1024, 1.1 * count],
        "and sums": [size + count, 3 * start + size],
        "and ends of intervals": [start + rng.integers(0, 3600, n)],
        "and milliseconds": [1000 * start],
    }
    return y, {name: np.column_stack([plain, *columns]) for name, columns in more.items()}


def compare(
    X: np.ndarray, preferences: Preferences, parameters: Parameters, repeats: int
) -> Iterator[object]:
    """Say how fits end, and what they take."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    fits = [train_once(DesignMatrix.from_array(Z), preferences, parameters) for Z in (X, scaled)]
    calls = {
        "unit": lambda: X.T @ X,
        "raw": lambda: train_once(DesignMatrix.from_array(X), preferences, parameters),
        "scaled": lambda: train_once(DesignMatrix.from_array(scaled), preferences, parameters),
    }
    unit, *seconds = medians(calls, repeats).values()
    yield str(fits[0].result.status)
    yield fits[0].result.dual_gap
    yield seconds[0] / unit
    yield str(fits[1].result.status)
    yield seconds[1] / unit


if __name__ == "__main__":
    main()
