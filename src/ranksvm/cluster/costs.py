"""What solvers cost on a cluster: rounds and bytes beside operations, which partitions share.

With n rows of d features in K partitions, a Newton step takes one round of K steps, whose results
are added up in a tree of L levels with F = 8 branches, ::

    t = n d^2 a / W  +  (1 + L) l  +  K b  +  8 d^2 F L / B,    L = ceil(log_F K),

for W workers that need a seconds for an operation, a latency of l, b seconds of the scheduler for a
task, and a bandwidth of B. Which solver is taken must not depend on the workers. So W is taken for
K here, and l, b and B are constants: what ``python -m benchmarks.cluster --only constants`` showed
for workers on one machine. Another network changes little, since only what grows with d^2 and with
the number of rounds is to be told apart. Partitions that share a task count once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..linear.costs import (
    BLOCK,
    FACTOR,
    PASS_DENSE,
    PASS_SPARSE,
    SMOOTHING,
    Costs,
    in_score_space,
)
from ..records import record
from .sums import FAN, depth_of

LATENCY, TASK, BYTE = 1e7, 2e6, 2.0  # nanoseconds: of a level, a task, and 1 / B
TRIALS = 3  # of the line search of a plane


def round_of(n_tasks: int, n_numbers: float) -> float:
    """Return the nanoseconds of a round without its work; each task brings so many numbers."""
    in_turn = depth_of(n_tasks)
    return LATENCY * (1 + in_turn // FAN) + TASK * n_tasks + 8 * BYTE * n_numbers * in_turn


@record
class ClusterCosts(Costs):
    """Nanoseconds of work in partitions, all at the same time, and of rounds.

    Attributes
    ----------
    n_partitions : int
        Those that share a task count once.
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
        return cls(
            int(sizes.sum()),
            n_features,
            n_stored,
            True,  # each pass is a round, however little is stored
            True,
            0.5 * float(rows @ rows),
            *in_score_space(rows),
            int(sizes[sizes * n_features > BLOCK].sum()),
            n_partitions=n_partitions,
            has_shared=has_shared,
        )

    def _round(self, n_numbers: float) -> float:
        return round_of(self.n_partitions, n_numbers)

    @property
    def read(self) -> float:
        """A pass over X, which is in memory."""
        return (PASS_DENSE if self.is_dense else PASS_SPARSE) * self.n_stored

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
        in_partitions = (self.hessian(kinks) + smoothing) / self.n_partitions
        sent = self._round(self.d**2)
        return n_steps * (in_partitions + FACTOR * self.d**3 + self.evaluation + sent)
