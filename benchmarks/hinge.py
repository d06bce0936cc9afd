"""
Time of hinge training to absolute gaps, on the problems of published trainers.

    RANKSVM_DATA=FOLDER python -m benchmarks.hinge [--repeats 3] [--rows-large 512000]

The objective is theirs, ``(1/N) sum over the N pairs of hinges + lambda |w|^2``, and so is the gap.
The last row of each table is the method of TreeRSVM, made of the parts of this package: planes at
the minimisers of the model, and a red-black tree to count. A pass is ``X @ w`` and ``X.T @ u`` by
SciPy, or by NumPy where X is dense, on one thread. Beyond 8,192 features the explicit Hessian is
left out.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.datasets.real import find_real, load_real
from benchmarks.datasets.small import make_small
from benchmarks.datasets.text_like import make_text_like
from benchmarks.harness import THREADS, machine_line, medians, print_table
from ranksvm import ConvergenceWarning
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.linear.training import Fit
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Status

TREE_RSVM = "TreeRSVM"
SOLVERS = {
    "auto": {"solver": "auto"},
    "bundle": {"solver": "bundle"},
    "newton": {"solver": "newton"},
    "trust_region": {"solver": "trust_region"},
    TREE_RSVM: {"solver": "cutting_planes", "counting": "tree"},
}
ON_ONE_THREAD = ("auto", "bundle", "newton")
MOST_FEATURES = 8192
UNITS = ("seconds", "passes")
OUTCOME = ("iterations", "sweeps", "Hessian products", "gap", "relative gap", "status")
PUBLISHED = """
Published or measured elsewhere, on data of these shapes:

- text, lambda 1e-5: TreeRankSVM 0.1 10.2 s for 64,000 rows; for 512,000 TreeRSVM 18 minutes and
  SVM^rank 83 hours (Airola et al. 2011);
- text, 20,000 rows: TreeRankSVM 0.1 9.1 s for lambda 1e-6, 59.8 s for 1e-7;
- a9a.train: TreeRankSVM 0.1 3.4 s, to a gap of 1e-3 only;
- 36,000 x 46: dlib 3.1 s, SVM^rank 3.3 s, TreeRankSVM 33 s, to a gap of 1e-3 only."""


@dataclass(frozen=True)
class Task:
    """What to train on, and how exactly."""

    name: str
    X: Any
    y: np.ndarray
    qid: np.ndarray | None
    regularization: float
    goal: float

    @property
    def title(self) -> str:
        """Name, sizes, lambda and goal."""
        rows, features = self.X.shape
        return (
            f"{self.name}, {rows:,} x {features:,}, "
            f"lambda {self.regularization:.0e}, gap {self.goal:.0e}"
        )


@dataclass
class Contestant:
    """A solver on a task, and its latest fit."""

    task: Task
    parameters: Parameters
    limit: float
    fit: Fit | None = None

    def __call__(self) -> None:
        """Train, for `limit` seconds or little more."""
        task = self.task
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.fit = train(
                DesignMatrix.from_array(task.X),
                Preferences.from_labels(task.y, task.qid),
                parameters=self.parameters,
                callback=lambda iteration: iteration.seconds > self.limit,
            )

    @property
    def status(self) -> Status:
        """How the latest fit ended."""
        return self.fit.result.status

    @property
    def outcome(self) -> tuple[Any, ...]:
        """Iterations, sweeps, products with the Hessian, both gaps, and the status."""
        result = self.fit.result
        last = result.history[-1]
        gap = result.dual_gap * result.value / self.parameters.C
        counts = last.iteration, last.n_evaluations, last.n_products
        return *counts, gap, result.dual_gap, str(self.status)


def main() -> None:
    """Print a table for each task, then how well the automatic choice did."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows-large", type=int, default=512_000)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds that a fit may take")
    args = parser.parse_args()

    print(machine_line())
    choices = []
    for task in tasks(args.rows_large):
        choices += report(task, args.repeats, args.limit)
    columns = ("", "threads", "auto, seconds", "best other", "its seconds", "auto / best other")
    print_table("the automatic choice", columns, choices)
    print(PUBLISHED)


def tasks(rows_large: int) -> Iterator[Task]:
    """Make one task after the other; real data only where they are found."""
    yield Task("text-like", *make_text_like(64_000), None, 1e-5, 1e-3)
    X, y = make_text_like(20_000)
    yield Task("text-like", X, y, None, 1e-6, 1e-3)
    yield Task("text-like", X, y, None, 1e-7, 1e-3)
    yield Task("text-like", *make_text_like(rows_large), None, 1e-5, 1e-3)
    for name, goal in {"a9a.train": 1e-5, "protein": 1e-3}.items():
        path = find_real(name)
        if path is None:
            print(f"\nSkipped {name}: RANKSVM_DATA does not name a folder with {name}.svm.xz.")
            continue
        X, y, qid = load_real(path)
        yield Task(name, X.toarray() if name == "protein" else X, y, qid, 1e-5, goal)
    yield Task("LETOR-like, 1,000 queries", *make_small(36_000, 1_000), 1e-5, 1e-4)


def report(task: Task, repeats: int, limit: float) -> list[tuple[Any, ...]]:
    """Print the table of a task; return what it says of the automatic choice."""
    w, u = np.ones(task.X.shape[1]), np.ones(task.X.shape[0])
    names = [name for name in SOLVERS if name != "newton" or task.X.shape[1] <= MOST_FEATURES]
    rows = {name: [name] for name in SOLVERS}
    outcomes, choices = {}, []
    for n_threads in THREADS:
        fits = {name: contestant(task, name, n_threads, limit) for name in names}
        # The limit is for the pass: idle threads of NumPy would hold up what comes after it.
        with threadpool_limits(1):
            for fit in fits.values():
                fit()
            ended = {name: fit for name, fit in fits.items() if fit.status is not Status.STOPPED}
            seconds = medians({"pass": lambda: (task.X @ w, task.X.T @ u), **ended}, repeats)
        for name, row in rows.items():
            beyond = f"> {limit:g}" if name in fits else ""
            in_passes = seconds[name] / seconds["pass"] if name in ended else ""
            row += [seconds.get(name, beyond), in_passes]
        outcomes = {name: fit.outcome for name, fit in fits.items()} | outcomes
        choices += choice(task, n_threads, seconds, ended)
        names = [name for name in ended if name in ON_ONE_THREAD]
    skipped = (*5 * ("",), "skipped")
    for name, row in rows.items():
        row += outcomes.get(name, skipped)
    costs = [f"{unit}, threads: {n_threads}" for n_threads in THREADS for unit in UNITS]
    print_table(task.title, ("", *costs, *OUTCOME), rows.values())
    return choices


def contestant(task: Task, name: str, n_threads: int, limit: float) -> Contestant:
    """Prepare a solver."""
    parameters = Parameters(
        C=1 / (2 * task.regularization),
        loss="hinge",
        normalize="pairs",
        tol=0.0,
        epsilon=task.goal,
        max_iter=1_000_000,
        n_threads=n_threads,
        **SOLVERS[name],
    )
    return Contestant(task, parameters, limit)


def choice(
    task: Task, n_threads: int, seconds: dict[str, float], ended: dict[str, Contestant]
) -> list[tuple[Any, ...]]:
    """Compare auto with the best of the others, in a row; in none where there is no comparison."""
    others = {
        name: seconds[name]
        for name, fit in ended.items()
        if fit.status is Status.CONVERGED and name not in ("auto", TREE_RSVM)
    }
    if "auto" not in ended or not others:
        return []
    best = min(others, key=others.__getitem__)
    ratio = seconds["auto"] / others[best]
    return [(task.title, n_threads, seconds["auto"], best, others[best], ratio)]


if __name__ == "__main__":
    main()
