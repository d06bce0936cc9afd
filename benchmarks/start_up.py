"""What it takes to begin: help, an import, and the first fit, in CPU time.

Run: python -m benchmarks.start_up [--repeat N]

Each is a process of its own on one thread, and the least of so many runs counts: of ``ranksvm
--help`` beside ``python -c pass``, of importing RankSVM and fitting it beside the
same of scikit-learn's LinearSVC, and of ``ranksvm train`` on 200 rows and on 10,000 x 46 beside
``import numpy``. All find the bytecode of what they import, as where a package is installed.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.datasets.small import make_small
from ranksvm import dump_svmlight

_ROWS = """
import numpy as np
X = np.random.default_rng(0).normal(size=(200, 5))
y = np.arange(200) % 2
"""
_LINEAR_SVC = f"{_ROWS}from sklearn.svm import LinearSVC\nLinearSVC().fit(X, y)"
_RANK_SVM = f"{_ROWS}from ranksvm import RankSVM\nRankSVM(n_threads=1).fit(X, y)"


def cpu_seconds(bytecode: Path, *arguments: str) -> float:
    """Return the CPU time of a Python process, of user and system, with bytecode of this folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measured(folder: Path, repeat: int) -> dict[str, float]:
    """Return the least CPU time of each process; they take turns."""
    rows = [[k % 7, k % 3] for k in range(200)]
    dump_svmlight(folder / "rows.svm", rows, [k % 2 for k in range(200)])
    dump_svmlight(folder / "small.svm", *make_small())
    train = ("-m", "ranksvm", "train", "--threads", "1")
    processes = {
        "python -c pass": ("-c", "pass"),
        "import numpy": ("-c", "import numpy"),
        "ranksvm --help": ("-m", "ranksvm", "--help"),
        "import and fit LinearSVC": ("-c", _LINEAR_SVC),
        "import and fit RankSVM": ("-c", _RANK_SVM),
        "ranksvm train, 200 x 2": (*train, str(folder / "rows.svm"), "-"),
        "ranksvm train, 10,000 x 46": (*train, str(folder / "small.svm"), "-"),
    }
    least = dict.fromkeys(processes, float("inf"))
    for _ in range(repeat):
        for name, arguments in processes.items():
            least[name] = min(least[name], cpu_seconds(folder / "bytecode", *arguments))
    return least


def report(seconds: dict[str, float]) -> str:
    """Return a table, and how far what is promised is kept."""
    lines = [f"{name:26} {value * 1e3:8.1f} ms" for name, value in seconds.items()]
    plain, helped = seconds["python -c pass"], seconds["ranksvm --help"]
    fit = seconds["import and fit RankSVM"] / seconds["import and fit LinearSVC"]
    lines.append(f"help / (3 x pass + 20 ms)  {helped / (3 * plain + 0.02):8.2f}")
    lines.append(f"RankSVM / LinearSVC        {fit:8.2f}")
    trained = seconds["ranksvm train, 10,000 x 46"] / seconds["import numpy"]
    lines.append(f"train / import numpy       {trained:8.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=10, metavar="N")
    with tempfile.TemporaryDirectory() as folder:
        print(report(measured(Path(folder), parser.parse_args().repeat)))


if __name__ == "__main__":
    main()
