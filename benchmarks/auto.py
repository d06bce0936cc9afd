"""
Whether ``solver="auto"`` is right: against every solver by name, on real data and generated shapes.

    RANKSVM_DATA=FOLDER python -m benchmarks.auto [--only NAME ...] [--losses hinge] [--Cs 1]
    python -m benchmarks.auto --only random unlike --random 100

Both losses, weak to strong regularisation, loose to exact, features as they are. Times are CPU
seconds of one thread, the least of a few, so that a busy machine counts little; those of a fit
begin with labels and rows. Beside them stand multiples of ``X.T @ X`` where X is dense with fewer
features than rows, and of one pass over X elsewhere. Each fit is a forked process; a rival is
stopped at three times what "auto" took. A case is fine where "auto" converges within the default
max_iter, which rivals are not held to, in 10 s (15 s for the largest text with the hinge), and
within 1.5 times what the best solver takes, plus 20 ms.

The first table is that of the primitives which the constants of
`ranksvm.linear.choice_by_cost` come from; the second names the cases that fail; the third has all.
Everything is in build/benchmarks/auto/auto.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import primitives
from benchmarks.datasets.random_shapes import random_shapes
from benchmarks.datasets.real import find_real, real_names
from benchmarks.datasets.solver_shapes import GENERATED, HUGE, Data
from benchmarks.datasets.unlike_shapes import unlike_shapes
from benchmarks.micro import best_time
from benchmarks.report import Page
from ranksvm import load_svmlight
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.row_space import MOST_ROWS
from ranksvm.linear.training import make_problem
from ranksvm.names import LOSSES, SOLVERS
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Iteration, SolverResult

Shapes: TypeAlias = dict[str, Callable[[], Data]]

AUTO = "auto"
RIVALS = tuple(name for name in SOLVERS if name not in (AUTO, "cutting_planes"))
EXPLICIT = 8192  # features up to which "newton" is tried, for its memory
SLOWER, SLACK = 1.5, 0.02  # than the best, and seconds
PATIENCE, UNLIMITED = 3.0, 1_000_000  # times what "auto" took; iterations
LONGEST, LONGEST_TEXT = 10.0, 15.0
QUICK, TIMES = 0.3, 3  # seconds below which a fit is timed so often
CONVERGED = "converged"
COLUMNS = (
    *("data", "loss", "C", "tol", "seconds", "multiples", "of", "gap", "how"),
    *("passes", "products", "best", "its seconds", "ratio", "verdict"),
)


@dataclass(frozen=True)
class Outcome:
    """How a solver ended: `how` counts the iterations of each solver that took its turn."""

    status: str
    seconds: float
    gap: float = math.nan
    how: str = ""
    passes: int = 0
    products: int = 0

    @property
    def converged(self) -> bool:
        """Whether it reached what was asked for."""
        return self.status == CONVERGED


@dataclass(frozen=True)
class Case:
    """What was solved, by whom, and the seconds of its unit."""

    data: str
    loss: str
    C: float
    tol: float
    unit: str
    unit_seconds: float
    outcomes: dict[str, Outcome]

    @property
    def best(self) -> str:
        """The quickest solver by name that converged; "" if none did."""
        rivals = {name: o.seconds for name, o in self.outcomes.items() if o.converged}
        rivals.pop(AUTO, None)
        return min(rivals, key=rivals.__getitem__, default="")

    @property
    def ratio(self) -> float:
        """Time of "auto" in that of the best."""
        best = self.outcomes.get(self.best)
        return self.outcomes[AUTO].seconds / best.seconds if best else math.nan

    @property
    def verdict(self) -> str:
        """What is wrong, in a word; "" if nothing is."""
        auto = self.outcomes[AUTO]
        if not auto.converged:
            return auto.status
        is_text = self.data.startswith("text-like") and self.loss == "hinge"
        limit = LONGEST_TEXT if is_text else LONGEST
        if auto.seconds > limit:
            return f"over {limit:.0f} s"
        best = self.outcomes.get(self.best)
        is_slow = best is not None and auto.seconds > SLOWER * best.seconds + SLACK
        return f"slower than {self.best}" if is_slow else ""

    def row(self) -> tuple[Any, ...]:
        """Return the line of a table."""
        auto, best = self.outcomes[AUTO], self.outcomes.get(self.best)
        head = (self.data, self.loss, f"{self.C:g}", f"{self.tol:g}")
        cost = (auto.seconds, auto.seconds / self.unit_seconds, self.unit)
        work = (f"{auto.gap:.0e}", auto.how, auto.passes, auto.products)
        rival = (self.best, best.seconds, self.ratio) if best else ("", "", "")
        return (*head, *cost, *work, *rival, self.verdict)


def main() -> int:
    """Print the tables; the exit status is 1 if a case fails."""
    args = parse_arguments()
    page = Page("auto", 'The choice of ``solver="auto"``')
    with threadpool_limits(1):
        if not args.skip_primitives:
            page.table("Primitives", primitives.COLUMNS, primitives.rows(), "primitives")
        cases = list(all_cases(args))
    failed = [case for case in cases if case.verdict]
    title = f"Cases that fail: {len(failed)} of {len(cases)}"
    page.table(title, COLUMNS, [case.row() for case in failed])
    page.table("All cases", COLUMNS, [case.row() for case in cases], "cases")
    write_json(page.folder / "auto.json", cases)
    page.write()
    return int(bool(failed))


def parse_arguments() -> argparse.Namespace:
    """Read what is to be left out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--only", nargs="*", default=[""], help="data whose names begin so")
    parser.add_argument("--skip", nargs="*", default=[], help="data whose names begin so")
    parser.add_argument("--losses", nargs="*", default=LOSSES, choices=LOSSES)
    parser.add_argument("--Cs", nargs="*", type=float, default=[1e-3, 1.0, 1e3])
    parser.add_argument("--tols", nargs="*", type=float, default=[1e-3, 1e-6])
    parser.add_argument(
        "--random", type=int, default=0, help="how many random and unlike shapes, too"
    )
    parser.add_argument("--limit", type=float, default=60.0, help='seconds for "auto"')
    parser.add_argument("--max-seconds", type=float, default=math.inf, help="for all that begins")
    parser.add_argument("--jobs", type=int, default=1, help="sets of data at a time")
    parser.add_argument("--skip-primitives", action="store_true")
    args = parser.parse_args()
    args.shapes = GENERATED | random_shapes(args.random) | unlike_shapes(args.random)
    args.deadline = time.monotonic() + args.max_seconds
    return args


def all_cases(args: argparse.Namespace) -> Iterator[Case]:
    """Solve everything, one set of data after the other, or a few at a time."""
    names = [
        name
        for name in data_names(args.shapes)
        if name.startswith(tuple(args.only)) and not name.startswith(tuple(args.skip))
    ]
    if args.jobs == 1:
        yield from itertools.chain.from_iterable(cases_of(name, args) for name in names)
        return
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("fork")) as pool:
        of_each = pool.map(partial(_listed, args=args), names)
        yield from itertools.chain.from_iterable(of_each)


def data_names(shapes: Shapes) -> list[str]:
    """Name the real data that there are, and the generated."""
    real = real_names()
    if not real:
        print("real data skipped: RANKSVM_DATA names no folder of .svm.xz files", flush=True)
    return [*real, *shapes]


def _listed(name: str, args: argparse.Namespace) -> list[Case]:
    return list(cases_of(name, args))


def cases_of(name: str, args: argparse.Namespace) -> Iterator[Case]:
    """Solve all cases of a set of data that begin in time."""
    tols = [tol for tol in args.tols if tol >= 1e-3 or name not in HUGE]
    data = unit = None
    for loss, C, tol in itertools.product(args.losses, args.Cs, tols):
        if time.monotonic() > args.deadline:
            print(f"{name}: the rest is skipped, the time is over", flush=True)
            return
        if data is None:
            data = load(name, args.shapes)
            unit = unit_of(data.X)
        settings = {"loss": loss, "C": C, "tol": tol}
        case = Case(name, **settings, **unit, outcomes=compare(data, settings, args.limit))
        print(progress_line(case), flush=True)
        yield case


def load(name: str, shapes: Shapes) -> Data:
    """Read real data, or make those of a shape."""
    if name in shapes:
        return shapes[name]()
    path = find_real(name)
    assert path is not None
    return Data(*load_svmlight(path))


def unit_of(X: Any) -> dict[str, Any]:
    """Time ``X.T @ X``, or a pass over X."""
    if isinstance(X, np.ndarray) and X.shape[0] > X.shape[1]:
        return {"unit": "X.T @ X", "unit_seconds": best_time(lambda: X.T @ X, 2)}
    matrix = DesignMatrix.from_array(X)
    w = np.ones(matrix.shape[1])
    return {"unit": "pass", "unit_seconds": best_time(lambda: matrix.dot(w), 2)}


def progress_line(case: Case) -> str:
    """Say how each solver did."""
    times = ", ".join(
        f"{name} {o.seconds:.3g}{'' if o.converged else f' ({o.status}, gap {o.gap:.0e})'}"
        for name, o in case.outcomes.items()
    )
    head = f"{case.data} {case.loss} C={case.C:g} tol={case.tol:g}"
    return f"{head}: {times} [{case.outcomes[AUTO].how}] {case.verdict}"


def compare(data: Data, settings: dict[str, Any], limit: float) -> dict[str, Outcome]:
    """Let "auto" go first, and its rivals within three times its time."""
    outcomes = {AUTO: forked(data, AUTO, settings, limit)}
    patience = PATIENCE * (outcomes[AUTO].seconds + SLACK)
    n, d = data.X.shape
    too_large = {"newton": d > EXPLICIT, "row_space": n > MOST_ROWS}
    for name in RIVALS:
        if not too_large.get(name, False):
            outcomes[name] = forked(data, name, settings, patience)
    return outcomes


def forked(data: Data, solver: str, settings: dict[str, Any], limit: float) -> Outcome:
    """Run a solver in a process of its own, which the system ends if the callback cannot."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, data, solver, settings, limit))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return Outcome("ended", limit)
    finally:
        process.join()


def _send(
    sender: Connection, data: Data, solver: str, settings: dict[str, Any], limit: float
) -> None:
    hard = math.ceil(2 * limit + 1)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    sender.send(timed(data, solver, settings, limit))


def timed(data: Data, solver: str, settings: dict[str, Any], limit: float) -> Outcome:
    """Run a solver; some times if that was quick, for the best time.

    The first run of a forked process copies the pages that it touches, which takes some dozen
    milliseconds.
    """
    outcomes = [solve(data, solver, settings, limit)]
    while outcomes[0].seconds < QUICK and len(outcomes) < TIMES:
        outcomes.append(solve(data, solver, settings, limit))
    return min(outcomes, key=lambda outcome: (not outcome.converged, outcome.seconds))


def solve(data: Data, solver: str, settings: dict[str, Any], limit: float) -> Outcome:
    """Solve, for so many seconds or little more."""
    if solver != AUTO:
        settings = settings | {"max_iter": UNLIMITED}
    parameters = Parameters(**settings, solver=solver, n_threads=1)
    started = time.thread_time()
    problem = make_problem(
        DesignMatrix.from_array(data.X), Preferences.from_labels(data.y, data.qid), parameters
    )
    result = problem.minimize(parameters, callback=lambda _: time.thread_time() - started > limit)
    seconds = time.thread_time() - started
    how = ", ".join(f"{name} {n}" for name, n in turns(result))
    products = result.history[-1].n_products
    return Outcome(str(result.status), seconds, result.dual_gap, how, result.n_passes, products)


def turns(result: SolverResult) -> Iterator[tuple[str, int]]:
    """Count the iterations of each solver, in the order of their turns."""
    for name, lines in itertools.groupby(result.history, _solver_of):
        yield name, sum(1 for _ in lines)


def _solver_of(line: Iteration) -> str:
    return line.solver


def write_json(path: Any, cases: Sequence[Case]) -> None:
    """Write all that is known of each case."""
    content = [
        asdict(case)
        | {"best": case.best, "ratio": nullable(case.ratio), "verdict": case.verdict}
        | {"outcomes": {name: finite(o) for name, o in case.outcomes.items()}}
        for case in cases
    ]
    text = json.dumps(content, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def finite(outcome: Outcome) -> dict[str, Any]:
    """Describe an outcome without numbers that JSON does not know."""
    return asdict(outcome) | {"gap": nullable(outcome.gap)}


def nullable(value: float) -> float | None:
    """Return a number that JSON knows, or None."""
    return value if math.isfinite(value) else None


if __name__ == "__main__":
    sys.exit(main())
