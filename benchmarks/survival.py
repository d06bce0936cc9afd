"""
Against scikit-survival's FastSurvivalSVM, both judged by the certified optimum.

    make bench-survival ARGS="--rows 1000 10000 100000 1000000"

With ``rank_ratio=1`` it minimises ``0.5 |w|^2 + alpha / 2 * sum over pairs of squared hinges``, so
that alpha = 2 C, and C is what a pair weighs (``normalize=None``). It breaks ties of times by
chance, and compares rows of equal times in that order. So the sets that come with it are measured
twice: as they are, where it minimises something else than what is asked for; and with the ties
broken, once for all. Seconds are those of one processor.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.survival import Times, drawn_times, survival_sets
from benchmarks.harness import machine_line, print_table
from benchmarks.systems.peer_scikit_survival import make_survival_svm
from ranksvm import SurvivalSVM, concordance_index
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.survival import Survival

Trainer = Callable[[Times, float], Any]

FOLDS = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    ", tol=1e-9": {"max_iter": 1000, "tol": 1e-9},
}
COLUMNS = ("", "seconds", "objective above the optimum", "c-index of held-out folds")


def main() -> None:
    """Print two tables for each set, and one of how the seconds grow."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--limit", type=float, default=60, help="seconds that a fit may take")
    args = parser.parse_args()
    try:
        import sksurv
    except ImportError:
        print("Skipped: scikit-survival is not installed (pip install scikit-survival).")
        return
    print(f"{machine_line()}, scikit-survival {sksurv.__version__}")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that do not converge
        for times in survival_sets():
            report(f"{times.describe()}, as they are", times)
            report(f"{times.name}, ties broken", times.without_ties())
        growth(args.rows, args.limit)


def trainers() -> dict[str, Trainer]:
    """Return what fits rows, for the weight of a pair."""
    return {
        "SurvivalSVM": fit_ours,
        "SurvivalSVM, tol=1e-6": partial(fit_ours, tol=1e-6),
        **{
            f"FastSurvivalSVM, {tree}{name}": partial(fit_theirs, optimizer=tree, **settings)
            for tree in ("avltree", "rbtree")
            for name, settings in SETTINGS.items()
        },
    }


def fit_ours(times: Times, c: float, **settings: Any) -> SurvivalSVM:
    """Fit a `SurvivalSVM`."""
    model = SurvivalSVM(c, normalize=None, n_threads=1, **settings)
    return model.fit(times.X, event=times.event, time=times.time)


def fit_theirs(times: Times, c: float, **settings: Any) -> Any:
    """Fit a FastSurvivalSVM."""
    from sksurv.util import Surv

    model = make_survival_svm(c, **settings)
    return model.fit(times.X, Surv.from_arrays(times.event, times.time))


def report(title: str, times: Times) -> None:
    """Seconds, how far above the optimum each one stops, and how it ranks rows it has not seen."""
    c = weight_of_pairs(times)
    X = DesignMatrix.from_array(times.X)
    objective = LinearObjective(X, SquaredHinge(comparable(times)), c)
    optimum = fit_ours(times, c, tol=1e-10).objective_
    rows = []
    for name, fit in trainers().items():
        seconds, model = timed(fit, times, c)
        # Theirs are weights of times.
        weights = model.predict(np.eye(times.X.shape[1]))
        above = objective.evaluate(weights).value / optimum - 1
        rows.append((name, seconds, above, held_out(fit, times)))
    print_table(f"{title}, C = {c:.3g}", COLUMNS, rows)


def weight_of_pairs(times: Times) -> float:
    """Return what C = 1 gives a pair with ``normalize="documents"``."""
    return len(times.time) / comparable(times).n_pairs


def comparable(times: Times) -> CorePairs:
    """Return the comparable pairs."""
    return CorePairs(Survival.of(event=times.event, time=times.time).preferences())


def timed(fit: Trainer, times: Times, c: float) -> tuple[float, Any]:
    """Seconds of a processor that a fit takes, and what it makes."""
    start = time.process_time()
    model = fit(times, c)
    return time.process_time() - start, model


def held_out(fit: Trainer, times: Times) -> str:
    """Mean concordance index of five folds, each of which is left out once."""
    fold = np.random.default_rng(0).permutation(len(times.time)) % FOLDS
    scores = []
    for k in range(FOLDS):
        seen, unseen = times.rows(fold != k), times.rows(fold == k)
        risk = fit(seen, weight_of_pairs(seen)).predict(unseen.X)
        scores.append(concordance_index(unseen.event, unseen.time, risk))
    return f"{np.mean(scores):.4f}"


def growth(sizes: list[int], limit: float) -> None:
    """Print seconds for more and more rows, for as long as they may be within the limit."""
    rows = []
    contestants = {name: fit for name, fit in trainers().items() if "tol" not in name}
    last: dict[str, tuple[int, float]] = {}
    for n in sizes:
        times = drawn_times(n, 20)
        c = weight_of_pairs(times)
        cells: list[Any] = [f"{n:,}"]
        for name, fit in contestants.items():
            n_before, before = last.get(name, (n, 0.0))
            if before * n / n_before > limit:
                cells.append("-")
                continue
            seconds, _ = timed(fit, times, c)
            last[name] = n, seconds
            cells.append(seconds)
        rows.append(cells)
    print_table(f"Growth, 20 features, at most {limit:g} s", ("rows", *contestants), rows)


def distinct_ranks(y: np.ndarray) -> np.ndarray:
    """Ranks 1 .. n of the labels, ties broken at random."""
    tie_breaker = np.random.default_rng(0).permutation(len(y))
    ranks = np.empty(len(y))
    ranks[np.lexsort((tie_breaker, y))] = np.arange(1, len(y) + 1)
    return ranks


if __name__ == "__main__":
    main()
