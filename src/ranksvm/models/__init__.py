"""What predicts: weights and kernel expansions, scaling folded in; knows no solver and no file."""

from .kernel import KernelModel
from .linear import LinearModel

__all__ = ["KernelModel", "LinearModel", "Model"]

Model = LinearModel | KernelModel
