"""
Time of sweeps on arrays of other libraries, beside the compiled core.

    python -m benchmarks.array_sweep [--device torch:cpu] [--rows 100000 1000000]

An evaluation is value and gradient of the squared hinge, with all that products need; a product is
one of its Hessian with a vector. Scores and vectors are on the device, and stay there. The errors
are those of gradient and product relative to the core's, in the size of the largest entry.
"""

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.pairs import ArrayPairs
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

KINDS = {"5 levels": (5, 1), "5 levels, queries of 100": (5, 100), "distinct labels": (None, 1)}


def main() -> None:
    """Print a table over numbers of rows, levels and queries."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--device", default="numpy:cpu", help="such as torch:cpu or torch:cuda")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    print(machine_line())
    device = ArrayDevice.named(args.device)
    rows = [
        (n, kind, *compare(device, n, *KINDS[kind], args.repeats))
        for n, kind in itertools.product(args.rows, KINDS)
    ]
    times = [f"{what}, {where}" for what in ("evaluation", "product") for where in ("core", "here")]
    columns = ("rows", "labels", *times, "gradient's error", "product's error")
    print_table(f"ns per document; core: {THREADS[0]} threads, here: {args.device}", columns, rows)


def compare(
    device: ArrayDevice, n: int, n_levels: int | None, query_size: int, repeats: int
) -> list[float]:
    """Nanoseconds per document of an evaluation and a product, on both paths; errors."""
    rng = np.random.default_rng(0)
    y = rng.permutation(n) if n_levels is None else rng.integers(0, n_levels, n)
    qid = np.arange(n) // query_size if query_size > 1 else None
    scores, v = 2 * rng.standard_normal(n), rng.standard_normal(n)
    preferences = Preferences.from_labels(y, qid)
    core = SquaredHinge(CorePairs(preferences, n_threads=THREADS[0]))
    here = SquaredHinge(ArrayPairs(preferences, device))
    there = device.asarray(scores), device.asarray(v)
    evaluations = core.evaluate(scores), here.evaluate(there[0])
    products = evaluations[0].hessian_product(v), evaluations[1].hessian_product(there[1])
    gradients = [evaluation.gradient for evaluation in evaluations]
    seconds = medians(
        {
            "core": lambda: core.evaluate(scores),
            "here": lambda: here.evaluate(there[0]),
            "core's product": lambda: evaluations[0].hessian_product(v),
            "product here": finished(device, lambda: evaluations[1].hessian_product(there[1])),
        },
        repeats,
    )
    return [*(1e9 * s / n for s in seconds.values()), error(*gradients), error(*products)]


def finished(device: ArrayDevice, call: Callable[[], Any]) -> Callable[[], Any]:
    """Call that ends when the device has done its work."""
    return lambda: device.to_host(call()[:1])


def error(core: np.ndarray, here: Any) -> float:
    """Largest difference, in the size of the largest entry."""
    return float(np.abs(ArrayDevice.to_host(here) - core).max() / np.abs(core).max())


if __name__ == "__main__":
    main()
