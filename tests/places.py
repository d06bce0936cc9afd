"""Where objectives are computed: by the compiled core, or on arrays of a library."""

import ctypes
from dataclasses import dataclass
from typing import Any

import pytest

from ranksvm import RankSVM
from ranksvm.arrays.placement import design_matrix, named_device


def has_driver():
    """Whether there is a driver of CUDA; to ask a library would import it."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


CORE = "cpu"
GPUS = ["torch:cuda", "cupy:cuda"]
LIBRARIES = ["numpy:cpu", "torch:cpu", *(GPUS if has_driver() else [])]
NAMES = [CORE, *LIBRARIES]

core_only = pytest.mark.parametrize("place", [CORE], indirect=True)


@dataclass(frozen=True)
class Place:
    """A place by its public name, with the device of its arrays; None for the core."""

    name: str
    device: Any

    @classmethod
    def named(cls, name):
        library = pytest.importorskip(name.partition(":")[0]) if ":" in name else None
        if name == "torch:cpu":
            library.set_num_threads(1)  # small arrays gain nothing, and lose much on a busy machine
        try:
            return cls(name, named_device(name))
        except ValueError as error:
            if name not in GPUS:
                raise
            pytest.skip(str(error).partition(";")[0])

    def ranker(self, *args, **parameters):
        """A `RankSVM` that computes there; a test is skipped whose solver is none for it."""
        self._require(parameters.get("solver"))
        return RankSVM(*args, device=self.name, **parameters)

    def seeds(self, number):
        """So many seeds by the core, and one on arrays, where small problems take long."""
        return range(number if self.device is None else min(number, 1))

    def matrix(self, X, solver="auto"):
        """X of NumPy or SciPy as a design matrix there; the same for a solver that is named."""
        self._require(solver)
        return design_matrix(X, self.name)

    def _require(self, solver):
        if self.device is not None and solver == "row_space":
            pytest.skip("the space of the rows is one of the host")
