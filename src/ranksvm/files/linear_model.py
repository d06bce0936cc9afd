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
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linear.occurring import Columns, FeatureWeights
from ..models.linear import LinearModel
from .fields import Features, check_fields, check_names, facts
from .json_text import to_json
from .safetensors import Safetensors, Tensor
from .source import DataError

FORMAT = "ranksvm linear model"

_TENSORS = {"weights": Tensor("F64")}
_TENSORS_OF_SOME = {"weights": Tensor("F64", least=0), "features": Tensor("I64", least=0)}


def check(model: LinearModel) -> None:
    """Refuse to save what could not be loaded."""
    values = model.weights.values
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        k = model.weights.columns.feature(bad[0])
        raise ValueError(f"the weight of feature {k + 1} is {values[bad[0]]}, not finite")
    check_names(model.feature_names, model.n_features, "weights")


def json_text(model: LinearModel, version: int) -> str:
    """Return the content of a JSON file."""
    names, (features, values) = model.feature_names, model.weights.nonzero()
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
    return to_json(content, indent=1)


def from_json(content: dict[str, Any], name: str) -> LinearModel:
    """Read the content of a JSON file that messages call `name`."""
    check_fields(content, name)
    weights = content.get("weights")
    if not isinstance(weights, dict):
        raise DataError(f'{name}: "weights" must give a number for each feature')
    places, values = Features(content, name).read(weights, "weight")
    some = dict(zip(places, values, strict=True))
    return LinearModel(FeatureWeights.of_some(some, content["n_features"]), **facts(content))


def tensors(model: LinearModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and the further metadata of a safetensors file."""
    features = model.weights.columns.features
    weights = {"weights": np.asarray(model.weights.values, dtype=np.float64)}
    if features is None:
        return weights, {}
    return {**weights, "features": features.astype(np.int64)}, {"n_features": model.n_features}


def from_tensors(file: Safetensors, content: dict[str, Any]) -> LinearModel:
    """Read a safetensors file, whose metadata are `content`."""
    if "features" not in file.tensors:
        values = file.read(_TENSORS)["weights"]
        check_fields({**content, "n_features": len(values)}, file.name)
        weights = FeatureWeights.of(values)
    else:
        weights = _weights_of_some(file, content)
    bad = np.flatnonzero(~np.isfinite(weights.values))
    if len(bad):
        raise DataError(
            f"{file.name}: the weight of feature {weights.columns.feature(bad[0]) + 1} must be a "
            f"number, not {weights.values[bad[0]]}"
        )
    return LinearModel(weights, **facts(content))


def _weights_of_some(file: Safetensors, content: dict[str, Any]) -> FeatureWeights:
    parts = file.read(_TENSORS_OF_SOME)
    check_fields(content, file.name)
    features, values, n_features = parts["features"], parts["weights"], content["n_features"]
    if len(features) != len(values):
        raise DataError(
            f"{file.name} has {len(values)} weights of {len(features)} features: it is damaged"
        )
    between = np.concatenate([[-1], features, [n_features]])
    if not (between[:-1] < between[1:]).all():
        raise DataError(
            f'{file.name}: "features" must ascend, from 0 at least to {n_features - 1} at most'
        )
    return FeatureWeights(Columns(n_features, features), values)
