"""
Time and memory of an exact fit on dense, badly scaled, web-like data.

    python -m benchmarks.web_like [--rows 144000] [--queries 1200]

The unit is one ``X.T @ X`` by NumPy in the same process: what forming the matrix of a linear
regression costs.
"""

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import (
    THREADS,
    in_fresh_process,
    machine_line,
    medians,
    peak_memory,
    print_table,
)
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix

SOLVERS = ("newton", "auto")
SETTINGS = {"C": 1.0, "normalize": None, "tol": 1e-6}


def main() -> None:
    """Print the tables of fits, passes and memory."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=144_000)
    parser.add_argument("--queries", type=int, default=1_200)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    sizes = f"{args.rows:,} x 136, {args.queries:,} queries"
    print(machine_line())
    report_memory(sizes, in_fresh_process(memory_of_fit, args.rows, args.queries))
    X, y, qid = make_web_like(args.rows, args.queries)
    for n_threads in THREADS:
        with threadpool_limits(n_threads):
            report_fits(sizes, X, y, qid, n_threads, args.repeats)
            report_passes(sizes, X, n_threads, args.repeats)


def report_fits(
    sizes: str, X: np.ndarray, y: np.ndarray, qid: np.ndarray, n_threads: int, repeats: int
) -> None:
    """Fit by each solver, against one ``X.T @ X``."""
    models = {name: RankSVM(**SETTINGS, solver=name, n_threads=n_threads) for name in SOLVERS}
    fits = {name: lambda model=model: model.fit(X, y, qid) for name, model in models.items()}
    seconds = medians({"unit": lambda: X.T @ X} | fits, repeats)
    rows = [("NumPy X.T @ X", seconds["unit"], 1.0, "", "", "")]
    for name, model in models.items():
        cost = seconds[name], seconds[name] / seconds["unit"]
        result = model.n_iter_, model.dual_gap_, model.score(X, y, qid)
        rows.append((f"RankSVM, {name}", *cost, *result))
    columns = ("", "seconds", "X.T @ X", "iterations", "gap", "pairwise accuracy")
    print_table(f"web-like, {sizes}, threads: {n_threads}", columns, rows)


def report_passes(sizes: str, X: np.ndarray, n_threads: int, repeats: int) -> None:
    """One product with X and one with its transpose, against NumPy."""
    ours = DesignMatrix.from_array(X)
    w, u = np.ones(X.shape[1]), np.ones(X.shape[0])
    calls = {
        "NumPy X @ w": lambda: X @ w,
        "ours X @ w": lambda: ours.dot(w, n_threads),
        "NumPy X.T @ u": lambda: X.T @ u,
        "ours X.T @ u": lambda: ours.t_dot(u, n_threads),
    }
    rows = [(name, s, X.nbytes / s / 1e9) for name, s in medians(calls, repeats).items()]
    title = f"web-like passes, {sizes}, threads: {n_threads}"
    print_table(title, ("", "seconds", "GB of X per second"), rows)


def report_memory(sizes: str, memory: tuple[float, float]) -> None:
    """Peak memory in units of X."""
    rows = zip(("before the fit", "after the fit"), memory, strict=True)
    print_table(f"web-like, peak memory, {sizes}", ("", "size of X"), rows)


def memory_of_fit(rows: int, queries: int) -> tuple[float, float]:
    """Peak memory of the whole process over the size of X, before and after a fit."""
    X, y, qid = make_web_like(rows, queries)
    before = peak_memory()
    RankSVM(**SETTINGS).fit(X, y, qid)
    return before / X.nbytes, peak_memory() / X.nbytes


if __name__ == "__main__":
    main()
