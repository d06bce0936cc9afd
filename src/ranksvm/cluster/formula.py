"""What steps are told of a problem: which pairs, which loss over them, in which precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.parameters import Parameters
from ..pairs.given import AnyPreferences
from ..pairs.host import host_pairs
from ..pairs.losses import Hinge, PairLoss, SmoothedHinge, SquaredHinge
from ..pairs.preferences import Preferences
from ..pairs.sweeps import Pairs

Vector = NDArray[np.float64]


class Recipe(NamedTuple):
    """How the pairs of a partition are made of its labels; equal recipes make the same pairs.

    Attributes
    ----------
    pair_weight, gains, top, counting
        As in `ranksvm.linear.parameters.Parameters`.
    by_query : bool
        Whether the pairs of a query weigh ``query_weight / N_q``, for ``normalize="queries"``.
    without, only : int or None
        The fold whose queries are left out, or alone are there.
    """

    pair_weight: str | None
    gains: str
    top: int
    counting: str
    by_query: bool = False
    without: int | None = None
    only: int | None = None

    def pairs(self, preferences: Preferences, folds: NDArray[np.int64] | None) -> Pairs:
        """Make the pairs of labels; `folds` are those of the queries."""
        weighed = self.weighed(preferences, folds)
        pairs = host_pairs(weighed, self.counting)
        if not self.by_query:
            return pairs
        share = query_shares(weights_of_queries(weighed), pairs.pairs_per_query)
        return host_pairs(weighed.with_query_weight(share), self.counting)

    def weighed(self, preferences: Preferences, folds: NDArray[np.int64] | None) -> AnyPreferences:
        """Return preferences with weights, which are 0 for queries that are left out."""
        if folds is not None and (self.without is not None or self.only is not None):
            stays = folds != self.without if self.only is None else folds == self.only
            preferences = preferences.with_query_weight(weights_of_queries(preferences) * stays)
        return Parameters(pair_weight=self.pair_weight, gains=self.gains, top=self.top).weigh(
            preferences
        )


def weights_of_queries(preferences: AnyPreferences) -> Vector:
    """Return the weight of each query."""
    weight = preferences.query_weight
    return np.ones(preferences.groups.n_queries) if weight is None else weight


def query_shares(weight: Vector, per_query: Vector) -> Vector:
    """Return what the pairs of a query weigh so that they weigh as much as it in all."""
    share: Vector = np.divide(weight**2, per_query, out=np.zeros_like(weight), where=per_query > 0)
    return share


class Formula(NamedTuple):
    """A loss, of whatever pairs.

    Attributes
    ----------
    name : {"hinge", "squared_hinge", "smoothed_hinge"}
    margin, width : float
    """

    name: str
    margin: float
    width: float = 0.0

    def loss(self, pairs: Pairs) -> PairLoss:
        """Return the loss of pairs."""
        if self.name == "smoothed_hinge":
            return SmoothedHinge(pairs, self.margin, self.width)
        return (Hinge if self.name == "hinge" else SquaredHinge)(pairs, self.margin)


class Precision(NamedTuple):
    """Of a Hessian ``Z' H Z`` for columns multiplied by a scale, in products of a dtype."""

    scale: Vector
    dtype: type[np.floating]
