"""What the parts of a solver cost on a GPU, where to start an operation takes longer than most do.

Nanoseconds of fits in double precision by each solver on an NVIDIA H200, from 6,500 to 2 million
rows, are what the weights come from (``python -m benchmarks.gpu_choice`` measures such fits again).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..linear.costs import PLANE, TYPICAL_PLANES, Costs, levels_of_longest
from ..linear.matrix import Matrix
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..records import record
from .query_blocks import are_for_blocks

PASS, FROM_HOST = 0.004, 1.0  # of a stored value; and where rows stay on the host
VECTORS = 60.0  # of a feature, for vectors of weights, which live on the host
# Whatever the data are; each time that levels are doubled, whose sums follow each other; of a row.
STEP, STEP_LEVELS, STEP_ROW = 2.5e6, 1.4e6, 6.0
PRODUCT, PRODUCT_LEVELS, PRODUCT_ROW = 1e6, 1.2e5, 2.0
SMOOTHING, SMOOTHING_PART = 3e6, 0.5  # of a step on a smoothed loss; and of the step as it is
HESSIAN, HESSIAN_VALUE, HESSIAN_LEVELS = 2e6, 0.2, 0.02  # likewise, the latter two times n d
# By blocks of queries: whatever the data are, of n d, and of two rows of a query.
BLOCKS, BLOCKS_VALUE, BLOCKS_TWO = 4e6, 0.03, 0.02
# Of n d^2; of a stored value, times d; and of d^2, which is brought to the host.
HESSIAN_PRODUCT, SPARSE_PRODUCT, HESSIAN_NUMBER = 4e-5, 0.02, 1.0
PRODUCTS_OF_STEP = 8  # of conjugate gradients, for each step
PLANES_OF_STEP = 4  # to which planes hardly come down there


@record
class GpuCosts(Costs):
    """Nanoseconds of work on data of a shape on a GPU.

    Where steps cost several products, as they do there, what matters is how many of both a solver
    takes; so a product stands for one with its share of a step. What the products of a Hessian of
    sparse rows cost was not measured.
    """

    @classmethod
    def of(cls, X: Matrix, preferences: AnyPreferences) -> Costs:
        """Count rows, values, pairs and levels."""
        costs = super().of(X, preferences)
        if not isinstance(preferences, Preferences):
            return costs
        sizes = np.diff(preferences.groups.indptr).astype(np.float64)
        return replace(costs, n_levels=levels_of_longest(preferences, sizes))

    @property
    def read(self) -> float:
        """A pass over X."""
        return (PASS + FROM_HOST * self.is_large) * self.n_stored

    @property
    def product(self) -> float:
        """A product with the Hessian, or a step: the mean of those of conjugate gradients."""
        product = PRODUCT + PRODUCT_LEVELS * self._doublings + PRODUCT_ROW * self.n
        product += 2 * self.read + VECTORS * self.d
        return (self.evaluation + PRODUCTS_OF_STEP * product) / (1 + PRODUCTS_OF_STEP)

    @property
    def evaluation(self) -> float:
        """A step once its direction is known."""
        sweeps = STEP + STEP_LEVELS * self._doublings + STEP_ROW * self.n
        return sweeps + 2 * self.read + VECTORS * self.d

    @property
    def plane(self) -> float:
        """A cutting plane, with what it costs on the host."""
        return self.evaluation + PLANE * TYPICAL_PLANES * self.d

    def few_planes(self, n_steps: float) -> float:
        """How many planes are not worth a try in the place of so many Newton steps."""
        return PLANES_OF_STEP * n_steps

    def step(self, kinks: bool) -> float:
        """Take a step whose direction is known; with kinks, on a smoothed loss."""
        return self.evaluation + (SMOOTHING + SMOOTHING_PART * self.evaluation) * kinks

    def hessian(self, kinks: bool) -> float:
        """Form the Hessian of all features; with kinks, of a smoothed loss."""
        result = HESSIAN_NUMBER * self.d**2
        products = HESSIAN_PRODUCT * self.n * self.d**2
        if self.is_dense and self._has_blocks:
            form = BLOCKS + BLOCKS_VALUE * self.n * self.d + BLOCKS_TWO * self.squares
            return form + products + result
        of_a_value = HESSIAN_VALUE + HESSIAN_LEVELS * self._doublings
        panels = HESSIAN + of_a_value * self.n * self.d
        if not self.is_dense:
            products = SPARSE_PRODUCT * self.n_stored * self.d
        return panels + products + result

    @property
    def _has_blocks(self) -> bool:
        """Whether pairs are written down, as `ranksvm.arrays.query_blocks` says."""
        n_sums = self.n * self.d * self._doublings
        return not self.are_given and are_for_blocks(self.n_longest, self.squares, n_sums)

    @property
    def _doublings(self) -> float:
        return float(np.log2(max(self.n_levels, 1.0)))
