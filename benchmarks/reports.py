"""
Reports: seconds and bytes, beside what it takes to measure the same rows.

    python -m benchmarks.reports [--rows 100000] [--features 136] [--queries 1000]

Times are CPU seconds of one thread, in one process; the ratio is to `evaluate` with the metrics of
the report. The rows have features of scales from 0.01 to 1000 with heavy tails, and labels 0 to 4.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.harness import machine_line, print_table
from ranksvm import LinearModel, evaluate, report
from ranksvm.reports.subjects import METRICS

REPEATS = 3


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--queries", type=int, default=1000)
    args = parser.parse_args()

    print(machine_line())
    X, y, qid, model, other = problem(args.rows, args.features, args.queries)
    measuring, _ = timed(lambda: evaluate(y, model.predict(X), qid, METRICS))
    rows = []
    for name, given, options in [
        ("model", X, {}),
        ("model, sparse", scipy.sparse.csr_matrix(X), {}),
        ("with another", X, {"compare": other}),
        ("with another and training", X, {"compare": other, "train": (X, y, qid)}),
    ]:
        seconds, page = timed(
            lambda given=given, options=options: report(model, given, y, qid, **options)
        )
        rows.append((name, f"{seconds:.2f}", f"{seconds / measuring:.0f}", len(page.html.encode())))
    print_table(
        f"{args.rows:,} x {args.features} in {args.queries:,} queries",
        ("report of", "CPU s", "evaluate = 1", "bytes"),
        rows,
    )


def problem(n: int, d: int, n_queries: int) -> tuple[Any, ...]:
    """Return rows, labels, queries, a model and another."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(n, d)) * 10 ** rng.uniform(-2, 3, d)
    qid = np.sort(rng.integers(0, n_queries, n))
    weights = rng.normal(size=d) / X.std(axis=0)
    scores = X @ weights
    y = np.digitize(
        scores + scores.std() * rng.normal(size=n), np.quantile(scores, [0.5, 0.8, 0.9, 0.97])
    )
    return X, y, qid, LinearModel(weights), LinearModel(weights * rng.uniform(0.5, 1, d))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU seconds of some runs, and what the last gave."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return min(seconds), result


if __name__ == "__main__":
    main()
