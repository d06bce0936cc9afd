"""The section [Parameters] of config files, as what training wants to know."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..files.quoting import shown
from ..files.sections import Entry, did_you_mean
from ..files.source import DataError
from ..linear.condition_arguments import ConditionArguments
from ..linear.conditions import require_ratio
from ..linear.parameters import Parameters
from ..memory import bytes_of
from ..names import COUNTINGS, GAINS, KERNELS, LOSSES, NORMALIZATIONS, PAIR_WEIGHTS, SOLVERS

if TYPE_CHECKING:
    from ..kernel.kernels import Kernel

# The names in RLScore, of the authors of TreeRankSVM.
_KERNEL_ALIASES = {
    "LinearKernel": "linear",
    "GaussianKernel": "rbf",
    "PolynomialKernel": "polynomial",
}
_DEFAULT_EPSILON = 1e-3
_DEFAULT_MEMORY = 4e9
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Settings:
    """What [Parameters] says; for the attributes see `ranksvm.config.file.Config`."""

    parameters: Parameters
    kernel: Kernel | None
    conditions: ConditionArguments
    max_memory: float
    verbose: bool


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise InputError("a number")
    return float(text)


def _width(text: str) -> float | str:
    return text if text == "scale" else _number(text)


def _bytes(text: str) -> float:
    try:
        return bytes_of(text)
    except InputError:
        raise InputError("a number of bytes above 0, or a text such as 4G") from None


def _count(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise InputError("a whole number")
    return int(text)


def _truth(text: str) -> bool:
    return _one_of("True", "False")(text) == "True"


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise InputError(f"one of {', '.join(names)}")
        return text

    return read


def _one_or_none_of(*names: str | None) -> Callable[[str], str | None]:
    read = _one_of(*(name or "none" for name in names))
    return lambda text: None if read(text) == "none" else text


def _kernel_name(text: str) -> str:
    _one_of(*KERNELS, *_KERNEL_ALIASES)(text)
    return _KERNEL_ALIASES.get(text, text)


# What reads the value of each attribute.
PARAMETERS: dict[str, Callable[[str], Any]] = {
    "verbose": _truth,
    "regparam": _number,
    "epsilon": _number,
    "C": _number,
    "kernel": _kernel_name,
    "gamma": _width,
    "degree": _number,
    "coef0": _number,
    "max_memory": _bytes,
    "loss": _one_of(*LOSSES),
    "solver": _one_of(*SOLVERS),
    "counting": _one_of(*COUNTINGS),
    "pair_weight": _one_or_none_of(*PAIR_WEIGHTS),
    "gains": _one_of(*GAINS),
    "top": _count,
    "n_rounds": _count,
    "positive": _truth,
    "l1_ratio": _number,
    "normalize": _one_or_none_of(*NORMALIZATIONS),
    "tol": _number,
    "max_iter": _count,
    "threads": _count,
}
KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0", "max_memory")

# Attributes that are fields of `Parameters` under another name, and those that are none.
_FIELDS = {"threads": "n_threads", "regparam": "C"}
CONDITIONS = ("positive", "l1_ratio")
_NO_FIELDS = ("verbose", *CONDITIONS, *KERNEL_PARAMETERS)


def read_settings(entries: Mapping[str, Entry], name: str) -> Settings:
    """Return the checked parameters, with the defaults of TreeRankSVM.

    Parameters
    ----------
    entries : dict
        The entries of the section.
    name : str
        What messages call the config file.

    Raises
    ------
    DataError
        If a value is none or out of range, or two do not go together.
    """
    values = {attribute: _value(entry, name) for attribute, entry in entries.items()}
    if "regparam" in values and "C" in values:
        raise DataError(
            f"{name}, line {entries['regparam'].line}: regparam is 1 / C: give one of the two"
        )
    fields: dict[str, Any] = {"loss": "hinge", "normalize": "pairs", "tol": 0.0}
    if "tol" not in values:
        fields["epsilon"] = _DEFAULT_EPSILON
    fields |= {
        _FIELDS.get(attribute, attribute): value
        for attribute, value in values.items()
        if attribute not in _NO_FIELDS
    }
    return Settings(
        parameters=Parameters(**fields),
        kernel=_kernel(values, entries, name),
        conditions=ConditionArguments(**{key: values[key] for key in CONDITIONS if key in values}),
        max_memory=values.get("max_memory", _DEFAULT_MEMORY),
        verbose=values.get("verbose", True),
    )


def _value(entry: Entry, name: str) -> Any:
    """Return the value of an attribute, checked; for regparam that of C."""
    place, attribute = f"{name}, line {entry.line}", entry.attribute
    try:
        value = PARAMETERS[attribute](entry.value)
    except ValueError as expected:
        hint = did_you_mean(entry.value, str(expected).removeprefix("one of ").split(", "))
        raise DataError(
            f"{place}: {attribute} must be {expected}, not {shown(entry.value)}{hint}"
        ) from None
    try:
        if attribute == "regparam" and not (value > 0 and 0 < 1 / value < math.inf):
            raise InputError(f"{attribute} must be finite and greater than 0, not {value!r}")
        if attribute == "regparam":
            return 1 / value
        if attribute == "l1_ratio":
            require_ratio(value)
        if attribute in ("gamma", "degree", "coef0"):
            from ..kernel.kernels import Kernel

            Kernel("polynomial", **{attribute: value})
        elif attribute not in _NO_FIELDS:
            Parameters(**{_FIELDS.get(attribute, attribute): value})
    except ValueError as error:
        reason = str(error).replace("n_threads", attribute)
        raise DataError(f"{place}: {reason}") from None
    return value


def _kernel(values: Mapping[str, Any], entries: Mapping[str, Entry], name: str) -> Kernel | None:
    """Return the kernel, or None for the linear one; refuse what it has no use for."""
    kernel = values.get("kernel", "linear")
    used = KERNELS[kernel] if kernel == "linear" else (*KERNELS[kernel], "max_memory")
    for attribute in KERNEL_PARAMETERS[1:]:
        if attribute in entries and attribute not in used:
            having = [other for other, names in KERNELS.items() if attribute in names]
            listed = ", ".join(having or [other for other in KERNELS if other != "linear"])
            raise DataError(
                f"{name}, line {entries[attribute].line}: the kernel {kernel} has no use for "
                f"{attribute}: remove it, or give as kernel one of {listed}"
            )
    if kernel == "linear":
        return None
    from ..kernel.kernels import Kernel

    return Kernel(kernel, **{key: values[key] for key in KERNELS[kernel] if key in values})
