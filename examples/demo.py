"""The main job on real data that needs no download: train, predict, evaluate, look.

Usage: python examples/demo.py FOLDER

The diabetes data of scikit-learn: which of 442 patients will be worse off a year later? A third of
them is held out. Every step is a command that is printed before it runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from ranksvm import dump_svmlight


def run(*arguments: str | Path) -> None:
    """Print a command and run it with this interpreter."""
    words = [str(argument) for argument in arguments]
    print("\n$ ranksvm " + " ".join(words), flush=True)
    subprocess.run([sys.executable, "-m", "ranksvm", *words], check=True)


def main(folder: Path) -> None:
    """Run the demonstration in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = folder / "diabetes.train.svm", folder / "diabetes.test.svm"
    model, scores = folder / "diabetes.model.json", folder / "diabetes.scores"
    picture = folder / "convergence.png"

    X, y = load_diabetes(return_X_y=True, scaled=False)
    held_out = np.random.default_rng(0).permutation(len(y)) % 3 == 0
    dump_svmlight(train, X[~held_out], y[~held_out])
    dump_svmlight(test, X[held_out], y[held_out])
    print(f"wrote {train} ({np.sum(~held_out)} patients) and {test} ({np.sum(held_out)})")

    run("train", train, model, "--tol", "1e-9", "--plot", picture)
    run("predict", model, test, scores)
    run("evaluate", test, scores)
    print("\nfiles:", *(path for path in (train, test, model, scores, picture)), sep="\n  ")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
