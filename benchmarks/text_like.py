"""
Time to a gap of 1e-3 on sparse, text-like data with a label per document.

    python -m benchmarks.text_like [--rows 64000]

The unit is one pass of SciPy, which knows one thread: ``X @ w`` and ``X.T @ u``.
"""

import argparse

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.datasets.text_like import make_text_like
from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix


def main() -> None:
    """Print one table for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=64_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    X, y = make_text_like(args.rows)
    for n_threads in THREADS:
        with threadpool_limits(n_threads):
            report(X, y, n_threads, args.repeats)


def report(X: sparse.csr_matrix, y: np.ndarray, n_threads: int, repeats: int) -> None:
    """Time a fit and a pass of ours against a pass of SciPy."""
    model = RankSVM(C=1.0, normalize="documents", tol=1e-3, n_threads=n_threads)
    ours = DesignMatrix.from_array(X)
    w, u = np.ones(X.shape[1]), np.ones(X.shape[0])
    calls = {
        "SciPy pass": lambda: (X @ w, X.T @ u),
        "our pass": lambda: (ours.dot(w, n_threads), ours.t_dot(u, n_threads)),
        "RankSVM": lambda: model.fit(X, y),
    }
    seconds = medians(calls, repeats)
    rows = [(name, s, s / seconds["SciPy pass"], "", "", "") for name, s in seconds.items()]
    rows[-1] = (*rows[-1][:3], model.n_iter_, model.dual_gap_, model.score(X, y))
    columns = ("", "seconds", "SciPy passes", "iterations", "gap", "pairwise accuracy")
    title = f"text-like, {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros"
    print_table(f"{title}, threads: {n_threads}", columns, rows)


if __name__ == "__main__":
    main()
