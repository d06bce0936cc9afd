"""
Time of sweeps and products over short queries, pair by pair, beside those by order of scores.

    python -m benchmarks.short_queries [--rows 50000]

Queries of equal length, five levels. Per row, on one thread: an evaluation of the squared hinge
(value and gradient) and a product ``M v`` of its Laplacian, by what `auto` picks and by "merge".
The last columns are those of `auto` in the time of a pass over 7 % full rows of 280 features.
"""

import argparse
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import machine_line, medians, print_table
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

LENGTHS = (2, 5, 10, 20, 40, 64, 120)


def main() -> None:
    """Print a table over lengths of queries."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()

    print(machine_line())
    X = sp.random(args.rows, 280, density=0.07, format="csr", random_state=0)
    matrix, w = DesignMatrix.from_array(X), np.ones(280)
    rows = []
    for length in LENGTHS:
        calls = {"pass": lambda: matrix.dot(w), **sweeps(args.rows, length)}
        one_pass, *seconds = medians(calls, args.repeats).values()
        of_auto = [seconds[k] / one_pass for k in (0, 1)]
        rows.append((length, *(1e9 * s / args.rows for s in seconds), *of_auto))
    times = [f"{what}, {way}" for way in ("auto", "merge") for what in ("evaluation", "M v")]
    columns = ("rows a query", *times, "evaluation, passes", "M v, passes")
    print_table(f"ns per row, {args.rows:,} rows", columns, rows)


def sweeps(n: int, length: int) -> dict[str, Callable[[], object]]:
    """Return evaluations and products, by the way of counting."""
    rng = np.random.default_rng(0)
    y, scores, v = rng.integers(0, 5, n), rng.standard_normal(n), rng.standard_normal(n)
    preferences = Preferences.from_labels(y, np.arange(n) // length)
    calls: dict[str, Callable[[], object]] = {}
    for way in ("auto", "merge"):
        loss = SquaredHinge(CorePairs(preferences, counting=way))
        sweep = loss.pairs.sweep(scores, "squared_hinge", 1.0)
        calls[f"evaluation, {way}"] = lambda loss=loss: loss.evaluate(scores)
        calls[f"product, {way}"] = lambda sweep=sweep: sweep.laplacian(v)
    return calls


if __name__ == "__main__":
    main()
