"""
Trust region against cutting planes: Figure II of Lee and Lin (2014, supplement), redrawn.

    RANKSVM_DATA=FOLDER python -m benchmarks.lee_lin_convergence [--limit 5] [--C 1]

Relative function value, pairwise accuracy and nDCG against iterations and against seconds. OST
(Tree-TRON) minimises the squared hinge loss, TreeRSVM the hinge loss, each judged by the certified
optimum of its own objective; a curve of the default of ranksvm stands beside either. Accuracy and
nDCG are those of rows that were left out of training. C is "documents", ``c = C n / N``. A LETOR
collection takes part where RANKSVM_LETOR names its folder.
"""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.datasets.letor_folders import letor_folder, load_letor
from benchmarks.datasets.real import find_real, load_real
from benchmarks.datasets.small import make_small
from benchmarks.datasets.text_like import make_text_like
from benchmarks.race import Curve, race
from benchmarks.report import Page, draw_curve, new_figure, styles
from benchmarks.systems import registry
from benchmarks.task import Judge, Rows, Task

ENTRIES = {
    "OST, squared hinge": ("OST", "squared_hinge"),
    "TreeRSVM, hinge": ("TreeRSVM", "hinge"),
    "ranksvm, squared hinge": ("ranksvm", "squared_hinge"),
    "ranksvm, hinge": ("ranksvm", "hinge"),
}
PUBLISHED = tuple(ENTRIES)[:2]
MEASURES = {
    "distance": "relative function value",
    "pairwise_accuracy": "pairwise accuracy",
    "ndcg": "nDCG",
}
DISTANCES = (1e-2, 1e-3, 1e-6)
GRADIENT = 1e-3
JUDGE_LIMIT = 20.0
TEST_SHARE = 5
TEACHING = """
The paper's figure says that in all problems Tree-TRON needs fewer iterations than the cutting plane
method. An iteration is a product with the Hessian for OST and a plane for TreeRSVM: two passes over
X and a sweep, either way. The two minimise different functions, so what compares them is the
distance of each to its own optimum, and the accuracy reached. The horizontal lines are those of OST
when the norm of its gradient first fell to 1e-3 of that at zero, the stopping rule of its authors'
family of programs. Iterations of ranksvm are not drawn: where it forms the Hessian, one of them is
many passes.

A system may end before its goal, where floating point lets it go no further: TreeRSVM does on
protein, whose features have raw scales from 1e-2 to 1e6.
"""
CAPTION = (
    "Relative distance of the objective to its certified optimum, pairwise accuracy and nDCG of "
    "test rows, against {}. Grey lines: OST at its stopping rule."
)


class Split(NamedTuple):
    """Rows to train on, and others to measure on."""

    name: str
    train: Rows
    test: Rows


class Panel(NamedTuple):
    """The curves of a data set, and at which point OST would have stopped."""

    name: str
    curves: dict[str, Curve]
    stop: int | None


def main() -> None:
    """Race on every data set; write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that a run may take")
    parser.add_argument("--C", type=float, default=1.0, help="weight of the loss")
    parser.add_argument("--rows", type=int, default=20_000, help="of the generated data")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()

    page = Page("convergence", "Trust region against cutting planes (Lee and Lin, Figure II)")
    page.text(TEACHING)
    panels, rows = [], []
    for split in splits(args.rows):
        panel = compare(split, args.C, args.limit, args.threads)
        panels.append(panel)
        rows += [(split.name, name, *summary(curve)) for name, curve in panel.curves.items()]
        page.csv(f"curves-{split.name}", POINT_COLUMNS, points(panel.curves))
    reached = [f"{unit} to {d:g}" for d in DISTANCES for unit in ("iterations", "seconds")]
    columns = ("data", "system", *reached, "distance", "accuracy", "nDCG", "ended")
    page.table("What was reached", columns, rows, file="convergence")
    page.text(verdict(panels))
    for against in ("iterations", "seconds"):
        figure = draw(panels, against, PUBLISHED if against == "iterations" else tuple(ENTRIES))
        page.figure(f"convergence-{against}", figure, CAPTION.format(against))
    page.write()


def splits(rows: int) -> Iterator[Split]:
    """Make or read one data set after the other; real data only where they are found."""
    yield halved("LETOR-like", Rows(*make_small(rows, rows // 50)))
    yield halved("text-like", Rows(*make_text_like(rows)))
    if (folder := letor_folder()) is not None:
        fold = load_letor(folder)
        yield Split(folder.name, fold.train, fold.test)
    if find_real("a9a.train") is None:
        print("Real data were left out: RANKSVM_DATA names no folder with them.\n")
        return
    yield Split("lambdarank", read("lightgbm-lambdarank.train"), read("lightgbm-lambdarank.test"))
    folds = [read(f"ClueWeb09-webis.F{k}", k) for k in range(1, 6)]
    yield Split("webis", Rows(*(joined(parts) for parts in zip(*folds[:4], strict=True))), folds[4])
    yield Split("a9a", read("a9a.train"), read("a9a.test"))
    yield halved("protein", read("protein"))


def read(name: str, fold: int = 0) -> Rows:
    """Read one file; dense where it is, labels from 0 on, the queries of a fold its own."""
    path = find_real(name)
    assert path is not None, name
    X, y, qid = load_real(path)
    dense = X.nnz > 0.9 * np.prod(X.shape)
    return Rows(X.toarray() if dense else X, y - y.min(), qid + 1_000_000 * fold)


def joined(parts: tuple[Any, ...]) -> Any:
    """Put the rows of several folds together."""
    return sparse.vstack(parts, "csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def halved(name: str, rows: Rows) -> Split:
    """Leave every fifth query out, or every fifth row where there is but one query."""
    one_query = rows.qid is None or len(np.unique(rows.qid)) == 1
    index = np.arange(len(rows.y)) if one_query else np.unique(rows.qid, return_inverse=True)[1]
    left_out = index % TEST_SHARE == 0
    train, test = (
        Rows(rows.X[keep], rows.y[keep], None if one_query else rows.qid[keep])
        for keep in (~left_out, left_out)
    )
    return Split(name, train, test)


def compare(split: Split, C: float, limit: float, n_threads: int) -> Panel:
    """Race the systems on a split."""
    width = max(split.train.X.shape[1], split.test.X.shape[1])
    train, test = widened(split.train, width), widened(split.test, width)
    judges = {}
    for loss in ("squared_hinge", "hinge"):
        options = {"C": C, "normalize": "documents", "test": test, "n_threads": n_threads}
        task = Task.from_rows(split.name, train, loss, **options)
        judges[loss] = Judge(task, tol=1e-8, limit=JUDGE_LIMIT)
    systems, curves = registry(), {}
    for name, (system, loss) in ENTRIES.items():
        outcome = race(systems[system], judges[loss].task, limit)
        curves[name] = outcome.judged(judges[loss])
    ost = curves["OST, squared hinge"].outcome
    stop = stopping_point(judges["squared_hinge"], [point.weights for point in ost.trace])
    return Panel(split.name, curves, stop)


def widened(rows: Rows, width: int) -> Rows:
    """Add columns of zeros, which the other part of the data may need."""
    if rows.X.shape[1] == width:
        return rows
    X = rows.X.copy()
    X.resize(X.shape[0], width)
    return rows._replace(X=X)


def stopping_point(judge: Judge, trace: list[np.ndarray], share: float = GRADIENT) -> int | None:
    """Find the first weights whose gradient is no larger than a share of that at zero."""
    goal = share * np.linalg.norm(judge.objective.evaluate(judge.task.start).gradient)
    for k, weights in enumerate(trace):
        if np.linalg.norm(judge.objective.evaluate(weights).gradient) <= goal:
            return k
    return None


def summary(curve: Curve) -> tuple[Any, ...]:
    """Tell iterations and seconds to each distance, what was reached, and how it ended."""
    reached: list[float] = []
    for distance in DISTANCES:
        reached += [curve.iterations_to(distance), curve.seconds_to(distance)]
    distance = f"{curve.distance[-1]:.0e}" if len(curve.distance) else ""
    accuracy, ndcg = last(curve.pairwise_accuracy), last(curve.ndcg)
    return *reached, distance, accuracy, ndcg, curve.outcome.status


def last(values: np.ndarray) -> str:
    """Show the last value with four digits."""
    return f"{values[-1]:.4f}" if len(values) and not np.isnan(values[-1]) else ""


POINT_COLUMNS = ("system", "iteration", "seconds", *MEASURES)


def points(curves: dict[str, Curve]) -> Iterator[tuple[Any, ...]]:
    """List the points of all curves."""
    for name, curve in curves.items():
        measures = (getattr(curve, measure).tolist() for measure in MEASURES)
        for point in zip(curve.iterations.tolist(), curve.seconds.tolist(), *measures, strict=True):
            yield name, *point


def verdict(panels: list[Panel]) -> str:
    """Say on how many data sets the claim of the paper holds, and where ranksvm is behind."""
    claim, behind = [], []
    for distance in DISTANCES:
        for unit in ("iterations", "seconds"):
            wins = names_where(panels, unit, distance, *PUBLISHED)
            claim.append(f"- to {distance:g}, OST needs fewer {unit} on {wins}")
        for published, own in zip(PUBLISHED, tuple(ENTRIES)[2:], strict=True):
            wins = names_where(panels, "seconds", distance, published, own)
            behind.append(f"- to {distance:g}, {published}, is before ranksvm on {wins}")
    return "\n".join(["## Does the claim hold?", "", *claim, "", "## And ranksvm?", "", *behind])


def names_where(panels: list[Panel], unit: str, distance: float, first: str, second: str) -> str:
    """Name the data sets on which one entry reaches a distance before another does."""
    names = []
    for name, curves, _ in panels:
        a, b = (getattr(curves[entry], f"{unit}_to")(distance) for entry in (first, second))
        if a < b or (np.isnan(b) and not np.isnan(a)):
            names.append(name)
    return f"{len(names)} of {len(panels)}" + (f": {', '.join(names)}" if names else "")


def draw(panels: list[Panel], against: str, names: tuple[str, ...]) -> Any:
    """Draw a row of three panels for each data set."""
    figure, axes = new_figure(len(panels), 3, (9.6, 2.1 * len(panels) + 0.6), sharex="row")
    looks = styles(ENTRIES)
    for row, (data, curves, stop) in zip(axes, panels, strict=True):
        row[0].set_ylabel(data)
        for panel, measure in zip(row, MEASURES, strict=True):
            for name in names:
                x = getattr(curves[name], against)
                y = getattr(curves[name], measure)
                shown = (x > 0) & ~np.isnan(y)
                draw_curve(panel, x[shown], y[shown], looks[name])
            finish(panel, measure)
            if stop is not None:
                level = getattr(curves[PUBLISHED[0]], measure)[stop]
                panel.axhline(level, color="0.5", linewidth=0.8, zorder=0)
    for panel, title in zip(axes[0], MEASURES.values(), strict=True):
        panel.set_title(title, fontsize="medium")
    for panel in axes[-1]:
        panel.set_xlabel(against)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def finish(panel: Any, measure: str) -> None:
    """Set the scales; the curves of accuracy matter near their ends."""
    panel.set_xscale("log")
    panel.grid(True, alpha=0.3)
    if measure == "distance":
        panel.set_yscale("log")
        panel.set_ylim(1e-7, 10)
    values = [y for line in panel.lines for y in line.get_ydata()]
    if not values:
        panel.text(0.5, 0.5, "labels are no grades", transform=panel.transAxes, ha="center")
    elif measure != "distance":
        best = max(values)
        panel.set_ylim(max(min(values), best - 0.1) - 0.002, best + 0.005)


if __name__ == "__main__":
    main()
