"""
Cost of one iteration of cutting planes against the number of rows, for every way of counting pairs.

    python -m benchmarks.counting [--rows 512000] [--threads 1]

An iteration is a sweep of the hinge loss over the scores, and ``X @ w`` and ``X.T @ u`` for sparse,
text-like X. From sweep to sweep the scores change by one per cent of their spread, as they do from
step to step of a solver. A way of counting is followed until a sweep takes longer than a limit.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import LABEL_SHARES
from benchmarks.harness import medians
from benchmarks.report import Page, new_figure, slope, styles
from benchmarks.scaling import draw_guide, logarithmic_rows, slope_legend
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.names import COUNTINGS
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge
from ranksvm.pairs.preferences import Preferences

LEAST_ROWS = 1_000
PASSES = "X @ w, X.T @ u"


@dataclass(frozen=True)
class Curves:
    """Seconds of the parts of an iteration at growing numbers of rows, as far as followed."""

    title: str
    sizes: list[int]
    seconds: dict[str, list[float]]

    @property
    def slopes(self) -> dict[str, float]:
        """Slope over the last sizes, both axes logarithmic, by name."""
        return {name: slope(self.sizes, values) for name, values in self.seconds.items()}


def main() -> None:
    """Write a page with a table for distinct labels and one for five levels, and a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=512_000, help="the most")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that a sweep may take")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    page = Page("counting", "Ways of counting pairs")
    X, y = make_text_like(args.rows)
    levels = np.searchsorted(np.quantile(y, np.cumsum(LABEL_SHARES)[:-1]), y).astype(np.float64)
    with threadpool_limits(args.threads):
        both = [
            measure(title, X, labels, args.threads, args.limit, args.repeats)
            for title, labels in {"distinct labels": y, "five levels": levels}.items()
        ]
    threads = "one thread" if args.threads == 1 else f"{args.threads} threads"
    caption = (
        f"A sweep of the hinge loss by each way of counting, and the passes over text-like X, "
        f"{threads}. Numbers after the names are log-log slopes over the last four sizes."
    )
    page.figure("counting", draw(both), caption)
    for curves in both:
        report(page, curves)
    page.write()


def measure(
    title: str, X: sparse.csr_matrix, y: np.ndarray, n_threads: int, limit: float, repeats: int
) -> Curves:
    """Double the rows, and drop each way of counting that would take too long."""
    n_sizes = int(np.log2(len(y) / LEAST_ROWS) + 1e-9) + 1
    curves = Curves(title, [LEAST_ROWS << k for k in range(n_sizes)], {PASSES: []})
    names = [name for name in COUNTINGS if name != "auto"]
    curves.seconds.update({name: [] for name in names})
    for rows in curves.sizes:
        names = [name for name in names if expected(curves.seconds[name]) <= limit]
        calls = parts_of_iteration(X[:rows], y[:rows], names, n_threads)
        for name, seconds in medians(calls, repeats).items():
            curves.seconds[name].append(seconds)
    return curves


def expected(seconds: list[float]) -> float:
    """Extrapolate to twice the rows."""
    if len(seconds) < 2:
        return 0.0
    return seconds[-1] * float(np.clip(seconds[-1] / seconds[-2], 2, 4))


def parts_of_iteration(
    X: sparse.csr_matrix, y: np.ndarray, countings: list[str], n_threads: int
) -> dict[str, Callable[[], Any]]:
    """Make a call for the passes over X, and one for a sweep by each way of counting."""
    matrix = DesignMatrix.from_array(X)
    w, scores = slightly_changing(matrix, y, n_threads)
    u, preferences = y - y.mean(), Preferences.from_labels(y)
    calls = {PASSES: lambda: (matrix.dot(w, n_threads), matrix.t_dot(u, n_threads))}
    for name in countings:
        calls[name] = sweep(Hinge(CorePairs(preferences, name, n_threads)), itertools.cycle(scores))
    return calls


def slightly_changing(
    X: DesignMatrix, y: np.ndarray, n_threads: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights that rank rather well, and scores close to theirs; one margin is their spread."""
    w = X.t_dot(y - y.mean(), n_threads)
    scores = X.dot(w, n_threads)
    spread = np.std(scores)
    rng = np.random.default_rng(0)
    changes = 0.01 * rng.standard_normal((5, len(y)))
    return w / spread, [scores / spread + change for change in changes]


def sweep(loss: Hinge, scores: Iterator[np.ndarray]) -> Callable[[], Any]:
    """Call that evaluates the loss at the next scores; the first have been seen before."""
    loss.evaluate(next(scores))

    def call() -> tuple[float, np.ndarray]:
        evaluation = loss.evaluate(next(scores))
        return evaluation.value, evaluation.gradient

    return call


def report(page: Page, curves: Curves) -> None:
    """Add the table of milliseconds, and how they grow."""
    by_size = itertools.zip_longest(*curves.seconds.values())
    rows: list[tuple[Any, ...]] = [
        (f"{size:,}", *(None if s is None else 1e3 * s for s in of_size))
        for size, of_size in zip(curves.sizes, by_size, strict=True)
    ]
    rows.append(("slope at the end", *curves.slopes.values()))
    title = f"Milliseconds of a sweep and of the passes, {curves.title}"
    page.table(title, ("rows", *curves.seconds), rows, curves.title.replace(" ", "_"))


def draw(both: list[Curves]) -> Any:
    """Draw seconds against rows, both logarithmic, with guides of slope 1 and 2."""
    figure, all_axes = new_figure(1, len(both), (10, 5.4), sharey=True)
    for axes, curves in zip(all_axes.flat, both, strict=True):
        for name, style in styles(curves.seconds).items():
            seconds = curves.seconds[name]
            axes.plot(curves.sizes[: len(seconds)], seconds, **style)
        logarithmic_rows(axes, curves.sizes)
        axes.set_yscale("log")
        draw_guide(axes, both[0].sizes, 1, 0.4 * both[0].seconds["merge"][0])
        draw_guide(axes, both[0].sizes, 2, 3 * both[0].seconds["pairs"][0])
        axes.set_title(curves.title)
        slope_legend(axes, curves.slopes, 3)
    all_axes.flat[0].set_ylabel("seconds")
    all_axes.flat[0].set_ylim(top=2 * max(max(seconds) for seconds in both[0].seconds.values()))
    return figure


if __name__ == "__main__":
    main()
