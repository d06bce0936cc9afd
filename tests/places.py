"""Where objectives are computed: by the compiled core, or on arrays of a library."""

from dataclasses import dataclass
from typing import Any

import pytest

from ranksvm.arrays.placement import copied
from ranksvm.linear.matrix import DesignMatrix

NAMES = ["core", "numpy", "torch"]

core_only = pytest.mark.parametrize("place", ["core"], indirect=True)


@dataclass(frozen=True)
class Place:
    """A place by its name, with the device of its arrays; None for the core."""

    name: str
    device: Any

    @classmethod
    def named(cls, name):
        if name == "core":
            return cls(name, None)
        if name == "torch":
            torch = pytest.importorskip("torch", reason="PyTorch is not installed")
            torch.set_num_threads(1)  # small arrays gain nothing, and lose much on a busy machine
        from ranksvm.arrays.device import ArrayDevice

        return cls(name, ArrayDevice.named(name))

    def seeds(self, number):
        """So many seeds by the core, and two on arrays, where small problems take long."""
        return range(number if self.device is None else min(number, 2))

    def matrix(self, X):
        """X of NumPy or SciPy as a design matrix there."""
        return DesignMatrix.from_array(X) if self.device is None else copied(X, self.device)
