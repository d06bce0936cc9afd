"""Model files, which loading never executes: JSON to read and edit, safetensors for many weights.

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

In the safetensors layout (`ranksvm.files.safetensors`), which a name that ends in .safetensors
chooses, weights are the tensor "weights", and ``__metadata__`` holds the other fields, those that
are not plain texts as JSON.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design_matrix import DesignMatrix
from .atomic import open_output
from .json_text import from_json, to_json
from .pickles import looks_like_pickle, read_pickle
from .quoting import shown
from .safetensors import looks_like_safetensors, read_safetensors, write_safetensors
from .source import DataError, opener_of_compressed, read_bytes
from .svmlight_writer import two_dimensional

FORMAT = "ranksvm linear model"
FORMAT_VERSION = 1

_START_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_DIGITS = 10  # of a feature number


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
        What training reported: objective, dual_gap, status and the like; and, as "fingerprint",
        which data it saw (`ranksvm.fingerprint.fingerprint`).
    """

    coef: NDArray[np.float64]
    feature_names: list[str] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def predict(self, X: Any, n_threads: int = 1) -> NDArray[np.float64]:
        """Score rows: higher is better.

        Parameters
        ----------
        X : array-like, sparse matrix or DesignMatrix of shape (n_samples, n_features)
        n_threads : int, default=1

        Returns
        -------
        ndarray of shape (n_samples,), float64

        Raises
        ------
        ValueError
            If X has not as many features as the model.
        """
        if not isinstance(X, DesignMatrix):
            X = two_dimensional(X)
            X = DesignMatrix.from_array(np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X)
        if X.shape[1] != len(self.coef):
            raise ValueError(f"X has {X.shape[1]} features but the model has {len(self.coef)}")
        scores: NDArray[np.float64] = X.dot(self.coef, n_threads)
        return scores


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : LinearModel, fitted RankSVM or RankSVMCV
        Also a fitted pipeline of scikit-learn that ends in one, after scalers, which go into the
        weights: the model ranks features as they are; or a search that has found one of these.
    path : str or path-like
        A name that ends in .safetensors, or .safetensors.gz and the like, gets that layout, any
        other JSON; ``-`` is the standard
        output.

    Raises
    ------
    ValueError
        If a weight is not finite, two features have the same name, a pipeline has other steps
        than scalers, or the model is a KernelRankSVM.
    OutputError
        If the file cannot be written.
    """
    from .from_estimators import linear_model

    linear = linear_model(model)
    check_model(linear)
    if form_of_name(path) == "safetensors":
        save_safetensors(linear, path)
    else:
        save_json(linear, path)


def form_of_name(path: str | os.PathLike[str]) -> str | None:
    """Return "json" or "safetensors" if a name ends so, perhaps with .gz or the like after it."""
    name = os.fsdecode(path).lower()
    if opener_of_compressed(name) is not None:
        name = os.path.splitext(name)[0]
    ending = os.path.splitext(name)[1]
    return ending[1:] if ending in (".json", ".safetensors") else None


def save_json(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write the JSON form."""
    names = model.feature_names or [str(k + 1) for k in range(len(model.coef))]
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "n_features": len(model.coef),
        "weights": {names[k]: float(model.coef[k]) for k in np.flatnonzero(model.coef)},
        "parameters": model.parameters,
        "training": model.training,
    }
    if model.feature_names:
        content["feature_names"] = model.feature_names
    text = to_json(content, indent=1)
    with open_output(path) as file:
        file.write(text.encode() + b"\n")


def save_safetensors(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write the binary form."""
    metadata = {"format": FORMAT, "format_version": str(FORMAT_VERSION)}
    parts: dict[str, Any] = {"parameters": model.parameters, "training": model.training}
    if model.feature_names:
        parts["feature_names"] = model.feature_names
    metadata |= {key: to_json(value) for key, value in parts.items()}
    with open_output(path) as file:
        write_safetensors(file, model.coef, metadata)


def check_model(model: LinearModel) -> None:
    """Refuse to save what could not be loaded."""
    bad = np.flatnonzero(~np.isfinite(model.coef))
    if len(bad):
        raise ValueError(f"the weight of feature {bad[0] + 1} is {model.coef[bad[0]]}, not finite")
    names = model.feature_names
    if names and len(names) != len(model.coef):
        raise ValueError(f"the model has {len(model.coef)} weights but {len(names)} feature names")
    if names and len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"two features of the model have the name {shown(twice)}: rename one")


def model_form(start: bytes) -> str | None:
    """Tell the form of a model file from how it begins.

    Returns
    -------
    {"json", "safetensors", "pickle", "liblinear", "svmrank"} or None
    """
    if start.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        return "json"
    # The length of a header can begin as a pickle does, but then it has zeros where that has none.
    if looks_like_safetensors(start) and start[4:8] == bytes(4):
        return "safetensors"
    if looks_like_pickle(start):
        return "pickle"
    if start.startswith(b"solver_type"):
        return "liblinear"
    if start.startswith(b"SVM-light Version"):
        return "svmrank"
    return "safetensors" if looks_like_safetensors(start) and b"\n" not in start[:8] else None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as a model file does."""
    try:
        opener = opener_of_compressed(os.fsdecode(path))
        with (
            open(path, "rb") as raw,
            nullcontext(raw) if opener is None else opener(raw, "rb") as file,
        ):
            return model_form(file.read(_START_BYTES)) is not None
    except Exception:  # damaged compression has many; who reads the file says what is wrong
        return False


def load_model(path: str | os.PathLike[str], *, allow_pickle: bool = False) -> LinearModel:
    """Read a model file, of whatever form it is: JSON, safetensors, LIBLINEAR or SVM^rank.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input.
    allow_pickle : bool, default=False
        Also read a Python pickle, if it holds nothing but an array of weights, or a dictionary
        with one as "weights". No code of a pickle is run even then (`ranksvm.files.pickles`).

    Raises
    ------
    DataError
        If the file cannot be read or is not a model, saying where and why.
    """
    return parse_model(*read_bytes(path), allow_pickle)


def parse_model(name: str, content: NDArray[np.uint8], allow_pickle: bool = False) -> LinearModel:
    """Read the content of a model file that messages call `name`."""
    form = model_form(content[:_START_BYTES].tobytes())
    if form == "safetensors":
        return _from_safetensors(name, content)
    text = content.tobytes()
    if form == "pickle":
        return _from_pickle(name, text, allow_pickle)
    if form in ("liblinear", "svmrank"):
        from .foreign_models import read_foreign

        return read_foreign(name, text, form)
    if form is None:
        found = f"it begins with {shown(text[:_START_BYTES])}" if text else "it is empty"
        raise DataError(f"{name} is not a model file: {found}")
    return _from_json(name, text)


def _from_pickle(name: str, content: bytes, allowed: bool) -> LinearModel:
    if not allowed:
        raise DataError(
            f"{name} is a Python pickle, which is not loaded because loading one can run foreign "
            "code: train the model again, or save its weights as text, one per line, with the "
            "program that wrote it, and make a model of them by "
            '"ranksvm convert coeff.txt model.json"'
        )
    weights, names = read_pickle(name, content)
    model = LinearModel(weights, names)
    if len(weights) == 0:
        raise DataError(f"{name} holds no weights")
    try:
        check_model(model)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    return model


def _from_safetensors(name: str, content: NDArray[np.uint8]) -> LinearModel:
    weights, metadata = read_safetensors(name, content)
    fields: dict[str, Any] = {"format": metadata.get("format"), "n_features": len(weights)}
    version = metadata.get("format_version", "")[:_MAX_DIGITS]
    fields["format_version"] = int(version) if version.isdecimal() else version
    for key in ("feature_names", "parameters", "training"):
        if key in metadata:
            place = f'{name}, "{key}" in "__metadata__"'
            fields[key] = from_json(place, metadata[key].encode("utf-8", "surrogatepass"))
    _check_fields(fields, name)
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise DataError(
            f"{name}: the weight of feature {bad[0] + 1} must be a number, not {weights[bad[0]]}"
        )
    return _model(weights, fields)


def _from_json(name: str, text: bytes) -> LinearModel:
    content = from_json(name, text)
    _check_fields(content, name)
    n_features, names = content["n_features"], content.get("feature_names")
    return _model(_weights(content.get("weights"), n_features, names, name), content)


def _model(weights: NDArray[np.float64], fields: dict[str, Any]) -> LinearModel:
    return LinearModel(
        weights,
        fields.get("feature_names"),
        fields.get("parameters", {}),
        fields.get("training", {}),
    )


def _check_fields(content: Any, name: str) -> None:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'{name} is not a model file: "format" must be "{FORMAT}"')
    version = content.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        raise DataError(
            f"{name} has format version {shown(version)}; this program reads version "
            f"{FORMAT_VERSION}: use the version of ranksvm that wrote it, or a newer one"
        )
    n_features = content.get("n_features")
    if type(n_features) is not int or not 0 < n_features < 1 << 31:
        raise DataError(
            f'{name}: "n_features" must be a positive whole number, not {shown(n_features)}'
        )
    names = content.get("feature_names")
    if names is not None:
        if not (isinstance(names, list) and len(names) == n_features):
            raise DataError(f'{name}: "feature_names" must list {n_features} names')
        if not all(isinstance(word, str) for word in names) or len(set(names)) < n_features:
            raise DataError(f'{name}: "feature_names" must be texts, each another')
    for key in ("parameters", "training"):
        if not isinstance(content.get(key, {}), dict):
            raise DataError(f'{name}: "{key}" must give a value for each name')


def _weights(
    weights: Any, n_features: int, names: list[str] | None, file: str
) -> NDArray[np.float64]:
    if not isinstance(weights, dict):
        raise DataError(f'{file}: "weights" must give a number for each feature')
    coef = zero_weights(file, n_features)
    places = None if names is None else {name: k for k, name in enumerate(names)}
    for feature, value in weights.items():
        if places is not None:
            k = places.get(feature, -1)
        else:
            number = feature.isascii() and feature.isdecimal() and len(feature) <= _MAX_DIGITS
            k = int(feature) - 1 if number else -1
        if not 0 <= k < n_features:
            named = ": it knows them by name" if places is not None else ""
            raise DataError(f"{file}: the model has no feature {shown(feature)}{named}")
        if not _is_finite(value):
            raise DataError(
                f"{file}: the weight of {shown(feature)} must be a number, not {shown(value)}"
            )
        coef[k] = value
    return coef


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


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False
