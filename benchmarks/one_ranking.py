"""
One ranking of millions of rows with distinct labels: training with a sample and without.

    python -m benchmarks.one_ranking [--rows 512000 2000000 5000000] [--columns 10] [--limit 150]

Features are gaussian, labels a noisy linear function of them, C is 1, the gap 1e-3. Each row of the
first table trains once with a sample of the rows ("auto") and once with exact Hessians alone
("newton"), and compares with one evaluation of the objective, value and gradient at the solution,
and with ``X.T @ X``. Where exact Hessians would take longer than the limit, judged by the size
before, they are left out. The second table holds an evaluation's nanoseconds a row.
"""

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import machine_line, medians, print_table
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences

LOSSES = {"squared_hinge": SquaredHinge, "hinge": Hinge}


def main() -> None:
    """Print a table of trainings, and one of evaluations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, nargs="+", default=[512_000, 2_000_000, 5_000_000])
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--losses", nargs="+", default=list(LOSSES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=150.0, help="seconds without samples")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()

    print(machine_line())
    trained, evaluated = [], []
    expected = dict.fromkeys(args.losses, 0.0)  # seconds a row without samples
    for n in sorted(args.rows):
        X, y = make_data(n, args.columns)
        for loss in args.losses:
            exact = n * expected[loss] <= args.limit
            with threadpool_limits(args.threads):
                line, seconds = compare(X, y, loss, args.threads, args.repeats, exact)
            expected[loss] = max(expected[loss], seconds.get("exact", 0.0) / n)
            trained.append(line)
            evaluated.append((f"{n:,}", loss, 1e9 * seconds["evaluation"] / n))
    names = (
        "rows", "loss", "sample, s", "exact, s", "exact / sample", "evaluations", "iterations",
        "sample / evaluation", "sample / X.T@X", "solver", "gap",
    )  # fmt: skip
    print_table(f"training, {args.columns} features, {args.threads} threads", names, trained)
    print_table("an evaluation", ("rows", "loss", "ns a row"), evaluated)


def compare(
    X: np.ndarray, y: np.ndarray, loss: str, n_threads: int, repeats: int, exact: bool
) -> tuple[tuple[Any, ...], dict[str, float]]:
    """One row of the table, and seconds by name."""
    models = {
        name: RankSVM(loss=loss, solver=solver, n_threads=n_threads)
        for name, solver in {"sample": "auto", "exact": "newton"}.items()
    }
    calls: dict[str, Callable[[], Any]] = {"sample": lambda: models["sample"].fit(X, y)}
    if exact:
        calls["exact"] = lambda: models["exact"].fit(X, y)
    seconds = medians(calls, repeats)
    model = models["sample"]
    seconds |= medians(
        {"evaluation": evaluation(X, y, loss, model.coef_, n_threads), "X.T@X": lambda: X.T @ X}, 3
    )
    slow = seconds.get("exact", math.nan)
    line = (
        f"{len(y):,}", loss, seconds["sample"], slow, slow / seconds["sample"],
        model.history_[-1].n_evaluations, model.n_iter_,
        seconds["sample"] / seconds["evaluation"], seconds["sample"] / seconds["X.T@X"],
        ", ".join(dict.fromkeys(step.solver for step in model.history_)), model.dual_gap_,
    )  # fmt: skip
    return line, seconds


def evaluation(
    X: np.ndarray, y: np.ndarray, loss: str, w: np.ndarray, n_threads: int
) -> Callable[[], Any]:
    """Call that evaluates the objective, as the solver does, and its gradient."""
    pairs = CorePairs(Preferences.from_labels(y), n_threads=n_threads)
    made = LOSSES[loss](pairs).smoothed()
    c = len(y) / pairs.n_pairs
    objective = LinearObjective(DesignMatrix.from_array(X), made, c, n_threads)
    return lambda: objective.evaluate(w).gradient


def make_data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gaussian features, and a noisy linear function of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d)
    y += rng.standard_normal(n)
    return X, y


if __name__ == "__main__":
    main()
