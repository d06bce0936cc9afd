"""What is done to features before a linear model weighs them; knows neither weights nor files.

Each kind is imported where it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import FeatureMap

if TYPE_CHECKING:
    from .affine import AffineMap as AffineMap
    from .joined import JoinedMap as JoinedMap
    from .nystroem import NystroemMap as NystroemMap
    from .quantiles import QuantileMap as QuantileMap
    from .queries import QueryMap as QueryMap
    from .splines import SplineMap as SplineMap

_HOMES = {
    "AffineMap": "affine",
    "QuantileMap": "quantiles",
    "QueryMap": "queries",
    "SplineMap": "splines",
    "NystroemMap": "nystroem",
    "JoinedMap": "joined",
}
__all__ = ["FeatureMap", "kinds_of_maps", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def kinds_of_maps() -> dict[str, type[FeatureMap]]:
    """Return all kinds, by their names."""
    kinds: list[type[FeatureMap]] = [__getattr__(name) for name in _HOMES]
    return {kind.name: kind for kind in kinds}
