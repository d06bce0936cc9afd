"""
The choice of C: RankSVMCV over 20 values of C in 5 folds, against one fit of the same rows.

    RANKSVM_DATA=FOLDER python -m benchmarks.cross_validation [--only NAME ...] [--repeats 3]

Shapes that suit different solvers, generated and real, with the default grid, C from 0.001 to 1000.
The fits are those at C = 1 and at the C that is chosen; cross-validation trains on all rows in the
end. Ratios are of CPU seconds, which other work of the machine disturbs little, and with several
threads of wall-clock seconds, too. Weak regularisation costs some data far more than C = 1 does:
"fits / grid" is a grid of all rows by a fit of its own for each C, against ranksvm_grid.

Folds are trained no more exactly than a choice needs. The last columns compare their scores with
those of folds that are trained a hundred times as exactly: by how much means over the folds differ,
at most and in the middle, and how much worse the chosen C is by the exact ones, all in standard
errors of the best mean.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.real import find_real, load_real
from benchmarks.datasets.solver_shapes import (
    Data,
    make_few_rows,
    make_one_ranking,
    make_short_queries,
)
from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import THREADS, machine_line, print_table
from ranksvm import RankSVM, RankSVMCV, ranksvm_grid
from ranksvm.names import LOSSES

GRID = np.logspace(-3, 3, 20)
MADE: dict[str, Callable[[], Data]] = {
    "web-like-12000x136": lambda: Data(*make_web_like(12_000, 100)),
    "short-queries-50000x280": make_short_queries,
    "few-rows-500x5000": partial(make_few_rows, 500, 5_000),
    "one-ranking-200000x10": partial(make_one_ranking, 200_000),
    "text-like-16000x47236": lambda: Data(*make_text_like(16_000), None),
}
REAL = ("a9a.train", "lightgbm-lambdarank.train", "ClueWeb09-webis.F1", "rcv1-vw-small.train")
REAL += ("wine-white",)
COLUMNS = (
    *("data", "loss", "threads", "fit, CPU s", "RankSVMCV / fit", "/ fit at best C"),
    *("in wall-clock time", "of C", "fits / grid", "largest error", "median error", "regret"),
)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[*MADE, *REAL])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    warnings.simplefilter("ignore")
    rows = [
        (
            name,
            loss,
            n_threads,
            *compare(data, {"loss": loss, "n_threads": n_threads}, args.repeats),
        )
        for name, data in data_sets(args.only)
        for loss in LOSSES
        for n_threads in THREADS
    ]
    print_table("20 values of C, 5 folds", COLUMNS, rows)


def data_sets(names: list[str]) -> Iterator[tuple[str, Data]]:
    """Name and data; real data only where they are found."""
    for name in names:
        if name in MADE:
            yield name, MADE[name]()
            continue
        path = find_real(name)
        if path is None:
            print(f"\nSkipped {name}: RANKSVM_DATA does not name a folder with {name}.svm.xz.")
        else:
            X, y, qid = load_real(path)
            yield name, Data(X, y, qid if qid.any() else None)


def compare(data: Data, options: dict[str, Any], repeats: int) -> tuple[float, ...]:
    """Seconds and ratios; times are the least of the repeats, which disturbances only add to."""
    X, y, qid = data
    cv = RankSVMCV(len(GRID), cv=5, **options)
    with threadpool_limits(options["n_threads"]):
        whole, wall = least(lambda: cv.fit(X, y, qid), repeats)
        fit, fit_wall = least(lambda: RankSVM(**options).fit(X, y, qid), repeats)
        best, _ = least(lambda: RankSVM(cv.C_, **options).fit(X, y, qid), repeats)
        grid, _ = least(lambda: ranksvm_grid(X, y, qid, GRID, **options), 1)
        alone, _ = least(lambda: [RankSVM(C, **options).fit(X, y, qid) for C in GRID], 1)
        exact = RankSVMCV(len(GRID), cv=5, refit=False, tol=1e-5, **options).fit(X, y, qid)
    ratios = whole / fit, whole / best, wall / fit_wall, cv.C_, alone / grid
    return fit, *ratios, *errors(cv, exact)


def errors(cv: RankSVMCV, exact: RankSVMCV) -> tuple[float, float, float]:
    """Compare means over folds, and what is chosen by them, in standard errors."""
    results, best = exact.cv_results_, exact.best_index_
    means, unit = results["mean_test_score"], results["standard_error"][best]
    errors = np.abs(cv.cv_results_["mean_test_score"] - means) / unit
    regret = (means[best] - means[cv.best_index_]) / unit
    return float(errors.max()), float(np.median(errors)), float(regret)


def least(work: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """CPU seconds and wall-clock seconds of the best of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time(), time.perf_counter()
        work()
        seconds.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return min(cpu for cpu, _ in seconds), min(wall for _, wall in seconds)


if __name__ == "__main__":
    main()
