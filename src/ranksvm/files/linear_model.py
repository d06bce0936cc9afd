"""What model files hold of linear models.

::

    {
      "format": "ranksvm linear model",
      "format_version": 1,
      "n_features": 3,
      "weights": {"1": 0.25, "3": -1.5},
      "parameters": {"C": 1.0, "loss": "squared_hinge", ...},
      "training": {"objective": 12.5, "dual_gap": 2.1e-05, "status": "converged", ...}
    }

Weights are given by feature number, counted from one as in SVMlight files, or by feature name where
``feature_names`` lists the names; a feature that is not mentioned has weight zero. In the
safetensors layout weights are the tensor "weights"; where most features occurred nowhere, it holds
the weights of those that the tensor "features" numbers, ascending from zero, of ``n_features``.

Version 2 is that of models that map features first: ``maps`` lists what is done to the
``n_features``, one after the other (`ranksvm.files.feature_maps`), and weights are given by the
number of what results; by name only where each feature becomes one. Version 3 is that of models
whose maps stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.occurring import Columns, FeatureWeights
from ..models import maps as kinds
from ..models.linear import LinearModel
from ..models.maps import FeatureMap
from . import feature_maps
from .fields import Features, check_fields, check_names, facts
from .json_text import to_json, to_json_rows
from .quoting import shown
from .safetensors import Safetensors, Tensor
from .source import DataError

FORMAT = "ranksvm linear model"
VERSIONS = (1, 2, 3)

_TENSORS = {"weights": Tensor("F64")}
_TENSORS_OF_SOME = {"weights": Tensor("F64", least=0), "features": Tensor("I64", least=0)}


def check(model: LinearModel) -> None:
    """Refuse to save what could not be loaded."""
    values = model.weights.values
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        k = model.weights.columns.feature(bad[0])
        raise InputError(f"the weight of feature {k + 1} is {values[bad[0]]}, not finite")
    feature_maps.check(model.maps)
    check_names(model.feature_names, model.n_features, "features" if model.maps else "weights")


def version_of(model: LinearModel) -> int:
    """Return the first version of the format that holds such a model."""
    if any(isinstance(part, kinds.JoinedMap) for part in model.maps):
        return 3
    return 2 if model.maps else 1


def _are_named(maps: Iterable[FeatureMap]) -> bool:
    return all(one.keeps_features for one in maps)


def json_text(model: LinearModel, version: int) -> str:
    """Return the content of a JSON file."""
    features, values = model.weights.nonzero()
    names = model.feature_names if _are_named(model.maps) else None
    keys = [names[k] if names else str(k + 1) for k in features.tolist()]
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": version,
        "n_features": model.n_features,
        "weights": dict(zip(keys, values.tolist(), strict=True)),
        "parameters": model.parameters,
        "training": model.training,
    }
    if model.feature_names:
        content["feature_names"] = model.feature_names
    if model.maps:
        return to_json_rows({**content, "maps": feature_maps.to_json_parts(model.maps)})
    return to_json(content, indent=1)


def from_json(content: dict[str, Any], name: str) -> LinearModel:
    """Read the content of a JSON file that messages call `name`."""
    check_fields(content, name)
    weights = content.get("weights")
    if not isinstance(weights, dict):
        raise DataError(f'{name}: "weights" must give a number for each feature')
    maps = feature_maps.from_json_parts(content, name)
    mapped = _mapped_content(content, maps)
    places, values = Features(mapped, name).read(weights, "weight")
    some = dict(zip(places, values, strict=True))
    return _model(FeatureWeights.of_some(some, mapped["n_features"]), content, maps, name)


def _mapped_content(content: dict[str, Any], maps: list[FeatureMap]) -> dict[str, Any]:
    """Return the fields that say what there are weights of."""
    if not maps:
        return content
    names = content.get("feature_names") if _are_named(maps) else None
    return {**content, "n_features": maps[-1].n_outputs, "feature_names": names}


def _model(
    weights: FeatureWeights, content: dict[str, Any], maps: list[FeatureMap], name: str
) -> LinearModel:
    if maps and maps[0].n_inputs != content.get("n_features"):
        raise DataError(
            f'{name}: "n_features" must be {maps[0].n_inputs}, as of the first map, not '
            f"{shown(content.get('n_features'))}"
        )
    try:
        return LinearModel(weights, **facts(content), maps=maps)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None


def tensors(model: LinearModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and the further metadata of a safetensors file."""
    features = model.weights.columns.features
    found: dict[str, NDArray[Any]] = {
        "weights": np.asarray(model.weights.values, dtype=np.float64),
        **feature_maps.tensors(model.maps),
    }
    parts = feature_maps.metadata(model.maps)
    if features is not None:
        found["features"] = features.astype(np.int64)
    if features is not None or model.maps:
        parts["n_features"] = model.n_features
    return found, parts


def from_tensors(file: Safetensors, content: dict[str, Any]) -> LinearModel:
    """Read a safetensors file, whose metadata are `content`."""
    further = feature_maps.expected(content, file.name)
    some = "features" in file.tensors
    found = file.read({**(_TENSORS_OF_SOME if some else _TENSORS), **further})
    if not some and not further:
        content = {"n_features": len(found["weights"]), **content}
    check_fields(content, file.name)
    maps = feature_maps.from_tensors(found, content, file.name)
    n_weights = maps[-1].n_outputs if maps else content["n_features"]
    weights = _weights(found, n_weights, file.name)
    bad = np.flatnonzero(~np.isfinite(weights.values))
    if len(bad):
        raise DataError(
            f"{file.name}: the weight of feature {weights.columns.feature(bad[0]) + 1} must be a "
            f"number, not {weights.values[bad[0]]}"
        )
    return _model(weights, content, maps, file.name)


def _weights(found: dict[str, NDArray[Any]], n_features: int, name: str) -> FeatureWeights:
    values, features = found["weights"], found.get("features")
    if features is None:
        return FeatureWeights.of(values)
    if len(features) != len(values):
        raise DataError(
            f"{name} has {len(values)} weights of {len(features)} features: it is damaged"
        )
    between = np.concatenate([[-1], features, [n_features]])
    if not (between[:-1] < between[1:]).all():
        raise DataError(
            f'{name}: "features" must ascend, from 0 at least to {n_features - 1} at most'
        )
    return FeatureWeights(Columns(n_features, features), values)
