"""
The regularization path of the kernel RankSVM: the tables of Zapien et al. (2009), and its price.

    RANKSVM_DATA=FOLDER python benchmarks/regularization_path.py [--trials 10]

Rows are standardised, by the training rows where there are others. The kernel is rbf with gamma =
1 / features, the graph the reduced one, and a path runs from its first lambda down to a thousandth
of it, where nothing else is said. Seconds are of one process: a busy machine does not count.

Of their splits they tell the sizes only; here rows are drawn at random, with as many of each label
in the training and test set as in the whole where there are two labels. The error is the share of
test pairs in the wrong order at the lambda* with the least error on the validation set (the largest
of several), and "two labels" the share of test rows on the wrong side of the threshold that is best
on the validation set: they call it "percentage of misclassified samples" and say no more.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from datasets.real import find_real, load_real
from harness import machine_line, print_table
from ranksvm import RankSVM, RegularizationPath, regularization_path
from ranksvm.kernels import Kernel
from ranksvm.training import ConvergenceWarning

PAPER_NAMES = {"mixture": "Mixtures", "auto-mpg": "Auto", "pima": "Diabetes", "wdbc": "Cancer"}
# Rows to train with, to validate with and to test with: their Table 2, where the rows and the pairs
# of Auto have changed places.
SIZES = {
    "mixture": (99, 50, 50),
    "auto-mpg": (196, 98, 98),
    "pima": (383, 192, 192),
    "wdbc": (284, 142, 142),
}
THEIRS = {
    "mixture": ("0.29 (0.12)", "0.02 (0.04)", "69 (18.48)", 5.92),
    "auto-mpg": ("0.50 (0.31)", "1.71 (4.37)", "155.1 (50.54)", 74.17),
    "pima": ("0.65 (1e-16)", "0.77 (0.0003)", "384 (0)", 186.79),
    "wdbc": ("0.63 (0)", "0.79387 (1e-15)", "285 (0)", 0.27),
}
Data = tuple[str, np.ndarray, np.ndarray]


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    found = list(data_sets())
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        report_whole(found, args.repeats)
        report_trials(found, args.trials)
        report_separate(found, args.repeats)


def data_sets() -> Iterator[Data]:
    """Name, X and y of what is found."""
    for name in PAPER_NAMES:
        path = find_real(name)
        if path is None:
            print(f"\nSkipped {name}: RANKSVM_DATA does not name a folder with {name}.svm.xz.")
        else:
            X, y, _ = load_real(path)
            yield name, X.toarray(), y


def standardized(X: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Give the features of X mean 0 and deviation 1, and change others in the same way."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = 1
    return [(rows - mean) / deviation for rows in (X, *others)]


def cpu_seconds(call: Callable[[], Any], repeats: int = 1) -> float:
    """Seconds of this process that a call takes, the least of several."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def report_whole(found: list[Data], repeats: int) -> None:
    """Their Table 1, and what a path of all rows takes."""
    rows = []
    for name, X, y in found:
        (X,) = standardized(X)
        graphs = [("reduced", None)] + ([("full", 1.0)] if name == "mixture" else [])
        for graph, gamma in graphs:
            paths = []

            def follow(X=X, y=y, graph=graph, gamma=gamma, paths=paths) -> None:
                paths.append(regularization_path(X, y, kernel="rbf", gamma=gamma, graph=graph))

            seconds = cpu_seconds(follow, repeats)
            path: RegularizationPath = paths[0]
            n_events = len(path.event_pairs)
            counts = len(path.graph), n_events, n_events / len(path.graph)
            found_out = path.n_free.max(), path.violation
            rows.append((PAPER_NAMES[name], graph, *counts, *found_out, seconds))
    columns = ("data", "graph", "pairs", "events", "events / pairs", "largest I_alpha")
    print_table("All rows", (*columns, "largest violation", "seconds"), rows)


@dataclass(frozen=True)
class Trial:
    """One split: what the table averages."""

    error: float
    misclassified: float
    best_lambda: float
    support: float
    seconds: float
    events_per_pair: float


def report_trials(found: list[Data], n_trials: int) -> None:
    """Their Tables 2 and 3, by split and validation."""
    rows = []
    for name, X, y in found:
        trials = [run_trial(X, y, SIZES[name], seed) for seed in range(n_trials)]
        ours = [
            f"{np.mean(values):.3g} ({np.std(values):.2g})"
            for values in (
                [getattr(trial, key) for trial in trials] for key in Trial.__dataclass_fields__
            )
        ]
        error, wrong, best, support, seconds, events = ours
        theirs = THEIRS[name]
        row = (PAPER_NAMES[name], X.shape[1], *SIZES[name][:2], error, wrong, theirs[0])
        rows.append((*row, best, theirs[1], support, theirs[2], seconds, theirs[3], events))
    columns = ("data", "features", "train", "test", "pairwise error", "two labels", "theirs")
    columns += ("lambda*", "theirs", "size of A", "theirs", "seconds", "theirs", "events / pairs")
    print_table(f"Model selection, mean (deviation) of {n_trials} trials", columns, rows)


def run_trial(X: np.ndarray, y: np.ndarray, sizes: tuple[int, int, int], seed: int) -> Trial:
    """Split, follow the path, choose lambda, test."""
    train, validation, test = split(y, sizes, seed)
    parts = standardized(X[train], X[validation], X[test])
    start = time.process_time()
    path = regularization_path(parts[0], y[train], kernel="rbf", graph="reduced")
    best = int(np.argmin(path.validation_errors(parts[1], y[validation])))
    error = path.validation_errors(parts[2], y[test])[best]
    seconds = time.process_time() - start
    lam = path.lambdas[best]
    of_validation, of_test = (path.predict(rows, lam) for rows in parts[1:])
    return Trial(
        error=error,
        misclassified=misclassified(of_validation, y[validation], of_test, y[test]),
        best_lambda=lam,
        support=path.n_free[best] + path.n_one[best],
        seconds=seconds,
        events_per_pair=len(path.event_pairs) / len(path.graph),
    )


def split(y: np.ndarray, sizes: tuple[int, int, int], seed: int) -> list[np.ndarray]:
    """Draw disjoint rows; with two labels, their shares are the same in each part."""
    order = np.random.default_rng(seed).permutation(len(y))
    if len(np.unique(y)) == 2:
        # Spread the rows of each label evenly over the order.
        place = np.empty(len(y))
        for label in np.unique(y):
            rows = order[y[order] == label]
            place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        spread = np.argsort(place, kind="stable")
        part = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], sizes))
        return [spread[: len(part)][part == k] for k in range(3)]
    return np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])


def misclassified(
    scores: np.ndarray, y: np.ndarray, test_scores: np.ndarray, test_y: np.ndarray
) -> float:
    """Share of test rows on the wrong side of the best threshold; NaN with many labels."""
    if len(np.unique(y)) != 2:
        return float("nan")
    thresholds = np.r_[-np.inf, np.sort(scores)]
    wrong = [np.mean((scores > threshold) != (y == y.max())) for threshold in thresholds]
    threshold = thresholds[int(np.argmin(wrong))]
    return float(np.mean((test_scores > threshold) != (test_y == test_y.max())))


def report_separate(found: list[Data], repeats: int, n_lambdas: int = 20) -> None:
    """Compare the whole path with certified solutions, one for each lambda, each from the rows.

    They are those of the linear RankSVM on features whose inner products are the kernel: the same
    problem as that of the full graph.
    """
    rows = []
    for name, X, y in found:
        (X,) = standardized(X)
        for graph in ("reduced", "full"):
            paths = []

            def follow(X=X, y=y, graph=graph, paths=paths) -> None:
                paths.append(regularization_path(X, y, kernel="rbf", graph=graph))

            seconds = cpu_seconds(follow, repeats if graph == "reduced" else 1)
            path: RegularizationPath = paths[0]
            lambdas = np.geomspace(path.lambdas[0], path.lambdas[-1], n_lambdas)
            features = n_lambdas * cpu_seconds(lambda X=X: kernel_features(X), repeats)
            Phi = kernel_features(X)
            solutions = [
                features + cpu_seconds(partial(solve, Phi, y, lambdas, tol)) for tol in (1e-3, 1e-6)
            ]
            sizes = len(path.graph), len(path.event_pairs)
            ratios = [seconds / separate for separate in solutions]
            rows.append((PAPER_NAMES[name], graph, *sizes, seconds, features, *solutions, *ratios))
    columns = ("data", "graph", "pairs", "events", "path, seconds", "features alone")
    columns += ("to gap 1e-3", "to gap 1e-6", "path / 1e-3", "path / 1e-6")
    print_table(f"The path against {n_lambdas} separate solutions of the full graph", columns, rows)


def kernel_features(X: np.ndarray) -> np.ndarray:
    """Return rows whose inner products are the rbf kernel, centred."""
    values, vectors = np.linalg.eigh(Kernel("rbf").matrix(X))
    kept = values > 1e-12 * values[-1]
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def solve(Phi: np.ndarray, y: np.ndarray, lambdas: np.ndarray, tol: float) -> None:
    """Train a ranker for each lambda."""
    for lam in lambdas:
        RankSVM(C=1 / lam, loss="hinge", normalize=None, tol=tol, n_threads=1).fit(Phi, y)


if __name__ == "__main__":
    main()
