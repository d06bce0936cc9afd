"""
Fits of whole shapes of data by two git revisions, on this machine, side by side.

    RANKSVM_DATA=FOLDER python -m benchmarks.shapes BASE [HEAD] [--only few-rows] [--limit 60]

Each fit is a process of its own (`shape_fit.py`), by the revisions in turn, three times where it is
quick; seconds are medians. What fails or does not end in time says so, and every gap is what the
model claims.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import THREADS, machine_line, print_table
from benchmarks.revisions import build, commit_of, run_with
from benchmarks.shape_fit import shapes

QUICK, TIMES = 5.0, 3  # seconds of a fit that is run so often
COLUMNS = ("shape", "threads", "s before", "gap", "s after", "gap", "after / before")


def main() -> None:
    """Build, fit, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("base", help="a revision, as git names it")
    parser.add_argument("head", nargs="?", default="HEAD", help="another (default: HEAD)")
    parser.add_argument("--only", nargs="*", default=[""], help="shapes whose names begin so")
    parser.add_argument("--threads", type=int, nargs="*", default=THREADS)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a fit")
    args = parser.parse_args()

    commits = [commit_of(revision) for revision in (args.base, args.head)]
    packages = [build(commit) for commit in commits]
    print(machine_line())
    names = [name for name in shapes() if name.startswith(tuple(args.only))]
    rows = []
    for name in names:
        for n_threads in args.threads:
            results = [fitted(package, name, n_threads, args.limit) for package in packages]
            rows.append(row(name, n_threads, *results))
            print(*rows[-1], sep=" | ", flush=True)
    title = f"{args.head} ({commits[1][:9]}) against {args.base} ({commits[0][:9]})"
    print_table(title, COLUMNS, rows)


def fitted(package: Path, shape: str, n_threads: int, limit: float) -> dict[str, Any]:
    """Fit the shape by a revision, some times if that is quick, and take the median."""
    results: list[dict[str, Any]] = []
    for _ in range(TIMES):
        arguments = (shape, "--threads", str(n_threads), "--limit", str(limit))
        try:
            results.append(run_with(package, "benchmarks.shape_fit", *arguments))
        except subprocess.CalledProcessError as error:
            return {"why": f"ended with status {error.returncode}"}
        if results[-1].get("seconds", np.inf) > QUICK:
            break
    seconds = [result.get("seconds", np.nan) for result in results]
    return {**results[-1], "seconds": float(np.median(seconds))}


def row(
    name: str, n_threads: int, before: dict[str, Any], after: dict[str, Any]
) -> tuple[Any, ...]:
    """Return a line of the table."""
    cells: list[Any] = []
    for result in (before, after):
        done = "gap" in result
        time = result["seconds"] if done else ""
        gap = f"{result['gap']:.0e}" if done else ""
        cells += [time, " ".join(filter(None, (gap, result["why"])))]
    both = "gap" in before and "gap" in after
    return name, n_threads, *cells, after["seconds"] / before["seconds"] if both else ""


if __name__ == "__main__":
    main()
