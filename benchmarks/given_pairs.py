"""
Time of what is computed with given pairs, beside a pass that gathers both scores of each.

    python -m benchmarks.given_pairs [--rows 1000000] [--pairs 10000000] [--features 10]

Rows and their partners lie anywhere. On one thread, in passes of `numpy.take` over the scores of
all winners and of all losers: value and gradient of each loss, plain, and with weights and margins;
a sweep with the first product ``M v`` at these scores, which lists the pairs that curve the loss,
and the next product. Below, whole fits. All times are those of the CPU.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM
from ranksvm.pairs.given import GivenPreferences, given_preferences
from ranksvm.pairs.given_pairs import GivenPairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge

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
        one_pass, *seconds = least_cpu_seconds(calls, args.repeats)
        rows.append((title, 1e3 * one_pass, *(s / one_pass for s in seconds)))
    names = [*LOSSES, "sweep and M v", "M v"]
    columns = ("pairs", "a pass, ms", *(f"{name}, passes" for name in names))
    print_table(f"{args.pairs:,} pairs among {args.rows:,} rows", columns, rows)
    fits = [(loss, *cpu_seconds_of_fit(loss, X, pairs)) for loss in ("squared_hinge", "hinge")]
    print_table(f"fits, {args.features} features", ("loss", "CPU seconds", "gap"), fits)


def noisy_pairs(n: int, n_pairs: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and pairs of these that a linear function orders but for noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    latent = X.sum(axis=1)
    one = rng.integers(0, n, n_pairs)
    other = (one + rng.integers(1, n, n_pairs)) % n
    ahead = latent[one] - latent[other] + rng.standard_normal(n_pairs)
    return X, np.where((ahead > 0)[:, np.newaxis], np.c_[one, other], np.c_[other, one])


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


def least_cpu_seconds(calls: dict[str, Callable[[], object]], repeats: int) -> list[float]:
    """Return the least CPU time of each call, which take turns."""
    seconds = np.empty((repeats, len(calls)))
    for repeat in range(repeats):
        for k, call in enumerate(calls.values()):
            start = time.process_time()
            call()
            seconds[repeat, k] = time.process_time() - start
    return seconds.min(axis=0).tolist()


def cpu_seconds_of_fit(loss: str, X: np.ndarray, pairs: np.ndarray) -> tuple[float, float]:
    """Return the CPU time of a whole fit with the defaults, and its gap."""
    start = time.process_time()
    model = RankSVM(loss=loss, n_threads=1).fit(X, pairs=pairs)
    return time.process_time() - start, model.dual_gap_


if __name__ == "__main__":
    main()
