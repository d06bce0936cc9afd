"""The command that shows what there is: ``ranksvm demo``."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    import argparse

_COMMANDS = (
    "ranksvm train train.svm model.json --tol 1e-9 --plot convergence.png",
    "ranksvm predict model.json test.svm scores.txt",
    "ranksvm predict model.json test.svm --top 5",
    "ranksvm evaluate test.svm model.json",
    "ranksvm report model.json test.svm report.html --quiet",
)


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    demo = commands.add_parser(
        "demo",
        description="Rank the diabetes patients of scikit-learn by how their illness will go on, a "
        "third of them held out. Each step is a command, which is printed before it runs.",
    )
    demo.set_defaults(run=_demo, parser=demo)
    demo.add_argument(
        "folder",
        nargs="?",
        metavar="FOLDER",
        help="where to write the data, the model, the scores and the picture (default: a new "
        "temporary folder)",
    )


def _demo(args: argparse.Namespace) -> None:
    folder = _folder(args.folder)
    _say(f"in {folder}:")
    _write_patients(folder)
    is_drawn = find_spec("matplotlib") is not None
    for command in _COMMANDS:
        words = shlex.split(command)
        if words[1] == "train" and not is_drawn:
            words = words[:-2]  # the picture
        _run(words[1:], folder)
    if not is_drawn:
        _say("\nother pictures than those of report.html need: pip install 'ranksvm[plot]'")
    _say(f"\nin {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


def _folder(name: str | None) -> Path:
    if name is None:
        from tempfile import mkdtemp

        return Path(mkdtemp(prefix="ranksvm-demo-"))
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"{name} is no folder: name another") from None
    return Path(name)


def _write_patients(folder: Path) -> None:
    """Write the labels and features of two thirds of the patients, and of the others."""
    import numpy as np
    from sklearn.datasets import load_diabetes

    from ..files.svmlight import dump_svmlight

    X, y = load_diabetes(return_X_y=True, scaled=False)
    held_out = np.random.default_rng(0).permutation(len(y)) % 3 == 0
    for name, rows in (("train.svm", ~held_out), ("test.svm", held_out)):
        dump_svmlight(folder / name, X[rows], y[rows])
        _say(f"wrote {name}: {np.count_nonzero(rows)} patients, {X.shape[1]} features")


def _run(words: list[str], folder: Path) -> None:
    """Print a command and run it with this interpreter; end with its status, if that is not 0."""
    _say("\n$ " + " ".join(["ranksvm", *words]))
    command = [sys.executable, "-m", "ranksvm", *words]
    status = subprocess.run(command, cwd=folder, check=False).returncode
    if status:
        raise SystemExit(status)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
