"""
Time of one sweep: value and gradient of the squared hinge over one query.

    python -m benchmarks.sweep [--rows 512000]

The situation is a solver's: the scores are those of the previous step, changed by one per cent of
their spread. How the scores relate to the labels, and how many margins they span, decide how many
pairs are active and how far the scores have to be sorted. The last columns are a sweep over pairs
weighted by the gaps between their labels, and one over pairs in whose worse role half of the rows
weigh nothing, as censored survival times do, in the time of one over plain pairs, on one thread.
"""

import argparse
import itertools
from dataclasses import replace

import numpy as np

from benchmarks.datasets.web_like import LABEL_SHARES
from benchmarks.harness import THREADS, machine_line, print_table, time_once
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

CORRELATIONS = (0.0, 0.5, 0.95)
SPREADS = (0.05, 1.0, 10.0, 100.0)  # with the first, all pairs are active


def main() -> None:
    """Print a table over correlations and spreads."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=512_000)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()

    print(machine_line())
    rng = np.random.default_rng(0)
    latent, noise = rng.standard_normal((2, args.rows))
    five = np.searchsorted(np.quantile(latent, np.cumsum(LABEL_SHARES)[:-1]), latent)
    for title, y in {"distinct labels": latent, "documents of five levels": five}.items():
        plain = Preferences.from_labels(y)
        losses = [SquaredHinge(CorePairs(plain, n_threads=n_threads)) for n_threads in THREADS]
        event = rng.integers(0, 2, args.rows).astype(float)
        for weighted in (
            replace(plain, pair_weight="gap"),
            replace(plain, worse_weight=event),
        ):
            losses.append(SquaredHinge(CorePairs(weighted, n_threads=THREADS[-1])))
        rows = []
        for correlation, spread in itertools.product(CORRELATIONS, SPREADS):
            scores = spread * (correlation * latent + np.sqrt(1 - correlation**2) * noise)
            seconds = seconds_of_next_sweeps(losses, scores, args.repeats)
            unweighted, weighted = seconds[: len(THREADS)], seconds[len(THREADS) :]
            nanoseconds = [1e9 * s / args.rows for s in unweighted]
            ratios = [unweighted[1] / unweighted[0], *(s / unweighted[-1] for s in weighted)]
            rows.append((correlation, spread, *nanoseconds, *ratios))
        names = [f"ns per document, threads: {n_threads}" for n_threads in THREADS]
        columns = ("correlation", "spread in margins", *names, "speed-up", "by gaps", "by roles")
        print_table(f"sweep, {args.rows:,} {title}", columns, rows)


def seconds_of_next_sweeps(
    losses: list[SquaredHinge], scores: np.ndarray, repeats: int
) -> list[float]:
    """Median seconds of the sweeps that follow one at nearly the same scores, in turns."""
    rng = np.random.default_rng(1)
    seconds = np.empty((repeats, len(losses)))
    for repeat, k in itertools.product(range(repeats), range(len(losses))):
        losses[k].evaluate(scores)
        changed = scores + 0.01 * np.std(scores) * rng.standard_normal(len(scores))
        seconds[repeat, k] = time_once(lambda k=k, changed=changed: sweep(losses[k], changed))
    return np.median(seconds, axis=0).tolist()


def sweep(loss: SquaredHinge, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Value and gradient at these scores."""
    evaluation = loss.evaluate(scores)
    return evaluation.value, evaluation.gradient


if __name__ == "__main__":
    main()
