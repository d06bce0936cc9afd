"""
Time of metrics over queries, as a ratio to one np.lexsort of the same rows.

    python -m benchmarks.metrics [--rows 1000000] [--queries 10000]

Scores are real numbers without ties, or eighths with many; labels are graded, 0 to 4.
"""

import argparse

import numpy as np

from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm.metrics import evaluate, metric_names

ALL = [name.replace("[@k]", "@10").replace("@k", "@10") for name in metric_names()]
CHOICES = {"ndcg@10": ["ndcg@10"], "pairwise_accuracy": ["pairwise_accuracy"], "all": ALL}


def main() -> None:
    """Print a table for scores with and without ties."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    rng = np.random.default_rng(0)
    qid = np.sort(rng.integers(0, args.queries, args.rows))
    y = rng.integers(0, 5, args.rows).astype(float)
    distinct = 0.3 * y + rng.standard_normal(args.rows)
    for kind, scores in (("distinct", distinct), ("tied", np.round(8 * distinct) / 8)):
        calls = {"np.lexsort((scores, qid))": lambda scores=scores: np.lexsort((scores, qid))}
        for name, metrics in CHOICES.items():
            for n_threads in THREADS:
                calls[f"{name}, threads: {n_threads}"] = (
                    lambda scores=scores, metrics=metrics, n_threads=n_threads: evaluate(
                        y, scores, qid, metrics, n_threads=n_threads
                    )
                )
        seconds = medians(calls, args.repeats)
        sort = next(iter(seconds.values()))
        rows = [(name, 1e3 * value, value / sort) for name, value in seconds.items()]
        title = (
            f"{args.rows:,} rows, {args.queries:,} queries, {kind} scores; all: {len(ALL)} metrics"
        )
        print_table(title, ("", "ms", "ratio to np.lexsort"), rows)


if __name__ == "__main__":
    main()
