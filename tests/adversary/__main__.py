"""Train on many problems, and list what fits claim that is not true.

python -m tests.adversary --problems 420 --seed 0 --jobs 2
python -m tests.adversary offsets-17 scales-3
python -m tests.adversary --write-optima
"""

import argparse
import sys
from collections import Counter
from multiprocessing import get_context
from statistics import median

from . import claims, problems, sample

COLUMNS = "problems", "fits", "objective", "bound", "converged", "other", "unconverged"


def main():
    arguments = parsed()
    if arguments.write_optima:
        sample.write_optima()
        return 0
    names = arguments.names or problems.names(arguments.problems, arguments.seed, arguments.kinds)
    found = []
    for done, of_problem in enumerate(judged(names, arguments.jobs), 1):
        found += of_problem
        report_progress(done, len(names), found)
    for verdict in found:
        if verdict.wrong or arguments.names:
            print(verdict)
    print(table(found))
    return 1 if any(verdict.wrong for verdict in found) else 0


def parsed():
    parser = argparse.ArgumentParser(
        prog="python -m tests.adversary", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", nargs="*", help="problems by name, such as offsets-17")
    parser.add_argument("--problems", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the first of each kind")
    parser.add_argument("--kinds", nargs="+", choices=problems.KINDS, help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument(
        "--write-optima", action="store_true", help="compute those of the tests' sample again"
    )
    return parser.parse_args()


def judged(names, jobs):
    """Yield the verdicts on each problem, in order."""
    if jobs == 1:
        yield from map(claims.verdicts_of, names)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(claims.verdicts_of, names)


def report_progress(done, total, found):
    if sys.stderr.isatty():
        wrong = sum(bool(verdict.wrong) for verdict in found)
        end = "\n" if done == total else ""
        print(f"\r{done}/{total} problems, {wrong} wrong", end=end, file=sys.stderr, flush=True)


def table(found):
    """What is wrong, by kind."""
    kinds = dict.fromkeys(kind_of(verdict) for verdict in found)
    rows = [[kind, *cells([v for v in found if kind_of(v) == kind])] for kind in kinds]
    rows = [
        ["kind", *COLUMNS, "worst objective", "worst bound"],
        *rows,
        ["all", *cells(found)],
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in rows]
    return "\n".join([*lines, *notes(found)])


def cells(found):
    """Counts by `COLUMNS`, and the worst of both ratios."""
    count = Counter()
    for verdict in found:
        false = {"objective", "bound"} & set(verdict.wrong)
        count.update(false)
        count["converged"] += bool(false) and verdict.status == "converged"
        count["other"] += len(verdict.wrong) > len(false)
        count["unconverged"] += verdict.status != "converged"
    count["problems"] = len({verdict.problem for verdict in found})
    count["fits"] = len(found)
    worst = max(v.excess for v in found), max(v.overshoot for v in found)
    return [*(str(count[name]) for name in COLUMNS), *(f"{value:.2g}" for value in worst)]


def kind_of(verdict):
    return verdict.problem.rsplit("-", 1)[0]


def notes(found):
    """How tight the certificate is where nothing is hard."""
    gaps = [v.dual_gap for v in found if kind_of(v) == "ordinary" and v.fit.endswith("1e-09")]
    if gaps:
        yield f"median dual gap of ordinary problems at tol=1e-9: {median(gaps):.2g}"


if __name__ == "__main__":
    sys.exit(main())
