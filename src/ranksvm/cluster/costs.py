"""What solvers cost on a cluster: rounds and bytes beside operations, which partitions share.

With n rows of d features in K partitions, a Newton step takes one round of K steps, whose results
are added up in a tree of L levels with F = 8 branches, ::

    t = n d^2 a / W  +  K b  +  (1 + L) l  +  8 d^2 (F L) / B,    L = ceil(log_F K),

for W workers that need a seconds for an operation, b seconds of the scheduler for a task, a latency
of l, and a bandwidth of B. Which solver is taken must not depend on the workers. So W is taken for
K here, and the others for what is typical of a network: only what grows with d^2 and with the
number of rounds is to be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..linear.costs import (
    BLOCK,
    FACTOR,
    LAPLACIAN,
    LAPLACIAN_SHORT,
    SHORT,
    SMOOTHING,
    SWEEP,
    SWEEP_SHORT,
    Costs,
)
from .sums import depth_of

ROUND = 5e7  # nanoseconds: a latency for each level of the tree
TASK, TRIALS = 1e6, 3
BYTE = 10.0  # of what is sent, at 100 MB/s


@dataclass(frozen=True)
class ClusterCosts(Costs):
    """Nanoseconds of work in partitions, all at the same time, and of rounds.

    Attributes
    ----------
    n_partitions : int
    has_shared : bool
        Whether queries are shared by partitions, for which there is no explicit Hessian.
    """

    n_partitions: int = 1
    has_shared: bool = False

    @classmethod
    def of_queries(
        cls,
        sizes: NDArray[np.int64],
        n_features: int,
        n_stored: int,
        n_partitions: int,
        has_shared: bool,
    ) -> ClusterCosts:
        """Count rows, values and pairs of queries of these sizes."""
        rows = sizes.astype(np.float64)
        n, n_short = int(sizes.sum()), int(sizes[sizes <= SHORT].sum())
        return cls(
            n,
            n_features,
            n_stored,
            0.5 * float(rows @ rows),
            SWEEP * (n - n_short) + SWEEP_SHORT * n_short,
            LAPLACIAN * (n - n_short) + LAPLACIAN_SHORT * n_short,
            int(sizes[sizes * n_features > BLOCK].sum()),
            n_partitions=n_partitions,
            has_shared=has_shared,
        )

    def _round(self, n_numbers: float) -> float:
        levels = depth_of(self.n_partitions)
        return ROUND + TASK * self.n_partitions + 8 * BYTE * n_numbers * max(levels, 1)

    @property
    def product(self) -> float:
        """A product with the Hessian."""
        return super().product / self.n_partitions + self._round(self.d)

    @property
    def evaluation(self) -> float:
        """A step once its direction is known."""
        return super().evaluation / self.n_partitions + self._round(self.d)

    @property
    def plane(self) -> float:
        """A cutting plane, with a line search of a few trials."""
        return TRIALS * self.evaluation

    def newton(self, n_steps: float, kinks: bool) -> float:
        """Newton steps by the Hessian of all features; with kinks, of smoothed ones."""
        if self.has_shared:
            return np.inf
        smoothing = SMOOTHING * self.sweep if kinks else 0.0
        in_partitions = (self._hessian + smoothing) / self.n_partitions
        sent = self._round(self.d**2)
        return n_steps * (in_partitions + FACTOR * self.d**3 + self.evaluation + sent)
