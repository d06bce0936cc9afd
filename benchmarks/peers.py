"""What the systems of other packages share."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

import numpy as np

from benchmarks.systems import System
from benchmarks.task import Rows, Task
from ranksvm.pairs.queries import QueryGroups

Fitted = TypeVar("Fitted")


class Peer(System):
    """
    A system of another package.

    `losses` is empty where it minimises something else than the tasks say: it takes part in all of
    them, and only its accuracy compares.

    Attributes
    ----------
    package, module : str
        What to install, and what to import.
    """

    package: ClassVar[str]
    module: ClassVar[str]

    def unable(self, task: Task) -> str:
        """Say so if the package is missing, or what the task has that it does not take."""
        if find_spec(self.module) is None:
            return f"{self.package} is not installed"
        return (super().unable(task) if self.losses else "") or self.refusal(task)

    def refusal(self, task: Task) -> str:
        """Say in a word what the task has that the package does not take."""
        return ""


def timed(function: Callable[[], Fitted]) -> tuple[Fitted, float]:
    """Return what a function returns, and its seconds."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def by_query(rows: Rows) -> tuple[Rows, np.ndarray]:
    """Put rows in order of queries, numbered 0, 1, ..., and return the sizes of these, too."""
    groups = QueryGroups.from_qid(rows.qid, len(rows.y))
    sizes = np.diff(groups.indptr)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    if groups.order is None:
        return rows._replace(qid=qid), sizes
    return Rows(rows.X[groups.order], rows.y[groups.order], qid), sizes


def rows_to_score(task: Task) -> Any:
    """X of the rows that a model without weights is judged by."""
    return (task.test or task.rows).X
