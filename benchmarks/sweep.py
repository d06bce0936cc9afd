"""
Time of one sweep: value and gradient of the squared hinge over distinct labels, one query.

    python benchmarks/sweep.py [--rows 512000]

The situation is a solver's: the scores are those of the previous step, changed by one per cent of
their spread. How the scores relate to the labels, and how many margins they span, decide how many
pairs are active and how far the scores have to be sorted.
"""

import argparse
import itertools

import numpy as np

from harness import THREADS, machine_line, print_table, time_once
from ranksvm.pair_loss import SquaredHinge

CORRELATIONS = (0.0, 0.5, 0.95)
SPREADS = (1.0, 10.0, 100.0)


def main() -> None:
    """Print a table over correlations and spreads."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=512_000)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()

    print(machine_line())
    rng = np.random.default_rng(0)
    y, noise = rng.standard_normal((2, args.rows))
    losses = [SquaredHinge(y, n_threads=n_threads) for n_threads in THREADS]
    rows = []
    for correlation, spread in itertools.product(CORRELATIONS, SPREADS):
        scores = spread * (correlation * y + np.sqrt(1 - correlation**2) * noise)
        seconds = [seconds_of_next_sweep(loss, scores, args.repeats) for loss in losses]
        nanoseconds = [1e9 * s / args.rows for s in seconds]
        rows.append((correlation, spread, *nanoseconds, seconds[1] / seconds[0]))
    names = [f"ns per document, threads: {n_threads}" for n_threads in THREADS]
    columns = ("correlation", "spread in margins", *names, "speed-up")
    print_table(f"sweep, {args.rows:,} distinct labels", columns, rows)


def seconds_of_next_sweep(loss: SquaredHinge, scores: np.ndarray, repeats: int) -> float:
    """Median seconds of the sweep that follows one at nearly the same scores."""
    rng = np.random.default_rng(1)
    seconds = []
    for _ in range(repeats):
        loss.evaluate(scores)
        changed = scores + 0.01 * np.std(scores) * rng.standard_normal(len(scores))
        seconds.append(time_once(lambda changed=changed: sweep(loss, changed)))
    return float(np.median(seconds))


def sweep(loss: SquaredHinge, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and gradient at these scores."""
    evaluation = loss.evaluate(scores)
    return evaluation.value, evaluation.gradient


if __name__ == "__main__":
    main()
