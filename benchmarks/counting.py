"""
Cost of one iteration of cutting planes against the number of rows, for every way of counting pairs.

    python benchmarks/counting.py [--most-rows 512000] [--threads 1] [--plot FILE]

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

from datasets.text_like import make_text_like
from datasets.web_like import LABEL_SHARES
from harness import machine_line, medians, print_table
from ranksvm.design_matrix import DesignMatrix
from ranksvm.names import COUNTINGS
from ranksvm.pair_loss import Hinge

LEAST_ROWS = 1_000
FOR_SLOPE = 4  # the last sizes, a factor of eight
PASSES = "X @ w, X.T @ u"
COLORS = {
    PASSES: "#000000",
    "merge": "#0072b2",
    "tree": "#009e73",
    "joachims": "#d55e00",
    "levels": "#e69f00",
    "pairs": "#cc79a7",
}
MARKERS = {PASSES: "", "merge": "o", "tree": "s", "joachims": "^", "levels": "v", "pairs": "D"}


@dataclass(frozen=True)
class Curves:
    """Seconds of the parts of an iteration at growing numbers of rows, as far as followed."""

    title: str
    sizes: list[int]
    seconds: dict[str, list[float]]

    def slope(self, name: str) -> float | str:
        """Slope over the last sizes, both axes logarithmic; "" where there are too few."""
        seconds = self.seconds[name][-FOR_SLOPE:]
        if len(seconds) < 2:
            return ""
        sizes = self.sizes[: len(self.seconds[name])][-FOR_SLOPE:]
        return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def main() -> None:
    """Print a table for distinct labels and one for five levels; draw them if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--most-rows", type=int, default=512_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that a sweep may take")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE", help="write a picture of both")
    args = parser.parse_args()

    print(machine_line())
    X, y = make_text_like(args.most_rows)
    levels = np.searchsorted(np.quantile(y, np.cumsum(LABEL_SHARES)[:-1]), y).astype(np.float64)
    both = []
    with threadpool_limits(args.threads):
        for title, labels in {"distinct labels": y, "five levels": levels}.items():
            both.append(measure(title, X, labels, args.threads, args.limit, args.repeats))
            report(both[-1], args.threads)
    if args.plot:
        draw(both, args.threads, args.plot)


def measure(
    title: str, X: sparse.csr_matrix, y: np.ndarray, n_threads: int, limit: float, repeats: int
) -> Curves:
    """Double the rows, and drop each way of counting that would take too long."""
    n_sizes = int(np.log2(len(y) / LEAST_ROWS) + 1e-9) + 1
    curves = Curves(title, [LEAST_ROWS << k for k in range(n_sizes)], {PASSES: []})
    names = [name for name in COUNTINGS if name != "auto"]
    curves.seconds.update({name: [] for name in sorted(names, key=list(COLORS).index)})
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
    u = y - y.mean()
    calls = {PASSES: lambda: (matrix.dot(w, n_threads), matrix.t_dot(u, n_threads))}
    for name in countings:
        calls[name] = sweep(Hinge(y, counting=name, n_threads=n_threads), itertools.cycle(scores))
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


def report(curves: Curves, n_threads: int) -> None:
    """Print milliseconds, and how they grow."""
    by_size = itertools.zip_longest(*curves.seconds.values())
    rows: list[tuple[Any, ...]] = [
        (f"{size:,}", *("" if s is None else 1e3 * s for s in of_size))
        for size, of_size in zip(curves.sizes, by_size, strict=True)
    ]
    rows.append(("slope at the end", *(curves.slope(name) for name in curves.seconds)))
    title = f"milliseconds of a sweep and of the passes, {curves.title}, threads: {n_threads}"
    print_table(title, ("rows", *curves.seconds), rows)


def draw(both: list[Curves], n_threads: int, path: str) -> None:
    """Draw seconds against rows, both logarithmic, with guides of slope 1 and 2."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    all_axes = figure.subplots(1, len(both), sharex=True, sharey=True)
    for axes, curves in zip(all_axes, both, strict=True):
        for name, seconds in curves.seconds.items():
            axes.loglog(
                curves.sizes[: len(seconds)], seconds, color=COLORS[name], marker=MARKERS[name],
                markersize=4, linestyle="--" if name == PASSES else "-", label=name,
            )  # fmt: skip
        guide(axes, both[0].sizes, 1, 0.4 * both[0].seconds["merge"][0])
        guide(axes, both[0].sizes, 2, 3 * both[0].seconds["pairs"][0])
        axes.set_title(curves.title)
        axes.set_xlabel("rows")
        axes.grid(True, which="major", alpha=0.3)
    all_axes[0].set_ylabel("seconds")
    all_axes[0].set_ylim(top=2 * max(max(seconds) for seconds in both[0].seconds.values()))
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside right center")
    threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
    figure.suptitle(f"A sweep of the hinge loss, and the passes over text-like X, {threads}")
    figure.savefig(path, dpi=150)


def guide(axes: Any, sizes: list[int], slope: int, start: float) -> None:
    """Draw a thin line of this slope."""
    ends = np.array([sizes[0], sizes[-1]], dtype=np.float64)
    axes.loglog(ends, start * (ends / ends[0]) ** slope, color="0.5", linewidth=0.8, zorder=0)
    x = 4 * ends[0]
    axes.annotate(
        f"slope {slope}", (x, start * (x / ends[0]) ** slope), color="0.35", fontsize="small",
        xytext=(-4, 4) if slope == 2 else (4, -4), textcoords="offset points",
        ha="right" if slope == 2 else "left", va="bottom" if slope == 2 else "top",
    )  # fmt: skip


if __name__ == "__main__":
    main()
