"""Checks a wheel as its users will meet it: ``make wheel``.

Usage: ``python tools/check_wheel.py WHEEL [--python PYTHON ...] [--tests TEST ...]``

Its size, its tags (auditwheel) and its stable ABI (abi3audit) are checked; then each Python, by
default each that is on the path, installs it into an empty environment, imports it, trains a model
by the command line, and, with ``--tests``, runs these tests. The last lines are a table.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

MOST_BYTES = 1_500_000
PYTHONS = [f"python3.{minor}{kind}" for minor in range(10, 20) for kind in ("", "t")]
DATA = "2 qid:1 1:1 2:0.5\n1 qid:1 1:0.2 2:1\n0 qid:1 2:2\n1 qid:2 1:3\n0 qid:2 2:1\n"
ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Check the wheel that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", nargs="+", default=found_pythons())
    parser.add_argument("--tests", nargs="+", default=[])
    args = parser.parse_args()
    wheel = args.wheel.resolve()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    if wheel.stat().st_size > MOST_BYTES:
        print(f"the wheel has more than {MOST_BYTES / 1e6} MB")
        return 1
    audit(wheel)
    rows = [result(python, wheel, args.tests) for python in args.python]
    print(*rows, sep="\n")
    return any(" FAILED" in row for row in rows)


def found_pythons() -> list[str]:
    """Return the Pythons on the path that start; version managers have names of others, too."""
    return [name for name in PYTHONS if shutil.which(name) and starts(name)]


def starts(python: str) -> bool:
    """Tell whether a Python runs."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def audit(wheel: Path) -> None:
    """Check what the wheel asks of systems, and of Pythons."""
    if sys.platform == "linux" and find_spec("auditwheel"):
        run(sys.executable, "-m", "auditwheel", "show", wheel)
    run(sys.executable, "-m", "abi3audit", "--strict", "--summary", wheel)


def result(python: str, wheel: Path, tests: list[str]) -> str:
    """Return a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            row = f"{python}: {tried(python, wheel, tests, Path(folder))}"
        except subprocess.CalledProcessError as error:
            row = f"{python}: FAILED: {' '.join(map(str, error.cmd))}"
    print(row, flush=True)
    return row


def tried(python: str, wheel: Path, tests: list[str], folder: Path) -> str:
    """Install and use the wheel in an empty environment; return what was there and went well."""
    run(python, "-m", "venv", folder / "venv")
    own = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(own, "-m", "pip", "install", "--quiet", "--only-binary", "numpy,scipy,scikit-learn", wheel)
    run(own, "-m", "pip", "check")
    (folder / "data.svm").write_text(DATA)
    for command in (
        ["-c", "import ranksvm; ranksvm.RankSVM().fit([[0], [1]], [0, 1])"],
        ["-m", "ranksvm", "train", "data.svm", "model.json"],
        ["-m", "ranksvm", "evaluate", "data.svm", "model.json"],
    ):
        run(own, *command, cwd=folder)
    if tests:
        run(own, "-m", "pip", "install", "--quiet", f"{wheel}[test]")
        run(own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=ROOT)
    return f"{versions(own)}: installs, imports, trains" + ", passes" * bool(tests)


def versions(python: Path) -> str:
    """Return the versions of Python and of what was installed."""
    program = (
        "import sys, numpy, scipy, sklearn\n"
        "print(sys.version.split()[0], *(f'{m.__name__} {m.__version__}' "
        "for m in (numpy, scipy, sklearn)), sep=', ')"
    )
    return subprocess.check_output([python, "-c", program], text=True).strip()


def run(*command: object, cwd: Path | None = None) -> None:
    """Run a command, which must end well."""
    subprocess.run(list(map(str, command)), cwd=cwd, check=True)


if __name__ == "__main__":
    sys.exit(main())
