"""
Against scikit-survival's FastSurvivalSVM on `protein`, where both minimise the same function.

    RANKSVM_DATA=FOLDER python -m benchmarks.survival

With all events observed and ``rank_ratio=1`` it minimises ``0.5 |w|^2 + alpha / 2 * sum over pairs
of squared hinges``, so alpha = 2 C. It counts equal times as pairs, in an order drawn at random;
equal labels are therefore ordered at random here, once for both. One thread each.
"""

import argparse
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.real import find_real, load_real
from benchmarks.harness import machine_line, medians, print_table
from benchmarks.systems.peer_scikit_survival import make_survival_svm, survival_times
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

C = 1e-4


class Model(Protocol):
    """What both libraries fit."""

    coef_: np.ndarray

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Train."""


def main() -> None:
    """Print one table for the features as they are and one for standardised features."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    path = find_real("protein")
    if path is None:
        print("Skipped: set RANKSVM_DATA to the folder that holds protein.svm.xz.")
        return
    try:
        import sksurv
    except ImportError:
        print("Skipped: scikit-survival is not installed (pip install scikit-survival).")
        return
    print(f"{machine_line()}, scikit-survival {sksurv.__version__}")
    X, y, _ = load_real(path)
    X, y = X.toarray(), distinct_ranks(y)
    with threadpool_limits(1):
        report("raw features", X, y, args.repeats)
        report("standardised features", (X - X.mean(axis=0)) / X.std(axis=0), y, args.repeats)


def report(title: str, X: np.ndarray, y: np.ndarray, repeats: int) -> None:
    """Seconds, and how far above the optimum each one stops."""
    objective = LinearObjective(
        DesignMatrix.from_array(X), SquaredHinge(CorePairs(Preferences.from_labels(y))), C
    )
    optimum = RankSVM(C=C, normalize=None, tol=1e-10, n_threads=1).fit(X, y).objective_
    rows = []
    for name, model, target in contestants(y):
        fit = {name: lambda model=model, target=target: model.fit(X, target)}
        seconds = medians(fit, repeats)[name]
        evaluation = objective.evaluate(model.coef_)
        above = evaluation.value / optimum - 1
        rows.append((name, seconds, f"{evaluation.value:.6f}", above, evaluation.duality_gap))
    columns = ("", "seconds", "objective", "relative distance to the optimum", "certified gap")
    print_table(f"protein, C = {C}, {title}", columns, rows)


def contestants(y: np.ndarray) -> Iterator[tuple[str, Model, np.ndarray]]:
    """Name, model and the target in the form that the model takes."""
    for tol in (1e-3, 1e-6):
        yield f"RankSVM, tol={tol}", RankSVM(C=C, normalize=None, tol=tol, n_threads=1), y
    times = survival_times(y)
    for name, settings in {"": {}, ", tol=1e-9": {"max_iter": 1000, "tol": 1e-9}}.items():
        yield f"FastSurvivalSVM{name}", make_survival_svm(C, **settings), times


def distinct_ranks(y: np.ndarray) -> np.ndarray:
    """Ranks 1 .. n of the labels, ties broken at random."""
    tie_breaker = np.random.default_rng(0).permutation(len(y))
    ranks = np.empty(len(y))
    ranks[np.lexsort((tie_breaker, y))] = np.arange(1, len(y) + 1)
    return ranks


if __name__ == "__main__":
    main()
