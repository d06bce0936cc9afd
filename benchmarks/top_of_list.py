"""
Cost of rounds with the weights of the top, beside a plain fit, and of their sweeps.

    python -m benchmarks.top_of_list [--rounds 4]

CPU time on one thread, and memory beyond the data at its peak, of ``RankSVM(pair_weight="ndcg")``
and of ``RankSVM()``, each in a process of its own for the memory: 36,000 x 46 in 1,000 queries, and
web-like 144,000 x 136 in 1,200.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.datasets.web_like import LABEL_SHARES, grades, make_web_like
from benchmarks.harness import in_fresh_process, machine_line, peak_memory, print_table
from benchmarks.memory import forget_peak
from ranksvm import RankSVM
from ranksvm.names import LOSSES

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def main() -> None:
    """Print a table over data and losses."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args()

    print(machine_line())
    rows = []
    for name in MAKERS:
        for loss in LOSSES:
            plain, rounds = (
                in_fresh_process(measure, name, loss, options)
                for options in ({}, {"pair_weight": "ndcg", "n_rounds": args.rounds})
            )
            ratio, more = rounds["seconds"] / plain["seconds"], rounds["bytes"] - plain["bytes"]
            rows.append((name, loss, plain["seconds"], rounds["seconds"], ratio, more))
    columns = ("data", "loss", "plain, s", f"{args.rounds} rounds, s", "ratio", "bytes a row more")
    print_table("CPU time of a fit on one thread", columns, rows)


def measure(name: str, loss: str, options: dict[str, Any]) -> dict[str, float]:
    """Return the CPU time of a fit, and the memory that it took at its peak."""
    X, y, qid = MAKERS[name]()
    model = RankSVM(loss=loss, n_threads=1, **options)
    some = qid < np.unique(qid)[30]
    model.fit(X[some], y[some], qid[some])  # what is loaded once is no part of it
    before, start = forget_peak(), time.process_time()
    model.fit(X, y, qid)
    return {
        "seconds": time.process_time() - start,
        "bytes": (peak_memory() - before) / len(y),
    }


def make_letor_like() -> Data:
    """Return noisy grades of documents in queries of equal length."""
    rng = np.random.default_rng(0)
    n, d = 36_000, 46
    X, qid = rng.standard_normal((n, d)), np.arange(n) // 36
    latent = X @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(n)
    return X, grades(latent, LABEL_SHARES), qid


MAKERS: dict[str, Callable[[], Data]] = {
    "36,000 x 46": make_letor_like,
    "web-like 144,000 x 136": make_web_like,
}


if __name__ == "__main__":
    main()
