"""Model files: JSON that people can read and edit, and that loading never executes.

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
``feature_names`` lists the names; a feature that is not mentioned has weight zero.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design_matrix import DesignMatrix
from .atomic import atomic_write
from .source import DataError

FORMAT = "ranksvm linear model"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear ranker as it is stored: weights, and how they came about.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The weights.
    feature_names : list of str or None
    parameters : dict
        What the model was trained with.
    training : dict
        What training reported: objective, dual_gap, status and the like.
    """

    coef: NDArray[np.float64]
    feature_names: list[str] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Score the rows of X: a DesignMatrix, C-contiguous array or CSR matrix."""
        matrix = X if isinstance(X, DesignMatrix) else DesignMatrix.from_array(X)
        if matrix.shape[1] != len(self.coef):
            raise ValueError(f"X has {matrix.shape[1]} features but the model has {len(self.coef)}")
        return matrix.dot(self.coef, n_threads)


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : LinearModel or fitted RankSVM
    path : str or path-like
        ``-`` is the standard output.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    linear = model if isinstance(model, LinearModel) else _from_estimator(model)
    names = linear.feature_names or [str(k + 1) for k in range(len(linear.coef))]
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "n_features": len(linear.coef),
        "weights": {names[k]: float(linear.coef[k]) for k in np.flatnonzero(linear.coef)},
        "parameters": linear.parameters,
        "training": {name: _json(value) for name, value in linear.training.items()},
    }
    if linear.feature_names:
        content["feature_names"] = linear.feature_names
    with atomic_write(path) as file:
        json.dump(content, file, indent=1, allow_nan=False, ensure_ascii=False)
        file.write("\n")


def _json(value: Any) -> Any:
    """Return the value, or None for what JSON has no word for: infinity and NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _from_estimator(model: Any) -> LinearModel:
    names = getattr(model, "feature_names_in_", None)
    return LinearModel(
        coef=model.coef_,
        feature_names=None if names is None else [str(name) for name in names],
        parameters={
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in model.get_params().items()
        },
        training={
            "objective": model.objective_,
            "dual_gap": model.dual_gap_,
            "status": model.status_,
            "n_iter": model.n_iter_,
            "n_pairs": model.n_pairs_,
            "n_queries": model.n_queries_,
        },
    )


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as a model file does, with a brace."""
    try:
        with open(path, "rb") as file:
            return file.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def load_model(path: str | os.PathLike[str]) -> LinearModel:
    """Read a model file.

    Raises
    ------
    DataError
        If the file cannot be read or is not a model, saying where and why.
    """
    name = os.fsdecode(path)
    try:
        with open(name, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error
    except (UnicodeDecodeError, RecursionError):
        raise DataError(f"{name} is not a model file: it is not JSON text") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{name}, line {error.lineno}, column {error.colno}: not a model file: {error.msg}"
        ) from None
    return _parse(content, name)


def _parse(content: Any, name: str) -> LinearModel:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'{name} is not a model file: "format" must be "{FORMAT}"')
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise DataError(
            f"{name} has format version {version!r}; this program reads version {FORMAT_VERSION}"
        )
    n_features = content.get("n_features")
    if type(n_features) is not int or not 0 < n_features < 1 << 31:
        raise DataError(f'{name}: "n_features" must be a positive whole number, not {n_features!r}')
    names = content.get("feature_names")
    if names is not None and not (isinstance(names, list) and len(names) == n_features):
        raise DataError(f'{name}: "feature_names" must list {n_features} names')
    parameters, training = content.get("parameters", {}), content.get("training", {})
    return LinearModel(
        _weights(content.get("weights"), n_features, names, name), names, parameters, training
    )


def _weights(
    weights: Any, n_features: int, names: list[str] | None, file: str
) -> NDArray[np.float64]:
    if not isinstance(weights, dict):
        raise DataError(f'{file}: "weights" must give a number for each feature')
    coef = np.zeros(n_features)
    places = None if names is None else {name: k for k, name in enumerate(names)}
    for feature, value in weights.items():
        if places is not None:
            k = places.get(feature, -1)
        else:
            k = int(feature) - 1 if feature.isascii() and feature.isdecimal() else -1
        if not 0 <= k < n_features:
            raise DataError(f"{file}: the model has no feature {feature!r}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise DataError(f"{file}: the weight of {feature!r} must be a number, not {value!r}")
        coef[k] = value
    return coef
