"""The objective of a linear ranker on a cluster, behind the seam that all solvers know.

It is that of `ranksvm.linear.objective`, with X and its pairs on the workers: only how many rounds
it takes is of its own. A full step brings value, gradient and Hessian in one round for a smoothed
loss, too; and a value is confirmed in one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..linear.matrix import Fresh, FullStep
from ..linear.objective import LinearEvaluation, LinearObjective
from ..pairs.losses import Hinge, SmoothedHinge
from ..pairs.sweeps import Scores
from ..records import record
from .formula import Formula
from .pairs import ClusterPairs

Vector = NDArray[np.float64]


@record
class ClusterObjective(LinearObjective):
    """The objective of a linear ranker whose rows are on a cluster; immutable."""

    def full_step(
        self,
        scores: Scores,
        p: Vector,
        dtype: type[np.floating] | None,
        *,
        roughly: bool = False,
        end: Vector | None = None,
    ) -> FullStep | None:
        """Return ``X p`` and what is at these scores and as much more, from one round."""
        return self.X.full_step(
            self.loss, scores, p, dtype, self.n_threads, roughly=roughly, end=end
        )

    def upper_loss(self, weights: Vector, fresh: Fresh | None = None) -> float:
        """Return ``L(X w)`` from fresh scores, and not less than it is.

        The margins of a partition are widened by the rounding of its own scores.
        """
        known, loss = self.known, self.loss
        if known is not None and weights is known.weights and known.upper_loss is not None:
            return known.upper_loss
        assert isinstance(loss.pairs, ClusterPairs)
        has_kinks = isinstance(loss, Hinge | SmoothedHinge)
        formula = Formula("hinge" if has_kinks else "squared_hinge", loss.margin)
        return loss.pairs.rounds.upper(formula, weights)

    def quick_upper_loss(self, here: LinearEvaluation) -> float:
        """Return infinity: the bound above is no slower, as scores do not leave the workers."""
        return np.inf
