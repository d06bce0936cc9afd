"""Weights from pickles, without running what a pickle asks for.

A pickle is a program that may call anything. Here it may build numbers, texts, lists, tuples and
dictionaries; what NumPy's arrays and scalars ask for is done by stand-ins that check every
argument; anything else is refused by its name.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .quoting import shown
from .source import DataError

_DTYPE = re.compile(r"b1|[iu][1248]|f[248]")
_WEIGHTS = ("weights", "coef", "coef_", "w")


def read_pickle(name: str, content: bytes) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return the weights, and the names of the features or None.

    The pickle must hold an array or a list of numbers, or a dictionary with one as ``"weights"``,
    ``"coef"``, ``"coef_"`` or ``"w"`` and, where there are names, ``"feature_names"``.

    Raises
    ------
    DataError
        If it holds anything else, or asks for anything but arrays and built-in containers.
    """
    try:
        _check_program(content)
        value = _plain(_Unpickler(io.BytesIO(content), encoding="latin1").load())
    except _Refused as error:
        raise DataError(f"{name} is a pickle that {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # damage shows in many ways
        raise DataError(f"{name} is not a whole pickle: {shown(str(error))}") from None
    names = None
    if isinstance(value, dict):
        names = value["feature_names"]
        found = [key for key in _WEIGHTS if key in value]
        if not found:
            raise DataError(f'{name}: the dictionary in this pickle has no "weights"')
        value = value[found[0]]
    return _as_weights(name, value), _as_names(name, names)


def _plain(value: Any) -> Any:
    """Take arrays out of their stand-ins, where weights can be."""
    if isinstance(value, _Array):
        return value.value()
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if isinstance(k, str) and k in _WEIGHTS} | {
            "feature_names": value.get("feature_names")
        }
    if isinstance(value, list | tuple):
        return [item.value() if isinstance(item, _Array) else item for item in value]
    return value


def _as_weights(name: str, numbers: Any) -> NDArray[np.float64]:
    if isinstance(numbers, list):
        if not all(isinstance(item, int | float | np.number) for item in numbers):
            raise DataError(f"{name}: the weights in this pickle must all be numbers")
        try:
            numbers = np.array(numbers, dtype=np.float64)
        except OverflowError:
            raise DataError(f"{name}: a weight in this pickle is too large") from None
    if not isinstance(numbers, np.ndarray):
        raise DataError(f"{name} must hold an array of weights, not a {type(numbers).__name__}")
    weights: NDArray[np.float64] = numbers.astype(np.float64).squeeze()
    if weights.ndim > 1:
        raise DataError(f"{name}: the weights must be one row, not of shape {numbers.shape}")
    return weights.reshape(-1)


def _as_names(name: str, names: Any) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, list | tuple) or not all(isinstance(word, str) for word in names):
        raise DataError(f'{name}: "feature_names" in this pickle must be a list of texts')
    return list(names)


class _Refused(Exception):
    """A sentence that goes on from "is a pickle that"."""


def _check_program(content: bytes) -> None:
    """Refuse what would fill memory, exhaust the stack or take for ever while it is built.

    A place in the memo is allocated along with all below it. The hash of a tuple, for which a
    dictionary asks, visits all that it holds, as often as it holds it, and crashes Python where
    that is deep. So the program is followed here with the weight of things alone: one, but for a
    tuple twice what it holds, which makes both depth and repetition count. Where it is not a whole
    program, unpickling says so as well.
    """
    heaviest = 4 * len(content) + 1000
    stack: list[int] = []
    marks: list[int] = []
    memo: dict[Any, int] = {}
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "MARK":
            marks.append(len(stack))
        elif opcode.name == "POP" and marks and marks[-1] == len(stack):
            marks.pop()
        elif "PUT" in opcode.name or opcode.name == "MEMOIZE":
            place = len(memo) if argument is None else argument
            if place > len(content):
                raise _Refused("is damaged, or made to take up memory")
            memo[place] = stack[-1]
        elif "GET" in opcode.name:
            stack.append(memo[argument])
        else:
            _follow(opcode, stack, marks)
            if stack and stack[-1] > heaviest:
                raise _Refused("nests tuples too deeply")


def _follow(opcode: Any, stack: list[int], marks: list[int]) -> None:
    """Replace what an instruction takes off the stack by what it puts there."""
    takes = opcode.stack_before
    begin = len(stack) - len(takes)
    if pickletools.markobject in takes:  # all down to the mark, and what is named below it
        begin = marks.pop() - takes.index(pickletools.markobject)
    weight = sum(stack[begin:])
    del stack[begin:]
    if "TUPLE" in opcode.name:
        weight = 2 * weight + 1
    elif opcode.name != "DUP":
        weight = 1
    stack.extend([weight] * len(opcode.stack_after))


class _Array:
    """What NumPy's pickles build step by step, checked before NumPy sees it."""

    __slots__ = ("_value",)

    def __init__(self, value: NDArray[Any] | None = None) -> None:
        self._value = value

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, data = state
        self._value = _array(data, dtype, shape, "F" if fortran else "C")

    def value(self) -> Any:
        """Return the array, or the number if it is a scalar."""
        if self._value is None:
            raise _Refused("holds an array without content")
        return self._value if self._value.ndim else self._value[()]


class _Dtype:
    """A kind of number: its letter, its size, and its order of bytes."""

    __slots__ = ("kind", "order")

    def __init__(self, kind: Any, *_: Any) -> None:
        if not isinstance(kind, str) or not _DTYPE.fullmatch(kind):
            raise _Refused(f"holds an array of {shown(str(kind))}, which is not a kind of number")
        self.kind, self.order = kind, "="

    def __setstate__(self, state: Any) -> None:
        self.order = ">" if state[1] == ">" else "<"

    def value(self) -> np.dtype[Any]:
        """Return NumPy's word for it."""
        return np.dtype(self.order + self.kind)


def _array(data: Any, dtype: Any, shape: Any, order: Any) -> NDArray[Any]:
    if isinstance(data, str):  # what Python 2 called a string
        data = data.encode("latin1")
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes | bytearray):
        raise _Refused("holds an array that is not of numbers")
    values = np.frombuffer(bytes(data), dtype=dtype.value())
    shape = tuple(shape)
    if not all(type(size) is int and 0 <= size <= len(values) for size in shape):
        raise _Refused("holds an array of an impossible shape")
    return values.reshape(shape, order="F" if order == "F" else "C")


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _Refused("asks for an encoding other than latin1")
    return text.encode("latin1")


def _type_alone(*_: Any) -> Any:
    raise _Refused("asks for an array of its own making")


class _Function:
    """A function that a pickle can call but not change."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise _Refused("tries to change a function")


_NUMPY: dict[str, Callable[..., Any]] = {
    "multiarray._reconstruct": lambda *_: _Array(),
    "multiarray.scalar": lambda dtype, data: _Array(_array(data, dtype, (), "C")),
    "numeric._frombuffer": lambda data, dtype, shape, order: _Array(
        _array(data, dtype, shape, order)
    ),
}
_ALLOWED: dict[str, Callable[..., Any]] = {
    "numpy.dtype": _Dtype,
    "numpy.ndarray": _type_alone,
    "_codecs.encode": _encode,
    **{f"numpy.{core}.{name}": f for core in ("core", "_core") for name, f in _NUMPY.items()},
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a stand-in for what NumPy's pickles need; refuse the rest."""
        function = _ALLOWED.get(f"{module}.{name}")
        if function is None:
            raise _Refused(
                f"asks for {shown(f'{module}.{name}')}, which is not on the list of what is safe: "
                "train the model again, or give its weights as text"
            )
        return _Function(function)

    def persistent_load(self, pid: Any) -> Any:
        """Refuse what is outside the file."""
        raise _Refused("asks for objects that are not in it")
