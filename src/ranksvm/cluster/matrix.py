"""X on a cluster: the `Matrix` whose rows never leave their partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.matrix import FullStep, Hessian, Slope
from ..linear.occurring import Columns
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.losses import PairLoss, SmoothLoss
from ..pairs.rounding import relative_rounding
from .formula import Precision
from .pairs import ClusterSweep, CoImage, Image
from .rounds import Passes, Rounds
from .sums import Total

Vector = NDArray[np.float64]

MOST_COLUMNS = 2048  # of a Hessian that comes before it is asked for


class ClusterMatrix:
    """Products with X, in rounds.

    Where all queries are whole in their partitions, each partition has an offset and a mean of its
    own, which no order within a query sees: scatter is then that within partitions.

    Parameters
    ----------
    rounds : Rounds
    totals : Total
        What `ranksvm.cluster.rounds.Rounds.counts` has brought.
    n_features, n_stored : int

    Attributes
    ----------
    shape : tuple of (n_samples, n_features)
    n_stored : int
    columns : Columns
    is_large : bool
        Always true: a pass is a round.
    has_walk, costs
        As on the hosts.
    """

    is_large = has_walk = True
    costs = None

    def __init__(self, rounds: Rounds, totals: Total, n_features: int, n_stored: int) -> None:
        self.rounds = rounds
        self._totals = totals
        self.shape = rounds.preferences.groups.n_samples, n_features
        self.n_stored = n_stored
        self.columns = Columns(n_features)
        self.passes = rounds.passes or Passes()

    @property
    def n_passes(self) -> int:
        """How often all of X has been read so far."""
        return self.passes.n

    @property
    def n_rounds(self) -> int:
        """How many rounds the driver has gone through."""
        return self.rounds.driver.n_rounds

    @property
    def rounding_of_sums(self) -> float:
        """What an element of ``X.T @ u`` may lose, relative to the absolute values of its terms."""
        within = self._totals.largest("rounding_of_sums")
        return within + relative_rounding(self.rounds.rounding_of_tree)

    def pairs(self, preferences: Any, counting: str, n_threads: int) -> Any:
        """Pairs are made by `ranksvm.cluster.training`."""
        raise NotImplementedError

    def copied(self, rows: NDArray[np.int64]) -> None:
        """Copy nothing."""

    def zeros(self) -> Any:
        """Return the scores of weights that are zero."""
        return Image(np.zeros(self.shape[1]))

    def dot(self, w: Vector, n_threads: int = 1) -> Any:
        """Return ``X @ w``, without a round."""
        return Image(w)

    def scores(self, w: Vector, n_threads: int = 1) -> Vector:
        """Scores do not come to the driver."""
        raise NotImplementedError

    def dot_within(self, w: Vector, n_threads: int = 1) -> Any:
        """Nor do their bounds: see `ranksvm.cluster.objective`."""
        raise NotImplementedError

    def t_dot(self, u: Any, n_threads: int = 1) -> Vector:
        """Return ``X.T @ u``, which a round has brought."""
        vector: Vector = u.vector
        return vector

    def t_dot_squares(self, u: Any, v: Any, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X.T @ u`` and ``(X * X).T @ v``, likewise."""
        return u.vector, v.vector

    def rounded(self, n_threads: int = 1) -> None:
        """Nothing is copied here."""

    def column_squares(self, n_threads: int = 1) -> Vector:
        """Return the sum of the squares of each column."""
        return self._totals.array("square")

    def rarity(self, n_threads: int = 1) -> None:
        """Return None: values are not counted here."""

    def standardization(self, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return what squares exceed the scatter by, as a mean, and the scale of each column."""
        n, scatter = self.shape[0], self._totals.array("scatter")
        deviation = np.sqrt(scatter / n)
        scale = np.divide(1.0, deviation, out=np.ones_like(deviation), where=deviation > 0)
        return np.sqrt(np.maximum(self.column_squares() - scatter, 0.0) / n), scale

    def hessian(
        self,
        loss: SmoothEvaluation,
        shift: Vector,
        scale: Vector,
        dtype: type[np.floating],
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Compute ``Z' H Z`` for standardised columns, each partition with a shift of its own."""
        sweep = loss.sweep
        assert isinstance(sweep, ClusterSweep)
        return loss.curvature * sweep.hessian(Precision(scale, dtype))

    def rough_hessian(self, loss: SmoothEvaluation, scale: Vector, n_threads: int = 1) -> None:
        """Return None: a round takes about as long for some of the queries."""

    def full_step(
        self,
        loss: PairLoss,
        scores: Any,
        p: Vector,
        dtype: type[np.floating] | None,
        n_threads: int = 1,
        *,
        roughly: bool = False,
        end: Vector | None = None,
    ) -> FullStep | None:
        """Return ``X p``, and the loss and its derivatives at ``scores + X p``, from one round.

        The Hessian is that of all queries always, and nothing confirms the value.
        """
        if not isinstance(loss, SmoothLoss):
            return None
        precision = None
        if dtype is not None and self.shape[1] <= MOST_COLUMNS and not self.rounds.has_shared:
            precision = Precision(self.standardization()[1], dtype)
        reached: Any = Image(scores.weights + p, precision)
        there = loss.evaluate(reached)
        gradient: Any = there.gradient
        assert isinstance(gradient, CoImage)
        hessian = None
        if gradient.hessian is not None and dtype is not None:
            hessian = Hessian(there.curvature * gradient.hessian, dtype)
        image: Any = Image(p)
        return FullStep(
            image, reached, there, Slope(gradient.vector, self.rounding_of_sums), hessian
        )

    def centered(self) -> ClusterMatrix:
        """Return this: partitions are centered where they are."""
        return self

    def scaled(self, scale: Vector) -> ClusterMatrix:
        """Scales are folded into the penalty, or done by Dask beforehand."""
        raise NotImplementedError
