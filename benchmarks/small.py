"""
What a user feels on small data: a fit in milliseconds, the command's help, the import.

    python -m benchmarks.small
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.datasets.small import make_small
from benchmarks.harness import THREADS, machine_line, medians, print_table, process
from ranksvm import RankSVM


def main() -> None:
    """Print the tables of fits and of starts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--repeats", type=int, default=21)
    args = parser.parse_args()

    print(machine_line())
    report_fits(args.repeats)
    report_starts(args.repeats)


def report_fits(repeats: int) -> None:
    """Fit with the default settings on 10,000 rows."""
    X, y, qid = make_small()
    rows = []
    for n_threads in THREADS:
        model = RankSVM(n_threads=n_threads)
        with threadpool_limits(n_threads):
            seconds = medians({"fit": lambda model=model: model.fit(X, y, qid)}, repeats)["fit"]
        accuracy = model.score(X, y, qid)
        rows.append((n_threads, 1e3 * seconds, model.n_iter_, model.dual_gap_, accuracy))
    columns = ("threads", "fit in ms", "iterations", "gap", "pairwise accuracy")
    print_table("small, 10,000 x 46, 470 queries", columns, rows)


def report_starts(repeats: int) -> None:
    """Start of the command line and import of the package, each in a process of its own."""
    seconds = medians(
        {
            "python -c pass": python("pass"),
            "import numpy": python("import numpy"),
            "import numpy, ranksvm": python("import numpy, ranksvm"),
            "from ranksvm import RankSVM": python("from ranksvm import RankSVM"),
            "ranksvm --help": process(Path(sys.executable).with_name("ranksvm"), "--help"),
        },
        repeats,
    )
    rows = [(name, 1e3 * s) for name, s in seconds.items()]
    extra = seconds["import numpy, ranksvm"] - seconds["import numpy"]
    rows.append(("what ranksvm adds to numpy", 1e3 * extra))
    print_table("start of a process", ("", "ms"), rows)


def python(code: str) -> Callable[[], Any]:
    """Call that runs the code in a new interpreter."""
    return process(sys.executable, "-c", code)


if __name__ == "__main__":
    main()
