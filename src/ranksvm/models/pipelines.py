"""What fitted transformers of scikit-learn, in front of a ranker, are as maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..linear.occurring import FeatureWeights
from ..names import KERNELS
from .maps import AffineMap, FeatureMap, NystroemMap, QuantileMap, QueryMap, SplineMap

_GAMMA_OF_CHI2 = 1.0  # by default, of scikit-learn


def pipeline_maps(steps: list[Any]) -> list[FeatureMap]:
    """Return what fitted steps of a pipeline do, one after the other.

    Raises
    ------
    ValueError
        If a step is none of those that a model file knows.
    """
    return [
        _map_of(step) for step in steps if step is not None and not _is_text(step, "passthrough")
    ]


def folded(
    maps: list[FeatureMap], weights: FeatureWeights
) -> tuple[list[FeatureMap], FeatureWeights]:
    """Return maps without the affine ones at their end, and weights that these are part of.

    The scores differ by a constant, which changes no order.
    """
    maps = list(maps)
    while maps and isinstance(maps[-1], AffineMap):
        weights = weights.times(maps.pop().arrays()["factors"])
    return maps, weights


def _is_text(step: Any, text: str) -> bool:
    return isinstance(step, str) and step == text


def _map_of(step: Any) -> FeatureMap:
    of_kind = _MAPS.get(type(step).__name__)
    found = of_kind(step) if of_kind is not None else None
    if found is None:
        raise InputError(
            f"a model file holds weights, and maps of features that it knows, but {step!r} is none "
            "of them; these are StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler "
            "without clip, QuantileTransformer, QueryScaler, SplineTransformer (of degree 1 or "
            "more, 2 if it extrapolates linearly) and Nystroem with a kernel of a name"
        )
    return found


def _affine(step: Any, center: Any, factors: Any) -> AffineMap:
    zeros, ones = np.zeros(step.n_features_in_), np.ones(step.n_features_in_)
    return AffineMap(
        zeros if center is None else np.asarray(center, dtype=np.float64),
        ones if factors is None else np.asarray(factors, dtype=np.float64),
    )


def _divided(step: Any, center: Any) -> AffineMap | None:
    if getattr(step, "clip", False):
        return None
    return _affine(step, center, None if step.scale_ is None else 1.0 / step.scale_)


def _standard(step: Any) -> AffineMap | None:
    return _divided(step, step.mean_ if step.with_mean else None)


def _maxabs(step: Any) -> AffineMap | None:
    return _divided(step, None)


def _robust(step: Any) -> AffineMap | None:
    return _divided(step, step.center_ if step.with_centering else None)


def _minmax(step: Any) -> AffineMap | None:
    return None if step.clip else _affine(step, -step.min_ / step.scale_, step.scale_)


def _quantiles(step: Any) -> QuantileMap | None:
    if step.ignore_implicit_zeros:
        return None
    quantiles = np.asarray(step.quantiles_, dtype=np.float64)
    return QuantileMap(quantiles, step.output_distribution)


def _queries(step: Any) -> QueryMap:
    return QueryMap(step.n_features_in_)


def _splines(step: Any) -> SplineMap | None:
    # Those that are lines, or steps, are not continued as they say: features differ.
    least = 2 if step.extrapolation == "linear" else 1
    if getattr(step, "handle_missing", "error") != "error" or step.degree < least:
        return None
    knots = np.column_stack([spline.t for spline in step.bsplines_]).astype(np.float64)
    return SplineMap(knots, step.degree, step.extrapolation, bool(step.include_bias))


def _nystroem(step: Any) -> NystroemMap | None:
    if not isinstance(step.kernel, str) or step.kernel not in KERNELS:
        return None
    gamma = _GAMMA_OF_CHI2 if step.kernel == "chi2" else 1.0 / step.n_features_in_
    parameters: dict[str, float] = {"gamma": gamma, "degree": 3.0, "coef0": 1.0}
    for key in KERNELS[step.kernel]:
        value = getattr(step, key)
        value = (step.kernel_params or {}).get(key) if value is None else value
        parameters[key] = parameters[key] if value is None else float(value)
    rows = step.components_
    return NystroemMap(
        np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64),
        np.asarray(step.normalization_, dtype=np.float64),
        step.kernel,
        **parameters,
    )


_MAPS: dict[str, Callable[[Any], FeatureMap | None]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _minmax,
    "MaxAbsScaler": _maxabs,
    "RobustScaler": _robust,
    "QuantileTransformer": _quantiles,
    "QueryScaler": _queries,
    "SplineTransformer": _splines,
    "Nystroem": _nystroem,
}
