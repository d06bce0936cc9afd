"""Model files, which loading never executes: JSON to read and edit, safetensors for many numbers.

What they hold of a model says the module of its kind: `ranksvm.files.linear_model` or
`ranksvm.files.kernel_model`. In the safetensors layout (`ranksvm.files.safetensors`), which a name
that ends in .safetensors chooses, numbers are tensors, and ``__metadata__`` holds the other fields,
those that are not plain texts as JSON.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models import KernelModel, LinearModel, Model
from ..models.from_estimators import model_of
from . import kernel_model, linear_model
from .atomic import open_output
from .json_text import from_json, to_json
from .quoting import shown
from .safetensors import looks_like_safetensors, read_safetensors, write_safetensors
from .source import DataError, open_decompressed, opener_of_compressed, read_bytes

__all__ = [
    "check_model",
    "form_of_name",
    "is_model_file",
    "load_model",
    "model_form",
    "parse_model",
    "save_json",
    "save_model",
    "save_safetensors",
]

# The module that knows what a file holds of a model.
_KINDS: dict[type, Any] = {LinearModel: linear_model, KernelModel: kernel_model}
_FORMATS: dict[str, Any] = {kind.FORMAT: kind for kind in _KINDS.values()}
_METADATA = ("n_features", "kernel", "maps", "feature_names", "parameters", "training")
_START_BYTES = 4096
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_DIGITS = 10  # of a version
# Of pickles, by the binary protocols, and by the text protocol for an object or a container.
_PICKLE = re.compile(rb"\x80|c[\w.]+\r?\n[\w.]+\r?\n|\((?:i[\w.]+\r?\n|[cdl])|[]}|)]q")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model : LinearModel, KernelModel or fitted ranker
        A RankSVM, RankSVMCV, KernelRankSVM or KernelRankSVMPathCV; also a fitted pipeline of
        scikit-learn that ends in a linear one, after scalers, which go into the weights, and
        QuantileTransformer, QueryScaler, SplineTransformer or Nystroem, which become maps: the
        model ranks features as they are; or a search that has found one of these.
    path : str or path-like
        A name that ends in .safetensors, or .safetensors.gz and the like, gets that layout, any
        other JSON; ``-`` is the standard output.

    Raises
    ------
    ValueError
        If a number is not finite, two features have the same name, a pipeline has other steps
        than these or ends in a kernel ranker, or a kernel is precomputed or a function.
    OutputError
        If the file cannot be written.
    """
    stored = model_of(model)
    check_model(stored)
    if form_of_name(path) == "safetensors":
        save_safetensors(stored, path)
    else:
        save_json(stored, path)


def form_of_name(path: str | os.PathLike[str]) -> str | None:
    """Return "json" or "safetensors" if a name ends so, perhaps with .gz or the like after it."""
    name = os.fsdecode(path).lower()
    if opener_of_compressed(name) is not None:
        name = os.path.splitext(name)[0]
    ending = os.path.splitext(name)[1]
    return ending[1:] if ending in (".json", ".safetensors") else None


def save_json(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the JSON form."""
    kind = _KINDS[type(model)]
    text = kind.json_text(model, kind.version_of(model))
    with open_output(path) as file:
        file.write(text.encode() + b"\n")


def save_safetensors(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the binary form."""
    kind = _KINDS[type(model)]
    tensors, parts = kind.tensors(model)
    metadata = {"format": kind.FORMAT, "format_version": str(kind.version_of(model))}
    parts |= {"parameters": model.parameters, "training": model.training}
    if model.feature_names:
        parts["feature_names"] = model.feature_names
    metadata |= {key: to_json(value) for key, value in parts.items()}
    with open_output(path) as file:
        write_safetensors(file, tensors, metadata)


def check_model(model: Model) -> None:
    """Refuse to save what could not be loaded."""
    _KINDS[type(model)].check(model)


def model_form(start: bytes) -> str | None:
    """Tell the form of a model file from how it begins.

    Returns
    -------
    {"json", "safetensors", "pickle", "liblinear", "svmrank", "ranklib"} or None
    """
    if start.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        return "json"
    # The length of a header can begin as a pickle does, but then it has zeros where that has none.
    if looks_like_safetensors(start) and start[4:8] == bytes(4):
        return "safetensors"
    if _PICKLE.match(start):
        return "pickle"
    if start.startswith(b"solver_type"):
        return "liblinear"
    if start.startswith(b"SVM-light Version"):
        return "svmrank"
    if start.startswith(b"## Coordinate Ascent"):
        return "ranklib"
    return "safetensors" if looks_like_safetensors(start) and b"\n" not in start[:8] else None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as a model file does."""
    try:
        with open_decompressed(os.fsdecode(path)) as file:
            return model_form(file.read(_START_BYTES)) is not None
    except Exception:  # damaged compression has many; who reads the file says what is wrong
        return False


NOT_A_PICKLE = "note: {} holds JSON text, not a pickle; load_model reads it"


def is_named_as_pickle(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name promises a pickle, which no model is written as."""
    return os.fsdecode(path).lower().endswith((".pckl", ".pkl", ".pickle", ".joblib"))


def load_model(path: str | os.PathLike[str], *, allow_pickle: bool = False) -> Model:
    """Read a model file, of whatever form it is: JSON, safetensors, or that of another program.

    These are LIBLINEAR, SVM^rank, RankLib's coordinate ascent, and the linear models of Solr,
    Elasticsearch and OpenSearch.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input.
    allow_pickle : bool, default=False
        Also read a Python pickle, if it holds nothing but an array of weights, or a dictionary
        with one as "weights". No code of a pickle is run even then (`ranksvm.files.pickles`).

    Returns
    -------
    LinearModel or KernelModel

    Raises
    ------
    DataError
        If the file cannot be read or is not a model, saying where and why.
    """
    return parse_model(*read_bytes(path), allow_pickle)


def parse_model(name: str, content: NDArray[np.uint8], allow_pickle: bool = False) -> Model:
    """Read the content of a model file that messages call `name`."""
    form = model_form(content[:_START_BYTES].tobytes())
    if form == "safetensors":
        return _from_safetensors(name, content)
    text = content.tobytes()
    if form == "pickle":
        return _from_pickle(name, text, allow_pickle)
    if form in ("liblinear", "svmrank", "ranklib"):
        from .foreign_models import read_foreign

        return read_foreign(name, text, form)
    if form is None:
        found = f"it begins with {shown(text[:_START_BYTES])}" if text else "it is empty"
        raise DataError(f"{name} is not a model file: {found}")
    fields = from_json(name, text)
    if isinstance(fields, dict) and "format" not in fields:
        from .engine_models import engine_of, of_engine

        engine = engine_of(fields)
        if engine is not None:
            return of_engine(name, fields, engine)
    model: Model = _kind_in(fields, name).from_json(fields, name)
    return model


def _from_pickle(name: str, content: bytes, allowed: bool) -> LinearModel:
    if not allowed:
        raise DataError(
            f"{name} is a Python pickle, which is not loaded because loading one can run foreign "
            "code: train the model again, or save its weights as text, one per line, with the "
            "program that wrote it, and make a model of them by "
            '"ranksvm convert coeff.txt model.json"'
        )
    from .pickles import read_pickle

    weights, names = read_pickle(name, content)
    model = LinearModel(weights, names)
    if len(weights) == 0:
        raise DataError(f"{name} holds no weights")
    try:
        check_model(model)
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    return model


def _from_safetensors(name: str, content: NDArray[np.uint8]) -> Model:
    file = read_safetensors(name, content)
    version = file.metadata.get("format_version", "")[:_MAX_DIGITS]
    fields: dict[str, Any] = {
        "format": file.metadata.get("format"),
        "format_version": int(version) if version.isdecimal() else version,
    }
    for key in _METADATA:
        if key in file.metadata:
            place = f'{name}, "{key}" in "__metadata__"'
            fields[key] = from_json(place, file.metadata[key].encode("utf-8", "surrogatepass"))
    model: Model = _kind_in(fields, name).from_tensors(file, fields)
    return model


def _kind_in(fields: Any, name: str) -> Any:
    """Return the module of the kind of model that a file holds, in a version that is known."""
    kind = fields.get("format") if isinstance(fields, dict) else None
    if not isinstance(kind, str) or kind not in _FORMATS:
        known = " or ".join(f'"{kind}"' for kind in _FORMATS)
        raise DataError(f'{name} is not a model file: "format" must be {known}')
    version = fields.get("format_version")
    known = _FORMATS[kind].VERSIONS
    if type(version) is not int or version not in known:
        listed = f"versions {known[0]} to {known[-1]}" if len(known) > 1 else "version 1"
        raise DataError(
            f"{name} has format version {shown(version)}; this program reads {listed}: use the "
            "version of ranksvm that wrote it, or a newer one"
        )
    return _FORMATS[kind]
