"""
Bounds and sparse models: their time against the plain fit, and against solvers of explicit pairs.

    python -m benchmarks.penalties [--rows 144000] [--rows-text 64000]

A plain fit has the penalty ``0.5 |w|^2``. The explicit pairs are those of small sets, as
differences of rows and their negatives, on which LinearSVC trains with an L1 penalty. How far
objectives are above our certified bound says whether both are the same.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import machine_line, medians, print_table
from ranksvm.linear.conditions import Conditions
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.grid import solve_grid
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem, train_once
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import SolverResult

CONDITIONS = {
    "plain": Conditions(),
    "positive": Conditions(lower=0.0),
    "l1_ratio=0.5": Conditions(l1_ratio=0.5),
    "l1_ratio=0.9": Conditions(l1_ratio=0.9),
}
PATH = np.logspace(-4, 0, 20)
COLUMNS = ("", "seconds", "plain fits", "iterations", "passes", "gap", "zeros")
TIGHT = 1e-6


class Data:
    """Training data, ready for fits with any conditions, on one thread."""

    def __init__(self, X: Any, y: np.ndarray, qid: np.ndarray | None) -> None:
        self.matrix = DesignMatrix.from_array(X)
        self.preferences = Preferences.from_labels(y, qid)

    def fit(self, conditions: Conditions, **settings: Any) -> SolverResult:
        """Train once."""
        parameters = Parameters(conditions=conditions, n_threads=1, **settings)
        return train_once(self.matrix, self.preferences, parameters).result

    def path(self, conditions: Conditions, **settings: Any) -> SolverResult:
        """Train along a grid of C, and return the last of its solutions."""
        of_each = [Parameters(C=C, conditions=conditions, n_threads=1, **settings) for C in PATH]
        problem = make_problem(self.matrix, self.preferences, of_each[0])
        return [result for _, result in solve_grid(problem, of_each)][-1]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=144_000, help="of the web-like data")
    parser.add_argument("--rows-text", type=int, default=64_000, help="of the text-like data")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    with threadpool_limits(1):
        report_web(args.rows, args.repeats)
        report_text(args.rows_text, args.repeats)
        report_few_rows(args.repeats)
        report_explicit(args.repeats)


def report_web(rows: int, repeats: int) -> None:
    """Dense, badly scaled rows of many queries, and a path of 20 values of C."""
    X, y, qid = make_web_like(rows, max(rows // 120, 1))
    data = Data(X, y, qid)
    for loss in ("squared_hinge", "hinge"):
        settings = {"loss": loss, "normalize": None, "tol": TIGHT}
        calls = fits(data, settings)
        if loss == "squared_hinge":
            calls["path, l1_ratio=0.5"] = lambda: data.path(
                CONDITIONS["l1_ratio=0.5"], normalize=None, tol=TIGHT
            )
        print_table(f"web-like, {rows:,} x 136, {loss}", COLUMNS, timed(calls, repeats))


def report_text(rows: int, repeats: int) -> None:
    """Sparse rows of one query."""
    data = Data(*make_text_like(rows), None)
    calls = fits(data, {"tol": 1e-3})
    print_table(f"text-like, {rows:,} x 47,236, squared_hinge", COLUMNS, timed(calls, repeats))


def report_few_rows(repeats: int) -> None:
    """Dense rows of one query, which are far fewer than the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20_000))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=len(X))
    data = Data(X, y, None)
    for loss in ("squared_hinge", "hinge"):
        calls = fits(data, {"loss": loss, "tol": 1e-3})
        print_table(f"200 x 20,000, {loss}", COLUMNS, timed(calls, repeats))


def fits(data: Data, settings: dict[str, Any]) -> dict[str, Callable[[], SolverResult]]:
    """Return a fit for each of the conditions."""
    return {
        name: lambda conditions=conditions: data.fit(conditions, **settings)
        for name, conditions in CONDITIONS.items()
    }


def timed(
    calls: dict[str, Callable[[], SolverResult]], repeats: int
) -> Iterator[tuple[str | float | int, ...]]:
    """Yield a line of a table for each call; the first is what the others are measured in."""
    results: dict[str, SolverResult] = {}

    def keep(name: str, call: Callable[[], SolverResult]) -> None:
        results[name] = call()

    kept = {name: lambda n=name, c=call: keep(n, c) for name, call in calls.items()}
    seconds = medians(kept, repeats)
    unit = next(iter(seconds.values()))
    for name, result in results.items():
        zeros = int((result.weights == 0).sum())
        of_result = result.n_iter, result.n_passes, result.dual_gap, zeros
        yield (name, seconds[name], seconds[name] / unit, *of_result)


def report_explicit(repeats: int) -> None:
    """L1 and squared hinge on small sets, against LinearSVC on every pair."""
    rows = []
    for n, d, C in ((200, 10, 1e-3), (400, 30, 1e-3), (200, 60, 1e-2)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = np.round(X[:, :5] @ rng.normal(size=min(5, d)) + rng.normal(size=n))
        rows += list(compare(X, y, C, repeats))
    columns = ("rows x features", "", "seconds", "ratio", "above our bound", "zeros")
    print_table("pure L1, squared hinge, C of each pair", columns, rows)


def compare(X: np.ndarray, y: np.ndarray, C: float, repeats: int) -> Iterator[tuple[Any, ...]]:
    """Yield lines of our fit, and of LinearSVC to the same objective."""
    data, lasso = Data(X, y, None), Conditions(l1_ratio=1.0)
    settings = {"C": C, "normalize": None, "tol": TIGHT}
    ours = data.fit(lasso, **settings)
    better, worse = np.nonzero(y[:, None] > y)
    pairs = X[better] - X[worse]
    rows, signs = np.r_[pairs, -pairs], np.repeat([1, -1], len(pairs))
    model = LinearSVC(
        penalty="l1", loss="squared_hinge", dual=False, fit_intercept=False, C=C / 2,
        tol=1e-6, max_iter=10_000,
    )  # fmt: skip
    calls = {
        "ranksvm": lambda: data.fit(lasso, **settings),
        "LinearSVC": lambda: model.fit(rows, signs),
    }
    seconds = medians(calls, repeats)
    bound = ours.value * (1 - ours.dual_gap)
    for name, w in (("ranksvm", ours.weights), ("LinearSVC", model.coef_[0])):
        value = np.abs(w).sum() + C * (np.maximum(0, 1 - pairs @ w) ** 2).sum()
        shape = f"{X.shape[0]:,} x {X.shape[1]:,}"
        ratio, above = seconds[name] / seconds["ranksvm"], float(value / bound - 1)
        yield shape, name, seconds[name], ratio, above, int((w == 0).sum())


if __name__ == "__main__":
    main()
