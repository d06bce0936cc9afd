"""Maps of features one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from .affine import AffineMap
from .base import MAX_MEMORY, FeatureMap, Vector


def require_chain(maps: Sequence[FeatureMap], n_after: int) -> None:
    """Refuse maps that do not take what the one before makes; `n_after` are taken after the last.

    Raises
    ------
    ValueError
        Saying which.
    """
    taken = [*(one.n_inputs for one in maps[1:]), n_after]
    for one, size in zip(maps, taken, strict=False):
        if one.n_outputs != size:
            raise InputError(
                f"the map {one.name} makes {one.n_outputs} features, but {size} are taken after"
            )


def applied(
    maps: Sequence[FeatureMap],
    X: Any,
    qid: ArrayLike | None = None,
    max_memory: float = MAX_MEMORY,
) -> Any:
    """Return what maps make of rows; the other arguments are as a `FeatureMap` takes them."""
    for one in maps:
        X = one.apply(X, qid, max_memory=max_memory)
    return X


def parts_of(maps: Sequence[FeatureMap]) -> list[FeatureMap]:
    """Return the maps, and in place of joined ones those that they are made of."""
    return [part for one in maps for part in one.parts]


def sources_of(maps: Sequence[FeatureMap], n_features: int) -> NDArray[np.int64]:
    """Return the feature that each that results comes from, where all maps are additive."""
    sources = np.arange(n_features)
    for one in maps:
        sources = sources[one.sources]
    return sources


def domain_of(maps: Sequence[FeatureMap]) -> tuple[Vector, Vector] | None:
    """Return the least and the greatest value of each feature, as far as the maps know them."""
    known = None
    for one in reversed(maps):
        if not isinstance(one, AffineMap):
            known = one.domain
        elif known is not None:
            ends = [end / one.factors + one.center for end in known]
            known = np.minimum(*ends), np.maximum(*ends)
    return known
