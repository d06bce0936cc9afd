"""
Run every benchmark, at sizes that end within half an hour, and write one page that leads to all.

    python -m benchmarks.all [SCRIPT ...]

The page is build/benchmarks/index.md. It links the pages of the figures and holds the tables of the
other benchmarks. Larger sizes are the defaults of the scripts, or their arguments. A script that
fails or takes too long is shown as such, and the others go on; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import machine_line, table_lines
from benchmarks.report import FOLDER

COMMANDS = (
    "row_space",
    "airola_fig1 --rows 64000 --limit 10",
    "lee_lin_convergence",
    "lee_lin_dual",
    "jin_lin_pswx --limit 5",
    "zapien_path --repeats 1",
    "counting --rows 128000 --limit 0.5",
    "small --repeats 7",
    "start_up --repeat 7",
    "sweep --rows 128000 --repeats 5",
    "one_ranking --rows 512000 2000000",
    "files --rows 36000",
    "tables --rows 36000",
    "text_like --repeats 3",
    "web_like --repeats 3",
    "penalties --repeats 1",
    "web_like --rows 723421 --queries 6000 --repeats 1",
    "hinge --repeats 1 --limit 5 --rows-large 128000",
    "survival --rows 1000 10000 --limit 10",
    "raw_features --rows 50000",
    "grid --rows 5000 --repeats 1",
    "cross_validation --repeats 1",
    "kernel --rows 500 2000 --iterations 20 --repeats 1",
    "metrics --repeats 3",
    "ranking_quality --folds 1",
    "conditions",
)
LINES_OF_ERROR = 15
GRACE = 5.0  # seconds in which a script that is interrupted must end


@dataclass(frozen=True)
class Result:
    """What became of a script: its output, and "" for `trouble` if it came to a good end."""

    command: str
    seconds: float
    output: str = ""
    trouble: str = ""
    error: str = ""

    @property
    def page(self) -> Path | None:
        """The page that it wrote, if it did."""
        written = re.findall(r"^Written: (.+\.md)$", self.output, re.MULTILINE)
        return Path(written[-1]) if written and not self.trouble else None

    def row(self, folder: Path) -> tuple[str, float, str]:
        """Return the line of the table of contents."""
        if self.page is not None:
            target = os.path.relpath(self.page, folder)
        else:
            target = "#" + re.sub(r"[^\w -]", "", self.command).replace(" ", "-").lower()
        return f"[`{self.command}`]({target})", self.seconds, self.trouble or "done"

    def section(self) -> str:
        """Tell the rest; "" where that has a page of its own."""
        if self.page is not None:
            return ""
        parts = [f"## {self.command}"]
        if self.output:
            parts.append(re.sub("^#", "##", self.output.strip(), flags=re.MULTILINE))
        if self.trouble:
            parts.append(f"**{self.trouble}**")
        if self.error:
            last = self.error.strip().splitlines()[-LINES_OF_ERROR:]
            parts.append("\n".join(["```", *last, "```"]))
        return "\n\n".join(parts)


def main() -> int:
    """Run the scripts one after the other; the page grows as they end."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("scripts", nargs="*", help="only these, such as counting")
    parser.add_argument("--limit", type=float, default=400, help="seconds that a script may take")
    parser.add_argument("--total", type=float, default=1800, help="seconds that all may take")
    args = parser.parse_args()

    commands = [c for c in COMMANDS if not args.scripts or c.split()[0] in args.scripts]
    if not commands:
        parser.error(f"no such script; there are {', '.join(sorted(set(map(first, COMMANDS))))}")
    head = machine_line()
    print(head)
    end = time.monotonic() + args.total
    results: list[Result] = []
    for k, command in enumerate(commands, start=1):
        print(f"[{k:2d}/{len(commands)}] {command} ... ", end="", flush=True)
        results.append(run(command, min(args.limit, end - time.monotonic())))
        print(f"{results[-1].seconds:.0f} s {results[-1].trouble}", flush=True)
        write(FOLDER / "index.md", head, results)
    print(f"Written: {FOLDER / 'index.md'}")
    return int(any(result.trouble for result in results))


def run(command: str, limit: float) -> Result:
    """Run a script, for `limit` seconds at most, and leave none of its processes behind."""
    if limit <= 0:
        return Result(command, 0.0, trouble="not run: the time for all is over")
    script, *options = shlex.split(command)
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{script}", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        trouble = ""
        try:
            output, error = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            trouble = f"stopped after {limit:.0f} s"
            stop(process)
            output, error = process.communicate()
        finally:
            stop(process)
    if process.returncode and not trouble:
        trouble = f"failed with exit status {process.returncode}"
    return Result(command, time.monotonic() - start, output, trouble, error if trouble else "")


def stop(process: subprocess.Popen[str]) -> None:
    """End a script and every process that it started."""
    process.send_signal(signal.SIGINT)  # so that races end what they run
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    with contextlib.suppress(ProcessLookupError):  # all of them have ended
        os.killpg(process.pid, signal.SIGKILL)


def write(page: Path, head: str, results: list[Result]) -> None:
    """Write the page of what has been run so far."""
    page.parent.mkdir(parents=True, exist_ok=True)
    rows = [result.row(page.parent) for result in results]
    contents = "\n".join(table_lines(("", "seconds", "outcome"), rows))
    parts = ["# Benchmarks", head, contents, *(result.section() for result in results)]
    page.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")


def first(command: str) -> str:
    """Return the script of a command."""
    return command.split()[0]


if __name__ == "__main__":
    sys.exit(main())
