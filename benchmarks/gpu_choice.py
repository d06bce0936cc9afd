"""
Whether ``solver="auto"`` is right on a GPU: against every solver by name.

    RANKSVM_DATA=FOLDER python -m benchmarks.gpu_choice [--device cuda] [--only NAME ...]

Seconds of "auto" are those of the second fit of two; rivals fit once, and are stopped at three
times that. X is in double precision on the device, real sets dense; sparse X is copied there in
each fit. A case is fine where `benchmarks.auto` says so. It is what the weights of
`ranksvm.arrays.costs` come from. ``--device torch:cpu --only wine-2q`` tries the script itself
where there is no GPU.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import time
import warnings
from collections.abc import Iterator
from typing import Any

from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.auto import AUTO, EXPLICIT, PATIENCE, SLACK, Case, Outcome
from benchmarks.datasets.real import find_real, load_real
from benchmarks.datasets.solver_shapes import GENERATED, Data
from benchmarks.harness import machine_line, print_table
from ranksvm import RankSVM
from ranksvm.arrays.placement import named_device
from ranksvm.names import LOSSES

REAL = ("protein", "lightgbm-lambdarank.train", "wine-2q")
MADE = (
    *("web-like-144000x136", "one-ranking-2000000x10", "one-ranking-300000x40"),
    *("text-like-20000x47236", "few-rows-500x5000", "rare-positives-300000x40"),
    *("dense-queries-60000x64", "short-queries-50000x280", "nearly-separable-1800x600"),
)
RIVALS = ("bundle", "newton", "trust_region")  # all that devices have
SETTINGS = ((1.0, 1e-3), (1.0, 1e-6), (1e3, 1e-3))  # C and tol
LIMIT = 30.0  # seconds of "auto"
LATE = "stopped"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--device", default="cuda", help="cuda:1, torch:cpu, ...")
    parser.add_argument("--only", nargs="*", default=[""], help="data whose names begin so")
    args = parser.parse_args()
    try:
        named_device(args.device)
    except (ImportError, ValueError) as error:
        print(f"not measured: {error}")
        return
    signal.signal(signal.SIGALRM, _stop)
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine_line())
    rows = []
    for case in all_cases(args):
        rows.append(_row(case))
        print(*rows[-1], flush=True)  # what there is, if it is stopped
    columns = ("data", "loss", "C", "tol", "seconds", "how", *RIVALS, "ratio", "verdict")
    print_table(f'"auto" against solvers by name, {args.device}', columns, rows)


def all_cases(args: argparse.Namespace) -> Iterator[Case]:
    """Solve everything, one set of data after the other."""
    for name in (*REAL, *MADE):
        if not name.startswith(tuple(args.only)):
            continue
        data = _data_on(name, args.device)
        if data is None:
            print(f"{name} skipped: it is not in the folder RANKSVM_DATA")
            continue
        for loss, (C, tol) in itertools.product(LOSSES, SETTINGS):
            model = RankSVM(loss=loss, C=C, tol=tol, device=args.device)
            yield Case(name, loss, C, tol, "", 1.0, outcomes(model, data))


def _data_on(name: str, device: str) -> Data | None:
    """Return the rows of a name, where they are to be; None if there are none."""
    path = find_real(name)
    if path is None and name in REAL:
        return None
    data = GENERATED[name]() if path is None else Data(*load_real(path))
    X: Any = data.X.toarray() if path is not None else data.X
    there = named_device(device)
    return data._replace(X=X if sparse.issparse(X) or there is None else there.asarray(X))


def outcomes(model: RankSVM, data: Data) -> dict[str, Outcome]:
    """Fit by "auto", and as long as it makes sense by each solver by name."""
    fit(model, data, LIMIT)
    found = {AUTO: fit(model, data, LIMIT)}
    for solver in RIVALS:
        if solver == "newton" and data.X.shape[1] > EXPLICIT:
            continue
        model.set_params(solver=solver)
        found[solver] = fit(model, data, PATIENCE * found[AUTO].seconds + SLACK)
    return found


def fit(model: RankSVM, data: Data, limit: float) -> Outcome:
    """Fit and say how that ended; it is stopped at a limit of seconds."""
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        model.fit(*data)
    except TimeoutError:
        return Outcome(LATE, time.perf_counter() - start)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    seconds = time.perf_counter() - start
    names = [line.solver for line in model.history_]
    how = " ".join(f"{name}:{len(list(lines))}" for name, lines in itertools.groupby(names))
    return Outcome(model.status_, seconds, model.dual_gap_, how)


def _stop(*_: Any) -> None:
    raise TimeoutError


def _seconds(outcome: Outcome | None) -> float | str:
    return "" if outcome is None else outcome.seconds if outcome.converged else outcome.status


def _row(case: Case) -> tuple[Any, ...]:
    rivals = [_seconds(case.outcomes.get(name)) for name in RIVALS]
    auto = case.outcomes[AUTO]
    what = (case.data, case.loss, f"{case.C:g}", f"{case.tol:g}")
    return (*what, auto.seconds, auto.how, *rivals, case.ratio, case.verdict)


if __name__ == "__main__":
    main()
