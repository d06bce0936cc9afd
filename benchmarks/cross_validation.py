"""
The choice of C: RankSVMCV over 20 values of C in 5 folds, against one fit, and a grid search.

    python -m benchmarks.cross_validation [--rows 36000] [--repeats 5]

Rows by query, 46 features, with features of wildly different scales and with features from 0 to 1.
The grid search trains as often, on copies of the rows and without warm starts, by fits that use all
threads. Both train on all rows in the end.
"""

import argparse
from functools import partial

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, GroupKFold
from threadpoolctl import threadpool_limits

from benchmarks.datasets.small import make_small
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import THREADS, machine_line, medians, print_table, time_once
from ranksvm import RankSVM, RankSVMCV

ROWS_PER_QUERY, FEATURES = 120, 46


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=36_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    columns = (
        "features",
        "loss",
        "threads",
        "one fit, seconds",
        "RankSVMCV",
        "grid search",
        "RankSVMCV / fit",
        "grid search / RankSVMCV",
    )
    rows = []
    for name, make in [("unscaled", make_web_like), ("0 to 1", make_small)]:
        data = make(args.rows, args.rows // ROWS_PER_QUERY, FEATURES)
        for loss in ("squared_hinge", "hinge"):
            for n_threads in THREADS:
                rows.append((name, loss, n_threads, *compare(data, loss, n_threads, args.repeats)))
    print_table(f"20 values of C, 5 folds, {args.rows:,} x {FEATURES}", columns, rows)


def compare(
    data: tuple[np.ndarray, np.ndarray, np.ndarray], loss: str, n_threads: int, repeats: int
) -> tuple[float, ...]:
    """Seconds and ratios."""
    X, y, qid = data
    options = {"loss": loss, "n_threads": n_threads}
    search = GridSearchCV(
        RankSVM(qid="query", **options), {"C": np.logspace(-3, 3, 20)}, cv=GroupKFold(5)
    )
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(query=qid)
    calls = {
        "fit": partial(RankSVM(**options).fit, X, y, qid),
        "cv": partial(RankSVMCV(20, cv=5, **options).fit, X, y, qid),
    }
    with threadpool_limits(n_threads):
        seconds = medians(calls, repeats)
        searching = time_once(partial(search.fit, frame, y, groups=qid))
    fit, cv = seconds["fit"], seconds["cv"]
    return fit, cv, searching, cv / fit, searching / cv


if __name__ == "__main__":
    main()
