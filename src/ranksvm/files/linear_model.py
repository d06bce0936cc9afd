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
safetensors layout weights are the tensor "weights".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.linear import LinearModel
from .fields import Features, check_fields, check_names, facts
from .json_text import to_json
from .safetensors import Safetensors, Tensor
from .source import DataError

FORMAT = "ranksvm linear model"

_TENSORS = {"weights": Tensor("F64")}


def check(model: LinearModel) -> None:
    """Refuse to save what could not be loaded."""
    bad = np.flatnonzero(~np.isfinite(model.coef))
    if len(bad):
        raise ValueError(f"the weight of feature {bad[0] + 1} is {model.coef[bad[0]]}, not finite")
    check_names(model.feature_names, len(model.coef), "weights")


def json_text(model: LinearModel, version: int) -> str:
    """Return the content of a JSON file."""
    names = model.feature_names or [str(k + 1) for k in range(len(model.coef))]
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": version,
        "n_features": len(model.coef),
        "weights": {names[k]: float(model.coef[k]) for k in np.flatnonzero(model.coef)},
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
    coef = zero_weights(name, content["n_features"])
    places, values = Features(content, name).read(weights, "weight")
    coef[places] = values
    return LinearModel(coef, **facts(content))


def tensors(model: LinearModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and the further metadata of a safetensors file."""
    return {"weights": np.asarray(model.coef, dtype=np.float64)}, {}


def from_tensors(file: Safetensors, content: dict[str, Any]) -> LinearModel:
    """Read a safetensors file, whose metadata are `content`."""
    weights = file.read(_TENSORS)["weights"]
    check_fields({**content, "n_features": len(weights)}, file.name)
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise DataError(
            f"{file.name}: the weight of feature {bad[0] + 1} must be a number, not "
            f"{weights[bad[0]]}"
        )
    return LinearModel(weights, **facts(content))


def zero_weights(name: str, n_features: int) -> NDArray[np.float64]:
    """Return as many zeros as the file `name` asks for.

    Raises
    ------
    DataError
        If memory does not hold them.
    """
    try:
        return np.zeros(n_features)
    except MemoryError:
        raise DataError(f"{name} asks for {n_features} weights: memory cannot hold them") from None
