"""What is done to features before a linear model weighs them; knows neither weights nor files."""

from .affine import AffineMap
from .base import FeatureMap
from .joined import JoinedMap
from .nystroem import NystroemMap
from .quantiles import QuantileMap
from .queries import QueryMap
from .splines import SplineMap

__all__ = [
    "MAPS",
    "AffineMap",
    "FeatureMap",
    "JoinedMap",
    "NystroemMap",
    "QuantileMap",
    "QueryMap",
    "SplineMap",
]

MAPS: dict[str, type[FeatureMap]] = {
    kind.name: kind
    for kind in (AffineMap, QuantileMap, QueryMap, SplineMap, NystroemMap, JoinedMap)
}
