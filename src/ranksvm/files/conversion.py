"""Models from one form of file to another."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO

from ..errors import InputError
from ..models import LinearModel, Model
from ..models.from_estimators import require_weights
from ..names import MODEL_FORMS
from .foreign_models import read_weights, save_liblinear, save_svmrank, save_weights
from .model import (
    check_model,
    form_of_name,
    model_form,
    parse_model,
    save_json,
    save_safetensors,
)
from .scores import is_finite_number
from .source import StrPath, read_bytes

_SAVE_MODEL: dict[str, Callable[[Model, StrPath], None]] = {
    "json": save_json,
    "safetensors": save_safetensors,
}
_SAVE_WEIGHTS: dict[str, Callable[[LinearModel, StrPath], None]] = {
    "liblinear": save_liblinear,
    "svmrank": save_svmrank,
    "weights": save_weights,
}


def convert_model(
    source: str | os.PathLike[str], target: str | os.PathLike[str], to: str | None = None
) -> Model:
    """Read a model of any form and write it in another.

    Parameters
    ----------
    source : str or path-like
        A file that `load_model` reads, or weights as text: one number per line.
    target : str or path-like
        ``-`` is the standard output.
    to : {"json", "safetensors", "liblinear", "svmrank", "weights"}, optional
        "weights" is one number per line. By default what the name of `target` says: .json or
        .safetensors, or these with .gz and the like after them.

    Returns
    -------
    LinearModel or KernelModel
        What was read.

    Raises
    ------
    ValueError
        If the form is not one of these, or holds weights but the model has a kernel or maps, or the
        source is not a model.
    OutputError
        If the file cannot be written.
    """
    form = form_of_name(target) if to is None else to
    if form not in MODEL_FORMS:
        name = os.fsdecode(target)
        fault = f"the name {name!r} does not tell" if to is None else f"{to!r} is not"
        raise InputError(
            f"{fault} a form to write: say --to, or to=, one of {', '.join(MODEL_FORMS)}"
        )
    model = load_model_or_weights(source)
    check_model(model)
    if form in _SAVE_MODEL:
        _SAVE_MODEL[form](model, target)
    elif isinstance(model, LinearModel):
        require_weights(model, os.fsdecode(source))
        _SAVE_WEIGHTS[form](model, target)
    else:
        raise InputError(
            f"{form} files hold weights of features, but {os.fsdecode(source)} ranks by the kernel "
            f"{model.kernel}: write it as json or safetensors"
        )
    return model


def load_model_or_weights(source: StrPath | BinaryIO) -> Model:
    """Read a model of any form, or weights as text, one per line.

    Raises
    ------
    DataError
        If the file cannot be read, or is neither.
    """
    name, content = read_bytes(source)
    first = content[:64].tobytes().split(b"\n")[0].strip()
    if model_form(content[:64].tobytes()) is not None or not is_finite_number(first):
        return parse_model(name, content)
    return read_weights(name, content.tobytes())
