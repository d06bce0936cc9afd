"""
Time to a gap of 1e-3 on sparse, text-like data with a label per document, for several C.

    python -m benchmarks.text_like [--rows 64000]

The unit is one pass of SciPy, which knows one thread: ``X @ w`` and ``X.T @ u``.
"""

import argparse
from functools import partial

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.datasets.text_like import make_text_like
from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix

CS = (1, 10, 100)


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
    """Time fits and a pass of ours against a pass of SciPy."""
    models = {f"RankSVM, C = {C}": RankSVM(C, tol=1e-3, n_threads=n_threads) for C in CS}
    ours = DesignMatrix.from_array(X)
    w, u = np.ones(X.shape[1]), np.ones(X.shape[0])
    calls = {
        "SciPy pass": lambda: (X @ w, X.T @ u),
        "our pass": lambda: (ours.dot(w, n_threads), ours.t_dot(u, n_threads)),
        **{name: partial(model.fit, X, y) for name, model in models.items()},
    }
    seconds = medians(calls, repeats)
    reached = {
        name: (model.history_[-1].n_products, model.n_iter_, model.dual_gap_, model.score(X, y))
        for name, model in models.items()
    }
    rows = [
        (name, s, s / seconds["SciPy pass"], *reached.get(name, ("",) * 4))
        for name, s in seconds.items()
    ]
    columns = ("", "seconds", "SciPy passes", "products", "iterations", "gap", "pairwise accuracy")
    title = f"text-like, {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros"
    print_table(f"{title}, threads: {n_threads}", columns, rows)


if __name__ == "__main__":
    main()
