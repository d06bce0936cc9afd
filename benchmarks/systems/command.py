"""
A system that the user gives as a command, such as LIBLINEAR-ranksvm or SVM^rank.

    liblinear=train -s 8 -c {C} -e 1e-6 {data} {model}
    svmrank:hinge=svm_rank_learn -c {C_rank} -l 1 {data} {model}

The command is run without a shell. It reads the rows from the SVMlight file ``{data}`` and writes
``{model}`` as LIBLINEAR or SVM^rank do, or as `ranksvm train` does. A pair weighs ``{C}``, and
``{C_rank}`` is C times the number of queries, as SVM^rank wants it. ``{tol}`` runs it several
times, from 0.1 down to 1e-9 by tenths. Its seconds are those of the whole command.
"""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peers import by_query, timed
from benchmarks.systems import Report, System
from benchmarks.task import LOSSES, Task
from ranksvm import dump_svmlight, load_model

FIELDS = ("data", "model", "C", "C_rank", "tol")
TOLERANCES = tuple(10.0**-k for k in range(1, 10))


class Command(System):
    """
    A program that trains a linear model from a file.

    Parameters
    ----------
    name : str
        What to call it.
    template : str
        The command, with the fields above in braces.
    losses : tuple of str, optional
        What it minimises; by default it takes part in every task.

    Raises
    ------
    ValueError
        If the command has other fields, or lacks ``{data}`` or ``{model}``.
    """

    name = "command"
    losses = tuple(LOSSES)

    def __init__(self, name: str, template: str, losses: tuple[str, ...] = tuple(LOSSES)) -> None:
        self.name, self.losses = name, losses
        self.template = template
        try:
            words = self._words(dict.fromkeys(FIELDS, "0"))
        except (KeyError, IndexError, ValueError) as error:
            fields = ", ".join(f"{{{field}}}" for field in FIELDS)
            raise ValueError(
                f"the command {template!r} of {name} has {error} in it: the fields are {fields}, "
                "and braces in it are doubled"
            ) from None
        if not words or "{data}" not in template or "{model}" not in template:
            raise ValueError(
                f"the command {template!r} of {name} must say where {{data}} and {{model}} belong"
            )

    @classmethod
    def from_text(cls, text: str) -> Command:
        """
        Read ``NAME=COMMAND`` or ``NAME:LOSS=COMMAND``.

        Raises
        ------
        ValueError
            If it is neither.
        """
        head, equals, template = text.partition("=")
        name, colon, loss = head.strip().partition(":")
        if not name or not equals or (colon and loss not in LOSSES):
            raise ValueError(
                f"a command is NAME=COMMAND or NAME:LOSS=COMMAND, where LOSS is one of "
                f"{', '.join(LOSSES)}; found {text!r}"
            )
        return cls(name, template, (loss,) if colon else tuple(LOSSES))

    def unable(self, task: Task) -> str:
        """Say so if there is no such program."""
        program = self._words(dict.fromkeys(FIELDS, "0"))[0]
        return super().unable(task) or (
            "" if shutil.which(program) else f"{program} is not installed"
        )

    def run(self, task: Task, report: Report) -> None:
        """Run the command, once or for every tolerance; an iteration is a run."""
        with tempfile.TemporaryDirectory() as folder:
            data, model = Path(folder, "data.svm"), Path(folder, "model")
            rows, _ = by_query(task.rows)
            dump_svmlight(data, rows.X, rows.y, rows.qid + 1)  # SVM^rank counts from one
            values = {"data": str(data), "model": str(model), "C": f"{task.c:.17g}"}
            values["C_rank"] = f"{task.c * task.preferences.groups.n_queries:.17g}"
            tolerances = TOLERANCES if "{tol}" in self.template else TOLERANCES[-1:]
            for k, tol in enumerate(tolerances):
                model.unlink(missing_ok=True)
                words = self._words(values | {"tol": f"{tol:g}"})
                _, seconds = timed(lambda words=words: execute(words))
                report(k + 1, read_weights(model, task.X.shape[1]), seconds=seconds)

    def _words(self, values: dict[str, str]) -> list[str]:
        return [word.format(**values) for word in shlex.split(self.template)]


def execute(words: list[str]) -> None:
    """Run a command; RuntimeError tells what it said if it failed."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, **pipes, text=True)
    # A race that is over terminates the process that waits here.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        output, errors = process.communicate()
    finally:
        process.kill()
        signal.signal(signal.SIGTERM, before)
    if process.returncode:
        said = (errors.strip() or output.strip()).splitlines()
        last = f": {said[-1]}" if said else ""
        raise RuntimeError(f"{words[0]} ended with {process.returncode}{last}")


def read_weights(model: Path, n_features: int) -> np.ndarray:
    """Read the weights of a model; those of features that it leaves out are 0."""
    if not model.is_file():
        raise RuntimeError("the command wrote no model")
    found = load_model(model).coef
    weights = np.zeros(n_features)
    weights[: len(found)] = found
    return weights


SYSTEMS = ()
