"""
The systems that the benchmarks compare, one file each.

A module of this package binds ``SYSTEMS`` to a tuple of its systems, and they take part.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from benchmarks.task import Task
from ranksvm.solvers import Iteration, Progress

Report = Callable[..., None]


class System(ABC):
    """
    A way to train a linear ranker.

    Objects travel to another process, so they must pickle.

    Attributes
    ----------
    name : str
    losses : tuple of str
        The losses that it can minimise.
    linear : bool
        Whether its model has weights. Where it has none, scores of the rows of ``task.test``, or of
        the training rows where there is no test set, are reported in their place.
    """

    name: ClassVar[str]
    losses: ClassVar[tuple[str, ...]]
    linear: ClassVar[bool] = True

    def unable(self, task: Task) -> str:
        """Say in a word why it cannot do this task; "" if it can."""
        return "" if task.loss in self.losses else f"does not minimise the {task.loss} loss"

    def prepare(self) -> None:  # noqa: B027
        """Load what takes long to load, before the clock of a run starts."""

    @abstractmethod
    def run(self, task: Task, report: Report) -> None:
        """
        Train, and call ``report(iteration, weights)`` after each iteration.

        What `report` takes is not counted. `iteration` is a number of the method's own: of planes,
        Newton steps, or products with the Hessian. A system that cannot be watched calls
        ``report(iteration, weights, seconds=...)`` after each of several whole fits of growing
        effort, with what that fit alone took.
        """


def registry() -> dict[str, System]:
    """Return all systems by name, in alphabetical order of their files."""
    systems: dict[str, System] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for system in importlib.import_module(module.name).SYSTEMS:
            systems[system.name] = system
    return systems


def progress(
    task: Task, report: Report, count: Callable[[Iteration], int] | None = None
) -> Progress:
    """
    Make a solver of the library report its best weights until the goal of the task is certified.

    `count` says what counts as iterations; the solver's own by default.
    """
    following = Progress(tol=task.goal, max_iter=1_000_000)

    def tell(line: Iteration) -> Any:
        assert following.best is not None
        report(line.iteration if count is None else count(line), following.best.weights)

    following.callback = tell
    return following
