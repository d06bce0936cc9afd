r"""Several maps of the same features side by side, so that a sum of linear models is one of them.

With weights :math:`w_g` behind maps :math:`\varphi_g`, the sum of the scores
:math:`\sum_g w_g'\varphi_g(x)` is :math:`w'\varphi(x)` for :math:`w = (w_1 \ldots w_r)` and
:math:`\varphi = (\varphi_1 \ldots \varphi_r)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...linear.occurring import FeatureWeights
from ...records import record
from .base import MAX_MEMORY, FeatureMap, Vector, is_sparse, require_room
from .chains import applied, domain_of, parts_of, require_chain, sources_of

Chain = tuple[FeatureMap, ...]


@record
class JoinedMap(FeatureMap):
    """What each of several chains of maps makes of the same features, one after the other.

    Attributes
    ----------
    n_features : int
    branches : tuple of tuple of FeatureMap
        Without maps, one has the features as they are.
    """

    n_features: int
    branches: tuple[Chain, ...]

    name: ClassVar[str] = "joined maps"
    FIELDS: ClassVar[dict[str, type]] = {"n_features": int}

    def __post_init__(self) -> None:
        if len(self.branches) < 2 or sum(not branch for branch in self.branches) > 1:
            raise InputError("joined maps need two branches or more, of which one may have no maps")
        for branch in filter(None, self.branches):
            if branch[0].n_inputs != self.n_features:
                raise InputError(
                    f"a branch takes {branch[0].n_inputs} features, but there are {self.n_features}"
                )
            require_chain(branch, branch[-1].n_outputs)

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return self.n_features

    @property
    def n_outputs(self) -> int:
        """How many all branches make of them."""
        return sum(branch[-1].n_outputs if branch else self.n_features for branch in self.branches)

    @property
    def parts(self) -> Chain:
        """The maps of all branches."""
        return tuple(part for branch in self.branches for part in parts_of(branch))

    @property
    def is_additive(self) -> bool:
        """Whether all of them are."""
        return all(part.is_additive for part in self.parts)

    @property
    def needs_queries(self) -> bool:
        """Whether one of them does."""
        return any(part.needs_queries for part in self.parts)

    @property
    def sources(self) -> NDArray[np.int64]:
        """The feature that each that results comes from."""
        return np.concatenate([sources_of(branch, self.n_features) for branch in self.branches])

    @property
    def description(self) -> str:
        """What the map does."""
        of_each = [
            ", then ".join(one.description for one in branch)
            or f"{self.n_features} features as they are"
            for branch in self.branches
        ]
        return f"side by side: ({'), ('.join(of_each)})"

    @property
    def domain(self) -> tuple[Vector, Vector] | None:
        """What the first branch that knows the features says of their values."""
        known = (domain_of(branch) for branch in self.branches)
        return next((ends for ends in known if ends is not None), None)

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says, to sparse ones if those of a branch are."""
        made = [applied(branch, X, qid, max_memory) for branch in self.branches]
        sparse = any(map(is_sparse, made))
        n_rows = max(X.shape[0], 1)
        per_row = -(-sum(part.size for part in made) // n_rows) * (1 + sparse)
        require_room(n_rows, per_row, "the features of joined maps", max_memory)
        if not sparse:
            return np.hstack(made)
        from scipy.sparse import csr_matrix, hstack

        return hstack([csr_matrix(part) for part in made], format="csr")


def side_by_side(members: Sequence[tuple[Chain, FeatureWeights]]) -> tuple[Chain, FeatureWeights]:
    """Return one linear model whose scores are the sums of those of several.

    Weights behind the same maps are added; maps that several begin with come once, before others.

    Parameters
    ----------
    members : sequence of (tuple of FeatureMap, FeatureWeights)
        Of the same features.

    Returns
    -------
    maps : tuple of FeatureMap
    weights : FeatureWeights
    """
    by_first: dict[int, list[tuple[Chain, FeatureWeights]]] = {}
    for maps, weights in members:
        by_first.setdefault(id(maps[0]) if maps else 0, []).append((maps, weights))
    made = [_behind_first(alike) for alike in by_first.values()]
    if len(made) == 1:
        return made[0]
    n_features = next(maps[0].n_inputs for maps, _ in made if maps)
    joined = JoinedMap(n_features, tuple(maps for maps, _ in made))
    return (joined,), FeatureWeights.concatenated([weights for _, weights in made])


def _behind_first(alike: Sequence[tuple[Chain, FeatureWeights]]) -> tuple[Chain, FeatureWeights]:
    """Return one model of those that begin with the same map, or have none."""
    first = alike[0][0][:1]
    if not first:
        return (), FeatureWeights.added([weights for _, weights in alike])
    rest, weights = side_by_side([(maps[1:], weights) for maps, weights in alike])
    return (*first, *rest), weights
