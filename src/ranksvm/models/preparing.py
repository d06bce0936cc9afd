"""Maps of features that are fitted to rows: their scale, and features of another kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..linear.conditions import Conditions
from ..names import FEATURES, SCALES
from . import maps as kinds
from .maps.base import MAX_MEMORY, FeatureMap
from .scaling import scale_factors


class Features(NamedTuple):
    """Features to make of others: "nystroem" components, or "splines" with knots."""

    kind: str
    size: int

    @classmethod
    def parse(cls, text: str) -> Features:
        """Read ``nystroem``, ``nystroem:300``, ``splines`` or ``splines:5``.

        Raises
        ------
        ValueError
            If it is none of these.
        """
        kind, colon, size = str(text).partition(":")
        least = 2 if kind == "splines" else 1
        if kind not in FEATURES or (colon and not (size.isdecimal() and least <= int(size))):
            raise InputError(
                "features must be nystroem or splines, perhaps with how many components, or with "
                f"knots from 2 on, after a colon, such as nystroem:300; not {text!r}"
            )
        return cls(kind, int(size) if colon else FEATURES[kind])

    def __str__(self) -> str:
        return f"{self.kind}:{self.size}"


def require_scale(scale: str | None) -> None:
    """Refuse what is no scale."""
    if scale is not None and scale not in SCALES:
        raise InputError(f"scale must be None or one of {', '.join(SCALES)}, not {scale!r}")


def require_conditions(
    conditions: Conditions, scale: str | None, features: Features | None
) -> None:
    """Refuse what cannot be asked of weights behind maps.

    A scale that multiplies features goes into the weights, and bounds and priors with it. Quantiles
    and ranges within queries grow with their feature: of its weight there, the sign alone says
    something of the feature as it is. Features of another kind are none of those that are named.

    Raises
    ------
    ValueError
        If there are bounds other than 0, or a prior, behind the former, or any for single weights
        behind the latter.
    """
    if features is not None and not conditions.are_alike:
        raise InputError(
            f"features={str(features)!r} makes others of the features, of whose weights signs, "
            "bounds, a prior and penalty_weights of these say nothing: leave them out, or leave "
            "out features"
        )
    if features is None and scale in ("quantile", "query") and not conditions.are_signs:
        raise InputError(
            f"scale={scale!r} is no multiple of the features: of their weights as they are, only "
            "the signs carry over; leave out the prior and bounds other than 0, or scale by "
            "'standard', 'minmax' or 'maxabs'"
        )


class MappedRows(NamedTuple):
    """Rows as a linear model weighs them, and what made them so."""

    X: Any
    maps: tuple[FeatureMap, ...] = ()

    def by(self, further: FeatureMap, qid: ArrayLike | None, max_memory: float) -> MappedRows:
        """Return the rows with a further map applied."""
        return MappedRows(further.apply(self.X, qid, max_memory=max_memory), (*self.maps, further))


def mapped_rows(
    X: Any,
    qid: ArrayLike | None,
    scale: str | None = None,
    features: Features | None = None,
    max_memory: float = MAX_MEMORY,
    *,
    scaled: dict[str, MappedRows] | None = None,
    **naming: Any,
) -> MappedRows:
    """Fit maps to rows, and map them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    qid : array-like of shape (n_samples,) or None
    scale : str, optional
        One of ``ranksvm.names.SCALES``; "standard" by default where features are those of a kernel.
    features : Features, optional
    max_memory : float, default=4e9
        Bytes that what is made dense may take.
    scaled : dict, optional
        The same rows by scales, as far as they have been scaled before; those that are now are
        added.
    **naming
        As for `ranksvm.models.scaling.scale_factors`.

    Raises
    ------
    ValueError
        If they take more, a feature cannot be scaled, or there are no queries to scale within.
    """
    if features is not None and features.kind == "nystroem":
        scale = scale or "standard"
    if scale is None and features is None:
        return MappedRows(X)
    found = MappedRows(X.astype(np.float64, copy=False))
    if scale is not None:
        scaled = {} if scaled is None else scaled
        if scale not in scaled:
            first = scale_map(found.X, qid, scale, max_memory, **naming)
            scaled[scale] = found.by(first, qid, max_memory)
        found = scaled[scale]
    if features is None:
        return found
    fitted = kinds.NystroemMap.fitted if features.kind == "nystroem" else kinds.SplineMap.fitted
    return found.by(fitted(found.X, features.size), qid, max_memory)


def scale_map(
    X: Any, qid: ArrayLike | None, scale: str, max_memory: float = MAX_MEMORY, **naming: Any
) -> FeatureMap:
    """Return the map that brings the features of rows to a scale; see `mapped_rows`."""
    if scale == "quantile":
        return kinds.QuantileMap.fitted(X, max_memory=max_memory)
    if scale == "query":
        if qid is None:
            raise InputError("scale='query' scales within queries: give qid, or scale='minmax'")
        return kinds.QueryMap(X.shape[1])
    return kinds.AffineMap(np.zeros(X.shape[1]), scale_factors(X, scale, **naming))
