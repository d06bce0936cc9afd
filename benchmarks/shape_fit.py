"""
One fit of one shape of data by the ranksvm that is installed, as JSON: what `shapes.py` compares.

    python -m benchmarks.shape_fit SHAPE [--threads 1] [--limit 60]

The shapes are those on which trainers used to be slow, or to fail: few rows of many features, text
of a huge vocabulary, short queries, one ranking of millions, a huge index. A fit is quiet, takes no
more memory than `MEMORY`, and ends, unfinished, after so many seconds of the processor.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import ranksvm
from benchmarks.datasets.real import find_real
from benchmarks.datasets.small import make_small
from benchmarks.datasets.solver_shapes import GENERATED, Data

MEMORY = 15 << 30  # bytes
ABSENT, UNFINISHED, TOO_LARGE = "no such data here", "not finished", "out of memory"


@dataclass(frozen=True)
class Shape:
    """Data, and a model to be fitted to them."""

    make: Callable[[], Data | None]
    settings: dict[str, Any] = field(default_factory=dict)
    estimator: str = "RankSVM"


def real(name: str) -> Data | None:
    """Read real data, where they are."""
    path = find_real(name)
    return None if path is None else Data(*ranksvm.load_svmlight(path))


def huge_index(largest: int) -> Data:
    """Make twenty rows of two features, of which one has a huge index."""
    rng = np.random.default_rng(0)
    indices = np.tile(np.array([0, largest - 1], np.int64), 20)
    X = sparse.csr_array((rng.standard_normal(40), indices, np.arange(0, 41, 2)), (20, largest))
    return Data(X, rng.integers(0, 3, 20).astype(float), None)


def kernel_rows(rows: int = 10_000) -> Data:
    """Make rows whose scores are a smooth function of ten features."""
    X, y, qid = make_small(rows=rows, queries=rows // 20)
    return Data(X[:, :10], y, qid)


def shapes() -> dict[str, Shape]:
    """Name each shape with what is asked for."""
    hinge, exact, raw = {"loss": "hinge"}, {"tol": 1e-6}, {"normalize": None}
    rcv1 = partial(real, "rcv1-vw-small.train")
    letor = partial(real, "lightgbm-lambdarank.train")
    few = {name: Shape(GENERATED[name]) for name in GENERATED if name.startswith("few-rows")}
    wide, short = GENERATED["wide-text-8000x120000"], GENERATED["short-queries-50000x280"]
    two, five = GENERATED["one-ranking-2000000x10"], GENERATED["one-ranking-5000000x10"]
    web, text = GENERATED["web-like-144000x136"], GENERATED["text-like-64000x47236"]
    return {
        **few,
        "rcv1, hinge, C = 1000": Shape(rcv1, {**hinge, "C": 1e3}),
        "rcv1, hinge, 1e-6": Shape(rcv1, {**hinge, **exact}),
        "wide text, C = 1000": Shape(wide, {"C": 1e3}),
        "wide text, hinge": Shape(wide, hinge),
        "wide text, hinge, 1e-6": Shape(wide, {**hinge, **exact}),
        "short queries": Shape(short, raw),
        "short queries, 1e-6": Shape(short, {**raw, **exact}),
        "short queries, hinge, 1e-6": Shape(short, {**raw, **hinge, **exact}),
        "one ranking of 2 million": Shape(two),
        "one ranking of 2 million, hinge": Shape(two, hinge),
        "one ranking of 5 million": Shape(five),
        "one ranking of 5 million, hinge": Shape(five, hinge),
        "web-like, 1e-6": Shape(web, {**raw, **exact}),
        "text-like, C = 1": Shape(text),
        "text-like, C = 10": Shape(text, {"C": 10.0}),
        "text-like, C = 100": Shape(text, {"C": 100.0}),
        "text-like, hinge": Shape(text, hinge),
        "an index of 50,000,000": Shape(partial(huge_index, 50_000_000)),
        "an index of 2,000,000,000": Shape(partial(huge_index, 2_000_000_000)),
        "lambdarank, hinge, 1e-6": Shape(letor, {**hinge, **exact}),
        "lambdarank, hinge, C = 1000, 1e-6": Shape(letor, {**hinge, **exact, "C": 1e3}),
        "rbf kernel, 10,000 rows": Shape(kernel_rows, {"kernel": "rbf"}, "KernelRankSVM"),
    }


def main() -> None:
    """Fit, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("shape", choices=shapes(), metavar="SHAPE")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0)
    args = parser.parse_args()
    result = measure(shapes()[args.shape], args.threads, args.limit)
    print(json.dumps({"package": str(Path(ranksvm.__file__).parent), **result}))


class Unfinished(BaseException):
    """The time is over; no library catches this."""


def measure(shape: Shape, n_threads: int, limit: float) -> dict[str, Any]:
    """Return seconds and gap of a fit, or why there are none."""
    data = shape.make()
    if data is None:
        return {"why": ABSENT}
    model = getattr(ranksvm, shape.estimator)(**shape.settings, n_threads=n_threads)
    signal.signal(signal.SIGVTALRM, _end)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with threadpool_limits(n_threads), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        # Work that does not come back to Python is ended by the system.
        hard = math.ceil(2 * limit + time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)
        begun, begun_cpu = time.perf_counter(), time.process_time()
        try:
            model.fit(*data)
        except Unfinished:
            return {"why": UNFINISHED}
        except MemoryError:
            return {"why": TOO_LARGE}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - begun_cpu
    missed = any(issubclass(w.category, ranksvm.ConvergenceWarning) for w in said)
    gap = float(model.dual_gap_)
    return {"seconds": seconds, "cpu": cpu, "gap": gap, "why": "not converged" if missed else ""}


def _end(*_: Any) -> None:
    raise Unfinished


if __name__ == "__main__":
    main()
