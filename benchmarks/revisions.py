"""
The hot paths of two git revisions, on this machine, by ratio.

    python -m benchmarks.revisions BASE [HEAD]      (make bench-revisions BASE=v0.1.0)

Both are built, each into a folder of its own, and the `micro.py` of the current checkout runs with
one and the other by turns. In every round the base runs twice, and how these two differ tells how
far a ratio can be trusted: the noise is the standard error of the median ratio that they imply, and
no less than is typical of all paths.
A path is "slower" or "faster" if the ratio is further from 1 than three times that; with many
paths, one or the other may seem so by chance.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import machine_line, print_table

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ROOT / "build" / "revisions"
BASE, HEAD, BASE_AGAIN = range(3)
DOUBT = 3.0  # standard errors
MOST_LETTERS = 80  # of what a revision says in the table
NORMAL_MAD = 1.4826  # standard deviation of a normal variable, over its median absolute deviation
NORMAL_MEDIAN = np.sqrt(np.pi / 2)  # standard error of a median, over that of a mean


def main() -> None:
    """Build, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("base", help="a revision, as git names it")
    parser.add_argument("head", nargs="?", default="HEAD", help="another (default: HEAD)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="paths whose names begin so")
    args = parser.parse_args()

    commits = [commit_of(revision) for revision in (args.base, args.head)]
    packages = [build(commit) for commit in commits]
    print(machine_line())
    rounds = [measure_round(k, *packages, args.only) for k in range(args.rounds)]
    rows = [comparison.row for comparison in compare(rounds)]
    title = f"{args.head} ({commits[1][:9]}) against {args.base} ({commits[0][:9]})"
    columns = ("path", "ms before", "ms after", "after / before", "noise", "")
    print_table(f"{title}, {args.rounds} rounds", columns, rows)


def commit_of(revision: str) -> str:
    """Full name of the commit."""
    command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"{revision!r} is no revision of this repository: see git log")
    return found.stdout.strip()


def build(commit: str) -> Path:
    """Install a commit into a folder of its own, once, and return the folder."""
    folder = BUILDS / f"{commit[:12]}-{sys.implementation.cache_tag}"
    package, source = folder / "package", folder / "source"
    if (folder / "complete").exists():
        return package
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"building {commit[:12]}", file=sys.stderr, flush=True)
    archive = folder / "source.tar"
    subprocess.run(["git", "archive", "--output", archive, commit], cwd=ROOT, check=True)
    shutil.unpack_archive(archive, source)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--no-deps", "--target", package, source], check=True)
    archive.unlink()
    shutil.rmtree(source)
    (folder / "complete").touch()
    return package


def measure_round(number: int, base: Path, head: Path, only: str = "") -> list[dict[str, Any]]:
    """Measure base, head and base again; every other round begins at the other end."""
    turns = {BASE: base, HEAD: head, BASE_AGAIN: base}
    order = sorted(turns, reverse=number % 2 == 1)
    results = {turn: measure(turns[turn], only) for turn in order}
    return [results[turn] for turn in (BASE, HEAD, BASE_AGAIN)]


def measure(package: Path, only: str = "") -> dict[str, Any]:
    """Run `micro.py` with the ranksvm in this folder."""
    return run_with(package, "benchmarks.micro", "--only", only)


def run_with(package: Path, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of the current checkout with the ranksvm in this folder, and read its JSON."""
    # Without site (-S), the editable installation in this environment does not get in first.
    folders = [str(package), *{sysconfig.get_path(name) for name in ("purelib", "platlib")}]
    command = [sys.executable, "-S", "-m", module, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(done.stdout)
    if Path(result["package"]) != package / "ranksvm":
        raise RuntimeError(f"measured {result['package']} in place of {package / 'ranksvm'}")
    return result


class Comparison(NamedTuple):
    """
    What the rounds say of one path.

    Attributes
    ----------
    name : str
    before, after : float
        Median seconds; NaN where a revision lacks the path.
    ratio : float
        Median over the rounds of after / before.
    noise : float
        Standard error of the logarithm of the ratio, by the differences between like and like, or
        that of half of the paths if it is more.
    why : str
        What a revision said that lacks the path.
    """

    name: str
    before: float
    after: float
    ratio: float
    noise: float
    why: str = ""

    @property
    def verdict(self) -> str:
        """Which is faster, nothing where it cannot be told, or why there is no ratio."""
        if self.why:
            return self.why
        if abs(np.log(self.ratio)) <= DOUBT * self.noise:
            return ""
        return "slower" if self.ratio > 1 else "faster"

    @property
    def row(self) -> tuple[Any, ...]:
        """A row of the table."""
        times = [1e3 * self.before, 1e3 * self.after]
        cells = ["" if np.isnan(time) else float(time) for time in times]
        if self.why:
            return (self.name, *cells, "", "", shorten(self.why, MOST_LETTERS, placeholder=" ..."))
        return (self.name, *cells, f"{self.ratio:.3f}", f"{self.noise:.1%}", self.verdict)


def compare(rounds: list[list[dict[str, Any]]]) -> list[Comparison]:
    """Compare every path of either revision, in the order of `micro.py`."""
    first = rounds[0]
    names = dict.fromkeys(
        name for result in first for part in ("seconds", "lacking") for name in result[part]
    )
    # A path that one revision lacks comes where the other has it.
    order = max((list(result["seconds"]) for result in first), key=len)
    position = {name: k for k, name in enumerate(order)}
    ordered = sorted(names, key=lambda name: position.get(name, len(order)))
    comparisons = [_compare_path(name, rounds) for name in ordered]
    # A few rounds may agree by chance: a path is as noisy as half of the others, at least.
    typical = np.median([c.noise for c in comparisons if not c.why] or [0.0])
    return [c._replace(noise=float(np.fmax(c.noise, typical))) for c in comparisons]


def _compare_path(name: str, rounds: list[list[dict[str, Any]]]) -> Comparison:
    seconds = np.array(
        [[result["seconds"].get(name, np.nan) for result in results] for results in rounds]
    )
    base, head, again = np.log(seconds).T
    both = np.array([base, again]).mean(axis=0)
    why = "; ".join(
        f"not {when}: {result['lacking'][name]}"
        for when, result in zip(("before", "after"), rounds[0], strict=False)
        if name in result["lacking"]
    )
    return Comparison(
        name,
        float(np.exp(np.median(both))),
        float(np.exp(np.median(head))),
        float(np.exp(np.median(head - both))),
        standard_error(again - base),
        why,
    )


def standard_error(differences: np.ndarray) -> float:
    """
    Estimate the standard error of the median over rounds of ``head - (base + again) / 2``.

    `differences`, of shape (n_rounds,), are those of ``again - base``, whose variance is twice that
    of one measurement, where that of the above is one and a half times.
    """
    deviation = NORMAL_MAD * np.median(np.abs(differences)) * np.sqrt(1.5 / 2)
    return float(NORMAL_MEDIAN * deviation / np.sqrt(len(differences)))


if __name__ == "__main__":
    main()
