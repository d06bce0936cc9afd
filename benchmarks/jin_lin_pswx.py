"""
DCM, OST and P-SWX: Tables 2 and 3 and Figure 1 of Jin and Lin (2014), redrawn.

    python -m benchmarks.jin_lin_pswx [--scale 1] [--letor FOLDER] [--command NAME=COMMAND]

Training times and pairwise accuracy on data made with the shapes of their Table 1, C = 1 for each
pair, beside what they published. By default the large sets have a few per cent of their queries;
``--scale 1`` makes them whole. A LETOR collection takes part where ``--letor`` or RANKSVM_LETOR
names its folder. Systems of other packages, and what ``--command`` adds, have one thread.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.datasets.letor_folders import letor_folder, load_letor
from benchmarks.datasets.letor_shapes import SHAPES, make_letor_like
from benchmarks.lee_lin_convergence import stopping_point
from benchmarks.race import FINISHED, OUT_OF_TIME, Curve, race
from benchmarks.report import Page, draw_curve, new_figure, styles
from benchmarks.systems import System, registry
from benchmarks.systems.command import Command
from benchmarks.task import Judge, Rows, Task

SCALES = {"MQ2007-list": 0.1, "MQ2008-list": 0.1, "MSLR-WEB10K": 0.05, "MSLR-WEB30K": 0.02}
ENTRIES = (*((name, n) for n in (1, 2) for name in ("DCM", "OST", "ranksvm")), ("P-SWX", 1))
PEERS = ("XGBoost", "LightGBM", "LinearSVC on pairs")
DRAWN = ("DCM", "OST", "P-SWX", "ranksvm", "LinearSVC on pairs")
NEAR, EXACT = 1e-3, 1e-6
GRADIENT = 1e-5  # their stopping rule, as a share of the norm of the gradient at zero
JUDGE_LIMIT = 60.0
# Their Tables 2 and 3: seconds, and percentages of pairs, of DCM, OST and P-SWX.
PUBLISHED_SYSTEMS = ("DCM", "OST", "P-SWX")
PUBLISHED_SECONDS = {
    "MQ2007-list": (380.51, 203.02, 22.46),
    "MQ2008-list": (493.12, 276.46, 37.17),
    "MSLR-WEB10K": (2791.22, 2481.35, 276.11),
    "MSLR-WEB30K": (19449.65, 17019.16, 939.38),
    "MQ2007": (12.67, 10.18, 5.90),
    "MQ2008": (0.67, 0.48, 1.37),
}
PUBLISHED_ACCURACY = {
    "MQ2007-list": (81.11, 81.11, 81.11),
    "MQ2008-list": (82.11, 82.11, 80.72),
    "MSLR-WEB10K": (61.25, 61.04, 60.43),
    "MSLR-WEB30K": (60.96, 60.79, 60.45),
    "MQ2007": (70.59, 70.59, 70.60),
    "MQ2008": (80.24, 80.24, 80.24),
}
ABOUT = """
The data are made: rows, features, levels, queries and the largest query are those of the paper's
Table 1, or that share of the queries which the second table says, and how noisy the labels are was
chosen so that accuracy comes near to the paper's. So no agreement with its accuracy is a finding;
that systems agree with each other is. MQ sets have features that span [0, 1] in each query,
MSLR-WEB features of very different scales, as published.

Seconds are those until the objective was within a thousandth, or a millionth, of its certified
optimum: the paper's own stopping rule, a gradient of 1e-5 of that at zero, says little where
features have different scales, and is a table of its own. Published seconds are of processors and a
graphics card of 2010, and are multiplied by the share of the queries; published speed-ups are their
quotients, which for MQ2008-list is not what the paper prints, 11.81 over DCM. DCM and OST are
methods here, not the published programs: Newton steps in a trust region, which are preconditioned,
and two ways to count.
"""


class Result(NamedTuple):
    """
    What became of all systems on one data set.

    Attributes
    ----------
    name : str
    share : float
        Of the queries of the published set.
    size : tuple
        Rows, features, queries, rows of the largest query, pairs.
    gap : float
        How exactly the optimum is known.
    curves : dict of Curve
        By system and threads.
    stops : dict of float
        Seconds until the stopping rule of the paper would have held.
    """

    name: str
    share: float
    size: tuple[int, ...]
    gap: float
    curves: dict[str, Curve]
    stops: dict[str, float]


def main() -> None:
    """Race on every data set; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--scale", type=float, help="share of the queries, for all sets")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that a run may take")
    parser.add_argument("--only", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--letor", type=Path, default=letor_folder(), help="folder of a collection")
    parser.add_argument("--command", action="append", type=command, default=[])
    args = parser.parse_args()

    page = Page("pswx", "DCM, OST and P-SWX (Jin and Lin, Tables 2 and 3)")
    page.text(ABOUT)
    results = []
    for name, share, train, test in data_sets(args.only, args.scale, args.letor):
        results.append(race_all(name, share, train, test, args.limit, args.command))
        page.csv(f"curves-{name}", POINT_COLUMNS, points(results[-1].curves))
    write(page, results)


def command(text: str) -> Command:
    """Read a command, or tell argparse why it is none."""
    try:
        return Command.from_text(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def data_sets(
    names: list[str], scale: float | None, letor: Path | None
) -> Iterator[tuple[str, float, Rows, Rows]]:
    """Make one data set after the other: name, share of the queries, training and test rows."""
    for name in names:
        share = SCALES.get(name, 1.0) if scale is None else scale
        yield name, share, *make_letor_like(name, share)
    if letor is not None:
        fold = load_letor(letor)
        yield letor.resolve().name, 1.0, fold.train, fold.test


def race_all(
    name: str, share: float, train: Rows, test: Rows, limit: float, commands: list[Command]
) -> Result:
    """Race all systems on one data set."""
    options: dict[str, Any] = {
        "normalize": None,
        "test": test,
        "n_threads": max(n for _, n in ENTRIES),
    }
    task = Task.from_rows(name, train, "squared_hinge", 1.0, **options)
    judge = Judge(task, limit=max(limit, JUDGE_LIMIT))
    curves, stops = {}, {}
    for label, system, n_threads in contestants(commands):
        curve = race(system, replace(task, n_threads=n_threads), limit).judged(judge)
        curves[label] = curve
        if system.name in ("DCM", "OST", "P-SWX"):
            stops[label] = seconds_to_stop(judge, curve)
        print(f"{name}, {label}: {curve.outcome.status}, {curve.outcome.seconds:.2f} s", flush=True)
    sizes = np.diff(task.preferences.groups.indptr)
    size = (*train.X.shape, len(sizes), int(sizes.max()), task.n_pairs)
    return Result(name, share, size, judge.gap, curves, stops)


def contestants(commands: list[Command]) -> Iterator[tuple[str, System, int]]:
    """Name what takes part: its label, the system, its threads."""
    systems = registry()
    for name, n_threads in ENTRIES:
        yield labelled(name, n_threads), systems[name], n_threads
    for system in (*(systems[name] for name in PEERS), *commands):
        yield system.name, system, 1


def labelled(name: str, n_threads: int) -> str:
    """Put the threads behind the name, where there are several."""
    return name if n_threads == 1 else f"{name}, {n_threads} threads"


def seconds_to_stop(judge: Judge, curve: Curve) -> float:
    """Seconds until the gradient was as small as the paper asks; NaN if it never was."""
    stop = stopping_point(judge, [point.weights for point in curve.outcome.trace], GRADIENT)
    return float("nan") if stop is None else float(curve.seconds[stop])


def shown(curve: Curve, distance: float) -> Any:
    """Show the seconds to a distance, or how it ended."""
    seconds, outcome = curve.seconds_to(distance), curve.outcome
    if not np.isnan(seconds):
        return seconds
    return ended(curve) if outcome.status != FINISHED or not outcome.linear else "never"


def ended(curve: Curve) -> Any:
    """Show the seconds of the whole run, or why there are none."""
    outcome = curve.outcome
    if outcome.status == FINISHED:
        return outcome.seconds
    return f"> {outcome.seconds:g}" if outcome.status == OUT_OF_TIME else outcome.why


POINT_COLUMNS = ("system", "seconds", "iteration", "distance", "pairwise accuracy")


def points(curves: dict[str, Curve]) -> Iterator[tuple[Any, ...]]:
    """List the points of all curves."""
    for name, curve in curves.items():
        columns = (curve.seconds, curve.iterations, curve.distance, curve.pairwise_accuracy)
        for point in zip(*(column.tolist() for column in columns), strict=True):
            yield name, *point


def write(page: Page, results: list[Result]) -> None:
    """Write tables, what they say, and the figure."""
    names = [result.name for result in results]
    sizes = ("rows", "features", "queries", "largest query", "pairs")
    rows = [(r.name, f"{r.share:.2g}", *map("{:,}".format, r.size), r.gap) for r in results]
    page.table("Data", ("", "share", *sizes, "gap of the optimum"), rows, file="data")
    for distance, file in ((NEAR, "near"), (EXACT, "exact")):
        columns = [[shown(curve, distance) for curve in r.curves.values()] for r in results]
        title = f"Seconds to {distance:g} from the optimum (their Table 2)"
        page.table(title, ("", *names), [*table(results, columns), *published(results)], file)
    page.table(f"Speed-ups to {NEAR:g}, and theirs", ("", *names), speed_ups(results), "speed-ups")
    rows = [(name, *(r.stops[name] for r in results)) for name in results[0].stops]
    title = "Seconds to their stopping rule; empty if it did not come to hold"
    page.table(title, ("", *names), [*rows, *published(results)], "stops")
    columns = [[two_digits(accuracy(curve)) for curve in r.curves.values()] for r in results]
    theirs = [
        (
            f"{name}, published",
            *(two_digits(PUBLISHED_ACCURACY.get(r.name, [np.nan] * 3)[k]) for r in results),
        )
        for k, name in enumerate(PUBLISHED_SYSTEMS)
    ]
    title = "Pairwise accuracy on test rows, per cent (their Table 3)"
    page.table(title, ("", *names), [*table(results, columns), *theirs], "accuracy")
    page.text("## Do the claims hold?\n\n" + "\n".join(f"- {claim}" for claim in claims(results)))
    page.figure("pswx", draw(results), "Distance from the optimum against seconds (their Figure 1)")
    page.write()


def table(results: list[Result], columns: list[list[Any]]) -> list[tuple[Any, ...]]:
    """Turn the columns of all data sets into rows of all systems."""
    return list(zip(results[0].curves, *columns, strict=True))


def published(results: list[Result]) -> list[tuple[Any, ...]]:
    """List published seconds, times the share of the queries."""
    return [
        (
            f"{name}, published x share",
            *(
                r.share * PUBLISHED_SECONDS[r.name][k] if r.name in PUBLISHED_SECONDS else None
                for r in results
            ),
        )
        for k, name in enumerate(PUBLISHED_SYSTEMS)
    ]


def speed_ups(results: list[Result]) -> list[tuple[Any, ...]]:
    """List how many times as fast the second system is, here on one thread and published."""
    rows = []
    for slow, fast in (("DCM", "OST"), ("DCM", "P-SWX"), ("OST", "P-SWX")):
        here = ratios(results, slow, fast)
        i, j = PUBLISHED_SYSTEMS.index(slow), PUBLISHED_SYSTEMS.index(fast)
        theirs = {name: seconds[i] / seconds[j] for name, seconds in PUBLISHED_SECONDS.items()}
        for label, found in (("", here), (", published", theirs)):
            rows.append((f"{fast} over {slow}{label}", *(found.get(r.name) for r in results)))
    ours = ratios(results, "OST", "ranksvm")
    return [*rows, ("ranksvm over OST", *(ours.get(r.name) for r in results))]


def accuracy(curve: Curve) -> float:
    """Per cent of the pairs that the last weights order rightly; NaN if there are none."""
    return 100 * float(curve.pairwise_accuracy[-1]) if len(curve.pairwise_accuracy) else np.nan


def two_digits(value: float) -> str:
    """Show two digits after the point, or nothing."""
    return "" if np.isnan(value) else f"{value:.2f}"


def claims(results: list[Result]) -> list[str]:
    """Hold the claims of the paper against what was measured, on one thread."""
    trees, ours = ratios(results, "DCM", "OST"), ratios(results, "OST", "ranksvm")
    ahead = [name for name, value in trees.items() if value > 1]
    behind = [name for name, value in ours.items() if value < 1]
    return [
        f"OST is faster than DCM: on {len(ahead)} of the {len(trees)} sets on which both came to "
        f"{NEAR:g} ({listed(trees)}). In theory the tree pays where a query has many levels, which "
        "is the lists alone; with a handful, both wait for the passes over X.",
        claim_of_gpu(results),
        f"All come to the same accuracy: {claim_of_accuracy(results)}",
        f"Not a claim of theirs: to {NEAR:g}, ranksvm by default is faster than OST "
        f"by {listed(ours)}. OST is ahead on: {', '.join(behind) or 'none'}.",
    ]


def ratios(results: list[Result], slow: str, fast: str) -> dict[str, float]:
    """How many times as fast one system is as the other, where both got near the optimum."""
    found = {
        r.name: r.curves[slow].seconds_to(NEAR) / r.curves[fast].seconds_to(NEAR) for r in results
    }
    return {name: value for name, value in found.items() if not np.isnan(value)}


def listed(values: dict[str, float]) -> str:
    """List numbers with their names."""
    return ", ".join(f"{value:.1f} x on {name}" for name, value in values.items()) or "nothing"


def claim_of_gpu(results: list[Result]) -> str:
    """Tell how much faster P-SWX is, or why it was not there."""
    claim = "P-SWX on a graphics card is faster than both where data are large, slower on MQ2008:"
    why = results[0].curves["P-SWX"].outcome.why
    gains = ratios(results, "OST", "P-SWX")
    return f"{claim} against OST, {listed(gains)}." if gains else f"{claim} not run, {why}."


def claim_of_accuracy(results: list[Result]) -> str:
    """Tell by how much DCM, OST and ranksvm differ at most, where they got near the optimum."""
    spreads = {}
    for result in results:
        near = [
            accuracy(result.curves[name])
            for name in ("DCM", "OST", "P-SWX", "ranksvm")
            if not np.isnan(result.curves[name].seconds_to(NEAR))
        ]
        if len(near) > 1:
            spreads[result.name] = max(near) - min(near)
    if not spreads:
        return "not to be told, none but one came near the optimum."
    worst = max(spreads, key=spreads.__getitem__)
    return (
        f"those of DCM, OST, P-SWX and ranksvm that came to {NEAR:g} differ by at most "
        f"{spreads[worst]:.2f} points, on {worst}. Theirs differ by up to 1.39, between programs "
        "that minimise the same function: they were stopped before its minimum."
    )


def draw(results: list[Result]) -> Any:
    """Draw a panel for each data set."""
    n_columns = min(3, len(results))
    n_rows = -(-len(results) // n_columns)
    figure, axes = new_figure(n_rows, n_columns, (3.2 * n_columns, 2.5 * n_rows + 0.6))
    drawn = [name for name in DRAWN if any(len(r.curves[name].seconds) for r in results)]
    looks = styles(DRAWN)
    for panel, result in zip(axes.flat, results, strict=False):
        for name in drawn:
            curve = result.curves[name]
            visible = (curve.seconds > 0) & (curve.distance > 0)
            draw_curve(panel, curve.seconds[visible], curve.distance[visible], looks[name])
        panel.set(xscale="log", yscale="log", ylim=(1e-7, 10), title=result.name)
        panel.xaxis.set_minor_formatter("")
        panel.grid(True, alpha=0.3)
    for panel in axes.flat[len(results) :]:
        panel.set_axis_off()
    figure.supxlabel("seconds, one thread unless said")
    figure.supylabel("distance from the optimum")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=n_columns, frameon=False)
    return figure


if __name__ == "__main__":
    main()
