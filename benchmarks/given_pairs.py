"""
Time of what is computed with given pairs, beside a pass that gathers both scores of each.

    python -m benchmarks.given_pairs [--rows 1000000] [--pairs 10000000] [--features 10]

Rows and their partners lie anywhere. On one thread, in passes of `numpy.take` over the scores of
all winners and of all losers: value and gradient of each loss, plain, and with weights and margins;
a sweep with the first product ``M v`` at these scores, which lists the pairs that curve the loss,
and the next product. Below, whole fits. Then the Hessian of 123 sparse features of 32,000 rows, of
the squared hinge at zero and of the hinge smoothed to a hundredth of the margin near the optimum,
each with its sweep, beside SciPy's product of all differences of rows with themselves; and fits of
these by every solver. All times are those of the CPU.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.pairs.given import GivenPreferences, given_preferences
from ranksvm.pairs.given_pairs import GivenPairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge

SOLVERS = ("auto", "newton", "trust_region", "bundle")
LOSSES = {"squared hinge": SquaredHinge, "hinge": Hinge, "smoothed hinge": SmoothedHinge}


def main() -> None:
    """Print a table of passes, and one of fits."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    X, pairs = noisy_pairs(args.rows, args.pairs, args.features)
    numbers = np.random.default_rng(1).uniform(0.5, 2, (2, args.pairs))
    scores = X[:, 0].astype(np.float64)
    rows = []
    for title, more in {"plain": (), "weights and margins": tuple(numbers)}.items():
        calls = calls_of(given_preferences(pairs, args.rows, *more), scores)
        one_pass, *passes = median_passes(calls, args.repeats)
        rows.append((title, 1e3 * one_pass, *passes))
    names = [*LOSSES, "sweep and M v", "M v"]
    columns = ("pairs", "a pass, ms", *(f"{name}, passes" for name in names))
    print_table(f"{args.pairs:,} pairs among {args.rows:,} rows", columns, rows)
    fits = [(loss, *cpu_seconds_of_fit(loss, X, pairs)) for loss in ("squared_hinge", "hinge")]
    print_table(f"fits, {args.features} features", ("loss", "CPU seconds", "gap"), fits)
    few = [categories(32_000, n_pairs) for n_pairs in (1_000, 24_000, 120_000)]
    hessians = [(f"{len(pairs):,}", *hessian_ratios(X, pairs, args.repeats)) for X, pairs in few]
    columns = ("pairs", "by SciPy, ms", "squared hinge", "narrow hinge")
    print_table("Hessians of sparse rows, in products by SciPy", columns, hessians)
    fits = [
        (f"{len(pairs):,}", loss, *(solver_seconds(X, pairs, loss, solver) for solver in SOLVERS))
        for X, pairs in few
        for loss in ("squared_hinge", "hinge")
    ]
    print_table("CPU seconds of fits", ("pairs", "loss", *SOLVERS), fits)


def noisy_pairs(n: int, n_pairs: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and pairs of these that a linear function orders but for noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    return X, ordered_pairs(rng, X.sum(axis=1), n_pairs)


def categories(n: int, n_pairs: int) -> tuple[csr_matrix, np.ndarray]:
    """Return rows of 14 categories, of 123 values in all, and pairs as `noisy_pairs` does."""
    rng = np.random.default_rng(0)
    values = np.array_split(np.arange(123), 14)
    columns = np.stack([rng.choice(each, n) for each in values], axis=1)
    X = csr_matrix((np.ones(14 * n), columns.ravel(), 14 * np.arange(n + 1)), (n, 123))
    return X, ordered_pairs(rng, X @ rng.standard_normal(123), n_pairs)


def ordered_pairs(rng: np.random.Generator, latent: np.ndarray, n_pairs: int) -> np.ndarray:
    """Return pairs of rows that a latent number orders but for noise."""
    n = len(latent)
    one = rng.integers(0, n, n_pairs)
    other = (one + rng.integers(1, n, n_pairs)) % n
    ahead = latent[one] - latent[other] + rng.standard_normal(n_pairs)
    return np.where((ahead > 0)[:, np.newaxis], np.c_[one, other], np.c_[other, one])


def hessian_ratios(X: csr_matrix, pairs: np.ndarray, repeats: int) -> list[float]:
    """Return milliseconds of the product of all differences, and Hessians in terms of it."""
    given = GivenPairs(given_preferences(pairs, X.shape[0]))
    matrix, shift, scale = DesignMatrix.from_array(X), np.zeros(123), np.ones(123)
    scores = X @ RankSVM(loss="hinge", n_threads=1).fit(X, pairs=pairs).coef_
    losses = {
        "squared hinge": (SquaredHinge(given, 1.0), np.zeros(len(scores))),
        "narrow hinge": (SmoothedHinge(given, 1.0).narrowed(0.01), scores),
    }

    def by_scipy() -> None:
        differences = X[pairs[:, 0]] - X[pairs[:, 1]]
        (differences.T @ differences).toarray()

    calls: dict[str, Callable[[], object]] = {"SciPy": by_scipy}
    for name, (loss, where) in losses.items():
        calls[name] = lambda loss=loss, where=where: matrix.hessian(
            loss.evaluate(where), shift, scale, np.float64, 1
        )
    one, *ratios = median_passes(calls, repeats)
    return [1e3 * one, *ratios]


def solver_seconds(X: csr_matrix, pairs: np.ndarray, loss: str, solver: str) -> float:
    """Return the CPU time of a fit by a solver, the lower of two; inf if it does not converge."""
    seconds = []
    for _ in range(2):
        start = time.process_time()
        model = RankSVM(loss=loss, solver=solver, n_threads=1).fit(X, pairs=pairs)
        seconds.append(time.process_time() - start)
    return min(seconds) if model.status_ == "converged" else float("inf")


def calls_of(preferences: GivenPreferences, scores: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return the pass, and what is compared with it."""
    pairs = GivenPairs(preferences)
    winner, loser = (
        np.asarray(rows, dtype=np.int64) for rows in (preferences.winner, preferences.loser)
    )
    of_winner, of_loser = np.empty((2, len(winner)))

    def gather() -> None:
        np.take(scores, winner, out=of_winner, mode="clip")
        np.take(scores, loser, out=of_loser, mode="clip")

    calls: dict[str, Callable[[], object]] = {"pass": gather}
    margin = preferences.common_margin
    for name, Loss in LOSSES.items():
        loss = Loss(pairs, margin)
        calls[name] = lambda loss=loss: loss.evaluate(scores)
    sweep = pairs.sweep(scores, "squared_hinge", margin)
    sweep.laplacian(scores)
    calls["first product"] = lambda: pairs.sweep(scores, "squared_hinge", margin).laplacian(scores)
    calls["product"] = lambda: sweep.laplacian(scores)
    return calls


def median_passes(calls: dict[str, Callable[[], object]], repeats: int) -> list[float]:
    """Return the median seconds of the first call, and the others in terms of it, side by side."""
    gather, *others = calls.values()
    seconds = np.empty((repeats, len(others), 2))
    for repeat in range(repeats):
        for k, call in enumerate(others):
            seconds[repeat, k] = cpu_seconds(gather), cpu_seconds(call)
    ratios = np.median(seconds[:, :, 1] / seconds[:, :, 0], axis=0)
    return [float(np.median(seconds[:, :, 0])), *ratios.tolist()]


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def cpu_seconds_of_fit(loss: str, X: np.ndarray, pairs: np.ndarray) -> tuple[float, float]:
    """Return the CPU time of a whole fit with the defaults, and its gap."""
    start = time.process_time()
    model = RankSVM(loss=loss, n_threads=1).fit(X, pairs=pairs)
    return time.process_time() - start, model.dual_gap_


if __name__ == "__main__":
    main()
