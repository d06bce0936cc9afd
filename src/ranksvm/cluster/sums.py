"""What partitions bring, and how it is added up: in their order, whatever worker it comes from.

Numbers are kept apart until the driver adds them up exactly. Vectors and matrices are added in a
tree whose shape depends on the number of partitions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Numbers: TypeAlias = dict[str, float]

NUMBERS = 1 << 10  # bytes of those of a partition
FAN = 8  # what a node of the tree adds up, one after the other


@dataclass(frozen=True)
class Part:
    """What a partition brings to a sum, or what some have brought.

    Attributes
    ----------
    numbers : list of dict
        Of each partition.
    arrays : dict of ndarray
        The sums of vectors and matrices, by name.
    """

    numbers: list[Numbers]
    arrays: dict[str, NDArray[np.float64]]

    def __sizeof__(self) -> int:
        # Dask asks for it after each task, and would go through all numbers.
        return NUMBERS * len(self.numbers) + sum(values.nbytes for values in self.arrays.values())


def added(parts: Sequence[Part]) -> Part:
    """Add up parts in their order."""
    arrays: dict[str, Any] = {}
    for part in parts:
        for name, values in part.arrays.items():
            arrays[name] = arrays[name] + values if name in arrays else values
    return Part([numbers for part in parts for numbers in part.numbers], arrays)


def depth_of(n_parts: int) -> int:
    """Return how many times a number is added to others on its way up the tree, at most."""
    n_levels = 0
    while n_parts > 1:
        n_parts, n_levels = -(-n_parts // FAN), n_levels + 1
    return FAN * n_levels


class Total(NamedTuple):
    """What all partitions have brought."""

    part: Part

    def sum(self, name: str) -> float:
        """Add up a number of each partition, rounded once; what a partition lacks is nothing."""
        return fsum(self._of(name))

    def length(self, name: str) -> float:
        """Return the length of the vector whose parts have these lengths."""
        return float(np.hypot.reduce(self._of(name))) if self._of(name) else 0.0

    def largest(self, name: str) -> float:
        """Return the largest of a number."""
        return max(self._of(name), default=0.0)

    def has(self, name: str) -> bool:
        """Say whether some partition brought a number."""
        return any(name in numbers for numbers in self.part.numbers)

    def array(self, name: str) -> NDArray[np.float64]:
        """Return the sum of a vector or matrix."""
        return self.part.arrays[name]

    def _of(self, name: str) -> list[float]:
        return [numbers[name] for numbers in self.part.numbers if name in numbers]
