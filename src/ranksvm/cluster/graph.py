"""The graph of a round: steps of the partitions, and the tree of sums above them.

It goes to the scheduler in one message, and one key of it comes back, so that what a round costs
beside its work are its tasks. What all steps are given, the weights among it, travels with each of
them; where it is large, once to each worker, as a task of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from dask._task_spec import List, Task, TaskRef

from ..threads import one_blas_thread
from .sums import FAN, added

Step: TypeAlias = Callable[..., Any]

LARGE = 1 << 15  # bytes


class Graph:
    """Tasks by their keys, which depend on each other and on what is held.

    Parameters
    ----------
    name : str
        That no other graph has.

    Attributes
    ----------
    tasks : dict
    """

    def __init__(self, name: str) -> None:
        self.tasks: dict[Any, Task] = {}
        self._name = name

    def map(self, name: str, step: Step, *of_each: Sequence[Any], **common: Any) -> list[TaskRef]:
        """Take a step of each, by a name that Dask shows.

        Parameters
        ----------
        name : str
        step : callable
        *of_each : sequences of TaskRef, lists of these, or values
            The arguments of each step.
        **common
            What all are given.
        """
        group = f"{name}-{self._name}-{len(self.tasks)}"
        given = self._given(group, common)
        return [
            self._add((group, k), in_one_thread, step, given, *map(_listed, arguments))
            for k, arguments in enumerate(zip(*of_each, strict=True))
        ]

    def sum(self, name: str, parts: list[TaskRef]) -> TaskRef:
        """Add up parts in a tree."""
        while len(parts) > 1:
            groups = [parts[k : k + FAN] for k in range(0, len(parts), FAN)]
            parts = self.map(f"add-{name}", added, groups)
        return parts[0]

    def _given(self, group: str, common: dict[str, Any]) -> Any:
        if _n_bytes(common.values()) < LARGE:
            return common
        return self._add(f"{group}-given", _itself, common)

    def _add(self, key: Any, function: Step, *arguments: Any) -> TaskRef:
        self.tasks[key] = Task(key, function, *arguments)
        return TaskRef(key)


def in_one_thread(step: Step, common: dict[str, Any], *arguments: Any) -> Any:
    """Take a step with one thread for matrix products, whose bits depend on their number."""
    with one_blas_thread():
        return step(*arguments, **common)


def _listed(argument: Any) -> Any:
    return List(*argument) if isinstance(argument, list) else argument


def _n_bytes(values: Any) -> int:
    """Return how large the arrays are among values, and those in tuples of them."""
    return sum(
        value.nbytes
        if isinstance(value, np.ndarray)
        else _n_bytes(value)
        if isinstance(value, tuple)
        else 0
        for value in values
    )


def _itself(value: Any) -> Any:
    return value
