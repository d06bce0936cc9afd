"""
Fig. 1 of Airola, Pahikkala and Salakoski (2011): cost, runtime and test error against rows.

    python -m benchmarks.airola_fig1 [--rows 128000] [--limit 20]

Text-like rows with the shape of RCV1 and a real-valued label each, in one ranking: 1,000 rows,
2,000 and so on, as far as asked for; theirs end at 512,000. The objective is theirs, ``(1/N) sum
over the N pairs of the losses + lambda |w|^2`` with lambda = 1e-5, and so are the rules that stop
the systems: a gap of 1e-3 for the hinge, Newton's decrement for PRSVM. A system that runs out of
time is not tried on more rows.
"""

from __future__ import annotations

import argparse
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

import numpy as np

from benchmarks.datasets.text_like import make_text_like
from benchmarks.race import FINISHED, OUT_OF_TIME, race
from benchmarks.report import Page, new_figure, slope, styles
from benchmarks.scaling import draw_guide, logarithmic_rows, slope_legend
from benchmarks.systems import registry
from benchmarks.task import Judge, Rows, Task

LEAST_ROWS = 1_000
TEST_ROWS = 20_000
REGULARIZATION = 1e-5
GAP = 1e-3  # of the objective as they scale it
JUDGE_TOL = 3e-4  # relative; the gap is ten times that
FOR_SLOPE = 3  # the last sizes, a factor of four
HINGE, SQUARED = "hinge", "squared_hinge"
# Name on the page: name of the system, and what it minimises.
CONTESTANTS = {
    "PairRSVM": ("PairRSVM", HINGE),
    "SVM^rank-style": ("SVM^rank-style", HINGE),
    "TreeRSVM": ("TreeRSVM", HINGE),
    "PRSVM": ("PRSVM", SQUARED),
    "ranksvm, hinge": ("ranksvm", HINGE),
    "ranksvm, squared hinge": ("ranksvm", SQUARED),
}
BY_PLANES = ("PairRSVM", "SVM^rank-style", "TreeRSVM", "ranksvm, hinge")
MEASURES = {
    "Seconds of training": "seconds",
    "Iterations": "iterations",
    "Seconds of an iteration": "seconds_per_iteration",
    "Error on test pairs": "error",
    "Distance to the optimum": "distance",
    "Peak memory in megabytes": "megabytes",
}
INTRODUCTION = f"""
One thread each, every fit in a process of its own. The objective is `(1/N) sum over the N pairs of
the losses + lambda |w|^2` with lambda = {REGULARIZATION:g}. The rankers of the hinge loss stop at a
gap of {GAP:g}, those of the squared hinge loss at the same gap, except for PRSVM, which has its own
rule. The column *distance* is what the judge finds: how far above the certified optimum the
weights are, in the scale of the gap. Errors are shares of the pairs of {TEST_ROWS:,} other rows
that are in the wrong order."""
PUBLISHED = """
## As published

With 512,000 rows of RCV1, on one core of 2.4 GHz: TreeRSVM 18 minutes, SVM^rank 83 hours, PairRSVM
122 hours. PRSVM did not go beyond 8,000 rows, for the memory of its pairs. The test errors of all
four are similar and fall with the number of rows; TreeRSVM and PairRSVM find the same solution."""


@dataclass(frozen=True)
class Run:
    """What a contestant did with so many rows."""

    rows: int
    contestant: str
    status: str
    why: str
    seconds: float
    iterations: int
    seconds_per_iteration: float
    megabytes: float
    error: float
    distance: float

    @property
    def finished(self) -> bool:
        """Whether it came to its own end."""
        return self.status == FINISHED


def main() -> None:
    """Race, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, default=128_000, help="the most")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that a fit may take")
    args = parser.parse_args()

    page = Page("fig1", "Fig. 1 of Airola et al. (2011)")
    page.text(INTRODUCTION)
    runs = compare(args.rows, args.limit)
    page.figure("fig1", draw(runs), caption(args.limit))
    report(page, runs)
    page.text(PUBLISHED)
    page.write()


def compare(most_rows: int, limit: float) -> list[Run]:
    """Double the rows, and drop each contestant once it does not come to its end."""
    X, y = make_text_like(most_rows + TEST_ROWS)
    test = Rows(X[:TEST_ROWS], y[:TEST_ROWS])
    runs: list[Run] = []
    names = list(CONTESTANTS)
    rows = LEAST_ROWS
    while rows <= most_rows and names:
        part = slice(TEST_ROWS, TEST_ROWS + rows)
        latest = race_all(names, Rows(X[part], y[part]), test, limit)
        names = [run.contestant for run in latest if run.finished]
        runs += latest
        rows *= 2
    return runs


def race_all(names: list[str], train: Rows, test: Rows, limit: float) -> list[Run]:
    """Let contestants train on the same rows, one after the other."""
    judges: dict[str, Judge] = {}
    runs = []
    for name in names:
        system, loss = CONTESTANTS[name]
        if loss not in judges:
            judges[loss] = make_judge(train, test, loss)
        runs.append(race_one(name, system, judges[loss], limit))
    return runs


def make_judge(train: Rows, test: Rows, loss: str) -> Judge:
    """Find the optimum, and with it what the absolute gap is relatively."""
    name = f"text-like, {len(train.y):,} rows"
    task = Task.from_rows(name, train, loss, C=1 / (2 * REGULARIZATION), test=test)
    judge = Judge(task, JUDGE_TOL)
    judge.task = replace(task, goal=GAP / scaled(judge.optimum))
    return judge


def scaled(value: float) -> float:
    """Turn a difference of the library's objective into one of theirs."""
    return 2 * REGULARIZATION * value


def race_one(name: str, system: str, judge: Judge, limit: float) -> Run:
    """Train, and judge the last weights."""
    outcome = race(registry()[system], judge.task, limit)
    error = distance = per_iteration = float("nan")
    seconds, iterations, weights = outcome.trace[-1] if outcome.trace else (0.0, 0, None)
    if iterations:
        verdict = judge.verdict(weights)
        error = 1 - verdict.pairwise_accuracy
        distance = scaled(judge.optimum) * verdict.distance
        per_iteration = seconds / iterations
    rows, status = len(judge.task.y), outcome.status
    print(f"{rows:,} rows, {name}: {outcome.seconds:.3g} s, {status} {outcome.why}", flush=True)
    return Run(
        rows, name, status, outcome.why, outcome.seconds, iterations, per_iteration,
        outcome.memory / 1e6 or float("nan"), error, distance,
    )  # fmt: skip


def report(page: Page, runs: list[Run]) -> None:
    """Write the tables: slopes, seconds, everything."""
    slopes = [
        (name, slope_of(runs, name, "seconds_per_iteration"), slope_of(runs, name, "seconds"))
        for name in CONTESTANTS
    ]
    columns = ("", "seconds per iteration", "seconds of training")
    page.table(f"Slopes over the last {FOR_SLOPE} sizes, log-log", columns, slopes, "slopes")
    sizes = sorted({run.rows for run in runs})
    found = {(run.contestant, run.rows): run for run in runs}
    for title, key in MEASURES.items():
        rows = [
            (name, *(cell(found.get((name, size)), key) for size in sizes)) for name in CONTESTANTS
        ]
        page.table(title, ("", *(f"{size:,}" for size in sizes)), rows)
    columns = tuple(field.name for field in fields(Run))
    page.csv("fig1", columns, [astuple(run) for run in runs])


def slope_of(runs: list[Run], name: str, key: str) -> float:
    """Slope of a measure; iterations cost the same whether there was time for the last or not."""
    runs = [run for run in runs if run.contestant == name]
    known = [run for run in runs if run.finished or key == "seconds_per_iteration"]
    return slope([run.rows for run in known], [getattr(run, key) for run in known], FOR_SLOPE)


def cell(run: Run | None, key: str) -> float | int | str | None:
    """Show a measure; a word where there is none."""
    if run is None:
        return None
    if run.finished or key != "seconds":
        return getattr(run, key)
    return f"> {run.seconds:g}" if run.status == OUT_OF_TIME else f"{run.status}: {run.why}"


def draw(runs: list[Run]) -> Any:
    """Draw the three panels."""
    figure, axes = new_figure(1, 3, (10, 5))
    panels = {
        "seconds_per_iteration": ("Seconds of an iteration", BY_PLANES),
        "seconds": ("Seconds of training", tuple(CONTESTANTS)),
        "error": ("Error on test pairs", tuple(CONTESTANTS)),
    }
    style = styles(CONTESTANTS)
    sizes = sorted({run.rows for run in runs})
    for ax, (key, (title, names)) in zip(axes.flat, panels.items(), strict=True):
        for name in names:
            draw_runs(ax, [run for run in runs if run.contestant == name], key, style[name])
        ax.set_title(title)
        logarithmic_rows(ax, sizes)
        if key == "error":
            ax.set_ylim(bottom=0)
        else:
            ax.set_yscale("log")
            draw_guides(ax, [run for run in runs if run.contestant in names], key)
            slope_legend(ax, {name: slope_of(runs, name, key) for name in names})
    return figure


def draw_runs(axes: Any, runs: list[Run], key: str, style: dict[str, Any]) -> None:
    """Draw one curve; hollow where the contestant was stopped, which is no matter of errors."""
    shown = [run for run in runs if run.finished or (key != "error" and run.status == OUT_OF_TIME)]
    shown = [run for run in shown if np.isfinite(getattr(run, key))]
    values = [getattr(run, key) for run in shown]
    axes.plot([run.rows for run in shown], values, **style)
    for run, value in zip(shown, values, strict=True):
        if not run.finished:
            axes.plot(
                run.rows, value, marker=style["marker"], markersize=9,
                markerfacecolor="white", markeredgecolor=style["color"], linestyle="",
            )  # fmt: skip


def draw_guides(axes: Any, runs: list[Run], key: str) -> None:
    """Draw lines of slope 1 and 2, below and above the curves."""
    sizes = sorted({run.rows for run in runs})
    first = [getattr(run, key) for run in runs if run.rows == sizes[0]]
    limits = axes.get_ylim()
    draw_guide(axes, sizes, 1, 0.5 * min(first))
    draw_guide(axes, sizes, 2, 1.6 * max(first))
    axes.set_ylim(0.4 * min(first), limits[1])


def caption(limit: float) -> str:
    """Say what the figure shows."""
    return (
        "Mean cost of an iteration of the cutting-plane methods, time of training, and share of "
        "test pairs in the wrong order, against rows of text-like data, lambda = 1e-5, one thread. "
        f"Hollow: stopped after {limit:g} seconds. Numbers after the names are log-log slopes over "
        f"the last {FOR_SLOPE} sizes."
    )


if __name__ == "__main__":
    main()
